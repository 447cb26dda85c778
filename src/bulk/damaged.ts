/** Runs of which a file is damaged: what is left of them, and what takes their place. */
import { rename } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Context } from '../context.js';
import { systemReason } from '../data/system-reason.js';
import { type Failure, GuardError, OutputError } from '../errors.js';
import { readDamaged } from './journal.js';
import type { SelectedRow } from './rows.js';
import {
  hasPlan,
  headOf,
  isSamePlace,
  type PlannedRow,
  readPlan,
  type RunHead,
} from './run-plan.js';

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

/** What is about to be done. */
interface Wanted {
  readonly head: Pick<RunHead, 'organization' | 'service' | 'resource'>;
  /** What a row is about; by default its id. */
  readonly subjectOf: ((row: SelectedRow) => string | undefined) | undefined;
  readonly rows: readonly SelectedRow[];
  readonly restart: boolean;
}

/**
 * The damaged runs in whose place this one begins. Throws GuardError `damaged` where one may have
 * done some of these rows, unless `restart`; a run that has nothing to do with them is told.
 */
export function damagedBefore(
  context: Context,
  damaged: readonly DamagedRun[],
  { head, subjectOf = ({ id }) => id, rows, restart }: Wanted,
): readonly DamagedRun[] {
  const subjects = new Set(damaged.length === 0 ? [] : rows.map((row) => subjectOf(row)));
  const before = damaged.filter((run) => {
    // What another command wrote has rows of another kind.
    if (!run.isOpen || (run.head && !isSameKind(run.head, head))) return false;
    const held = run.rows?.map((row) => subjectOf(row)) ?? [...subjects];
    return held.some((each) => each !== undefined && subjects.has(each));
  });
  for (const run of damaged) if (!before.includes(run)) context.tell(run.message);
  const [first] = before;
  if (first && !restart)
    throw new GuardError(`${first.message} What it did of these rows is not known.`, {
      code: 'damaged',
      hint: 'Look at the records by hand; --restart begins anew and sets this journal aside.',
    });
  return before;
}

/** Once the new run is on disk. Throws OutputError. */
export async function setAsideAll(context: Context, damaged: readonly DamagedRun[]): Promise<void> {
  for (const run of damaged) {
    const path = await setAside(run);
    context.tell(`The damaged run is kept in ${path}.`);
  }
}

function isSameKind(a: Wanted['head'], b: Wanted['head']): boolean {
  return isSamePlace(a, b) && a.resource === b.resource;
}
