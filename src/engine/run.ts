/** A run and its rows while they are executed: what the rows share, how far each got, and how it ends. */
import { isReadByList } from '../api/resources.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import { ageMs, usualFreshMs } from '../data/time.js';
import { CancelledError, Failure } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from '../runs/before-images.js';
import { type Entry, redactRow } from '../runs/journal.js';
import {
  type DoneStep,
  endAfter,
  type ReportRow,
  type RowChange,
  type RowEnd,
  type RowError,
  reportRow,
  type SelectedRow,
} from '../runs/report.js';
import type { Guards } from './decide.js';
import { CircuitBreaker, FirstWriteGate, recordFailedRow, Semaphore } from './limits.js';
import type { ReadPurpose, RecordState, Session, Task } from './operation.js';
import type { Unverified } from './verify.js';

/** Everything that the rows of a run depend on. */
export interface RowRunOptions
  extends Pick<Context, 'now' | 'instant' | 'self' | 'signal' | 'note' | 'message'> {
  readonly session: Session;
  readonly resource: ResourceName;
  readonly guards: Guards;
  /** Resolves when the entry is on disk. */
  readonly journal: { append(entry: Entry): Promise<void> };
  /** Stores before-images; resolves when one is on disk. Absent: none are kept. */
  readonly images?: Pick<BeforeImages, 'append'> | undefined;
  /**
   * Locks a row's record from its read to its result, once no write of others to it can still take effect;
   * `others`: there were such writes. Throws GuardError `locked`.
   */
  readonly lockRow?:
    | ((row: SelectedRow) => Promise<{ lock: HeldLock; others: boolean }>)
    | undefined;
  /** True if another run has changed the fields of a row's open write since that began. */
  readonly changedSince?: ((task: Task) => Promise<boolean>) | undefined;
  readonly concurrency: number;
  /** Extra sends of a row after the first. */
  readonly retries: number;
  /** Milliseconds before a resend if the answer asked for no wait, by the number of earlier sends. */
  readonly backoff: (sends: number, throttled: boolean) => number;
  /** Milliseconds after which a lost write can no longer take effect. */
  readonly settleMs: number;
  readonly maxErrors: number;
  /** True if the service has been silent for so long that it counts as dead. */
  readonly isSilent: () => boolean;
  /** Resolves after the time, or early if the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onResult: (row: ReportRow, last: LastState) => void;
  /** Formats an error for the report. */
  readonly describeError: (error: Failure, id: string) => RowError;
  /** Called before a pause for verification: milliseconds. */
  readonly onVerify?: (ms: number) => void;
  /** Called when the run stops sending; writes with an unknown outcome are still verified. */
  readonly onStop?: () => void;
}

/** A row's record in its last known state, or the failure that ended the row. */
export interface LastState {
  readonly record?: JsonObject | undefined;
  readonly error?: Failure | undefined;
}

/** A run while its rows are being executed. */
export class ActiveRun {
  readonly breaker: CircuitBreaker;
  readonly semaphore: Semaphore;
  /** Lets the first write go alone, and one at a time the rows of a session that has yet to prove itself. */
  readonly gate: FirstWriteGate;
  /** The rows that have begun and are not reported, by their numbers. */
  readonly rows = new Map<number, ActiveRow>();
  readonly reported = new Set<number>();
  /** Fields that were sent and that the service does not show. */
  readonly unshown = new Set<string>();
  /** Results that are being written to disk. */
  readonly syncing = new Set<Promise<void>>();
  /** The report is complete; nothing may be added. */
  isClosed = false;

  constructor(readonly options: RowRunOptions) {
    const { maxErrors, isSilent, onStop, concurrency } = options;
    this.breaker = new CircuitBreaker(isSilent, maxErrors, onStop);
    this.gate = new FirstWriteGate(() => this.breaker.hasAnswer || this.phase !== 'sending');
    this.semaphore = new Semaphore(concurrency);
  }

  /**
   * `verifying`: the run sends nothing more, but verifies what it sent. `ending`: after a signal, or with its
   * report complete, it starts nothing.
   */
  get phase(): 'sending' | 'verifying' | 'ending' {
    if (this.isClosed || this.options.signal.aborted) return 'ending';
    return this.breaker.stop ? 'verifying' : 'sending';
  }

  isFresh({ record, at, freshMs = record ? usualFreshMs : Number.POSITIVE_INFINITY }: RecordState) {
    return ageMs(at, this.options.instant()) <= freshMs;
  }
}

/**
 * The last write of a row. `settled`: none was sent, or its outcome is known; `sent`: it may have been sent;
 * `unverified`: only a read can show its outcome. `lost`: an earlier write that was found not applied, until the one that
 * replaces it has reached the service.
 */
type LastWrite =
  | { readonly phase: 'settled' | 'sent'; readonly lost?: Unverified | undefined }
  | { readonly phase: 'unverified'; readonly unverified: Unverified; readonly lost?: undefined };

/** A row in progress. */
export class ActiveRow {
  readonly session: Session;
  /** Sends that this process tried, but for those whose read had aged. */
  sends = 0;
  /** Sends of the present step after verification found that the previous one was not applied. */
  resends = 0;
  /** Consecutive reads that aged before their write could be sent. */
  rereads = 0;
  /** Reads repeated because they lagged behind the row's first step. */
  lagReads = 0;
  /** The changes found by the first read; a later read that differs is a conflict. */
  previewed: readonly RowChange[] | undefined;
  /** Digest of the entire record as first read, if the write affects all of it. */
  digest: string | undefined;
  lastWrite: LastWrite = { phase: 'settled' };
  done: DoneStep | undefined;
  lock: HeldLock | undefined;

