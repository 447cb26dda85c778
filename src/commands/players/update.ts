/** `rosterctl players update`: changes fields of players. */
import { manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { fieldFlags } from '../../cli/field-flags.js';
import { listSelectionFlags } from '../../cli/filters.js';
import { recordView } from '../../cli/views.js';
import { anyIdsArg, nameFlag, routeFlag } from '../../resources/params.js';
import { playerFilters, playerSelection } from '../../resources/player-filters.js';
import { updateOperation } from '../../resources/update.js';

export default defineOperation({
  summary: 'Change fields of one or several players',
  about: 'rosterctl reads the player first and sends only the fields that change.',
  examples: [
    ['Rename a player', "player_0001 --name 'Nadja Beispiel'"],
    ['By name', "'name:Nimbus Kite' -F role=IGL"],
    ['Move a player to another team', "player_0001 -F 'teamIds[]=team_0002'"],
    ['Preview it first', "player_0001 --name 'Nadja Beispiel' --dry-run"],
  ],
  calls: ['getPlayer', 'updatePlayer', 'listPlayers', 'getTeam', 'listTeams'],
  args: { ids: anyIdsArg('players') },
  flags: {
    name: nameFlag('players'),
    ...fieldFlags,
    route: routeFlag('players', 'PUT'),
    ...manyFlags({ ...playerFilters, ...listSelectionFlags }),
  },
  needsOneOf: [['name', 'set', 'setString', 'input', 'csv']],
  view: recordView('players'),
  operation: updateOperation('players', { filters: playerSelection }),
});
