import { exitOf } from '../../bulk/report.js';
import { isFinal } from '../../bulk/run-state.js';
import type { StoredRun } from '../../bulk/runs.js';
import { showRun } from '../../cli/bulk.js';
import { resumeRun } from '../../cli/bulk-continue.js';
import { type Change, defineWrite, Outcome, Running } from '../../cli/define.js';
import { UsageError } from '../../errors.js';
import { ofEarlierRun, runHere } from './earlier-run.js';
import { lineOf } from './jobs.js';
import { storedReport } from './show.js';

export default defineWrite({
  summary: 'Go on with a run that is unfinished',
  about:
    'Rows that were not attempted or whose outcome is unknown; a write that may have taken effect is ' +
    'read before anything is sent. The line that began the run, typed again, does the same.',
  examples: [
    ['The newest that is unfinished', 'last --dry-run'],
    ['From a script', 'last --yes'],
  ],
  ...ofEarlierRun,
  async plan(context, { run }) {
    const stored = await runHere(context, run, ({ finished }) => !finished);
    if (stored.state.superseded)
      throw new UsageError(`The run ${stored.head.run} was begun anew with --restart.`, {
        hint: 'See: rosterctl runs list',
      });
    return { calls: [], changes: changesLeft(stored), state: stored };
  },
  async apply(context, { state: stored }, values) {
    if (stored.finished || !stored.plan) {
      context.note(`The run ${stored.head.run} is finished; nothing was sent.`);
      const report = storedReport(stored);
      return new Outcome(report, exitOf(report.summary, undefined));
    }
    context.api.pace.limit({
      concurrency: values.concurrency ?? context.settings.concurrency,
      rate: values.rate ?? context.settings.rate,
    });
    const found = await resumeRun(context, await lineOf(stored, values), stored);
    return new Running(await showRun(context, found));
  },
});

function changesLeft({ plan, state }: StoredRun): readonly Change[] {
  return (plan?.rows ?? []).flatMap(({ row, id, previewed = [] }) => {
    const result = state.results.get(row);
    if (result && isFinal(result.result) && !state.open.has(row)) return [];
    return previewed.map(({ field, from, to }) => ({ id, field, from, to }));
  });
}
