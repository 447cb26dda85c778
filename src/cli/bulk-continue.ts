import { RowSet } from '../bulk/row-set.js';
import { isFinal, type RunState } from '../bulk/run-state.js';
import type { Task } from '../bulk/runner.js';
import {
  continueJournal,
  findRun,
  openRunStore,
  readRun,
  type RunHead,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import type { Context } from '../context.js';
import { relativeTime } from '../data/time.js';
import { GuardError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import {
  type Beginning,
  type BulkLine,
  limitPace,
  type Prepared,
  takeLock,
  withLock,
} from './bulk-line.js';
import type { BulkPart } from './bulk-part.js';
import { checkExpected, confirmChanges, tellPreview } from './bulk-confirm.js';
import { type EndedRun, executeRun, jobOf, openJob, type ReadyRun } from './bulk-run.js';
import { wasTold, wrapUp } from './bulk-wrap-up.js';

/** Makes an unfinished run ready to go on; the lock is taken first. Throws as `runBulk` does. */
export async function resumeRun(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  stored: StoredRun,
): Promise<Prepared> {
  return withLock(context, line, async (store, _head, lock) => {
    // Whoever held the lock before may have gone on with it.
    const now = await findRun(store, stored.head.run);
    if (now.finished) throw finishedMeanwhile(now.head);
    const input = { header: ['id'], rows: now.plan?.rows ?? [] };
    const begun = { store, lock, input, expectsLeft: true };
    return { ready: await continueRun(context, line, begun, now) };
  });
}

/** Does these rows of a run, also of one that has ended. Throws as `runBulk` does. */
export async function finishRows(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  stored: StoredRun,
  wanted: ReadonlySet<number>,
): Promise<EndedRun> {
  const { part, values } = line;
  limitPace(context, values);
  return lockAgain(context, line, stored, async (store, now, lock) => {
    const rows = (part.unfinishedRows?.(now) ?? []).filter((row) => wanted.has(row));
    if (rows.length === 0) throw finishedMeanwhile(now.head);
    const input = { header: ['id'], rows: now.plan?.rows ?? [] };
    const begun = { store, lock, input };
    const ready = await continueRun(context, line, begun, now, (row) => rows.includes(row));
    const { tell, ...ended } = await executeRun(context, ready);
    tell();
    const written = async () => {
      const told = { last: ready.journal.last, all: wasTold(now) };
      await wrapUp(context, line, store, now.head, told);
    };
    return { ...ended, written };
  });
}

/** Takes the lock of a run and reads it again: whoever held the lock before may have gone on with it. */
export async function lockAgain<T>(
  context: Context,
  line: Omit<BulkLine, 'source'>,
  stored: StoredRun,
  action: (store: RunStore, now: StoredRun, lock: HeldLock) => Promise<T>,
): Promise<T> {
  const store = openRunStore(context.paths);
  const lock = await takeLock(context, line.values, store, stored.head);
  try {
    const now = await readRun(store, stored.head.run);
    if (!now) throw finishedMeanwhile(stored.head);
    return await action(store, now, lock);
  } finally {
    lock.release();
  }
}

/** What another process finished while this one waited or looked elsewhere. */
export function finishedMeanwhile({ run }: Pick<RunHead, 'run'>): GuardError {
  return new GuardError(`The run ${run} was finished meanwhile. Nothing was sent.`, {
    code: meanwhile,
    hint: `See: rosterctl runs show ${run}`,
  });
}

/** The code of that refusal. */
export const meanwhile = 'finishedMeanwhile';

interface Continuing extends Pick<Beginning, 'store' | 'lock'>, Pick<ReadyRun, 'input'> {
  /** `--expect` counts what is left; where the line is typed again, it counts what that selects. */
  readonly expectsLeft?: boolean;
}

/** Makes an unfinished run ready to go on; by default with all that is left of it. Throws as `runBulk` does. */
export async function continueRun(
  context: Context,
  { part, words, values }: Omit<BulkLine, 'source'>,
  { store, lock, input, expectsLeft = false }: Continuing,
  stored: StoredRun,
  isWanted?: (row: number) => boolean,
): Promise<ReadyRun> {
  const { plan, state, head } = stored;
  if (!plan) throw finishedMeanwhile(head);
  const tasks = tasksLeft(part, stored, isWanted);
  const again = new RowSet(tasks);
  for (const { row } of tasks) again.add(row);
  // The plan of a run that has ended holds no more than the rows that went wrong.
  const settled = [...state.results.values()]
    .filter(({ row }) => !again.has(row) && isSettled(state, row))
    .toSorted((a, b) => a.row - b.row);
  if (expectsLeft) checkExpected(tasks.length, values);
  context.tell(
    `Continuing ${runSince(head, context.now())}: ${rowsLeft(tasks.length, head.rows)}.`,
  );
  if (!part.neverAsks) tellPreview(context, head.action, plan.rows.length, { tasks, decided: [] });
  if (tasks.length > 0 && !part.neverAsks)
    await confirmChanges(
      context,
      head.action,
      tasks.length,
      { ...values, maxChanges: values.maxChanges ?? tasks.length },
      true,
    );
  const { work } = openJob(context, part, words, jobOf(plan));
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
    part,
    release: () => lock.release(),
  };
}

/** A run as a sentence names it: `run ID, started 5 min ago`. */
export function runSince({ run, startedAt }: RunHead, now: Date): string {
  return `run ${run}, started ${relativeTime(new Date(startedAt), now)}`;
}

function rowsLeft(left: number, all: number): string {
  if (left === 0) return 'no row is left';
  if (left === all) return all === 1 ? 'its row is left' : `all ${all} rows are left`;
  return `${left} of ${all} rows ${left === 1 ? 'is' : 'are'} left`;
}

/** What is left to do of a run, or what is wanted of it. */
export function tasksLeft(
  part: BulkPart,
  stored: StoredRun,
  isWanted?: (row: number) => boolean,
): readonly Task[] {
  const { plan, state } = stored;
  const left = part.unfinishedRows?.(stored) ?? [];
  const wanted = isWanted ?? ((row: number) => !isSettled(state, row) || left.includes(row));
  return (plan?.rows ?? [])
    .filter(({ row }) => wanted(row))
    .map((row): Task => {
      const open = state.open.get(row.row);
      const steps = state.steps.get(row.row);
      return { ...row, ...(open && { open }), ...(steps && { steps }) };
    });
}

/** Nothing is left to do for this row. */
function isSettled({ results, open }: RunState, row: number): boolean {
  const result = results.get(row);
  return result !== undefined && isFinal(result.result) && !open.has(row);
}
