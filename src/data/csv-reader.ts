/** A strict, streaming CSV parser. */
import { InputError } from '../errors.js';
import { byteOrderMark } from './csv.js';
import { countLineEnds, plural } from './text.js';

/** One record of a CSV file, or row of a sheet; `line` is its first line or its number, from 1. */
export interface CsvRow {
  readonly line: number;
  /** The number that a spreadsheet gives a record of a CSV file, if cells before it have several lines. */
  readonly sheetRow?: number;
  readonly cells: readonly string[];
  /** In a sheet: what is known of cells that are not text, by their column from 0. */
  readonly marks?: ReadonlyMap<number, CellMark>;
}

/** A sheet's facts about a cell beside its text; `refused`: why it cannot be used. */
export type CellMark =
  | { readonly kind: 'number' | 'boolean' | 'date' }
  | { readonly kind: 'refused'; readonly reason: string; readonly hint: string };

/** Returns the letters of a column, counted from 0: `A`, `AB`. */
export function columnName(index: number): string {
  let name = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}

/** Returns where a problem is: `Line 12` or `Line 12 (row 9)`, in a sheet `Row 12` or the cell, `F12`. */
export function rowPlace(row: Pick<CsvRow, 'line' | 'sheetRow' | 'marks'>, index?: number): string {
  if (row.marks && index !== undefined) return `${columnName(index)}${row.line}`;
  const shown = row.sheetRow === undefined ? '' : ` (row ${row.sheetRow})`;
  return `${rowWord(row)} ${row.line}${shown}`;
}

/** Returns the word for a row in messages: `Line`, or `Row` in a sheet. */
export function rowWord({ marks }: Pick<CsvRow, 'marks'>): string {
  return marks ? 'Row' : 'Line';
}

/** Throws InputError for a row with cells beyond the columns of its header. */
export function checkWidth(row: CsvRow, width: number): void {
  const { cells } = row;
  if (cells.length <= width) return;
  if (!row.marks) throw wrongWidth(row, width);
  const beyond = cells.findIndex((cell, index) => index >= width && cell.trim() !== '');
  if (beyond >= 0)
    throw new InputError(`${rowPlace(row, beyond)} is in a column without a header.`, {
      hint: 'Give the column a header in the first row, or empty it.',
    });
}

/** The error for a row with more or fewer cells than its header. */
export function wrongWidth(row: CsvRow, width: number): InputError {
  const { length } = row.cells;
  return new InputError(
    `${rowPlace(row)} has ${plural(length, 'cell')}, but the header has ${width}.`,
    {
      hint:
        length > width
          ? 'Put a value that contains the delimiter in double quotes.'
          : 'Write every cell of the row, including empty ones.',
    },
  );
}

/** Compares names, ignoring case, spaces, `_` and `-`. */
export function sameName(a: string, b: string): boolean {
  return normalized(a) === normalized(b);
}

