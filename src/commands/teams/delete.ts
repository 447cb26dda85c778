/** `rosterctl teams delete`: deletes a team. */

import * as z from 'zod/mini';
import { defineOperation } from '../../bulk/run-operation.js';
import { selectIds } from '../../bulk/select-rows.js';
import { param } from '../../cli/define.js';
import { deleteOperation } from '../../resources/delete.js';
import { deletedView, idArg, routeFlag } from '../../resources/params.js';

export default defineOperation({
  summary: 'Delete a team',
  about:
    'Asks you to type the name of the team in full. In a script, give it with --confirm; --yes alone is not enough.',
  examples: [
    ['See what would be sent', 'team_0001 --dry-run'],
    ['From a script', "team_0001 --confirm 'Falkenmoor Vanguard'"],
  ],
  calls: ['getTeam', 'deleteTeam', 'listTeams'],
  args: { id: idArg('teams') },
  flags: {
    confirm: param(z.optional(z.string()), 'the name of the team, to confirm', {
      placeholder: 'NAME',
      group: 'safety',
    }),
    route: routeFlag('teams', 'DELETE'),
  },
  view: deletedView,
  operation: {
    ...deleteOperation('teams', undefined, 'name'),
    rows: async (_, { id }: { readonly id: string }) => selectIds([id]),
  },
});
