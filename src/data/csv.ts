/** CSV cells: output, the guards against spreadsheet formulas, and the advice on what cannot be read. */
import { InputError } from '../errors.js';
import { RawNumber } from './json.js';
import { isNested, listText, plainText } from './path.js';
import { isSignedAgain } from './signed-urls.js';

interface CsvOptions {
  readonly delimiter: ',' | ';' | '\t';
  /** Write cells unchanged, including formulas (`--csv-raw`). */
  readonly raw: boolean;
}

export const byteOrderMark = '\ufeff';

/**
 * Returns one line of CSV (RFC 4180) with CRLF at its end. Unless `raw`, text that a spreadsheet
 * would read as a formula gets a leading `'`, and a NUL becomes a visible `␀`, because a
 * spreadsheet truncates the cell there and our own import refuses the file. Other control
 * characters stay unchanged.
 */
export function csvLine(cells: readonly unknown[], options: CsvOptions): string {
  let line = '';
  for (let at = 0; at < cells.length; at++)
    line += (at === 0 ? '' : options.delimiter) + csvCell(cells[at], options);
  return `${line}\r\n`;
}

/** Returns the text for a cell: without NUL, and guarded. */
export function forSpreadsheet(text: string): string {
  return guard(withoutNul(text));
}

/** Returns the text that the export writes for a value, before the guard. */
export function exportText(value: unknown): string {
  const isList = Array.isArray(value) && !isNested(value);
  return withoutNul(isList ? listText(value) : plainCell(value));
}

/**
 * True if a cell holds what the export writes for a value. Spreadsheet programs write line ends and
 * truth values in their own way, and a service may send a URL with another signature, so these may
 * differ. Where a program opened a CSV and saved a workbook, the marks of `guard` have become text.
 */
export function isExportOf(cell: string, value: unknown): boolean {
  const text = exportText(value);
  if (cell === text) return true;
  const bare = unguard(cell);
  return (
    (bare !== cell && isExportOf(bare, value)) ||
    (/^(?:true|false)$/i.test(text) && cell === text.toUpperCase()) ||
    (text.includes('\r') && withLineFeeds(cell) === withLineFeeds(text)) ||
    (cell.includes('\\') && unescaped(cell) === text) ||
    isSignedAgain(cell, text)
  );
}

/**
 * Returns an edited cell. Throws InputError, whose message follows `place`, if the line ends of the
 * present text are still escaped in it, as a table in a pipe has them: a line of the text is left.
 */
export function notEscaped(cell: string, present: unknown, place = ''): string {
  if (!/\\[tnr]/.test(cell) || /[\t\r\n]/.test(cell) || isExportOf(cell, present)) return cell;
  const lines = String(present).split(/[\t\r\n]+/);
  const parts = unescaped(cell).split(/[\t\r\n]+/);
  if (lines.length === 1 || !lines.some((line) => line !== '' && parts.includes(line))) return cell;
  throw new InputError(`${place}holds \\n or \\t where the record has a line break or a tab.`, {
    hint: 'A table in a pipe is written like that. Export with -o csv instead.',
  });
}

