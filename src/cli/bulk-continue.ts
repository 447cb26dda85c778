import type { ReportRow } from '../bulk/report.js';
import { isFinal, type RunState } from '../bulk/run-state.js';
import type { Task } from '../bulk/runner.js';
import {
  continueJournal,
  findRun,
  openRunStore,
  removeRun,
  type RunHead,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import type { Context } from '../context.js';
import { plural } from '../data/words.js';
import { UsageError } from '../errors.js';
import { type Beginning, type BulkLine, takeLock, traits, withLock } from './bulk-line.js';
import type { BulkPart } from './bulk-part.js';
import { confirmChanges, tellPreview } from './bulk-preview.js';
import { type EndedRun, executeRun, type KeptJob, openJob, type ReadyRun } from './bulk-run.js';

/** Goes on with a run that is unfinished; the lock is taken first. Throws as `runBulk` does. */
export async function resumeRun(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  stored: StoredRun,
): Promise<EndedRun> {
  return withLock(context, line, async (store, _head, lock) => {
    const input = { header: ['id'], rows: stored.plan?.rows ?? [] };
    const ready = await continueRun(context, line, { store, lock, input }, stored);
    return executeRun(context, ready);
  });
}

/** Does these rows of a run, whatever became of them before. Throws as `runBulk` does. */
export async function finishRows(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  stored: StoredRun,
  wanted: ReadonlySet<number>,
): Promise<EndedRun> {
  const store = openRunStore(context.paths);
  const lock = await takeLock(context, line, store, stored.head);
  try {
    const input = { header: ['id'], rows: stored.plan?.rows ?? [] };
    const begun = { store, lock, input };
    const ready = await continueRun(context, line, begun, stored, (row) => wanted.has(row));
    const ended = await executeRun(context, ready);
    const written = async () => {
      if (!(await removeOne(store, line.part, stored.head)) && !stored.head.alone)
        await ended.written?.();
    };
    return { ...ended, written };
  } finally {
    lock.release();
  }
}

/** A run that stands alone is kept only as long as it leaves something. */
export async function removeOne(
  store: RunStore,
  part: BulkPart,
  { run, alone }: RunHead,
): Promise<boolean> {
  const stays = part.isLeft?.(await findRun(store, run)) ?? false;
  if (alone && !stays) await removeRun(store, run);
  return stays;
}

/** Makes an unfinished run ready to go on; by default with all that is left of it. Throws as `runBulk` does. */
export async function continueRun(
  context: Context,
  { part, words, values }: Omit<BulkLine, 'source'>,
  { store, lock, input }: Pick<Beginning, 'store' | 'lock'> & Pick<ReadyRun, 'input'>,
  { plan, state, head }: StoredRun,
  isWanted: (row: number) => boolean = (row) => !isSettled(state, row),
): Promise<ReadyRun> {
  if (!plan) throw new UsageError(`The run ${head.run} is finished.`);
  const tasks: Task[] = [];
  const settled: ReportRow[] = [];
  for (const row of plan.rows) {
    const result = state.results.get(row.row);
    const open = state.open.get(row.row);
    const steps = state.steps.get(row.row);
    if (isWanted(row.row)) tasks.push({ ...row, ...(open && { open }), ...(steps && { steps }) });
    else if (result && isSettled(state, row.row)) settled.push(result);
  }
  context.tell(
    `Continuing run ${head.run} of ${head.startedAt}: ${tasks.length} of ${plural(plan.rows.length, 'row')} left.`,
  );
  if (!part.neverAsks) tellPreview(context, head.action, plan.rows.length, tasks);
  if (tasks.length > 0 && !part.neverAsks)
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
    ...traits(part, head.run),
    release: () => lock.release(),
  };
}

/** Nothing is left to do for this row. */
function isSettled({ results, open }: RunState, row: number): boolean {
  const result = results.get(row);
  return result !== undefined && isFinal(result.result) && !open.has(row);
}
