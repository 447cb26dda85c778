/** `rosterctl players create`: creates a player. */

import { restartCreateFlag } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { fieldFlags } from '../../cli/field-flags.js';
import { recordView } from '../../cli/views.js';
import { createOperation } from '../../resources/create.js';
import { nameFlag } from '../../resources/params.js';

export default defineOperation({
  summary: 'Create a player',
  about:
    'The service does not document the fields of a player: rosterctl sends what you type, and the service checks it. ' +
    'Prints the record as the service shows it afterwards.',
  examples: [
    ['A player with a name', "--name 'Nadja Beispiel'"],
    [
      'With other fields',
      "--name 'Nadja Beispiel' -F role=Support -F discordUserId=9000000000000000042",
    ],
  ],
  calls: ['createPlayer', 'getPlayer'],
  flags: { name: nameFlag('players'), ...fieldFlags, restart: restartCreateFlag },
  needsOneOf: [['name', 'set', 'setString', 'input']],
  view: recordView('players'),
  operation: createOperation('players'),
});
