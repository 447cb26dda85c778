import { RawNumber } from './json.js';
import { isNested, listText, plainText } from './path.js';

export interface CsvOptions {
  readonly delimiter: ',' | ';' | '\t';
  /** Cells stand as they are, formulas too (`--csv-raw`). */
  readonly raw: boolean;
}

export const byteOrderMark = '\ufeff';

/**
 * One line of CSV by RFC 4180, CRLF at its end. Text that a spreadsheet would read as a formula gets
 * a leading `'` unless `raw`, and a NUL, at which a spreadsheet cuts the cell and our own import refuses
 * the file, becomes a visible `␀`. Nothing else is changed: other control characters in data stay data.
 */
export function csvLine(cells: readonly unknown[], options: CsvOptions): string {
  let line = '';
  for (let at = 0; at < cells.length; at++)
    line += (at === 0 ? '' : options.delimiter) + csvCell(cells[at], options);
  return `${line}\r\n`;
}

/** A text as it stands in a cell: without NUL, and guarded. */
export function forSpreadsheet(text: string): string {
  return guard(visible(text));
}

/** The text of the cell that the export writes for a value, before its guard. */
export function exportText(value: unknown): string {
  const isList = Array.isArray(value) && !isNested(value);
  return visible(isList ? listText(value) : plainCell(value));
}

/** A NUL as a sign; half of a surrogate pair as every encoder of UTF-8 writes it. */
function visible(text: string): string {
  const whole = text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
  return whole.isWellFormed() ? whole : whole.toWellFormed();
}

/** A plain value as a cell; `1E+400` as `1e+400`, or an import would take it for a shortened number. */
function plainCell(value: unknown): string {
  return value instanceof RawNumber ? value.text.toLowerCase() : plainText(value);
}

/**
 * Puts `'` before text that a spreadsheet would take for a formula, or our own import for something
 * else than itself, also where it would part the cell; `unguard` undoes it exactly.
 */
export function guard(cell: string): string {
  const inner = parts.test(cell) ? withinCell(cell, innerFormula, "'") : cell;
  return needsGuard(inner) ? `'${inner}` : inner;
}

/** Takes the marks of `guard` off; other text, also with a leading `'`, stays as it is. */
export function unguard(cell: string): string {
  const bare = cell.startsWith("'") && needsGuard(cell.slice(1)) ? cell.slice(1) : cell;
  return parts.test(bare) ? withinCell(bare, guardedInner, '') : bare;
}

/** Replaces what stands before each formula but the one that the cell itself begins with. */
function withinCell(cell: string, pattern: RegExp, mark: string): string {
  const first = cell.search(/\S/);
  return cell.replace(pattern, (all: string, before: string, formulaFrom: string, at: number) =>
    first >= 0 && at >= first ? before + mark + formulaFrom : all,
  );
}

/** Where a spreadsheet begins another cell that was told, or that takes, another delimiter than ours. */
const parts = /[;\t\r\n]/;
// Only what could call or reach something: points of lists, smiles, phone numbers and => begin nothing.
const beginning = "'*(?:[=\\uff1d](?![=><])|[+\\-@\\uff0b\\uff0d\\uff20](?=[^;\\t\\r\\n]*[|(]))";
const innerFormula = new RegExp(`([;\\t\\r\\n][^\\S\\t\\r\\n]*)(${beginning})`, 'g');
const guardedInner = new RegExp(`([;\\t\\r\\n][^\\S\\t\\r\\n]*)'(${beginning})`, 'g');

/**
 * What begins a formula after spaces: = + - @, their full-width forms, tab, line ends, NUL. Leading
 * marks are looked through, so that text which has one of its own gets a second and comes back whole.
 */
// oxlint-disable-next-line no-control-regex
const formula = /^'*[^\S\t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n\u0000]/;

/** A cell that sets a field to null. */
export const clearWord = '<clear>';
/** What a spreadsheet writes where a formula has no value. */
export const spreadsheetError =
  /^#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!)$|^Err:\d+$/;
/** How it writes a long number, from the twelfth digit on; a field that is meant so is hardly ever. */
export const shortenedNumber = /^-?\d(?:[.,]\d+)?E\+(?:1[1-9]|[2-9]\d|\d{3})$/;

function needsGuard(cell: string): boolean {
  if (formula.test(cell)) return true;
  const first = cell.charCodeAt(0);
  // Of ordinary text only the first letter is looked at.
  if (!meaningful.has(first) && first > 0x20 && first < 0x7f) return false;
  const bare = cell.replace(/^'+/, '').trim();
  return bare === clearWord || spreadsheetError.test(bare) || shortenedNumber.test(bare);
}

/** What those three begin with, and the guard itself. */
const meaningful: ReadonlySet<number> = new Set(Buffer.from("<#E'0123456789"));

function csvCell(cell: unknown, { delimiter, raw }: CsvOptions): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return quoted(plainCell(cell), delimiter);
  return quoted(raw ? cell : forSpreadsheet(cell), delimiter);
}

function quoted(text: string, delimiter: string): string {
  const needed = text.includes('"') || text.includes(delimiter) || /[\r\n]|^\s|\s$/.test(text);
  return needed ? `"${text.replaceAll('"', '""')}"` : text;
}
