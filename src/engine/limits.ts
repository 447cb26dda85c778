/** Limits of a run: the circuit breaker that stops it, the semaphore over its requests, and the gate before its first write. */
import type { Context } from '../context.js';
import { exceedsRetryBudget, isExhausted, UnverifiedError } from '../data/outcome-errors.js';
import { SystemLimitError } from '../data/system-errors.js';
import { type Failure, GuardError, OutputError, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { countsAsError, type RowResult } from '../runs/report.js';
import { isForbidden, resultOf, resultOfStop, stopsRun } from './decide.js';

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
  private stopped: StopReason | undefined;
  private exhausted = 0;
  private forbidden = 0;
  private errors = 0;
  private answeredAny = false;
  private answeredWrite = false;

  constructor(
    private readonly maxErrors: number | undefined,
    private readonly isSilent: () => boolean,
    private readonly onStop: () => void = () => {},
  ) {}

  get stop(): StopReason | undefined {
    return this.stopped;
  }

  /** True if not even reads to verify a write may be sent. */
  get isWaitTooLong(): boolean {
    return exceedsRetryBudget(this.stopped?.error);
  }

  /** True once the service has answered a write. */
  get hasAnswer(): boolean {
    return this.answeredWrite;
  }

  /** Records a row that ended without a failure of the run; `sent`: the service answered its write. */
  recordResult(result: RowResult, sent: boolean): void {
    this.recordAnswer(sent);
    this.exhausted = 0;
    this.forbidden = 0;
    this.count(result);
  }

  /** Records a row's failure; returns true if it stops the run, so that the row has no result of its own. */
  recordFailure(error: Failure, result: RowResult, sent: boolean): boolean {
    // A limit of this machine, a full disk, a journal taken over by another process: every row would fail.
    if (
      error instanceof OutputError ||
      error instanceof GuardError ||
      error instanceof SystemLimitError
    )
      return this.endBy(error, error.exitName === 'guarded' ? 'guarded' : 'failed');
    if (stopsRun(error)) return this.endBy(error, error.exitName);
    if (isForbidden(error)) {
      this.forbidden += 1;
      const isFirst = sent ? !this.answeredWrite : !this.answeredAny;
      this.recordAnswer(sent);
      this.exhausted = 0;
      if (isFirst || this.forbidden >= forbiddenRows) return this.endBy(error, 'forbidden');
      this.count(result);
      return false;
    }
    this.forbidden = 0;
    if (error.exitName === 'interrupted') return true;
    if (isExhausted(error) || error instanceof UnknownOutcomeError) {
      this.exhausted += 1;
      if (exceedsRetryBudget(error) || this.exhausted >= exhaustedRows || this.isSilent())
        this.endBy(error, 'temporary');
      return false;
    }
    this.recordAnswer(sent);
    this.exhausted = 0;
    this.count(result);
    return false;
  }

  end(exitName: ExitName, reason: string, error?: Failure): true {
    if (!this.stopped) {
      this.stopped = { exitName, reason, ...(error && { error }) };
      this.onStop();
    }
    return true;
  }

  private endBy(error: Failure, exitName: ExitName): true {
    return this.end(exitName, error.message, error);
  }

  private recordAnswer(sent: boolean): void {
    this.answeredAny = true;
    this.answeredWrite ||= sent;
  }

  private count(result: RowResult): void {
    if (!countsAsError(result)) return;
    this.errors += 1;
    if (this.maxErrors !== undefined && this.errors >= this.maxErrors)
      this.end('rowsFailed', `${this.errors} failed or conflicted`);
  }
}

/** Records a row's failure and returns the row's result; a failure that stops the run gives it none of its own. */
export function recordFailedRow(breaker: CircuitBreaker, error: Failure, sent: boolean): RowResult {
  if (error instanceof UnverifiedError) {
    // Its write stays open, to be verified by a later read, whatever failed this time.
    breaker.recordResult('unknown', sent);
    return 'unknown';
  }
  const result = resultOf(error);
  // Another process is working on this record, which does not concern the rest of the run.
  if (error instanceof GuardError && error.code === 'locked') return result;
  const isStop = breaker.recordFailure(error, result, sent);
  return isStop && result === 'failed' ? resultOfStop(error, sent) : result;
}

/**
 * A semaphore over the requests of a run, including their waits between attempts; rows that are being
 * written to disk hold no permit.
 */
export class Semaphore {
  private readonly first: (() => void)[] = [];
  private readonly others: (() => void)[] = [];

  constructor(private free: number) {}

  /** Runs the work as soon as a permit is free; `first`: ahead of callers already waiting without it. */
  async within<T>({ first }: { readonly first: boolean }, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((go) => (first ? this.first : this.others).push(go));
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Admits everyone who waits now, and all later callers. */
  open(): void {
    this.free = Number.POSITIVE_INFINITY;
    for (const go of [...this.first.splice(0), ...this.others.splice(0)]) go();
  }

  /** Defers the next caller until the leaving row's outcome has been recorded, because it may stop the run. */
  private release(): void {
    const next = this.first.shift() ?? this.others.shift();
    if (next) process.nextTick(next);
    else this.free += 1;
  }
}

/** Lets the first write go alone, so that only one worker meets a refused key or a dead service. */
export class FirstWriteGate {
  private turn: Promise<void> | undefined;
  private endTurn: (() => void) | undefined;
  private isOpen = false;

  /** `isAnswered`: true once nobody needs to wait any more. */
  constructor(private readonly isAnswered: () => boolean) {}

  /** Waits while another row goes first; the first row gets a function that ends its turn. */
  enter(): (() => void) | undefined | Promise<(() => void) | undefined> {
    return this.isPassable() ? undefined : this.wait();
  }

  /** Opens the gate: a step before the write was answered. */
  open(): void {
    this.isOpen = true;
    this.endTurn?.();
  }

  private async wait(): Promise<(() => void) | undefined> {
    while (this.turn && !this.isPassable()) await this.turn;
    if (this.isPassable()) return undefined;
    let end: (() => void) | undefined;
    this.turn = new Promise((resolve) => {
      end = resolve;
    });
    this.endTurn = () => {
      this.turn = undefined;
      end?.();
    };
    return this.endTurn;
  }

  private isPassable(): boolean {
    return this.isOpen || this.isAnswered();
  }
}

/** An answer that comes this soon after Ctrl-C needs no explanation. */
const announceAfterMs = 300;

/** Tells a person after the first Ctrl-C why the command is still here; returns what takes that back. */
export function announceInterrupt(context: Context): () => void {
  const { signal, streams } = context;
  if (!streams.stderr.isTerminal) return () => {};
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => {
      context.message(
        'Stopping: waiting for answers to requests already sent. Press Ctrl-C again to quit now, then check with: rosterctl runs resume last',
      );
    }, announceAfterMs);
  };
  signal.addEventListener('abort', onAbort);
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
}
