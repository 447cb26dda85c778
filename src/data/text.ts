import { UsageError } from '../errors.js';

/** `clearNote` as it is typed: `clear-note`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `1 team`, `3 teams`; the plural is the word with an s unless given. */
export function plural(count: number, word: string, many = `${word}s`): string {
  return `${count} ${count === 1 ? word : many}`;
}

/** So many of a kind are named, the others only counted: more would fill the screen. */
export const nameFirstFew = 5;

/** The first 20 names, and how many more there are. */
export function firstOf(names: readonly string[]): string {
  const more = names.length - 20;
  return names.slice(0, 20).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** With a capital letter at its beginning. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Without those characters at its end. A regular expression that is bound to the end tries anew at
 * each of them, and in a long text of a stranger's that takes minutes.
 */
export function stripTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A word as a shell reads it back: bare when harmless, else in single quotes. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** `a`, `a or b`, `a, b or c`. */
export function orList(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The profile of `auth login` without `--profile`. */
export const defaultProfile = 'default';

/** The command that stores a key for a profile: without its name it would be another one. */
export function loginCommand(profile = defaultProfile): string {
  return `rosterctl auth login${profile === defaultProfile ? '' : ` --profile ${shellQuote(profile)}`}`;
}

/**
 * Splits a command line at spaces; quotes and backslashes as in a shell, and nothing else of a
 * shell. Throws UsageError for a quote that is not closed.
 */
export function splitWords(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, single, double, escaped, space] of command.matchAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(\s+)|[^\s'"\\]+|./gsu,
  )) {
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (piece === "'" || piece === '"')
      throw new UsageError('The command has a quote that is not closed.');
    else word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? piece);
  }
  if (word !== undefined) words.push(word);
  return words;
}