  constructor(
    readonly run: ActiveRun,
    readonly task: Task,
  ) {
    this.session = sessionFor(run.options.session, task);
    this.previewed = task.previewed;
    this.done = task.done;
    run.rows.set(task.row, this);
  }

  /** True if its last write may have been sent and has no known outcome. */
  get isSent(): boolean {
    return this.lastWrite.phase !== 'settled';
  }

  /** Reads the record. Throws CancelledError if the run is over. */
  read(purpose: ReadPurpose = 'turn'): Promise<RecordState> {
    const { task, session } = this;
    return this.withinRead({ first: false }, async () => {
      this.throwIfOver();
      return session.read(task, purpose);
    });
  }

  /** Runs a read of the record as soon as the run may send its request. */
  withinRead<T>(order: { readonly first: boolean }, work: () => Promise<T>): Promise<T> {
    const { semaphore, options } = this.run;
    return isReadByList(options.resource)
      ? semaphore.withinShared(work)
      : semaphore.within(order, work);
  }

  /**
   * Locks the record until the row is reported, once no write of others to it can still take effect; returns
   * true if there were such writes. Throws GuardError `locked`.
   */
  async lockRecord(): Promise<boolean> {
    if (this.lock) return false;
    const locked = await this.run.options.lockRow?.(this.task);
    this.lock = locked?.lock;
    return locked?.others ?? false;
  }

  /** Throws CancelledError if nothing more may be sent, for this row to end as far as it got. */
  throwIfOver(): void {
    if (this.run.phase !== 'sending') throw stoppedEarly(this.done !== undefined || this.sends > 0);
  }

  /** Records a finished step that does not end the row. */
  async recordDone(done: DoneStep): Promise<void> {
    const { row, id } = this.task;
    this.done = done;
    this.resends = 0;
    await this.run.options.journal.append({ kind: 'done', row, id, ...done });
    this.lastWrite = { phase: 'settled' };
  }

  /** Runs part of the row's work; a failure becomes its result, or stops the run. */
  async guarded(part: () => Promise<void>): Promise<void> {
    try {
      await part();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!this.run.isClosed) await this.fail(error);
    }
  }

  private async fail(error: Failure): Promise<void> {
    const { run, task, done, isSent } = this;
    const { session, describeError } = run.options;
    const base = recordFailedRow(run.breaker, error, isSent);
    const { result } = endAfter(done, { result: base });
    const isInterrupted = error instanceof CancelledError && result === 'not_attempted';
    if (!isInterrupted) session.transfer?.failed(error, task);
    const end: RowEnd = {
      result: base,
      ...(!isInterrupted && { error: describeError(error, task.id) }),
    };
    await this.write(end, { error }).catch((journalError: unknown) => {
      if (!(journalError instanceof Failure)) throw journalError;
      run.breaker.recordFailure(journalError, isSent);
      this.report(end, { error });
    });
  }

  /** Ends the row: counts its result, and reports it once it is on disk. `more`: what only the journal keeps. */
  async finish(end: RowEnd, last: LastState, more: JsonObject = {}): Promise<void> {
    if (this.run.isClosed) return;
    if (end.result !== 'unknown' && end.result !== 'not_attempted')
      this.run.breaker.recordResult(end.result, this.isSent);
    await this.write(end, last, more);
  }

  /**
   * Finishes the row without waiting for the disk, so that its worker can take the next one. The next
   * intent follows this result in the journal, so nothing is sent before the result is on disk.
   */
  finishInBackground(end: RowEnd, last: LastState): void {
    const { syncing } = this.run;
    const ending = this.guarded(() => this.finish(end, last)).finally(() => {
      syncing.delete(ending);
    });
    syncing.add(ending);
  }

  private async write(end: RowEnd, last: LastState, more: JsonObject = {}): Promise<void> {
    const row = redactRow(this.rowOf(end), this.previewed);
    await this.run.options.journal.append({ kind: 'result', ...row, ...more });
    this.report(end, last);
  }

  /** Adds the row to the report, and releases its record. */
  report(end: RowEnd, last: LastState = {}): void {
    const { rows, reported, options } = this.run;
    const row = this.rowOf(end);
    this.lock?.release();
    rows.delete(row.row);
    if (reported.has(row.row)) return;
    reported.add(row.row);
    options.onResult(row, last);
  }

  private rowOf(end: RowEnd): ReportRow {
    return reportRow(this.task, endAfter(this.done, end));
  }
}

/** The error of a row that the end of its run stopped; `sent`: whether any of its requests was sent. */
export function stoppedEarly(sent: boolean): CancelledError {
  return new CancelledError(`Stopped before it was done${sent ? '' : '; nothing was sent'}.`);
}

/** The session that writes a row. */
export function sessionFor(session: Session, row: SelectedRow): Session {
  return session.forRow?.(row) ?? session;
}

/** Combines sessions into one that uses, for each row, the session that `pick` returns. */
export function sessionByRow(pick: (row: SelectedRow) => Session): Session {
  return {
    resends: 0,
    forRow: pick,
    read: (row, purpose) => pick(row).read(row, purpose),
    plan: (row, state) => pick(row).plan(row, state),
    send: (step, row, isFresh) => pick(row).send(step, row, isFresh),
  };
}
