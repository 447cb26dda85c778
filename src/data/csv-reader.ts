/** A strict reader of CSV. */
import { InputError } from '../errors.js';
import { byteOrderMark } from './csv.js';

/** One record of a CSV file; `line` is where it begins, counted from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

export type Delimiter = ',' | ';' | '\t';

/**
 * Reads CSV as it arrives. What a call gives has to be iterated to its end: reading goes on as it is,
 * and throws InputError after the last record before the mistake.
 */
interface CsvReader {
  /** The records that are whole by then. */
  push(text: string): Iterable<CsvRow>;
  /** The last record, if no line end followed it. Throws InputError for a quote that was never closed. */
  end(): Iterable<CsvRow>;
}

/**
 * A strict reader of RFC 4180: quotes with delimiters and line ends in them, CRLF, LF or CR, a byte
 * order mark. Without `delimiter` the first line decides between `,` `;` and tab. Lines with nothing
 * on them are passed over. Throws InputError naming the line for NUL, a stray quote, an unclosed
 * quote, and for a first line of more than 1 MiB.
 */
export function csvReader(delimiter?: Delimiter): CsvReader {
  return new Reader(delimiter);
}

/** All records of a text. Throws InputError as `csvReader` does. */
export function readCsv(text: string, delimiter?: Delimiter): readonly CsvRow[] {
  const reader = csvReader(delimiter);
  return [...reader.push(text), ...reader.end()];
}

const hint = 'A cell that holds a quote stands in quotes, with each quote in it written twice.';

/** In characters; no line of column names comes near. */
const longestFirstLine = 1024 * 1024;

type State = 'start' | 'plain' | 'quoted' | 'closed';

class Reader implements CsvReader {
  private state: State = 'start';
  private cell = '';
  private cells: string[] = [];
  private line = 1;
  private rowLine = 1;
  private quoteLine = 1;
  private hadQuote = false;
  /** A record that was just finished. */
  private row: CsvRow | undefined;
  private afterCr = false;
  private begun = false;
  /** What came before the first line was whole: the delimiter is not known yet. */
  private held = '';
  /** As much of it was looked through; whether that ends within quotes. */
  private looked = 0;
  private inQuotes = false;

  constructor(private delimiter: Delimiter | undefined) {}

  *push(text: string): Generator<CsvRow> {
    let chunk = text;
    if (!this.begun && chunk !== '') {
      if (chunk.startsWith(byteOrderMark)) chunk = chunk.slice(1);
      this.begun = true;
    }
    if (this.delimiter) {
      yield* this.read(chunk, this.delimiter);
      return;
    }
    this.held += chunk;
    const end = this.endOfFirstLine();
    // What is no text may be a first line for ever.
    const nul = end < 0 ? this.held.indexOf('\0', this.held.length - chunk.length) : -1;
    if (nul >= 0) throw nulAt(this.line + lineEnds(this.held.slice(0, nul)));
    if (Math.max(end, this.looked) > longestFirstLine)
      throw new InputError('The first line is longer than 1 MiB: this is probably no CSV.', {
        hint: 'A CSV begins with a line of column names. A JSON array of ids, or NDJSON, is for --ids.',
      });
    if (end >= 0) yield* this.readHeld(this.held.slice(0, end));
  }

  *end(): Generator<CsvRow> {
    if (!this.delimiter) yield* this.readHeld(this.held);
    if (this.state === 'quoted')
      throw new InputError(`Line ${this.quoteLine}: a quote is opened and never closed.`, { hint });
    this.finishRow();
    if (this.row) yield this.row;
  }

  private *readHeld(firstLine: string): Generator<CsvRow> {
    const text = this.held;
    this.held = '';
    this.delimiter = likelyDelimiter(firstLine);
    yield* this.read(text, this.delimiter);
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

  /** Goes on where the last look ended: a file of one line comes in many chunks. */
  private endOfFirstLine(): number {
    for (; this.looked < this.held.length; this.looked++) {
      const character = this.held[this.looked];
      if (character === '"') this.inQuotes = !this.inQuotes;
      else if (!this.inQuotes && (character === '\n' || character === '\r')) return this.looked;
    }
    return -1;
  }

  private readQuoted(text: string, from: number): number {
    const quote = text.indexOf('"', from);
    const end = quote < 0 ? text.length : quote;
    const part = text.slice(from, end);
    this.cell += part;
    this.countLines(part);
    if (quote < 0) return end;
    this.afterCr = false;
    this.state = 'closed';
    return end + 1;
  }

  private readBare(text: string, at: number, delimiter: Delimiter): number {
    const character = text[at] ?? '';
    if (character === '\n' && this.afterCr) {
      this.afterCr = false;
      this.rowLine = this.line;
      return at + 1;
    }
    this.afterCr = false;
    if (character === '"') {
      if (this.state === 'plain')
        throw new InputError(
          `Line ${this.line}: a quote stands inside a cell that is not quoted.`,
          {
            hint,
          },
        );
      if (this.state === 'closed') this.cell += '"';
      else this.quoteLine = this.line;
      this.hadQuote = true;
      this.state = 'quoted';
      return at + 1;
    }
    if (character === delimiter) {
      this.finishCell();
      return at + 1;
    }
    if (character === '\n' || character === '\r') {
      this.finishRow();
      this.line += 1;
      this.rowLine = this.line;
      this.afterCr = character === '\r';
      return at + 1;
    }
    if (this.state === 'closed')
      throw new InputError(`Line ${this.line}: text follows the closing quote of a cell.`, {
        hint,
      });
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

  private finishRow(): void {
    const isEmpty = this.cells.length === 0 && this.cell === '' && !this.hadQuote;
    this.finishCell();
    if (!isEmpty) this.row = { line: this.rowLine, cells: this.cells };
    this.cells = [];
    this.hadQuote = false;
  }

  private countLines(part: string): void {
    this.line += lineEnds(part) - (this.afterCr && part.startsWith('\n') ? 1 : 0);
    if (part !== '') this.afterCr = part.endsWith('\r');
  }
}

function nulAt(line: number): InputError {
  return new InputError(`Line ${line}: there is a NUL character; this is no text in UTF-8.`, {
    hint: 'Save it as CSV, UTF-8.',
  });
}

function lineEnds(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

function endOfPlain(text: string, from: number, delimiter: Delimiter): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === delimiter || character === '\n' || character === '\r' || character === '"')
      return at;
  }
  return text.length;
}

/** The delimiter that stands most often outside quotes; a comma where none does. */
function likelyDelimiter(line: string): Delimiter {
  const bare = line.replace(/"[^"]*"/g, '');
  const counts = ([',', ';', '\t'] as const).map(
    (sign) => [sign, bare.split(sign).length - 1] as const,
  );
  const [best] = counts.toSorted((a, b) => b[1] - a[1]);
  return best?.[0] ?? ',';
}
