import * as z from 'zod/mini';
import { defineWrite, param } from '../../cli/define.js';
import { deletedView } from '../deleted.js';
import { idOf, routeFlag, teams } from '../kinds.js';
import { labelOf, sharedSource } from '../read-records.js';
import { applyDelete, deleteQuestion, planDelete } from '../write-records.js';

export default defineWrite({
  summary: 'Delete a team',
  about:
    'Asks for the name of the team, typed in full; a script gives it with --confirm, and --yes alone is not enough. ' +
    'The route is a guess: the contract does not show it.',
  examples: [
    ['See what would be sent', 'team_0001 --dry-run'],
    ['From a script', "team_0001 --confirm 'Falkenmoor Vanguard'"],
  ],
  calls: ['getTeam', 'deleteTeam'],
  args: { id: idOf(teams) },
  flags: {
    confirm: param(z.optional(z.string()), 'the name of the team, to confirm', {
      placeholder: 'NAME',
      group: 'safety',
    }),
    route: routeFlag(teams, 'DELETE'),
  },
  view: deletedView,
  ids: ({ id }) => [id],
  plan(context, values, id) {
    const source = sharedSource(context, teams, values);
    return planDelete(context, teams, id, { route: values.route, source });
  },
  confirm(plan, values, id) {
    const name = labelOf(plan.state.record, id);
    const typed = { name, flag: '--confirm', given: values.confirm };
    return { ...deleteQuestion(teams, plan, id), typed };
  },
  apply(context, plan, values, id) {
    return applyDelete(context, teams, plan, id, sharedSource(context, teams, values));
  },
});
