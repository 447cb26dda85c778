/** Parses the rows of an input: ids, or the lines of a CSV with their own values. */

import { createHash } from 'node:crypto';
import { eventLoopTurns } from '../data/concurrency.js';
import {
  type ColumnRules,
  type Header,
  type HeaderOptions,
  hasIdColumn,
  readHeader,
} from '../data/csv-columns.js';
import { type CsvRow, readCsv, rowPlace, rowWord } from '../data/csv-reader.js';
import { digestOf, intern } from '../data/digest.js';
import { InputErrors } from '../data/input-errors.js';
import { isObject, type JsonObject, parseJson } from '../data/json.js';
import { kindWords, parseReference, type Reference, referenceOf } from '../data/references.js';
import { firstOf } from '../data/text.js';
import type { Selection } from '../engine/operation.js';
import { InputError, stoppedReading } from '../errors.js';
import type { SelectedRow } from '../runs/report.js';
import { type FileRowsOptions, fileRows } from './file-rows.js';
import { type NamingInput, RowNames, requireOwnRow, rowOf } from './row-names.js';

export interface CsvInput extends HeaderOptions, FileRowsOptions, NamingInput {
  readonly rules: ColumnRules;
  /** Keeps the unchanged cells of each row. */
  readonly keepsCells: boolean;
  /** Aborts the parsing, even of an input that has already arrived. */
  readonly signal: AbortSignal;
}

/**
 * Parses a CSV, or a sheet of a workbook, with values for each row. Throws one InputError for all invalid lines (a
 * missing or repeated id, invalid cells), InputError for more than 200,000 rows, CancelledError after a
 * signal.
 */
