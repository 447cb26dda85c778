import type { DamagedRun } from '../bulk/damaged.js';
import { isForbidden, stopsRun } from '../bulk/judge.js';
import { exitOf, type ReportRow } from '../bulk/report.js';
import { isSamePlace } from '../bulk/run-plan.js';
import { isFinal } from '../bulk/run-state.js';
import type { Task } from '../bulk/runner.js';
import {
  createRun,
  listOpenRuns,
  runFolder,
  type RunHead,
  type RunPlan,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import { supersede } from '../bulk/supersede.js';
import { markTold } from '../bulk/told.js';
import type { SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { upperFirst } from '../data/words.js';
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { BulkPart } from './bulk-part.js';
import { continueRun, runSince } from './bulk-continue.js';
import { damagedBefore, setAsideAll } from './bulk-damaged.js';
import { settleEarlier } from './bulk-earlier.js';
import { type Beginning, type BulkLine, inputOf, type Prepared, withLock } from './bulk-line.js';
import { checkExpected, confirmChanges, tellPreview } from './bulk-confirm.js';
import { errorsBefore } from './bulk-limits.js';
import { type Preview, previewRows } from './bulk-preview.js';
import { type EndedRun, failedRun, jobOf, type KeptJob, openJob, reportOf } from './bulk-run.js';
import { selectByFilter } from './bulk-select.js';
import { concludeResults } from './results-file.js';

/** Makes a new run from rows of a finished one ready. Throws as `runBulk` does. */
export async function retryRows(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  plan: RunPlan,
): Promise<Prepared> {
  const kept = jobOf(plan);
  const rows = await rowsAgain(context, line.part, plan);
  return withLock(context, line, async (store, head, lock) => {
    const full = { ...head, input: inputOf(head, kept, 'retry', rows) };
    const found = await prepare(
      context,
      { ...line, source: 'ids' },
      {
        store,
        head: full,
        lock,
        kept,
        input: { header: ['id'], rows },
        asksForOne: true,
      },
    );
    if (!('ready' in found)) lock.release();
    return found;
  });
}

/** Rows of an earlier run without what was seen of them then. */
export async function rowsAgain(
  context: Context,
  part: BulkPart,
  { rows }: Pick<RunPlan, 'rows'>,
): Promise<readonly SelectedRow[]> {
  const bare = rows.map(({ row, id, own }) => ({ row, id, ...(own && { own }) }));
  return (await part.lookAgain?.(context, bare)) ?? bare;
}

/** Everything before the first write; a report where there is nothing to write. */
export async function prepare(
  context: Context,
  line: BulkLine,
  { store, head, lock, kept, input, asksForOne = false }: Beginning,
): Promise<Prepared> {
  const { part, values } = line;
  const damaged: DamagedRun[] = [];
  const all = await listOpenRuns(store, (run) => damaged.push(run), {
    untold: part.addsEachTime ?? false,
  });
  const damagedOf = (rows: readonly SelectedRow[]) =>
    damagedBefore(context, damaged, { head, part, rows, restart: values.restart ?? false });
  const untold = part.addsEachTime && !values.restart && untoldRun(all, head.input);
  if (untold) return tellAgain(context, store, untold);
  const earlier = all.filter(
    (run) =>
      (!run.finished || isLeftOf(part, run, head.input)) &&
      isSamePlace(run.head, head) &&
      run.head.resource === head.resource,
  );
  const same = earlier.filter(({ head: other, plan }) => other.input === head.input && plan);
  const last = same.at(-1);
  if (last && !values.restart) {
    const rows = input.rows ?? last.plan?.rows ?? [];
    checkExpected(rows.length, values);
    damagedOf(rows);
    const ready = await continueRun(
      context,
      line,
      { store, lock, input: { ...input, rows } },
      last,
    );
    return { ready };
  }
  const rows = input.rows ?? (await selectByFilter(context, values, part));
  checkExpected(rows.length, values);
  const aside = damagedOf(rows);
  await settleEarlier(context, earlier, rows, same);
  const { job, work } = openJob(context, part, line.words, kept);
  const own = { now: context.now, isOurs: () => lock.isOurs() };
  const endSame = async () => {
    for (const run of same) await supersede(store, run, work, part.isLeft?.(run) ?? false, own);
    await setAsideAll(context, aside);
  };
  const concurrency = values.concurrency ?? context.settings.concurrency;
  const toldAs = (found: readonly ReportRow[], stop?: ExitName) =>
    untouched(context, head, values, { header: input.header, rows }, found, stop);
  let preview: Preview;
  try {
    preview = await previewRows(context, rows, job, work, part.resource, concurrency);
  } catch (error) {
    if (!(error instanceof Failure) || !endsRun(error)) throw error;
    const told = await toldAs(rows.map(notAttempted), error.exitName);
    return { ...told, failed: { id: '', error, isUntold: true } };
  }
  const { tasks, decided } = preview;
  if (tasks.length === 0) {
    await endSame();
    return toldAs(decided);
  }
  const { wrong, isTooMany, left } = errorsBefore(values, decided);
  if (isTooMany) {
    context.tell(`Stopped before the first write: ${wrong} failed or conflicted.`);
    return toldAs([...decided, ...tasks.map(notAttempted)], 'rowsFailed');
  }
  if (!part.neverAsks) tellPreview(context, head.action, rows.length, preview);
  const isOne = rows.length === 1 && line.source === 'ids' && !asksForOne;
  const asks = !isOne || part.asksForOne === true;
  await confirmChanges(context, head.action, tasks.length, values, asks && !part.neverAsks);
  const plan = planOf({ ...head, rows: rows.length }, kept, rows, preview);
  const journal = await createRun(store, plan, own);
  await endSame();
  const settled = decided.filter(({ result }) => isFinal(result));
  await Promise.all(settled.map((row) => journal.append({ kind: 'result', ...scrubbed(row) })));
  return {
    ready: {
      store,
      plan,
      journal,
      work,
      tasks: [...tasks, ...leftOf(plan, decided)].toSorted((a, b) => a.row - b.row),
      settled,
      limits: { ...values, ...(left !== undefined && { maxErrors: left }) },
      input: { header: input.header, rows: values.results === undefined ? [] : rows },
      part,
      release: () => lock.release(),
    },
  };
}

/** What the service says to all rows of a run; other failures are those of the line or of the person. */
function endsRun(error: Failure): boolean {
  return stopsRun(error) || isForbidden(error) || error.exitName === 'temporary';
}

function notAttempted({ row, id }: SelectedRow): ReportRow {
  return { row, id, result: 'not_attempted' };
}

/** The report of a line that sent nothing. */
async function untouched(
  context: Context,
  head: Pick<RunHead, 'action'>,
  { results }: Pick<BulkLine['values'], 'results'>,
  read: Parameters<typeof concludeResults>[2],
  found: readonly ReportRow[],
  stop?: ExitName,
): Promise<EndedRun> {
  const report = reportOf(context, { ...head, run: null }, found);
  const ended = exitOf(report.summary, stop);
  const exitName = await concludeResults(context, results, read, found, ended);
  return { report, exitName, failed: failedRun(report, exitName) };
}

/** A run of the same line that has ended and left something: going on with it makes nothing twice. */
function isLeftOf(part: BulkPart, run: StoredRun, input: string): boolean {
  return run.head.input === input && (part.isLeft?.(run) ?? false);
}

/** A finished run of the same input whose process was killed before its report was out. */
function untoldRun(runs: readonly StoredRun[], input: string): StoredRun | undefined {
  return runs.findLast(
    ({ finished, told, state, head }) =>
      finished && !told && !state.superseded && head.input === input,
  );
}

function tellAgain(context: Context, store: RunStore, { head, state }: StoredRun): EndedRun {
  const run = upperFirst(runSince(head, context.now()));
  context.tell(`${run}, did all of this; here is its report.`);
  const report = reportOf(context, head, [...state.results.values()]);
  const written = () => markTold(runFolder(store, head.run), state.last);
  return { report, exitName: exitOf(report.summary, undefined), written };
}

function planOf(
  head: RunHead,
  kept: KeptJob,
  rows: readonly SelectedRow[],
  { tasks }: Preview,
): RunPlan {
  let next = 0;
  return {
    head,
    job: kept,
    // The tasks themselves, which come in the same order: of 200,000 there is no second copy.
    rows: rows.map(({ row, id, own }) => {
      const task = tasks[next];
      if (task?.row !== row) return { row, id, own };
      next += 1;
      return task;
    }),
  };
}

/** Rows that the preview could not read for now: they are tried once more. */
function leftOf(plan: RunPlan, decided: readonly ReportRow[]): readonly Task[] {
  const open = new Set(decided.filter(({ result }) => !isFinal(result)).map(({ row }) => row));
  return plan.rows.filter(({ row }) => open.has(row));
}

function scrubbed(row: ReportRow): JsonObject {
  const { before: _, after: __, ...rest } = row;
  return rest;
}
