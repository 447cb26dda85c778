/** Output: writes a command's value in the requested format, to stdout or the file of `--out`. */
import { formatOfFile } from '../config/parse.js';
import type { GlobalFlags, OutputFormat, Settings } from '../config/settings.js';
import { type Batches, batchesOf, collect, type Item, recordStream } from '../data/batches.js';
import type { Environment } from '../data/environment.js';
import type { JsonObject } from '../data/json.js';
import { resourceWords } from '../data/resources.js';
import type { LendKeyboard } from '../terminal/pager.js';
import { createPaint } from '../terminal/paint.js';
import type { Streams } from '../terminal/streams.js';
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

/** The settings that decide how a value is written. */
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

/** The context that writing a value requires. */
export interface OutputContext {
  readonly settings: OutputSettings;
  /** The flags as typed: a format on the command line beats the extension of `--out`. */
  readonly flags?: Pick<GlobalFlags, 'output' | 'json'> | undefined;
  readonly streams: Streams;
  readonly lendKeys?: LendKeyboard | undefined;
  /** Text printed before the value, whatever its format. */
  readonly head?: string | undefined;
  /** Ends the wait for the reader of a named pipe. */
  readonly signal?: AbortSignal | undefined;
  readonly env: Environment;
  readonly now: () => Date;
  readonly note: (line: string) => void;
  /** True if something was changed already: an unknown field is only noted, and the report is printed. */
  readonly hasWritten?: boolean | undefined;
  /** True if the records are in the order of `--sort`, so that the table keeps it. */
  readonly sorted?: boolean | undefined;
}

/**
 * Writes a command's value in the requested format, to stdout or the file of `--out`. Throws
 * UsageError (unknown `--fields`, no ids), OutputError, PipeClosedError, and the errors of a list that
 * is still being read.
 */
export async function present<T>(value: T, view: View<T>, context: OutputContext): Promise<void> {
  // The response had no body.
  const { head } = context;
  if (value === undefined && head === undefined) return;
  await withSink(context.settings.out, context, async (sink) => {
    if (head !== undefined) await sink.write(head);
    if (value !== undefined) await show(value, view, sink, context);
  });
}

async function show<T>(value: T, view: View<T>, sink: Sink, context: OutputContext): Promise<void> {
  if (value instanceof Uint8Array) return writeBytes(value, sink);
  const format = formatOf(context);
  const { fields } = context.settings;
  const isTable = format === 'table' && !fields;
  // In a pipe, the rows of a report are a table like any other.
  if (isTable && view.rows && view.rowFields && !sink.isTerminal)
    return writeTsv(sink, view.rows(value), view.rowFields, context.settings);
  if (isTable && view.lines) {
    const lines = view.lines(value, canvasOf(sink, context));
    return showLines(lines, sink, context);
  }
  const many = isMany(value);
  // JSON prints the report itself if --fields names its own fields, otherwise its rows.
  const printsValue = format === 'json' && !(fields && view.rows && !areFieldsOf(value, fields));
  const source = rowsOf(value, view, printsValue);
  const rows = fields ? await withFields(source, fields, view, context) : source;
  if (format === 'ids') {
    const ids = view.idRows?.(value) ?? source;
    return writeIds(forScreen(sink), ids, view.columns?.[0]).catch((error: unknown) => {
      // The changes are made: note the missing ids instead of failing.
      if (!context.hasWritten || !(error instanceof NoIdsError)) throw error;
      context.note(error.message);
    });
  }
  if (format === 'json') {
    if (many || !printsValue) return writeJsonArray(sink, rows);
    return writeJson(sink, fields ? await firstOf(rows) : value, view);
  }
  if (format === 'ndjson') {
    await writeNdjson(sink, rows);
    if (view.closing && !fields) await writeNdjson(sink, [view.closing(value)]);
    return;
  }
  if (format === 'csv')
    return writeCsv(forScreen(sink), rows, csvStyle(context), fields ?? (await knownFields(view)));
  // With --fields, a report is its rows.
  if (!many && !(fields && view.rows))
    return showRecord(asRecord(fields ? await firstOf(rows) : value), sink, context);
  if (sink.isTerminal) return showTable(rows, view, sink, context);
  return writeTable(rows, view, sink, context);
}

