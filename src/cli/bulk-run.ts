import { setTimeout as wait } from 'node:timers/promises';
import { settleMs } from '../api/settle.js';
import type { Journal } from '../bulk/journal.js';
import { type BulkReport, exitOf, type ReportRow, summarize } from '../bulk/report.js';
import { isFinal } from '../bulk/run-state.js';
import { runRows, type Task } from '../bulk/runner.js';
import { closeRun, type RunHead, type RunPlan, type RunStore } from '../bulk/runs.js';
import type { Stop } from '../bulk/stops.js';
import type { Guards, RowWork, SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { sharing } from '../data/sharing.js';
import { plural } from '../data/words.js';
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { BulkValues } from './bulk-flags.js';
import type { BulkJob, BulkPart } from './bulk-part.js';
import type { Plan } from './define.js';
import { tellFailure } from './failure.js';
import { summaryLine } from './lines.js';
import { writeResults } from './results-file.js';

/** What is kept of a command line until its run is finished. */
export interface KeptJob {
  readonly job: JsonObject;
  readonly guards: Guards;
}

/** A run that is about to send. */
export interface ReadyRun {
  readonly store: RunStore;
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly work: RowWork<Plan>;
  readonly tasks: readonly Task[];
  /** Rows that need nothing more, of this process or an earlier one. */
  readonly settled: readonly ReportRow[];
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
}

/** The engine's view of a job: looks, sends and tells in the words of the command. */
export function rowWork(
  context: Context,
  words: readonly string[],
  job: BulkJob,
  guards: Guards,
): RowWork<Plan> {
  const profile = context.settings.profile.name;
  return {
    guards,
    resends: job.resends,
    async look(row) {
      const record = await job.read(row.id);
      const plan = await job.plan(row, record);
      return { record, changes: plan.changes, plan };
    },
    send: (look, row) => job.send(look.plan, row.id),
    ...(job.made && { made: job.made.bind(job) }),
    ...(job.madeOf && { madeOf: job.madeOf.bind(job) }),
    ...(job.isGone && { isGone: job.isGone.bind(job) }),
    tell: (error, id) => tellFailure(error, { words, ids: [id], profile }).envelope.error,
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
): Promise<EndedRun> {
  const { journal, settled, tasks, limits } = ready;
  const kept = onRow ? bare : compact();
  const rows: ReportRow[] = settled.map(kept);
  const meter = progressOf(context, tasks.length);
  let stop: Stop | undefined;
  if (tasks.length > manyRows) await holdMemoryDown();
  try {
    context.api.pace.letFinish();
    for (const row of settled) onRow?.(row);
    stop = await runRows(tasks, {
      work: ready.work,
      journal,
      concurrency: limits.concurrency ?? context.settings.concurrency,
      settleMs: settleMs(context.env),
      maxErrors: limits.failFast ? 1 : limits.maxErrors,
      isSilent: () => context.api.pace.silent,
      now: context.now,
      sleep: pause,
      signal: context.signal,
      onResult(row) {
        rows.push(kept(row));
        meter.count();
        onRow?.(row);
      },
    });
    stop = (await close(ready, rows)) ?? stop;
  } finally {
    meter.stop();
    await journal.close().catch(() => {});
    ready.release();
  }
  return conclude(context, ready, rows, stop);
}

const manyRows = 20_000;

/** The heap of a long run would grow to twice what lives in it; a fifth more work keeps it near that. */
async function holdMemoryDown(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--heap-growing-percent=30');
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

/** Waits, or ends early when the signal fires. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
}

/** What the command line asks for, opened at the service. */
export function openJob(context: Context, part: BulkPart, words: readonly string[], kept: KeptJob) {
  const job = part.open(context, kept.job);
  return { job, work: rowWork(context, words, job, kept.guards) };
}

/** The last record of a finished run; a journal that fails here stops nothing that was sent. */
async function close(ready: ReadyRun, rows: readonly ReportRow[]): Promise<Stop | undefined> {
  if (!rows.every(({ result }) => isFinal(result))) return undefined;
  try {
    const { schema: _, ...summary } = { schema: 1, ...summarize(rows, { dryRun: false }) };
    await ready.journal.append({ kind: 'end', summary });
    await closeRun(ready.store, ready.plan, rows);
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
): Promise<EndedRun> {
  const { head } = ready.plan;
  const report = reportOf(context, head, rows);
  let exitName = exitOf(report.summary, stop?.exitName);
  const { results } = ready.limits;
  if (results !== undefined) {
    const { header, rows: input } = ready.input;
    await writeResults(results, header, input, rows).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      context.tell(error.message);
      if (exitName !== 'unauthenticated' && exitName !== 'forbidden') exitName = 'failed';
    });
  }
  if (stop) context.tell(`Stopped: ${stop.reason}`);
  context.note(`Run ${head.run}: ${summaryLine(report)}`);
  if (rows.some(({ result }) => !isFinal(result)))
    context.tell(
      `Not finished. Go on with the same line, or: rosterctl runs resume ${head.run} --yes`,
    );
  return { report, exitName };
}

/** A counter with rate and time left. */
function progressOf(context: Context, total: number) {
  const started = performance.now();
  let done = 0;
  const line = context.progress.start(`0 of ${plural(total, 'record')}`);
  return {
    count() {
      done += 1;
      const seconds = (performance.now() - started) / 1000;
      const rate = done / Math.max(seconds, 0.001);
      const left = Math.ceil((total - done) / Math.max(rate, 0.001));
      line.update(`${done} of ${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${left} s left`);
    },
    stop: () => line.stop(),
  };
}
