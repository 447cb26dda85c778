import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../files/atomic-write.js';

/**
 * Writes down, beside a run's journal, that a report of its records up to `last` was written out: once
 * that is all of them, the same line begins anew. Whoever tells a report holds no lock any more and
 * another process may be going on with the run, so the journal itself is left alone. Throws
 * OutputError.
 */
export async function markTold(folder: string, last: number): Promise<void> {
  // A run that was pruned meanwhile has nothing to tell.
  if (existsSync(folder) && !isTold(folder, last))
    await writeAtomically(fileIn(folder), `${last}\n`);
}

/** Whether a report was written out of a run's records up to `last`. */
export function isTold(folder: string, last: number): boolean {
  try {
    return Number(readFileSync(fileIn(folder), 'utf8')) >= last;
  } catch {
    // What cannot be read is told once more, which does no harm.
    return false;
  }
}

function fileIn(folder: string): string {
  return join(folder, 'told');
}