/** Returns the format of `-o` or `--json`, else of the extension of `--out`, else of the setting. */
function formatOf({ settings, flags }: OutputContext): OutputFormat {
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

/** The value as records: the object itself for JSON, its rows for other formats. */
function rowsOf<T>(value: T, view: View<T>, printsValue: boolean): Rows {
  if (isMany(value)) return value as Rows;
  return (printsValue ? undefined : view.rows?.(value)) ?? [value];
}

function areFieldsOf(value: unknown, fields: readonly string[]): boolean {
  const own = asRecord(value);
  return fields.every((field) => Object.hasOwn(own, field.split('.', 1)[0] ?? ''));
}

async function withFields<T>(
  rows: Rows,
  fields: readonly string[],
  view: View<T>,
  { hasWritten, note }: OutputContext,
): Promise<Rows> {
  const { chooseFields } = await import('./chosen-fields.js');
  return chooseFields(rows, fields, view, hasWritten ? (error) => note(error.message) : undefined);
}

async function firstOf(rows: Rows): Promise<unknown> {
  for await (const row of rows) return row;
  return null;
}

function csvStyle({ settings: { delimiter, csvRaw, bom, noHeader }, signal }: OutputContext) {
  return { delimiter, raw: csvRaw, bom, noHeader, signal };
}

/** Returns the columns of a table without rows. */
async function knownFields<T>({ columns, resource }: View<T>): Promise<readonly string[]> {
  if (columns || resource === undefined) return columns ?? [];
  const { recordFields } = await import('./record-fields.js');
  return recordFields(resource);
}

// --- for people ---

function canvasOf(sink: Sink, { now }: OutputContext) {
  const { columns, isTerminal } = sink;
  return { now: now(), columns, isTerminal, paint: createPaint(sink.color) };
}

async function showTable<T>(
  rows: Rows,
  view: View<T>,
  sink: Sink,
  context: OutputContext,
): Promise<void> {
  const records = (await collect(rows)).map(asRecord);
  if (records.length === 0) return context.note(nothingFound(view));
  const { recordTable } = await import('./table.js');
  const { interactiveColumns } = view;
  const lines = await recordTable(records, view, {
    ...canvasOf(sink, context),
    time: context.settings.time,
    columnNames:
      context.settings.fields ??
      interactiveColumns?.map(([field]) => field) ??
      namedColumns(view, context.settings),
    headers: context.settings.fields ? undefined : new Map(interactiveColumns),
    keepOrder: context.sorted === true,
  });
  await showLines(context.settings.noHeader ? lines.slice(1) : lines, sink, context);
}

async function showRecord(record: JsonObject, sink: Sink, context: OutputContext): Promise<void> {
  if (!sink.isTerminal) return writePairs(sink, record);
  const { detailLines } = await import('./table.js');
  const lines = detailLines(record, { ...canvasOf(sink, context), time: context.settings.time });
  await showLines(lines, sink, context);
}

async function showLines(
  lines: readonly string[],
  sink: Sink,
  { settings: { pager }, env, lendKeys }: OutputContext,
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

/** The columns that the user configured for the resource, else those that the command names. */
function namedColumns<T>(view: View<T>, settings: OutputSettings): readonly string[] | undefined {
  const configured = settings.overrides[`columns.${view.resource}`];
  if (configured === undefined) return view.columns;
  return configured.split(',').map((name) => name.trim());
}

// --- for machines ---

/** The number of records inspected before a header of unknown fields is written. */
const sampleSize = 100;

async function writeTable<T>(
  rows: Rows,
  view: View<T>,
  sink: Sink,
  { settings, note }: OutputContext,
): Promise<void> {
  const named = settings.fields ?? namedColumns(view, settings);
  if (named) return writeTsv(sink, rows, named, settings);
  const { machineColumns } = await import('./columns.js');
  const source = batchesOf(rows)[Symbol.asyncIterator]();
  const first: Item<unknown>[] = [];
  let last = await source.next();
  for (; !last.done; last = await source.next()) {
    for (const item of last.value) first.push(item);
    if (first.length >= sampleSize) break;
  }
  const sample = first.slice(0, sampleSize).map(({ value }) => asRecord(value));
  const columns = sample.length === 0 ? await knownFields(view) : machineColumns(sample);
  const lateFields = new LateFields(sample);
  const all = async function* (): Batches<unknown> {
    try {
      lateFields.observe(first);
      yield first;
      while (!last.done && !(last = await source.next()).done) {
        lateFields.observe(last.value);
        yield last.value;
      }
    } finally {
      await source.return?.();
    }
  };
  await writeTsv(sink, recordStream(all), columns, settings);
  if (lateFields.names.size > 0)
    note(
      `Fields that only later records have are not in the table: ${[...lateFields.names].join(', ')}. Name them with --fields, or use -o csv or -o json.`,
    );
}

/** Collects fields that the sample of a list does not have. */
class LateFields {
  readonly names = new Set<string>();
  private readonly known: ReadonlySet<string>;

  constructor(sample: readonly JsonObject[]) {
    this.known = new Set(sample.flatMap((record) => Object.keys(record)));
  }

  observe(items: readonly Item<unknown>[]): void {
    for (const { value } of items) {
      const record = asRecord(value);
      for (const name in record) if (!this.known.has(name)) this.names.add(name);
    }
  }
}
