import { nearest } from '../data/nearest.js';
import type { PlainGroup, PlainTable } from '../data/plain-table.js';
import { UsageError } from '../errors.js';
import { globalFlags } from './global-flags.js';

/** `--json=a,b` is `--json --fields a,b`: a boolean that never swallows the next id. */
export function rewriteJson(argv: readonly string[]): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.flatMap((word, index) =>
    index < end && word.startsWith('--json=')
      ? ['--json', '--fields', word.slice('--json='.length)]
      : [word],
  );
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
    if (takesValue.has(word)) index++;
    else if (word !== '--' && (!word.startsWith('-') || word === '-')) found.push(word);
    // A flag of the command's own may take a value; the verb always stands before it.
    else if (found.length === 1 && !isGlobal(word)) break;
  }
  return found;
}

function isGlobal(word: string): boolean {
  const name = word.split('=')[0] ?? word;
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
export function unknownWord(
  what: string,
  word: string,
  known: readonly string[],
  help: string,
): UsageError {
  const meant = didYouMean(word, known);
  return new UsageError(`There is no ${what} "${word}".${meant}`, { hint: `See: ${help}` });
}

/** ` Did you mean accepted?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near ? ` Did you mean ${near}?` : '';
}
