import { exitOf } from '../../bulk/report.js';
import { dryRun, showRun } from '../../cli/bulk.js';
import { resumeRun, tasksLeft } from '../../cli/bulk-continue.js';
import { limitPace } from '../../cli/bulk-line.js';
import { jobOf } from '../../cli/bulk-run.js';
import { defineWrite, Outcome, Running } from '../../cli/define.js';
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
    return { calls: [], changes: [], onlyReads: context.settings.dryRun, state: stored };
  },
  async apply(context, { state: stored }, values) {
    if (stored.finished || !stored.plan) {
      context.note(`The run ${stored.head.run} is finished; nothing was sent.`);
      const report = storedReport(stored);
      return new Outcome(report, exitOf(report.summary, undefined));
    }
    const line = await lineOf(stored, values);
    limitPace(context, values);
    if (!context.settings.dryRun)
      return new Running(await showRun(context, await resumeRun(context, line, stored)));
    const left = tasksLeft(line.part, stored);
    // What is left was allowed when the run began.
    const maxChanges = values.maxChanges ?? left.length;
    const run = stored.head.run;
    const allowed = { ...line, values: { ...line.values, maxChanges } };
    return new Running(await dryRun(context, allowed, jobOf(stored.plan), left, run));
  },
});
