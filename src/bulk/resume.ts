/** Resumes an unfinished run: all its remaining rows, or some of them. */

import type { Context } from '../context.js';
import { groupedNumber } from '../data/text.js';
import { relativeTime } from '../data/time.js';
import type { Task } from '../engine/operation.js';
import { awaitEarlierWrites, readingPast, runsBeside } from '../engine/other-runs.js';
import { GuardError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { shownRunName } from '../runs/find-run.js';
import { type RunHead, requireContinuable } from '../runs/plan.js';
import { isFinalRow } from '../runs/report.js';
import { hasRun, openRunStore, type RunStore, storeOf } from '../runs/store.js';
import { continueJournal, readRun, type StoredRun, writeOptions } from '../runs/stored-run.js';
import { unfinishedUploads } from '../runs/unfinished.js';
import { confirmChanges, printPreview } from './confirm.js';
import type { PlannedRun } from './execute.js';
import { checkExpected, errorLimit, type Invocation, jobOf, openSession } from './invocation.js';
import { subjectOf } from './preview.js';
import { lockFor, openImages } from './run-locks.js';

/**
 * Acquires the lock of a run and prepares to resume it: an unfinished one, or these unfinished uploads of
 * one that may have ended. Throws as `planRun` does.
 */
export async function resumeRun(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
  uploads?: ReadonlySet<number>,
): Promise<PlannedRun> {
  return withRun(context, invocation, stored, async (place, now) => {
    const left = uploads && unfinishedUploads([now]).map(({ row }) => row.row);
    const only = left && new Set(left.filter((row) => uploads.has(row)));
    if (only ? only.size === 0 : now.finished) throw goneMeanwhile(now.head, 'has finished');
    return prepareResume(context, invocation, place, now, only);
  });
}

/** The store of a run, and its lock; undefined if none could be acquired. */
interface HeldPlace {
  readonly store: RunStore;
  readonly lock: HeldLock | undefined;
}

/**
 * Acquires the lock of a run, reads it again because another process may have resumed it, and runs the
 * action, which takes over the lock. Throws GuardError if the run is gone.
 */
export async function withRun<T>(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
  action: (place: HeldPlace, now: StoredRun) => Promise<T>,
): Promise<T> {
  const store = openRunStore(context.paths);
  const { head, plan } = stored;
  const lock = await lockFor(context, invocation, store, head, plan?.rows[0]);
  try {
    const now = await readRun(store, stored.head.run);
    if (!now) throw goneMeanwhile(stored.head, 'was removed');
    return await action({ store, lock }, now);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function goneMeanwhile({ run }: RunHead, what: 'has finished' | 'was removed'): GuardError {
  const see = what === 'was removed' ? 'list' : `show ${run}`;
  return new GuardError(`The run ${run} ${what} in the meantime. Nothing was sent.`, {
    code: finishedElsewhere,
    hint: `See: rosterctl runs ${see}`,
  });
}

/** The error code for a run that another process finished or removed in the meantime. */
export const finishedElsewhere = 'finishedMeanwhile';

/** Prepares an unfinished run to be resumed, by default with all its remaining rows. Throws as `planRun` does. */
export async function prepareResume(
  context: Context,
  given: Invocation,
  { store, lock }: HeldPlace,
  stored: StoredRun,
  only?: ReadonlySet<number>,
): Promise<PlannedRun> {
  const { plan, head, state, reported } = stored;
  if (!plan) throw goneMeanwhile(head, 'has finished');
  const { invocation, rows: tasks, finished } = leftOf(given, stored, only);
  const { operation, values, isSingle, selection } = invocation;
  // A command line that was typed again counts the rows that it selects.
  if (!selection) checkExpected(tasks.length, values);
  context.note(`Continuing ${runWithRowsLeft(context, store, head, tasks)}.`);
  const named = operation.verb === 'create' ? [] : tasks;
  const awaited = await awaitEarlierWrites(context, await runsBeside(store, head), named);
  const opened = openSession(context, invocation, finished);
  const session = await readingPast(context, store, head, opened);
  const subject = subjectOf(invocation, plan.rows.length, false);
  const preview = { tasks, decided: [], names: plan.names };
  if (operation.confirm !== 'never' && !isSingle) await printPreview(context, subject, preview);
  const selected = (selection ? plan.rows : tasks).length;
  await confirmChanges(context, invocation, { subject, preview, selected, session });
  // While the question waited, `runs prune` may have removed it.
  if (!hasRun(store, head.run)) throw goneMeanwhile(head, 'was removed');
  const options = writeOptions(context, lock);
  return {
    invocation,
    store,
    plan,
    journal: await continueJournal(store, plan, options),
    images: openImages(context, store, head.run, options),
    session,
    tasks,
    finished,
    // Of some rows only if the earlier records of the journal were printed too.
    ...(only && { only, reportsAll: reported || state.results.size === 0 }),
    awaited,
    lock,
    errorsLeft: errorLimit(values),
  };
}

/** Returns what resuming a run would work on, for a dry run, and notes it. Throws as `prepareResume` does. */
export function previewResume(
  context: Context,
  given: Invocation,
  stored: StoredRun,
  only?: ReadonlySet<number>,
) {
  const left = leftOf(given, stored, only);
  context.note(
    `This continues ${runWithRowsLeft(context, storeOf(context), stored.head, left.rows)}.`,
  );
  return left;
}

/**
 * The remaining rows of a run, its finished ones (the plan of an ended run holds only those that failed or
 * conflicted), and the invocation that resumes it. Throws GuardError for a run of another format.
 */
function leftOf(given: Invocation, stored: StoredRun, only: ReadonlySet<number> | undefined) {
  requireContinuable(stored);
  const rows = unfinishedTasks(stored, only);
  const resumed = new Set(rows.map(({ row }) => row));
  const finished = [...stored.state.results.values()]
    .filter((row) => !resumed.has(row.row) && isFinalRow(row))
    .toSorted((a, b) => a.row - b.row);
  // They were confirmed when the run started.
  const { maxChanges = rows.length } = given.values;
  const values = { ...given.values, maxChanges };
  const invocation: Invocation = { ...given, ...jobOf(stored.plan), values };
  return { invocation, rows, run: stored.head.run, finished };
}

/** A run as named in a sentence: `run ID, started 5 min ago`. */
export function runSince(context: Context, store: RunStore, { run, startedAt }: RunHead): string {
  const age = relativeTime(new Date(startedAt), context.now());
  return `run ${shownRunName(context, store, run)}, started ${age}`;
}

/** `run ID, started 5 min ago: 6 of 9 rows are left` */
function runWithRowsLeft(
  context: Context,
  store: RunStore,
  head: RunHead,
  { length: left }: readonly Task[],
): string {
  const run = runSince(context, store, head);
  const { rows: all } = head;
  if (left === all) return all === 1 ? run : `${run}: all ${groupedNumber(all)} rows are left`;
  const are = left === 1 ? 'is' : 'are';
  return `${run}: ${groupedNumber(left)} of ${groupedNumber(all)} rows ${are} left`;
}

/** The unfinished rows of a run as tasks, or those in `only`. */
export function unfinishedTasks(stored: StoredRun, only?: ReadonlySet<number>): readonly Task[] {
  const { plan, state } = stored;
  const resumable = unfinishedUploads([stored]).map(({ row }) => row.row);
  const isTask = ({ row }: Task) => {
    const result = state.results.get(row);
    return only ? only.has(row) : !result || !isFinalRow(result) || resumable.includes(row);
  };
  return (plan?.rows ?? []).filter(isTask).map((row): Task => {
    const open = state.open.get(row.row);
    const steps = state.steps.get(row.row);
    const done = state.done.get(row.row);
    return { ...row, open, steps, done };
  });
}
