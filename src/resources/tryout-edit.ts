/** Changes the status and the notes of tryout applications (contract 4.1). */

import * as z from 'zod/mini';
import { callFor } from '../api/resources.js';
import { TryoutApplication, TryoutStatus } from '../api/schemas.js';
import type { BulkValues } from '../bulk/invocation.js';
import { params } from '../cli/define.js';
import type { Context } from '../context.js';
import type { ColumnRules } from '../data/csv-columns.js';
import type { JsonObject } from '../data/json.js';
import { nearest } from '../data/nearest.js';
import { nameWithId } from '../data/path.js';
import { quotedId } from '../data/references.js';
import { kebab, orList } from '../data/text.js';
import { isEmptyValue } from '../data/where.js';
import { plainNotes } from '../engine/notes.js';
import type { Comparison, KnownStep, Operation, Session } from '../engine/operation.js';
import { InputError, UsageError } from '../errors.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import { playerIdOf } from './converted.js';
import {
  askToReplace,
  datedLine,
  editedNotes,
  type NoteEdit,
  type NoteValues,
  noteOf,
  readNoteEdit,
  typedNoteFlag,
} from './notes.js';
import { Holders } from './person/holders.js';
import { RowWarnings } from './row-warnings.js';
import { changing } from './send.js';

/** The target values of every application, or of one; undefined = leave unchanged. Plain JSON. */
type EditJob = JsonObject & {
  readonly status?: string | undefined;
  readonly note?: NoteEdit | undefined;
};

/** The parts of the operation that do not depend on how the command names its flags. */
export const editParts = {
  resource: 'tryouts',
  verb: 'update',
  confirm: 'several',
  // The same command line adds the same note on another day.
  identity: (job: EditJob) => ({ ...job, note: job.note && { ...job.note, day: undefined } }),
  ask: askToReplace,
  open: (context: Context, job: EditJob) => editSession(context, job),
} as const satisfies Partial<Operation>;

/** The guard flag that only applications have. */
export const ifStatusFlag = {
  ifStatus: params(
    z.optional(z.array(TryoutStatus)),
    'change a row only while it has one of these',
    { commaList: true, placeholder: 'S[,S]', group: 'safety', rare: true },
  ),
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
const editColumns: ColumnRules = {
  ...applicationColumns,
  columns: [
    { name: 'status', read: readStatusCell },
    { name: 'internalNotes', aliases: ['note'], clears: true, read: (cell) => cell },
    ...applicationColumns.columns,
  ],
};

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
  const incomplete = (hint = `Statuses: ${TryoutStatus.options.join(', ')}`) =>
    new UsageError(missing, { hint });
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
    check(values: NoteValues & StatusValues & BulkValues) {
      // Not a required flag, because that check runs before a status among the ids is noticed.
      const hasNote = typedNoteFlag(values) !== undefined;
      if (values[to] !== undefined || values.csv !== undefined) return;
      if (hasNote && to === 'status') return;
      // Beside ids --status cannot select, so it was meant as the new status.
      const [typed, other] = values.ids?.length ? [values.status].flat() : [];
      if (typed && !other) throw incomplete(`Did you mean: --${to} ${typed}`);
      throw incomplete(
        hasNote ? 'To change only the notes, use tryouts update with ids or --ids.' : undefined,
      );
    },
    job: async (context, values: NoteValues & StatusValues): Promise<EditJob> => ({
      status: values[to],
      note: await readNoteEdit(context, values),
    }),
    checkRows(job, { rows = [], columns = [] }, source) {
      // An empty CSV, such as an export without matches, is not an error.
      if (source === 'csv' && rows.length === 0) return;
      if (job['status'] !== undefined || job['note'] !== undefined) return;
      // With every cell blank, nothing changes.
      if (!columns.includes('status') && !columns.includes('internalNotes')) throw incomplete();
    },
  };
}

