/** How a run ends: its end record, its plan shortened, one rename from `open/` to `ended/`; and what the next write does for those that were killed. */
import { isObject, type JsonObject } from '../data/json.js';
import { notVerified } from '../errors.js';
import { holderState, type ThisProcess } from '../files/holder.js';
import { sweepLocks } from '../files/lock.js';
import { pruneNext, pruneBeforeImages } from './before-images.js';
import type { DamagedRun, Journal } from './journal.js';
import { isLockedByOther, isRunHeld, recordLocks } from './lock-run.js';
import { countsAsError, type ReportRow } from './report.js';
import { type PlannedRow, type RunPlan, shortenPlan } from './run-plan.js';
import {
  isReported,
  moveRun,
  removeRun,
  runFolder,
  runNames,
  type RunStore,
  startOf,
  writeReported,
} from './run-store.js';
import { continueJournal, readRun, readRuns, type RunOptions, type StoredRun } from './runs.js';

/** What the record of a run's end says, and what stays of its plan. */
interface RunEnd {
  /** The results of all rows: `runs retry` can begin from those that failed or conflicted. */
  readonly results: readonly ReportRow[];
  readonly summary?: JsonObject;
  /** Another run was begun in its place. */
  readonly superseded?: boolean;
  /** An upload is left that only this run knows of: its whole plan stays, and it stays in `open/`. */
  readonly keepsPlan?: boolean;
}

/**
 * Ends a run and closes its journal. What is killed between the end record and the rename is moved by
 * the next write. A run that makes things again when it is repeated stays in `open/` until `markTold`.
 * Throws OutputError, GuardError where the record or the plan cannot be written.
 */
export async function endRun(
  store: RunStore,
  plan: RunPlan,
  journal: Journal,
  { results, summary, superseded, keepsPlan = false }: RunEnd,
): Promise<void> {
  const { run, addsEachTime } = plan.head;
  await journal.append({
    kind: 'end',
    ...(summary && { summary }),
    ...(superseded && { superseded }),
  });
  if (!keepsPlan) await shortenPlan(runFolder(store, run), plan, results);
  await journal.close();
  if (!keepsPlan && !addsEachTime) await moveToEnded(store, run);
}

/**
 * Keeps that a report of a run's records up to `last` was written out; once that is all of them and
 * nothing is left, the run moves to `ended/` and the same command begins anew. Throws OutputError.
 */
export async function markReported(store: RunStore, run: string, last: number): Promise<void> {
  await writeReported(runFolder(store, run), last);
  const stored = await readRun(store, run);
  if (stored && isOver(store, stored)) await moveToEnded(store, run);
}

/** Moves a run that is over; its before-images are kept for `undo.keep` from here on. */
async function moveToEnded(store: RunStore, run: string): Promise<void> {
  await moveRun(store, run, 'ended');
  pruneNext(store, run);
}

/** Whether nothing is left of a run but what it was: it belongs into `ended/`. */
export function isOver(store: RunStore, stored: StoredRun): boolean {
  const { head, state, finished } = stored;
  if (!finished || unfinishedUploads([stored]).length > 0) return false;
  // Only the end counts: an upload that is given up later has no report.
  const reported = !head.addsEachTime || state.replaced;
  return reported || isReported(runFolder(store, head.run), state.endedAt ?? state.last);
}

interface TidyOptions {
  readonly self: ThisProcess;
  readonly now: Date;
  /** The setting `undo.keep`; undefined: nothing is kept. */
  readonly undoKeepMs: number | undefined;
  readonly onDamaged?: ((run: DamagedRun) => void) | undefined;
}

/** Runs whose before-images one command removes. */
const mostBeforeImages = 50;

/** Lock files that one command removes behind killed ones; each costs a few system calls. */
const mostLocks = 20;

/**
 * The runs that a new write has to know: those in `open/`, after runs that have ended were moved to
 * `ended/` and those of which nothing was ever sent were removed. What version 0.1.0 left is sorted
 * into both. Opens nothing below `ended/`. Throws OutputError.
 */
export async function takeOpenRuns(
  store: RunStore,
  options: TidyOptions,
): Promise<readonly StoredRun[]> {
  await sortLegacyRuns(store, options);
  const names = await runNames(store, ['open']);
  const damaged = new Set<string>();
  const runs = await readRuns(store, names, (run) => {
    damaged.add(run.run);
    options.onDamaged?.(run);
  });
  const open: StoredRun[] = [];
  for (const run of runs) {
    if (isAbandoned(run, options)) await removeRun(store, run.head.run);
    else if (isOver(store, run) && !isAtWork(run, options)) await moveEnded(store, run);
    else open.push(run);
  }
  const known = new Set([...damaged, ...runs.map(({ head }) => head.run)]);
  for (const name of names)
    if (!known.has(name) && isOld(name, options)) await removeRun(store, name);
  await pruneBeforeImages(store, options.undoKeepMs ?? 0, options.now, {
    most: mostBeforeImages,
    isHeld: (run) => isRunHeld(store, run, options.self),
  });
  await sweepLocks(recordLocks(store), options.self, mostLocks).catch(() => {});
  return open;
}

