/** When requests may start: pauses that answers ask for, and a rate that 429 answers teach. */

/** One for all requests to a service; the number at once is bounded by whoever sends them. */
export interface RateLimiter {
  /**
   * From now on one pause holds all requests, a 429 teaches a rate, and at most `rate` requests start
   * a second. Until then each request keeps to its own Retry-After, as single commands do.
   */
  limit(bounds: { readonly rate: number | undefined }): void;
  /** After this, abort drains in-flight requests instead of cutting them. */
  drain(): void;
  readonly isDraining: boolean;
  /**
   * A turn, now or when there is one; `first`: before all that wait without it. Undefined when the
   * signal fires or `cancelWaiting` is called before.
   */
  acquire(
    signal: AbortSignal,
    options?: { readonly first?: boolean },
  ): Permit | Promise<Permit | undefined>;
  /** Rejects everyone queued now; later callers may still acquire. */
  cancelWaiting(): void;
  /** A request leaves: from here its answer is waited for, until the result is called. */
  sent(): () => void;
  /**
   * An answer came, and asked to wait so many seconds. Also that of a good one holds everyone; a 429
   * slows down, good answers speed up.
   */
  answered(status: number, wait: number | undefined): void;
  /** No request got an answer for so long that repeating them is of no use. */
  readonly silent: boolean;
  /** Starts a second, once a 429 has taught them. */
  readonly learnedRate: number | undefined;
  /** Milliseconds until anything may be sent again, where an answer asked for that; else 0. */
  readonly heldMs: number;
}

/** Leave to send one request. */
export interface Permit {
  /** Milliseconds of the wait for it that an answer had asked for. */
  readonly pausedMs: number;
}

interface RateLimiterOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Longest pause that an answer may cause, in milliseconds; longer ones end the call instead. */
  readonly maxWaitMs: number;
}

/** The rate below what just worked, after a 429. */
const caution = 0.9;
/** After so many good answers the rate rises by `rise`. */
const goodForRise = 20;
const rise = 1.04;
/** No 429 slows down further, in requests a second. */
const lowestRate = 1;
/**
 * A service that refuses before so many good answers allows no bursts: how many came says little, and
 * the rate rises after each good answer until the next 429.
 */
const fewGood = 8;
const windowMs = 1000;
/** Two rounds of the usual timeout, less what lies between the last answer and the requests before it. */
const silenceMs = 59_000;

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  return new Limiter(options);
}

interface Waiter {
  readonly since: number;
  readonly go: (turn: Permit | undefined) => void;
}

class Limiter implements RateLimiter {
  isDraining = false;
  private limits = false;
  private mostRate = Number.POSITIVE_INFINITY;
  /** Starts a second; infinite until `--rate` or a 429 says otherwise. */
  private rate = Number.POSITIVE_INFINITY;
  private learned = false;
  private nextStart = 0;
  private heldUntil = 0;
  private good = 0;
  private goodForRise = goodForRise;
  /** When the good answers of the last second came, until a rate is learned. */
  private lately: number[] = [];
  private inFlight = 0;
  /** Since when there is always a request in flight. */
  private busySince = 0;
  private unansweredSince: number | undefined;
  private readonly first: Waiter[] = [];
  private readonly others: Waiter[] = [];
  private isServing = false;
  private wake = new AbortController();
  private heeded: AbortSignal | undefined;

  constructor(private readonly options: RateLimiterOptions) {}

  limit({ rate = Number.POSITIVE_INFINITY }: { rate: number | undefined }): void {
    this.limits = true;
    this.mostRate = rate;
    this.rate = this.learned ? Math.min(this.rate, rate) : rate;
  }

  drain(): void {
    this.isDraining = true;
  }

  acquire(signal: AbortSignal, { first = false } = {}): Permit | Promise<Permit | undefined> {
    const isNext = this.first.length === 0 && (first || this.others.length === 0);
    if (isNext && this.waitMs(first) <= 0) return this.start(undefined);
    return this.queue(signal, first);
  }

