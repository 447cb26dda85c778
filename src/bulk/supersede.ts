import { Failure } from '../errors.js';
import type { JournalOptions } from './journal.js';
import { beforeAfter, changedMeanwhile } from './judge.js';
import type { ReportRow } from './report.js';
import { foundRow, verifiedRow } from './rows.js';
import { type Intent, isAsBefore, withoutTexts } from './run-state.js';
import { dropPlan } from './run-plan.js';
import { continueJournal, runFolder, type RunStore, type StoredRun } from './runs.js';
import type { RowWork, SelectedRow } from './work.js';

/**
 * Ends an unfinished run in whose place another one begins: a write that it left open gets the
 * result that reading tells (nothing can arrive any more: the caller waited), then its journal is
 * closed. `keepsPlan`: something is left that only this run knows of. Throws OutputError, GuardError.
 */
export async function supersede<P>(
  store: RunStore,
  { plan, state }: StoredRun,
  work: RowWork<P>,
  keepsPlan: boolean,
  options: JournalOptions,
): Promise<void> {
  if (!plan) return;
  const journal = await continueJournal(store, plan, options);
  try {
    for (const row of plan.rows) {
      const open = state.open.get(row.row);
      const steps = state.steps.get(row.row);
      const result = open && (await settledRow({ ...row, open, steps }, open, work));
      if (result) await journal.append({ kind: 'result', ...withoutTexts(result) });
    }
    await journal.append({ kind: 'end', superseded: true });
  } finally {
    await journal.close();
  }
  if (!keepsPlan) await dropPlan(runFolder(store, plan.head.run));
}

/** What became of a write; undefined where nobody can tell. */
async function settledRow<P>(
  row: SelectedRow & { readonly open: Intent },
  open: Intent,
  work: RowWork<P>,
): Promise<ReportRow | undefined> {
  try {
    const { changes, record } = await work.look(row, { since: open.t });
    if (changes.length === 0) return await foundRow(work, row, record);
    const at = { row: row.row, id: row.id };
    if (isAsBefore(open.before, changes))
      return open.applied ? undefined : { ...at, result: 'not_attempted' };
    const { before } = beforeAfter(changes);
    const error = changedMeanwhile('It was changed by someone else after our write.');
    return { ...at, result: 'conflict', ...(before && { before }), error };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return work.isGone?.(error) ? verifiedRow(row, undefined) : undefined;
  }
}
