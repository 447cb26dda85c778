import { keepHeapClose, letHeapGrow } from '../api/heap.js';
import { settleMs } from '../api/settle.js';
import type { Journal } from '../bulk/journal.js';
import { type BulkReport, exitOf, type ReportRow, summarize } from '../bulk/report.js';
import { RowSet } from '../bulk/row-set.js';
import { isFinal } from '../bulk/run-state.js';
import { runRows, type Task } from '../bulk/runner.js';
import { closeRun, runFolder, type RunHead, type RunPlan, type RunStore } from '../bulk/runs.js';
import type { Stop } from '../bulk/stops.js';
import { markTold } from '../bulk/told.js';
import type { Guards, RowWork, SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { pause } from '../data/pause.js';
import { sharing } from '../data/sharing.js';
import { Failure, RunError, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { BulkValues } from './bulk-flags.js';
import { mostErrors } from './bulk-limits.js';
import type { BulkJob, BulkPart } from './bulk-part.js';
import type { Plan } from './define.js';
import type { FailedOne } from './failure.js';
import { summaryLine } from './lines.js';
import { progressText } from './run-progress.js';
import { concludeResults } from './results-file.js';
import { rowError } from './row-error.js';

/** What is kept of a command line until its run is finished. */
export type KeptJob = {
  readonly job: JsonObject;
  readonly guards: Guards;
};

/** The job of a plan, as `prepare` put it there. */
export function jobOf({ job }: Pick<RunPlan, 'job'>): KeptJob {
  return job as KeptJob;
}

/** A run that is about to send. */
export interface ReadyRun {
  /** Undefined where nothing can be kept. */
  readonly store: RunStore | undefined;
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly work: RowWork<Plan>;
  readonly tasks: readonly Task[];
  /** Rows that need nothing more, of this process or an earlier one. */
  readonly settled: readonly ReportRow[];
  readonly limits: Pick<BulkValues, 'failFast' | 'maxErrors' | 'concurrency' | 'results'>;
  /** The input as read by this command line, for `--results`. */
  readonly input: { readonly header: readonly string[]; readonly rows: readonly SelectedRow[] };
  readonly part: BulkPart;
  /** One thing of its own: its outcome is told by the command, not as a run. */
  readonly isOne?: boolean;
  /** Lets go of the lock. */
  release(): void;
}

/** How a run ended. */
export interface EndedRun {
  readonly report: BulkReport;
  readonly exitName: ExitName;
  /** What a script reads as the error of the whole. */
  readonly failed?: FailedOne | undefined;
  /** What is written down once the report was written out. */
  readonly written?: (() => Promise<void>) | undefined;
}

export interface ExecutedRun extends EndedRun {
  /** Says on stderr how it ended and how to go on; where a person reads the report, below that. */
  readonly tell: (how?: { readonly isShown: boolean }) => void;
}

/** The engine's view of a job: looks, sends and tells in the words of the command. */
function rowWork(
  context: Context,
  words: readonly string[],
  job: BulkJob,
  guards: Guards,
): RowWork<Plan> {
  return {
    guards,
    resends: job.resends,
    async look(row, when) {
      const made = typeof when === 'object' ? await job.witness?.(row, when.since) : undefined;
      if (made) return { record: made, changes: [], plan: { calls: [], changes: [], state: made } };
      const record = await job.read(row.id, { fresh: when !== 'preview' });
      const plan = await job.plan(row, record);
      return { record, changes: plan.changes, plan, skipped: plan.skipped };
    },
    ...(job.prepare && {
      prepare: async (look, row, step) => ({
        ...look,
        plan: (await job.prepare?.(look.plan, row, step)) ?? look.plan,
      }),
    }),
    bytes: job.bytes,
    send: (look, row) => job.send(look.plan, row.id),
    ...(job.made && { made: job.made.bind(job) }),
    async madeOf(record, row) {
      await job.confirm?.(row, record);
      return job.madeOf?.(record);
    },
    ...(job.isGone && { isGone: job.isGone.bind(job) }),
    tell(error, id) {
      job.failed?.(error, id);
      return rowError(context, words, error, id);
    },
  };
}

/**
 * Sends, journals and reports; `onRow` hears of each row when its result is on disk, and then the
 * report that is given at the end has no more than the results.
 */
export async function executeRun(
  context: Context,
  ready: ReadyRun,
  onRow?: (row: ReportRow) => void,
): Promise<ExecutedRun> {
  const { journal, settled, tasks, limits } = ready;
  const kept = onRow ? bare : compact();
  const rows: ReportRow[] = settled.map(kept);
  const { limiter } = context.api;
  const text = progressText(
    ready,
    () => rows.length - settled.length,
    () => limiter.heldMs,
  );
  const line = context.progress.start(text);
  let stop: Stop | undefined;
  await Promise.all([keepHeapClose(tasks.length), letHeapGrow()]);
  try {
    limiter.drain();
    for (const row of settled) onRow?.(row);
    stop = await runRows(tasks, {
      work: ready.work,
      journal,
      concurrency: limits.concurrency ?? context.settings.concurrency,
      settleMs: settleMs(context.env),
      maxErrors: mostErrors(limits),
      isSilent: () => limiter.silent,
      now: context.now,
      sleep: pause,
      signal: context.signal,
      onStop: () => limiter.cancelWaiting(),
      onResult(row) {
        rows.push(kept(row));
        onRow?.(row);
      },
    });
    stop = (await close(ready, rows)) ?? stop;
  } finally {
    line.stop();
    await journal.close().catch(() => {});
    ready.release();
  }
  return conclude(context, ready, rows, stop);
}

/** Rows of which equal values are held once. */
function compact(): (row: ReportRow) => ReportRow {
  const same = sharing<NonNullable<ReportRow['before']>>();
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
function bare({ row, id, result, error }: ReportRow): ReportRow {
  return error === undefined ? { row, id, result } : { row, id, result, error };
}

/** A report of rows that are all there. */
export function reportOf(
  context: Context,
  head: Pick<RunHead, 'action'> & { readonly run: string | null },
  rows: readonly ReportRow[],
): BulkReport {
  const { settings, api } = context;
  return {
    schema: 1,
    run: head.run,
    profile: settings.profile.name,
    organization: api.organizationId,
    action: head.action,
    dryRun: settings.dryRun,
    summary: summarize(rows, { dryRun: settings.dryRun }),
    results: rows.toSorted((a, b) => a.row - b.row),
  };
}

/** The error that stopped a run, or that it did not end well; undefined where it did. */
export function failedRun(
  report: BulkReport,
  exitName: ExitName,
  error?: Failure,
): FailedOne | undefined {
  if (exitName === 'done') return undefined;
  const { run, summary } = report;
  // What a row met and reading settled is not what the run ended with.
  const isSettled = error instanceof UnknownOutcomeError && summary.unknown === 0;
  if (error && !isSettled) return { id: '', error };
  const verb = summary.unknown + summary.notAttempted > 0 ? 'resume' : 'retry';
  const hint = exitName === 'rowsFailed' && run ? `rosterctl runs ${verb} ${run}` : undefined;
  return { id: '', error: new RunError(`${summaryLine(report)}.`, exitName, { hint }) };
}

/** How to go on with a run of which something is left. */
export function tellUnfinished(
  context: Context,
  { part, plan: { head, rows } }: Pick<ReadyRun, 'part' | 'plan'>,
): void {
  // A person is asked then; a script has to say so.
  const yes = context.prompts.nobody === undefined ? '' : ' --yes';
  const goOn = part.goOn?.(head) ?? `runs resume ${head.run}${yes}`;
  // What can be had only once (stdin) is another thing when the line is typed again.
  const once = part.subjectOf && rows.every((row) => part.subjectOf?.(row) === undefined);
  const how = once ? '' : ' the same line, or';
  context.tell(`Not finished. Go on with${how}: rosterctl ${goOn}`);
}

/** What the command line asks for, opened at the service. */
export function openJob(context: Context, part: BulkPart, words: readonly string[], kept: KeptJob) {
  const job = part.open(context, kept.job as never);
  return { job, work: rowWork(context, words, job, kept.guards) };
}

/** The last record of a finished run; a journal that fails here stops nothing that was sent. */
async function close(ready: ReadyRun, rows: readonly ReportRow[]): Promise<Stop | undefined> {
  const finals = new RowSet(ready.plan.rows);
  for (const { row, result } of rows) if (isFinal(result)) finals.add(row);
  if (!ready.plan.rows.every(({ row }) => finals.has(row))) return undefined;
  try {
    const { schema: _, ...summary } = { schema: 1, ...summarize(rows, { dryRun: false }) };
    await ready.journal.append({ kind: 'end', summary });
    if (ready.store) await closeRun(ready.store, ready.plan, rows);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { exitName: 'failed', reason: error.message };
  }
}

async function conclude(
  context: Context,
  ready: ReadyRun,
  rows: readonly ReportRow[],
  stop: Stop | undefined,
): Promise<ExecutedRun> {
  const { head } = ready.plan;
  const report = reportOf(context, head, rows);
  const { results } = ready.limits;
  const ended = exitOf(report.summary, stop?.exitName);
  const exitName = await concludeResults(context, results, ready.input, rows, ended);
  if (ready.isOne) return { report, exitName, tell: () => {} };
  const { store, journal } = ready;
  return {
    report,
    exitName,
    failed: failedRun(report, context.signal.aborted ? 'interrupted' : exitName, stop?.error),
    tell: ({ isShown } = { isShown: false }) => {
      if (stop) context.tell(`Stopped: ${stop.reason}`);
      context.note(`Run ${head.run}${isShown ? '' : `: ${summaryLine(report)}`}`);
      if (rows.some(({ result }) => !isFinal(result))) tellUnfinished(context, ready);
    },
    ...(store &&
      ready.part.addsEachTime && {
        written: () => markTold(runFolder(store, head.run), journal.last),
      }),
  };
}
