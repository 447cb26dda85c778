/** Selection in bulk commands on any resource: filters of the list, and columns of a CSV. */

import { listFlags } from '../cli/filters.js';
import type { Column, ColumnRules } from '../data/csv-columns.js';
import type { Filters } from '../engine/operation.js';

/** The list flags as selection flags; the rare ones appear in --help only. */
export const listSelectionFlags = {
  ...listFlags,
  search: { ...listFlags.search, rare: true },
  sort: { ...listFlags.sort, rare: true },
  limit: { ...listFlags.limit, rare: true },
};

/** The filters of a resource: `--where` and `--search`, and its own. */
export function selectionBy(
  own: Readonly<Record<string, unknown>> = {},
  tests: Filters['tests'] = () => [],
): Filters {
  return { names: [...Object.keys(own), 'where', 'search'], tests };
}

/** The time since which a record must not have changed; part of every export. */
export const exportTime: Column = { name: 'updatedAt', read: (cell) => cell.trim() };

/** Columns of an update: each sets the field of its name. */
export const fieldColumns: ColumnRules = {
  columns: [exportTime],
  exported: ['organizationId', 'createdAt'],
  open: true,
};
