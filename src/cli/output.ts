import { formatOfFile } from '../config/parse.js';
import type { GlobalFlags, OutputFormat, Settings } from '../config/settings.js';
import { type Batches, batchesOf, recordStream, collect, type Item } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import { resourceWords } from '../data/resources.js';
import type { LendKeyboard } from '../terminal/pager.js';
import { createPaint } from '../terminal/paint.js';
import type { Environment, Streams } from '../terminal/streams.js';
import { forScreen, type Sink, withSink } from './sink.js';
import type { View } from './views.js';
import {
  asRecord,
  NoIdsError,
  type Rows,
  writeBytes,
  writeCsv,
  writeIds,
  writeJson,
  writeJsonArray,
  writeNdjson,
  writePairs,
  writeTsv,
} from './writers.js';

/** The settings that decide how a value is shown. */
export type OutputSettings = Pick<
  Settings,
  | 'output'
  | 'fields'
  | 'out'
  | 'bom'
  | 'delimiter'
  | 'csvRaw'
  | 'noHeader'
  | 'quiet'
  | 'time'
  | 'pager'
  | 'overrides'
>;

/** What showing a value needs of the world. */
export interface Presenting {
  readonly settings: OutputSettings;
  /** As typed: a format named on the command line beats the extension of `--out`. */
  readonly flags?: Pick<GlobalFlags, 'output' | 'json'> | undefined;
  readonly streams: Streams;
  readonly lendKeys?: LendKeyboard | undefined;
  /** What stands before the value, whatever its format. */
  readonly head?: string | undefined;
  /** Ends the wait for the reader of a named pipe. */
  readonly signal?: AbortSignal | undefined;
  readonly env: Environment;
  readonly now: () => Date;
  readonly note: (line: string) => void;
  /** Something was changed before: a field that nothing has is told, and the rest is shown. */
  readonly isDone?: boolean | undefined;
  /** The records are in the order that the user asked for (`--sort`): no table sorts them again. */
  readonly sorted?: boolean | undefined;
}

/**
 * Writes a command's value in the format asked for, to stdout or the file of `--out`. Throws
 * UsageError (unknown `--fields`, no ids), OutputError, PipeClosedError, and what a list that is
 * still on its way throws.
 */
export async function present<T>(value: T, view: View<T>, world: Presenting): Promise<void> {
  // There was no answer to show.
  const { head } = world;
  if (value === undefined && head === undefined) return;
  await withSink(world.settings.out, world, async (sink) => {
    if (head !== undefined) await sink.write(head);
    if (value !== undefined) await show(value, view, sink, world);
  });
}

async function show<T>(value: T, view: View<T>, sink: Sink, world: Presenting): Promise<void> {
  if (value instanceof Uint8Array) return writeBytes(value, sink);
  const format = formatOf(world);
  const { fields } = world.settings;
  const isTable = format === 'table' && !fields;
  // What a report consists of are rows: for a pipe they are a table like any other.
  if (isTable && view.rows && view.rowFields && !sink.isTerminal)
    return writeTsv(sink, view.rows(value), view.rowFields, world.settings);
  if (isTable && view.lines) {
    const lines = view.lines(value, canvasOf(sink, world));
    return showLines(lines, sink, world);
  }
  const many = isMany(value);
  // Of a report whose own fields are named, JSON shows these; else its rows.
  const isWhole = format === 'json' && !(fields && view.rows && !areOf(value, fields));
  const source = rowsOf(value, view, isWhole);
  const rows = fields ? await chosen(source, fields, view, world) : source;
  if (format === 'ids') {
    const ids = view.idRows?.(value) ?? source;
    return writeIds(forScreen(sink), ids, view.columns?.[0]).catch((error: unknown) => {
      // That it was done is worth more than what it was to be shown as.
      if (!world.isDone || !(error instanceof NoIdsError)) throw error;
      world.note(error.message);
    });
  }
  if (format === 'json') {
    if (many || !isWhole) return writeJsonArray(sink, rows);
    return writeJson(sink, fields ? await only(rows) : value, view);
  }
  if (format === 'ndjson') {
    await writeNdjson(sink, rows);
    if (view.closing && !fields) await writeNdjson(sink, [view.closing(value)]);
    return;
  }
  if (format === 'csv')
    return writeCsv(forScreen(sink), rows, csvLook(world), fields ?? (await knownFields(view)));
  // A report with --fields is its rows.
  if (!many && !(fields && view.rows))
    return showRecord(asRecord(fields ? await only(rows) : value), sink, world);
  if (sink.isTerminal) return showTable(rows, view, sink, world);
  return writeTable(rows, view, sink, world);
}

/** `-o` and `--json` decide; without them the extension of `--out`, then the setting. */
function formatOf({ settings, flags }: Presenting): OutputFormat {
  const typed = flags?.output !== undefined || flags?.json === true;
  const named = typed ? undefined : formatOfFile('--out', settings.out);
  return named === undefined ? settings.output : (named as OutputFormat);
}

function isMany(value: unknown): boolean {
  return Array.isArray(value) || isAsync(value);
}

