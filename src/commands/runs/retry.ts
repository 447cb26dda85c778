/** `rosterctl runs retry`: starts a new run from the failed rows of another. */

import { runSelected } from '../../bulk/run-operation.js';
import { defineRunCommand } from '../../cli/define.js';
import type { Context } from '../../context.js';
import { digestOf } from '../../data/digest.js';
import type { Operation, Task } from '../../engine/operation.js';
import { GuardError, UsageError } from '../../errors.js';
import { shownRunName } from '../../runs/find-run.js';
import { countsAsError, isFinalRow } from '../../runs/report.js';
import { retriedBy, storeOf } from '../../runs/store.js';
import { readRun, type StoredRun } from '../../runs/stored-run.js';
import { hasLeftovers } from '../../runs/unfinished.js';
import {
  earlierRunCommand,
  findRunHere,
  invocationOf,
  reportResumed,
  requireNotReplaced,
} from './shared.js';

export default defineRunCommand({
  summary: 'Start a new run from the rows that failed or conflicted',
  about:
    'The rows are read and previewed again, so you first see what others have changed. The rows of ' +
    'a run can be retried once; after that, retry the newer run.',
  examples: [
    ['Preview it first', 'last --dry-run'],
    ['From a script', 'last --yes'],
  ],
  ...earlierRunCommand,
  async run(context, values) {
    const stored = await findRunHere(context, values.run, ({ finished }) => finished);
    requireNotReplaced(stored);
    const { head } = stored;
    const store = storeOf(context);
    const name = shownRunName(context, store, head.run);
    if (!stored.finished)
      throw new GuardError(`The run ${name} is unfinished.`, {
        hint: `Resume it first: rosterctl runs resume ${name}`,
      });
    await requireNotRetried(context, head.run);
    const invocation = await invocationOf(context, stored, values);
    // A retry would send and record the stored files twice.
    if (hasLeftovers(stored))
      throw new GuardError(`Files of run ${name} were uploaded, but their documents are missing.`, {
        hint: 'Finish them first: rosterctl uploads finish --all\nOr discard one: rosterctl uploads forget ID',
      });
    const rows = rowsToRetry(stored);
    if (rows.length === 0)
      throw new UsageError(`No row of run ${name} failed or conflicted.`, {
        hint: 'See: rosterctl runs list',
      });
    const again = await rowsForRetry(context, invocation.operation, rows);
    const operation: Operation = {
      ...invocation.operation,
      async resolve() {
        // Another process may have retried them while this one waited for the lock.
        await requireNotRetried(context, head.run);
        return invocation.operation.resolve?.();
      },
    };
    const output = await runSelected(context, {
      ...invocation,
      operation,
      isSingle: false,
      selection: { rows: again, digest: digestOf(['retry', again]) },
      retries: head.run,
    });
    await reportResumed(context, operation, stored, output);
    return output;
  },
});

/** Throws GuardError if the rows of a run were retried. */
async function requireNotRetried(context: Context, run: string): Promise<void> {
  const store = storeOf(context);
  const retryRun = retriedBy(store, run);
  if (retryRun === undefined) return;
  const name = shownRunName(context, store, run);
  const retry = shownRunName(context, store, retryRun);
  throw new GuardError(`The rows of run ${name} were retried by run ${retry}.`, {
    code: 'retried',
    hint: nextStep(await readRun(store, retryRun), retry),
  });
}

function nextStep(retry: StoredRun | undefined, name: string): string {
  if (!retry) return 'That run was deleted. Run the original command again.';
  return retry.finished
    ? `See the result: rosterctl runs show ${name}`
    : `It is unfinished. Resume it: rosterctl runs resume ${name}`;
}

/** The failed rows; one whose first step is done continues after it. */
function rowsToRetry({ plan, state }: StoredRun): readonly Task[] {
  const failed = (plan?.rows ?? []).filter(({ row }) => {
    const result = state.results.get(row);
    return result !== undefined && countsAsError(result.result) && isFinalRow(result);
  });
  return failed.map((row) => ({ ...row, done: state.done.get(row.row) }));
}

/** Rows of an earlier run without what its preview found, with files inspected again. */
async function rowsForRetry(
  context: Context,
  { files }: Operation,
  rows: readonly Task[],
): Promise<readonly Task[]> {
  const bare = rows.map(({ row, id, ref, own, done }) => ({ row, id, ref, own, done }));
  return (await files?.inspectAgain(context, bare)) ?? bare;
}
