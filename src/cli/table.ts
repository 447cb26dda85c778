import type { ResourceName } from '../api/contract.js';
import type { JsonObject } from '../data/json.js';
import { valueAt } from '../data/path.js';
import { sortByField, defaultSorting } from '../data/sorting.js';
import type { Paint } from '../terminal/paint.js';
import { cellText } from '../terminal/safe-text.js';
import { renderTable, type TableColumn, widestCell } from '../terminal/table.js';
import { displayWidth } from '../terminal/width.js';
import { cellOf, type Reading } from './cells.js';
import { columnsForPeople } from './columns.js';

interface TableStyle extends Reading {
  readonly columns: number;
  readonly paint: Paint;
  /** The columns, where they are known; otherwise they come from the records. */
  readonly columnNames: readonly string[] | undefined;
  /** What stands above a column where that is not its field. */
  readonly headers: ReadonlyMap<string, string> | undefined;
  readonly keepOrder: boolean;
}

/** Records as a person's table: sorted, with relative times, fitted to the terminal. */
export async function peopleTable(
  records: readonly JsonObject[],
  { resource }: { readonly resource?: ResourceName | undefined },
  look: TableStyle,
): Promise<string[]> {
  const sorted = look.keepOrder ? records : inUsualOrder(records, resource);
  const { shown, hidden } = look.columnNames
    ? { shown: look.columnNames, hidden: [] }
    : columnsForPeople(sorted);
  const columns: TableColumn[] = [];
  // Columns beyond the right edge need not be made.
  let used = 0;
  for (const name of shown) {
    if (used > look.columns) break;
    const column = columnOf(name, sorted, look);
    columns.push(column);
    used += leastWidth(column) + 2;
  }
  const left = [...shown.slice(columns.length), ...hidden].map(cellText);
  return renderTable(columns, { columns: look.columns, paint: look.paint, hidden: left });
}

/** Applications newest first, everything else by name; rows of ours stay as they are. */
function inUsualOrder(
  records: readonly JsonObject[],
  resource: ResourceName | undefined,
): readonly JsonObject[] {
  return resource === undefined ? records : sortByField(records, defaultSorting(resource));
}

function columnOf(name: string, records: readonly JsonObject[], look: TableStyle): TableColumn {
  return {
    name: cellText(look.headers?.get(name) ?? name) || '""',
    cells: records.map((record) => cellOf(valueAt(record, name), name, look)),
    whole: /(?:^|\.)id$|Id$/.test(name),
    painted: /^(?:status|result|state|check)$/.test(name),
  };
}

/** At least as wide as this: enough to know when the terminal is full. */
function leastWidth({ name, cells }: TableColumn): number {
  let width = displayWidth(name);
  for (const cell of cells) if (cell.length > width) width = Math.min(widestCell, cell.length);
  return Math.ceil(width / 2);
}
