import { didYouMean, nearest } from '../data/nearest.js';
import type { PlainCommand, PlainGroup, PlainTable } from '../data/plain-table.js';
import { shellQuote } from '../data/text.js';
import { UsageError } from '../errors.js';
import { globalFlags, standardFlags } from './global-flags.js';

/** Verbs that people bring along from other tools. */
export const verbAliases: Readonly<Record<string, string>> = {
  ls: 'list',
  view: 'get',
  new: 'create',
  edit: 'update',
  rm: 'delete',
};

/** `--json=a,b` is `--json --fields a,b`: a boolean that never swallows the next id. */
export function rewriteJson(argv: readonly string[]): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.flatMap((word, index) =>
    index < end && word.startsWith('--json=')
      ? ['--json', '--fields', word.slice('--json='.length)]
      : [word],
  );
}

/** Throws UsageError where one of the positional words is a jq filter that was given to `-q`, as gh takes it. */
export function refuseFilter(positional: readonly string[], words: readonly string[]): void {
  const isFilter = (word: string) =>
    word.startsWith('.') &&
    words.some((typed, index) => typed === word && /^-[A-Za-z]*q$/.test(words[index - 1] ?? ''));
  if (!positional.some(isFilter)) return;
  throw new UsageError(
    'rosterctl has no -q filter (here -q is --quiet). Pipe to jq, or use --fields.',
  );
}

/** Throws UsageError where the word after `--json` names fields, as gh takes them, and no record. */
export function refuseFieldWords(
  { words: own, args, fields }: PlainCommand,
  positional: readonly string[],
  words: readonly string[],
): void {
  const takesOthers = args.some(({ completes }) => !completes?.startsWith('id:'));
  const known = new Set(['id', 'name', ...fields]);
  const word = words[words.indexOf('--json') + 1];
  if (takesOthers || word === undefined || !positional.includes(word)) return;
  const isExcess = args.length === 0;
  if (!isExcess && !word.split(',').every((name) => known.has(name))) return;
  const line = ['rosterctl', ...own, ...positional.filter((other) => other !== word)];
  throw new UsageError(`Unexpected argument "${word}": --json takes no value.`, {
    hint: `To choose fields: ${line.map(shellQuote).join(' ')} --json --fields ${shellQuote(word)}`,
  });
}

/** The first two words that are neither a global flag nor the value of one: noun and verb. */
export function commandWords(words: readonly string[]): string[] {
  const takesValue = new Set(
    globalFlags
      .filter((flag) => flag.takes !== 'nothing')
      .flatMap((flag) => [flag.word, ...(flag.short ? [`-${flag.short}`] : [])]),
  );
  const found: string[] = [];
  for (let index = 0; index < words.length && found.length < 2; index++) {
    const word = words[index] ?? '';
    if (takesValue.has(lastOfBundle(word))) index++;
    else if (word !== '--' && (!word.startsWith('-') || word === '-')) found.push(word);
    // A flag of the command's own may take a value; the verb always stands before it.
    else if (found.length === 1 && !isGlobal(word)) break;
  }
  return found;
}

/** `-qp`: what follows belongs to its last letter, unless one before it took the rest for its value. */
function lastOfBundle(word: string): string {
  if (!/^-[A-Za-z]{2,}$/.test(word)) return word;
  const before = word.slice(1, -1);
  const isTaken = globalFlags.some(
    ({ takes, short }) => takes !== 'nothing' && short !== undefined && before.includes(short),
  );
  return isTaken ? word : `-${word.slice(-1)}`;
}

function isGlobal(word: string): boolean {
  const name = word.split('=')[0] ?? word;
  if (standardFlags.some(({ dashes }) => dashes.split(', ').includes(name))) return true;
  return globalFlags.some((flag) => flag.word === name || `-${flag.short}` === name.slice(0, 2));
}

/** Whether a group answers to this word. */
export function isCalled(group: PlainGroup, word: string | undefined): boolean {
  return word !== undefined && (group.word === word || group.aliases.includes(word));
}

/** Every word that may stand first. */
export function topWords(table: PlainTable): string[] {
  const alone = table.commands
    .filter((entry) => entry.words.length === 1)
    .map((entry) => entry.words[0] ?? '');
  return [...table.groups.flatMap((group) => [group.word, ...group.aliases]), ...alone];
}

/** The refusal of a word, with the nearest right one. */
function unknownWord(
  what: string,
  word: string,
  known: readonly string[],
  help: string,
): UsageError {
  const meant = didYouMean(word, known);
  return new UsageError(`There is no ${what} "${word}".${meant}`, { hint: `See: ${help}` });
}

/** The refusal of a first word, with the line that was meant where another place holds it. */
export function unknownNoun(words: readonly string[], table: PlainTable): UsageError {
  const [noun = '', next] = words;
  const line = noun === 'version' ? 'rosterctl --version' : lineOfVerb(noun, next, table);
  if (line === undefined) return unknownWord('command', noun, topWords(table), 'rosterctl --help');
  return new UsageError(`There is no command "${noun}". Did you mean: ${line}`, {
    hint: 'See: rosterctl --help',
  });
}

/** `list tryouts`, `login`: a verb where a noun should stand. */
function lineOfVerb(word: string, next: string | undefined, table: PlainTable): string | undefined {
  const verb = verbAliases[word] ?? word;
  const group = table.groups.find((entry) => isCalled(entry, next));
  const owners = table.commands.filter(({ words }) => words[1] === verb);
  const only = owners.length === 1 ? owners[0] : undefined;
  const found = owners.find(({ words }) => words[0] === group?.word) ?? only;
  return found && `rosterctl ${found.words.join(' ')}`;
}

/**
 * The refusal of a verb; a value that a command of the group sets is answered with that command, and
 * an alias of the group that is a verb elsewhere (`upload FILE`) with the other.
 */
export function unknownVerb(
  group: PlainGroup,
  [noun = '', verb = '']: readonly string[],
  table: PlainTable,
): UsageError {
  const own = table.commands.filter(({ words }) => words[0] === group.word && words.length === 2);
  const help = `rosterctl ${group.word} --help`;
  const known = own.map(({ words }) => words[1] ?? '');
  const line =
    nearest(verb, known) === undefined
      ? (lineOfValue(verb, own) ?? lineOfVerb(noun, undefined, table))
      : undefined;
  if (line === undefined) return unknownWord(`command ${group.word}`, verb, known, help);
  return new UsageError(`There is no command ${group.word} "${verb}". Did you mean: ${line}`, {
    hint: `See: ${help}`,
  });
}

function lineOfValue(word: string, commands: readonly PlainCommand[]): string | undefined {
  // What is told last is the most special: set-status rather than update.
  for (const { words, flags } of commands.toReversed())
    for (const flag of flags) {
      const value = flag.group === 'change' ? nearest(word, flag.choices ?? []) : undefined;
      if (value !== undefined) return `rosterctl ${words.join(' ')} ID ${flag.word} ${value}`;
    }
  return undefined;
}
