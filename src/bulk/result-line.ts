/** What a person reads of one change: who, what became of it, and how to take it back. */
import { toSamePlace } from '../cli/same-place.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/label.js';
import { singleLine } from '../terminal/safe-text.js';
import { displayWidth } from '../terminal/width.js';
import { shortValue } from '../cli/lines.js';
import type { Invocation } from './invocation.js';
import { isDelete, type ReportRow } from './report.js';

/** `✔ Nimbus Kolmarden (app_0064): reviewing → shortlisted.   Undo: rosterctl runs undo d181ba`, on two lines where one is too short. */
export function resultLines(
  context: Context,
  { words, operation }: Pick<Invocation, 'words' | 'operation'>,
  outcome: {
    readonly row: ReportRow;
    readonly record: JsonObject | undefined;
    readonly run: string | undefined;
  },
  columns: number,
): readonly string[] {
  const { row, record, run } = outcome;
  const made = row.after?.['id'];
  const id = typeof made === 'string' ? made : row.id;
  const deletes = isDelete(words.join('.'));
  const name = deletes ? Object.values(row.before ?? {})[0] : labelOf(record, id);
  const who = typeof name === 'string' && name !== id ? `${name} (${id})` : id;
  const mark = isUtf8(context) ? '✔' : 'ok';
  if (row.result !== 'changed') return [`${mark} ${singleLine(who)}: ${row.result}.`];
  const deed = deletes ? 'deleted' : deedOf(row, operation.createsRow ?? false);
  const line = `${mark} ${singleLine(who)}: ${singleLine(deed)}.`;
  if (!run || operation.undoes === false) return [line];
  const { flags, table } = context;
  const undo = toSamePlace(`Undo: rosterctl runs undo ${run.slice(-6)}`, flags, table);
  const both = `${line}   ${undo}`;
  return displayWidth(both) <= columns ? [both] : [line, undo];
}

/** Whether the terminal's locale can show more than ASCII. */
function isUtf8({ env }: Context): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '');
}

function deedOf({ before = {}, after = {} }: ReportRow, creates: boolean): string {
  if (creates) return 'created';
  const parts = Object.entries(after).map(([field, to]) => {
    const from = before[field];
    if (field === 'convertedPlayerId') return `converted to ${text(to)}`;
    if (field === 'internalNotes') return noteDeed(from, to);
    if (field === 'status') return `${text(from)} → ${text(to)}`;
    return `${field} ${text(from)} → ${text(to)}`;
  });
  return parts.join(', ');
}

function noteDeed(from: unknown, to: unknown): string {
  if (to === null) return 'notes removed';
  const isLonger =
    typeof from === 'string' && typeof to === 'string' && to.startsWith(from.trimEnd());
  return typeof from !== 'string' || from === '' || isLonger ? 'note added' : 'notes replaced';
}

function text(value: unknown): string {
  return shortValue(value ?? null);
}