/** Returns a cell of a table in a pipe without its escapes. */
function unescaped(cell: string): string {
  const signs: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };
  return cell.replace(/\\(?:u([0-9a-f]{4})|([tnr\\]))/g, (_, code?: string, sign = '') =>
    code === undefined ? (signs[sign] ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** Replaces NUL with a visible sign, and lone surrogates as every UTF-8 encoder does. */
function withoutNul(text: string): string {
  const nulFree = text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
  return nulFree.isWellFormed() ? nulFree : nulFree.toWellFormed();
}

/**
 * Formats a plain value. Writes `1E+400` as `1e+400`, or an import would see a shortened number.
 */
function plainCell(value: unknown): string {
  return value instanceof RawNumber ? value.text.toLowerCase() : plainText(value);
}

/**
 * Puts `'` before text that a spreadsheet would read as a formula or our own import would misread,
 * also at places where a spreadsheet may split the cell. `unguard` is its exact inverse.
 */
export function guard(cell: string): string {
  const inner = splitPoints.test(cell) ? cell.replace(bareFormula, "$1$2'") : cell;
  return needsGuard(inner) ? `'${inner}` : inner;
}

/** Removes the marks of `guard`. Other text stays unchanged, even with a leading `'`. */
export function unguard(cell: string): string {
  const bare = cell.startsWith("'") && needsGuard(cell.slice(1)) ? cell.slice(1) : cell;
  return splitPoints.test(bare) ? bare.replace(guardedFormula, '$1$2') : bare;
}

/**
 * Returns a cell of an input for a CSV of ours: as it stood there, with a guard only before a bare
 * formula. Reading it again gives the same value: `<clear>` still means null, `'<clear>` the text.
 */
export function asInInput(cell: string): string {
  return isSpecial(cell.trim()) ? cell : forSpreadsheet(unguard(cell));
}

/** Matches places at which a spreadsheet with another delimiter than ours would start another cell. */
const splitPoints = /[,;\t\r\n]/;
const bareFormula = innerFormula('');
const guardedFormula = innerFormula("'");

function innerFormula(mark: string): RegExp {
  const ends = ';\\t\\r\\n';
  // Excel drops a quote at the start of a cell.
  const afterEnd = `([${ends}][^\\S\\t\\r\\n]*"*)${mark}(?=${formulaBefore(ends)})`;
  // In prose, a space follows a comma, and no program reads a formula behind one.
  const afterComma = `(,"*)${mark}(?=${formulaBefore(`,${ends}`)})`;
  return new RegExp(`${afterEnd}|${afterComma}`, 'g');
}

/** Only formulas that could call or reach something: not list bullets, smileys, phone numbers or =>. */
function formulaBefore(ends: string): string {
  return `'*(?:[=\\uff1d](?![=><])|[+\\-@\\uff0b\\uff0d\\uff20](?=[^${ends}]*[|(]))`;
}

/**
 * The start of a formula after spaces: = + - @, their full-width forms, tab, line ends, NUL. Skips
 * leading marks, so that text with a mark of its own gets a second one and round-trips.
 */
// oxlint-disable-next-line no-control-regex
const formula = /^'*[^\S\t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n\u0000]/;

/** A cell that sets a field to null. */
export const clearWord = '<clear>';
/** The error values that a spreadsheet writes for a formula without a value. */
export const spreadsheetError =
  /^#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!)$|^Err:\d+$/;
/** How a spreadsheet writes a number of twelve or more digits. Real data rarely looks like this. */
export const shortenedNumber = /^-?\d(?:[.,]\d+)?E\+(?:1[1-9]|[2-9]\d|\d{3})$/;

/** How many digits of a number every spreadsheet program keeps. */
export const safeDigits = 15;

function needsGuard(cell: string): boolean {
  return formula.test(cell) || isSpecial(cell.replace(/^'+/, '').trim());
}

/** True for a cell that an import reads as something else than its text. */
function isSpecial(text: string): boolean {
  return text === clearWord || spreadsheetError.test(text) || shortenedNumber.test(text);
}

function csvCell(cell: unknown, { delimiter, raw }: CsvOptions): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return quoted(plainCell(cell), delimiter);
  return quoted(raw ? cell : forSpreadsheet(cell), delimiter);
}

function quoted(text: string, delimiter: string): string {
  const needsQuotes = text.includes('"') || text.includes(delimiter) || /[\r\n]|^\s|\s$/.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Throws InputError for a cell with an error that a spreadsheet shows (`#REF!`). */
export function checkNoSpreadsheetError(cell: string, name: string, place: string): void {
  if (!spreadsheetError.test(cell.trim())) return;
  throw new InputError(`${place}: ${name} holds the spreadsheet error ${cell.trim()}.`, {
    hint:
      name === 'id'
        ? 'Fix the cell, or remove the line; then save the CSV again.'
        : 'Fix the cell, or empty it to leave the field as it is; then save the CSV again.',
  });
}

/** Throws InputError, whose message follows the name of the column, for such an error. */
export function checkNoError(text: string): void {
  if (!spreadsheetError.test(text)) return;
  throw new InputError(`holds the spreadsheet error ${text}.`, {
    hint: 'Fix the cell, or empty it to leave the field as it is; then save the file again.',
  });
}

/** Throws InputError for a long number that a spreadsheet shortened: its last digits are lost. */
export function checkNotShortened(cell: string, name: string, place: string): void {
  if (!shortenedNumber.test(cell.trim())) return;
  throw new InputError(
    `${place}: ${name} holds ${cell.trim()}: a spreadsheet shortened a long number and lost its last digits.`,
    {
      hint: 'Import that column as text, or empty the cell to leave the field as it is. If you mean that text: --csv-raw',
    },
  );
}

/** Throws InputError, whose message follows the name of the column, for what a spreadsheet makes of the present text. */
export function checkDigits(cell: string, present: unknown): void {
  const text = cell.trim();
  if (typeof present !== 'string' || !spreadsheetForms(present).includes(text)) return;
  throw new InputError(`holds "${text}", which is what spreadsheets make of ${present}.`, {
    hint: 'If you mean that, add :text to the column name. Or empty the cell to leave the field as it is.',
  });
}

/**
 * Returns the other forms of a number or its text in a CSV that a program opened: `42` for `0042`,
 * `7.00E+02` for `7e2`, and without the digits beyond 15.
 */
export function spreadsheetForms(text: string): readonly string[] {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text)) return [];
  const number = Number(text);
  const short = number.toExponential(2).replace('e', 'E').replace(/\b\d$/, '0$&');
  return [String(number), short, text.replace(beyondSafe, '0')].filter((form) => form !== text);
}

const beyondSafe = new RegExp(`(?<=\\d{${safeDigits}})\\d`, 'g');

/** True if a spreadsheet writes a number so, of which it keeps at most 15 digits and shows a part. */
export function isShortened(own: string, text: string): boolean {
  if (own.length <= mostShown) return false;
  if (!own.includes('.')) return spreadsheetForms(own).includes(text);
  // With fewer digits it may be an edit.
  if (own.replaceAll(/\D/g, '').replace(/^0+/, '').length <= safeDigits) return false;
  for (let digits = safeDigits; digits >= leastShown; digits -= 1)
    if (Number(Number(own).toPrecision(digits)) === Number(text)) return true;
  return false;
}

/** Excel shows at most 11 characters of a number: of `0.0123456789012345678`, the 8 digits of `0.012345679`. */
const mostShown = 11;
const leastShown = 8;

/** The text of a number without the zeros that a sheet shows before it; `kind`: that of the sheet's cell. */
export function bareNumber(text: string, kind: string | undefined): string {
  return kind === 'number' ? text.replace(/^0+(?=\d)/, '') : text;
}

/** The columns that `--results` adds to those of its input. */
export const resultColumns = ['result', 'error_code', 'message'];
/** The columns of the report of a run. */
export const reportColumns = [
  'row',
  'id',
  'result',
  'before',
  'after',
  'error',
  'step',
  'retryable',
  'ref',
] as const;
/** Those of them that set no field of a record; `vanished` is a column only where a row has it. */
const reportOnly: ReadonlySet<string | undefined> = new Set([
  ...reportColumns.filter((name) => name !== 'id'),
  'vanished',
]);

/** Returns the columns of a header that `--results`, the report of a run or `plan show` added: they set nothing. */
export function reportedColumns(header: readonly string[]): readonly string[] {
  if (resultColumns.every((name) => header.includes(name))) return [...resultColumns, 'ref'];
  const [first, second] = header;
  const isReport = header.some((name) => /^(?:result$|(?:before|after)\.)/.test(name));
  if (first !== 'row' || second !== 'id' || !isReport) return [];
  return header.filter((name) => reportOnly.has(name.split('.')[0]));
}

/** Returns the advice for a header without the expected column: it may be a title, or of another sheet. */
export function headerHints(
  { cells, marks }: { readonly cells: readonly string[]; readonly marks?: unknown },
  isSimilar: boolean,
): readonly string[] {
  const isAlone = !isSimilar && cells.filter((cell) => cell.trim() !== '').length === 1;
  const alone = cells.some((cell) => cell.includes('|'))
    ? 'Separate the columns by commas, semicolons or tabs.'
    : 'If the first row is a title, delete the rows above the column names.';
  return [
    ...(isAlone ? [alone] : []),
    ...(marks ? ['For another sheet of the file: --sheet NAME'] : []),
  ];
}