  private queue(signal: AbortSignal, first: boolean): Promise<Permit | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    this.heed(signal);
    return new Promise((go) => {
      (first ? this.first : this.others).push({ since: this.options.clock(), go });
      if (!this.isServing) void this.serve();
      // Whoever sleeps for another may sleep too long for this one.
      else if (first) this.wake.abort();
    });
  }

  /** Gives turns to all that wait, one after the other. */
  private async serve(): Promise<void> {
    this.isServing = true;
    for (;;) {
      const line = this.first.length > 0 ? this.first : this.others;
      const [next] = line;
      if (!next) break;
      const wait = this.waitMs(line === this.first);
      if (wait > 0) {
        if (this.wake.signal.aborted) this.wake = new AbortController();
        // oxlint-disable-next-line no-await-in-loop
        await this.options.sleep(wait, this.wake.signal);
      } else {
        line.shift();
        next.go(this.start(next.since));
      }
    }
    this.isServing = false;
  }

  cancelWaiting(): void {
    for (const { go } of [...this.first.splice(0), ...this.others.splice(0)]) go(undefined);
    this.wake.abort();
  }

  /** Milliseconds until the next request may start. */
  private waitMs(first: boolean): number {
    const interval = 1000 / this.rate;
    // Below one start a second a write follows its read at once, and both pauses come after it.
    const ahead = first && interval > 1000 ? interval : 0;
    const start = Math.max(this.heldUntil, interval === 0 ? 0 : this.nextStart - ahead);
    return start <= 0 ? 0 : start - this.options.clock();
  }

  private start(since: number | undefined): Permit {
    if (since === undefined && this.rate === Number.POSITIVE_INFINITY) return atOnce;
    const now = this.options.clock();
    this.nextStart = Math.max(this.nextStart, now) + 1000 / this.rate;
    if (since === undefined) return atOnce;
    return { pausedMs: Math.max(0, Math.min(now, this.heldUntil) - since) };
  }

  sent(): () => void {
    const now = this.options.clock();
    if (this.inFlight === 0) this.busySince = now;
    this.inFlight += 1;
    this.unansweredSince ??= now;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.inFlight -= 1;
    };
  }

  answered(status: number, wait: number | undefined): void {
    const now = this.options.clock();
    // Others are still on their way: their silence is counted from here.
    this.unansweredSince = this.inFlight > 0 ? now : undefined;
    // A single command waits for its own call alone.
    if (!this.limits) return;
    if (status === 429) this.slowDown(now, wait ?? 1);
    else if (status < 400) this.speedUp(now);
    if (wait !== undefined || status === 429) this.hold(now, wait ?? 1);
  }

  private hold(now: number, seconds: number): void {
    const ms = Math.min(seconds * 1000, this.options.maxWaitMs);
    this.heldUntil = Math.max(this.heldUntil, now + ms);
  }

  private slowDown(now: number, wait: number): void {
    this.good = 0;
    // The rest of a burst meets a pause that already began.
    if (now < this.heldUntil || wait * 1000 > this.options.maxWaitMs) return;
    this.goodForRise = goodForRise;
    const rate = this.learned ? caution * this.rate : this.measured(now);
    // A service that refused all there was has taught nothing yet.
    if (rate === 0) return;
    this.learned = true;
    this.lately = [];
    this.rate = Math.min(this.mostRate, Math.max(lowestRate, rate));
  }

  /** Starts a second by the good answers of late; 0 where there was none. */
  private measured(now: number): number {
    const from = now - windowMs;
    const good = this.lately.filter((at) => at > from).length;
    if (good >= fewGood) return caution * good;
    // One good answer a round trip: the service may take far more, which the next 429 will tell.
    this.goodForRise = 1;
    const since = Math.max(from, this.busySince);
    const ofBurst = this.lately.filter((at) => at > since).length;
    return (ofBurst * 1000) / Math.max(1, now - since);
  }

  private speedUp(now: number): void {
    if (!this.learned) {
      this.lately.push(now);
      while ((this.lately[0] ?? now) < now - windowMs) this.lately.shift();
      return;
    }
    this.good += 1;
    if (this.good < this.goodForRise) return;
    this.good = 0;
    this.rate = Math.min(this.mostRate, this.rate * rise);
  }

  get silent(): boolean {
    if (!this.limits || this.unansweredSince === undefined) return false;
    return this.options.clock() - this.unansweredSince >= silenceMs;
  }

  get learnedRate(): number | undefined {
    return this.learned ? this.rate : undefined;
  }

  get heldMs(): number {
    return Math.max(0, this.heldUntil - this.options.clock());
  }

  /** One listener for all that wait: each one of its own would cost more than its request. */
  private heed(signal: AbortSignal): void {
    if (this.heeded === signal) return;
    this.heeded = signal;
    signal.addEventListener('abort', () => this.cancelWaiting(), { once: true });
  }
}

const atOnce: Permit = { pausedMs: 0 };
