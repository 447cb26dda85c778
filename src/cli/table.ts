/** Records for a person: tables, and one record in detail, fitted to the terminal. */
import type { ResourceName } from '../api/contract.js';
import { isObject, type JsonObject } from '../data/json.js';
import { valueAt } from '../data/path.js';
import { defaultSorting, sortByField } from '../data/sorting.js';
import { type LabelledRow, labelledLines, widestWordOf } from '../terminal/labels.js';
import type { Paint } from '../terminal/paint.js';
import { cellText } from '../terminal/safe-text.js';
import { maxCellWidth, renderTable, type TableColumn } from '../terminal/table.js';
import { displayWidth, wrap } from '../terminal/width.js';
import { type CellOptions, cellOf, detailOf } from './cells.js';
import { terminalColumns } from './columns.js';

interface TableStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** The columns, if known; otherwise they are chosen from the records. */
  readonly columnNames: readonly string[] | undefined;
  /** The headers of columns that are not headed by their field's name. */
  readonly headers: ReadonlyMap<string, string> | undefined;
  readonly keepOrder: boolean;
}

/** Renders records as the lines of a table, in the usual order of their resource unless `keepOrder` is set. */
export async function recordTable(
  records: readonly JsonObject[],
  { resource }: { readonly resource?: ResourceName | undefined },
  style: TableStyle,
): Promise<string[]> {
  const sorted = style.keepOrder ? records : inUsualOrder(records, resource);
  const { visible, hidden } = style.columnNames
    ? { visible: style.columnNames, hidden: [] }
    : terminalColumns(sorted);
  const columns: TableColumn[] = [];
  // Columns beyond the right edge are not rendered.
  let used = 0;
  for (const name of visible) {
    if (used > style.columns) break;
    const column = columnOf(name, sorted, style);
    columns.push(column);
    used += minWidthOf(column) + 2;
  }
  const omitted = [...visible.slice(columns.length), ...hidden].map(cellText);
  return renderTable(columns, { columns: style.columns, paint: style.paint, hidden: omitted });
}

/** Sorts applications newest first and other resources by name; rows without a resource keep their order. */
function inUsualOrder(
  records: readonly JsonObject[],
  resource: ResourceName | undefined,
): readonly JsonObject[] {
  return resource === undefined ? records : sortByField(records, defaultSorting(resource));
}

function columnOf(name: string, records: readonly JsonObject[], style: TableStyle): TableColumn {
  return {
    name: cellText(style.headers?.get(name) ?? name) || '""',
    cells: records.map((record) => cellOf(valueAt(record, name), name, style)),
    neverTruncated: /(?:^|\.)id$|Id$/.test(name),
    isColored: /^(?:status|result|state|check)$/.test(name),
  };
}

/** A lower bound of a column's width, enough to tell when the terminal is full. */
function minWidthOf({ name, cells }: TableColumn): number {
  let width = displayWidth(name);
  for (const cell of cells) if (cell.length > width) width = Math.min(maxCellWidth, cell.length);
  return Math.ceil(width / 2);
}

interface DetailStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
}

/** Renders all fields of a record: keys aligned, nested values indented, no line wider than the terminal. */
export function detailLines(record: JsonObject, style: DetailStyle): string[] {
  return labelledLines(
    Object.entries(record).map(([key, value]) => ({
      label: cellText(key) || '""',
      paint: style.paint.bold,
      ...detailValue(value, key, style),
    })),
    style.columns,
  );
}

/** How a value of any kind is shown beside or below its label. */
export function detailValue(
  value: unknown,
  field: string,
  style: DetailStyle,
): Omit<LabelledRow, 'label' | 'paint'> {
  if (isObject(value) && Object.keys(value).length > 0)
    return { isBelow: true, lines: (columns) => detailLines(value, { ...style, columns }) };
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    return { isBelow: true, lines: (columns) => itemLines(value, { ...style, columns }) };
  const paint = field === 'status' ? style.paint.status : (line: string) => line;
  const text = detailOf(value, field, style);
  return { lines: (columns) => wrap(text, columns).map(paint), widestWord: widestWordOf(text) };
}

/** The items of a list, each behind a dash where there is room for one. */
function itemLines(items: readonly unknown[], style: DetailStyle): string[] {
  const dash = style.columns < 20 ? '' : '- ';
  const columns = style.columns - dash.length;
  return items.flatMap((item) =>
    detailValue(item, '', style)
      .lines(columns)
      .map((line, index) => (index === 0 ? dash : ' '.repeat(dash.length)) + line),
  );
}
