import { exitOf } from '../../bulk/report.js';
import { isFinal } from '../../bulk/run-state.js';
import { findRun, type StoredRun } from '../../bulk/runs.js';
import { showRun } from '../../cli/bulk.js';
import { resumeRun } from '../../cli/bulk-continue.js';
import { bulkFlags } from '../../cli/bulk-flags.js';
import { type Change, defineWrite, Outcome, Running } from '../../cli/define.js';
import { reportView } from '../../cli/report-view.js';
import { UsageError } from '../../errors.js';
import { checkPlace, lineOf, storeOf } from './jobs.js';
import { runArg, storedReport } from './show.js';

const { failFast, maxErrors, maxChanges, expect, concurrency, rate, waitLock } = bulkFlags;

/** The flags of a run that was selected before. */
export const resumeFlags = { maxChanges, expect, failFast, maxErrors, concurrency, rate, waitLock };

export default defineWrite({
  summary: 'Go on with a run that is unfinished',
  about:
    'Rows that were not attempted or whose outcome is unknown; a write that may have taken effect is ' +
    'read before anything is sent. The line that began the run, typed again, does the same.',
  examples: [
    ['The newest run', 'last --dry-run'],
    ['From a script', 'last --yes'],
  ],
  calls: ['getTryout', 'updateTryout', 'convertTryout'],
  args: { run: runArg },
  flags: resumeFlags,
  view: reportView,
  async plan(context, { run }) {
    const stored = await findRun(storeOf(context), run);
    checkPlace(context, stored);
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
