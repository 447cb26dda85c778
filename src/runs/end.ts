/** Ends runs (end record, shortened plan, rename from `open/` to `ended/`), cleans up after killed ones, and tells which uploads are unfinished. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../data/json.js';
import { notVerified } from '../data/outcome-errors.js';
import { holderState, type ThisProcess } from '../files/holder.js';
import { sweepLocks } from '../files/lock.js';
import { pruneBeforeImages, pruneNext } from './before-images.js';
import type { DamagedRun, Journal } from './journal.js';
import { isLockedByOther, isRunHeld, recordLocks } from './lock.js';
import { type PlannedRow, type RunPlan, shortenPlan } from './plan.js';
import { countsAsError, type ReportRow } from './report.js';
import {
  isReported,
  moveRun,
  placeIn,
  type RunStore,
  removeRun,
  runFolder,
  runNames,
  startOf,
  writeReported,
} from './store.js';
import {
  continueJournal,
  type RunOptions,
  readRun,
  readRuns,
  type StoredRun,
} from './stored-run.js';

/** The content of a run's end record, and how much of its plan is kept. */
interface RunEnd {
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

/** Moves a completed run to `ended/`, and makes sure that pruning will inspect its before-images. */
function moveToEnded(store: RunStore, run: string): void {
  moveRun(store, run, 'ended');
  pruneNext(store, run);
}

/** True if a run belongs in `ended/`: finished, reported where that is required, and without unfinished uploads. */
function belongsInEnded(store: RunStore, stored: StoredRun): boolean {
  const { head, state, finished } = stored;
  if (!finished || unfinishedUploads([stored]).length > 0) return false;
  // Only records up to the end count: forgetting an upload later prints no report.
  const reported = !head.addsEachTime || state.replaced;
  return reported || isReported(runFolder(store, head.run), state.endedAt ?? state.last);
}

interface TidyOptions {
  readonly self: ThisProcess;
  readonly now: Date;
  /** The setting `undo.keep` in milliseconds; undefined: before-images are not kept. */
  readonly undoKeepMs: number | undefined;
  readonly onDamaged?: ((run: DamagedRun) => void) | undefined;
}

/** How many runs one command checks for old before-images. */
const mostBeforeImages = 50;

/** How many stale lock files one command removes; each costs a few system calls. */
const mostLocks = 20;

/**
 * Tidies `open/` and returns the runs that remain there, which a new write must take into account:
 * moves ended runs to `ended/`, removes abandoned runs that sent nothing, and does so with the runs of
 * version 0.1.0, which kept all in one folder. Opens nothing below `ended/`. Throws OutputError.
 */
export async function tidyOpenRuns(
  store: RunStore,
  options: TidyOptions,
): Promise<readonly StoredRun[]> {
  const names = await runNames(store, ['open', 'legacy']);
  const damaged = new Set<string>();
  const runs = await readRuns(store, names, (run) => {
    damaged.add(run.run);
    options.onDamaged?.(run);
  });
  const open: StoredRun[] = [];
  for (const run of runs) {
    const isBusy = isInProgress(store, run, options);
    if (isAbandoned(run, options)) await removeRun(store, run.head.run);
    else if (belongsInEnded(store, run) && !isBusy) await moveEnded(store, run);
    else {
      if (!isBusy) moveRun(store, run.head.run, 'open');
      open.push(run);
    }
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

/** True if the process died before it sent anything: no intent, no step, no result. */
function isAbandoned({ state, finished }: StoredRun, { self }: TidyOptions): boolean {
  const { results, open, steps, done, holder } = state;
  const isBegun = [results, open, steps, done].some(({ size }) => size > 0);
  if (finished || isBegun) return false;
  return holder !== undefined && holderState(holder, self) === 'gone';
}

/**
 * True while the run's process is alive: it may be between the end record and the rename. Version 0.1.0
 * did not record the process; there the lock tells.
 */
function isInProgress(store: RunStore, run: StoredRun, { self }: TidyOptions): boolean {
  const { holder } = run.state;
  if (!holder) return isLockedByOther(store, run.head, self);
  return holderState(holder, self) === 'runs';
}

/**
 * Without a readable first record, a young folder may still be being written; an old one is left
 * from a killed process.
 */
function isOld(run: string, { now }: TidyOptions): boolean {
  return now.getTime() - startOf(run).getTime() > 3_600_000;
}

async function moveEnded(store: RunStore, { head, plan, state }: StoredRun): Promise<void> {
  // A process killed before the rename may not have shortened the plan either.
  if (plan) await shortenPlan(runFolder(store, head.run), plan, state.results.values());
  moveToEnded(store, head.run);
}

/** How far a file's upload got; the states that `uploads list` shows. */
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

/** An unfinished upload, as its journal describes it. */
export interface UnfinishedUpload {
  /** Short enough to type: the run's last six characters and the row. */
  readonly id: string;
  readonly state: UploadState;
  readonly run: StoredRun;
  readonly plan: RunPlan;
  readonly row: PlannedRow;
  readonly steps: JsonObject;
}

/** The action whose runs upload files. */
export const uploadAction = 'documents.upload';

/** The action whose runs upload one file in place of a document. */
const replaceAction = 'documents.replace';

/** True for a run that uploads files. */
export function isUploadRun({ action }: Pick<RunPlan['head'], 'action'>): boolean {
  return action === uploadAction || action === replaceAction;
}

/** The step state and error code of an upload that the user gave up with `uploads forget`. */
const forgotten = 'forgotten';

/** The step state once every byte has arrived. */
export const storedState = 'put_done';

/** Returns the uploads of these runs that are neither done nor refused before their bytes were stored. */
export function unfinishedUploads(runs: readonly StoredRun[]): readonly UnfinishedUpload[] {
  return runs.flatMap((run) => {
    const { plan } = run;
    if (!plan || !isUploadRun(run.head)) return [];
    return plan.rows.flatMap((row) => {
      const steps = run.state.steps.get(row.row) ?? {};
      const state = stateOf(run, row, steps);
      return state ? [{ id: uploadId(run.head.run, row.row), state, run, plan, row, steps }] : [];
    });
  });
}

/**
 * Records that the user gave up an upload, so that it no longer counts as unfinished. Throws
 * OutputError, GuardError.
 */
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

/** `3fa9c2.1`: the last six characters of its run, and its row. */
export function uploadId(run: string, row: number): string {
  return `${run.slice(-6)}.${row}`;
}

/** True if the store holds bytes that no known document records. */
export function isStored({ state }: Pick<UnfinishedUpload, 'state'>): boolean {
  return ['put_done', 'doc_intent', 'orphan', 'unknown'].includes(state);
}

/** True if the upload may have created a document that is not yet identified. */
export function hasUnknownOutcome({ state }: Pick<UnfinishedUpload, 'state'>): boolean {
  return state === 'doc_intent' || state === 'unknown';
}

/** True if the row failed only because verification did: its document exists. */
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
  const isStoredNow = steps['state'] === storedState;
  if (result !== undefined && countsAsError(result))
    return isStoredNow && !isNotVerified(error) ? 'orphan' : undefined;
  if (result !== undefined && result !== 'not_attempted') return undefined;
  if (finished) return isStoredNow ? storedState : undefined;
  return uploadStates.find((known) => known === steps['state']) ?? 'planned';
}
