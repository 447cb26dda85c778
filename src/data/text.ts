/** Words and phrases: plurals, lists, sizes, words to type in a shell, and how texts are compared. */
import { sep } from 'node:path';
import { UsageError } from '../errors.js';
import { type ResourceName, resourceWords } from './resources.js';

/** Matches a control character: C0, DEL or C1. V8 takes longer over \p{Cc}, at each start. */
export const controlCharacter = /[^ -~\u00a0-\uffff]/;

/**
 * The characters beyond C0 that control a terminal or end, hide or reorder a line, as a class of a
 * regular expression: DEL, C1, line and paragraph separators, bidirectional controls.
 */
export const unsafeBeyondC0 = '\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';

/** Matches each unsafe character of a text: C0, those beyond it, and lone surrogates. */
export const unsafeCharacters = new RegExp(`[\\0-\\x1f${unsafeBeyondC0}\\ud800-\\udfff]`, 'gu');

/** Returns a UTF-16 code unit as JSON escapes it: `\u009b`. */
export function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns a flag as typed: `clear-note` for `clearNote`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns `1 team`, `1,200 teams`, for people; the plural is the word with an s unless given. */
export function plural(count: number, word: string, many = `${word}s`): string {
  return `${groupedNumber(count)} ${count === 1 ? word : many}`;
}

/** Returns `1 application`, `15 new applications`: a number of records; `which`: the words before the noun. */
export function countOf(count: number, resource: ResourceName, which = ''): string {
  const { noun, plural: many } = resourceWords[resource];
  return plural(count, which + noun, which + many);
}

/**
 * How many items of a kind a message names; it only counts the rest, which would fill the screen.
 */
export const nameFirstFew = 5;

/** Returns the first `most` items, and behind them what `rest` makes of the number of the others. */
export function upTo<T>(
  most: number,
  items: readonly T[],
  rest: (more: number) => T,
): readonly T[] {
  const more = items.length - most;
  return more > 0 ? [...items.slice(0, most), rest(more)] : items;
}

/** Returns the first names and the number of the rest. */
export function firstOf(names: readonly string[], most = 20): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${groupedNumber(more)} more` : '');
}

/** Returns `1,200`. */
export function groupedNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Returns a share as `34 %`; `<1 %` for one that is not zero. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  return rounded === 0 && share > 0 ? '<1 %' : `${rounded} %`;
}

/** Returns the text with its first letter in upper case. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the text with its first letter in lower case, except for `POST` and other words in capitals. */
export function lowerFirst(text: string): string {
  return /^[A-Z][A-Z]/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

/** Returns the word that people see for a truth value. */
export function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** Returns `an application`, `a team`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/**
 * Removes those characters from the end. A regular expression anchored at the end would retry at
 * each of them, which takes minutes for a long untrusted text.
 */
export function stripTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** True on Windows, whose shells quote in another way and lack the file commands of Unix. */
export const onWindows = sep === '\\';

/** Quotes a word for a shell: unchanged if safe, otherwise in single quotes. */
export function shellQuote(word: string): string {
  if (onWindows) return quotedOnWindows(word);
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What cmd.exe or PowerShell expands, or takes as the end of the text, even between double quotes. */
const unquotable = /["\u201c-\u201e$`%\r\n]/;

/**
 * Quotes a word for both cmd.exe and PowerShell: the first takes a single quote literally, and the second
 * gives a comma or an @ a meaning. Returns VALUE for a word that no quotes make harmless in both.
 */
export function quotedOnWindows(word: string): string {
  if (/^[\w+=:./\\-]+$/.test(word)) return word;
  if (unquotable.test(word)) return 'VALUE';
  // Before a quote, a program reads two backslashes as one.
  return `"${word.replace(/\\+$/, '$&$&')}"`;
}

/** Returns the commands that hints name, by what they do to a file or a folder. */
export function fileCommands(isWindows = onWindows) {
  return isWindows
    ? { create: 'mkdir', remove: 'del', permissions: 'icacls' }
    : { create: 'mkdir -p', remove: 'rm', permissions: 'ls -ld' };
}

/** Returns a value as a sentence shows it: in quotes if it has spaces. */
export function quotedIfSpaced(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}

/** Returns `a`, `a or b`, `a, b or c`. */
export function orList(words: readonly string[]): string {
  return joined(words, 'or');
}

/** Returns `a`, `a and b`, `a, b and c`. */
export function andList(words: readonly string[]): string {
  return joined(words, 'and');
}

function joined(words: readonly string[], last: 'or' | 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** The profile of `auth login` without `--profile`. */
export const defaultProfile = 'default';

/** Returns the command that stores a key for a profile. */
export function loginCommand(profile = defaultProfile): string {
  return `rosterctl auth login${profile === defaultProfile ? '' : ` --profile ${shellQuote(profile)}`}`;
}

/**
 * Splits a command line at spaces. Quotes and backslashes work as in a shell; nothing else does. On
 * Windows, a backslash is part of a path. Throws UsageError for an unclosed quote.
 */
export function splitWords(command: string, isWindows = onWindows): string[] {
  const text = isWindows
    ? command.replace(/'[^']*'|\\/g, (piece) => (piece === '\\' ? '\\\\' : piece))
    : command;
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, single, double, escaped, space] of text.matchAll(
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

const beyondAscii = /[\u0080-\uffff]/;

/** True if two texts are equal after Unicode normalization. */
export function isSameText(a: string, b: string): boolean {
  return a === b || normalizedText(a) === normalizedText(b);
}

/** Normalizes a text (NFC) and converts it to lower case. */
export function foldCase(text: string): string {
  return normalizedText(text).toLowerCase();
}

/** Normalizes a text, except for ASCII, for which it would be the slowest step. */
export function normalizedText(text: string): string {
  return beyondAscii.test(text) ? text.normalize('NFC') : text;
}

/** Decodes percent-encoded UTF-8; returns a text that is not such an encoding unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Formats a number of bytes: `812 B`, `1.4 MiB`. */
export function binarySize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size.toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}

/** Formats the progress of a transfer: `12.3 MiB of 40 MiB, 5.1 MiB/s, 6 s left`, once there is a rate. */
export function bytesMoved(done: number, total: number, seconds: number): string {
  if (done === 0) return `${binarySize(0)} of ${binarySize(total)}`;
  const rate = done / Math.max(seconds, 0.001);
  const secondsLeft = Math.ceil(Math.max(0, total - done) / Math.max(rate, 1));
  return `${binarySize(done)} of ${binarySize(total)}, ${binarySize(rate)}/s, ${secondsLeft} s left`;
}

/** Returns the words of a text, for a long list of names. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** The number of line ends in a text, each as Windows, Unix or the old Mac has it. */
export function countLineEnds(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}
