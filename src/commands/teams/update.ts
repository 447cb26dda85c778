import { manyFlags } from '../../cli/bulk-flags.js';
import { defineWrite } from '../../cli/define.js';
import { fieldFlags, type FieldValues, readFields } from '../../cli/field-flags.js';
import { recordOf } from '../../cli/views.js';
import { anyIdsOf, nameFlag, routeFlag, teams } from '../kinds.js';
import { listSelectionFlags, updateMany } from '../records-many.js';
import { sharedSource } from '../read-records.js';
import { applyUpdate, planUpdate, wantedBy } from '../update-records.js';

export default defineWrite({
  summary: 'Change fields of one or several teams',
  about:
    'The team is read first and only fields that differ are sent; if nothing differs, nothing is sent. ' +
    'The route is a guess: the contract does not show it.',
  examples: [
    ['Rename a team', "team_0001 --name 'Foxes Prime'"],
    ['Set other fields', 'team_0001 -F region=EU -F active=false'],
    ['Look first', "team_0001 --name 'Foxes Prime' --dry-run"],
  ],
  calls: ['getTeam', 'updateTeam', 'listTeams'],
  args: { ids: anyIdsOf(teams) },
  flags: {
    name: nameFlag(teams),
    ...fieldFlags,
    route: routeFlag(teams, 'PUT'),
    ...manyFlags(listSelectionFlags),
  },
  needsOneOf: [['name', 'set', 'setString', 'input', 'csv']],
  view: recordOf('teams'),
  ids: ({ ids }) => ids,
  bulk: updateMany(
    teams,
    async (context, values: FieldValues & { name?: string; route?: string }) => ({
      typed: await readFields(context, values, { name: values.name }),
      ...(values.route !== undefined && { route: values.route }),
    }),
  ),
  async check(context, values) {
    await readFields(context, values, { name: values.name });
  },
  async plan(context, values, id) {
    const typed = await readFields(context, values, { name: values.name });
    return planUpdate(context, teams, id, wantedBy(typed), {
      route: values.route,
      alone: values.ids.length === 1,
      source: sharedSource(context, teams, values),
    });
  },
  apply(context, plan, values, id) {
    return applyUpdate(context, teams, plan, id, sharedSource(context, teams, values));
  },
});
