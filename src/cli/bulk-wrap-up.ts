import {
  markTold,
  readRun,
  removeRun,
  type RunHead,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import type { BulkPart } from './bulk-part.js';

/**
 * What is due once the outcome of rows of a run is told: a run that stands alone goes unless it
 * leaves something, a finished one is marked as told if all of it was (`allTold`);
 * else the same line is to tell the rest and not to make it once more. Gives whether it leaves something.
 */
export async function wrapUp(
  store: RunStore,
  { isLeft, addsEachTime }: Pick<BulkPart, 'isLeft' | 'addsEachTime'>,
  { run, alone }: Pick<RunHead, 'run' | 'alone'>,
  allTold: boolean,
  now: () => Date,
): Promise<boolean> {
  // A run that stands alone may be gone: the same line, started beside this one, removes it, too.
  const stored = await readRun(store, run);
  const leaves = stored !== undefined && (isLeft?.(stored) ?? false);
  if (alone && !leaves) await removeRun(store, run);
  else if (stored?.finished && addsEachTime && allTold && !stored.state.told)
    await markTold(store, run, now);
  return leaves;
}

/** Whether somebody saw what the rows of a run came to that are done already. */
export function wasTold({ state }: Pick<StoredRun, 'state'>): boolean {
  return state.told || state.results.size === 0;
}
