/** Output: writes a command's value in the requested format, to stdout or the file of `--out`. */
import type { LocalContext } from '../context.js';
import { type Failure, OutputError, PipeClosedError } from '../errors.js';
import type { CommandOutput } from './command-output.js';
import type { ShowContext } from './lists/show.js';
import type { WorkbookContext } from './lists/workbook.js';
import { canvasOf, forData, forScreen, isAligned, nowhere, type Sink, withSink } from './sink.js';
import type { CountedList, View } from './views.js';
import {
  asRecord,
  NoIdsError,
  type Rows,
  writeBytes,
  writeIds,
  writeJson,
  writeJsonArray,
  writeNdjson,
  writePairs,
  writeTable,
  writeTsv,
} from './writers.js';

/** The context that writing a value requires. */
export interface OutputContext
  extends ShowContext,
    WorkbookContext,
    Pick<LocalContext, 'streams' | 'self'> {
  /** Text printed before the value, whatever its format. */
  readonly head?: string | undefined;
  /** True if something was changed already: an unknown field is only noted, and the report is printed. */
  readonly hasMadeChanges?: boolean | undefined;
  /** True in the dry run of a command that reads: the file of `--out` is named and not written. */
  readonly isDryRead?: boolean;
}

/**
 * Writes a command's value in the requested format, to stdout or the file of `--out`. Throws
 * UsageError (unknown `--fields`, no ids), OutputError, PipeClosedError, and the errors of a list that
 * is still being read.
 */
export async function printValue<T>(
  value: T,
  view: View<T>,
  context: OutputContext,
): Promise<void> {
  const { head } = context;
  const out = context.settings.out === '-' ? undefined : context.settings.out;
  // A response without a body leaves an empty file, not the previous one.
  if (value === undefined && head === undefined && out === undefined) return;
  const showIn = async (sink: Sink) => {
    if (head !== undefined) await sink.write(head);
    if (value !== undefined) await show(value, view, sink, context);
  };
  if (out === undefined) return withSink(out, context, showIn);
  const list = view.counted?.(value);
  if (context.isDryRead) {
    await (await import('../files/atomic-write.js')).checkWritable(out);
    await showIn(nowhere);
    const { noteUnwritten } = await import('./lists/end.js');
    return noteUnwritten(list, out, context);
  }
  await withSink(out, context, showIn);
  if (!context.streams.stderr.isTerminal) return;
  const { noteWritten } = await import('./lists/end.js');
  await noteWritten(list, out, context);
}

/** Loads what writes a result before a change, because the program's files may be replaced meanwhile. */
export async function loadWriters({ settings, streams }: LocalContext): Promise<void> {
  const { output, out } = settings;
  const { stdout, stderr } = streams;
  await Promise.all([
    output === 'csv' && import('./lists/csv.js'),
    output === 'xlsx' && import('./lists/workbook.js'),
    stdout.isTerminal && import('./lists/show.js'),
    out !== undefined && stderr.isTerminal && import('./lists/end.js'),
  ]);
}

/**
 * The error for a value that could not be printed, if that matters: a list whose reader went away ended
 * well, the answer to a change (`hasSent`) is lost.
 */
export function lostOutput(
  error: unknown,
  { isReport, keptIn, ifPipeCloses }: CommandOutput,
  hasSent: boolean,
): Failure | undefined {
  const isClosed = error instanceof PipeClosedError;
  if (isClosed && ifPipeCloses) return ifPipeCloses(error);
  const hint = keptIn && `The result is kept: rosterctl runs show ${keptIn}`;
  if (isReport && error instanceof OutputError)
    return new OutputError(error.message, { cause: error, hint: error.hint ?? hint });
  if (!isClosed || !(isReport || hasSent)) return undefined;
  return new OutputError('The result could not be written: the pipe was closed.', {
    cause: error,
    hint,
  });
}

async function show<T>(
  value: T,
  plainView: View<T>,
  stdout: Sink,
  context: OutputContext,
): Promise<void> {
  const listed = plainView.counted?.(value)?.listed;
  const view = listed ? { ...plainView, listed } : plainView;
  if (value instanceof Uint8Array) return writeBytes(value, stdout);
  const { output: format, fields, template, quiet } = context.settings;
  const sink = format === 'table' ? stdout : forData(stdout);
  if (template !== undefined) {
    const { writeTemplate } = await import('./lists/template.js');
    await writeTemplate(forScreen(sink), rowsOf(value, view, false), template, view, {
      now: context.now(),
      onUnknownField: unknownFieldNote(context),
    });
    return noteEnd(view.counted?.(value), context);
  }
  if (format === 'table' && !fields) {
    if (quiet && view.isSentence?.(value)) return;
    // In a pipe, the rows of a report are a table like any other.
    if (view.rows && view.rowFields && !isAligned(sink))
      return writeTsv(sink, view.rows(value), view.rowFields, context.settings);
    if (view.lines) return writeLines(view.lines(value, canvasOf(sink, context)), sink, context);
  }
  await showRows(value, view, sink, context);
}

