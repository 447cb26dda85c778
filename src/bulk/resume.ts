/** Resumes an unfinished run: all its remaining rows, or some of them. */

import type { Context } from '../context.js';
import { groupedNumber } from '../data/text.js';
import { relativeTime } from '../data/time.js';
import type { Task } from '../engine/operation.js';
import { awaitEarlierWrites, readingPast, runsBeside } from '../engine/other-runs.js';
import { GuardError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { markReported } from '../runs/end.js';
import { shownRunName } from '../runs/find-run.js';
import type { RunState } from '../runs/journal.js';
import { type RunHead, requireContinuable } from '../runs/plan.js';
import { isFinalRow, type ReportRow } from '../runs/report.js';
import { hasRun, openRunStore, type RunStore, storeOf } from '../runs/store.js';
import { continueJournal, readRun, type StoredRun, writeOptions } from '../runs/stored-run.js';
import { unfinishedUploads } from '../runs/unfinished.js';
import { confirmChanges, printPreview } from './confirm.js';
import { type EndedRun, executeRun, type PlannedRun } from './execute.js';
import {
  checkExpected,
  errorLimit,
  type Invocation,
  jobOf,
  limitRate,
  openSession,
} from './invocation.js';
import { subjectOf } from './preview.js';
import { lockFor, openImages } from './run-locks.js';

/** Acquires the lock of an unfinished run and prepares to resume it. Throws as `planRun` does. */
export async function resumeRun(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
): Promise<PlannedRun> {
  return withRun(context, invocation, stored, async (store, now, lock) => {
    if (now.finished) throw goneMeanwhile(now.head, 'has finished');
    return prepareResume(context, invocation, { store, lock, expectsRemaining: true }, now);
  });
}

/** Executes these rows of a run, ended or not. Throws as `planRun` does. */
export async function finishRows(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
  wanted: ReadonlySet<number>,
): Promise<EndedRun> {
  const { values } = invocation;
  limitRate(context, values);
  return withRun(context, invocation, stored, async (store, now, lock) => {
    const left = unfinishedUploads([now]).map(({ row }) => row.row);
    const only = new Set(left.filter((row) => wanted.has(row)));
    if (only.size === 0) throw goneMeanwhile(now.head, 'has finished');
    const run = await prepareResume(context, invocation, { store, lock }, now, only);
    const ended = await executeRun(context, run);
    const { head, reported, state } = now;
    // Only if the earlier records of the journal were printed too.
    const reportsAll = head.addsEachTime && (reported || state.results.size === 0);
    const onWritten = async () => {
      if (reportsAll) await markReported(store, head.run, run.journal.last);
    };
    return { ...ended, onWritten };
  });
}

/**
 * Acquires the lock of a run, reads it again because another process may have resumed it, and runs the
 * action, which takes over the lock. Throws GuardError if the run is gone.
 */
export async function withRun<T>(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
  action: (store: RunStore, now: StoredRun, lock: HeldLock) => Promise<T>,
): Promise<T> {
  const store = openRunStore(context.paths);
  const { head, plan } = stored;
  const lock = await lockFor(context, invocation, store, head, plan?.rows[0]);
  try {
    const now = await readRun(store, stored.head.run);
    if (!now) throw goneMeanwhile(stored.head, 'was removed');
    return await action(store, now, lock);
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

interface Continuing {
  readonly store: RunStore;
  readonly lock: HeldLock | undefined;
  /** `--expect` counts the remaining rows; if the command line was typed again, it counts the rows that it selects. */
  readonly expectsRemaining?: boolean;
}

/** Prepares an unfinished run to be resumed, by default with all its remaining rows. Throws as `planRun` does. */
export async function prepareResume(
  context: Context,
  given: Invocation,
  { store, lock, expectsRemaining = false }: Continuing,
  stored: StoredRun,
  only?: ReadonlySet<number>,
): Promise<PlannedRun> {
  const { plan, head } = stored;
  if (!plan) throw goneMeanwhile(head, 'has finished');
  requireContinuable(stored);
  const tasks = unfinishedTasks(stored, only);
  const invocation = resumedInvocation(given, plan, tasks);
  const { operation, values, isSingle } = invocation;
  const finished = finishedRows(stored, tasks);
  if (expectsRemaining) checkExpected(tasks.length, values);
  context.note(`Continuing ${runWithRowsLeft(context, store, head, tasks)}.`);
  const named = operation.verb === 'create' ? [] : tasks;
  const awaited = await awaitEarlierWrites(context, await runsBeside(store, head), named);
  const opened = openSession(context, invocation, finished);
  const session = await readingPast(context, store, head, opened);
  const subject = subjectOf(invocation, plan.rows.length, false);
  const preview = { tasks, decided: [], names: plan.names };
  if (operation.confirm !== 'never' && !isSingle) await printPreview(context, subject, preview);
  const [first] = tasks;
  await confirmChanges(context, invocation, {
    subject,
    preview,
    selected: expectsRemaining ? tasks.length : plan.rows.length,
    session,
    // Only a line typed again gives the name; `runs resume` needs --yes.
    name: first && values.confirm !== undefined ? plan.names?.get(first.id) : undefined,
  });
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
    only,
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
  requireContinuable(stored);
  const { head, plan } = stored;
  const rows = unfinishedTasks(stored, only);
  context.note(`This continues ${runWithRowsLeft(context, storeOf(context), head, rows)}.`);
  const invocation = resumedInvocation(given, plan, rows);
  return { invocation, rows, run: head.run, finished: finishedRows(stored, rows) };
}

/** The invocation that resumes a run; its remaining rows were confirmed when it started. */
function resumedInvocation(
  given: Invocation,
  plan: StoredRun['plan'],
  { length }: readonly Task[],
): Invocation {
  const { maxChanges = length } = given.values;
  return { ...given, ...jobOf(plan), values: { ...given.values, maxChanges } };
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
  if (left === 0) return `${run}: no row is left`;
  if (left === all) return all === 1 ? run : `${run}: all ${groupedNumber(all)} rows are left`;
  const are = left === 1 ? 'is' : 'are';
  return `${run}: ${groupedNumber(left)} of ${groupedNumber(all)} rows ${are} left`;
}

/** The unfinished rows of a run as tasks, or those in `only`. */
export function unfinishedTasks(stored: StoredRun, only?: ReadonlySet<number>): readonly Task[] {
  const { plan, state } = stored;
  const resumable = unfinishedUploads([stored]).map(({ row }) => row.row);
  const isTask = ({ row }: Task) =>
    only ? only.has(row) : !isFinished(state, row) || resumable.includes(row);
  return (plan?.rows ?? []).filter(isTask).map((row): Task => {
    const open = state.open.get(row.row);
    const steps = state.steps.get(row.row);
    const done = state.done.get(row.row);
    return { ...row, open, steps, done };
  });
}

/** The other rows of a run that are finished; the plan of an ended run holds only those that failed or conflicted. */
function finishedRows({ state }: StoredRun, tasks: readonly Task[]): readonly ReportRow[] {
  const resumed = new Set(tasks.map(({ row }) => row));
  return [...state.results.values()]
    .filter((row) => !resumed.has(row.row) && isFinalRow(row))
    .toSorted((a, b) => a.row - b.row);
}

/** True if nothing remains to be done for this row. */
function isFinished({ results }: RunState, row: number): boolean {
  const result = results.get(row);
  return result !== undefined && isFinalRow(result);
}
