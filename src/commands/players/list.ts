/** `rosterctl players list`: lists the players. */
import { defineCommand } from '../../cli/define.js';
import { listFlags, sinceLastExcludes, sinceLastFlags } from '../../cli/filters.js';
import { listOf } from '../../cli/views.js';
import { listCommand } from '../../resources/list-command.js';
import { playerFilters, playerTests } from '../../resources/player-filters.js';

export default defineCommand({
  summary: 'List the players',
  examples: [
    ['All players', ''],
    ['Those of one team', '--team team_0001'],
    ['Ids, for another command', '--search captain -o ids'],
  ],
  calls: ['listPlayers', 'getTeam'],
  flags: { ...playerFilters, ...listFlags, ...sinceLastFlags },
  excludes: sinceLastExcludes,
  view: listOf('players'),
  async run(context, values, line) {
    const tests = playerTests(values, context);
    const isSummarized = context.isAligned;
    const summary = isSummarized
      ? (await import('../../resources/list-summary.js')).playerSummary()
      : undefined;
    return listCommand(context, values, line, { resource: 'players', tests, summary });
  },
});
