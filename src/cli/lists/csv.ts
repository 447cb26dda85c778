/** CSV: every field of the records, the documented ones first. */
import type { LocalContext } from '../../context.js';
import { collect } from '../../data/batches.js';
import { byteOrderMark, csvLine, forSpreadsheet } from '../../data/csv.js';
import type { JsonObject } from '../../data/json.js';
import { flatten } from '../../data/path.js';
import { eventLoopTurns } from '../../data/workload.js';
import { CancelledError } from '../../errors.js';
import { batchWriter, type Sink } from '../sink.js';
import type { View } from '../views.js';
import { asRecord, type Rows } from '../writers.js';
import { knownFields } from './columns.js';

/**
 * Writes records as CSV with all their columns; writes nothing before the last one has arrived.
 * Throws CancelledError after a signal.
 */
export async function writeCsv(
  sink: Sink,
  rows: Rows,
  { settings, signal }: Pick<LocalContext, 'settings' | 'signal'>,
  table: TableColumns,
): Promise<void> {
  const { delimiter, csvRaw: raw, bom, noHeader } = settings;
  const { records, columns, cellsOf, turn } = await collectTable(rows, table, 'CSV', signal);
  const header = raw ? columns : columns.map(forSpreadsheet);
  const batch = batchWriter(sink);
  const first = noHeader || header.length === 0 ? '' : csvLine(header, { delimiter, raw: true });
  await batch.push((bom ? byteOrderMark : '') + first);
  for (const record of records) {
    const waiting =
      batch.push(csvLine(cellsOf(record), { delimiter, raw })) ?? turn(columns.length);
    if (waiting) await waiting;
  }
  await batch.flush();
}

/** A column, linked to the one to its right. */
interface CsvColumn {
  readonly name: string;
  filled: boolean;
  next: CsvColumn | undefined;
}

/** The columns of a table before any record: those of its view, or those of `--fields`. */
export interface TableColumns {
  readonly view: Pick<View<never>, 'columns' | 'resource' | 'rowFields'>;
  readonly chosen?: (() => readonly string[]) | undefined;
}

/**
 * Waits for all records of a table and finds its columns. `turn` lets the event loop run after so many
 * cells. Throws CancelledError after the signal, which names the `format`.
 */
export async function collectTable(
  rows: Rows,
  table: TableColumns,
  format: string,
  signal: AbortSignal | undefined,
) {
  const records = (await collect(rows)).map(asRecord);
  const turn = eventLoopTurns(
    signal,
    () => new CancelledError(`Stopped while writing the ${format}.`),
  );
  const columns = await columnsOf(records, table, turn);
  const cellsOf = (record: JsonObject): readonly unknown[] => {
    const flat = flatten(record);
    return columns.map((column) => flat.get(column));
  };
  return { records, columns, cellsOf, turn };
}

/**
 * Returns the columns of a table with every field: the documented ones, also those that no record has,
 * then the others in the order of the records. Chosen columns are those of the records.
 */
async function columnsOf(
  records: readonly JsonObject[],
  { view, chosen }: TableColumns,
  turn: ReturnType<typeof eventLoopTurns>,
): Promise<readonly string[]> {
  if (records.length === 0) return chosen ? chosen() : (view.rowFields ?? knownFields(view));
  const found = await foundColumns(records, turn);
  if (chosen || view.columns) return found;
  const known = await knownFields(view);
  const first = known.flatMap((field) => {
    const own = found.filter((name) => name === field || name.startsWith(`${field}.`));
    return own.length > 0 ? own : [field];
  });
  return [...new Set([...first, ...found])];
}

/** The union of the records' columns; a new one follows its predecessor, or those of its root field. */
async function foundColumns(
  records: readonly JsonObject[],
  turn: ReturnType<typeof eventLoopTurns>,
): Promise<readonly string[]> {
  const start: CsvColumn = { name: '', filled: true, next: undefined };
  const byName = new Map<string, CsvColumn>();
  for (const record of records) {
    let previous = start;
    const flat = flatten(record);
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
