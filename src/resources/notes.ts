/** Edits of an application's internal notes (contract 2.3): flags, parsing, the question before some are lost, and the resulting text. */

import * as z from 'zod/mini';
import { isGiven } from '../cli/check.js';
import { flag, param, type ValuesOf } from '../cli/define.js';
import { nonEmptyText } from '../cli/schemas.js';
import type { Context } from '../context.js';
import { isRawCell } from '../data/cell-values.js';
import { checkNoSpreadsheetError, isExportOf, notEscaped } from '../data/csv.js';
import { localDay } from '../data/dates.js';
import { isObject, type JsonObject } from '../data/json.js';
import { labelOf, plainText } from '../data/path.js';
import { endsWithNote, holdsDatedNote, storedForm } from '../engine/notes.js';
import type { Task } from '../engine/operation.js';
import { CancelledError, nothingDone, UsageError } from '../errors.js';
import type { SelectedRow } from '../runs/report.js';

const isText = (text: string) => text.trim() !== '';

/** The flags for the four ways to edit internal notes. */
export const noteFlags = {
  note: param(
    z.optional(
      z.string().check(z.refine(isText, 'must not be empty; --clear-note removes the notes')),
    ),
    'replace the notes (asks first if there are any)',
    { placeholder: 'TEXT', group: 'change' },
  ),
  noteFile: param(z.optional(nonEmptyText), 'replace the notes with the text of a file', {
    placeholder: 'FILE|-',
    group: 'change',
    completes: 'file',
  }),
  appendNote: param(
    z.optional(z.string().check(z.refine(isText, 'must not be empty'))),
    'add a dated line to the notes',
    { placeholder: 'TEXT', group: 'change' },
  ),
  clearNote: flag('remove the notes', { group: 'change' }),
};

/** The note flags, which exclude each other. */
export const oneNoteFlag = ['note', 'noteFile', 'appendNote', 'clearNote'] as const;

export type NoteValues = ValuesOf<typeof noteFlags>;

/** The note flag that was typed; undefined if none was. */
export function typedNoteFlag(values: NoteValues): string | undefined {
  return oneNoteFlag.find((name) => isGiven(values[name]));
}

/** An edit of the notes. */
export type NoteEdit =
  | { readonly kind: 'replace'; readonly text: string }
  | {
      readonly kind: 'append';
      readonly text: string;
      readonly day: string;
      /** True if a line of that day with the same text counts as this one, also if others have written below it. */
      readonly once?: true;
    }
  | { readonly kind: 'clear' };

/** Returns the notes after an edit; null = none. What they already end with is not added again. */
export function editedNotes(edit: NoteEdit, present: string | null): string | null {
  if (edit.kind === 'clear') return null;
  if (edit.kind === 'replace')
    return storedForm(edit.text) === storedForm(present ?? '') ? present : edit.text;
  const kept = (present ?? '').trimEnd();
  const isThere = edit.once === true && holdsDatedNote(kept, datedLine(edit));
  if (isThere || endsWithNote(kept, edit.text)) return present;
  return kept === '' ? datedLine(edit) : `${kept}\n${datedLine(edit)}`;
}

/** `2026-11-22: Strong aim` */
export function datedLine({ day, text }: Extract<NoteEdit, { kind: 'append' }>): string {
  return `${day}: ${text}`;
}

/** The edit that adds a line of today. */
function noteToAppend({ now }: Pick<Context, 'now'>, text: string): NoteEdit {
  return { kind: 'append', text: text.trim(), day: localDay(now()) };
}

/** Reads the edit that the note flags ask for. Throws InputError, UsageError for a bad file. */
export async function readNoteEdit(
  context: Context,
  { note, noteFile, appendNote, clearNote }: NoteValues,
): Promise<NoteEdit | undefined> {
  if (clearNote) return { kind: 'clear' };
  if (note !== undefined) return { kind: 'replace', text: note };
  if (appendNote !== undefined) return noteToAppend(context, appendNote);
  if (noteFile === undefined) return undefined;
  const { readInputText } = await import('../cli/input.js');
  const text = (await readInputText(noteFile, context)).replace(/(\r?\n)+$/, '');
  if (isText(text)) return { kind: 'replace', text };
  throw new UsageError(`${noteFile === '-' ? 'stdin' : noteFile} holds no text.`, {
    hint: 'To remove the notes: --clear-note',
  });
}

/**
 * Returns the edit of a row's own notes: the cell of a CSV, or an edit of its own (a review). A cell with the
 * exported form of the present notes, which may not be all of them, changes nothing.
 */
export function noteOf({ own = {}, row }: SelectedRow, record: JsonObject): NoteEdit | undefined {
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

/** Shows existing notes and asks whether to replace or append. Throws UsageError, CancelledError. */
export async function askToReplace(
  context: Context,
  job: JsonObject,
  { id, previewed = [] }: Task,
  record: JsonObject,
): Promise<JsonObject> {
  const { note } = job as { readonly note?: NoteEdit };
  const present = plainText(record['internalNotes']);
  const isLost =
    note?.kind === 'replace' &&
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
