/** `rosterctl config list`: the settings in force and their origins. */
import { defineLocalCommand, flag } from '../../cli/define.js';
import { rowsOf } from '../../cli/views.js';
import { namedKeys } from '../../config/keys.js';
import type { SettingOrigin } from '../../config/settings.js';
import { originsOf } from './shared.js';

export default defineLocalCommand({
  summary: 'List the settings in force and where each came from',
  about:
    'Shows every named setting, and of the replaceable guesses those that are set. Never a key.',
  examples: [
    ['What is in force', ''],
    ['With the file that says so', '--show-origin'],
  ],
  calls: [],
  flags: { showOrigin: flag('name the file of what is stored') },
  view: rowsOf<SettingOrigin>(['key', 'value', 'origin']),
  run(context, { showOrigin }) {
    return originsOf(context, { withFile: showOrigin }).filter(
      ({ key, origin }) => origin !== 'default' || Object.hasOwn(namedKeys, key),
    );
  },
});
