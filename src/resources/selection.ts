/** Selection in bulk commands: filters of the list of any resource, and columns of a CSV. */

import { TryoutApplication, TryoutStatus } from '../api/schemas.js';
import { type Filters, listFlags } from '../cli/filters.js';
import type { Column, ColumnRules } from '../data/csv-columns.js';
import { nearest } from '../data/nearest.js';
import { orList } from '../data/text.js';

/** The list flags as selection flags; the rare ones appear in --help only. */
export const listSelectionFlags = asRare(listFlags, ['where']);

/** Returns flags of which only `shown` appear on the short help page. */
export function asRare<F extends Record<string, object>>(flags: F, shown: readonly string[]): F {
  return Object.fromEntries(
    Object.entries(flags).map(([name, own]) => [
      name,
      shown.includes(name) ? own : { ...own, rare: true },
    ]),
  ) as F;
}

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

/** The columns of a CSV that names applications without editing them, as for `tryouts convert`. */
export const applicationColumns: ColumnRules = {
  columns: [
    {
      name: 'if_status',
      as: 'ifStatus',
      read: (cell) => cell.split(/[,;|]/).map((word) => readStatus(word)),
    },
    { name: 'updatedAt', read: (cell) => readTime(cell) },
  ],
  exported: Object.keys(TryoutApplication.shape),
  open: false,
};

/** Columns that set the status and the notes of applications. */
export const editColumns: ColumnRules = {
  ...applicationColumns,
  columns: [
    { name: 'status', read: readStatusCell },
    { name: 'internalNotes', aliases: ['note'], clears: true, read: (cell) => cell },
    ...applicationColumns.columns,
  ],
};

/** Reads a status; `exported`: one that resembles none of the contract may be the service's own. */
function readStatus(cell: string, exported = false): string {
  const word = cell.trim().toLowerCase();
  if (TryoutStatus.options.some((option) => option === word)) return word;
  const near = nearest(word, TryoutStatus.options);
  if (exported && near === undefined) return cell.trim();
  const advice = near ? `did you mean ${near}?` : `use ${orList(TryoutStatus.options)}`;
  throw new Error(`holds "${cell.trim()}", which is not a status (${advice}).`);
}

/** Reads a status, but keeps its case: a record may hold just that text. */
function readStatusCell(cell: string, exported: boolean): string {
  readStatus(cell, exported);
  return cell.trim();
}

function readTime(cell: string): string {
  if (!Number.isNaN(Date.parse(cell.trim()))) return cell.trim();
  throw new Error(`holds "${cell.trim()}", which is not a time.`);
}
