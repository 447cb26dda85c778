/** `rosterctl runs resume`: continues an interrupted run. */
import * as z from 'zod/mini';
import { dryRunMany } from '../../bulk/dry-run.js';
import { checkExpected, limitRate } from '../../bulk/invocation.js';
import { nextCommand } from '../../bulk/next-command.js';
import { printUnsent, printWrongRows, reportViewFor } from '../../bulk/report-view.js';
import { previewResume, resumeRun } from '../../bulk/resume.js';
import { showRun } from '../../bulk/show-run.js';
import { defineRunCommand } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { Context } from '../../context.js';
import { shellQuote } from '../../data/text.js';
import { shownRunName } from '../../runs/find-run.js';
import { isRunning } from '../../runs/lock.js';
import { isHere, isOfProfile, otherFormat } from '../../runs/plan.js';
import { exitOf, failedRun } from '../../runs/report.js';
import { retriedBy, storeOf } from '../../runs/store.js';
import { listOpenRuns, type StoredRun } from '../../runs/stored-run.js';
import {
  earlierRunCommand,
  findRunHere,
  invocationOf,
  reportResumed,
  requireNotReplaced,
} from './shared.js';
import { runArg, storedReport, wordsOfRun } from './show.js';

const { flags } = earlierRunCommand;

export default defineRunCommand({
  summary: 'Resume a run that was interrupted',
  about:
    'Continues with the rows that were not attempted or whose outcome is unknown. A record that may ' +
    'have changed is read before anything is sent. Running the original command again does the same if it names the records by ids or a file. ' +
    'If no run is unfinished, nothing is sent: the report of the last run is printed again, with its exit code.',
  examples: [
    ['The newest unfinished run', 'last --dry-run'],
    ['From a script', 'last --yes'],
  ],
  ...earlierRunCommand,
  // Alone among these commands: the newest unfinished run, if none is named.
  args: { run: { ...runArg, schema: z._default(nonEmptyText, 'last') } },
  // Without a default: its rows were confirmed when it started.
  flags: {
    ...flags,
    maxChanges: { ...flags.maxChanges, text: 'stop if more than N would change' },
  },
  async run(context, values) {
    const stored = await findRunHere(context, values.run, ({ finished }) => !finished, [
      'open',
      'legacy',
    ]);
    requireNotReplaced(stored);
    if (stored.finished || !stored.plan) {
      await noteFinished(context, values.run, stored);
      const report = storedReport(stored);
      printWrongRows(context, report);
      if (context.settings.output === 'ids') printUnsent(context, report);
      const words = await wordsOfRun(context, stored, report);
      const exitName = exitOf(report, undefined);
      const { run } = stored.head;
      const canRetry = exitName === 'rowsFailed' && retriedBy(storeOf(context), run) === undefined;
      const invocation = canRetry ? await invocationOf(context, stored, values) : undefined;
      return {
        value: report,
        view: reportViewFor(context, words),
        exitName,
        failed: failedRun(
          report,
          exitName,
          undefined,
          invocation && ((how, count) => nextCommand(context, invocation, run, how, count)),
        ),
      };
    }
    const invocation = await invocationOf(context, stored, values);
    limitRate(context, values);
    if (!context.settings.dryRun) {
      const output = await showRun(context, await resumeRun(context, invocation, stored));
      await reportResumed(context, invocation.operation, stored, output);
      return output;
    }
    const left = previewResume(context, invocation, stored);
    checkExpected(left.rows.length, values);
    return dryRunMany(context, left.invocation, left);
  },
});

/** Says that nothing is left to resume; for `last` also which run of another profile is unfinished. */
async function noteFinished(context: Context, run: string, { head }: StoredRun): Promise<void> {
  const store = storeOf(context);
  const name = shownRunName(context, store, head.run);
  if (run !== 'last') return context.note(`The run ${name} is finished, so nothing was sent.`);
  const ownProfile = context.settings.profile.name;
  const { profiles } = context.config.config();
  const other = (await listOpenRuns(store)).findLast(
    (each) =>
      !each.finished &&
      isHere(context, each) &&
      !isOfProfile(each.head, ownProfile, profiles) &&
      otherFormat(each) === undefined &&
      !isRunning(each, context.self),
  );
  if (!other)
    return context.note(`No run is unfinished, so nothing was sent. The last run is ${name}:`);
  const { profile } = other.head;
  const otherName = shownRunName(context, store, other.head.run);
  context.note(
    `Run ${otherName} of profile ${profile} is unfinished. To resume it: rosterctl -p ${shellQuote(profile)} runs resume ${otherName}`,
  );
  context.note(
    `No run of profile ${ownProfile} is unfinished, so nothing was sent. The last run is ${name}:`,
  );
}