/** A name without case, spaces, `_` and `-`. */
export function normalized(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

type Delimiter = ',' | ';' | '\t';

/** Returns all records of a text. Throws InputError as `CsvReader` does. */
export function readCsv(text: string): readonly CsvRow[] {
  const reader = new CsvReader();
  return [...reader.push(text), ...reader.end()];
}

const quoteHint = 'Put a cell that contains a quote in quotes, and double each quote in it.';
const crHint = "awk and sed add text after the CR of CRLF. Remove the CRs first: tr -d '\\r'";
const columnsHint =
  'A CSV begins with a line of column names. For ids as JSON or NDJSON, use --ids where the command has it.';
const tableHint =
  'If rosterctl wrote this table into a pipe, add -o csv there (for --ids: -o ids).';

/** The first line of a file that was made for Excel: it only names the delimiter. */
export const delimiterLine = /^"?sep=([,;\t])"?$/i;

/** The first line of JSON, on one line or indented. */
const startOfJson = /^ *[[{][ [{]*(?:"|$)/;

/** In characters, far beyond any line of column names. */
const longestFirstLine = 1024 * 1024;

type CellState = 'start' | 'plain' | 'quoted' | 'closed';

/**
 * A strict RFC 4180 parser, for text as it arrives: quoted cells with delimiters and line ends; CRLF,
 * LF or CR; a byte order mark. The first line with text decides between `,` `;` and tab,
 * by those that it holds or as `sep=;`. Skips empty lines. The caller must iterate each result to its
 * end, because parsing happens during the iteration. It throws InputError naming the line, after the
 * last record before the error: for NUL, JSON, a stray quote, an unclosed quote, a CR inside a line that
 * ends in LF, and a first line of more than 1 MiB.
 */
export class CsvReader {
  private state: CellState = 'start';
  private cell = '';
  private cells: string[] = [];
  private line = 1;
  private rowLine = 1;
  /** The line ends inside cells: so far, and before the current record. */
  private innerLines = 0;
  private rowInnerLines = 0;
  private quoteLine = 1;
  private hasQuote = false;
  private row: CsvRow | undefined;
  private afterCr = false;
  /** The first line that ended in CR alone, before more text. */
  private crLine: number | undefined;
  private delimiter: Delimiter | undefined;
  private hasBegun = false;
  /** Text buffered until the first line is complete and its delimiter is known. */
  private buffered = '';
  /** How much of it was scanned, whether that holds more than line ends, and ends inside quotes. */
  private scanned = 0;
  private hasText = false;
  private inQuotes = false;

  /** Yields the records that are complete. */
  *push(text: string): Generator<CsvRow> {
    let chunk = text;
    if (!this.hasBegun && chunk !== '') {
      if (chunk.startsWith(byteOrderMark)) chunk = chunk.slice(1);
      this.hasBegun = true;
    }
    if (this.delimiter) {
      yield* this.read(chunk, this.delimiter);
      return;
    }
    const before = this.buffered;
    this.buffered += chunk;
    const end = this.endOfFirstLine(chunk);
    // Binary data may never contain a line end.
    const nul = end < 0 ? chunk.indexOf('\0') : -1;
    if (nul >= 0) throw nulAt(this.line + countLineEnds(before + chunk.slice(0, nul)));
    if (Math.max(end, this.scanned) > longestFirstLine)
      throw new InputError(
        'The first line is longer than 1 MiB: this is probably not a CSV file.',
        { hint: columnsHint },
      );
    if (end >= 0) yield* this.readBuffered(this.buffered.slice(0, end));
  }

  /** Yields the last record, if no line end followed it. */
  *end(): Generator<CsvRow> {
    if (!this.delimiter) yield* this.readBuffered(this.buffered);
    if (this.state === 'quoted')
      throw problemAt(this.quoteLine, 'a quote is opened and never closed', quoteHint);
    this.finishRow();
    if (this.row) yield this.row;
  }

  private *readBuffered(start: string): Generator<CsvRow> {
    const text = this.buffered;
    this.buffered = '';
    const firstLine = start.replace(/^[\r\n]+/, '');
    if (startOfJson.test(firstLine))
      throw new InputError('This is JSON, not a CSV.', { hint: columnsHint });
    const named = delimiterLine.exec(firstLine)?.[1] as Delimiter | undefined;
    this.delimiter = named ?? likelyDelimiter(firstLine);
    const empty = start.slice(0, start.length - firstLine.length);
    const rest = named === undefined ? text : empty + text.slice(start.length);
    yield* this.read(rest, this.delimiter);
  }

  private *read(text: string, delimiter: Delimiter): Generator<CsvRow> {
    const nul = text.indexOf('\0');
    const readable = nul < 0 ? text : text.slice(0, nul);
    let at = 0;
    while (at < readable.length) {
      if (this.state === 'quoted') at = this.readQuoted(readable, at);
      else at = this.readBare(readable, at, delimiter);
      if (!this.row) continue;
      yield this.row;
      this.row = undefined;
    }
    if (nul >= 0) throw nulAt(this.line);
  }

  /** The end of the first line with text; scans only the new chunk, because a line may come in many. */
  private endOfFirstLine(chunk: string): number {
    for (const start = this.scanned; this.scanned < start + chunk.length; this.scanned++) {
      const character = chunk[this.scanned - start];
      const isEnd = !this.inQuotes && (character === '\n' || character === '\r');
      if (isEnd && this.hasText) return this.scanned;
      if (character === '"') this.inQuotes = !this.inQuotes;
      this.hasText ||= !isEnd;
    }
    return -1;
  }

  private readQuoted(text: string, from: number): number {
    const quote = text.indexOf('"', from);
    const end = quote < 0 ? text.length : quote;
    const segment = text.slice(from, end);
    this.cell += segment;
    this.countLines(segment);
    if (quote < 0) return end;
    this.afterCr = false;
    this.state = 'closed';
    return end + 1;
  }

  private readBare(text: string, at: number, delimiter: Delimiter): number {
    const character = text[at] ?? '';
    if (character === '\n' && this.afterCr) {
      this.afterCr = false;
      this.startRow();
      return at + 1;
    }
    if (this.afterCr && character !== '\r') this.crLine ??= this.line - 1;
    this.afterCr = false;
    if (character === '"') {
      if (this.state === 'plain') {
        const hint = delimiter === '\t' ? `${quoteHint}\n${tableHint}` : quoteHint;
        throw problemAt(this.line, 'a quote inside a cell that is not quoted', hint);
      }
      if (this.state === 'closed') this.cell += '"';
      else this.quoteLine = this.line;
      this.hasQuote = true;
      this.state = 'quoted';
      return at + 1;
    }
    if (character === delimiter) {
      this.finishCell();
      return at + 1;
    }
    if (character === '\n' || character === '\r') {
      if (character === '\n' && this.crLine !== undefined)
        throw problemAt(this.crLine, 'a carriage return (CR) inside the line', crHint);
      this.finishRow();
      this.line += 1;
      this.startRow();
      this.afterCr = character === '\r';
      return at + 1;
    }
    if (this.state === 'closed')
      throw problemAt(this.line, 'text follows the closing quote of a cell', quoteHint);
    this.state = 'plain';
    const end = endOfPlain(text, at, delimiter);
    this.cell += text.slice(at, end);
    return end;
  }

  private finishCell(): void {
    this.cells.push(this.cell);
    this.cell = '';
    this.state = 'start';
  }

  private startRow(): void {
    this.rowLine = this.line;
    this.rowInnerLines = this.innerLines;
  }

  private finishRow(): void {
    const isEmpty = this.cells.length === 0 && this.cell === '' && !this.hasQuote;
    this.finishCell();
    const sheetRow = this.rowLine - this.rowInnerLines;
    const numbers = { line: this.rowLine, ...(sheetRow !== this.rowLine && { sheetRow }) };
    if (!isEmpty) this.row = { ...numbers, cells: this.cells };
    this.cells = [];
    this.hasQuote = false;
  }

  private countLines(text: string): void {
    const ends = countLineEnds(text) - (this.afterCr && text.startsWith('\n') ? 1 : 0);
    this.line += ends;
    this.innerLines += ends;
    if (text !== '') this.afterCr = text.endsWith('\r');
  }
}

function nulAt(line: number): InputError {
  const problem = 'there is a NUL character; this is not UTF-8 text';
  return problemAt(line, problem, 'Save it as CSV, UTF-8.');
}

function problemAt(line: number, problem: string, hint: string): InputError {
  return new InputError(`Line ${line}: ${problem}.`, { hint });
}

function endOfPlain(text: string, from: number, delimiter: Delimiter): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === delimiter || character === '\n' || character === '\r' || character === '"')
      return at;
  }
  return text.length;
}

/** Returns the most frequent delimiter outside quotes; a comma if there is none. */
function likelyDelimiter(line: string): Delimiter {
  const bare = line.replace(/"[^"]*"/g, '');
  const counts = ([',', ';', '\t'] as const).map(
    (sign) => [sign, bare.split(sign).length - 1] as const,
  );
  const [best] = counts.toSorted((a, b) => b[1] - a[1]);
  return best?.[0] ?? ',';
}
