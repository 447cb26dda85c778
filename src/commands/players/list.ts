/** `rosterctl players list`: lists the players. */
import { defineCommand } from '../../cli/define.js';
import { listFlags, sinceLastExcludes, sinceLastFlags } from '../../cli/filters.js';
import { listView } from '../../cli/views.js';
import { listCommand } from '../../resources/list-command.js';
import { playerFilters, playerSelection } from '../../resources/player-filters.js';

export default defineCommand({
  summary: 'List the players',
  examples: [
    ['All players', ''],
    ['Players of one team', '--team name:Lanternfish'],
    ['Ids, for another command', '--search captain -o ids'],
  ],
  calls: ['listPlayers', 'getTeam', 'listTeams'],
  flags: { ...playerFilters, ...listFlags, ...sinceLastFlags },
  excludes: sinceLastExcludes,
  view: listView('players'),
  run: (context, values, line) => listCommand(context, values, line, 'players', playerSelection),
});
