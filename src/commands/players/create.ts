import { defineWrite } from '../../cli/define.js';
import { fieldFlags, readFields, touchedFields } from '../../cli/field-flags.js';
import { recordOf } from '../../cli/views.js';
import { nameFlag, players } from '../kinds.js';
import { applyCreate, planCreate } from '../write-records.js';

export default defineWrite({
  summary: 'Create a player',
  about:
    'The contract shows no fields of a player: what is typed is sent, and the service judges it. ' +
    'Prints the record as it reads afterwards.',
  examples: [
    ['A player with a name', "--name 'Nadja Beispiel'"],
    [
      'With further fields',
      "--name 'Nadja Beispiel' -F role=Support -F discordUserId=9000000000000000042",
    ],
  ],
  calls: ['createPlayer', 'getPlayer'],
  flags: { name: nameFlag(players), ...fieldFlags },
  needsOneOf: [['name', 'set', 'setString', 'input']],
  view: recordOf('players'),
  async plan(context, values) {
    const typed = await readFields(context, values, { name: values.name });
    return planCreate(players, touchedFields(typed));
  },
  apply(context, plan) {
    return applyCreate(context, players, plan);
  },
});
