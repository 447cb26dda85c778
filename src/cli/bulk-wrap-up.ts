import {
  readRun,
  removeRun,
  runFolder,
  type RunHead,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import { markTold } from '../bulk/told.js';
import type { Context } from '../context.js';
import { GuardError } from '../errors.js';
import { type BulkLine, takeLock } from './bulk-line.js';
import type { BulkPart } from './bulk-part.js';

/** What of a run was told. */
interface Told {
  /** The number of the last record of this process. */
  readonly last: number;
  /** What stood in the journal before was told, too. */
  readonly all: boolean;
}

/**
 * What is due once the outcome of rows of a run is told: a run that stands alone goes unless it
 * leaves something, another is marked as told; else the same line is to tell the rest and not to
 * make it once more. Gives whether it leaves something. The run's lock is free by now.
 */
export async function wrapUp(
  context: Context,
  { part }: Pick<BulkLine, 'part'>,
  store: RunStore,
  head: RunHead,
  told: Told,
): Promise<boolean> {
  // A run that stands alone may be gone: the same line, started beside this one, removes it, too.
  const stored = await readRun(store, head.run);
  const leaves = leavesSomething(part, stored);
  const isOver = head.alone && !leaves && !(await part.isEvidence?.(store, head));
  if (isOver) await removeDone(context, part, store, head);
  else if (part.addsEachTime && told.all) await markTold(runFolder(store, head.run), told.last);
  return leaves;
}

/** Whether somebody saw what the rows of a run came to that are done already. */
export function wasTold({ told, state }: Pick<StoredRun, 'told' | 'state'>): boolean {
  return told || state.results.size === 0;
}

function leavesSomething(part: BulkPart, stored: StoredRun | undefined): boolean {
  return stored !== undefined && (part.isLeft?.(stored) ?? false);
}

/** Whoever holds its lock by now goes on with it, and removes it in the end. */
async function removeDone(
  context: Context,
  part: BulkPart,
  store: RunStore,
  head: RunHead,
): Promise<void> {
  const lock = await takeLock(context, {}, store, head).catch((error: unknown) => {
    if (error instanceof GuardError && error.code === 'locked') return undefined;
    throw error;
  });
  if (!lock) return;
  try {
    if (!leavesSomething(part, await readRun(store, head.run))) await removeRun(store, head.run);
  } finally {
    lock.release();
  }
}
