import { defineWrite } from '../../cli/define.js';
import { fieldFlags, readFields, touchedFields } from '../../cli/field-flags.js';
import { recordOf } from '../../cli/views.js';
import { nameFlag, teams } from '../kinds.js';
import { applyCreate, planCreate } from '../write-records.js';

export default defineWrite({
  summary: 'Create a team',
  about:
    'The contract shows no fields of a team: what is typed is sent, and the service judges it. ' +
    'Prints the record as it reads afterwards.',
  examples: [
    ['A team with a name', "--name 'Foxes Academy'"],
    ['With further fields', "--name 'Night Foxes' -F game=Valorant -F active=true"],
  ],
  calls: ['createTeam', 'getTeam'],
  flags: { name: nameFlag(teams), ...fieldFlags },
  needsOneOf: [['name', 'set', 'setString', 'input']],
  view: recordOf('teams'),
  async plan(context, values) {
    const typed = await readFields(context, values, { name: values.name });
    return planCreate(teams, touchedFields(typed));
  },
  apply(context, plan) {
    return applyCreate(context, teams, plan);
  },
});
