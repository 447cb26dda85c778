/** Resolves the words of a command line: noun and verb, aliases, and the flags around them. */

import {
  type CommandManifest,
  commandsAlone,
  commandsOf,
  findGroup,
  type ManifestCommand,
  type ManifestGroup,
  type ManifestParam,
} from '../data/command-manifest.js';
import type { Parsed } from './check.js';
import { globalFlags, standardFlags } from './global-flags.js';

const helpFlags: readonly string[] = standardFlags[0].dashes.split(', ');

/** Verbs of other tools, with ours. */
export const verbAliases: Readonly<Record<string, string>> = {
  ls: 'list',
  view: 'get',
  show: 'get',
  new: 'create',
  add: 'create',
  edit: 'update',
  rm: 'delete',
  remove: 'delete',
};

/** Rewrites `--json=a,b` to `--json --fields a,b`, so that `--json` never consumes the next id. */
export function rewriteJson(argv: readonly string[]): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.flatMap((word, index) =>
    index < end && word.startsWith('--json=')
      ? ['--json', '--fields', word.slice('--json='.length)]
      : [word],
  );
}

/**
 * Returns noun and verb: the first two words that are neither a global flag nor the value of one. With
 * `most`, further ones as well, up to the first flag of the command itself.
 */
export function commandWords(words: readonly string[], most = 2): string[] {
  return splitFlags(words, most).found;
}

/** The flags of a connection, which `withConnectionFlags` adds to the line that was meant. */
const connectionWords = ['-p', '--profile', '--org', '--base-url'];

/**
 * Returns the flags before the last of the `count` words that name a command, and all words after it. What
 * follows a flag that is not a global one is before the command, too.
 */
export function aroundCommand(words: readonly string[], count: number) {
  const { at, ended, isForeign } = splitFlags(words, count);
  const end = at.length < count || isForeign ? words.length : (at.at(-1) ?? 0);
  const before = words.slice(0, end).filter((_, index) => !at.includes(index));
  const after = words.slice(end + 1);
  return { before, after: ended ? ['--', ...after] : after };
}

/** Returns such words, where they are, and all flags with their values, except a connection typed before them. */
export function splitFlags(words: readonly string[], most: number) {
  const at: number[] = [];
  const flags: string[] = [];
  let ended = false;
  let isForeign = false;
  let index = 0;
  for (; index < words.length && at.length < most; index++) {
    const word = words[index] ?? '';
    if (ended || !word.startsWith('-') || word === '-') at.push(index);
    else if (word === '--') ended = true;
    else if (takesNext(lastOfBundle(word))) {
      const last = lastOfBundle(word);
      index++;
      if (!connectionWords.includes(last)) flags.push(word, words[index] ?? '');
      else if (last !== word) flags.push(word.slice(0, -1));
    }
    // A flag of the command itself may take a value; the verb always precedes it.
    else if (at.length > 0 && !isGlobal(word)) break;
    else {
      isForeign ||= !isGlobal(word) && !/^-\d/.test(word);
      flags.push(word);
    }
  }
  const found = at.map((each) => words[each] ?? '');
  return { found, at, ended, isForeign, flags: [...flags, ...words.slice(index)] };
}

function takesNext(last: string): boolean {
  return globalFlags.some(
    ({ takes, word, short }) => takes !== 'nothing' && [word, `-${short}`].includes(last),
  );
}

/**
 * For a bundle such as `-qp`, its last flag, which takes the next word; the bundle itself if an
 * earlier flag takes the rest as its value.
 */
function lastOfBundle(word: string): string {
  if (!/^-[A-Za-z]{2,}$/.test(word)) return word;
  const earlier = Array.from(word.slice(1, -1), (letter) => `-${letter}`);
  const hasValue = earlier.some(takesNext);
  return hasValue ? word : `-${word.slice(-1)}`;
}

/** Returns the command that the first words name; undefined if they name none. */
export function commandNamed(
  words: readonly string[],
  table: CommandManifest,
): ManifestCommand | undefined {
  const [noun, verb] = commandWords(words);
  const alone = commandsAlone(table).find(({ words: [word] }) => word === noun);
  return alone ?? findCommand(findGroup(noun, table), verb, table);
}

/**
 * Returns the page that a line asks for with `help` and words, or with a command's words and one help
 * flag; undefined for every other line, which takes the parser to understand.
 */
export function pageAlone(argv: readonly string[], table: CommandManifest): Parsed | undefined {
  const words = argv.filter((word) => !helpFlags.includes(word));
  const [flag, ...more] = argv.filter((word) => helpFlags.includes(word));
  if (more.length > 0 || words.some((word) => word.startsWith('-'))) return undefined;
  const command = commandNamed(words, table);
  if (command?.words[0] === 'help' && flag === undefined)
    return { kind: 'command', command, values: { topic: words.slice(1) }, globals: {} };
  const group = findGroup(words[0], table);
  if (words.length !== (command ? command.words.length : group ? 1 : 0)) return undefined;
  if (flag !== undefined) return { kind: 'help', of: command ?? group, long: flag === '--help' };
  if (command) return undefined;
  return group ? { kind: 'help', of: group, long: false } : { kind: 'start', globals: {} };
}

/** True for a global flag, alone or with its value. */
export function isGlobal(word: string): boolean {
  const name = word.split('=')[0] ?? word;
  if (standardFlags.some(({ dashes }) => dashes.split(', ').includes(name))) return true;
  return globalFlags.some((flag) => isFlag(flag, word));
}

export function isFlag(
  { word, short }: Pick<ManifestParam, 'word' | 'short'>,
  typed: string,
): boolean {
  const name = typed.split('=')[0] ?? typed;
  return word === name || `-${short}` === name.slice(0, 2);
}

/** Returns the command of a group's verb, or of a verb's alias. */
export function findCommand(
  group: ManifestGroup | undefined,
  word: string | undefined,
  table: CommandManifest,
): ManifestCommand | undefined {
  if (!group || word === undefined) return undefined;
  const own = commandsOf(group, table);
  const named = (verb: string | undefined) => own.find(({ words }) => words[1] === verb);
  return named(word) ?? named(Object.hasOwn(verbAliases, word) ? verbAliases[word] : undefined);
}

/** Returns the aliases of a verb in a group: only names that none of its commands has. */
export function verbAliasesOf(verb: string, own: readonly ManifestCommand[]): string[] {
  return Object.entries(verbAliases)
    .filter(([alias, name]) => name === verb && !own.some(({ words }) => words[1] === alias))
    .map(([alias]) => alias);
}
