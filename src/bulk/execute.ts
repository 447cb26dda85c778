/** Carries out a planned run: sends, journals, reports, and ends it. */
import type { RateLimiter } from '../api/rate-limiter.js';
import { backoffMs } from '../api/retry.js';
import { keepHeapClose, letHeapGrow } from '../api/wire.js';
import { bytesMoved } from '../cli/cells.js';
import { type FailedItem, rowError } from '../cli/failure.js';
import type { Context } from '../context.js';
import { intern } from '../data/digest.js';
import type { JsonObject } from '../data/json.js';
import { plural } from '../data/text.js';
import { pause } from '../data/time.js';
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from './before-images.js';
import { mostErrors } from './confirm.js';
import { endRun, markReported } from './end-run.js';
import { type BulkValues, type Invocation, jobOf, lockOne } from './invocation.js';
import type { Journal } from './journal.js';
import type { StopReason } from './limits.js';
import type { Session, Task } from './operation.js';
import { failedRun, reportOf, summaryLine } from './report-view.js';
import {
  type BulkReport,
  exitOf,
  isFinalRow,
  type ReportRow,
  RowSet,
  type SelectedRow,
  summarize,
} from './report.js';
import { writeResultsFile } from './results.js';
import type { RunPlan } from './run-plan.js';
import { isSingleRun, type RunStore } from './run-store.js';
import { runRows } from './runner.js';
import { type RunOptions, settleMs } from './verify.js';

/** A run that is about to send. */
export interface PlannedRun {
  readonly invocation: Omit<Invocation, 'source'>;
  /** Undefined where no run can be kept. */
  readonly store: RunStore | undefined;
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly images: BeforeImages | undefined;
  readonly session: Session;
  readonly tasks: readonly Task[];
  /** Rows that need nothing more, of this process or an earlier one. */
  readonly finished: readonly ReportRow[];
  readonly limits: Pick<BulkValues, 'failFast' | 'maxErrors' | 'concurrency' | 'results'>;
  /** The input as read by this command line, for `--results`. */
  readonly input: { readonly header: readonly string[]; readonly rows: readonly SelectedRow[] };
  /** Lets go of the lock. */
  release(): void;
}

/** How a run ended. */
export interface EndedRun {
  readonly report: BulkReport;
  readonly exitName: ExitName;
  /** What a script reads as the error of the whole. */
  readonly failed?: FailedItem | undefined;
  /** What is written down once the report was written out. */
  readonly written?: (() => Promise<void>) | undefined;
}

export interface ExecutedRun extends EndedRun {
  /** The record of the only row as it stood last, and the failure that ended it. */
  readonly last?:
    | { readonly record?: JsonObject | undefined; readonly error?: Failure }
    | undefined;
  /** Says on stderr how it ended and how to go on; where a person reads the report, below that. */
  readonly printEnd: (how?: { readonly isShown: boolean }) => void;
}

/**
 * Sends, journals and reports; `onRow` hears of each row when its result is on disk, and then the
 * report that is given at the end has no more than the results.
 */
export async function executeRun(
  context: Context,
  run: PlannedRun,
  onRow?: (row: ReportRow) => void,
): Promise<ExecutedRun> {
  const { journal, images, finished, tasks } = run;
  const kept = onRow ? bare : compact();
  const rows: ReportRow[] = finished.map(kept);
  const { limiter } = context.api;
  const text = progressText(run, () => rows.length - finished.length, limiter);
  const line = context.progress.start(text);
  let stop: StopReason | undefined;
  let last: ExecutedRun['last'];
  if (!run.invocation.isSingle) await Promise.all([keepHeapClose(tasks.length), letHeapGrow()]);
  try {
    limiter.drain();
    for (const row of finished) onRow?.(row);
    stop = await runRows(tasks, {
      ...runOptions(context, run),
      onResult(row) {
        rows.push(kept(row));
        onRow?.(row);
      },
      onEnd(_, found) {
        if (tasks.length === 1) last = { ...last, ...found };
      },
    });
    stop = (await endIfDone(run, rows)) ?? stop;
  } finally {
    line.stop();
    await journal.close().catch(() => {});
    await images?.close().catch(() => {});
    run.release();
  }
  return { ...(await finalizeRun(context, run, rows, stop)), last };
}

function runOptions(
  context: Context,
  { session, journal, images, limits, plan, invocation, store }: PlannedRun,
): Omit<RunOptions, 'onResult' | 'onEnd'> {
  const { settings, signal, api } = context;
  const { operation, words, isSingle } = invocation;
  const { guards } = jobOf(plan);
  const lockRow =
    store && operation.locksRows && !isSingle
      ? (id: string): Promise<HeldLock> => lockOne(context, invocation, store, plan.head, id)
      : undefined;
  return {
    session,
    resource: operation.resource,
    guards,
    journal,
    images,
    lockRow,
    concurrency: limits.concurrency ?? settings.concurrency,
    retries: settings.retries,
    backoff: (sends, throttled) => backoffMs(sends, throttled, Math.random),
    settleMs: settleMs(context.env),
    maxErrors: mostErrors(limits),
    isSilent: () => api.limiter.silent,
    now: context.now,
    instant: () => context.instant(),
    sleep: pause,
    signal,
    describeError: (error, id) => rowError(context, words, error, id),
    onVerify: (ms) => {
      if (isSingle)
        context.note(
          `Whether it took effect is not known; looking in ${Math.ceil(ms / 100) / 10} s.`,
        );
    },
    note: (message) => context.note(message),
    onStop: () => api.limiter.cancelWaiting(),
  };
}

