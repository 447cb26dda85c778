/** `rosterctl players list`: lists the players. */
import { defineCommand } from '../../cli/define.js';
import { listAndCacheIds, listFlags } from '../../cli/filters.js';
import { filterList } from '../../cli/lists/filter-list.js';
import { listOf } from '../../cli/views.js';
import { playerFilters, playerTests, resolveTeam } from '../../resources/player-filters.js';

export default defineCommand({
  summary: 'List the players',
  examples: [
    ['All players', ''],
    ['Those of one team', '--team team_0001'],
    ['Ids, for another command', '--search captain -o ids'],
  ],
  calls: ['listPlayers', 'getTeam'],
  flags: { ...playerFilters, ...listFlags },
  view: listOf('players'),
  async run(context, typed) {
    const values = { ...typed, ...(await resolveTeam(context, typed)) };
    const tests = playerTests(values, context);
    const isSummarized = context.isAligned;
    const summary = isSummarized
      ? (await import('../../resources/list-summary.js')).playerSummary()
      : undefined;
    return filterList(listAndCacheIds(context, 'players'), values, {
      resource: 'players',
      tests,
      inOrder: context.isAligned,
      notes: context,
      summary,
    });
  },
});
