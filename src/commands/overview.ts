/** `rosterctl overview`: what waits, on one screen; it only reads. */

import { ValueWithExit } from '../cli/command-output.js';
import { defineCommand } from '../cli/define.js';
import type { View } from '../cli/views.js';
import { upperFirst } from '../data/text.js';
import type { Overview } from '../resources/overview.js';

const view: View<Overview> = {};

export default defineCommand({
  summary: 'See what is waiting, on one screen',
  about:
    'Shows who is waiting and for how long, what changed in the last seven days, accepted applicants who are not players yet, gaps in the rosters, unfinished runs, uploads and reviews on this machine, the last backup made on it, and the findings of rosterctl check. Each row ends with the command that shows more. ' +
    'If your key cannot read a list, or the service does not have it, its row says so; with --strict, or if no list can be read, the exit code is 7 or 5.',
  examples: [
    ['What is waiting', ''],
    ['For a script', '--json'],
  ],
  calls: ['listTryouts', 'listPlayers', 'listTeams', 'listDocuments'],
  view,
  async run(context) {
    const { api, paths, settings, withConnection } = context;
    const [{ readOverview }, { doubtsOf }, { describeUnsent, unsentDecisions }, { lastBackup }] =
      await Promise.all([
        import('../resources/overview.js'),
        import('../resources/findings/find.js'),
        import('../review/queue.js'),
        import('../backups/last.js'),
      ]);
    const { organizationId: organization, service } = api;
    const profile = { name: settings.profile.name, organization, service };
    const decisions = paths.state
      ? await unsentDecisions(paths.state.path, profile, (reason) => context.message(reason))
      : 0;
    const result = await readOverview(context, { decisions, backup: lastBackup(context) });
    const { overview, failure } = result;
    // A failure names the list itself.
    if (!failure) {
      const { reasons, fixes } = doubtsOf(result);
      for (const reason of reasons) context.message(`${upperFirst(reason)}.`);
      for (const line of fixes) context.note(line);
    }
    const { overviewLines } = await import('../resources/overview-page.js');
    return new ValueWithExit(overview, failure?.exitName ?? 'done', {
      failed: () => failure && { error: failure, isUnreported: true },
      lines: (canvas) => overviewLines(result, describeUnsent(decisions), withConnection, canvas),
    });
  },
});
