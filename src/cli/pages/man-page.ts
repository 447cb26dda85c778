/** The man pages, rendered from the command table: one of the tool and one of each noun. */

import { environmentVariables } from '../../config/environment.js';
import {
  type CommandManifest,
  commandsAlone,
  commandsOf,
  exampleLine,
  type ManifestCommand,
  type ManifestGroup,
  type ManifestParam,
} from '../../data/command-manifest.js';
import { lowerFirst } from '../../data/text.js';
import { exitCodes } from '../../exit-codes.js';
import { fillPieces } from '../../terminal/whole-words.js';
import { globalFlags } from '../global-flags.js';
import { groupSummary } from '../help.js';
import { callSource, flagUsage, meaningOf, usageOf } from './reference.js';

interface Dated {
  /** YYYY-MM-DD. */
  readonly date: string;
}

/** Returns the man pages by file name, in man(7) macros; together they have every command and flag. */
export function manPages(
  table: CommandManifest,
  dated: Dated,
): { readonly [file: string]: string } {
  const ofNouns = table.groups.map(
    (group) => [`${pageName(group)}.1`, nounPage(table, group, dated)] as const,
  );
  return { 'rosterctl.1': toolPage(table, dated), ...Object.fromEntries(ofNouns) };
}

function pageName({ word }: ManifestGroup): string {
  return `rosterctl-${word}`;
}

/** The page of the tool: its nouns, the commands without one, and what holds for all commands. */
function toolPage(table: CommandManifest, dated: Dated): string {
  const alone = commandsAlone(table);
  return page('rosterctl', table, dated, [
    '.SH NAME',
    'rosterctl \\- teams, players, documents and tryouts of one organization',
    '.SH SYNOPSIS',
    '\\fBrosterctl\\fR \\fInoun\\fR \\fIverb\\fR [\\fIid\\fR \\&...] [\\fIflags\\fR]',
    '.SH DESCRIPTION',
    ...text(description),
    '.SH COMMANDS',
    ...text('Each noun has a page of its own.'),
    ...table.groups.flatMap((group) => tagged(`${pageName(group)}(1)`, groupSummary(group, table))),
    ...alone.flatMap(commandSection),
    '.SH GLOBAL FLAGS',
    ...text('Every command takes these.'),
    ...globalFlags.flatMap(flagEntry),
    '.SH EXIT STATUS',
    ...Object.values(exitCodes).flatMap(({ code, text: meaning }) => tagged(String(code), meaning)),
    '.SH ENVIRONMENT',
    ...text('A flag overrides its variable, a variable overrides the profile.'),
    ...environmentVariables.flatMap(([name, meaning]) => tagged(name, meaning)),
    '.SH FILES',
    ...files.flatMap(([path, meaning]) => tagged(path, meaning)),
    '.SH SEE ALSO',
    ...seeAlso(table.groups.map(pageName)),
    '.PP',
    ...text(`Help topics: ${table.topics.map(({ name }) => `rosterctl help ${name}`).join(', ')}.`),
  ]);
}

function nounPage(table: CommandManifest, group: ManifestGroup, dated: Dated): string {
  const name = pageName(group);
  const { word, aliases, about } = group;
  const commands = commandsOf(group, table);
  const hasCalls = commands.some(({ calls: all }) => all.length > 0);
  return page(name, table, dated, [
    '.SH NAME',
    `${escapeWord(name)} \\- ${escapeWord(lowerFirst(about))}`,
    '.SH SYNOPSIS',
    `\\fBrosterctl ${escapeWord(word)}\\fR \\fIverb\\fR [\\fIid\\fR \\&...] [\\fIflags\\fR]`,
    '.SH DESCRIPTION',
    ...text(`${about}.${aliases.length > 0 ? ` Also: rosterctl ${aliases.join(', ')}.` : ''}`),
    ...(hasCalls ? text(aboutCalls) : []),
    '.SH COMMANDS',
    ...commands.flatMap(commandSection),
    '.SH SEE ALSO',
    ...seeAlso(['rosterctl']),
    ...text('for global flags, exit status, environment and files.'),
  ]);
}

