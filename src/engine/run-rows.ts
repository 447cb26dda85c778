/** Executes the rows of a run concurrently, and ends each with exactly one result. */

import type { JsonObject } from '../data/json.js';
import { ageMs } from '../data/time.js';
import { CancelledError, Failure } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { type ReportRow, RowSet, withRef } from '../runs/report.js';
import { redactRow, sentAtLatest } from '../runs/state.js';
import { digestIn } from './decide.js';
import {
  CircuitBreaker,
  FirstWriteGate,
  recordFailedRow,
  Semaphore,
  type StopReason,
} from './limits.js';
import type { ReadPurpose, RecordState, Sent, Session, Task } from './operation.js';
import { PendingVerifications } from './pending.js';
import {
  type PendingVerification,
  partialResult,
  type RowHost,
  type RowRun,
  type RowRunOptions,
  rowRun,
} from './row-in-progress.js';
import { sessionFor } from './row-sessions.js';
import { runRow } from './run-row.js';
import { unknownOutcome } from './verify.js';

/** How old a read may be when its write is sent. */
const freshMs = 2_000;
/** How long rows in flight may take after the first signal; the process itself ends after 10 s. */
const graceMs = 9_000;
const highConcurrency = 8;
/** Enough extra rows to cover the time of a sync even on a busy disk or machine; more gain nothing. */
const extraRows = 112;

/**
 * Executes these rows and returns why the run stopped, if it did. Before each send, the record has been
 * read at most 2 s ago by both clocks and checked against every guard.
 */
export async function runRows(
  tasks: readonly Task[],
  options: RowRunOptions,
): Promise<StopReason | undefined> {
  const run = new Runner(tasks, options);
  await run.all(tasks);
  return run.stop;
}

class Runner implements RowHost {
  private readonly breaker: CircuitBreaker;
  private readonly reported: RowSet;
  /** Rows with a request that may have been sent and has no outcome. */
  private readonly inFlight: RowSet;
  private readonly semaphore: Semaphore;
  private readonly gate: FirstWriteGate;
  /** Lets the rows of a session that has yet to prove itself go one at a time. */
  private provingGate: FirstWriteGate | undefined;
  private readonly locks = new Map<number, HeldLock>();
  private readonly syncing = new Set<Promise<void>>();
  private readonly pending = new PendingVerifications(this);
  private closed = false;

  constructor(
    tasks: readonly Task[],
    readonly options: RowRunOptions,
  ) {
    this.reported = new RowSet(tasks);
    this.inFlight = new RowSet(tasks);
    const { maxErrors, isSilent, onStop, concurrency } = options;
    this.breaker = new CircuitBreaker(maxErrors, isSilent, () => onStop?.());
    this.gate = new FirstWriteGate(() => this.breaker.hasAnswer || this.isStopped);
    this.semaphore = new Semaphore(concurrency);
  }

  get stop(): StopReason | undefined {
    return this.breaker.stop;
  }

  get isStopped(): boolean {
    return this.stop !== undefined;
  }

  get isOver(): boolean {
    return this.isHalted || this.isStopped;
  }

  get isHalted(): boolean {
    return this.closed || this.options.signal.aborted;
  }

  async all(tasks: readonly Task[]): Promise<void> {
    const finished = new AbortController();
    const all = this.work(tasks).finally(() => finished.abort());
    all.catch(() => {});
    // Nothing more is sent afterwards, even if a worker fails unexpectedly.
    await Promise.race([all, this.gracePeriod(finished.signal)]).finally(() => {
      this.closed = true;
      for (const lock of this.locks.values()) lock.release();
    });
    const { describeError } = this.options;
    for (const task of tasks) {
      const { row, id, open } = task;
      if (this.reported.has(row)) continue;
      const isOpen = this.inFlight.has(row) || open !== undefined;
      const error = isOpen && describeError(unknownOutcome(undefined), id);
      const result: ReportRow = isOpen
        ? { row, id, result: 'unknown', error }
        : { row, id, result: 'not_attempted' };
      this.report(withRef(result, task));
    }
    // An unexpected error must surface; after a signal, a slow request may be abandoned.
    if (!this.options.signal.aborted) await all;
  }

  private async work(tasks: readonly Task[]): Promise<void> {
    const { settleMs } = this.options;
    const now = this.options.now();
    for (const task of tasks) {
      if (!task.open) continue;
      const intent = sentAtLatest(task.open, now);
      const kind = intent.applied ? 'unreadable' : 'lost';
      const { t, since } = intent;
      this.verifyLater({ run: rowRun(task), kind, intent, t, since, settleMs });
    }
    await this.each(tasks.filter((task) => !task.open));
    while (!this.pending.isEmpty && !this.isHalted && !this.breaker.isWaitTooLong)
      await this.pending.verifyAll();
    await Promise.all(this.syncing);
    await this.pending.endAll();
  }

  private async each(tasks: readonly Task[]): Promise<void> {
    const { concurrency, session } = this.options;
    // A row sends nothing while its record is written to disk. At high concurrency, extra rows keep the
    // connections busy and share the syncs; not for uploads, where each file counts as one.
    const isWide = concurrency >= highConcurrency && !session.transfer;
    const rows = isWide ? concurrency + extraRows : concurrency;
    let next = 0;
    const worker = async () => {
      while (next < tasks.length && !this.isOver) {
        const task = tasks[next++];
        if (task) await this.begin(rowRun(task));
      }
    };
    await Promise.all(Array.from({ length: Math.min(rows, tasks.length) }, worker));
  }

