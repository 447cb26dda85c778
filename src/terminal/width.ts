/** The width of text in columns of a terminal: measuring, truncating and wrapping it. */
import fastStringWidth from 'fast-string-width';
import { lazy } from '../data/lazy.js';
import { isPlainText } from './safe-text.js';

const ascii = /^[ -~]*$/;
const spacingMarks = /\p{Mc}/gu;
const skinTones = /\p{Emoji_Modifier}/gu;

/**
 * Returns the columns that a sanitized text takes on a terminal, without SGR colour. A spacing mark
 * counts as one column, and each emoji of a joined one as two, as many terminals draw them: the
 * result may be too wide, never too narrow.
 */
export function displayWidth(text: string): number {
  if (isPlainText(text)) return text.length;
  const marks = text.match(spacingMarks)?.length ?? 0;
  const tones = text.match(skinTones)?.length ?? 0;
  // Terminals join the parts of a Korean syllable, which the package counts one by one.
  const composed = text.normalize('NFC').replaceAll('\u200d', '');
  return fastStringWidth(composed) + marks + 2 * tones;
}

/** Returns the width of a text, at most `most`: measuring a text of 100 kB would be wasted work. */
export function widthUpTo(text: string, most: number): number {
  return text.length > most * unitsPerColumn ? most : Math.min(most, displayWidth(text));
}

/** Returns the width of the widest of any number of texts, which a spread into `Math.max` limits. */
export function widestOf(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, displayWidth(text)), 0);
}

/** Truncates a text to `columns`, between graphemes, and marks the cut with `…`. */
export function truncate(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (text.length <= columns && ascii.test(text)) return text;
  // No cell needs more than this; measuring a name of 100 kB in full would be wasted work.
  const head = text.slice(0, columns * unitsPerColumn);
  if (head.length === text.length && displayWidth(text) <= columns) return text;
  const kept =
    ascii.test(head.slice(0, columns)) && head.length > columns
      ? asciiHead(head, columns - 1)
      : headWithin(head, columns - 1);
  return `${kept.trimEnd()}…`;
}

/** Wraps a text to lines of at most `columns`, broken at spaces where possible. */
export function wrap(text: string, columns: number): string[] {
  const room = Math.max(2, columns);
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let rest = paragraph;
    while (rest.length > room * unitsPerColumn || displayWidth(rest) > room) {
      // One letter with marks may be wider than the line; it is placed nevertheless.
      const head = headWithin(rest, room) || String.fromCodePoint(rest.codePointAt(0) ?? 32);
      const space = rest[head.length] === ' ' ? head.length : head.lastIndexOf(' ');
      const line = space > 0 ? rest.slice(0, space) : head;
      lines.push(line);
      rest = rest.slice(line.length).replace(/^ /, '');
    }
    lines.push(rest);
  }
  return lines;
}

/** Pads a text with spaces to `columns`. */
export function pad(text: string, columns: number): string {
  const missing = columns - displayWidth(text);
  return missing > 0 ? text + ' '.repeat(missing) : text;
}

/** The UTF-16 units allowed per column, because a letter may carry combining marks and an emoji joiners. */
const unitsPerColumn = 24;

/** The start of a text; measures it if the letter at the cut may carry a mark that follows. */
function asciiHead(text: string, columns: number): string {
  return ascii.test(text.slice(0, columns + 1))
    ? text.slice(0, columns)
    : headWithin(text, columns);
}

const segmenter = lazy(() => new Intl.Segmenter());

function headWithin(text: string, columns: number): string {
  const head = text.slice(0, (columns + 1) * unitsPerColumn);
  if (ascii.test(head)) return head.slice(0, columns);
  let result = '';
  let width = 0;
  for (const { segment } of segmenter().segment(head)) {
    width += displayWidth(segment);
    if (width > columns) break;
    result += segment;
  }
  return result;
}
