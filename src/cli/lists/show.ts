/** Output for people: aligned tables, records and lines on a terminal, through the pager if they are long. */

import type { LocalContext } from '../../context.js';
import { collect } from '../../data/batches.js';
import type { JsonObject } from '../../data/json.js';
import { valueAt } from '../../data/path.js';
import type { Paint } from '../../terminal/paint.js';
import { rawLines, singleLine } from '../../terminal/safe-text.js';
import { maxCellWidth, renderTable, type TableColumn } from '../../terminal/table.js';
import { displayWidth } from '../../terminal/width.js';
import { type CellOptions, tableCell } from '../cells.js';
import { canvasOf, type Sink } from '../sink.js';
import type { CountedList, View } from '../views.js';
import { asRecord, type Rows } from '../writers.js';
import { isTeamField, terminalColumns, withNames } from './columns.js';
import { fieldLabel, fieldNamed } from './labels.js';

/** The parts of a context that showing a value to a person requires. */
export interface ShowContext
  extends Pick<LocalContext, 'env' | 'lendKeys' | 'note' | 'now' | 'settings' | 'signal'> {
  /** True for what a command prints that is not a read: no pager shows it. */
  readonly isReport?: boolean | undefined;
  /** The names of teams by id, as lists on this machine have shown them. */
  readonly teamNames?: (() => Promise<ReadonlyMap<string, string>>) | undefined;
}

/** A view of rows, and the numbers of the list that they are. */
type TableView = Pick<
  View<never>,
  'resource' | 'columns' | 'interactiveColumns' | 'whenEmpty' | 'isNamed'
> & {
  readonly list: CountedList | undefined;
};

/** Writes rows as a table that fits the terminal; notes on stderr if there are none. */
export async function showTable(
  rows: Rows,
  view: TableView,
  sink: Sink,
  context: ShowContext,
): Promise<void> {
  const { settings, note } = context;
  const { list, interactiveColumns } = view;
  const records = (await collect(rows)).map(asRecord);
  const { cutNote, emptyNote, footerParts } = await import('./end.js');
  if (records.length === 0) {
    if (view.isNamed) return;
    return note(view.whenEmpty ?? emptyNote(list, view.resource, context.now()));
  }
  const hasFooter = sink.isTerminal && !settings.quiet;
  const canvas = canvasOf(sink, context);
  const lines = await recordTable(records, {
    ...canvas,
    time: settings.time,
    columnNames:
      settings.fields ??
      interactiveColumns?.map(([field]) => field) ??
      settings.overrides[`columns.${view.resource}`]?.split(',').map((name) => name.trim()) ??
      view.columns,
    headers: new Map(interactiveColumns),
    showsNames: settings.verbose,
    // A field named with --fields shows its value as it is.
    teamNames: settings.fields ? undefined : context.teamNames,
    footer: hasFooter ? (list ? footerParts(list, canvas.now) : []) : undefined,
  });
  const heads = settings.verbose ? 2 : 1;
  await showLines(settings.noHeader ? lines.slice(heads) : lines, sink, context);
  if (hasFooter || !list) return;
  const cut = cutNote(list);
  if (cut !== undefined) note(cut);
}

/** Writes the fields of one record, aligned. */
export async function showRecord(
  record: JsonObject,
  sink: Sink,
  context: ShowContext,
): Promise<void> {
  const { detailLines } = await import('../card.js');
  const lines = detailLines(record, { ...canvasOf(sink, context), time: context.settings.time });
  await showLines(lines, sink, context);
}

/** Writes lines, through the pager if they do not fit on the screen. */
export async function showLines(
  lines: readonly string[],
  sink: Sink,
  context: ShowContext,
): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join('');
  if (sink.isTerminal && lines.length >= sink.rows && (await isPaged(text, context))) return;
  await sink.write(text);
}