/** The process that made it is gone before it sent anything: no intent, no step, no result. */
function isAbandoned({ state, finished }: StoredRun, { self }: TidyOptions): boolean {
  const { results, open, steps, done, holder } = state;
  const isBegun = [results, open, steps, done].some(({ size }) => size > 0);
  if (finished || isBegun) return false;
  return holder !== undefined && holderState(holder, self) === 'gone';
}

/** Its own process may be between the end record and the rename. */
function isAtWork({ state: { holder } }: StoredRun, { self }: TidyOptions): boolean {
  return holder !== undefined && holderState(holder, self) === 'runs';
}

/** A folder without a readable first record is one that its process is filling, or that a kill left. */
function isOld(run: string, { now }: TidyOptions): boolean {
  return now.getTime() - startOf(run).getTime() > 3_600_000;
}

async function moveEnded(store: RunStore, { head, plan, state }: StoredRun): Promise<void> {
  // A kill before the rename may also have come before the plan was shortened.
  if (plan) await shortenPlan(runFolder(store, head.run), plan, state.results.values());
  await moveToEnded(store, head.run);
}

/** Version 0.1.0 kept all runs in one folder and did not write which process is at them. */
async function sortLegacyRuns(store: RunStore, { self }: TidyOptions): Promise<void> {
  const names = await runNames(store, ['legacy']);
  if (names.length === 0) return;
  const ended = new Set<string>();
  const runs = await readRuns(store, names, ({ run, isOpen }) => {
    if (!isOpen) ended.add(run);
  });
  for (const run of runs) if (isOver(store, run)) ended.add(run.head.run);
  const busy = runs.filter(({ head }) => isLockedByOther(store, head, self));
  for (const name of names)
    if (!busy.some(({ head }) => head.run === name))
      await moveRun(store, name, ended.has(name) ? 'ended' : 'open');
}

/** How far the upload of a file came; the words of `uploads list`. */
export const uploadStates = [
  'planned',
  'granted',
  'put_started',
  'put_done',
  'doc_intent',
  'orphan',
  'unknown',
] as const;
export type UploadState = (typeof uploadStates)[number];

/** An upload that is not finished, as a journal keeps it. */
export interface UnfinishedUpload {
  /** Short enough to type: the run's last letters and the row. */
  readonly id: string;
  readonly state: UploadState;
  readonly run: StoredRun;
  readonly plan: RunPlan;
  readonly row: PlannedRow;
  readonly steps: JsonObject;
}

/** An action whose runs move files. */
export const uploadAction = 'documents.upload';

/** The word in the row of an upload that its admin gave up. */
const forgotten = 'forgotten';

/** The step that says: every byte has arrived. */
export const stored = 'put_done';

/** The uploads of these runs that are neither done nor refused before their bytes were stored. */
export function unfinishedUploads(runs: readonly StoredRun[]): readonly UnfinishedUpload[] {
  return runs.flatMap((run) => {
    const { plan } = run;
    if (!plan || run.head.action !== uploadAction) return [];
    return plan.rows.flatMap((row) => {
      const steps = run.state.steps.get(row.row) ?? {};
      const state = stateOf(run, row, steps);
      return state ? [{ id: uploadId(run.head.run, row.row), state, run, plan, row, steps }] : [];
    });
  });
}

/** Writes down that its admin gave an upload up; nothing is left to do for it. Throws OutputError, GuardError. */
export async function forgetUpload(
  store: RunStore,
  { plan, row: { row, id } }: UnfinishedUpload,
  options: RunOptions,
): Promise<void> {
  const journal = await continueJournal(store, plan, options);
  try {
    const error = { code: forgotten, kind: 'guard', message: 'Given up: uploads forget.' };
    await journal.append({ kind: 'step', row, state: forgotten });
    await journal.append({ kind: 'result', row, id, result: 'failed', error });
  } finally {
    await journal.close();
  }
}

/** `3fa9c2.1`: the last letters of its run, and its row. */
export function uploadId(run: string, row: number): string {
  return `${run.slice(-6)}.${row}`;
}

/** Whether bytes lie in the store that no document is known to record. */
export function isStored({ state }: Pick<UnfinishedUpload, 'state'>): boolean {
  return ['put_done', 'doc_intent', 'orphan', 'unknown'].includes(state);
}

/** Whether a document may be there that is not known to be this upload's. */
export function hasUnknownOutcome({ state }: Pick<UnfinishedUpload, 'state'>): boolean {
  return state === 'doc_intent' || state === 'unknown';
}

/** Whether a row failed so: its document is there all the same. */
function isNotVerified(error: unknown): boolean {
  return isObject(error) && error['code'] === notVerified;
}

function stateOf(
  { state, finished }: StoredRun,
  { row }: PlannedRow,
  steps: JsonObject,
): UploadState | undefined {
  if (steps['state'] === forgotten) return undefined;
  const { result, error } = state.results.get(row) ?? {};
  if (result === 'unknown') return 'unknown';
  if (state.open.has(row)) return 'doc_intent';
  const isStoredByNow = steps['state'] === stored;
  if (result !== undefined && countsAsError(result))
    return isStoredByNow && !isNotVerified(error) ? 'orphan' : undefined;
  if (result !== undefined && result !== 'not_attempted') return undefined;
  if (finished) return isStoredByNow ? stored : undefined;
  return uploadStates.find((known) => known === steps['state']) ?? 'planned';
}
