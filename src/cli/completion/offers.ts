/** Words from elsewhere (the service, file names) as candidates that are safe to show and to type. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { singleLine } from '../../terminal/safe-text.js';
import { truncate } from '../../terminal/width.js';
import { type Candidates, described, typedPart } from './candidates.js';

/** Latin, Greek, Cyrillic, kana, Han and Hangul letters and signs: what needs no closer look. */
const harmless =
  /^[ -~\u00a1-\u00ac\u00ae-\u02af\u0386-\u03ff\u0410-\u044f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\t\n]*$/;

const nameColumns = 60;

/**
 * Matches where a line is anything but an id and a name that fits: 60 ASCII characters do, and 30
 * of any others, which take at most two columns.
 */
const odd =
  /(?:^|\n)[-\t]|\t(?:\n|$|[^\n]*\t|(?=[^\n]{31})(?:[^\n]{61}|[^\n]*[^ -~\n]))|(?:^|\n)[^\t\n]*(?:\n|$)/;

/** Whole lines, some 4,000 characters at a time. */
const blocks = /[^\n][^]{0,4000}[^\n]*/g;

/**
 * The cached lines `id<TAB>name` as candidates, without the ids given. There may be thousands: a
 * block of lines is only taken apart where one of them has to be rewritten.
 */
export function idLines(ids: string, given: readonly string[]): Candidates {
  const safeIds = (ids.match(blocks) ?? [])
    .map((block) => (isSafe(block) ? block : safe(block.split('\n').map(idAndName))))
    .filter((block) => block !== '')
    .join('\n');
  const found = given.filter((id) => `\n${safeIds}`.includes(`\n${id}\t`));
  if (found.length === 0) return safeIds;
  const left = safeIds.split('\n').filter((line) => !found.includes(typedPart(line)));
  return left.join('\n');
}

function isSafe(lines: string): boolean {
  return harmless.test(lines) && !odd.test(lines);
}

function idAndName(line: string): readonly [id: string, name: string] {
  const tab = line.indexOf('\t');
  return tab < 0 ? ['', ''] : [line.slice(0, tab), line.slice(tab + 1)];
}

/**
 * Only what can be typed back as it is shown: nothing that drives a terminal, hides, or would be
 * read as a flag. Made safe is not enough for a word, since another text would be another id.
 */
export function safe(named: readonly (readonly [word: string, text: string])[]): Candidates {
  return named
    .filter(([word]) => word !== '' && !word.startsWith('-') && singleLine(word) === word)
    .map(([word, text]) => described(word, truncate(singleLine(text), nameColumns)))
    .join('\n');
}

/** The files and folders, or the folders alone, whose paths begin so. */
export function pathsAt(start: string, directive: 'files' | 'folders'): Candidates {
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  return readdirSync(folder || '.', { withFileTypes: true })
    .map((entry) => `${folder}${entry.name}${isFolder(folder, entry) ? '/' : ''}`)
    .filter((path) => path.startsWith(start) && singleLine(path) === path)
    .filter((path) => directive === 'files' || path.endsWith('/'))
    .join('\n');
}

function isFolder(folder: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return statSync(folder + entry.name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
