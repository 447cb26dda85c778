/** What every command on many records takes to select them: filters of the list, columns of a CSV. */
import type { Column, ColumnRules } from '../data/csv-columns.js';
import type { Filters } from '../bulk/operation.js';
import { listFlags } from '../cli/filters.js';

/** The filters of every list, as a selection; the rarer flags are shown by --help alone. */
export const listSelectionFlags = {
  ...listFlags,
  search: { ...listFlags.search, rare: true },
  sort: { ...listFlags.sort, rare: true },
  limit: { ...listFlags.limit, rare: true },
};

/** The filters of a list command as a selection: the two that all have, and those of its own. */
export function selectionBy(
  own: Readonly<Record<string, unknown>> = {},
  tests: Filters['tests'] = () => [],
): Filters {
  return { names: [...Object.keys(own), 'where', 'search'], tests };
}

/** Since when a record must not have changed: an export brings it along. */
export const exportTime: Column = { name: 'updatedAt', read: (cell) => cell.trim() };

/** Any column sets the field of its name. */
export const fieldColumns: ColumnRules = {
  columns: [exportTime],
  exported: ['organizationId', 'createdAt'],
  open: true,
};
