/** `rosterctl config get`: one setting. */
import { defineLocalCommand, oneWord, param } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';
import type { SettingOrigin } from '../../config/decide.js';
import { requireKey } from '../../config/keys.js';
import { singleLine } from '../../terminal/safe-text.js';
import { originsOf } from './shared.js';

export default defineLocalCommand({
  summary: 'Show one setting',
  about:
    'Prints the value alone, or nothing when it is not set; --json adds where it came from. A stored ' +
    'output format applies here too: add -o table to print the plain value.',
  examples: [
    ['The output format', 'output'],
    ['What you configured for the service', 'endpoints.players.update'],
  ],
  args: { key: param(oneWord, 'the setting', { completes: 'configKey' }) },
  view: {
    ...linesView<SettingOrigin>(({ value }, { isTerminal }) =>
      value === null ? [] : [isTerminal ? singleLine(value) : value],
    ),
    idRows: ({ value }) => (value === null ? [] : [{ id: value }]),
  },
  run(context, { key }) {
    const setting = originsOf(context, { withFile: false }).find((row) => row.key === key);
    if (setting) return setting;
    const { default: value = null } = requireKey(key);
    return { key, value, origin: 'default' };
  },
});