/** Collects what `write` prints and shows it as one page. */
export async function writePage(
  sink: Sink,
  context: ShowContext,
  write: (page: Sink) => Promise<void>,
): Promise<void> {
  const { settings, isReport } = context;
  if (settings.pager === undefined || settings.quiet || isReport) return write(sink);
  const parts: string[] = [];
  const { isTerminal, columns, rows, color } = sink;
  await write({
    isTerminal,
    columns,
    rows,
    color,
    async write(text) {
      parts.push(typeof text === 'string' ? text : Buffer.from(text).toString());
    },
  });
  const text = rawLines(parts.join(''));
  const lines = text.split('\n').length;
  if (lines > rows && (await isPaged(text, context))) return;
  await sink.write(text);
}

/** Shows text in the pager; false if there is none, or it failed. */
async function isPaged(text: string, context: ShowContext): Promise<boolean> {
  const { pager, quiet } = context.settings;
  if (pager === undefined || quiet || context.isReport) return false;
  const { showInPager } = await import('../../terminal/other-programs.js');
  return showInPager(text, pager, context);
}

interface TableStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** The columns, if known, by name or label; otherwise they are chosen from the records. */
  readonly columnNames: readonly string[] | undefined;
  /** The heads of columns that have another one than their field's label. */
  readonly headers: ReadonlyMap<string, string>;
  /** True to show the field's names below the heads. */
  readonly showsNames: boolean;
  readonly teamNames: ShowContext['teamNames'];
  /** The parts of the last line; undefined for none. */
  readonly footer: readonly string[] | undefined;
}

/** Renders records as the lines of a table: human heads, relative times, in the order given. */
async function recordTable(records: readonly JsonObject[], style: TableStyle): Promise<string[]> {
  const { visible, hidden } = style.columnNames
    ? { visible: style.columnNames.map((name) => fieldNamed(name, records)), hidden: [] }
    : terminalColumns(records);
  const heads = headsOf(visible, style.headers);
  const names = visible.some(isTeamField) ? await style.teamNames?.() : undefined;
  const columns: TableColumn[] = [];
  // Columns beyond the right edge are not rendered.
  let used = 0;
  for (const [index, name] of visible.entries()) {
    if (used > style.columns) break;
    const column = columnOf(name, heads[index] ?? name, records, { ...style, names });
    columns.push(column);
    used += minWidthOf(column) + 2;
  }
  return renderTable(columns, {
    columns: style.columns,
    paint: style.paint,
    omitted: visible.length - columns.length + hidden.length,
    footer: style.footer,
    hasNames: style.showsNames,
  });
}

/** Returns a head for each field: its label, or its name if an earlier field has the same label. */
function headsOf(
  names: readonly string[],
  headers: ReadonlyMap<string, string>,
): readonly string[] {
  const used = new Set<string>();
  return names.map((name) => {
    const label = headers.get(name) ?? fieldLabel(name);
    const head = used.has(label) ? name : label;
    used.add(head);
    return singleLine(head) || '""';
  });
}

function columnOf(
  name: string,
  head: string,
  records: readonly JsonObject[],
  style: TableStyle & { readonly names: ReadonlyMap<string, string> | undefined },
): TableColumn {
  const names = isTeamField(name) ? style.names : undefined;
  const cells = records.map((record) =>
    tableCell(withNames(valueAt(record, name), names), name, style),
  );
  const isId = /(?:^|\.)id$|Id$/.test(name);
  return {
    name: head,
    cells: style.showsNames ? [singleLine(name), ...cells] : cells,
    neverTruncated: isId,
    isDim: name === 'id',
    isColored: /^(?:status|result|state|check)$/.test(name),
  };
}

/** A lower bound of a column's width, enough to tell when the terminal is full. */
function minWidthOf({ name, cells }: TableColumn): number {
  let width = displayWidth(name);
  for (const cell of cells) if (cell.length > width) width = Math.min(maxCellWidth, cell.length);
  return Math.ceil(width / 2);
}