export async function selectCsv(
  chunks: AsyncIterable<Uint8Array>,
  input: CsvInput,
): Promise<Selection> {
  const hash = createHash('sha256');
  // Another sheet of the same file is another input.
  if (input.sheet !== undefined) hash.update(`${input.sheet}\0`);
  const rows = new Rows(input);
  const turn = eventLoopTurns(input.signal, () => stoppedReading(input.name));
  const hashed = async function* () {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  try {
    for await (const some of fileRows(hashed(), input)) await rows.take(some, turn);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // The rest cannot be read, but errors in the lines before it are reported too.
    rows.errors.add(error);
    rows.errors.throwIfAny();
  }
  return { ...rows.selection(), digest: hash.digest('hex') };
}

/**
 * Parses ids from a file: one per line, which may be a reference, NDJSON, a JSON array, or a CSV with
 * an id column. Throws InputError, CancelledError after a signal.
 */
export async function selectFromText(text: string, input: CsvInput): Promise<Selection> {
  const digest = digestOf(text);
  const bare = text.replace(/^\ufeff/, '');
  const start = bare.trimStart();
  if (start.startsWith('[')) return { ...(await fromJson(bare, input)), digest };
  if (start.startsWith('{'))
    return { ...(await rowsFromIds(recordsOf(bare, input), input)), digest };
  const [first = ''] = bare.split(/\r?\n|\r/, 1);
  const header = readCsv(`${first.replaceAll('"', '')}\n`)[0]?.cells ?? [];
  if (hasIdColumn(header, input.map)) return selectCsv(once(Buffer.from(text)), input);
  return { ...(await rowsFromIds(linesOf(bare, /\r?\n|\r/g), input, parseReference)), digest };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** An id and the line that names it. */
interface NamedId {
  readonly id: string;
  readonly line: number;
}

/** Yields the lines that are not blank, one at a time because there may be 200,000. */
function* linesOf(text: string, end: RegExp): Generator<NamedId> {
  let from = 0;
  for (let line = 1; from <= text.length; line += 1) {
    end.lastIndex = from;
    const found = end.exec(text);
    const id = text.slice(from, found?.index);
    if (id.trim() !== '') yield { id, line };
    from = found ? end.lastIndex : text.length + 1;
  }
}

function fromJson(text: string, input: CsvInput) {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new InputError(`${input.name} is not valid JSON: ${(error as Error).message}.`);
  }
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  return rowsFromIds(
    items.map((item, index) => ({
      id: idIn(item, `Element ${index + 1}`, input),
      line: index + 1,
    })),
    input,
  );
}

function* recordsOf(text: string, input: CsvInput): Generator<NamedId> {
  for (const { id: json, line } of linesOf(text, /\n/g)) {
    const value = valueOf(json, line);
    if (isObject(value) && value['type'] === 'summary') continue;
    yield { id: idIn(value, `Line ${line}`, input), line };
  }
}

function valueOf(json: string, line: number): unknown {
  try {
    return parseJson(json);
  } catch (error) {
    throw new InputError(`Line ${line} is not valid JSON.`, { cause: error });
  }
}

/** The id that an element names: itself, or that of a record of this organization. Throws InputError. */
function idIn(value: unknown, place: string, { organizationId }: CsvInput): string {
  const { id, organizationId: own } = isObject(value) ? value : { id: value };
  if (typeof own === 'string')
    requireOwnRow(own, `${place}: ${organizationColumn}`, { organizationId, raw: true });
  if (typeof id === 'string') return id;
  throw new InputError(`${place} holds no id.`);
}

const asId = (id: string): Reference => ({ kind: 'id', value: id, text: id });

async function rowsFromIds(
  found: Iterable<NamedId>,
  input: CsvInput,
  read: (text: string) => Reference = asId,
) {
  const ids = new RowNames(input);
  const errors = new InputErrors();
  const rows: SelectedRow[] = [];
  const turn = eventLoopTurns(input.signal, () => stoppedReading(input.name));
  for (const { id, line } of found) {
    ids.checkRoom();
    errors.collect(() => {
      const reference = read(ownText(id));
      ids.add(reference, line);
      rows.push(rowOf(reference, line));
    });
    const waiting = turn(1);
    if (waiting) await waiting;
  }
  errors.throwIfAny();
  return { rows, header: ['id'], rowWord: rowWord({}) };
}

/** Copies a text, because a slice would keep the entire input in memory. */
function ownText(slice: string): string {
  return Buffer.from(slice).toString();
}

const organizationColumn = 'organizationId';

/** Collects the rows of a CSV according to its header. */
class Rows {
  private header: Header | undefined;
  private headerCells: readonly string[] = [];
  private word = rowWord({});
  private readonly rows: SelectedRow[] = [];
  private readonly same = intern<JsonObject>();
  private readonly ids: RowNames;
  readonly errors = new InputErrors();

  constructor(private readonly input: CsvInput) {
    this.ids = new RowNames(input);
  }

  async take(rows: Iterable<CsvRow>, turn: ReturnType<typeof eventLoopTurns>): Promise<void> {
    for (const row of rows) {
      const { header } = this;
      if (!header) {
        // A sheet tells text from formulas and errors by itself; nothing in it is guarded.
        const raw = this.input.raw && row.marks === undefined;
        this.header = readHeader(row, this.input.rules, { ...this.input, raw });
        this.headerCells = row.cells;
        this.word = rowWord(row);
      } else if (row.cells.some((cell) => cell.trim() !== '')) {
        this.ids.checkRoom();
        this.errors.collect(() => this.add(row, header));
      }
      const waiting = turn(row.cells.length);
      if (waiting) await waiting;
    }
  }

  selection() {
    if (!this.header) throw new InputError(`${this.input.name} is empty: it has no header.`);
    this.errors.throwIfAny();
    const unused = this.header.unused;
    // For nested fields, the name of the parent is enough.
    const names = [...new Set(unused.map((name) => name.split('.', 1)[0] ?? name))];
    const sentences = [
      ...[...this.header.overruled].map(
        ([name, flag]) => `The column ${name} is not used: ${flag} says it for every row.`,
      ),
      ...(names.length > 0 ? [`Columns that are not sent: ${firstOf(names)}.`] : []),
    ];
    const note = sentences.length > 0 ? sentences.join(' ') : undefined;
    return { rows: this.rows, header: this.headerCells, rowWord: this.word, note };
  }

  private add(row: CsvRow, header: Header): void {
    const { line, cells } = row;
    this.checkWidth(row);
    this.checkOrganization(row);
    const key = ownText(header.key(row));
    const { kind } = this.input.key;
    const reference = kind === 'id' ? asId(key) : referenceOf(kind, key);
    if (reference.kind !== 'id' && reference.value === '')
      throw new InputError(`${header.keyPlace(row)}: the ${kindWords[reference.kind]} is empty.`);
    this.ids.add(reference, line, header.keyPlace(row));
    const own = header.own(row);
    const { id, ref } = rowOf(reference, line);
    this.rows.push({
      row: line,
      id,
      ref,
      own: Object.keys(own).length > 0 ? this.same(own) : undefined,
      cells: this.input.keepsCells ? cells : undefined,
    });
  }

  private checkOrganization(row: CsvRow): void {
    const index = this.headerCells.indexOf(organizationColumn);
    const place = `${rowPlace(row, index)}: ${organizationColumn}`;
    requireOwnRow(row.cells[index] ?? '', place, this.input);
  }

  private checkWidth(row: CsvRow): void {
    const { cells } = row;
    const width = this.headerCells.length;
    if (cells.length <= width) return;
    if (!row.marks)
      throw new InputError(
        `${rowPlace(row)} has ${cells.length} cells, but the header has ${width}.`,
        { hint: 'Put a value that contains the delimiter in double quotes.' },
      );
    const beyond = cells.findIndex((cell, index) => index >= width && cell.trim() !== '');
    if (beyond >= 0)
      throw new InputError(`${rowPlace(row, beyond)} is in a column without a header.`, {
        hint: 'Give the column a header in the first row, or empty it.',
      });
  }
}
