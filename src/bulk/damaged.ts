import { rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemReason } from '../data/system-reason.js';
import { type Failure, GuardError, OutputError } from '../errors.js';
import { readDamaged } from './journal.js';
import { headOf, hasPlan, type PlannedRow, readPlan, type RunHead } from './run-plan.js';

/** A run of which a file cannot be read, as far as the others still tell what it is. */
export interface DamagedRun {
  readonly run: string;
  readonly folder: string;
  /** Names the file, and of a journal the line. */
  readonly message: string;
  readonly head: RunHead | undefined;
  /** Undefined where the plan is what cannot be read. */
  readonly rows: readonly PlannedRow[] | undefined;
  /** It did not come to its end: what it sent is not known any more. */
  readonly isOpen: boolean;
}

/** Whether reading a run ended with a file that is damaged or cannot be read. */
export function cannotBeUsed(error: unknown): error is GuardError | OutputError {
  return error instanceof GuardError || error instanceof OutputError;
}

/** What is left of a run whose reading ended so. */
export async function damagedRun(
  folder: string,
  journal: string,
  { message }: Failure,
): Promise<DamagedRun> {
  const plan = await readPlan(folder).catch((error: unknown) => {
    if (cannotBeUsed(error)) return undefined;
    throw error;
  });
  const { first, hasEnded } = await readDamaged(journal);
  return {
    run: basename(folder),
    folder,
    message,
    head: plan?.head ?? headOf(first),
    rows: plan?.rows,
    // Without a plan nothing was left to go on with.
    isOpen: hasPlan(folder) && !hasEnded,
  };
}

/** Takes a damaged run out of the runs and keeps its files. Throws OutputError; gives where they are. */
export async function setAside({ folder }: DamagedRun): Promise<string> {
  const aside = `${folder}.damaged`;
  try {
    await rename(folder, aside);
  } catch (error) {
    throw new OutputError(`${folder} cannot be set aside: ${systemReason(error)}.`, {
      hint: 'Move it away from there yourself, then run the same line again.',
      cause: error,
    });
  }
  return aside;
}
