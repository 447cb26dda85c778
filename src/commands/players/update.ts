import { manyFlags } from '../../cli/bulk-flags.js';
import { defineWrite } from '../../cli/define.js';
import { fieldFlags, type FieldValues, readFields } from '../../cli/field-flags.js';
import { recordOf } from '../../cli/views.js';
import { anyIdsOf, nameFlag, routeFlag, players } from '../kinds.js';
import { listSelectionFlags, selectionBy, updateMany } from '../records-many.js';
import { sharedSource } from '../read-records.js';
import { applyUpdate, planUpdate, wantedBy } from '../update-records.js';
import { playerFilters, playerTests } from './filters.js';

export default defineWrite({
  summary: 'Change fields of one or several players',
  about:
    'The player is read first and only fields that differ are sent; if nothing differs, nothing is sent. ' +
    'The route is a guess: the contract does not show it.',
  examples: [
    ['Rename a player', "player_0001 --name 'Nadja Beispiel'"],
    ['Set other fields', 'player_0001 -F role=Support'],
    ['Look first', "player_0001 --name 'Nadja Beispiel' --dry-run"],
  ],
  calls: ['getPlayer', 'updatePlayer', 'listPlayers'],
  args: { ids: anyIdsOf(players) },
  flags: {
    name: nameFlag(players),
    ...fieldFlags,
    route: routeFlag(players, 'PUT'),
    ...manyFlags({ ...playerFilters, ...listSelectionFlags }),
  },
  needsOneOf: [['name', 'set', 'setString', 'input', 'csv']],
  view: recordOf('players'),
  ids: ({ ids }) => ids,
  bulk: updateMany(
    players,
    async (context, values: FieldValues & { name?: string; route?: string }) => ({
      typed: await readFields(context, values, { name: values.name }),
      ...(values.route !== undefined && { route: values.route }),
    }),
    undefined,
    selectionBy(playerFilters, playerTests),
  ),
  async check(context, values) {
    await readFields(context, values, { name: values.name });
  },
  async plan(context, values, id) {
    const typed = await readFields(context, values, { name: values.name });
    return planUpdate(context, players, id, wantedBy(typed), {
      route: values.route,
      alone: values.ids.length === 1,
      source: sharedSource(context, players, values),
    });
  },
  apply(context, plan, values, id) {
    return applyUpdate(context, players, plan, id, sharedSource(context, players, values));
  },
});
