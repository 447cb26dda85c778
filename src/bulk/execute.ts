/** Executes a planned run: sends, journals, reports progress, and ends it or says how to finish it. */

import { backoffMs } from '../api/retry.js';
import type { FailedItem } from '../cli/command-output.js';
import { rowError } from '../cli/failure.js';
import { cacheFor } from '../cli/filters.js';
import type { Context } from '../context.js';
import { intern } from '../data/digest.js';
import { pause } from '../data/time.js';
import { keepHeapClose, letHeapGrow } from '../data/workload.js';
import type { StopReason } from '../engine/limits.js';
import type { Session, Task } from '../engine/operation.js';
import { type AwaitedRuns, changesSince } from '../engine/other-runs.js';
import type { LastState, RowRunOptions } from '../engine/run.js';
import { runRows } from '../engine/run-rows.js';
import { readSettleMs } from '../engine/verify.js';
import { Failure, OutputError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from '../runs/before-images.js';
import { endRun, markReported } from '../runs/end.js';
import { isHash, type Journal, withoutValues } from '../runs/journal.js';
import type { RunPlan } from '../runs/plan.js';
import {
  type BulkReport,
  exitOf,
  failedRun,
  isFinalRow,
  type ReportRow,
  reportOf,
  summarize,
} from '../runs/report.js';
import { isSingleRun, type RunStore } from '../runs/store.js';
import type { Invocation } from './invocation.js';
import { nextCommand, withAdvice } from './next-command.js';
import { writeResultsFile } from './results.js';
import { rowLocks } from './run-locks.js';
import { announceInterrupt, runProgress } from './run-progress.js';

/** A run that is about to send. */
export interface PlannedRun {
  readonly invocation: Invocation;
  /** Undefined if no run can be kept on disk. */
  readonly store: RunStore | undefined;
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly images: BeforeImages | undefined;
  readonly session: Session;
  readonly tasks: readonly Task[];
  /** Rows that need nothing more, from this process or an earlier one. */
  readonly finished: readonly ReportRow[];
  /** How the command ends depends on these rows alone; by default on all. */
  readonly only?: ReadonlySet<number>;
  /** True if its report shows everything in its journal; by default, unless the disk failed. */
  readonly reportsAll?: boolean;
  readonly lock: HeldLock | undefined;
  readonly awaited: AwaitedRuns;
  /** How many more rows may fail before the run stops; the preview may have used some. */
  readonly errorsLeft: number;
}

/** How an invocation ended; the last state is that of its only row. */
export interface EndedRun extends LastState {
  readonly invocation: Invocation;
  /** Its run, if it was executed. */
  readonly run?: PlannedRun | undefined;
  readonly report: BulkReport;
  readonly exitName: ExitName;
  /** The names of the first rows' records, by id. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  /** The error of the entire run, for scripts. */
  readonly failed?: FailedItem | undefined;
  /** The session that shows the record of its only row. */
  readonly session?: Session | undefined;
  /** Called once the report has been printed, to record that. */
  readonly onWritten?: (() => Promise<void>) | undefined;
  /** Why the run stopped sending. */
  readonly stop?: StopReason | undefined;
}

/** A run about to send, or how its invocation ended if there is nothing to send. */
export type Planned = PlannedRun | EndedRun;

/**
 * Sends and journals the rows of a run, unless it has ended, and returns its report. `onRow` is called
 * with each row once its result is on disk; the final report then omits before and after values.
 */
export async function executeRun(
  context: Context,
  run: Planned,
  onRow?: (row: ReportRow) => void,
): Promise<EndedRun> {
  if ('report' in run) return run;
  const { journal, images, finished, tasks } = run;
  const keep = onRow ? withoutValues : sharingValues();
  const rows: ReportRow[] = finished.map(keep);
  const { limiter } = context.api;
  let checkAt = 0;
  const { text, share } = runProgress(run, () => rows.length - finished.length, limiter, {
    clock: context.clock,
    checkMs: () => checkAt - context.clock(),
  });
  const line = context.progress.start(text, share);
  let stop: StopReason | undefined;
  let last: LastState = {};
  const stopAnnouncing = announceInterrupt(context);
  if (!run.invocation.isSingle) await Promise.all([keepHeapClose(tasks.length), letHeapGrow()]);
  try {
    limiter.drain();
    for (const row of finished) onRow?.(row);
    stop = await runRows(tasks, {
      ...runOptions(context, run),
      onVerify(ms) {
        const seconds = `${Math.ceil(ms / 100) / 10} s`;
        const isRead = run.session.verify !== 'never';
        if (isRead) checkAt = context.clock() + ms;
        if (run.invocation.isSingle)
          context.note(
            isRead
              ? `Checking in ${seconds} whether the change took effect.`
              : `Waiting ${seconds}, because the change may still take effect.`,
          );
      },
      onResult(row, state) {
        rows.push(keep(row));
        onRow?.(row);
        if (tasks.length === 1) last = state;
      },
    });
    stop = await endIfDone(run, rows, stop);
  } finally {
    stopAnnouncing();
    line.stop();
    await journal.close().catch(() => {});
    await images?.close().catch(() => {});
    run.lock?.release();
  }
  await rememberNames(context, run, rows);
  return { ...(await finalizeRun(context, run, rows, stop)), ...last };
}

/** Remembers the names that were written, for a person who is shown ids later on. */
async function rememberNames(
  context: Context,
  { invocation: { operation } }: PlannedRun,
  rows: readonly ReportRow[],
): Promise<void> {
  const named = rows.flatMap(({ result, id, after: { id: made = id, name } = {} }) =>
    result === 'changed' && typeof name === 'string' && !isHash(name) ? [{ id: made, name }] : [],
  );
  // A conversion writes the name of a player.
  const isOwn = operation.verb !== 'convert';
  if (named.length === 0 || !isOwn || !context.isInteractive) return;
  const cache = await cacheFor(context, operation.resource);
  for (const record of named) cache?.observeName(record);
  await cache?.write({ whole: false });
}

function runOptions(
  context: Context,
  { session, journal, images, plan, invocation, store, awaited, errorsLeft, tasks }: PlannedRun,
): Omit<RowRunOptions, 'onResult' | 'onVerify'> {
  const { settings, api } = context;
  const { operation, action, values, guards, typed } = invocation;
  return {
    ...context,
    session,
    resource: operation.resource,
    guards,
    journal,
    images,
    lockRow: store && rowLocks(context, invocation, store, plan.head, awaited),
    // A command that was typed again asks for the change again; a file is compared with what others uploaded.
    changedSince:
      store && !typed && !operation.files ? changesSince(store, plan.head, tasks) : undefined,
    concurrency: values.concurrency ?? settings.concurrency,
    retries: settings.retries,
    backoff: (sends, throttled) => backoffMs(sends, throttled, Math.random),
    settleMs: readSettleMs(context.env),
    maxErrors: errorsLeft,
    isSilent: () => api.limiter.silent,
    sleep: pause,
    describeError: (error, id) => rowError(context, action.split('.'), error, id),
    onStop: () => api.limiter.cancelWaiting(),
  };
}

/** Returns a function that copies rows so that equal before and after values share one object. */
function sharingValues(): (row: ReportRow) => ReportRow {
  const same = intern<NonNullable<ReportRow['before']>>();
  return (row) => ({
    ...row,
    ...(row.before && { before: same(row.before) }),
    ...(row.after && { after: same(row.after) }),
  });
}

/** True for a row without anything to resume: a single write that was refused or never sent has ended. */
export function hasEnded({ plan, invocation }: PlannedRun, row: ReportRow): boolean {
  if (isFinalRow(row)) return true;
  const isUntouched = row.result === 'not_attempted' && row.step === undefined;
  return isUntouched && isSingleRun(plan.head.run) && !invocation.operation.files;
}

/**
 * Writes the end record of a finished run, and returns what stopped it. A journal that fails here does not
 * affect what was sent; nor does a before-image that failed after the last write.
 */
async function endIfDone(
  run: PlannedRun,
  rows: readonly ReportRow[],
  stop: StopReason | undefined,
): Promise<StopReason | undefined> {
  const { store, plan, journal } = run;
  const ended = new Set(rows.filter((row) => hasEnded(run, row)).map(({ row }) => row));
  if (!plan.rows.every(({ row }) => ended.has(row))) return stop;
  try {
    const begun = rows.filter(({ result, error }) => result !== 'not_attempted' || error);
    const known = new Set(begun.map(({ row }) => row));
    const end = { begun: known, results: rows, summary: summarize(rows) };
    if (store) await endRun(store, plan, journal, end);
    return stop?.error instanceof OutputError && rows.every(isFinalRow) ? undefined : stop;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { exitName: 'failed', reason: error.message, error };
  }
}

/**
 * Reports the rows of an invocation, and writes `--results`; `stop`: why no more was sent. The exit code and
 * the error follow from the rows in `only`, by default from all.
 */
export async function endWith(
  context: Context,
  invocation: Invocation,
  head: Parameters<typeof reportOf>[1],
  rows: readonly ReportRow[],
  stop: Pick<StopReason, 'exitName' | 'error'> | undefined,
  only?: ReadonlySet<number>,
): Promise<EndedRun> {
  const report = reportOf(context, head, rows);
  const some = only && rows.filter(({ row }) => only.has(row));
  const decisive = some ? reportOf(context, head, some) : report;
  const drift = context.api.driftOfChange;
  const ended = exitOf(decisive, stop?.exitName ?? drift?.exitName);
  const { exitName, error = drift } = await writeResultsFile(context, invocation, rows, ended);
  const name = context.signal.aborted ? 'interrupted' : exitName;
  const { run } = head;
  const next =
    run === null
      ? undefined
      : (how: 'resume' | 'retry', count: number) =>
          nextCommand(context, invocation, run, how, count);
  const reason = stop?.error ?? error;
  const { isSingle, operation } = invocation;
  const unended = decisive.results.filter((row) => !isFinalRow(row)).length;
  // The run that is resumed reads each record before it sends anything.
  const isReadAgain = !isSingle && operation.verb !== 'create' && unended > 0;
  const advised =
    reason && next && isReadAgain ? withAdvice(reason, next('resume', unended)) : reason;
  const failed = failedRun(decisive, name, advised, next);
  const isUnreported = failed?.error === drift;
  return { invocation, report, exitName, failed: failed && { ...failed, isUnreported } };
}

async function finalizeRun(
  context: Context,
  run: PlannedRun,
  rows: readonly ReportRow[],
  stopped: StopReason | undefined,
): Promise<EndedRun> {
  const { store, journal, plan, invocation, session } = run;
  const { head, names } = plan;
  const kept = store ? head : { ...head, run: null };
  // Reads have shown what became of every row, so the missing answers no longer matter.
  const isOver = stopped?.exitName === 'temporary' && rows.every(isFinalRow);
  const stop = isOver ? undefined : stopped;
  const ended = await endWith(context, invocation, kept, rows, stop, run.only);
  // After a disk failure, the user runs the same command again, and it must find this run.
  const { reportsAll = !(stop?.error instanceof OutputError) } = run;
  const marksReport = store && head.addsEachTime && reportsAll;
  return {
    ...ended,
    run,
    session,
    names,
    stop,
    ...(marksReport && { onWritten: () => markReported(store, head.run, journal.last) }),
  };
}
