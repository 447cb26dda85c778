/** Parsers for the values of settings and flags. */

import { readlinkSync } from 'node:fs';
import { didYouMean } from '../data/nearest.js';
import { controlCharacter, shellQuote } from '../data/text.js';
import { parseDuration, rangeHint } from '../data/time.js';
import { UsageError } from '../errors.js';
import { extensionOf, promisedFormat } from './choices.js';

/** Parses one value as typed. Throws UsageError that does not say where. `words`: what TAB offers. */
export type Parse<T> = ((text: string) => T) & { readonly words?: readonly string[] };

/** Lets a TAB offer these words for a value. */
export function offering<T>(words: readonly string[], parse: (text: string) => T): Parse<T> {
  return Object.assign(parse, { words });
}

/** Accepts one of a fixed set of words; the message suggests the one that `meantBy` returns, else the nearest. */
export function oneOf<const W extends string>(
  words: readonly W[],
  meantBy: (text: string) => W | undefined = () => undefined,
): Parse<W> {
  return offering(words, (text) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    const meant = meantBy(text);
    const question = meant === undefined ? didYouMean(text, words) : ` Did you mean ${meant}?`;
    throw new UsageError(`unknown value "${text}".${question}`, {
      // One of the words may be a comma, so commas cannot separate them.
      hint: words.every((known) => /^\w/.test(known))
        ? `Use one of: ${words.join(', ')}`
        : `Use ${words.join(' or ')}.`,
    });
  });
}

/** Accepts a whole number between two bounds, inclusive. */
export function integer(least: number, most: number): Parse<number> {
  return (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new UsageError(`"${text}" is not a whole number from ${least} to ${most}.`);
  };
}

/** Accepts a duration from `least` up to `most` (a day). Returns milliseconds. */
export function duration(least: number, most = 86_400_000): Parse<number> {
  const range = { least, most };
  return (text) => {
    const value = parseDuration(text, range);
    if (value >= least && value <= range.most) return value;
    throw new UsageError(`"${text}" is too ${value < least ? 'short' : 'long'}.`, {
      hint: rangeHint(range),
    });
  };
}

/** Accepts how long something is kept. Returns milliseconds, or undefined for `off`. */
export const keepTime = offering(['30d', 'off'], (text) =>
  text.trim() === 'off' ? undefined : parseDuration(text),
);

/** Accepts yes or no, in the words common in environment variables. */
export const onOff = offering(['on', 'off'], (text): boolean => {
  const word = text.trim().toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(word)) return true;
  if (['0', 'false', 'no', 'off'].includes(word)) return false;
  throw new UsageError(`"${text}" is neither on nor off.`, { hint: 'Write on or off.' });
});

/** Throws UsageError for a file name that a spreadsheet would take for its own format. */
export function refuseSpreadsheet(flag: string, file: string | undefined, other = ''): void {
  const extension = /\.(xlsx|xlsm|xlsb|xls|ods|numbers)$/i.exec(file ?? '')?.[0];
  if (extension === undefined) return;
  throw new UsageError(`${flag} cannot write ${extension} files.`, {
    hint: `Use .csv${other}, which every spreadsheet can open.`,
  });
}

/** Replaces a path of this process's stdout, and that of a link to one, by `-`. */
export function fileOrStdout<T extends string | undefined>(file: T): T | '-' {
  return file !== undefined && [file, linkTarget(file)].some(isStdout) ? '-' : file;
}

function isStdout(path: string): boolean {
  return /^\/(dev\/stdout|(dev|proc\/self)\/fd\/1)$/.test(path);
}

function linkTarget(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return file;
  }
}

/**
 * Returns the format for the extension of the file of `--out`. Throws UsageError for an unsupported one.
 */
export function formatOfFile(file: string | undefined): string | undefined {
  const promised = promisedFormat(file);
  if (promised !== undefined) return promised;
  refuseSpreadsheet('--out', file, ' or .xlsx');
  const extension = extensionOf(file) ?? '';
  const download = downloadHint(file);
  if (/^\.(ya?ml|xml|html?|md|toml|parquet)$/.test(extension) || download !== undefined)
    throw new UsageError(`--out cannot write ${extension} files.`, {
      hint: download ?? 'Use .csv, .xlsx, .json or .ndjson, or choose the format with -o.',
    });
  return undefined;
}

/** Says how to save a document under this name, if its extension is that of a document. */
export function downloadHint(file: string | undefined): string | undefined {
  if (!/^\.(pdf|docx?|png|jpe?g|webp|gif)$/.test(extensionOf(file) ?? '')) return undefined;
  return `To save a document: rosterctl documents download ID -O ${shellQuote(file ?? '')}`;
}

/** Accepts `5/s`, `5` or `90/m`. Returns requests per second, or undefined for `none`. */
export const parseRate: Parse<number | undefined> = (text) => {
  if (text.trim() === 'none') return undefined;
  const found = /^(\d+(?:\.\d+)?)(?:\/([sm]))?$/.exec(text.trim());
  const rate = Number(found?.[1]) / (found?.[2] === 'm' ? 60 : 1);
  if (rate > 0 && rate <= 10_000) return rate;
  throw new UsageError(`"${text}" is not a rate.`, { hint: 'Write 5/s, 90/m or none.' });
};

/** Returns a rate as it would be typed: `5/s`, or `90/m` for one that is not whole. */
export function rateText(rate: number): string {
  return Number.isInteger(rate) ? `${rate}/s` : `${Number((rate * 60).toFixed(3))}/m`;
}

/** Accepts comma-separated names, trims them, and leaves out repeated ones: `id,name`. */
export const nameList: Parse<readonly string[]> = (text) => {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  if (names.some((name) => name === '' || controlCharacter.test(name)))
    throw new UsageError(`"${text}" is not a list of names.`, { hint: 'Write id,name,status.' });
  return names;
};
