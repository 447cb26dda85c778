/** Help pages: the start page, the root, one noun and one command, from the command table. */

import {
  argUsage,
  type CommandManifest,
  commandsAlone,
  commandsOf,
  exampleLine,
  type ManifestCommand,
  type ManifestGroup,
  type ManifestParam,
  usageWords,
} from '../data/command-manifest.js';
import { plural } from '../data/text.js';
import { commentLines, fitPage } from '../terminal/page.js';
import { commandLines, fillWords, fullWidth, minTextWidth } from '../terminal/whole-words.js';
import { globalFlags, standardFlags } from './global-flags.js';

interface PageOptions {
  /** True for the full page of `--help`, false for the short one of `-h`. */
  readonly long: boolean;
  readonly width?: number | undefined;
  /** Emphasizes a heading, at a terminal. */
  readonly bold?: ((text: string) => string) | undefined;
}

/** Returns the page that `rosterctl` shows without arguments. */
export function startPage(table: CommandManifest, width = fullWidth): string {
  const page = lines(undefined, [
    `rosterctl ${table.version} — teams, players, documents and tryouts of one organization`,
    '',
    'Try it on demo data, nothing to configure:',
    '  rosterctl -p sandbox tryouts list --status pending',
    '',
    'Connect your organization:',
    '  rosterctl auth login             # store an API key and check it',
    '  rosterctl teams list             # see your teams',
    '',
    'Find out more:',
    '  rosterctl --help                 # all commands',
    '  rosterctl tryouts set-status -h  # one command, with examples',
  ]);
  return fitPage(page, width);
}

/** Returns the page of the entire tool, one line per command. */
export function rootHelp(
  table: CommandManifest,
  { long, width = fullWidth, bold }: PageOptions,
): string {
  return lines(bold, [
    ...startThenEnd('Usage: rosterctl <noun> <verb>', '[ids…] [flags]', width),
    '',
    ...columns(
      table.groups.map(
        (group) => [group.word, long ? groupSummary(group, table) : group.about] as const,
      ),
      width,
    ),
    '',
    ...section(
      'Other',
      commandsAlone(table).map(({ words, summary }) => [words.join(' '), summary]),
      width,
    ),
    ...section(
      'Global flags',
      [
        ...flagRows(globalFlags.filter((flag) => long || flag.common)),
        ...standardFlags.map(({ dashes, text }): [string, string] => [dashes, text]),
      ],
      width,
    ),
    'Help topics',
    ...(long
      ? columns(
          table.topics.map((topic) => [`help ${topic.name}`, topic.about]),
          width,
        )
      : fillWords(`help TOPIC: ${table.topics.map(({ name }) => name).join(', ')}`, width - 2).map(
          (line) => `  ${line}`,
        )),
    '',
    ...(long ? [] : more('rosterctl [<noun>] --help', width)),
  ]);
}

/** Describes a noun and lists its verbs. */
export function groupSummary(group: ManifestGroup, table: CommandManifest): string {
  return `${group.about}: ${commandsOf(group, table).map(verbWord).join(', ')}`;
}

function verbWord({ words }: ManifestCommand): string {
  return words[1] ?? '';
}

/** Returns the page of one noun with its verbs. */
export function groupHelp(
  group: ManifestGroup,
  table: CommandManifest,
  { width = fullWidth, bold }: Partial<PageOptions>,
): string {
  const verbs = commandsOf(group, table);
  return lines(bold, [
    ...fillWords(`${group.about}.`, width),
    '',
    ...startThenEnd(
      `Usage: rosterctl ${group.word}`,
      [
        '<verb> [flags]',
        ...(group.aliases.length > 0 ? [`(also: ${group.aliases.join(', ')})`] : []),
      ].join(' '),
      width,
    ),
    '',
    ...section(
      'Verbs',
      verbs.map((command) => [verbWord(command), command.summary]),
      width,
    ),
    ...more(`rosterctl ${group.word} <verb> --help`, width),
  ]);
}

/** How many lines a page of `-h` has at most, at the full width. */
const shortPageLines = 45;

/**
 * Returns the page of one command: everything with `--help`, at most 45 lines with `-h`, which leaves out
 * rare flags where it would be longer.
 */
export function commandHelp(command: ManifestCommand, options: PageOptions): string {
  const page = commandPage(command, [], { ...options, width: fullWidth });
  const isWhole = options.long || page.trimEnd().split('\n').length <= shortPageLines;
  return commandPage(command, isWhole ? [] : command.flags.filter(({ rare }) => rare), options);
}

