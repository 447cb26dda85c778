import type { DamagedRun } from '../bulk/journal.js';
import { storeOf } from '../bulk/run-store.js';
import { listOpenRuns } from '../bulk/runs.js';
import { type UnfinishedUpload, unfinishedUploads } from '../bulk/end-run.js';
import { nearest } from '../data/nearest.js';
import type { LocalContext } from '../context.js';
import { UsageError } from '../errors.js';

/** The uploads on this machine that are not finished, oldest first; a run that is damaged is told. */
export async function readUnfinishedUploads(
  context: LocalContext,
  onDamaged: (run: DamagedRun) => void = () => {},
): Promise<readonly UnfinishedUpload[]> {
  const tell = (run: DamagedRun) => {
    context.message(run.message);
    onDamaged(run);
  };
  return unfinishedUploads(await listOpenRuns(storeOf(context), tell));
}

/** One of them by its id. Throws UsageError when there is none. */
export async function findUnfinishedUpload(
  context: LocalContext,
  id: string,
): Promise<UnfinishedUpload> {
  const left = await readUnfinishedUploads(context);
  const found = left.find((upload) => upload.id === id);
  if (found) return found;
  const near = nearest(
    id,
    left.map((upload) => upload.id),
  );
  throw new UsageError(
    `There is no unfinished upload ${id}${near ? ` (did you mean ${near}?)` : ''}.`,
    { hint: 'See: rosterctl uploads list' },
  );
}
