/** Writers: values and records as JSON, NDJSON, CSV, tab-separated lines and ids. */

import { batchesOf, collect, type Item } from '../data/batches.js';
import { eventLoopTurns } from '../data/concurrency.js';
import { byteOrderMark, type CsvOptions, csvLine, forSpreadsheet } from '../data/csv.js';
import {
  escapesOnlyQuotes,
  isObject,
  type JsonObject,
  printJson,
  printPlain,
  RawNumber,
} from '../data/json.js';
import { flatten, InnerNames, listText, plainText, valueAt } from '../data/path.js';
import { wordOfId } from '../data/references.js';
import { plural } from '../data/text.js';
import { CancelledError, OutputError, UsageError } from '../errors.js';
import { jsonTsvCell, multiLine, tsvCell } from '../terminal/safe-text.js';
import { batchWriter, type Sink } from './sink.js';

/** Records to write, streamed or complete. */
export type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/**
 * Writes a value as JSON: indented on a terminal, otherwise and with `oneLine` on one line; ends
 * with a newline.
 */
export async function writeJson(
  sink: Sink,
  value: unknown,
  { oneLine = false }: { readonly oneLine?: boolean | undefined } = {},
): Promise<void> {
  const isIndented = sink.isTerminal && !oneLine;
  if (isIndented || !isObject(value))
    return sink.write(`${printJson(value, isIndented ? { indent: 2 } : {})}\n`);
  const batch = batchWriter(sink);
  for (const piece of jsonPieces(value)) await batch.push(piece);
  await batch.flush();
}

const pieceLength = 1_000;

