/** How fast requests may go; one for all workers of a process. */
export interface Pace {
  /** From now on at most so many requests at once and, if given, so many a second. */
  limit(bounds: { readonly concurrency: number; readonly rate: number | undefined }): void;
  /** From now on a signal lets requests in flight finish instead of cutting them. */
  letFinish(): void;
  readonly finishes: boolean;
  /**
   * A turn, now or when there is one; the result ends it. `first`: before those that wait already.
   * Undefined for one that is sent home: the signal fired meanwhile, or `dismiss` was called.
   */
  turn(
    signal: AbortSignal,
    options?: { readonly first?: boolean },
  ): (() => void) | Promise<(() => void) | undefined>;
  /** Sends home who waits for a turn; who comes later may still have one. */
  dismiss(): void;
  /** A request sets out; after a silence that began here the service is dead. */
  asked(): void;
  /** An answer came: its `wait` (seconds) holds everyone, also that of a good one; 429 halves the pace, good ones speed up slowly. */
  answered(status: number, wait: number | undefined): void;
  /** True in a run whose requests got no answer for so long that repeating them is of no use. */
  readonly silent: boolean;
  /** For the progress line and tests. */
  readonly allowed: number;
  /** Milliseconds until anything may be sent again, where an answer asked for that; else 0. */
  readonly heldMs: number;
}

export interface PaceOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Longest pause that an answer may cause, in milliseconds; longer ones end the call instead. */
  readonly maxWaitMs: number;
}

/** Good answers in a row before one more request at once, or a tenth more a second, is allowed. */
const patience = 20;
/**
 * A service of which nothing is heard for so long is dead: two rounds of the usual timeout, less what
 * lies between the last answer and the requests that left just before it.
 */
const silenceMs = 59_000;

/** No bounds until `limit` is called: single commands pass straight through. */
export function createPace(options: PaceOptions): Pace {
  return new Limiter(options);
}

class Limiter implements Pace {
  finishes = false;
  allowed = Number.POSITIVE_INFINITY;
  private most = Number.POSITIVE_INFINITY;
  private rate: number | undefined;
  private mostRate: number | undefined;
  private active = 0;
  private good = 0;
  private heldUntil = 0;
  private unansweredSince: number | undefined;
  private nextStart = 0;
  private readonly waitingFirst: (() => void)[] = [];
  private readonly waiting: (() => void)[] = [];
  /** Those whose wait is over and who have not begun yet; nobody may take their turn. */
  private called = 0;
  private heeded: AbortSignal | undefined;
  private dismissing = new AbortController();

  constructor(private readonly options: PaceOptions) {}

  limit({ concurrency, rate }: { concurrency: number; rate: number | undefined }): void {
    this.most = this.allowed = concurrency;
    this.rate = this.mostRate = rate;
  }

  letFinish(): void {
    this.finishes = true;
  }

  turn(
    signal: AbortSignal,
    { first = false } = {},
  ): (() => void) | Promise<(() => void) | undefined> {
    return this.isFree && this.waitMs() <= 0 ? this.begin() : this.later(signal, first);
  }

  private get isFree(): boolean {
    return this.active + this.called < this.allowed;
  }

  private async later(signal: AbortSignal, first: boolean): Promise<(() => void) | undefined> {
    this.heed(signal);
    const sentHome = this.dismissing.signal;
    while (!signal.aborted && !sentHome.aborted) {
      if (!this.isFree) {
        await new Promise<void>((go) => (first ? this.waitingFirst : this.waiting).push(go));
        this.called -= 1;
        continue;
      }
      const wait = this.waitMs();
      if (wait <= 0) return this.begin();
      await this.options.sleep(wait, sentHome);
    }
    return undefined;
  }

  dismiss(): void {
    const { dismissing } = this;
    this.dismissing = new AbortController();
    dismissing.abort();
    while (this.callNext());
  }

  /** Milliseconds until the next request may begin. */
  private waitMs(): number {
    const start = Math.max(this.heldUntil, this.rate === undefined ? 0 : this.nextStart);
    return start === 0 ? 0 : start - this.options.clock();
  }

  private begin(): () => void {
    this.active += 1;
    if (this.rate !== undefined)
      this.nextStart = Math.max(this.nextStart, this.options.clock()) + 1000 / this.rate;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.active -= 1;
      this.callNext();
    };
  }

  get heldMs(): number {
    return Math.max(0, this.heldUntil - this.options.clock());
  }

  asked(): void {
    this.unansweredSince ??= this.options.clock();
  }

  get silent(): boolean {
    if (this.most === Number.POSITIVE_INFINITY || this.unansweredSince === undefined) return false;
    return this.options.clock() - this.unansweredSince >= silenceMs;
  }

  answered(status: number, wait: number | undefined): void {
    // Others are still on their way: their silence is counted from here.
    this.unansweredSince = this.active > 0 ? this.options.clock() : undefined;
    if (status === 429) return this.slowDown(wait);
    if (status < 400) this.speedUp();
    if (wait !== undefined) this.hold(wait);
  }

  private slowDown(wait: number | undefined): void {
    if (this.most === Number.POSITIVE_INFINITY) return;
    // Answers of one burst halve it once: those after the first meet a pause that already began.
    const isNew = this.options.clock() >= this.heldUntil;
    this.hold(wait ?? 1);
    this.good = 0;
    if (!isNew) return;
    this.allowed = Math.max(1, Math.floor(this.allowed / 2));
    if (this.rate !== undefined) this.rate = Math.max(0.1, this.rate / 2);
  }

  private hold(seconds: number): void {
    // A single command waits for its own call alone.
    if (this.most === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(seconds * 1000, this.options.maxWaitMs);
    this.heldUntil = Math.max(this.heldUntil, this.options.clock() + ms);
  }

  private speedUp(): void {
    this.good += 1;
    if (this.good < patience) return;
    this.good = 0;
    if (this.allowed < this.most) {
      this.allowed += 1;
      this.callNext();
    }
    if (this.rate !== undefined && this.mostRate !== undefined)
      this.rate = Math.min(this.mostRate, this.rate + this.mostRate / 10);
  }

  private callNext(): boolean {
    const go = this.waitingFirst.shift() ?? this.waiting.shift();
    if (!go) return false;
    this.called += 1;
    go();
    return true;
  }

  /** One listener for all that wait: each one of its own would cost more than its request. */
  private heed(signal: AbortSignal): void {
    if (this.heeded === signal) return;
    this.heeded = signal;
    signal.addEventListener('abort', () => this.dismiss(), { once: true });
  }
}
