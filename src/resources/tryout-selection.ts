/** Selection of tryout applications, the columns that their CSV may have, and the edit operation on them. */
import * as z from 'zod/mini';
import { TryoutApplication, TryoutStatus } from '../api/schemas.js';
import { allFlags, type BulkValues } from '../bulk/invocation.js';
import { params } from '../cli/define.js';
import { listFlags } from '../cli/filters.js';
import type { ColumnRules } from '../data/csv-columns.js';
import { nearest } from '../data/nearest.js';
import { kebab, orList } from '../data/text.js';
import { durationInWords } from '../data/time.js';
import type { Filters, Operation } from '../engine/operation.js';
import { UsageError } from '../errors.js';
import { type NoteValues, readNoteEdit, typedNoteFlag } from './notes.js';
import { type EditJob, editParts } from './tryout-edit.js';
import {
  type TryoutFilterValues,
  tryoutFilters,
  tryoutQuery,
  tryoutTests,
} from './tryout-filters.js';

/** The guard flag that only applications have. */
export const ifStatusFlag = {
  ifStatus: params(
    z.optional(z.array(TryoutStatus)),
    'change a row only while it has one of these',
    {
      commaList: true,
      placeholder: 'S[,S]',
      group: 'safety',
      rare: true,
    },
  ),
};

/** The filters that are simple enough to be said in the head of a preview. */
const worded: ReadonlySet<string> = new Set(['status', 'game', 'olderThan']);

function tryoutWords(values: TryoutFilterValues): ReturnType<NonNullable<Filters['words']>> {
  const given = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  if (given.some(([name]) => tryoutSelection.names.includes(name) && !worded.has(name)))
    return undefined;
  const { status = [], game = [], olderThan } = values;
  return {
    before: [orList(status), orList(game)].filter((word) => word !== '').join(' '),
    after: olderThan === undefined ? '' : ` older than ${durationInWords(olderThan)}`,
  };
}

/** The filters of `tryouts list`, for bulk commands. */
export const tryoutSelection: Filters = {
  names: [...Object.keys(tryoutFilters), 'where', 'search'],
  tests: (values: TryoutFilterValues, world) => tryoutTests(values, world),
  words: tryoutWords,
  query: (values: TryoutFilterValues, overrides) => tryoutQuery(values, overrides),
};

/** The flags of that selection and its guard, in the order of the help; the rare ones appear in --help only. */
export const tryoutSelectionFlags = {
  ...asRare(tryoutFilters, ['status']),
  ...asRare(listFlags, ['where']),
  ...allFlags,
  ...ifStatusFlag,
};

/** The new status from the command line. */
interface StatusValues {
  readonly to?: TryoutStatus;
  readonly status?: TryoutStatus;
}

/** Edits one or many applications; flags override the CSV. `to`: the name of the status flag. */
export function editOperation(
  to: 'to' | 'status',
  missing: string,
  more: Pick<Operation, 'filters' | 'reports'> = {},
): Operation {
  const incomplete = () =>
    new UsageError(missing, { hint: `Statuses: ${TryoutStatus.options.join(', ')}` });
  return {
    ...editParts,
    ...more,
    csv: editColumns,
    overrules(values: NoteValues & StatusValues) {
      const note = typedNoteFlag(values);
      return new Map([
        ...(values[to] === undefined ? [] : [['status', `--${to}`] as const]),
        ...(note === undefined ? [] : [['internalNotes', `--${kebab(note)}`] as const]),
      ]);
    },
    check(_, values: NoteValues & StatusValues & BulkValues) {
      checkStdin(values);
      // Not a required flag, because that check runs before a status among the ids is noticed.
      const hasNote = to === 'status' && typedNoteFlag(values) !== undefined;
      if (values[to] === undefined && !hasNote && values.csv === undefined) throw incomplete();
    },
    async job(context, values: NoteValues & StatusValues): Promise<EditJob> {
      const note = await readNoteEdit(context, values);
      const status = values[to];
      return { ...(status && { status }), ...(note && { note }) };
    },
    checkRows(job, rows, source) {
      // An empty CSV, such as an export without matches, is not an error.
      if (source === 'csv' && rows.length === 0) return;
      if (job['status'] !== undefined || job['note'] !== undefined) return;
      const hasChange = rows.some(({ own }) => own && ('status' in own || 'internalNotes' in own));
      if (!hasChange) throw incomplete();
    },
  };
}

function checkStdin(values: NoteValues & Pick<BulkValues, 'idsFile' | 'csv'>): void {
  const { noteFile, idsFile, csv } = values;
  if (noteFile !== '-' || ![idsFile, csv].includes('-')) return;
  throw new UsageError('Notes and rows cannot both come from stdin.', {
    hint: `Give one of them a file: --note-file FILE, or ${csv === '-' ? '--csv' : '--ids'} FILE`,
  });
}

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

const editColumns: ColumnRules = {
  ...applicationColumns,
  columns: [
    { name: 'status', read: readStatus },
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
  const meant = near ?? `one of ${orList(TryoutStatus.options)}`;
  throw new Error(`holds "${cell.trim()}", which is not a status (did you mean ${meant}?).`);
}

function readTime(cell: string): string {
  if (!Number.isNaN(Date.parse(cell.trim()))) return cell.trim();
  throw new Error(`holds "${cell.trim()}", which is not a time.`);
}

/** Returns flags of which only `shown` appear on the short help page. */
export function asRare<F extends Record<string, object>>(flags: F, shown: readonly string[]): F {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      shown.includes(name) ? flag : { ...flag, rare: true },
    ]),
  ) as F;
}
