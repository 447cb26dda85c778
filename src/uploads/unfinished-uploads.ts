/** Unfinished uploads on this machine: lists them, and finds one by its id. */

import type { LocalContext } from '../context.js';
import { didYouMean } from '../data/nearest.js';
import { UsageError } from '../errors.js';
import { type UnfinishedUpload, unfinishedUploads } from '../runs/end.js';
import type { DamagedRun } from '../runs/journal.js';
import { storeOf } from '../runs/store.js';
import { listOpenRuns } from '../runs/stored-run.js';

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
  throw new UsageError(`There is no unfinished upload ${id}.${didYouMean(id, ids)}`, {
    hint: 'See: rosterctl uploads list',
  });
}
