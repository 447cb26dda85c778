/** Changes the status and the notes of tryout applications (contract 4.1). */

import * as z from 'zod/mini';
import { callFor } from '../api/resources.js';
import { TryoutStatus } from '../api/schemas.js';
import type { BulkValues } from '../bulk/invocation.js';
import { params } from '../cli/define.js';
import type { Context } from '../context.js';
import { isRawCell } from '../data/cell-values.js';
import { checkNoSpreadsheetError, isExportOf, notEscaped } from '../data/csv.js';
import { isObject, type JsonObject } from '../data/json.js';
import { labelOf, nameWithId } from '../data/path.js';
import { kebab, orList } from '../data/text.js';
import { plainNotes } from '../engine/notes.js';
import type { Comparison, KnownStep, Operation, Session, Task } from '../engine/operation.js';
import { CancelledError, nothingDone, UsageError } from '../errors.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import {
  datedLine,
  editedNotes,
  type NoteEdit,
  type NoteValues,
  noteToAppend,
  readNoteEdit,
  typedNoteFlag,
} from './notes.js';
import { Holders } from './person/holders.js';
import { RowWarnings } from './row-warnings.js';
import { editColumns } from './selection.js';
import { changing } from './send.js';

/** The job of an edit, which applies to every application; plain JSON. */
type EditJob = JsonObject & {
  readonly status?: TryoutStatus | undefined;
  readonly note?: NoteEdit | undefined;
};

/** The target values of one application; undefined = leave unchanged. */
interface EditTarget {
  readonly status: string | undefined;
  readonly note: NoteEdit | undefined;
}

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
    check(_, values: NoteValues & StatusValues & BulkValues) {
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
      const target: EditTarget = {
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
    planned: (_, leftAlone) => warnings.print(leftAlone),
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

function editChanges(record: JsonObject, { status, note }: EditTarget): readonly RowChange[] {
  const changes: RowChange[] = [];
  if (status !== undefined && record['status'] !== status)
    changes.push({ field: 'status', from: record['status'], to: status });
  if (!note) return changes;
  const present = record['internalNotes'];
  const kept = typeof present === 'string' ? present : null;
  const to = editedNotes(note, kept);
  if (to === kept) return changes;
  const adds = note.kind === 'append' && { adds: datedLine(note) };
  changes.push({ field: 'internalNotes', from: present, to, ...adds });
  return changes;
}

/** Returns the status of a row's cell as the contract has it, but one that the record holds as it is. */
function statusOf({ own = {} }: SelectedRow, record: JsonObject): string | undefined {
  const status = own['status'] as string | undefined;
  return status === record['status'] ? status : status?.toLowerCase();
}

/**
 * Returns the edit of a row's own notes: the cell of a CSV, or an edit of its own (a review). A cell with the
 * exported form of the present notes, which may not be all of them, changes nothing.
 */
function noteOf({ own = {}, row }: SelectedRow, record: JsonObject): NoteEdit | undefined {
  const { internalNotes: cell } = own;
  const present = record['internalNotes'];
  if (cell === null) return { kind: 'clear' };
  if (isObject(cell) && !isRawCell(cell)) return cell as NoteEdit;
  const text = isRawCell(cell) ? cell.raw : cell;
  if (typeof text !== 'string' || isExportOf(text, present)) return undefined;
  if (!isRawCell(cell))
    return { kind: 'replace', text: notEscaped(text, present, `Line ${row}: internalNotes `) };
  checkNoSpreadsheetError(text, 'internalNotes', `Line ${row}`);
  return { kind: 'clear' };
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
  if (from === 'accepted' && typeof record['convertedPlayerId'] === 'string')
    warnings.forRow(
      row,
      record,
      `is already a player: ${record['convertedPlayerId']}.`,
      'Others are already players, too.',
    );
}

function unchangedNote(record: JsonObject | undefined, id: string, { status, note }: EditJob) {
  const who = nameWithId(record?.['name'], id);
  if (status !== undefined) return `${who} is already ${status}; nothing was sent.`;
  if (note?.kind === 'clear') return `${who} has no notes; nothing was sent.`;
  return `The notes of ${who} already say that; nothing was sent.`;
}

/** Shows existing notes and asks whether to replace or append. Throws UsageError, CancelledError. */
async function askToReplace(
  context: Context,
  job: JsonObject,
  { id, previewed = [] }: Task,
  record: JsonObject,
): Promise<JsonObject> {
  const { note } = job as EditJob;
  const present = record['internalNotes'];
  const isLost =
    note?.kind === 'replace' &&
    typeof present === 'string' &&
    present.trim() !== '' &&
    previewed.some(({ field }) => field === 'internalNotes');
  if (!isLost || context.settings.yes) return job;
  const { unavailable } = context.prompts;
  const who = labelOf(record, id);
  if (unavailable !== undefined)
    throw new UsageError(`${who} has notes that --note would replace, and ${unavailable}.`, {
      hint: 'Add --yes to replace them, or keep them with --append-note.',
    });
  context.message(`${who} has notes:`);
  for (const line of present.split('\n')) context.message(`  - ${line}`);
  for (const line of note.text.split('\n')) context.message(`  + ${line}`);
  const answer = await context.prompts.select('Replace or append?', [
    { value: 'append', label: 'append' },
    { value: 'replace', label: 'replace' },
    { value: 'cancel', label: 'cancel' },
  ]);
  if (answer === 'cancel') throw new CancelledError(nothingDone);
  if (answer === 'replace') return job;
  return { ...job, note: noteToAppend(context, note.text) };
}
