/** The operation of a plan file: a record whose changes are no longer those of the plan is a conflict. */

import { fieldLabel } from '../cli/lists/labels.js';
import { ConflictError, isNotFound } from '../data/outcome-errors.js';
import { plainText } from '../data/path.js';
import { isSameValue } from '../data/sorting.js';
import { plural } from '../data/text.js';
import { changesOf, standsFor } from '../engine/decide.js';
import type { Operation, RowPlan, Session, Task } from '../engine/operation.js';
import { sessionByRow, sessionFor } from '../engine/run.js';
import { ApiError, Failure, GuardError, InputError } from '../errors.js';
import type { PlanFile, PlanFileRow } from '../runs/plan-file.js';
import type { RowChange, SelectedRow } from '../runs/report.js';

type PlannedChange = PlanFileRow['changes'][number];

interface ApplyOptions {
  /** Rows that drifted end as conflicts, and the others are sent. */
  readonly allowDrift: boolean;
  /** Returns the rows to apply, once no earlier write can take effect any more. Throws Failure. */
  readonly resolve: () => Promise<readonly SelectedRow[]>;
}

/** Returns the operation of a plan, which changes nothing but what the plan says. */
export function exactOperation(
  operation: Operation,
  file: PlanFile,
  { allowDrift, resolve }: ApplyOptions,
): Operation {
  const changes = new Map(file.rows.map(({ row, changes: planned }) => [row, planned]));
  return {
    ...operation,
    reports: true,
    plan: file.hash,
    // A second apply is refused, so a run whose report nobody saw is reported by the same line.
    addsEachTime: true,
    open(opened, job) {
      const session = opening(operation, opened, job);
      if (!session.forRow) return exactSession(session, changes, allowDrift);
      return sessionByRow((row) => exactSession(sessionFor(session, row), changes, allowDrift));
    },
    resolve,
    refuses({ decided }) {
      if (allowDrift || decided.length === 0) return undefined;
      const drifted = decided.filter(({ result }) =>
        ['conflict', 'skipped'].includes(result),
      ).length;
      const unread = decided.length - drifted;
      const of = `of ${plural(file.rows.length, 'record')}`;
      const sentences = [
        ...(drifted > 0
          ? [`${drifted} ${of} no longer ${drifted === 1 ? 'matches' : 'match'} the plan.`]
          : []),
        ...(unread > 0 ? [`${unread} ${of} could not be read.`] : []),
      ];
      return new GuardError(`${sentences.join(' ')} Nothing was sent.`, {
        code: 'drift',
        hint: 'Make a new plan. To apply the rest of this one: --allow-drift',
      });
    },
  };
}

/** A session in which a record whose changes are not those of the plan is a conflict. */
function exactSession(
  session: Session,
  changes: ReadonlyMap<number, readonly PlannedChange[]>,
  allowDrift: boolean,
): Session {
  return {
    ...session,
    async read(row, purpose) {
      try {
        return await session.read(row, purpose);
      } catch (error) {
        if (purpose !== 'preview' || !isNotFound(error)) throw error;
        throw new ConflictError(error instanceof ApiError ? 'It was not found.' : error.message);
      }
    },
    async plan(row, state) {
      const isPreview = row.previewed === undefined;
      const planned = changes.get(row.row) ?? [];
      const plan = await planOrConflict(session, row, state, isPreview);
      const now = changesOf(plan);
      if (plan.skipped && isPreview) throw new ConflictError(plan.skipped.message);
      if (plan.skipped || plan.conflict) return plan;
      if (now.length === 0) {
        if (isPreview && !allowDrift) throw new ConflictError('It has the planned values already.');
        return plan;
      }
      const other = now.find((change) => !planned.some((each) => isSameChange(each, change)));
      if (other) return { ...plan, conflict: drift(other, planned) };
      // At its turn, a row that was interrupted may have its first step done already.
      const done =
        isPreview && planned.find(({ field }) => !now.some((each) => each.field === field));
      return done ? { ...plan, conflict: drift({ ...done, from: done.to }, planned) } : plan;
    },
  };
}

/** Opens the session of a job that somebody may have forged. Throws InputError. */
function opening(operation: Operation, ...given: Parameters<Operation['open']>): Session {
  try {
    return operation.open(...given);
  } catch (error) {
    throw planFailure(error);
  }
}

function planFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new InputError('The plan does not hold what its command needs. Nothing was sent.', {
    cause: error,
  });
}

async function planOrConflict(
  session: Session,
  row: Task,
  state: Parameters<Session['plan']>[1],
  isPreview: boolean,
): Promise<RowPlan> {
  try {
    return await session.plan(row, state);
  } catch (error) {
    // The file is missing, or is not the one of the plan.
    if (isPreview && error instanceof InputError) throw new ConflictError(error.message);
    throw isPreview ? planFailure(error) : error;
  }
}

function isSameChange(planned: PlannedChange, now: RowChange): boolean {
  const isSameTarget = planned.field === now.field && isSameValue(planned.to, now.to);
  return isSameTarget && standsFor(planned.from, now.from);
}

function drift({ field, from }: PlannedChange, planned: readonly PlannedChange[]) {
  const expected = planned.find((each) => each.field === field)?.from;
  const message =
    field === 'status'
      ? `The status is now ${plainText(from) || 'empty'}; the plan says ${plainText(expected) || 'empty'}.`
      : `The field ${fieldLabel(field)} no longer matches the plan.`;
  return { field, from, message };
}
