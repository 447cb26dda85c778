/** `rosterctl help`: a topic or the help page of a command. */
import { defineLocalCommand, params } from '../cli/define.js';
import { commandHelp, groupHelp, rootHelp } from '../cli/help.js';
import { isCalled, unknownVerb, verbAliases } from '../cli/resolve-command.js';
import { linesOf } from '../cli/views.js';
import { anyWords } from '../cli/words.js';
import type { CommandManifest } from '../data/command-manifest.js';
import { didYouMean } from '../data/nearest.js';
import { UsageError } from '../errors.js';
import { fitPage } from '../terminal/page.js';
import { createPaint } from '../terminal/paint.js';
import { fullWidth } from '../terminal/whole-words.js';

export default defineLocalCommand({
  summary: 'Explain a topic or a command',
  examples: [
    ['What each exit code means', 'exit-codes'],
    ['Everything about one command', 'tryouts list'],
  ],
  calls: [],
  everywhere: true,
  args: {
    topic: params(anyWords, 'a topic, or the words of a command', {
      completes: 'topic',
    }),
  },
  view: linesOf(({ text }: { text: string }) => text.trimEnd().split('\n')),
  run({ table, topic, isInteractive, streams }, { topic: words }) {
    const { columns, color } = streams.stdout;
    const width = isInteractive ? Math.min(fullWidth, columns) : fullWidth;
    const { bold } = createPaint(isInteractive && color);
    return { text: pageFor(words, table, topic, { width, bold }) };
  },
});

function pageFor(
  words: readonly string[],
  table: CommandManifest,
  topic: (name: string) => string | undefined,
  { width, bold }: { width: number; bold: (text: string) => string },
): string {
  const [noun, verb] = words;
  if (noun === undefined) return rootHelp(table, { long: true, width, bold });
  const page = words.length === 1 ? topic(noun) : undefined;
  if (page !== undefined) return emphasized(fitPage(page, width), bold);
  const group = table.groups.find((entry) => isCalled(entry, noun));
  const name = [group?.word ?? noun, verb && (verbAliases[verb] ?? verb), ...words.slice(2)]
    .filter((word) => word !== undefined)
    .join(' ');
  const command = table.commands.find((entry) => entry.words.join(' ') === name);
  if (command) return commandHelp(command, { long: true, width, bold });
  if (group && verb === undefined) return groupHelp(group, table, { width, bold });
  if (group && words.length === 2) throw unknownVerb(group, words, table);
  const known = [
    ...table.topics.map((entry) => entry.name),
    ...table.commands.map((entry) => entry.words.join(' ')),
    ...table.groups.map((entry) => entry.word),
  ];
  throw new UsageError(`Unknown topic or command "${words.join(' ')}".${didYouMean(name, known)}`, {
    hint: `Topics: ${table.topics.map((entry) => entry.name).join(', ')}`,
  });
}

/** A page with its title and headings emphasized: a heading stands alone or above indented rows. */
function emphasized(page: string, bold: (text: string) => string): string {
  const heading = /^\S.*[^.:\s](?=$|\n )/;
  return page
    .split('\n\n')
    .map((block, index) => block.replace(index === 0 ? /^\S.*/gm : heading, bold))
    .join('\n\n');
}