async function writeLines(
  lines: readonly string[],
  sink: Sink,
  context: OutputContext,
): Promise<void> {
  if (!sink.isTerminal) return sink.write(lines.map((line) => `${line}\n`).join(''));
  const { showLines } = await import('./lists/show.js');
  return showLines(lines, sink, context);
}

/** Writes the rows of a value, or with JSON the value itself, with the fields of `--fields`. */
async function showRows<T>(
  value: T,
  plainView: View<T>,
  sink: Sink,
  context: OutputContext,
): Promise<void> {
  const { fields, output: format } = context.settings;
  const csvRows = format === 'csv' || format === 'xlsx' ? plainView.csvRows?.(value) : undefined;
  // The columns are those of the other formats.
  const view = csvRows ? { ...plainView, columns: undefined } : plainView;
  // JSON prints the report itself if --fields names its own fields, otherwise its rows.
  const printsValue = format === 'json' && !(fields && view.rows && !areFieldsOf(value, fields));
  const source = csvRows ?? rowsOf(value, view, printsValue);
  if (format === 'ids') {
    await showIds(value, source, view, sink, context);
    return noteEnd(view.counted?.(value), context);
  }
  const chosen = fields && (await choose(source, fields, view, context));
  const rows = chosen ?? source;
  switch (format) {
    case 'table': {
      // With --fields, a report is its rows.
      const isRecord = !(isMany(value) || (fields && view.rows));
      const record = isRecord ? asRecord(chosen ? await firstRow(chosen) : value) : undefined;
      if (isAligned(sink)) {
        const { showRecord, showTable } = await import('./lists/show.js');
        if (record) return showRecord(record, sink, context);
        return showTable(rows, { ...view, list: view.counted?.(value) }, sink, context);
      }
      if (record) return writePairs(sink, record);
      await writeTable(sink, rows, chosen?.names, view, context.settings);
      break;
    }
    case 'csv': {
      const { writeCsv } = await import('./lists/csv.js');
      await writeCsv(forScreen(sink), rows, context, { view, chosen: chosen?.names });
      break;
    }
    case 'xlsx': {
      const { writeRecords } = await import('./lists/workbook.js');
      await writeRecords(sink, rows, { view, chosen: chosen?.names }, context);
      break;
    }
    case 'ndjson':
      await writeNdjson(sink, rows);
      if (view.closing && !fields) await writeNdjson(sink, [view.closing(value)]);
      break;
    case 'json': {
      const isOne = printsValue && !isMany(value);
      const record = isOne && (chosen ? await firstRow(chosen) : value);
      await throughPager(sink, context, (page) =>
        isOne ? writeJson(page, record, view) : writeJsonArray(page, rows),
      );
      break;
    }
    default:
      return format satisfies never;
  }
  await noteEnd(view.counted?.(value), context);
}

/** The records with only these fields. */
async function choose<T>(
  rows: Rows,
  fields: readonly string[],
  view: View<T>,
  context: OutputContext,
) {
  const { chooseFields } = await import('./chosen-fields.js');
  return chooseFields(rows, fields, view, { onUnknownField: unknownFieldNote(context) });
}

/** Writes ids, one a line. Throws NoIdsError for a record without one, unless something was changed already. */
async function showIds<T>(
  value: T,
  rows: Rows,
  view: View<T>,
  sink: Sink,
  context: OutputContext,
): Promise<void> {
  const { fields } = context.settings;
  const [idField] = view.columns ?? [];
  const ids = view.idRows?.(value);
  // The fields are only checked, by reading the rows.
  const kept = fields && (ids ? fields : [...fields, idField ?? 'id']);
  const checked = kept ? await choose(rows, kept, view, context) : rows;
  if (ids && kept) for await (const _ of checked);
  await writeIds(forScreen(sink), ids ?? checked, idField).catch((error: unknown) => {
    // The changes are made: note the missing ids instead of failing.
    if (!context.hasMadeChanges || !(error instanceof NoIdsError)) throw error;
    context.note(error.message);
  });
}

/** Writes indented JSON for a terminal through the pager, if one may be used. */
async function throughPager(
  sink: Sink,
  context: OutputContext,
  write: (page: Sink) => Promise<void>,
): Promise<void> {
  if (!sink.isTerminal) return write(sink);
  const { writePage } = await import('./lists/show.js');
  await writePage(sink, context, write);
}

/** Notes that a list was cut, or that a filter names a value that no record has. */
async function noteEnd(list: CountedList | undefined, { note }: OutputContext): Promise<void> {
  if (!list) return;
  const { shown, matched } = list.counts;
  if (shown === matched && !(matched === 0 && list.summary)) return;
  const { cutNote, unknownValueNote } = await import('./lists/end.js');
  const text = cutNote(list) ?? unknownValueNote(list);
  if (text !== undefined) note(text);
}

function isMany(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Symbol.asyncIterator in value;
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

/** After a change an unknown field is a note, because exit code 2 says that nothing was sent. */
function unknownFieldNote({ hasMadeChanges, note }: OutputContext) {
  return hasMadeChanges ? (error: Error) => note(error.message) : undefined;
}

async function firstRow(rows: Rows): Promise<unknown> {
  for await (const row of rows) return row;
  return null;
}