/** Rows of which equal values are held once. */
function compact(): (row: ReportRow) => ReportRow {
  const same = intern<NonNullable<ReportRow['before']>>();
  return ({ row, id, result, before, after, ...rest }) => ({
    row,
    id,
    result,
    ...(before && { before: same(before) }),
    ...(after && { after: same(after) }),
    ...rest,
  });
}

/** Of a row that was shown already what the end of the run and `--results` need. */
function bare({ row, id, result, error, retryable }: ReportRow): ReportRow {
  return {
    row,
    id,
    result,
    ...(error !== undefined && { error }),
    ...(retryable && { retryable }),
  };
}

/** How to go on with a run of which something is left. */
export function printUnfinished(
  context: Context,
  { invocation: { operation }, plan: { head, rows } }: Pick<PlannedRun, 'invocation' | 'plan'>,
  left: number,
): void {
  const { recovery, confirm, createsRow } = operation;
  if (createsRow)
    return context.message(
      `It may have been created. If not, run the same command again with --restart; if it was: rosterctl runs prune ${head.run}`,
    );
  // A person is asked then; a script has to say so.
  const expect = confirm === 'count' && left > 1 ? ` --expect ${left}` : '';
  const yes = context.prompts.nobody === undefined ? '' : ` --yes${expect}`;
  const finish = recovery?.finishLine(head) ?? `runs resume ${head.run}${yes}`;
  // What can be had only once (stdin) is another thing when the line is typed again.
  const isOnce = recovery && rows.every((row) => recovery.subjectOf(row) === undefined);
  const how = isOnce ? 'Finish it with' : 'Run the same command again, or';
  context.message(`Not finished. ${how}: rosterctl ${finish}`);
}

/**
 * Whether nothing of a row is left to resume: a single write that was refused or never sent has ended,
 * whatever its exit code.
 */
export function hasEnded({ plan, invocation }: PlannedRun, row: ReportRow): boolean {
  if (isFinalRow(row)) return true;
  const isUntouched = row.result === 'not_attempted' && row.step === undefined;
  return isUntouched && isSingleRun(plan.head.run) && !invocation.operation.recovery;
}

/** The last record of a finished run; a journal that fails here stops nothing that was sent. */
async function endIfDone(
  run: PlannedRun,
  rows: readonly ReportRow[],
): Promise<StopReason | undefined> {
  const { store, plan, journal } = run;
  const finals = new RowSet(plan.rows);
  for (const row of rows) if (hasEnded(run, row)) finals.add(row.row);
  if (!plan.rows.every(({ row }) => finals.has(row))) return undefined;
  try {
    const { schema: _, ...summary } = { schema: 1, ...summarize(rows, { dryRun: false }) };
    if (store) await endRun(store, plan, journal, { results: rows, summary });
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { exitName: 'failed', reason: error.message };
  }
}

async function finalizeRun(
  context: Context,
  run: PlannedRun,
  rows: readonly ReportRow[],
  stop: StopReason | undefined,
): Promise<ExecutedRun> {
  const { store, journal, plan, limits, input } = run;
  const { head } = plan;
  const report = reportOf(context, head, rows);
  const ended = exitOf(report, stop?.exitName);
  const exitName = await writeResultsFile(context, limits.results, input, rows, ended);
  return {
    report,
    exitName,
    failed: failedRun(report, context.signal.aborted ? 'interrupted' : exitName, stop?.error),
    printEnd: ({ isShown } = { isShown: false }) => {
      if (stop) context.message(`Stopped: ${stop.reason}`);
      if (store) context.note(`Run ${head.run}${isShown ? '' : `: ${summaryLine(report)}`}`);
      const left = rows.filter((row) => !hasEnded(run, row)).length;
      if (left > 0) printUnfinished(context, run, left);
    },
    ...(store &&
      head.addsEachTime && { written: () => markReported(store, head.run, journal.last) }),
  };
}

/**
 * What a run's progress line says: a counter with rate and time left; where bytes are moved, theirs.
 * While the service asks to wait, and once it refused for speed, the line says so.
 */
function progressText(
  { tasks, session }: { readonly tasks: readonly SelectedRow[]; readonly session: Session },
  done: () => number,
  limiter: Pick<RateLimiter, 'heldMs' | 'learnedRate'>,
): () => string {
  const bytes = session.transfer?.bytes;
  const started = performance.now();
  const total = tasks.length;
  const allBytes = bytes ? tasks.reduce((sum, task) => sum + bytes.of(task), 0) : 0;
  const counted = () => {
    const seconds = Math.max((performance.now() - started) / 1000, 0.001);
    if (bytes)
      return `${done()} of ${plural(total, 'file')}, ${bytesMoved(bytes.done, allBytes, seconds)}`;
    if (done() === 0) return `0 of ${plural(total, 'record')}`;
    const rate = done() / seconds;
    return `${done()} of ${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${timeLeft(total - done(), rate)}`;
  };
  return () => {
    const held = Math.ceil(limiter.heldMs / 1000);
    if (held > 0) return `${counted()}; the service asks to wait ${held} s`;
    const { learnedRate } = limiter;
    if (learnedRate === undefined) return counted();
    return `${counted()}; the service allows about ${learnedRate.toFixed(learnedRate < 10 ? 1 : 0)} requests a second`;
  };
}

function timeLeft(rest: number, rate: number): string {
  const seconds = Math.ceil(Math.max(0, rest) / Math.max(rate, 0.001));
  return seconds < 600 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
}
