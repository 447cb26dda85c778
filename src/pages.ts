/** The pages that are printed without settings: the version, help, and the page of `rosterctl` alone. */
import type { Parsed, ParsedCommand } from './cli/check.js';
import { commandHelp, groupHelp, rootHelp, startPage } from './cli/help.js';
import type { World } from './context.js';
import { createPaint } from './terminal/paint.js';
import { fullWidth } from './terminal/whole-words.js';

/** Returns the page that a command line asks for; undefined if it is a command to run. Throws UsageError. */
export async function pageFor(parsed: Parsed, world: World): Promise<string | undefined> {
  const { table, streams } = world;
  const { stdout } = streams;
  if (parsed.kind === 'version') return `${table.version}\n`;
  if (parsed.kind === 'command' && !isHelpPage(parsed, world)) return undefined;
  const width = stdout.isTerminal ? Math.min(fullWidth, stdout.columns) : fullWidth;
  const { bold } = createPaint(stdout.color);
  if (parsed.kind === 'command') {
    const { helpTopic } = await import('./cli/help-topic.js');
    const words = parsed.values['topic'] as readonly string[];
    return helpTopic(words, world, { width, bold });
  }
  if (parsed.kind === 'start') {
    const { pageAfterLogin } = await import('./start.js');
    const page = await pageAfterLogin(world, { width, flags: parsed.globals });
    return page ?? startPage(table, width);
  }
  const { of, long } = parsed;
  const options = { long, width, bold };
  if (!of) return rootHelp(table, options);
  return 'words' in of ? commandHelp(of, options) : groupHelp(of, table, options);
}

/** True for `rosterctl help WORDS`, unless a flag or ROSTERCTL_OUTPUT asks for a format or a file. */
function isHelpPage({ command, globals }: ParsedCommand, { env }: World): boolean {
  const { json, output, fields, template, out } = globals;
  const isAsked = [json, output, fields, template, out].some((flag) => flag !== undefined);
  return command.words[0] === 'help' && !isAsked && !env['ROSTERCTL_OUTPUT'];
}
