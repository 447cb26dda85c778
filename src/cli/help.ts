import { globalFlags } from './global-flags.js';
import type { PlainCommand, PlainGroup, PlainParam, PlainTable } from '../data/plain-table.js';

/** What `rosterctl` alone shows. */
export function startPage(table: PlainTable): string {
  return lines([
    `rosterctl ${table.version} — teams, players, documents and tryouts of one organization`,
    '',
    'Try it on demo data, nothing to configure:',
    '  rosterctl -p sandbox tryouts list --status pending',
    '',
    'Start with your organization:',
    '  rosterctl auth login             store an API key and check it',
    '  rosterctl teams list             the first look',
    '',
    'Find the way:',
    '  rosterctl --help                 all commands',
    '  rosterctl tryouts set-status -h  one command, with examples',
  ]);
}

/** The whole tool: every command in one line. */
export function rootHelp(table: PlainTable, { long }: { long: boolean }): string {
  const alone = table.commands.filter((command) => command.words.length === 1);
  return lines([
    'Usage: rosterctl <noun> <verb> [ids…] [flags]',
    '',
    ...columns(table.groups.map((group) => groupSummary(group, table))),
    '',
    'Other',
    ...columns(alone.map((command) => [command.words.join(' '), command.summary])),
    '',
    ...section('Global flags', flagRows(globalFlags.filter((flag) => long || flag.common))),
    'Help topics',
    ...columns(table.topics.map((topic) => [`help ${topic.name}`, topic.about])),
    '',
    long ? '' : 'More: rosterctl --help, rosterctl <noun> --help',
  ]);
}

function groupSummary(group: PlainGroup, table: PlainTable): readonly [string, string] {
  return [group.word, `${group.about}: ${verbsOf(group, table).map(verbOf).join(', ')}`];
}

function verbsOf(group: PlainGroup, table: PlainTable): readonly PlainCommand[] {
  return table.commands.filter(({ words }) => words[0] === group.word && words.length > 1);
}

function verbOf({ words }: PlainCommand): string {
  return words[1] ?? '';
}

/** One noun: its verbs. */
export function groupHelp(group: PlainGroup, table: PlainTable): string {
  const verbs = verbsOf(group, table);
  return lines([
    `${group.about}.`,
    '',
    `Usage: rosterctl ${group.word} <verb> [flags]${group.aliases.length > 0 ? `   (also: ${group.aliases.join(', ')})` : ''}`,
    '',
    'Verbs',
    ...columns(verbs.map((command) => [verbOf(command), command.summary])),
    '',
    `More: rosterctl ${group.word} <verb> --help`,
  ]);
}

/** One command: short with `-h` (at most 45 lines), everything with `--help`. */
export function commandHelp(command: PlainCommand, { long }: { long: boolean }): string {
  const name = `rosterctl ${command.words.join(' ')}`;
  const globals = globalFlags.filter(
    (flag) =>
      long ||
      command.shows.includes(flag.word) ||
      (flag.common && (flag.only === undefined || command[flag.only])),
  );
  // Where flags had to be left out there is no room for a third example and the calls either.
  const isFull = !long && command.flags.some((flag) => flag.rare);
  return lines([
    `${command.summary}.`,
    ...(long && command.about ? ['', ...wrap(command.about, 78)] : []),
    '',
    `Usage: ${[name, ...command.args.map(argUsage)].join(' ')}${command.flags.length > 0 ? ' [flags]' : ''}`,
    '',
    'Examples',
    ...command.examples
      .slice(0, long ? undefined : isFull ? 2 : 4)
      .flatMap(([what, words]) => [
        `  # ${what}`,
        `  ${words.startsWith('rosterctl ') ? words : `${name} ${words}`.trim()}`,
      ]),
    '',
    ...(command.args.length > 0
      ? section(
          'Arguments',
          command.args.map((arg) => [argUsage(arg), arg.text]),
        )
      : []),
    ...groupedFlags(command, long),
    ...section('Global flags', flagRows(globals)),
    ...(isFull ? [] : calls(command)),
    long ? '' : `More: ${name} --help`,
  ]);
}

const flagGroups = [
  ['selection', 'Selection'],
  ['change', 'Change'],
  ['safety', 'Safety'],
  ['output', 'Output'],
  [undefined, 'Flags'],
] as const;

function groupedFlags(command: PlainCommand, long: boolean): string[] {
  return flagGroups.flatMap(([group, title]) => {
    const flags = command.flags.filter((flag) => flag.group === group && (long || !flag.rare));
    return flags.length > 0 ? section(title, flagRows(flags)) : [];
  });
}

function calls(command: PlainCommand): string[] {
  if (command.calls.length === 0) return [];
  return [
    'Calls',
    ...command.calls.flatMap((call) => {
      const permission = call.permission ? `; permission ${call.permission}` : '';
      const source =
        call.basis === 'stated' ? `stated, ${call.source}` : 'assumed, see help undocumented';
      const line = `  ${call.route}  (${source}${permission})`;
      return line.length <= 80 ? [line] : [`  ${call.route}`, `      (${source}${permission})`];
    }),
    '',
  ];
}

/** A positional as usage shows it: `ID…`, `[PATH]`. */
export function argUsage(arg: PlainParam): string {
  const word = arg.takes === 'values' ? `${arg.word}…` : arg.word;
  return arg.required ? word : `[${word}]`;
}

function flagRows(flags: readonly PlainParam[]): [string, string][] {
  return flags.map((flag) => {
    const dashes = flag.short ? `-${flag.short}, ${flag.word}` : `    ${flag.word}`;
    const choices =
      flag.choices && !flag.text.includes(flag.choices[0] ?? '') && flag.choices.length <= 6;
    const text = choices ? `${flag.text}: ${flag.choices?.join(', ')}` : flag.text;
    const again = flag.takes === 'values' ? ' (repeatable)' : '';
    return [flag.takes === 'nothing' ? dashes : `${dashes} ${flag.placeholder}`, `${text}${again}`];
  });
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return [title, ...columns(rows), ''];
}

/** Two columns within 80: the second is wrapped under itself. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(28, Math.max(...rows.map(([left]) => left.length), 0));
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrap(right, 80 - width - 4);
    const indent = ' '.repeat(width + 4);
    const head =
      left.length > width
        ? [`  ${left}`, `${indent}${first}`]
        : [`  ${left.padEnd(width)}  ${first}`];
    return [...head.map((line) => line.trimEnd()), ...rest.map((line) => `${indent}${line}`)];
  });
}

/** The words of a text in lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const out: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      out.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? out : [...out, line];
}

function lines(all: readonly string[]): string {
  return `${all
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}