function commandPage(
  command: ManifestCommand,
  omitted: readonly ManifestParam[],
  { long, width = fullWidth, bold }: PageOptions,
): string {
  const name = `rosterctl ${command.words.join(' ')}`;
  const globals = globalFlags.filter(
    (flag) =>
      long ||
      command.shows.includes(flag.word) ||
      (flag.common && (flag.only === undefined || command[flag.only])),
  );
  // Beside many flags, a third example does not fit.
  const examples = command.flags.some((flag) => flag.rare) ? 2 : 4;
  return lines(bold, [
    ...fillWords(`${command.summary}.`, width),
    ...(long && command.about ? ['', ...fillWords(command.about, width - 2)] : []),
    '',
    ...startThenEnd(`Usage: ${name}`, usageWords(command).join(' '), width),
    '',
    'Examples',
    ...command.examples
      .slice(0, long ? undefined : examples)
      .flatMap(([what, words]) => [
        ...commentLines(what, width),
        ...commandLines(exampleLine(command, words), width, 2),
      ]),
    '',
    ...section(
      'Arguments',
      command.args.map((arg) => [argUsage(arg), arg.text]),
      width,
    ),
    ...groupedFlags(command, omitted, width),
    ...section('Global flags', flagRows(globals), width),
    ...(long ? calls(command, width) : []),
    ...(omitted.length > 0 ? fillWords(omittedFlags(omitted), width) : []),
    ...(long ? [] : more(`${name} --help`, width)),
  ]);
}

/** Names as many of the flags that `-h` leaves out as fit on one line of a full page. */
function omittedFlags(flags: readonly ManifestParam[]): string {
  const line = `${plural(flags.length, 'more flag')}: ${flags.map(({ word }) => word).join(', ')}`;
  const [first = '', ...rest] = fillWords(line, fullWidth - 2);
  return rest.length > 0 ? `${first} …` : first;
}

const flagGroups = [
  ['selection', 'Selection'],
  ['change', 'Change'],
  ['safety', 'Safety'],
  ['output', 'Output'],
  [undefined, 'Flags'],
] as const;

function groupedFlags(
  command: ManifestCommand,
  omitted: readonly ManifestParam[],
  width: number,
): string[] {
  return flagGroups.flatMap(([group, title]) => {
    const flags = command.flags.filter((flag) => flag.group === group && !omitted.includes(flag));
    return section(title, flagRows(flags), width);
  });
}

function calls(command: ManifestCommand, width: number): string[] {
  if (command.calls.length === 0) return [];
  return [
    'Calls',
    ...command.calls.flatMap((call) => {
      const permission = call.permission ? `; permission ${call.permission}` : '';
      const source =
        call.basis === 'stated' ? `stated, ${call.source}` : 'assumed, see help undocumented';
      const line = `  ${call.route}  (${source}${permission})`;
      if (line.length <= width) return [line];
      const rest = fillWords(`(${source}${permission})`, width - 6);
      return [`  ${call.route}`, ...rest.map((each) => `      ${each}`)];
    }),
    '',
  ];
}

function flagRows(flags: readonly ManifestParam[]): [string, string][] {
  return flags.map((flag) => {
    const dashes = flag.short ? `-${flag.short}, ${flag.word}` : `    ${flag.word}`;
    const [choice = '', ...others] = flag.choices ?? [];
    const isNamed = choice === flag.placeholder || flag.text.includes(choice);
    const text =
      isNamed || others.length > 5 ? flag.text : `${flag.text}: ${flag.choices?.join(', ')}`;
    const again = flag.takes === 'values' ? ' (repeatable)' : '';
    return [flag.takes === 'nothing' ? dashes : `${dashes} ${flag.placeholder}`, `${text}${again}`];
  });
}

/** Renders rows below their title; nothing without a row. */
function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  width: number,
): string[] {
  return rows.length === 0 ? [] : [title, ...columns(rows, width), ''];
}

/** Renders two columns. The second is wrapped under itself, or moved below if there is no room beside the first. */
function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const longest = Math.min(28, Math.max(...rows.map(([left]) => left.length), 0));
  const first = width - longest - 4 < minTextWidth ? 4 : longest;
  return rows.flatMap(([left, right]) => {
    const text = fillWords(right, width - first - 4);
    const indent = ' '.repeat(first + 4);
    const isBeside = left.length <= first;
    const head = isBeside ? `  ${left.padEnd(first)}  ${text.shift() ?? ''}` : `  ${left}`;
    return [head.trimEnd(), ...text.map((line) => `${indent}${line}`)];
  });
}

/** Renders a line, with `end` indented below `start` if both do not fit. */
function startThenEnd(start: string, end: string, width: number): string[] {
  if (end === '') return [start];
  const line = `${start} ${end}`;
  return line.length <= width
    ? [line]
    : [start, ...fillWords(end, width - 6).map((each) => `      ${each}`)];
}

/** Renders the line that leads to a longer page; its command is not broken. */
function more(command: string, width: number): string[] {
  const line = `More: ${command}`;
  return line.length <= width ? [line] : ['More:', `  ${command}`];
}

/** A heading of a section, or the word at the start of the usage line. */
const heading = /^(?:[A-Z][a-z]+(?: [a-z]+)?$|Usage:)/;

function lines(bold: PageOptions['bold'], all: readonly string[]): string {
  const shown = bold ? all.map((line) => line.replace(heading, bold)) : all;
  return `${shown
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}
