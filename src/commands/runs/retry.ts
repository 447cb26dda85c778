/** `rosterctl runs retry`: starts a new run from the failed rows of another. */

import { retryRows } from '../../bulk/run-operation.js';
import { defineWrite, RunOutput } from '../../cli/define.js';
import { GuardError, UsageError } from '../../errors.js';
import type { PlannedRow } from '../../runs/plan.js';
import { countsAsError, isFinalRow } from '../../runs/report.js';
import { markRetried, retriedBy, storeOf } from '../../runs/store.js';
import type { StoredRun } from '../../runs/stored-run.js';
import { earlierRunCommand, findRunHere, invocationOf } from './shared.js';

export default defineWrite({
  summary: 'Start a new run from the rows that failed or conflicted',
  about:
    'The rows are read and previewed again, so you see first what others have changed. The rows of ' +
    'a run can be retried once; then retry the newer run.',
  examples: [
    ['Preview it first', 'last --dry-run'],
    ['From a script', 'last --yes'],
  ],
  ...earlierRunCommand,
  async plan(context, { run }) {
    const stored = await findRunHere(context, run, ({ finished }) => finished);
    const { head } = stored;
    if (!stored.finished)
      throw new GuardError(`The run ${head.run} is unfinished.`, {
        hint: `Resume it first: rosterctl runs resume ${head.run}`,
      });
    const retryRun = retriedBy(storeOf(context), head.run);
    if (retryRun !== undefined)
      throw new GuardError(`The rows of run ${head.run} were retried by run ${retryRun}.`, {
        code: 'retried',
        hint: `See what became of them: rosterctl runs show ${retryRun}`,
      });
    const { operation } = await invocationOf(stored, {});
    // A retry would send and record the stored files twice.
    if (operation.recovery?.hasLeftovers(stored))
      throw new GuardError(
        `Files of the run ${head.run} have arrived and only lack their documents.`,
        {
          hint: 'Finish them first: rosterctl uploads finish --all\nOr give one up: rosterctl uploads forget ID',
        },
      );
    return { calls: [], changes: [], onlyReads: context.settings.dryRun, state: stored };
  },
  async apply(context, { state: stored }, values) {
    const { plan, head } = stored;
    const rows = rowsToRetry(stored);
    if (!plan || rows.length === 0)
      throw new UsageError(`No row of the run ${head.run} failed or conflicted.`, {
        hint: 'See: rosterctl runs list',
      });
    const store = storeOf(context);
    return new RunOutput(
      await retryRows(context, await invocationOf(stored, values), { ...plan, rows }, (byRun) =>
        markRetried(store, head.run, byRun),
      ),
    );
  },
});

function rowsToRetry({ plan, state }: StoredRun): readonly PlannedRow[] {
  return (plan?.rows ?? []).filter(({ row }) => {
    const result = state.results.get(row);
    return result !== undefined && countsAsError(result.result) && isFinalRow(result);
  });
}
