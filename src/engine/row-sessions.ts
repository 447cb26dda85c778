/** Sessions of runs whose rows are written in different ways: an import creates and updates. */
import type { SelectedRow } from '../runs/report.js';
import type { Session } from './operation.js';

/** The session that writes a row. */
export function sessionFor(session: Session, row: SelectedRow): Session {
  return session.forRow?.(row) ?? session;
}

/** Combines sessions into one that uses, for each row, the session that `pick` returns. */
export function sessionByRow(pick: (row: SelectedRow) => Session): Session {
  return {
    resends: 0,
    forRow: pick,
    read: (row, purpose) => pick(row).read(row, purpose),
    plan: (row, state) => pick(row).plan(row, state),
    send: (step, row, isFresh) => pick(row).send(step, row, isFresh),
  };
}
