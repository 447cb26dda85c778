import { markTold, readRun, removeRun, type RunHead, type RunStore } from '../bulk/runs.js';
import type { BulkPart } from './bulk-part.js';

/**
 * What is due once the outcome of a run, or of one of its rows, is told: a run that stands alone goes
 * unless it leaves something, a finished one is marked as told. Gives whether it leaves something.
 */
export async function wrapUp(
  store: RunStore,
  { isLeft, addsEachTime }: Pick<BulkPart, 'isLeft' | 'addsEachTime'>,
  { run, alone }: Pick<RunHead, 'run' | 'alone'>,
  now: () => Date,
): Promise<boolean> {
  // A run that stands alone may be gone: the same line, started beside this one, removes it, too.
  const stored = await readRun(store, run);
  const leaves = stored !== undefined && (isLeft?.(stored) ?? false);
  if (alone && !leaves) await removeRun(store, run);
  else if (stored?.finished && addsEachTime && !stored.state.told) await markTold(store, run, now);
  return leaves;
}
