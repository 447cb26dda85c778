/** `rosterctl teams update`: changes fields of teams. */
import { manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { fieldFlags } from '../../cli/field-flags.js';
import { listSelectionFlags, selectionBy } from '../../cli/filters.js';
import { recordView } from '../../cli/views.js';
import { anyIdsArg, nameFlag, routeFlag } from '../../resources/params.js';
import { updateOperation } from '../../resources/update.js';

export default defineOperation({
  summary: 'Change fields of one or several teams',
  about: 'rosterctl reads the team first and sends only the fields that change.',
  examples: [
    ['Rename a team', "team_0001 --name 'Foxes Prime'"],
    ['Set other fields', 'team_0001 -F region=EU -F active=false'],
    ['Preview it first', "team_0001 --name 'Foxes Prime' --dry-run"],
  ],
  calls: ['getTeam', 'updateTeam', 'listTeams'],
  args: { ids: anyIdsArg('teams') },
  flags: {
    name: nameFlag('teams'),
    ...fieldFlags,
    route: routeFlag('teams', 'PUT'),
    ...manyFlags(listSelectionFlags),
  },
  needsOneOf: [['name', 'set', 'setString', 'input', 'csv']],
  view: recordView('teams'),
  operation: updateOperation('teams', { filters: selectionBy() }),
});
