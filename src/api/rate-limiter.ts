/** Rate limiting: when requests may start, by Retry-After and a rate learned from 429 responses. */

/** Permission to send one request. */
export interface Permit {
  /** Milliseconds of the wait that were due to a pause that a response asked for. */
  readonly pausedMs: number;
}

interface RateLimiterOptions {
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Longest pause that a response may cause, in milliseconds; longer ones end the call instead. */
  readonly maxWaitMs: number;
}

/** After a 429 the rate is this fraction of the rate that worked. */
const backoffFactor = 0.9;
/** The rate rises by `riseFactor` after this many successes. */
const successesPerRise = 20;
const riseFactor = 1.04;
/** The lowest learned rate, in requests per second. */
const minRate = 1;
/**
 * A service that refuses after fewer successes than this allows no bursts. Their number then says
 * little, so the rate rises after each success until the next 429.
 */
const minSuccesses = 8;
const windowMs = 1000;
/** Two default timeouts, less the time between the last response and the requests before it. */
const silenceMs = 59_000;

interface Waiter {
  readonly since: number;
  /** Ends its wait: the command's, or one of a list that may be given up earlier. */
  readonly signal: AbortSignal;
  readonly resolve: (permit: Permit | undefined) => void;
}

/** Shared by all requests to a service. Callers bound how many requests run at once. */
export class RateLimiter {
  isDraining = false;
  private limits = false;
  private maxRate = Number.POSITIVE_INFINITY;
  /** Requests per second; infinite until `--rate` or a 429 sets it. */
  private rate = Number.POSITIVE_INFINITY;
  private learned = false;
  private nextStart = 0;
  private heldUntil = 0;
  private successes = 0;
  private successesPerRise = successesPerRise;
  /** The times of the successes of the last second, until a rate is learned. */
  private recentSuccesses: number[] = [];
  private inFlight = 0;
  /** The time since which at least one request has always been in flight. */
  private busySince = 0;
  private unansweredSince: number | undefined;
  private readonly first: Waiter[] = [];
  private readonly queued: Waiter[] = [];
  private isGranting = false;
  private wake = new AbortController();
  private readonly listenedSignals = new WeakSet<AbortSignal>();

  constructor(private readonly options: RateLimiterOptions) {}

  /**
   * After this, one pause holds all requests, a 429 lowers the learned rate, and at most `rate`
   * requests start per second. Before, each request observes only its own Retry-After, as in single
   * commands.
   */
  limit({ rate = Number.POSITIVE_INFINITY }: { rate: number | undefined }): void {
    this.limits = true;
    this.maxRate = rate;
    this.rate = this.learned ? Math.min(this.rate, rate) : rate;
  }

  /** After this, abort drains in-flight requests instead of cutting them. */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * Returns a permit, at once or as soon as there is one. `first`: ahead of all waiters without it.
   * Resolves to undefined if the signal fires or `cancelWaiting` is called first.
   */
  acquire(signal: AbortSignal, { first = false } = {}): Permit | Promise<Permit | undefined> {
    const isNext = this.first.length === 0 && (first || this.queued.length === 0);
    if (isNext && this.waitMs(first) <= 0) return this.grant(undefined);
    return this.enqueue(signal, first);
  }

