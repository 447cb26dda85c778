import * as z from 'zod/mini';
import { TryoutApplication, TryoutStatus } from '../../api/schemas.js';
import type { ColumnRules } from '../../bulk/csv-columns.js';
import type { SelectedRow } from '../../bulk/work.js';
import { allFlags, type BulkValues } from '../../cli/bulk-flags.js';
import type { BulkPart } from '../../cli/bulk-part.js';
import { params } from '../../cli/define.js';
import { listFlags } from '../../cli/filters.js';
import { exportText } from '../../data/csv.js';
import type { JsonObject } from '../../data/json.js';
import { nearest } from '../../data/nearest.js';
import { orList } from '../../data/words.js';
import { InputError, UsageError } from '../../errors.js';
import type { Seen } from '../write-records.js';
import { readApplication } from './application.js';
import { editedFields, editPlan, sendEditOnce, type Wanted } from './edit.js';
import { type TryoutFilterValues, tryoutFilters, tryoutQuery, tryoutTests } from './filters.js';
import { type NoteEdit, type NoteValues, noteWords, oneNoteFlag, readNoteEdit } from './notes.js';

/** A guard that only applications have. */
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

/** The filters of `tryouts list`, as a selection. */
export const tryoutSelection: NonNullable<BulkPart['filters']> = {
  names: [...Object.keys(tryoutFilters), 'where', 'search'],
  tests: (values: TryoutFilterValues, now) => tryoutTests(values, now),
  query: (values: TryoutFilterValues, guesses) => tryoutQuery(values, guesses),
};

/** The flags of that selection and its guard, in the order of the help; the rarer ones are shown by --help alone. */
export const tryoutSelectionFlags = {
  ...asRare(tryoutFilters, ['status']),
  ...asRare(listFlags, ['where']),
  ...allFlags,
  ...ifStatusFlag,
};

/** The new status that the command line gives. */
interface StatusValues {
  readonly to?: TryoutStatus;
  readonly status?: TryoutStatus;
}

/** What is wanted of every application, as plain JSON. */
interface EditJob {
  readonly status?: TryoutStatus;
  readonly note?: NoteEdit;
}

/** How many applications are edited at once: what the command line says beats the CSV. `to`: its status flag. */
export function editMany(
  to: 'to' | 'status',
  words: string,
  filters?: BulkPart['filters'],
): BulkPart {
  return {
    resource: 'tryouts',
    rules: editColumns,
    overrules: (values: NoteValues & StatusValues) =>
      new Map([
        ...(values[to] === undefined ? [] : [['status', `--${to}`] as const]),
        ...oneNoteFlag
          .filter((name) => values[name] !== undefined && values[name] !== false)
          .map((name) => ['internalNotes', noteWords[name]] as const),
      ]),
    ...(filters && { filters }),
    async job(context, values: NoteValues & StatusValues): Promise<EditJob & JsonObject> {
      checkStdin(values);
      const note = await readNoteEdit(context, values);
      const status = values[to];
      return { ...(status && { status }), ...(note && { note }) };
    },
    checkRows(job, rows, source) {
      // An export of a quiet day: there is nothing to do, and nothing missing.
      if (source === 'csv' && rows.length === 0) return;
      if (job['status'] !== undefined || job['note'] !== undefined) return;
      const says = rows.some(({ own }) => own && ('status' in own || 'internalNotes' in own));
      if (!says)
        throw new UsageError(words, { hint: `Statuses: ${TryoutStatus.options.join(', ')}` });
    },
    open(context, job: EditJob) {
      const wantedOf = ({ own = {} }: SelectedRow): Wanted => ({
        status: job.status ?? (own['status'] as TryoutStatus | undefined),
        note: job.note ?? noteOf(own['internalNotes']),
      });
      return {
        resends: 3,
        read: (id) => readApplication(context, id),
        plan(row, record) {
          const wanted = job.note ? wantedOf(row) : withoutOwnNote(wantedOf(row), record);
          refuseStrangeStatus(wanted.status, record);
          return editPlan(context, row.id, record, wanted, job);
        },
        compares: (row) => editedFields(wantedOf(row)),
        async send({ calls, state }, id) {
          const { record } = state as Seen;
          for (const call of calls) await sendEditOnce(context, call, id, record);
        },
      };
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

/** Ids alone: what `tryouts convert` takes of a CSV. */
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
    { name: 'status', read: readOwnStatus },
    { name: 'internalNotes', aliases: ['note'], clears: true, read: (cell) => cell },
    ...applicationColumns.columns,
  ],
};

function noteOf(cell: unknown): NoteEdit | undefined {
  if (cell === null) return { kind: 'clear' };
  return typeof cell === 'string' ? { kind: 'replace', text: cell } : undefined;
}

/** A note as an export shows it is the note that is there, also where a cell cannot hold all of it. */
function withoutOwnNote(wanted: Wanted, record: JsonObject | undefined): Wanted {
  const { note } = wanted;
  const isOwn = note?.kind === 'replace' && note.text === exportText(record?.['internalNotes']);
  return isOwn ? { ...wanted, note: undefined } : wanted;
}

function readStatus(cell: string): TryoutStatus {
  const word = cell.trim().toLowerCase();
  const status = TryoutStatus.options.find((option) => option === word);
  if (status) return status;
  const near = nearest(word, TryoutStatus.options);
  const meant = near === undefined ? `one of ${orList(TryoutStatus.options)}` : near;
  throw new Error(`holds "${cell.trim()}", which is no status (did you mean ${meant}?).`);
}

/** A status that the contract does not know may be the service's own: then it stands in an export. */
function readOwnStatus(cell: string, exported: boolean): string {
  return exported && isStrange(cell) ? cell.trim() : readStatus(cell);
}

/** Like none that is known; of hundreds of thousands of cells only those that are unknown are compared. */
function isStrange(cell: string): boolean {
  const word = cell.trim().toLowerCase();
  const known: readonly string[] = TryoutStatus.options;
  return !known.includes(word) && nearest(word, known) === undefined;
}

/** It may stay as it is, and nothing is ever set to it. Throws InputError. */
function refuseStrangeStatus(status: string | undefined, record: JsonObject | undefined): void {
  if (status === undefined || status === record?.['status']) return;
  if (TryoutStatus.options.some((option) => option === status)) return;
  throw new InputError(
    `"${status}" is no status; one of ${orList(TryoutStatus.options)} can be set.`,
  );
}

function readTime(cell: string): string {
  if (!Number.isNaN(Date.parse(cell.trim()))) return cell.trim();
  throw new Error(`holds "${cell.trim()}", which is no time.`);
}

function asRare<F extends Record<string, object>>(flags: F, shown: readonly string[]): F {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      shown.includes(name) ? flag : { ...flag, rare: true },
    ]),
  ) as F;
}
