/** Edits of an application's internal notes (contract 2.3): flags, parsing, and the resulting text. */

import * as z from 'zod/mini';
import { isGiven } from '../cli/check.js';
import { flag, param, type ValuesOf } from '../cli/define.js';
import { nonEmptyText } from '../cli/schemas.js';
import type { Context } from '../context.js';
import { localDay } from '../data/dates.js';
import { endsWithNote } from '../engine/notes.js';
import { UsageError } from '../errors.js';

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
  | { readonly kind: 'append'; readonly text: string; readonly day: string }
  | { readonly kind: 'clear' };

/** Returns the notes after an edit; null = none. What they already end with is not added again. */
export function editedNotes(edit: NoteEdit, present: string | null): string | null {
  if (edit.kind === 'clear') return null;
  if (edit.kind === 'replace') return edit.text;
  const kept = (present ?? '').trimEnd();
  if (endsWithNote(kept, edit.text)) return present;
  return kept === '' ? datedLine(edit) : `${kept}\n${datedLine(edit)}`;
}

/** `2026-11-22: Strong aim` */
export function datedLine({ day, text }: Extract<NoteEdit, { kind: 'append' }>): string {
  return `${day}: ${text}`;
}

/** The edit that adds a line of today. */
export function noteToAppend({ now }: Pick<Context, 'now'>, text: string): NoteEdit {
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
