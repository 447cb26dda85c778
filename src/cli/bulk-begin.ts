import { createHash } from 'node:crypto';
import { lockRun } from '../bulk/lock-run.js';
import { exitOf, type ReportRow } from '../bulk/report.js';
import { isFinal } from '../bulk/run-state.js';
import type { Task } from '../bulk/runner.js';
import {
  continueJournal,
  createRun,
  findRun,
  listRuns,
  newRunName,
  openRunStore,
  type RunHead,
  type RunPlan,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import { supersede } from '../bulk/supersede.js';
import type { SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { plural } from '../data/words.js';
import { GuardError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { BulkValues } from './bulk-flags.js';
import { settleEarlier } from './bulk-earlier.js';
import type { BulkPart } from './bulk-part.js';
import {
  checkExpected,
  confirmChanges,
  type Preview,
  previewLines,
  previewRows,
} from './bulk-preview.js';
import { type EndedRun, type KeptJob, openJob, type ReadyRun, reportOf } from './bulk-run.js';
import { selectByFilter, type Source } from './bulk-select.js';

/** A command line that changes many things. */
export interface BulkLine {
  readonly part: BulkPart;
  readonly words: readonly string[];
  readonly values: BulkValues;
  readonly source: Source;
}

export interface Beginning {
  readonly store: RunStore;
  readonly head: Omit<RunHead, 'rows'>;
  readonly lock: HeldLock;
  readonly kept: KeptJob;
  readonly input: {
    readonly header: readonly string[];
    readonly rows: readonly SelectedRow[] | undefined;
  };
}

/** A run about to send, or the report where nothing is to be sent. */
export type Prepared = { readonly ready: ReadyRun } | EndedRun;

/** Makes an unfinished run ready to go on; the lock is taken first. Throws as `runBulk` does. */
export async function resumeRun(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  stored: StoredRun,
): Promise<Prepared> {
  return withLock(context, line, async (store, _head, lock) => {
    // Whoever held the lock before may have gone on with it.
    const now = await findRun(store, stored.head.run);
    const input = { header: ['id'], rows: now.plan?.rows ?? [] };
    return { ready: await continueRun(context, line, { store, lock, input }, now) };
  });
}

/** Makes a new run from rows of a finished one ready. Throws as `runBulk` does. */
export async function retryRows(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  plan: RunPlan,
): Promise<Prepared> {
  const kept = plan.job as unknown as KeptJob;
  const rows = plan.rows.map(({ row, id, own }) => ({ row, id, ...(own && { own }) }));
  return withLock(context, line, async (store, head, lock) => {
    const full = { ...head, input: digestOf([head, kept, 'retry', rows]) };
    const found = await prepare(
      context,
      { ...line, source: 'ids' },
      {
        store,
        head: full,
        lock,
        kept,
        input: { header: ['id'], rows },
      },
    );
    if (!('ready' in found)) lock.release();
    return found;
  });
}

/** Everything before the first write; a report where there is nothing to write. */
export async function prepare(
  context: Context,
  line: BulkLine,
  { store, head, lock, kept, input }: Beginning,
): Promise<Prepared> {
  const { part, values } = line;
  const earlier = (await listRuns(store, (text) => context.tell(text))).filter(
    ({ finished, head: other }) =>
      !finished &&
      other.service === head.service &&
      other.organization === head.organization &&
      other.resource === head.resource,
  );
  const same = earlier.filter(({ head: other, plan }) => other.input === head.input && plan);
  const last = same.at(-1);
  if (last && !values.restart) {
    const rows = input.rows ?? last.plan?.rows ?? [];
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
  await settleEarlier(context, earlier, rows, same);
  const { job, work } = openJob(context, part, line.words, kept);
  const own = { now: context.now, isOurs: () => lock.isOurs() };
  const endSame = async () => {
    for (const run of same) await supersede(store, run, work, own);
  };
  const concurrency = values.concurrency ?? context.settings.concurrency;
  const preview = await previewRows(context, rows, job, work, part.resource, concurrency);
  const { tasks, decided } = preview;
  if (tasks.length === 0) {
    await endSame();
    const report = reportOf(context, { ...head, run: null }, decided);
    return { report, exitName: exitOf(report.summary, undefined) };
  }
  tellPreview(context, head.action, rows.length, tasks);
  const asks = rows.length > 1 || line.source !== 'ids' || part.asksForOne === true;
  await confirmChanges(context, tasks.length, values, asks);
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
      limits: values,
      input: { header: input.header, rows: values.results === undefined ? [] : rows },
      release: () => lock.release(),
    },
  };
}

async function continueRun(
  context: Context,
  { part, words, values }: Omit<BulkLine, 'source'>,
  { store, lock, input }: Pick<Beginning, 'store' | 'lock'> & Pick<ReadyRun, 'input'>,
  { plan, state, head, finished }: StoredRun,
): Promise<ReadyRun> {
  if (!plan || finished)
    throw new GuardError(`The run ${head.run} was finished meanwhile. Nothing was sent.`);
  const tasks: Task[] = [];
  const settled: ReportRow[] = [];
  for (const row of plan.rows) {
    const result = state.results.get(row.row);
    const open = state.open.get(row.row);
    if (result && isFinal(result.result) && !open) settled.push(result);
    else tasks.push({ ...row, ...(open && { open }) });
  }
  context.tell(
    `Continuing run ${head.run} of ${head.startedAt}: ${tasks.length} of ${plural(plan.rows.length, 'row')} left.`,
  );
  tellPreview(context, head.action, plan.rows.length, tasks);
  if (tasks.length > 0)
    await confirmChanges(
      context,
      tasks.length,
      { ...values, maxChanges: values.maxChanges ?? tasks.length },
      true,
    );
  const { work } = openJob(context, part, words, plan.job as unknown as KeptJob);
  const journal = await continueJournal(store, plan, {
    now: context.now,
    isOurs: () => lock.isOurs(),
  });
  return {
    store,
    plan,
    journal,
    work,
    tasks,
    settled,
    limits: values,
    input,
    release: () => lock.release(),
  };
}

export function tellPreview(
  context: Context,
  action: string,
  total: number,
  tasks: readonly Task[],
): void {
  for (const text of previewLines(context, action, total, tasks)) context.tell(text);
}

// --- the run and its lock ---

type Locked<T> = (store: RunStore, head: Omit<RunHead, 'rows'>, lock: HeldLock) => Promise<T>;

/** Takes the lock for as long as the action needs it; the action lets go when it is through. */
export async function withLock<T>(
  context: Context,
  { part, words, values }: Omit<BulkLine, 'source'>,
  action: Locked<T>,
): Promise<T> {
  const store = openRunStore(context.paths);
  const head = {
    run: newRunName(context.now()),
    action: words.join('.'),
    profile: context.settings.profile.name,
    organization: context.api.organizationId,
    service: context.api.baseUrl,
    resource: part.resource,
    input: '',
    startedAt: context.now().toISOString(),
  };
  const lock = await lockRun(store, head, {
    self: context.self,
    run: head.run,
    startedAt: head.startedAt,
    waitMs: values.waitLock ?? 0,
    signal: context.signal,
  });
  try {
    return await action(store, head, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function planOf(
  head: RunHead,
  kept: KeptJob,
  rows: readonly SelectedRow[],
  { tasks }: Preview,
): RunPlan {
  // The tasks themselves: of 200,000 rows the memory holds no second copy.
  const known = new Map(tasks.map((task) => [task.row, task]));
  return {
    head,
    job: kept as unknown as JsonObject,
    rows: rows.map(({ row, id, own }) => known.get(row) ?? { row, id, own }),
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

export function digestOf([head, ...rest]: readonly [Omit<RunHead, 'rows'>, ...unknown[]]): string {
  const { action, service, organization } = head;
  return createHash('sha256')
    .update(JSON.stringify([action, service, organization, ...rest]))
    .digest('hex');
}
