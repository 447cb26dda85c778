/** Text in the cells of a workbook: what XML cannot hold, and the names of columns. */
import { clearWord, guard } from '../data/csv.js';

/** The most columns of a sheet, up to `XFD`, and characters of a cell: limits of the format. */
export const mostColumns = 16_384;
export const mostSheetRows = 1_048_576;
export const longestText = 32_767;

/** Returns the number of a column from its letters, counted from 0. */
export function columnIndex(letters: string): number {
  let index = 0;
  for (const letter of letters) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

/**
 * Returns a text as a cell holds it: `<clear>` gets a mark, because typed into a cell it means null.
 * Everything else stands there as it is, also what a CSV would have to guard.
 */
export function sheetText(text: string): string {
  return meansClear(text) ? `'${text}` : text;
}

/** Returns the text of a cell as a CSV cell, guarded, so that both files are read alike. */
export function csvText(text: string): string {
  if (text.trim() === clearWord) return text;
  return guard(text.startsWith("'") && meansClear(text.slice(1)) ? text.slice(1) : text);
}

function meansClear(text: string): boolean {
  return text.includes(clearWord) && text.replace(/^'+/, '').trim() === clearWord;
}

/** Escapes text for XML; what XML 1.0 cannot hold is written as `_x0001_`, as Excel does. */
export function escaped(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replace(unwritable, (unit) => code(unit.charCodeAt(0)))
    .replace(/[&<>"]/g, (sign) => names[sign] ?? sign);
}

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

// A carriage return would become a line feed.
// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0001-\u0008\u000b-\u001f\ufffe\uffff]/g;
// oxlint-disable-next-line no-control-regex
const special = /[&<>"_\u0001-\u0008\u000b-\u001f\ufffe\uffff]/;

function code(unit: number): string {
  return `_x${unit.toString(16).toUpperCase().padStart(4, '0')}_`;
}

/** Replaces `_x0001_` in the text of a cell; NUL stays as written, because no field may hold it. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text
    .replace(/_x([\da-f]{4})_/gi, (all, hex: string) =>
      hex === '0000' ? all : String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .toWellFormed();
}
