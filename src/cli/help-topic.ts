/** The page of `rosterctl help WORDS`: a topic, a command, or all commands. */
import type { World } from '../context.js';
import { findGroup } from '../data/command-manifest.js';
import { fitPage } from '../terminal/page.js';
import { commandHelp, groupHelp, rootHelp } from './help.js';
import { commandNamed } from './resolve-command.js';

/** Returns the page that these words ask for. Throws UsageError. */
export async function helpTopic(
  words: readonly string[],
  { table, topics }: Pick<World, 'table' | 'topics'>,
  { width, bold }: { readonly width: number; readonly bold: (text: string) => string },
): Promise<string> {
  const [noun, verb] = words;
  if (noun === undefined) return rootHelp(table, { long: true, width, bold });
  const page = words.length === 1 && Object.hasOwn(topics(), noun) ? topics()[noun] : undefined;
  if (page !== undefined) return emphasized(fitPage(page, width), bold);
  const group = findGroup(noun, table);
  const command = commandNamed(words, table);
  if (command?.words.length === words.length)
    return commandHelp(command, { long: true, width, bold });
  if (group && verb === undefined) return groupHelp(group, table, { width, bold });
  const { unknownTopic } = await import('./failures/unknown-command.js');
  throw unknownTopic(words, table);
}

/** A page with its title and headings emphasized: a heading is alone or above indented rows. */
function emphasized(page: string, bold: (text: string) => string): string {
  const heading = /^\S.*[^.:\s](?=$|\n )/;
  return page
    .split('\n\n')
    .map((block, index) => block.replace(index === 0 ? /^\S.*/gm : heading, bold))
    .join('\n\n');
}
