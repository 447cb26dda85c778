/** The man page, rendered from the command table. */
import { environmentVariables } from '../config/environment.js';
import type { CommandManifest, ManifestCommand, ManifestParam } from '../data/command-manifest.js';
import { exitCodes } from '../exit-codes.js';
import { globalFlags } from './global-flags.js';
import { callSource, exampleLine, flagUsage, meaningOf, usageOf } from './reference.js';

/** Returns man/rosterctl.1: every command and flag, in man(7) macros. `date` is YYYY-MM-DD. */
export function manPage(table: CommandManifest, { date }: { date: string }): string {
  return `${[
    '.\\" Written by npm run generate from the command table; edit that.',
    `.TH ROSTERCTL 1 "${date}" "rosterctl ${table.version}" "User Commands"`,
    '.ad l',
    '.nh',
    '.SH NAME',
    'rosterctl \\- teams, players, documents and tryouts of one organization',
    '.SH SYNOPSIS',
    '\\fBrosterctl\\fR \\fInoun\\fR \\fIverb\\fR [\\fIid\\fR \\&...] [\\fIflags\\fR]',
    '.SH DESCRIPTION',
    ...text(description),
    ...text(`The service's contract shows some requests and is silent about others. Under each command
its calls are marked stated or assumed; rosterctl help undocumented says how an assumed
one is replaced.`),
    ...commandSections(table),
    '.SH GLOBAL FLAGS',
    ...text('Every command takes these.'),
    ...globalFlags.flatMap(flag),
    '.SH EXIT STATUS',
    ...Object.values(exitCodes).flatMap(({ code, text: meaning }) => tagged(String(code), meaning)),
    '.SH ENVIRONMENT',
    ...text('A flag beats its variable, a variable beats the profile.'),
    ...environmentVariables.flatMap(({ name, text: meaning }) => tagged(name, meaning)),
    '.SH FILES',
    ...files.flatMap(([path, meaning]) => tagged(path, meaning)),
    '.SH SEE ALSO',
    ...text(`Help topics: ${table.topics.map(({ name }) => `rosterctl help ${name}`).join(', ')}.`),
  ].join('\n')}\n`;
}

const description = `rosterctl reads and changes the records of one organization through its
team-management service's public API, for people at a terminal and for scripts and cron.
The profile sandbox is built in: rosterctl -p sandbox tryouts list works on demo data with
nothing configured. rosterctl auth login stores an API key.`;

const files: readonly (readonly [path: string, meaning: string])[] = [
  ['~/.config/rosterctl', 'profiles, settings and keys; private to the user'],
  [
    '~/.local/state/rosterctl',
    'runs (their plans hold names, notes and values until they are finished), unfinished uploads, sandbox data, locks',
  ],
  ['~/.cache/rosterctl', 'ids for completion'],
];

function commandSections(table: CommandManifest): string[] {
  const groups = table.groups.flatMap((group) => [
    `.SH ${group.word.toUpperCase()}`,
    ...text(`${group.about}.`),
    ...table.commands
      .filter(({ words }) => words.length > 1 && words[0] === group.word)
      .flatMap(commandSection),
  ]);
  const alone = table.commands.filter(({ words }) => words.length === 1);
  return [...groups, '.SH OTHER COMMANDS', ...alone.flatMap(commandSection)];
}

function commandSection(command: ManifestCommand): string[] {
  return [
    `.SS ${command.words.join(' ')}`,
    ...text(`${command.summary}.`),
    ...(command.about ? ['.PP', ...text(command.about)] : []),
    ...literal([usageOf(command)]),
    ...command.args.flatMap((arg) => tagged(arg.word, meaningOf(arg))),
    ...command.flags.flatMap(flag),
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

function flag(entry: ManifestParam): string[] {
  return tagged(flagUsage(entry), meaningOf(entry));
}

// --- roff ---

const lineWidth = 72;

/** The lines of a paragraph: short enough for the linter, and none that roff reads as a macro. */
function text(words: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words.trim().split(/\s+/).map(escapeWord)) {
    if (line !== '' && line.length + 1 + word.length > lineWidth) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map(guarded);
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
