/** Words from elsewhere (the service, file names) as candidates that are safe to show and to type. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { cellText } from '../../terminal/safe-text.js';
import { truncate } from '../../terminal/width.js';
import { type Candidate, described, wordOf } from './candidates.js';

/** Latin, Greek, Cyrillic, kana, Han and Hangul letters and signs: what needs no closer look. */
const harmless =
  /^[ -~\u00a1-\u00ac\u00ae-\u02af\u0386-\u03ff\u0410-\u044f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\t\n]*$/;

const nameColumns = 60;

/** A line that is not one id and its short name: then each is looked at. */
const odd = /(?:^|\n)[-\t]|\t(?:\n|$|[^\n]*\t|[^\n]{31})|(?:^|\n)[^\t\n]*(?:\n|$)/;

/**
 * Lines of `id<TAB>name` without the ids given. Thousands are taken as they are remembered, where
 * nothing in them can do harm.
 */
export function idLines(ids: string, given: readonly string[]): readonly Candidate[] {
  const isPlain = harmless.test(ids) && !odd.test(ids);
  const lines = isPlain ? ids.split('\n') : safe(ids.split('\n').map(idAndName));
  const found = given.filter((id) => ids.startsWith(`${id}\t`) || ids.includes(`\n${id}\t`));
  return found.length === 0 ? lines : lines.filter((line) => !found.includes(wordOf(line)));
}

function idAndName(line: string): readonly [id: string, name: string] {
  const tab = line.indexOf('\t');
  return tab < 0 ? ['', ''] : [line.slice(0, tab), line.slice(tab + 1)];
}

/**
 * Only what can be typed back as it is shown: nothing that drives a terminal, hides, or would be
 * read as a flag. Made safe is not enough for a word, since another text would be another id.
 */
export function safe(named: readonly (readonly [word: string, text: string])[]): Candidate[] {
  return named
    .filter(([word]) => word !== '' && !word.startsWith('-') && cellText(word) === word)
    .map(([word, text]) => described(word, truncate(cellText(text), nameColumns)));
}

/** The files and folders, or the folders alone, whose paths begin so. */
export function pathsAt(start: string, directive: 'files' | 'folders'): Candidate[] {
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  return readdirSync(folder || '.', { withFileTypes: true })
    .map((entry) => `${folder}${entry.name}${isFolder(folder, entry) ? '/' : ''}`)
    .filter((path) => path.startsWith(start) && cellText(path) === path)
    .filter((path) => directive === 'files' || path.endsWith('/'));
}

function isFolder(folder: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return statSync(folder + entry.name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
