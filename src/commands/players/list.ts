/** `rosterctl players list`: lists the players. */
import { defineCommand } from '../../cli/define.js';
import { filterList, listAndCacheIds, listFlags } from '../../cli/filters.js';
import { listOf } from '../../cli/views.js';
import { playerFilters, playerTests } from '../../resources/player-filters.js';

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
  run(context, values) {
    const { isInteractive: usualOrder } = context;
    const tests = playerTests(values, context);
    return filterList(listAndCacheIds(context, 'players'), values, {
      resource: 'players',
      tests,
      usualOrder,
      notes: context,
    });
  },
});