function isAsync(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The value as records; JSON prints an object as it is, other formats what it consists of. */
function rowsOf<T>(value: T, view: View<T>, isWhole: boolean): Rows {
  if (isMany(value)) return value as Rows;
  return (isWhole ? undefined : view.rows?.(value)) ?? [value];
}

function areOf(value: unknown, fields: readonly string[]): boolean {
  const own = asRecord(value);
  return fields.every((field) => Object.hasOwn(own, field.split('.', 1)[0] ?? ''));
}

async function chosen<T>(
  rows: Rows,
  fields: readonly string[],
  view: View<T>,
  { isDone, note }: Presenting,
): Promise<Rows> {
  const { chooseFields } = await import('./chosen-fields.js');
  return chooseFields(rows, fields, view, isDone ? (error) => note(error.message) : undefined);
}

async function only(rows: Rows): Promise<unknown> {
  for await (const row of rows) return row;
  return null;
}

function csvLook({ settings: { delimiter, csvRaw, bom, noHeader }, signal }: Presenting) {
  return { delimiter, raw: csvRaw, bom, noHeader, signal };
}

/** What heads a table without rows. */
async function knownFields<T>({ columns, resource }: View<T>): Promise<readonly string[]> {
  if (columns || resource === undefined) return columns ?? [];
  const { recordFields } = await import('./record-fields.js');
  return recordFields(resource);
}

// --- for people ---

function canvasOf(sink: Sink, { now }: Presenting) {
  const { columns, isTerminal } = sink;
  return { now: now(), columns, isTerminal, paint: createPaint(sink.color) };
}

async function showTable<T>(
  rows: Rows,
  view: View<T>,
  sink: Sink,
  world: Presenting,
): Promise<void> {
  const records = (await collect(rows)).map(asRecord);
  if (records.length === 0) return world.note(nothingFound(view));
  const { peopleTable } = await import('./table.js');
  const { interactiveColumns } = view;
  const lines = await peopleTable(records, view, {
    ...canvasOf(sink, world),
    time: world.settings.time,
    columnNames:
      world.settings.fields ??
      interactiveColumns?.map(([field]) => field) ??
      namedColumns(view, world.settings),
    headers: world.settings.fields ? undefined : new Map(interactiveColumns),
    keepOrder: world.sorted === true,
  });
  await showLines(world.settings.noHeader ? lines.slice(1) : lines, sink, world);
}

async function showRecord(record: JsonObject, sink: Sink, world: Presenting): Promise<void> {
  if (!sink.isTerminal) return writePairs(sink, record);
  const { detailLines } = await import('./card.js');
  const lines = detailLines(record, { ...canvasOf(sink, world), time: world.settings.time });
  await showLines(lines, sink, world);
}

async function showLines(
  lines: readonly string[],
  sink: Sink,
  { settings: { pager }, env, lendKeys }: Presenting,
): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join('');
  if (!sink.isTerminal || pager === undefined || lines.length < sink.rows) return sink.write(text);
  const { showInPager } = await import('../terminal/pager.js');
  const isShown = await showInPager(text, pager, env, lendKeys);
  if (!isShown) await sink.write(text);
}

function nothingFound<T>({ resource }: View<T>): string {
  if (resource === undefined) return 'Nothing to show.';
  return `No ${resourceWords[resource].plural} found.`;
}

/** The columns that the command names, or that the user configured for the resource. */
function namedColumns<T>(view: View<T>, settings: OutputSettings): readonly string[] | undefined {
  const configured = settings.overrides[`columns.${view.resource}`];
  if (configured === undefined) return view.columns;
  return configured.split(',').map((name) => name.trim());
}

// --- for machines ---

/** As many records as are looked at before a header of unknown fields is written. */
const sampleSize = 100;

async function writeTable<T>(
  rows: Rows,
  view: View<T>,
  sink: Sink,
  { settings, note }: Presenting,
): Promise<void> {
  const named = settings.fields ?? namedColumns(view, settings);
  if (named) return writeTsv(sink, rows, named, settings);
  const { columnsForMachines } = await import('./columns.js');
  const source = batchesOf(rows)[Symbol.asyncIterator]();
  const first: Item<unknown>[] = [];
  let last = await source.next();
  for (; !last.done; last = await source.next()) {
    for (const item of last.value) first.push(item);
    if (first.length >= sampleSize) break;
  }
  const sample = first.slice(0, sampleSize).map(({ value }) => asRecord(value));
  const columns = sample.length === 0 ? await knownFields(view) : columnsForMachines(sample);
  const late = new LateFields(sample);
  const all = async function* (): Batches<unknown> {
    try {
      late.see(first);
      yield first;
      while (!last.done && !(last = await source.next()).done) {
        late.see(last.value);
        yield last.value;
      }
    } finally {
      await source.return?.();
    }
  };
  await writeTsv(sink, recordStream(all), columns, settings);
  if (late.names.size > 0)
    note(
      `Fields that only later records have are not in the table: ${[...late.names].join(', ')}. Name them with --fields, or use -o csv or -o json.`,
    );
}

/** Names the fields that the sample of a list did not have. */
class LateFields {
  readonly names = new Set<string>();
  private readonly known: ReadonlySet<string>;

  constructor(sample: readonly JsonObject[]) {
    this.known = new Set(sample.flatMap((record) => Object.keys(record)));
  }

  see(items: readonly Item<unknown>[]): void {
    for (const { value } of items) {
      const record = asRecord(value);
      for (const name in record) if (!this.known.has(name)) this.names.add(name);
    }
  }
}
