/** Records for a person: tables, and one record in detail, fitted to the terminal. */
import type { ResourceName } from '../api/contract.js';
import { isObject, type JsonObject } from '../data/json.js';
import { valueAt } from '../data/path.js';
import { defaultSorting, sortByField } from '../data/sorting.js';
import type { Paint } from '../terminal/paint.js';
import { cellText } from '../terminal/safe-text.js';
import { maxCellWidth, renderTable, type TableColumn } from '../terminal/table.js';
import { displayWidth, pad, truncate, widestOf, wrap } from '../terminal/width.js';
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

interface CardStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
}

/** Renders all fields of a record: keys aligned, nested values indented, no line wider than the terminal. */
export function detailLines(record: JsonObject, style: CardStyle): string[] {
  return recordLines(record, '', style);
}

const maxKeyWidth = 30;
/** With fewer columns than this, a value is put below its key rather than beside it. */
const minValueWidth = 16;
const gap = '  ';

function recordLines(record: JsonObject, margin: string, style: CardStyle): string[] {
  const entries = Object.entries(record);
  const room = style.columns - margin.length;
  const keyRoom = Math.max(2, Math.min(maxKeyWidth, room));
  const keys = entries.map(([key]) => truncate(cellText(key) || '""', keyRoom));
  const width = widestOf(keys);
  return entries.flatMap(([key, value], index) => {
    const name = keys[index] ?? '';
    const nested = nestedLines(value, deeper(margin, style), style);
    if (nested) return [margin + style.paint.bold(name), ...nested];
    const text = detailOf(value, key, style);
    const paint = key === 'status' ? style.paint.status : (line: string) => line;
    const valueWidth = room - width - gap.length;
    if (valueWidth < minValueWidth) {
      const inner = deeper(margin, style);
      const lines = wrap(text, style.columns - inner.length).map((line) => inner + paint(line));
      return [margin + style.paint.bold(name), ...lines];
    }
    const label = style.paint.bold(name) + pad(name, width).slice(name.length) + gap;
    const [first = '', ...more] = wrap(text, valueWidth);
    const indent = margin + ' '.repeat(width + gap.length);
    return [margin + label + paint(first), ...more.map((line) => indent + line)].map((line) =>
      line.trimEnd(),
    );
  });
}

/** The lines of an object or of a list of objects; undefined for a value that fits on its key's line. */
function nestedLines(value: unknown, margin: string, style: CardStyle): string[] | undefined {
  if (isObject(value))
    return Object.keys(value).length > 0 ? recordLines(value, margin, style) : undefined;
  if (!Array.isArray(value) || !value.some((item) => typeof item === 'object' && item !== null))
    return undefined;
  return value.flatMap((item: unknown) => {
    const inner = deeper(margin, style);
    const lines =
      nestedLines(item, inner, style) ??
      wrap(detailOf(item, '', style), style.columns - inner.length).map((line) => inner + line);
    // There is no room for a dash; the repeating keys tell the items apart as well.
    if (inner === margin) return lines;
    const [first = '', ...more] = lines;
    return [`${margin}- ${first.slice(inner.length)}`, ...more];
  });
}

/** Adds two spaces, until half of the width is margin. */
function deeper(margin: string, style: CardStyle): string {
  return margin.length + 2 > style.columns / 2 ? margin : `${margin}${gap}`;
}