function editSession(context: Context, job: EditJob): Session {
  const warnings = new RowWarnings(context);
  const holders = new Holders(context, ['tryouts']);
  return {
    ...holders.beside(changing(context, 'tryouts', 'update')),
    plan(row, { record = {} }) {
      const target: EditJob = {
        status: job.status ?? statusOf(row, record),
        note: job.note ?? noteOf(row, record),
      };
      checkStatus(target.status, record);
      const changes = editChanges(record, target);
      if (changes.length === 0) return { steps: [] };
      warnOfMove(warnings, row, record, target.status);
      holders.watch(record);
      return { steps: [{ call: editCall(row.id, changes), changes }] };
    },
    compares({ own = {} }) {
      const status = job.status ?? own['status'];
      const note = job.note ?? own['internalNotes'];
      return [
        ...(status === undefined ? [] : ['status']),
        ...(note === undefined ? [] : ['internalNotes']),
      ];
    },
    planned: (isSingle, leftAlone) => warnings.print(isSingle, leftAlone),
    compare: compareEdit,
    unchangedNote: (record, { id }) => unchangedNote(record, id, job),
  };
}

/** The call that changes an application's documented fields. */
export function editCall(id: string, changes: readonly RowChange[]) {
  const body = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
  return callFor('tryouts', 'update', id, body);
}

/**
 * Compares an application with an edit after a success. A service may normalize notes (drop trailing
 * space) or not show them, so notes count as unwritten only if they read as before. A third status
 * comes from another writer.
 */
export function compareEdit({ changes }: KnownStep, record: JsonObject): Comparison {
  for (const { field, from, to } of changes) {
    const now = record[field];
    if (field === 'status') {
      if (now === to) continue;
      return now === from ? 'notApplied' : 'other';
    }
    if (now === undefined || plainNotes(now) === plainNotes(to)) continue;
    if (plainNotes(now) === plainNotes(from)) return 'notApplied';
  }
  return 'applied';
}

function editChanges(record: JsonObject, { status, note }: EditJob): readonly RowChange[] {
  const changes: RowChange[] = [];
  if (status !== undefined && record['status'] !== status)
    changes.push({ field: 'status', from: record['status'], to: status });
  if (!note) return changes;
  const { internalNotes: present } = record;
  const kept = typeof present === 'string' ? present : null;
  if (note.kind === 'append' && kept === null && !isEmptyValue(present)) throw notText(record);
  const to = editedNotes(note, kept);
  if (to === null ? isEmptyValue(present) : to === kept) return changes;
  const adds = note.kind === 'append' && { adds: datedLine(note) };
  changes.push({ field: 'internalNotes', from: present, to, ...adds });
  return changes;
}

/** The error for notes that a service keeps in a form of its own, which a line of text would replace. */
function notText({ name, id }: JsonObject): InputError {
  return new InputError(
    `The notes of ${nameWithId(name, String(id))} are not text, so no line can be added.`,
    {
      hint: `See them: rosterctl tryouts get ${quotedId(String(id))}\nTo replace them: rosterctl tryouts update ${quotedId(String(id))} --note TEXT`,
    },
  );
}

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

/** Returns the status of a row's cell as the contract has it, but one that the record holds as it is. */
function statusOf({ own = {} }: SelectedRow, record: JsonObject): string | undefined {
  const status = own['status'] as string | undefined;
  return status === record['status'] ? status : status?.toLowerCase();
}

/** Refuses to set a status that the contract does not know; a record may keep one. Throws UsageError. */
function checkStatus(status: string | undefined, record: JsonObject): void {
  if (status === undefined || status === record['status']) return;
  if (TryoutStatus.options.some((option) => option === status)) return;
  throw new UsageError(`"${status}" is not a status. Use one of ${orList(TryoutStatus.options)}.`);
}

/** Warns of status changes that look like mistakes; the contract forbids none (section 3). */
function warnOfMove(
  warnings: RowWarnings,
  row: SelectedRow,
  record: JsonObject,
  to: string | undefined,
): void {
  const from = record['status'];
  if (to === undefined || from === to) return;
  if (from === 'withdrawn')
    warnings.forRow(
      row,
      record,
      'was withdrawn by the applicant.',
      'Others were withdrawn by the applicant, too. A filter can leave them out: --not-status withdrawn',
    );
  const player = playerIdOf(record);
  if (from === 'accepted' && player !== undefined)
    warnings.forRow(
      row,
      record,
      `is already a player: ${player}.`,
      'Others are already players, too.',
    );
}

function unchangedNote(record: JsonObject | undefined, id: string, { status, note }: EditJob) {
  const who = nameWithId(record?.['name'], id);
  if (status !== undefined) return `${who} is already ${status}; nothing was sent.`;
  if (note?.kind === 'clear') return `${who} has no notes; nothing was sent.`;
  return `The notes of ${who} already say that; nothing was sent.`;
}
