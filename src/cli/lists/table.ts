/** Tables of records for a person: human heads, relative times, fitted to the terminal. */
import type { JsonObject } from '../../data/json.js';
import { valueAt } from '../../data/path.js';
import type { Paint } from '../../terminal/paint.js';
import { singleLine } from '../../terminal/safe-text.js';
import { maxCellWidth, renderTable, type TableColumn } from '../../terminal/table.js';
import { displayWidth } from '../../terminal/width.js';
import { type CellOptions, cellOf } from '../cells.js';
import { terminalColumns } from './columns.js';
import { fieldLabel, fieldNamed } from './labels.js';

interface TableStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** The columns, if known, by name or label; otherwise they are chosen from the records. */
  readonly columnNames: readonly string[] | undefined;
  /** The heads of columns that have another one than their field's label. */
  readonly headers: ReadonlyMap<string, string>;
  /** True to show the field's names below the heads. */
  readonly showsNames: boolean;
  /** The parts of the last line; undefined for none. */
  readonly footer: readonly string[] | undefined;
}

/** Renders records as the lines of a table, in the order given. */
export async function recordTable(
  records: readonly JsonObject[],
  style: TableStyle,
): Promise<string[]> {
  const { visible, hidden } = style.columnNames
    ? { visible: style.columnNames.map((name) => fieldNamed(name, records)), hidden: [] }
    : terminalColumns(records);
  const heads = headsOf(visible, style.headers);
  const columns: TableColumn[] = [];
  // Columns beyond the right edge are not rendered.
  let used = 0;
  for (const [index, name] of visible.entries()) {
    if (used > style.columns) break;
    const column = columnOf(name, heads[index] ?? name, records, style);
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
  style: TableStyle,
): TableColumn {
  const cells = records.map((record) => cellOf(valueAt(record, name), name, style));
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