  private enqueue(signal: AbortSignal, first: boolean): Promise<Permit | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    this.listenTo(signal);
    return new Promise((resolve) => {
      (first ? this.first : this.queued).push({ since: this.options.clock(), signal, resolve });
      if (!this.isGranting) void this.grantPermits();
      // The loop may be sleeping until a later time than this request has to wait for.
      else if (first) this.wake.abort();
    });
  }

  private async grantPermits(): Promise<void> {
    this.isGranting = true;
    for (;;) {
      const queue = this.first.length > 0 ? this.first : this.queued;
      const [next] = queue;
      if (!next) break;
      const wait = this.waitMs(queue === this.first);
      if (wait > 0) {
        if (this.wake.signal.aborted) this.wake = new AbortController();
        await this.options.sleep(wait, this.wake.signal);
      } else {
        queue.shift();
        next.resolve(this.grant(next.since));
      }
    }
    this.isGranting = false;
  }

  /** Rejects everyone queued now; later callers may still acquire. */
  cancelWaiting(): void {
    this.cancel(() => true);
  }

  private cancel(isCancelled: (waiter: Waiter) => boolean): void {
    for (const queue of [this.first, this.queued])
      for (const waiter of queue.splice(0))
        if (isCancelled(waiter)) waiter.resolve(undefined);
        else queue.push(waiter);
    this.wake.abort();
  }

  /** Milliseconds until the next request may start. */
  private waitMs(first: boolean): number {
    const interval = 1000 / this.rate;
    // Below one request per second, a write follows its read at once, and both pauses come after
    // it.
    const ahead = first && interval > 1000 ? interval : 0;
    const earliest = Math.max(this.heldUntil, interval === 0 ? 0 : this.nextStart - ahead);
    return earliest <= 0 ? 0 : earliest - this.options.clock();
  }

  private grant(since: number | undefined): Permit {
    if (since === undefined && this.rate === Number.POSITIVE_INFINITY) return immediate;
    const now = this.options.clock();
    this.nextStart = Math.max(this.nextStart, now) + 1000 / this.rate;
    if (since === undefined) return immediate;
    return { pausedMs: Math.max(0, Math.min(now, this.heldUntil) - since) };
  }

  /** Called when a request is sent. Call the returned function when the wait for its response ends. */
  onSend(): () => void {
    const now = this.options.clock();
    if (this.inFlight === 0) this.busySince = now;
    this.inFlight += 1;
    this.unansweredSince ??= now;
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      this.inFlight -= 1;
    };
  }

  /**
   * Called with each response and the wait that it asks for, in seconds. A wait holds all requests,
   * whatever the status; a 429 lowers the rate, and successes raise it.
   */
  onResponse(status: number, wait: number | undefined): void {
    const now = this.options.clock();
    // For requests that are still in flight, silence is counted from here.
    this.unansweredSince = this.inFlight > 0 ? now : undefined;
    // A single command waits only for its own call.
    if (!this.limits) return;
    if (status === 429) this.lowerRate(now, wait ?? 1);
    else if (status < 400) this.raiseRate(now);
    if (wait !== undefined || status === 429) this.pauseAll(now, wait ?? 1);
  }

  private pauseAll(now: number, seconds: number): void {
    const ms = Math.min(seconds * 1000, this.options.maxWaitMs);
    this.heldUntil = Math.max(this.heldUntil, now + ms);
  }

  private lowerRate(now: number, wait: number): void {
    this.successes = 0;
    // The rest of a burst arrives during a pause that has already begun.
    if (now < this.heldUntil || wait * 1000 > this.options.maxWaitMs) return;
    this.successesPerRise = successesPerRise;
    const rate = this.learned ? backoffFactor * this.rate : this.measureRate(now);
    // Nothing is learned from a service that has refused every request so far.
    if (rate === 0) return;
    this.learned = true;
    this.recentSuccesses = [];
    this.rate = Math.min(this.maxRate, Math.max(minRate, rate));
  }

  /** Returns the requests per second according to the recent successes; 0 if there are none. */
  private measureRate(now: number): number {
    const from = now - windowMs;
    const successes = this.recentSuccesses.filter((at) => at > from).length;
    if (successes >= minSuccesses) return backoffFactor * successes;
    // One success per round trip: the service may allow far more, which the next 429 will show.
    this.successesPerRise = 1;
    const since = Math.max(from, this.busySince);
    const burst = this.recentSuccesses.filter((at) => at > since).length;
    return (burst * 1000) / Math.max(1, now - since);
  }

  private raiseRate(now: number): void {
    if (!this.learned) {
      const { recentSuccesses } = this;
      recentSuccesses.push(now);
      // Only the last second counts. The older ones are dropped together, because a shift for each
      // response moves thousands of numbers.
      if ((recentSuccesses[0] ?? now) < now - 2 * windowMs)
        this.recentSuccesses = recentSuccesses.filter((at) => at > now - windowMs);
      return;
    }
    this.successes += 1;
    if (this.successes < this.successesPerRise) return;
    this.successes = 0;
    this.rate = Math.min(this.maxRate, this.rate * riseFactor);
  }

  /** True if no request has been answered for so long that retrying is pointless. */
  get silent(): boolean {
    if (!this.limits || this.unansweredSince === undefined) return false;
    return this.options.clock() - this.unansweredSince >= silenceMs;
  }

  /** Requests per second, once a 429 has led to a learned rate. */
  get learnedRate(): number | undefined {
    return this.learned ? this.rate : undefined;
  }

  /** Milliseconds until the end of the pause that a response asked for; 0 if there is none. */
  get heldMs(): number {
    return Math.max(0, this.heldUntil - this.options.clock());
  }

  /** Shares one listener among all waiters: one each would cost more than the request itself. */
  private listenTo(signal: AbortSignal): void {
    if (this.listenedSignals.has(signal)) return;
    this.listenedSignals.add(signal);
    const cancel = () => this.cancel((waiter) => waiter.signal === signal);
    signal.addEventListener('abort', cancel, { once: true });
  }
}

const immediate: Permit = { pausedMs: 0 };
