/** Unfinished work on this machine: the interrupted runs of a profile; and uploads, how far each got, how one is found by its id, and given up. */
import type { LocalContext } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { didYouMean } from '../data/nearest.js';
import { notVerified } from '../data/outcome-errors.js';
import { groupedNumber, plural } from '../data/text.js';
import { UsageError } from '../errors.js';
import type { ThisProcess } from '../files/holder.js';
import { shortRunNames } from './find-run.js';
import { isRunning } from './lock.js';
import { isOfProfile, otherFormat, type PlannedRow, type RunPlan } from './plan.js';
import { countsAsError } from './report.js';
import { type RunStore, runStore, storeOf } from './store.js';
import {
  type DamagedRun,
  listOpenRuns,
  rowsLeft,
  type StoredRun,
  type WriteOptions,
  withJournal,
} from './stored-run.js';

/** The interrupted work of a profile. */
export interface UnfinishedWork {
  /** Newest first; `run` is its name as a person types it. */
  readonly runs: readonly { readonly run: string; readonly left: number; readonly total: number }[];
  readonly uploads: number;
}

/** A profile, the place it is for, and all stored profiles. */
export interface WorkPlace {
  readonly name: string;
  readonly organization: string;
  readonly service: string | undefined;
  readonly profiles: ReadonlyMap<string, unknown>;
}

/** Returns what a profile left unfinished on this machine, without what another process is doing now. */
export async function unfinishedWork(
  statePath: string,
  { name, organization, service, profiles }: WorkPlace,
  self: ThisProcess,
): Promise<UnfinishedWork> {
  const store = runStore(statePath);
  const open = await listOpenRuns(store);
  const ours = open.filter(
    (run) =>
      (run.head.profile === name || run.head.service === service) &&
      isOfProfile(run.head, name, profiles) &&
      run.head.organization === organization &&
      otherFormat(run) === undefined &&
      !isRunning(run, self),
  );
  const unfinished = ours
    .filter(({ head, finished }) => !finished && !isUploadRun(head))
    .toReversed();
  const uploads = unfinishedUploads(ours).length;
  if (unfinished.length === 0) return { runs: [], uploads };
  const shortName = shortRunNames(store);
  const runs = unfinished.map((run) => {
    const { head } = run;
    return { run: shortName(head.run), left: rowsLeft(run), total: head.rows };
  });
  return { runs, uploads };
}

/** Returns a line and a command for each of the `mostRuns` newest runs, for the other runs, and for the uploads. */
export function describeUnfinished({ runs, uploads }: UnfinishedWork, mostRuns: number) {
  const shown = runs.slice(0, mostRuns).map(({ run, left, total }) => ({
    text: `run ${run}: ${groupedNumber(left)} of ${plural(total, 'row')} left`,
    command: `rosterctl runs resume ${run}`,
  }));
  const more = runs.length - shown.length;
  const moreText = shown.length > 0 ? `${more} more` : plural(more, 'run');
  return [
    ...shown,
    ...(more > 0 ? [{ text: moreText, command: 'rosterctl runs list' }] : []),
    ...(uploads > 0
      ? [{ text: plural(uploads, 'upload'), command: 'rosterctl uploads finish --all' }]
      : []),
  ];
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

/** True for a run that uploads files. */
export function isUploadRun({ verb }: Pick<RunPlan['head'], 'verb'>): boolean {
  return verb === 'upload';
}

/** The step state and error code of an upload that the user gave up with `uploads forget`. */
export const forgotten = 'forgotten';

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

/** True if a run, once ended, leaves an upload that only its journal knows of. */
export function hasLeftovers(run: StoredRun): boolean {
  return unfinishedUploads([run]).some(isStored);
}

/** Reads the unfinished uploads on this machine, oldest first; prints a message for each damaged run. */
export async function readUnfinishedUploads(
  context: LocalContext,
  onDamaged: (run: DamagedRun) => void = () => {},
): Promise<readonly UnfinishedUpload[]> {
  const report = (run: DamagedRun) => {
    context.message(run.message);
    onDamaged(run);
  };
  return unfinishedUploads(await listOpenRuns(storeOf(context), report));
}

/** Finds an unfinished upload by its id. Throws UsageError if there is none. */
export async function findUnfinishedUpload(
  context: LocalContext,
  id: string,
): Promise<UnfinishedUpload> {
  const uploads = await readUnfinishedUploads(context);
  const match = uploads.find((upload) => upload.id === id);
  if (match) return match;
  const ids = uploads.map((upload) => upload.id);
  throw new UsageError(`No unfinished upload has the id ${id}.${didYouMean(id, ids)}`, {
    hint: 'See: rosterctl uploads list',
  });
}

/** Records that the user gave up an upload; returns the number of the journal's last record. Throws OutputError, GuardError. */
export function forgetUpload(
  store: RunStore,
  { plan, row: { row, id } }: UnfinishedUpload,
  options: WriteOptions,
): Promise<number> {
  return withJournal(store, plan, options, async (journal) => {
    const error = { code: forgotten, kind: 'guard', message: 'Discarded by uploads forget.' };
    await journal.append({ kind: 'step', row, state: forgotten });
    await journal.append({ kind: 'result', row, id, result: 'failed', error });
    return journal.last;
  });
}

/** `3fa9c2.1`: the last six characters of its run, and its row. */
export function uploadId(run: string, row: number): string {
  return `${run.slice(-6)}.${row}`;
}

/** True if the store holds bytes that no known document records. */
export function isStored({ state }: Pick<UnfinishedUpload, 'state'>): boolean {
  return ['put_done', 'doc_intent', 'orphan', 'unknown'].includes(state);
}

function stateOf({ state, finished }: StoredRun, { row }: PlannedRow, steps: JsonObject) {
  if (steps['state'] === forgotten) return undefined;
  const { result, error } = state.results.get(row) ?? {};
  if (result === 'unknown') return 'unknown';
  if (state.open.has(row)) return 'doc_intent';
  const isStoredNow = steps['state'] === storedState;
  if (result !== undefined && countsAsError(result))
    // If only the verification failed, the document exists.
    return isStoredNow && error?.code !== notVerified ? 'orphan' : undefined;
  if (result !== undefined && result !== 'not_attempted') return undefined;
  if (finished) return isStoredNow ? storedState : undefined;
  return uploadStates.find((known) => known === steps['state']) ?? 'planned';
}
