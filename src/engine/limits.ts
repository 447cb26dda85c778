/** Limits of a run: the circuit breaker that stops it, the semaphore over its requests, and the gate before its first write. */
import {
  exceedsRetryBudget,
  isExhausted,
  isForbidden,
  UnverifiedError,
} from '../data/outcome-errors.js';
import { SystemLimitError } from '../data/system-errors.js';
import { type Failure, GuardError, OutputError, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { countsAsError, type RowResult } from '../runs/report.js';
import { resultOf, stopsRun } from './decide.js';

/** Why a run stopped sending. */
export interface StopReason {
  readonly exitName: ExitName;
  readonly reason: string;
  /** The failure of the service or the disk that caused the stop, if one did. */
  readonly error?: Failure;
}

/** After this many consecutive rows without an answer, the service counts as unreachable. */
const exhaustedRows = 5;
const forbiddenRows = 3;

/**
 * Stops a run after: a refused key; a 403 at the first answer, or three in a row; five consecutive rows
 * without an answer, or a minute without any; a wait longer than the retry budget; too many errors; a
 * journal that fails.
 */
export class CircuitBreaker {
  /** Why the run stopped; undefined while it continues. */
  stop: StopReason | undefined;
  /** True once the service has answered a write. */
  hasAnswer = false;
  private answeredAny = false;
  private exhausted = 0;
  private forbidden = 0;
  private errors = 0;

  constructor(
    private readonly isSilent: () => boolean,
    private readonly maxErrors = Infinity,
    private readonly onStop: () => void = () => {},
  ) {}

  /** True if not even reads to verify a write may be sent. */
  get isWaitTooLong(): boolean {
    return exceedsRetryBudget(this.stop?.error);
  }

  /** Records a row that ended without a failure of the run; `sent`: the service answered its write. */
  recordResult(result: RowResult, sent: boolean): void {
    this.forbidden = 0;
    this.recordAnswer(result, sent);
  }

  /** Records a row's failure, which may stop the run. */
  recordFailure(error: Failure, sent: boolean): void {
    // A limit of this machine, a full disk, a journal taken over by another process: every row would fail.
    if (isBroken(error) || error instanceof SystemLimitError || stopsRun(error))
      this.end(error.exitName, error.message, error);
    else if (isForbidden(error)) {
      this.forbidden += 1;
      const isFirst = sent ? !this.hasAnswer : !this.answeredAny;
      if (isFirst || this.forbidden >= forbiddenRows) this.end('forbidden', error.message, error);
      this.recordAnswer('failed', sent);
    } else if (isExhausted(error) || error instanceof UnknownOutcomeError) {
      this.forbidden = 0;
      this.exhausted += 1;
      if (exceedsRetryBudget(error) || this.exhausted >= exhaustedRows || this.isSilent())
        this.end('temporary', error.message, error);
    } else if (error.exitName !== 'interrupted') this.recordResult(resultOf(error), sent);
  }

  private end(exitName: ExitName, reason: string, error?: Failure): void {
    if (this.stop) return;
    this.stop = { exitName, reason, ...(error && { error }) };
    this.onStop();
  }

  private recordAnswer(result: RowResult, sent: boolean): void {
    this.answeredAny = true;
    this.hasAnswer ||= sent;
    this.exhausted = 0;
    if (!countsAsError(result)) return;
    this.errors += 1;
    if (this.errors >= this.maxErrors)
      this.end('rowsFailed', `${this.errors} failed or conflicted`);
  }
}

/**
 * Records a row's failure and returns the row's result. A 403 fails its row also where it stops the run.
 * Any other failure that stops the run gives the row no result of its own: it is unknown if the journal
 * broke after its write was sent, else not attempted.
 */
export function recordFailedRow(breaker: CircuitBreaker, error: Failure, sent: boolean): RowResult {
  if (error instanceof UnverifiedError) {
    // Its write stays open, to be verified by a later read, whatever failed this time.
    breaker.recordResult('unknown', sent);
    return 'unknown';
  }
  // Before the send: another process is working on this record, which does not concern the other rows.
  // After it, only the journal can be locked: another process has taken over the run.
  const isRowLocked = error instanceof GuardError && error.code === 'locked' && !sent;
  if (!isRowLocked) breaker.recordFailure(error, sent);
  if (isBroken(error)) return sent ? 'unknown' : 'not_attempted';
  return error instanceof SystemLimitError ? 'not_attempted' : resultOf(error);
}

/** True if nothing more can be recorded: the disk is full, or another process has taken over. */
function isBroken(error: Failure): boolean {
  return error instanceof OutputError || error instanceof GuardError;
}

/** A semaphore over the requests of a run and their waits; rows being written to disk hold no permit. */
export class Semaphore {
  private readonly first: (() => void)[] = [];
  private readonly others: (() => void)[] = [];
  private sharers = 0;
  private shared: Promise<void> | undefined;

  constructor(private free: number) {}

  /** Runs the work as soon as a permit is free; `first`: ahead of callers already waiting without it. */
  async within<T>({ first }: { readonly first: boolean }, work: () => Promise<T>): Promise<T> {
    await this.acquire(first ? this.first : this.others);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Runs work that shares its request with all other such work: together it takes one permit. */
  async withinShared<T>(work: () => Promise<T>): Promise<T> {
    this.sharers += 1;
    this.shared ??= this.acquire(this.first);
    try {
      await this.shared;
      return await work();
    } finally {
      this.sharers -= 1;
      if (this.sharers === 0) {
        this.shared = undefined;
        this.release();
      }
    }
  }

  private async acquire(queue: (() => void)[]): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((go) => void queue.push(go));
  }

  private release(): void {
    // The next caller waits until the leaving row's outcome has been recorded, because it may stop the run.
    const next = this.first.shift() ?? this.others.shift();
    if (next) process.nextTick(next);
    else this.free += 1;
  }

  /** Admits everyone who waits now, and all later callers. */
  open(): void {
    this.free = Number.POSITIVE_INFINITY;
    for (const go of [...this.first.splice(0), ...this.others.splice(0)]) go();
  }
}

/** Lets the first write go alone, so that only one worker meets a refused key or a dead service. */
export class FirstWriteGate {
  private turn: Promise<void> | undefined;
  private endTurn: (() => void) | undefined;
  private isOpen = false;

  /** `isAnswered` returns true once the service has answered a write; from then on no row waits for the first one. */
  constructor(private readonly isAnswered: () => boolean) {}

  /**
   * Waits while another row goes first. Returns the function that ends the turn of this row; undefined if it
   * need not take one: the first write was answered, and `isProven` returns true.
   */
  async enter(isProven: () => boolean): Promise<(() => void) | undefined> {
    const isPassable = () => (this.isOpen || this.isAnswered()) && isProven();
    while (this.turn && !isPassable()) await this.turn;
    if (isPassable()) return undefined;
    this.turn = new Promise((resolve) => {
      this.endTurn = () => {
        this.turn = undefined;
        resolve();
      };
    });
    return this.endTurn;
  }

  /** Opens the gate: a step before the write was answered. */
  open(): void {
    this.isOpen = true;
    this.endTurn?.();
  }
}