  private async gracePeriod(finished: AbortSignal): Promise<void> {
    const { signal, sleep } = this.options;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.semaphore.open();
    await sleep(graceMs, finished);
  }

  private async begin(run: RowRun): Promise<void> {
    const endTurns: ((() => void) | undefined)[] = [];
    await this.guarded(run, async () => {
      const { task } = run;
      const session = sessionFor(this.options.session, task);
      endTurns.push(await this.gate.enter(), await this.enterUnproven(session));
      if (this.isOver) return;
      const { lockRow } = this.options;
      if (lockRow) this.locks.set(task.row, await lockRow(task.id));
      const { previewState: preview } = task;
      const isUsable = preview !== undefined && this.isFresh(preview);
      if (preview?.record && !isUsable) run.digest = digestIn(await session.plan(task, preview));
      await runRow(this, run, isUsable ? preview : await this.read(run));
    });
    // Not earlier, because the answer may stop the run.
    for (const endTurn of endTurns) endTurn?.();
  }

  /** Waits while another row of the session proves it; returns what ends the turn of this row. */
  private enterUnproven({ isProven }: Session) {
    if (!isProven || isProven()) return undefined;
    this.provingGate ??= new FirstWriteGate(() => isProven() || this.isStopped);
    return this.provingGate.enter();
  }

  // --- services for rows ---

  isFresh({ at }: RecordState): boolean {
    return ageMs(at, this.options.instant()) <= freshMs;
  }

  read({ task }: RowRun, purpose: ReadPurpose = 'turn'): Promise<RecordState | undefined> {
    return this.semaphore.within({ first: false }, async () =>
      this.isOver ? undefined : sessionFor(this.options.session, task).read(task, purpose),
    );
  }

  sendNext({ task }: RowRun, send: () => Promise<Sent>): Promise<Sent | undefined> {
    return this.semaphore.within({ first: true }, async () => {
      if (this.isOver) return undefined;
      this.inFlight.add(task.row);
      return send();
    });
  }

  clearInFlight({ task }: RowRun): void {
    this.inFlight.delete(task.row);
  }

  openGate(): void {
    this.gate.open();
  }

  recordOutcome(outcome: Parameters<RowHost['recordOutcome']>[0]): void {
    if (outcome === 'changed') this.breaker.recordResult('changed', true);
    else this.breaker.recordFailure(outcome, 'unknown', true);
  }

  verifyLater(pending: PendingVerification): void {
    this.pending.add(pending);
  }

  // --- results ---

  /** Runs part of a row's work; a failure becomes the row's result, or stops the run. */
  async guarded(run: RowRun, part: () => Promise<void>): Promise<void> {
    const { task } = run;
    const { row, id } = task;
    const { session, describeError, onEnd } = this.options;
    try {
      await part();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (this.closed) return;
      const sent = this.inFlight.has(row);
      const base = recordFailedRow(this.breaker, error, sent);
      // A row whose first step is done has been attempted; its remaining step may be retried.
      const isPartial = run.done !== undefined && base === 'not_attempted';
      // If the second step is refused, whatever the code, the first one stays done.
      const result = isPartial || (run.done && base === 'conflict') ? 'failed' : base;
      const isInterrupted = error instanceof CancelledError && result === 'not_attempted';
      onEnd?.(task, { error });
      if (!isInterrupted) session.transfer?.failed(error, task);
      const details = {
        ...partialResult(run),
        ...(isPartial && { retryable: true }),
        ...(!isInterrupted && { error: describeError(error, id) }),
      };
      await this.finish(run, { row, id, result, ...details }, {}, true).catch(
        (journalError: unknown) => {
          if (!(journalError instanceof Failure)) throw journalError;
          this.breaker.recordFailure(journalError, result, sent);
          this.report(withRef({ row, id, result, ...details }, task));
        },
      );
    }
  }

  /**
   * Finishes a row without waiting for the disk, so that its worker can take the next one. The next
   * intent follows this result in the journal, so nothing is sent before the result is on disk.
   */
  finishInBackground(run: RowRun, row: ReportRow): void {
    const step = this.guarded(run, () => this.finish(run, row)).finally(() => {
      this.syncing.delete(step);
    });
    this.syncing.add(step);
  }

  async finish(
    run: RowRun,
    result: ReportRow,
    more: JsonObject = {},
    counted = false,
  ): Promise<void> {
    // The report is complete; nothing may be added.
    if (this.closed) return;
    const row = withRef(result, run.task);
    if (!counted && row.result !== 'unknown' && row.result !== 'not_attempted')
      this.breaker.recordResult(row.result, this.inFlight.has(row.row));
    await this.options.journal.append({
      kind: 'result',
      ...redactRow(row, run.previewed),
      ...more,
    });
    this.locks.get(run.task.row)?.release();
    this.locks.delete(run.task.row);
    this.report(row);
  }

  private report(row: ReportRow): void {
    if (this.reported.has(row.row)) return;
    this.reported.add(row.row);
    this.options.onResult(row);
  }
}