function page(name: string, table: CommandManifest, { date }: Dated, body: readonly string[]) {
  const head = [
    '.\\" Written by npm run generate from the command table; edit that.',
    `.TH ${escapeWord(name.toUpperCase())} 1 "${date}" "rosterctl ${table.version}" "User Commands"`,
    '.ad l',
    '.nh',
  ];
  return `${[...head, ...body].join('\n')}\n`;
}

function seeAlso(names: readonly string[]): string[] {
  return names.map((name, at) => `.BR ${escapeWord(name)} (1)${at < names.length - 1 ? ' ,' : ''}`);
}

const description = `rosterctl reads and changes the records of one organization through its
team-management service's public API, for people at a terminal and for scripts and cron.
The profile sandbox is built in: rosterctl -p sandbox tryouts list works on demo data with
nothing configured. rosterctl auth login stores an API key.`;

const aboutCalls = `The service documents some requests and not others: below each command its calls are
marked as stated or assumed. rosterctl help undocumented says how to replace an assumed one.`;

const files: readonly (readonly [path: string, meaning: string])[] = [
  ['~/.config/rosterctl', 'profiles, settings and keys; private to the user'],
  [
    '~/.local/state/rosterctl',
    'runs (their plans hold names, notes and values until they are finished), unfinished uploads, sandbox data, locks',
  ],
  ['~/.cache/rosterctl', 'ids for completion'],
];

function commandSection(command: ManifestCommand): string[] {
  return [
    `.SS ${command.words.join(' ')}`,
    ...text(`${command.summary}.`),
    ...(command.about ? ['.PP', ...text(command.about)] : []),
    ...literal([usageOf(command)]),
    ...command.args.flatMap((arg) => tagged(arg.word, meaningOf(arg))),
    ...command.flags.flatMap(flagEntry),
    '.PP',
    command.examples.length > 1 ? 'Examples:' : 'Example:',
    ...literal(
      command.examples.flatMap(([what, words]) => [`# ${what}`, exampleLine(command, words)]),
    ),
    ...calls(command),
  ];
}

function calls(command: ManifestCommand): string[] {
  if (command.calls.length === 0) return [];
  const items = command.calls.flatMap((call) => tagged(call.route, callSource(call)));
  return ['.PP', command.calls.length > 1 ? 'Calls:' : 'Call:', ...items];
}

function flagEntry(entry: ManifestParam): string[] {
  return tagged(flagUsage(entry), meaningOf(entry));
}

// --- roff ---

const lineWidth = 72;

/** The lines of a paragraph: short enough for the linter, and none that roff reads as a macro. */
function text(words: string): string[] {
  return fillPieces(words.trim().split(/\s+/).map(escapeWord), lineWidth).map(guarded);
}

function tagged(tag: string, meaning: string): string[] {
  return ['.TP', ...broken(`\\fB${escapeWord(tag)}\\fR`), ...text(meaning)];
}

/** Verbatim lines, indented. */
function literal(lines: readonly string[]): string[] {
  return [
    '.PP',
    '.RS 4',
    '.nf',
    ...lines.flatMap((line) => broken(guarded(escapeWord(line)))),
    '.fi',
    '.RE',
  ];
}

/** Splits one output line into several source lines, which roff joins again. */
function broken(line: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (const piece of line.split(/(?<= )/)) {
    if (part !== '' && part.length + piece.length > lineWidth) {
      parts.push(`${part}\\`);
      part = piece;
    } else part += piece;
  }
  return [...parts, part];
}

function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}

function escapeWord(word: string): string {
  return word
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/[^\x20-\x7e]/gu, (letter) => {
      const code = letter.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    });
}
