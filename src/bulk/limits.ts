/** Stops a run after refusals or silence in a row. */
import type { Context } from '../context.js';
import { exceedsRetryBudget } from '../data/outcome-errors.js';
import { SystemLimitError } from '../data/system-errors.js';
import {
  type Failure,
  GuardError,
  isExhausted,
  OutputError,
  UnknownOutcomeError,
  UnverifiedError,
} from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { isForbidden, resultOf, resultOfStop, stopsRun } from './decide.js';
import { countsAsError, type RowResult } from './report.js';

/** Why a run sends nothing more. */
export interface StopReason {
  readonly exitName: ExitName;
  readonly reason: string;
  /** What the service or the disk said, where that was the reason. */
  readonly error?: Failure;
}

/** As many rows in a row may fail for want of an answer before the service counts as unreachable. */
const exhaustedRows = 5;
const forbiddenRows = 3;

/**
 * Decides when a run stops: a refused key, a 403 at the first answer or three in a row, five rows in
 * a row without an answer or a minute without any, a wait longer than the budget, too many errors, a journal that fails.
 */
export class CircuitBreaker {
  private stopped: StopReason | undefined;
  private exhausted = 0;
  private forbidden = 0;
  private errors = 0;
  private seen = false;
  private wrote = false;

  constructor(
    private readonly maxErrors: number | undefined,
    private readonly isSilent: () => boolean,
    private readonly onStop: () => void = () => {},
  ) {}

  get stop(): StopReason | undefined {
    return this.stopped;
  }

  /** Nothing more is to be sent at all, not even to see what became of a write. */
  get isWaitTooLong(): boolean {
    return exceedsRetryBudget(this.stopped?.error);
  }

  /** Whether the service answered a write yet. */
  get hasAnswer(): boolean {
    return this.wrote;
  }

  /** The row was dealt with; `sent`: by an answer to a write. */
  settled(result: RowResult, sent: boolean): void {
    this.answered(sent);
    this.exhausted = 0;
    this.forbidden = 0;
    this.count(result);
  }

  /** A row met a failure; true = it stops the run, and the row has no result of its own. */
  failed(error: Failure, result: RowResult, sent: boolean): boolean {
    // A limit of this machine, a full disk, a journal of another process: no row can do better.
    if (
      error instanceof OutputError ||
      error instanceof GuardError ||
      error instanceof SystemLimitError
    )
      return this.endBy(error, error.exitName === 'guarded' ? 'guarded' : 'failed');
    if (stopsRun(error)) return this.endBy(error, error.exitName);
    if (isForbidden(error)) {
      this.forbidden += 1;
      const isFirst = sent ? !this.wrote : !this.seen;
      this.answered(sent);
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
    this.answered(sent);
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

  private answered(sent: boolean): void {
    this.seen = true;
    this.wrote ||= sent;
  }

  private count(result: RowResult): void {
    if (!countsAsError(result)) return;
    this.errors += 1;
    if (this.maxErrors !== undefined && this.errors >= this.maxErrors)
      this.end('rowsFailed', `${this.errors} failed or conflicted`);
  }
}

/** The result of a row that met a failure; one that stops the run leaves it without one of its own. */
export function rowResult(breaker: CircuitBreaker, error: Failure, sent: boolean): RowResult {
  if (error instanceof UnverifiedError) {
    // Its write stays open: reading it again is what is left to do, whatever that met this time.
    breaker.settled('unknown', sent);
    return 'unknown';
  }
  const wanted = resultOf(error);
  // Another process works on this record; that says nothing of the run.
  if (error instanceof GuardError && error.code === 'locked') return wanted;
  const ends = breaker.failed(error, wanted, sent);
  return ends && wanted === 'failed' ? resultOfStop(error, sent) : wanted;
}

/** How many rows may be at the service at once, and who goes first. */

/**
 * A semaphore over the requests of a run, waits between attempts included; rows that are on their
 * way to disk hold none.
 */
export class Semaphore {
  private readonly first: (() => void)[] = [];
  private readonly others: (() => void)[] = [];

  constructor(private free: number) {}

  /** Does the work with a permit, now or when there is one; `first`: before those that wait already. */
  async within<T>({ first }: { readonly first: boolean }, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((go) => (first ? this.first : this.others).push(go));
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Lets everyone in who waits. */
  open(): void {
    this.free = Number.POSITIVE_INFINITY;
    for (const go of [...this.first.splice(0), ...this.others.splice(0)]) go();
  }

  /** The next one runs when it is known what the leaving row came to: that may stop the run. */
  private release(): void {
    const next = this.first.shift() ?? this.others.shift();
    if (next) process.nextTick(next);
    else this.free += 1;
  }
}

/** The first write goes alone: a refused key or a dead service is met once, not by every worker. */
export class FirstWriteGate {
  private over: Promise<void> | undefined;
  private pass: (() => void) | undefined;
  private isOpen = false;

  /** `isAnswered`: nobody has to wait any more. */
  constructor(private readonly isAnswered: () => boolean) {}

  /** Waits while another row goes first; gives what ends our own turn, if we are the first. */
  enter(): (() => void) | undefined | Promise<(() => void) | undefined> {
    return this.isPassable() ? undefined : this.wait();
  }

  /** A step before the write was answered: the others can begin. */
  open(): void {
    this.isOpen = true;
    this.pass?.();
  }

  private async wait(): Promise<(() => void) | undefined> {
    while (this.over && !this.isPassable()) await this.over;
    if (this.isPassable()) return undefined;
    let end: (() => void) | undefined;
    this.over = new Promise((resolve) => {
      end = resolve;
    });
    this.pass = () => {
      this.over = undefined;
      end?.();
    };
    return this.pass;
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
