/** `rosterctl commands`: every command with its flags, for scripts and tools. */
import * as z from 'zod/mini';
import { defineLocalCommand } from '../cli/define.js';
import { globalFlags } from '../cli/global-flags.js';
import { rowsOf } from '../cli/views.js';
import type { PlainParam } from '../data/plain-table.js';

const Flag = z.object({
  name: z.string(),
  short: z.nullable(z.string()),
  choices: z.nullable(z.array(z.string())),
  description: z.string(),
});

const Row = z.object({
  command: z.string(),
  summary: z.string(),
  basis: z.enum(['stated', 'assumed', 'local']),
  flags: z.array(Flag),
});

export default defineLocalCommand({
  summary: 'List every command with its flags, for scripts and tools',
  examples: [
    ['Names and summaries', ''],
    ['Everything, for a tool', '--json'],
  ],
  calls: [],
  everywhere: true,
  view: rowsOf(Row, ['command', 'summary', 'basis']),
  run({ table }) {
    return table.commands.map((command) => ({
      command: command.words.join(' '),
      summary: command.summary,
      basis: command.basis,
      flags: [...command.flags, ...globalFlags].map(describeFlag),
    }));
  },
});

function describeFlag(flag: PlainParam): z.infer<typeof Flag> {
  return {
    name: flag.word,
    short: flag.short ? `-${flag.short}` : null,
    choices: flag.choices ? [...flag.choices] : null,
    description: flag.text,
  };
}
