/** Ends runs (end record, shortened plan, rename from `open/` to `ended/`), and cleans up after killed and damaged ones. */
import { existsSync, promises as fs, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { GuardError, OutputError } from '../errors.js';
import { holderState, type ThisProcess } from '../files/holder.js';
import { sweepLocks } from '../files/lock.js';
import { pruneBeforeImages, pruneNext } from './before-images.js';
import type { Journal } from './journal.js';
import { isRunHeld, recordLocks } from './lock.js';
import { isKnownFormat, isSameScope, type RunPlan, type Scope, shortenPlan } from './plan.js';
import type { ReportRow, SelectedRow } from './report.js';
import {
  isReported,
  markIfLong,
  placeIn,
  type RunStore,
  removeRun,
  runFolder,
  runNames,
  startOf,
  unmarkRetried,
  writeReported,
} from './store.js';
import { type DamagedRun, readRun, readRuns, type StoredRun } from './stored-run.js';
import { unfinishedUploads } from './unfinished.js';

/** The content of a run's end record, and how much of its plan is kept. */
interface RunEnd {
  /** The rows that the journal mentions; it gets a result of the others, because no plan will name them. */
  readonly begun: { has(row: number): boolean };
  /** The results of all rows; those that failed or conflicted stay in the plan for `runs retry`. */
  readonly results: readonly ReportRow[];
  readonly summary?: JsonObject;
  /** Another run replaced it. */
  readonly superseded?: boolean;
  /** Only this run knows of an unfinished upload: keep the complete plan, and keep the run in `open/`. */
  readonly keepsPlan?: boolean;
}

/**
 * Ends a run and closes its journal. If the process is killed between the end record and the rename,
 * the next write moves the run. A run that is not idempotent stays in `open/` until `markReported`.
 * Throws OutputError, GuardError if the record or the plan cannot be written.
 */
export async function endRun(
  store: RunStore,
  plan: RunPlan,
  journal: Journal,
  { begun, results, summary, superseded, keepsPlan = false }: RunEnd,
): Promise<void> {
  const { run, addsEachTime } = plan.head;
  const untouched = plan.rows.filter(({ row }) => !begun.has(row));
  await Promise.all(
    untouched.map(({ row, id }) =>
      journal.append({ kind: 'result', row, id, result: 'not_attempted' }),
    ),
  );
  await journal.append({ kind: 'end', summary, superseded });
  if (!keepsPlan) await shortenPlan(runFolder(store, run), plan, results);
  await journal.close();
  if (!keepsPlan && !addsEachTime) moveToEnded(store, run);
}

/**
 * Records that the report of a run's records up to `last` was printed. Once that covers all of them and
 * nothing is unfinished, the run moves to `ended/` and the same command starts a new run. Throws OutputError.
 */
export async function markReported(store: RunStore, run: string, last: number): Promise<void> {
  await writeReported(runFolder(store, run), last).catch((error: unknown) => {
    // Another process reported the run too, and has moved it.
    if (!existsSync(join(placeIn(store, 'ended'), run))) throw error;
  });
  const stored = await readRun(store, run);
  if (stored && belongsInEnded(store, stored)) moveToEnded(store, run);
}

/**
 * Moves a completed run to `ended/`, and makes sure that pruning will inspect its before-images. Never
 * throws, because another process may have moved it, and the next write retries.
 */
function moveToEnded(store: RunStore, run: string): void {
  const from = runFolder(store, run);
  const target = join(placeIn(store, 'ended'), run);
  try {
    markIfLong(store, run);
    renameSync(from, target);
  } catch {
    // See above.
  }
  pruneNext(store, run);
}

/** True if a run belongs in `ended/`: finished, reported where it did something once only, and without unfinished uploads. */
function belongsInEnded(store: RunStore, stored: StoredRun): boolean {
  const { head, state, finished } = stored;
  if (!finished || unfinishedUploads([stored]).length > 0) return false;
  const didNothing = [...state.results.values()].every(({ result }) => result === 'not_attempted');
  if (didNothing || !head.addsEachTime || state.replaced) return true;
  // Only records up to the end count: forgetting an upload later prints no report.
  return isReported(runFolder(store, head.run), state.endedAt ?? state.last);
}

/** How many runs one command checks for old before-images. */
const mostBeforeImages = 50;

/** How many stale lock files one command removes; each costs a few system calls. */
const mostLocks = 20;

/**
 * Tidies `open/`: moves ended runs to `ended/`, removes abandoned runs that sent nothing, and does so
 * with the runs of version 0.1.0, which kept all in one folder; what that version left unfinished stays
 * there, because only it can resume it, and may be doing so. Returns the runs that remain, which a new
 * write must take into account, and those that cannot be read. Opens nothing below `ended/`. Throws
 * OutputError.
 */
export async function tidyOpenRuns(
  { self, now, settings }: Pick<Context, 'self' | 'now' | 'settings'>,
  store: RunStore,
) {
  const names = runNames(store, ['open', 'legacy']);
  const damaged: DamagedRun[] = [];
  const runs = await readRuns(store, names, (run) => damaged.push(run));
  const open: StoredRun[] = [];
  for (const run of runs) {
    // This version cannot tell what a newer one has sent, or whether its run has ended.
    if (!isKnownFormat(run.head)) open.push(run);
    else if (isAbandoned(run, self, now())) {
      await unmarkRetried(store, run.head);
      await removeRun(store, run.head.run);
    } else if (belongsInEnded(store, run) && !isInProgress(run, self)) {
      const { head, plan, state } = run;
      // A process killed before the rename may not have shortened the plan either.
      if (plan) await shortenPlan(runFolder(store, head.run), plan, state.results.values());
      moveToEnded(store, head.run);
    } else open.push(run);
  }
  const known = new Set([...damaged.map(({ run }) => run), ...runs.map(({ head }) => head.run)]);
  for (const name of names)
    if (!known.has(name) && isOld(name, now())) await removeRun(store, name);
  await pruneBeforeImages(store, settings.undoKeepMs ?? 0, now(), {
    most: mostBeforeImages,
    isHeld: (run) => isRunHeld(store, run, self),
  });
  await sweepLocks(recordLocks(store), self, mostLocks).catch(() => {});
  return { open, damaged };
}

/** True if the process died before it sent anything: no intent, no step, no result. */
function isAbandoned({ head, state, finished }: StoredRun, self: ThisProcess, now: Date): boolean {
  const { results, open, steps, done, holder, last } = state;
  const isBegun = [results, open, steps, done].some(({ size }) => size > 0);
  if (finished || isBegun) return false;
  // Its first record names the process.
  return holder ? holderState(holder, self) === 'gone' : last === 0 && isOld(head.run, now);
}

/** True while the run's process is alive: it may be between the end record and the rename. */
function isInProgress({ state: { holder } }: StoredRun, self: ThisProcess): boolean {
  return holder !== undefined && holderState(holder, self) === 'runs';
}

/** A young folder without a readable record may still be written; an old one is left from a killed process. */
function isOld(run: string, now: Date): boolean {
  return now.getTime() - startOf(run).getTime() > 3_600_000;
}

/** Renames the folder of a damaged run, which then no longer counts. Returns its path. Throws OutputError. */
export async function setAside({ folder }: DamagedRun): Promise<string> {
  const aside = `${folder}.damaged`;
  try {
    await fs.rename(folder, aside);
  } catch (error) {
    throw new OutputError(`${folder} cannot be set aside: ${systemReason(error)}.`, {
      hint: 'Move it away from there yourself, then run the same command again.',
      cause: error,
    });
  }
  return aside;
}

/** The run that is about to start. */
interface NewRun {
  readonly head: Scope;
  /** Returns the subject of a row; by default its id. */
  readonly subjectOf: ((row: SelectedRow) => string | undefined) | undefined;
  readonly rows: readonly SelectedRow[];
  readonly restart: boolean;
}

/**
 * Returns the damaged runs that the new run replaces. Throws GuardError `damaged` if one of them may
 * have written some of these rows, unless `restart`. Damaged runs unrelated to the rows are only reported.
 */
export function damagedBefore(
  context: Context,
  damaged: readonly DamagedRun[],
  { head, subjectOf = ({ id }) => id, rows, restart }: NewRun,
): readonly DamagedRun[] {
  const subjects = new Set(damaged.length === 0 ? [] : rows.map((row) => subjectOf(row)));
  const replaced = damaged.filter((run) => {
    // Runs of another organization, service or resource share no rows with this one.
    const { head: other = head } = run;
    if (!run.isOpen || !isSameScope(other, head)) return false;
    const rowSubjects = run.rows?.map((row) => subjectOf(row)) ?? [...subjects];
    return rowSubjects.some((each) => each !== undefined && subjects.has(each));
  });
  for (const run of damaged) if (!replaced.includes(run)) context.message(run.message);
  const [first] = replaced;
  if (first && !restart)
    throw new GuardError(`${first.message} It is unknown which of these rows that run changed.`, {
      code: 'damaged',
      hint: 'Check the records yourself. --restart starts over and sets this journal aside.',
    });
  return replaced;
}
