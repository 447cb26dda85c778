/** `rosterctl commands`: every command with its flags, for scripts and tools. */
import { defineLocalCommand } from '../cli/define.js';
import { globalFlags } from '../cli/global-flags.js';
import { rowsView } from '../cli/views.js';
import type { ManifestCommand, ManifestParam } from '../data/command-manifest.js';

interface FlagRow {
  readonly name: string;
  readonly short: string | null;
  readonly choices: readonly string[] | null;
  readonly description: string;
}

interface CommandRow {
  readonly command: string;
  readonly summary: string;
  readonly basis: ManifestCommand['basis'];
  readonly flags: readonly FlagRow[];
}

export default defineLocalCommand({
  summary: 'List every command with its flags, for scripts and tools',
  examples: [
    ['Names and summaries', ''],
    ['Everything, for a tool', '--json'],
  ],
  view: rowsView<CommandRow>(['command', 'summary', 'basis']),
  run({ table }) {
    return table.commands.map((command) => ({
      command: command.words.join(' '),
      summary: command.summary,
      basis: command.basis,
      flags: [...command.flags, ...globalFlags].map(describeFlag),
    }));
  },
});

function describeFlag(flag: ManifestParam): FlagRow {
  return {
    name: flag.word,
    short: flag.short ? `-${flag.short}` : null,
    choices: flag.choices ?? null,
    description: flag.text,
  };
}
