/** Rows for a person: what changes in words, old → new with human labels, and rows in columns. */

import { shortValue } from '../cli/lines.js';
import { fieldLabel } from '../cli/lists/labels.js';
import type { JsonObject } from '../data/json.js';
import { nameWithId, plainText, recordedSize } from '../data/path.js';
import { withTeamNames } from '../data/references.js';
import { binarySize } from '../data/text.js';
import { isHash } from '../runs/journal.js';
import { isDeletion, type ReportRow } from '../runs/report.js';
import { type Action, isFutureId, verbOf, verbs } from '../runs/verb.js';
import { minTextWidth } from '../terminal/whole-words.js';
import { displayWidth, pad, truncate, widestOf, wrap } from '../terminal/width.js';

/** Returns a row's message without the id that stands before it already. */
export function aboutRow(message: string, id: string): string {
  return message.startsWith(`${id} `) ? message.slice(id.length + 1) : message;
}

/** The changes of a row: `pending → reviewing, note added`; a preview shows the note itself. */
export function describeChanges(
  row: Pick<ReportRow, 'before' | 'after'>,
  action: Action,
  { isPreview = false }: { readonly isPreview?: boolean } = {},
): string {
  const before = withTeamNames(row.before ?? {}, action.teams);
  const after = withTeamNames(row.after ?? {}, action.teams);
  if (verbOf(action) === verbs.upload)
    return Object.hasOwn(after, 'id') && !isFutureId({ field: 'id', to: after['id'] })
      ? `as ${shortValue(after['id'])}`
      : '';
  if (typeof after['id'] === 'string' && (before['id'] ?? null) === null)
    return describeFields(after);
  const { convertedPlayerId: player, ...others } = after;
  const isConverted = typeof player === 'string';
  const changes = Object.entries(isConverted ? others : after).map(([field, to]) => {
    const from = before[field];
    return field === 'internalNotes'
      ? describeNote(from, to, isPreview)
      : describeChange(field, from, to);
  });
  return [
    ...(isConverted && !isPreview && !isFutureId({ field: 'convertedPlayerId', to: player })
      ? [`to ${shortValue(player)}`]
      : []),
    ...changes,
  ].join(', ');
}

/** The fields of a created record, whose id stands before them: `Name Mira Kite, Role coach`. */
export function describeFields(record: JsonObject): string {
  return Object.entries(record)
    .filter(([field]) => field !== 'id')
    .map(([field, value]) => `${fieldLabel(field)} ${fieldValue(value)}`)
    .join(', ');
}

function fieldValue(value: unknown): string {
  if (isHash(value)) return '…';
  return shortValue(isTexts(value) && value.length > 0 ? value.join(', ') : (value ?? null));
}

/** The word for a change of which the journal keeps only hashes, because the values are long or private. */
export function hiddenChange(from: unknown, to: unknown): string {
  return (from ?? null) === null ? 'added' : to === null ? 'removed' : 'changed';
}

function describeChange(field: string, from: unknown, to: unknown): string {
  if (field === 'status') return `${shortValue(from ?? null)} → ${shortValue(to)}`;
  const label = fieldLabel(field);
  if (isHash(from) || isHash(to)) return `${label} ${hiddenChange(from, to)}`;
  const elements = isTexts(from) && isTexts(to) ? elementChanges(from, to) : '';
  if (elements !== '') return `${label} ${elements}`;
  return `${label} ${fieldValue(from)} → ${fieldValue(to)}`;
}

function describeNote(from: unknown, to: unknown, showsText: boolean): string {
  if ((to ?? null) === null) return 'notes removed';
  if (isHash(from)) return 'notes changed';
  const kept = plainText(from).trimEnd();
  const text = plainText(to);
  const isAdded = text.startsWith(kept);
  if (kept.length > text.trimEnd().length && kept.startsWith(text.trimEnd())) return 'note removed';
  const what = isAdded ? 'note added' : 'notes replaced';
  const shown = isAdded ? text.slice(kept.length) : text;
  return showsText ? `${what}: ${shortValue(shown.trim())}` : what;
}