/** Yields an object's JSON in pieces, so that a report of 200,000 rows is never one string. */
function* jsonPieces(value: JsonObject): Generator<string> {
  let prefix = '{';
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${prefix}${printJson(key)}:`;
    prefix = ',';
    if (Array.isArray(item) && item.length > pieceLength) yield* arrayPieces(item as unknown[]);
    else yield printJson(item);
  }
  yield prefix === '{' ? '{}\n' : '}\n';
}

function* arrayPieces(items: readonly unknown[]): Generator<string> {
  for (let at = 0; at < items.length; at += pieceLength)
    yield (at === 0 ? '[' : ',') + printJson(items.slice(at, at + pieceLength)).slice(1, -1);
  yield ']';
}

/** Writes records as one JSON array; writes nothing before the last one has arrived. */
export async function writeJsonArray(sink: Sink, rows: Rows): Promise<void> {
  const indent = sink.isTerminal ? 2 : 0;
  const parts: string[] = [];
  for await (const batch of batchesOf(rows))
    for (const item of batch)
      parts.push(
        indent ? printJson(item.value, { indent }).replaceAll('\n', '\n  ') : jsonText(item),
      );
  if (parts.length === 0) return sink.write('[]\n');
  const [open, between, close] = indent ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n'];
  const batch = batchWriter(sink);
  for (const [index, part] of parts.entries()) {
    const waiting = batch.push((index === 0 ? open : between) + part);
    if (waiting) await waiting;
  }
  await batch.push(close);
  await batch.flush();
}

/** A value as one line of JSON, reusing the service's text where that is identical. */
function jsonText({ value, text }: Item<unknown>): string {
  return text ?? printJson(value);
}

/** Writes records as NDJSON, as they arrive. */
export async function writeNdjson(sink: Sink, rows: Rows): Promise<void> {
  await writeLines(sink, rows, (item) => `${jsonText(item)}\n`);
}

const controls = /\p{Cc}/u;

/**
 * Writes the ids alone, one per line; for rows without an id, the value of `idField`. Throws
 * NoIdsError if no record has one, OutputError if some records were left out.
 */
export async function writeIds(sink: Sink, rows: Rows, idField = 'id'): Promise<void> {
  let written = 0;
  let missing = 0;
  await writeLines(sink, rows, ({ value: row }) => {
    const id = isObject(row) ? (row['id'] ?? row[idField]) : row;
    const isMissing = id === undefined || id === null || typeof id === 'object';
    if (isMissing) missing += 1;
    else written += 1;
    const word = isObject(row) && id === row['id'] ? wordOfId(plainText(id)) : plainText(id);
    // Verbatim, as --ids reads it; only an id that no command accepts is escaped, to stay one line.
    return isMissing ? '' : `${controls.test(word) ? tsvCell(word) : word}\n`;
  });
  if (missing === 0) return;
  if (written === 0) throw new NoIdsError();
  throw new OutputError(
    `${plural(missing, 'record has', 'records have')} no id and cannot be printed.`,
    {
      hint: 'See them: -o json',
    },
  );
}

/**
 * Writes a body that is not JSON: unchanged to a file or pipe, sanitized to a terminal. Throws
 * OutputError for binary on a terminal.
 */
export async function writeBytes(bytes: Uint8Array, sink: Sink): Promise<void> {
  if (!sink.isTerminal) return sink.write(bytes);
  const text = Buffer.from(bytes).toString();
  if (text.includes('\u0000') || text.includes('\ufffd'))
    throw new OutputError('The answer is not text, so it is not shown on a terminal.', {
      hint: 'Send it to a file: --out FILE',
    });
  return sink.write(`${multiLine(text).replace(/\n$/, '')}\n`);
}

/** `-o ids` was given for a result without ids. */
export class NoIdsError extends UsageError {
  constructor() {
    super('This result has no ids.', { hint: 'Use -o json instead.' });
  }
}

/**
 * One cell of a tab-separated line: the full value, objects and lists as compact JSON. `onlyQuotes` is the result of `escapesOnlyQuotes` for the JSON of its record.
 */
function tsvValue(value: unknown, onlyQuotes = false): string {
  if (typeof value === 'string') return onlyQuotes ? value : tsvCell(value);
  if (typeof value !== 'object' || value === null || value instanceof RawNumber)
    return tsvCell(plainText(value));
  // Text that needs no escape has no backslash either.
  return printPlain(value, onlyQuotes) ?? jsonTsvCell(printJson(value));
}

/** The columns of a table, or what returns them once its first record has arrived or its last is read. */
export type ColumnNames = readonly string[] | (() => readonly string[]);

/** Returns the names of the columns. */
export function namesOf(columns: ColumnNames): readonly string[] {
  return typeof columns === 'function' ? columns() : columns;
}

/**
 * Writes tab-separated records as they arrive, below a header unless `noHeader`; with `quiet`, an
 * empty list prints no header.
 */
export async function writeTsv(
  sink: Sink,
  rows: Rows,
  columns: ColumnNames,
  { noHeader, quiet }: { readonly noHeader: boolean; readonly quiet: boolean },
): Promise<void> {
  // The header is written with the first record, so that a list that fails at once prints nothing.
  const cells: string[] = [];
  const header = (names: readonly string[]) =>
    noHeader ? '' : `${names.map(tsvCell).join('\t')}\n`;
  let names: readonly string[] | undefined;
  await writeLines(sink, rows, ({ value, text }) => {
    const record = asRecord(value);
    const onlyQuotes = text !== undefined && escapesOnlyQuotes(text);
    const prefix = names ? '' : header((names = namesOf(columns)));
    for (let at = 0; at < names.length; at++)
      cells[at] = tsvValue(valueAt(record, names[at] ?? ''), onlyQuotes);
    return `${prefix}${cells.join('\t')}\n`;
  });
  if (!quiet && !names) await sink.write(header(namesOf(columns)));
}

/** Writes one record as `key<TAB>value` lines, nested fields dotted. */
export async function writePairs(sink: Sink, record: JsonObject): Promise<void> {
  const lines = [...flatten(record)].map(
    ([name, value]) =>
      `${tsvCell(name)}\t${Array.isArray(value) ? tsvCell(listText(value)) : tsvValue(value)}\n`,
  );
  await sink.write(lines.join(''));
}

interface CsvStyle extends CsvOptions {
  readonly bom: boolean;
  readonly noHeader: boolean;
  /** Cancels the writing. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes records as CSV with all their columns; writes nothing before the last one has arrived.
 * Throws CancelledError after a signal.
 */
export async function writeCsv(
  sink: Sink,
  rows: Rows,
  style: CsvStyle,
  columnsIfEmpty: ColumnNames,
): Promise<void> {
  const records = (await collect(rows)).map(asRecord);
  const names = new InnerNames();
  const turn = eventLoopTurns(
    style.signal,
    () => new CancelledError('Stopped while writing the CSV.'),
  );
  const columns =
    records.length > 0 ? await csvColumns(records, names, turn) : namesOf(columnsIfEmpty);
  const header = style.raw ? columns : columns.map(forSpreadsheet);
  const batch = batchWriter(sink);
  const first = style.noHeader ? '' : csvLine(header, { ...style, raw: true });
  await batch.push((style.bom ? byteOrderMark : '') + first);
  for (const record of records) {
    const flat = flatten(record, names);
    const waiting =
      batch.push(
        csvLine(
          columns.map((column) => flat.get(column)),
          style,
        ),
      ) ?? turn(columns.length);
    if (waiting) await waiting;
  }
  await batch.flush();
}

/** Returns a list value as a record, so that every format can render it. */
export function asRecord(row: unknown): JsonObject {
  return isObject(row) ? row : { value: row };
}

/** A column, linked to the one to its right. */
interface CsvColumn {
  readonly name: string;
  filled: boolean;
  next: CsvColumn | undefined;
}

/**
 * The union of the records' columns; a new one is placed next to columns of the same root field,
 * else after its predecessor.
 */
export async function csvColumns(
  records: readonly JsonObject[],
  names: InnerNames,
  turn: ReturnType<typeof eventLoopTurns>,
): Promise<readonly string[]> {
  const start: CsvColumn = { name: '', filled: true, next: undefined };
  const byName = new Map<string, CsvColumn>();
  for (const record of records) {
    let previous = start;
    const flat = flatten(record, names);
    for (const [name, value] of flat) {
      const filled = value !== null && value !== undefined && value !== '';
      let column = byName.get(name);
      if (column) column.filled ||= filled;
      else {
        const [root = name] = name.split('.', 1);
        const followsSibling = previous.name === root || previous.name.startsWith(`${root}.`);
        const anchor = followsSibling ? previous : (byName.get(root) ?? previous);
        column = { name, filled, next: anchor.next };
        anchor.next = column;
        byName.set(name, column);
      }
      previous = column;
    }
    const waiting = turn(flat.size);
    if (waiting) await waiting;
  }
  const columns: CsvColumn[] = [];
  for (let column = start.next; column; column = column.next) columns.push(column);
  // `gamerTags` (an empty list) in one record and `gamerTags.0.game` in another are the same field.
  const parents = new Set(columns.flatMap(({ name }) => ancestors(name)));
  return columns.filter(({ name, filled }) => filled || !parents.has(name)).map(({ name }) => name);
}

function ancestors(name: string): string[] {
  const words = name.split('.');
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join('.'));
}

async function writeLines(
  sink: Sink,
  rows: Rows,
  line: (item: Item<unknown>) => string,
): Promise<void> {
  const batch = batchWriter(sink);
  try {
    for await (const items of batchesOf(rows))
      for (const item of items) {
        const waiting = batch.push(line(item));
        if (waiting) await waiting;
      }
  } finally {
    // Records that arrived before the response broke off are still written.
    await batch.flush();
  }
}
