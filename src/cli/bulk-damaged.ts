import { type DamagedRun, setAside } from '../bulk/damaged.js';
import { isSamePlace, type RunHead } from '../bulk/run-plan.js';
import type { SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import { GuardError } from '../errors.js';
import type { BulkPart } from './bulk-part.js';

/** What is about to be done. */
interface Wanted {
  readonly head: Pick<RunHead, 'organization' | 'service' | 'resource'>;
  readonly part: Pick<BulkPart, 'subjectOf'>;
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
  { head, part, rows, restart }: Wanted,
): readonly DamagedRun[] {
  const subjects = new Set(damaged.length === 0 ? [] : rows.map((row) => subject(part, row)));
  const before = damaged.filter((run) => {
    // What another command wrote has rows of another kind.
    if (!run.isOpen || (run.head && !isSameKind(run.head, head))) return false;
    const held = run.rows?.map((row) => subject(part, row)) ?? [...subjects];
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

function subject({ subjectOf = ({ id }) => id }: Wanted['part'], row: SelectedRow) {
  return subjectOf(row);
}

function isSameKind(a: Wanted['head'], b: Wanted['head']): boolean {
  return isSamePlace(a, b) && a.resource === b.resource;
}