/** `+new -old`: what a list of texts gained and lost; empty if only their order differs. */
function elementChanges(from: readonly string[], to: readonly string[]): string {
  const added = to.filter((text) => !from.includes(text)).map((text) => `+${shortValue(text)}`);
  const removed = from.filter((text) => !to.includes(text)).map((text) => `-${shortValue(text)}`);
  return [...added, ...removed].join(' ');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The id of a row's record, which a created one has got from the service. */
export function idOfRow({ id, after }: ReportRow, action: Action): string {
  const made = after?.['id'];
  return typeof made === 'string' && verbOf(action) === verbs.create ? made : id;
}

/** The one line of a single change without its mark: `Mira Kite (player_1): created`. */
export function describeOne(
  row: ReportRow,
  action: Action,
  { name, record }: { readonly name: string | undefined; readonly record?: JsonObject | undefined },
): string {
  const made = row.after?.['id'];
  const id = typeof made === 'string' ? made : row.id;
  // An undo that deletes what a run created is the same action as one that restores fields.
  const verb = isDeletion(action, row) ? verbs.delete : verbOf(action);
  const who = nameWithId(name, id);
  if (verb === verbs.create || verb === verbs.delete) return `${who}: ${verb.done}`;
  if (verb === verbs.upload) {
    const size = recordedSize(record);
    return `${name ?? row.id}: uploaded as ${id}${size === undefined ? '' : ` (${binarySize(size)})`}`;
  }
  const changes = describeChanges(row, action);
  return `${who}: ${verb === verbs.convert ? `${verb.done} ${changes}` : changes}`;
}

/** A row of sanitized texts. */
export interface AlignedRow {
  /** Id, name, and an age or a result. */
  readonly cells: readonly [id: string, name: string, third: string];
  readonly detail: string;
}

interface RowStyle {
  /** The width of the terminal; Infinity for a pipe. */
  readonly columns: number;
  readonly indent?: string;
  /** Colours the third cell. */
  readonly paint?: (text: string) => string;
}

/** Longer names are cut. */
const widestName = 32;

/** Returns the lines of each row, in columns as wide as their widest cell. */
export function alignedRows(
  given: readonly AlignedRow[],
  style: RowStyle,
): readonly (readonly string[])[] {
  const rows = given.map(
    ({ cells: [id, name, third], detail }): AlignedRow => ({
      cells: [id, truncate(name, widestName), third],
      detail,
    }),
  );
  const widths = [0, 1, 2].map((column) => widestOf(rows.map(({ cells }) => cells[column] ?? '')));
  return rows.map((row) => alignedRow(row, widths, style));
}

const gap = '  ';
const belowIndent = '    ';
const maxIndent = 6;
/** A detail of more lines is put below, where it becomes a broader paragraph. */
const maxBeside = 3;

/**
 * Returns the lines of a row, none wider than `columns` unless an id is; a column of width 0 is left
 * out. The detail stands beside the columns where there is room for it, else below. On a terminal
 * that is too narrow for the columns, id and name are one line and the rest is below it.
 */
function alignedRow(
  { cells, detail }: AlignedRow,
  widths: readonly number[],
  { columns, indent = '', paint = (text) => text }: RowStyle,
): string[] {
  const [id, name, third] = cells;
  const painted = (line: string, at: number) =>
    line.slice(0, at) + paint(third) + line.slice(at + third.length);
  const padded = cells.map((cell, at) =>
    widths[at] === 0 ? '' : pad(cell, widths[at] ?? 0) + gap,
  );
  const head = indent + padded.join('');
  const width = displayWidth(head);
  if (width - gap.length > columns) {
    const below = indent + belowIndent;
    const room = columns - displayWidth(indent + id + gap);
    const rest = [third, detail].filter((text) => text !== '').join(gap);
    const [second = '', ...more] = indented(rest, below.length, columns);
    const first = `${indent}${id}${gap}${truncate(name, room)}`.trimEnd();
    return [first, painted(second, below.length), ...more];
  }
  const room = columns - width;
  const isShort = detail === '' || displayWidth(detail) <= room;
  const fits = isShort || (room >= minTextWidth && widestOf(detail.split(' ')) <= room);
  const beside = fits ? indented(detail, width, columns) : [];
  const isBeside = fits && beside.length <= maxBeside;
  const [first = '', ...more] = isBeside ? beside : indented(detail, maxIndent, columns);
  const line = isBeside ? head + first.slice(width) : head;
  const lines = isBeside ? [line, ...more] : [line, first, ...more];
  return [painted(line, head.length - (padded[2] ?? '').length), ...lines.slice(1)].map((each) =>
    each.trimEnd(),
  );
}

function indented(text: string, indent: number, columns: number): string[] {
  return wrap(text, columns - indent).map((line) => ' '.repeat(indent) + line);
}
