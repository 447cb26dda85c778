/** `rosterctl config list`: the settings in force and their origins. */
import { defineLocalCommand, flag } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import type { SettingOrigin } from '../../config/decide.js';
import { namedKeys } from '../../config/named-keys.js';
import { originsOf } from './shared.js';

export default defineLocalCommand({
  summary: 'List the settings and where each came from',
  about:
    'Shows every setting, and what you have configured for an undocumented service. Never shows a key.',
  examples: [
    ['All settings', ''],
    ['With the file that holds it', '--show-origin'],
  ],
  flags: { showOrigin: flag('show the file that holds each stored setting') },
  view: rowsView<SettingOrigin>(['key', 'value', 'origin']),
  run(context, { showOrigin }) {
    return originsOf(context, { withFile: showOrigin }).filter(
      ({ key, origin }) => origin !== 'default' || Object.hasOwn(namedKeys, key),
    );
  },
});
