/** `rosterctl teams create`: creates a team. */

import { restartCreateFlag } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { fieldFlags } from '../../cli/field-flags.js';
import { recordView } from '../../cli/views.js';
import { createOperation } from '../../resources/create.js';
import { nameFlag } from '../../resources/params.js';

export default defineOperation({
  summary: 'Create a team',
  about:
    'The service does not document the fields of a team: rosterctl sends what you type, and the service checks it. ' +
    'Prints the record as the service shows it afterwards.',
  examples: [
    ['A team with a name', "--name 'Foxes Academy'"],
    ['With other fields', "--name 'Night Foxes' -F game=Valorant -F active=true"],
  ],
  calls: ['createTeam', 'getTeam'],
  flags: { name: nameFlag('teams'), ...fieldFlags, restart: restartCreateFlag },
  needsOneOf: [['name', 'set', 'setString', 'input']],
  view: recordView('teams'),
  operation: createOperation('teams'),
});
