import { manyFlags } from '../../cli/bulk-flags.js';
import { defineWrite } from '../../cli/define.js';
import { deletedView } from '../deleted.js';
import { anyIdsOf, players, routeFlag } from '../kinds.js';
import { deleteMany, listSelectionFlags, selectionBy } from '../records-many.js';
import { sharedSource } from '../read-records.js';
import { applyDelete, deleteQuestion, planDelete } from '../write-records.js';
import { playerFilters, playerTests } from './filters.js';

export default defineWrite({
  summary: 'Delete one or several players',
  about:
    'Asks first and names the player; a script adds --yes. The route is a guess: the contract does not show it.',
  examples: [
    ['See what would be sent', 'player_0001 --dry-run'],
    ['From a script', 'player_0001 --yes'],
  ],
  calls: ['getPlayer', 'deletePlayer', 'listPlayers'],
  args: { ids: anyIdsOf(players) },
  flags: {
    route: routeFlag(players, 'DELETE'),
    ...manyFlags({ ...playerFilters, ...listSelectionFlags }),
  },
  view: deletedView,
  ids: ({ ids }) => ids,
  bulk: deleteMany(players, selectionBy(playerFilters, playerTests)),
  plan(context, values, id) {
    const source = sharedSource(context, players, values);
    return planDelete(context, players, id, { route: values.route, source });
  },
  confirm(plan, _, id) {
    return deleteQuestion(players, plan, id);
  },
  apply(context, plan, values, id) {
    return applyDelete(context, players, plan, id, sharedSource(context, players, values));
  },
});
