/** The errors for words that name no command: unknown ones, and those meant for other tools. */
import {
  type CommandManifest,
  commandsOf,
  findGroup,
  type ManifestCommand,
  type ManifestGroup,
  topWords,
} from '../../data/command-manifest.js';
import { didYouMean, nearest } from '../../data/nearest.js';
import { shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import {
  commandNamed,
  commandWords,
  findCommand,
  isFlag,
  isGlobal,
  splitFlags,
  verbAliases,
} from '../resolve-command.js';
import { commandForVerb, commandForWord } from './other-tools.js';

/** The error for unknown words, with the line that was meant, else the page that lists what there is. */
function unknownCommand(words: string, line: string | undefined, help: string): UsageError {
  return new UsageError(`Unknown command "${words}".`, {
    hint: line === undefined ? help : `Did you mean: ${line}`,
  });
}

/** True if a word is this verb or an alias of it. */
function isNamed(word: string, verb: string | undefined): boolean {
  return verb !== undefined && (word === verb || verbAliases[word] === verb);
}

/** The commands with this verb, as a hint; undefined if there are none. */
function hintOfVerb(word: string, { commands }: CommandManifest): string | undefined {
  const names = commands.flatMap(({ words }) => (isNamed(word, words[1]) ? [words.join(' ')] : []));
  if (names.length === 0) return undefined;
  return names.length === 1 ? `See: rosterctl help ${names[0]}` : `Commands: ${names.join(', ')}`;
}

/** Returns the error for an unknown first word, with the intended command if the word belongs elsewhere. */
export function unknownNoun(typed: readonly string[], table: CommandManifest): UsageError {
  const words = commandWords(typed, Infinity);
  const [noun = '', next] = words;
  const group = findGroup(next, table);
  const isGet = isNamed(noun, 'get');
  // Without an id, `get teams` lists, as in kubectl.
  const verb = isGet && words.length === 2 ? 'list' : noun;
  const withBoth =
    commandOfVerb(verb, next, table, { isOnly: false }) ??
    (group && commandForVerb(group.word, noun, table));
  const withNoun =
    commandForWord(noun, table) ?? commandOfVerb(noun, next, table, { isOnly: true });
  const line =
    withTyped(withBoth, words.slice(2), table) ??
    withTyped(withNoun, words.slice(1), table) ??
    withTyped(nearestNoun(noun, next, table), words.slice(2), table);
  const help = hintOfVerb(noun, table) ?? 'See: rosterctl --help';
  return unknownCommand(noun, withFlags(line, typed, table), help);
}

/** Puts the words that were typed after the command's own into the line that was meant. */
function withTyped(
  line: string | undefined,
  typed: readonly string[],
  { commands }: CommandManifest,
): string | undefined {
  if (line === undefined || typed.length === 0) return line;
  const [, ...own] = line.split(' ');
  const quoted = typed.map(shellQuote);
  const places = own.flatMap((word, at) => (/^[A-Z=]{2,}$/.test(word) ? [at] : []));
  const [place] = places;
  if (place === undefined) {
    const args = commands.find(({ words }) => words.join(' ') === own.join(' '))?.args ?? [];
    const isVariadic = args.some(({ takes }) => takes === 'values');
    return isVariadic || typed.length <= args.length ? [line, ...quoted].join(' ') : line;
  }
  const isOne = places.length === 1;
  if (isOne && own[place] === 'TEXT') own[place] = shellQuote(typed.join(' '));
  else if (isOne && !own[place - 1]?.startsWith('--')) own[place] = quoted.join(' ');
  else if (typed.length === places.length)
    for (const [index, at] of places.entries()) own[at] = quoted[index] ?? '';
  return ['rosterctl', ...own].join(' ');
}

/** Adds the flags that were typed to the line that was meant, or at least a dry run if it cannot take one of them. */
function withFlags(
  line: string | undefined,
  typed: readonly string[],
  table: CommandManifest,
): string | undefined {
  const known = line && commandNamed(line.split(' ').slice(1), table)?.flags;
  if (!known) return line;
  const { flags } = splitFlags(typed, Infinity);
  const contradicted = line.includes(' -o ') ? /^(--json$|-o|--output)/ : /^$/;
  const has = (word: string) =>
    !contradicted.test(word) && (isGlobal(word) || known.some((flag) => isFlag(flag, word)));
  const kept = flags.every((word) => !word.startsWith('-') || has(word))
    ? flags
    : flags.filter((word) => word === '-n' || word === '--dry-run');
  return [line, ...kept.map(shellQuote)].join(' ');
}

/** The command of the noun that is spelt most like a word; with the verb if it has such a one. */
function nearestNoun(
  word: string,
  verb: string | undefined,
  table: CommandManifest,
): string | undefined {
  const noun = nearest(word, topWords(table));
  const group = findGroup(noun, table);
  const isVerb = findCommand(group, verb, table) !== undefined;
  return noun && `rosterctl ${noun}${isVerb ? ` ${verb}` : ''}`;
}

/** The command for a verb in place of a noun: `list tryouts`; with `isOnly` the one that has it: `login`. */
function commandOfVerb(
  word: string,
  next: string | undefined,
  table: CommandManifest,
  { isOnly }: { isOnly: boolean },
): string | undefined {
  const group = findGroup(next, table);
  const owners = table.commands.filter(({ words }) => isNamed(word, words[1]));
  const found = isOnly
    ? owners.find(() => owners.length === 1)
    : owners.find(({ words }) => words[0] === group?.word);
  return found && `rosterctl ${found.words.join(' ')}`;
}

/**
 * Returns the error for an unknown verb. It suggests the command of the group that sets the word as a
 * value, or the command whose verb is an alias of the group (`upload FILE`).
 */
export function unknownVerb(
  group: ManifestGroup,
  typed: readonly string[],
  table: CommandManifest,
): UsageError {
  const words = commandWords(typed, Infinity);
  const [noun = '', verb = ''] = words;
  const own = commandsOf(group, table);
  const known = own.map((command) => command.words[1] ?? '');
  const near = nearest(verb, known);
  const command =
    commandForVerb(group.word, verb, table) ??
    (words.length === 2 ? listOfValue(verb, own) : undefined) ??
    (near === undefined ? commandOfValue(verb, own) : `rosterctl ${group.word} ${near}`);
  // `app_1` or `email:a@b`. Not `add_user`: that is the verb of another tool.
  const get = /[\d:]/.test(verb) && own.find(isGetOfRecords) && `rosterctl ${group.word} get`;
  const other = get || commandOfVerb(noun, undefined, table, { isOnly: true });
  const meant =
    withTyped(command, words.slice(2), table) ?? withTyped(other, words.slice(1), table);
  const help = `See: rosterctl ${group.word} --help`;
  return unknownCommand(`${noun} ${verb}`, withFlags(meant, typed, table), help);
}

function isGetOfRecords({ words, args }: ManifestCommand): boolean {
  return words[1] === 'get' && args.some(({ completes }) => completes?.startsWith('id:'));
}

/** The list that a value alone selects: `tryouts pending`. */
function listOfValue(word: string, commands: readonly ManifestCommand[]): string | undefined {
  const list = commands.find(({ words }) => words[1] === 'list');
  const flag = list?.flags.find(({ choices }) => choices?.includes(word));
  return list && flag && `rosterctl ${list.words.join(' ')} ${flag.word} ${word}`;
}

function commandOfValue(word: string, commands: readonly ManifestCommand[]): string | undefined {
  // Later commands are more specific: set-status rather than update.
  for (const { words, flags } of commands.toReversed())
    for (const flag of flags) {
      const value = flag.group === 'change' ? nearest(word, flag.choices ?? []) : undefined;
      if (value !== undefined) return `rosterctl ${words.join(' ')} ID ${flag.word} ${value}`;
    }
  return undefined;
}

/** Returns the error for words of `help` that name neither a topic nor a command. */
export function unknownTopic(words: readonly string[], table: CommandManifest): UsageError {
  const [noun = ''] = words;
  const group = findGroup(noun, table);
  if (group && words.length === 2) return unknownVerb(group, words, table);
  const sentence = `Unknown topic or command "${words.join(' ')}".`;
  const ofVerb = words.length === 1 ? hintOfVerb(noun, table) : undefined;
  if (ofVerb !== undefined) return new UsageError(sentence, { hint: ofVerb });
  const name = [group?.word ?? noun, ...words.slice(1)].join(' ');
  const known = [
    ...table.topics.map((entry) => entry.name),
    ...table.commands.map((entry) => entry.words.join(' ')),
    ...table.groups.map((entry) => entry.word),
  ];
  return new UsageError(`${sentence}${didYouMean(name, known)}`, {
    hint: `Topics: ${table.topics.map((entry) => entry.name).join(', ')}`,
  });
}
