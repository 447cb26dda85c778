/** Writers: values and records as JSON, NDJSON, tab-separated lines and ids. */

import type { LocalContext } from '../context.js';
import { batchesOf, collect } from '../data/batches.js';
import { isObject, isTextOrNumber, type JsonObject, printJson, RawNumber } from '../data/json.js';
import { flatten, listText, plainText, valueAt } from '../data/path.js';
import { wordOfId } from '../data/references.js';
import { resourceWords } from '../data/resources.js';
import { controlCharacter, plural } from '../data/text.js';
import { OutputError, UsageError } from '../errors.js';
import { jsonTsvCell, multiLine, tsvCell } from '../terminal/safe-text.js';
import { batchWriter, type Sink } from './sink.js';
import type { View } from './views.js';

/** Records to write, streamed or complete. */
export type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/** Writes a value as a line of JSON, on a terminal indented unless `oneLine`. */
export async function writeJson(
  sink: Sink,
  value: unknown,
  { oneLine = false }: { readonly oneLine?: boolean | undefined },
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
    for (const row of batch) {
      const text = printJson(row, { indent });
      parts.push(indent ? text.replaceAll('\n', '\n  ') : text);
    }
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

/** Writes records as NDJSON, as they arrive. */
export async function writeNdjson(sink: Sink, rows: Rows): Promise<void> {
  await writeLines(sink, rows, (row) => `${printJson(row)}\n`);
}

/**
 * Writes the ids alone, one per line; for rows without an id, the value of `idField`. Throws
 * NoIdsError if no record has one, OutputError if some records were left out.
 */
export async function writeIds(sink: Sink, rows: Rows, idField = 'id'): Promise<void> {
  let written = 0;
  let missing = 0;
  await writeLines(sink, rows, (row) => {
    const id = isObject(row) ? (row['id'] ?? row[idField]) : row;
    const isMissing = id === '' || !isTextOrNumber(id);
    if (isMissing) missing += 1;
    else written += 1;
    const word = isObject(row) && id === row['id'] ? wordOfId(plainText(id)) : plainText(id);
    // Verbatim, as --ids reads it; only an id that no command accepts is escaped, to stay one line.
    return isMissing ? '' : `${controlCharacter.test(word) ? tsvCell(word) : word}\n`;
  });
  if (missing === 0) return;
  if (written === 0) throw new NoIdsError();
  throw new OutputError(
    `${plural(missing, 'record has', 'records have')} no id and cannot be printed.`,
    { hint: 'See them: -o json' },
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

/** One cell of a tab-separated line: the full value, objects and lists as compact JSON. */
function tsvValue(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof RawNumber)
    return tsvCell(plainText(value));
  return jsonTsvCell(printJson(value));
}

/** The columns of a table, or what returns them once its first record has arrived or its last is read. */
type ColumnNames = readonly string[] | (() => readonly string[]);

function namesOf(columns: ColumnNames): readonly string[] {
  return typeof columns === 'function' ? columns() : columns;
}

/** Writes tab-separated records as they arrive; no header if `noHeader`, nor for none if `quiet`. */
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
  await writeLines(sink, rows, (row) => {
    const record = asRecord(row);
    const prefix = names ? '' : header((names = namesOf(columns)));
    for (let at = 0; at < names.length; at++)
      cells[at] = tsvValue(valueAt(record, names[at] ?? ''));
    return `${prefix}${cells.join('\t')}\n`;
  });
  if (!quiet && !names) await sink.write(header(namesOf(columns)));
}

/** Writes records as a tab-separated table: with the chosen columns, else those of the view, else all fields. */
export async function writeTable(
  sink: Sink,
  rows: Rows,
  chosen: ColumnNames | undefined,
  { columns: own, resource }: Pick<View<never>, 'columns' | 'resource'>,
  settings: LocalContext['settings'],
): Promise<void> {
  const named = chosen ?? own ?? (resource && resourceWords[resource].columns);
  if (named) return writeTsv(sink, rows, named, settings);
  const { machineColumns } = await import('./lists/columns.js');
  const records = (await collect(rows)).map(asRecord);
  await writeTsv(sink, records, machineColumns(records), settings);
}

/** Writes one record as `key<TAB>value` lines, nested fields dotted. */
export async function writePairs(sink: Sink, record: JsonObject): Promise<void> {
  const lines = [...flatten(record)].map(
    ([name, value]) =>
      `${tsvCell(name)}\t${Array.isArray(value) ? tsvCell(listText(value)) : tsvValue(value)}\n`,
  );
  await sink.write(lines.join(''));
}

/** Returns a list value as a record, so that every format can render it. */
export function asRecord(row: unknown): JsonObject {
  return isObject(row) ? row : { value: row };
}

async function writeLines(sink: Sink, rows: Rows, line: (row: unknown) => string): Promise<void> {
  const batch = batchWriter(sink);
  try {
    for await (const some of batchesOf(rows))
      for (const row of some) {
        const waiting = batch.push(line(row));
        if (waiting) await waiting;
      }
  } finally {
    // Records that arrived before the response broke off are still written.
    await batch.flush();
  }
}
