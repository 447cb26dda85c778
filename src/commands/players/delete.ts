/** `rosterctl players delete`: deletes players. */
import { deletionFlags, manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { listSelectionFlags } from '../../cli/filters.js';
import { deleteOperation } from '../../resources/delete.js';
import { anyIdsArg, deletedView, routeFlag } from '../../resources/params.js';
import { playerFilters, playerSelection } from '../../resources/player-filters.js';

export default defineOperation({
  summary: 'Delete one or several players',
  about: 'Asks first and names the player. In a script, add --yes.',
  examples: [
    ['See what would be sent', 'player_0001 --dry-run'],
    ['From a script', 'player_0001 --yes'],
  ],
  calls: ['getPlayer', 'deletePlayer', 'listPlayers', 'getTeam', 'listTeams'],
  args: { ids: anyIdsArg('players') },
  flags: {
    route: routeFlag('players', 'DELETE'),
    ...manyFlags({ ...playerFilters, ...listSelectionFlags }),
    ...deletionFlags,
  },
  view: deletedView,
  operation: deleteOperation('players', playerSelection),
});
