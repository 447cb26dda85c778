import { isObject, type JsonObject } from '../data/json.js';
import { notVerified } from '../errors.js';
import { countsAsError } from './report.js';
import {
  continueJournal,
  type PlannedRow,
  type RunOptions,
  type RunPlan,
  type RunStore,
  type StoredRun,
} from './runs.js';

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
export interface LeftUpload {
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
export function leftUploads(runs: readonly StoredRun[]): readonly LeftUpload[] {
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
  { plan, row: { row, id } }: LeftUpload,
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
export function isStored({ state }: Pick<LeftUpload, 'state'>): boolean {
  return ['put_done', 'doc_intent', 'orphan', 'unknown'].includes(state);
}

/** Whether a document may be there that is not known to be this upload's. */
export function isInDoubt({ state }: Pick<LeftUpload, 'state'>): boolean {
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
