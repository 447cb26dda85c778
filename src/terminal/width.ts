import { lazy } from '../data/lazy.js';
import fastStringWidth from 'fast-string-width';

const ascii = /^[ -~]*$/;
/** Letters of Latin, Greek and Cyrillic, dashes and quotes: one column each, no marks. */
const oneColumnEach =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e]*$/;
const spacingMarks = /\p{Mc}/gu;

/** Whether every character takes one column, on every terminal. */
export function isOneColumnEach(text: string): boolean {
  return oneColumnEach.test(text);
}

/**
 * Columns that a safe text takes in a terminal, SGR colour not counted. Spacing marks count one,
 * as many terminals draw them: the measure may be too wide, never too narrow.
 */
export function displayWidth(text: string): number {
  if (oneColumnEach.test(text)) return text.length;
  return fastStringWidth(text) + (text.match(spacingMarks)?.length ?? 0);
}

/** The columns of the widest of these texts: as many as a record has fields, more than a call takes. */
export function widestOf(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, displayWidth(text)), 0);
}

/** The text within so many columns; what is cut off is told by `…`. Cuts between graphemes. */
export function truncate(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (text.length <= columns && ascii.test(text)) return text;
  // No cell needs more than this, and a name of 100 kB is not to be measured whole.
  const head = text.slice(0, columns * unitsPerColumn);
  if (head.length === text.length && displayWidth(text) <= columns) return text;
  const kept =
    ascii.test(head.slice(0, columns)) && head.length > columns
      ? asciiHead(head, columns - 1)
      : takeColumns(head, columns - 1);
  return `${kept.trimEnd()}…`;
}

/** The text as lines of at most so many columns; broken at spaces where there are some. */
export function wrap(text: string, columns: number): string[] {
  const room = Math.max(2, columns);
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let rest = paragraph;
    while (rest.length > room * unitsPerColumn || displayWidth(rest) > room) {
      // One letter with marks may be wider than the room; it must go somewhere.
      const taken = takeColumns(rest, room) || firstLetter(rest);
      const space = rest[taken.length] === ' ' ? taken.length : taken.lastIndexOf(' ');
      const line = space > 0 ? rest.slice(0, space) : taken;
      lines.push(line);
      rest = rest.slice(line.length).replace(/^ /, '');
    }
    lines.push(rest);
  }
  return lines;
}

/** The text filled up with spaces to so many columns. */
export function pad(text: string, columns: number): string {
  const missing = columns - displayWidth(text);
  return missing > 0 ? text + ' '.repeat(missing) : text;
}

/** A letter may bring a few combining marks along, an emoji its joiners. */
const unitsPerColumn = 24;

/** The letter at the cut may carry a mark that stands behind it. */
function asciiHead(text: string, columns: number): string {
  return ascii.test(text.slice(0, columns + 1))
    ? text.slice(0, columns)
    : takeColumns(text, columns);
}

const segmenter = lazy(() => new Intl.Segmenter());

function takeColumns(text: string, columns: number): string {
  const head = text.slice(0, (columns + 1) * unitsPerColumn);
  if (ascii.test(head)) return head.slice(0, columns);
  let taken = '';
  let width = 0;
  for (const { segment } of segmenter().segment(head)) {
    width += displayWidth(segment);
    if (width > columns) break;
    taken += segment;
  }
  return taken;
}

function firstLetter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 32);
}
