import { countsAsError } from '../../bulk/report.js';
import type { PlannedRow, StoredRun } from '../../bulk/runs.js';
import { dryRun, showRun } from '../../cli/bulk.js';
import { retryRows, rowsAgain } from '../../cli/bulk-begin.js';
import { limitPace } from '../../cli/bulk-line.js';
import { jobOf } from '../../cli/bulk-run.js';
import { defineWrite, Running } from '../../cli/define.js';
import { GuardError, UsageError } from '../../errors.js';
import { ofEarlierRun, runHere } from './earlier-run.js';
import { lineOf, partOf } from './jobs.js';

export default defineWrite({
  summary: 'Begin a new run from the rows that failed or conflicted',
  about: 'The rows are read and previewed anew, so what others changed meanwhile is seen first.',
  examples: [
    ['Look first', 'last --dry-run'],
    ['From a script', 'last --yes'],
  ],
  ...ofEarlierRun,
  async plan(context, { run }) {
    const stored = await runHere(context, run, ({ finished }) => finished);
    if (!stored.finished)
      throw new GuardError(`The run ${stored.head.run} is unfinished.`, {
        hint: `Go on with it first: rosterctl runs resume ${stored.head.run}`,
      });
    const part = await partOf(stored.head.action);
    // Begun anew, what is stored would be sent and recorded twice.
    if (part.isLeft?.(stored))
      throw new GuardError(
        `Files of the run ${stored.head.run} have arrived and only lack their documents.`,
        { hint: 'Finish these first: rosterctl uploads finish --all (or: uploads forget ID)' },
      );
    return { calls: [], changes: [], onlyReads: context.settings.dryRun, state: stored };
  },
  async apply(context, { state: stored }, values) {
    const { plan } = stored;
    const rows = rowsToRetry(stored);
    if (!plan || rows.length === 0)
      throw new UsageError(`No row of the run ${stored.head.run} failed or conflicted.`, {
        hint: 'See: rosterctl runs list',
      });
    const line = await lineOf(stored, values);
    limitPace(context, values);
    const again = { ...plan, rows };
    if (!context.settings.dryRun)
      return new Running(await showRun(context, await retryRows(context, line, again)));
    const selected = await rowsAgain(context, line.part, again);
    return new Running(await dryRun(context, line, jobOf(plan), selected));
  },
});

function rowsToRetry({ plan, state }: StoredRun): readonly PlannedRow[] {
  return (plan?.rows ?? []).filter(({ row }) => {
    const ended = state.results.get(row);
    return ended !== undefined && countsAsError(ended.result);
  });
}
