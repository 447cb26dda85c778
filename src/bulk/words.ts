/** The words of a change for a person: what an action does, how a row ended, and old → new with human labels. */

import { binarySize } from '../cli/cells.js';
import { deletedValue, shortValue } from '../cli/lines.js';
import { fieldLabel } from '../cli/lists/labels.js';
import type { JsonObject } from '../data/json.js';
import { recordedSize } from '../data/path.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { plural } from '../data/text.js';
import type { ReportRow, RowResult } from '../runs/report.js';
import { nounOfAction, type RunVerb, verbOfAction } from '../runs/verb.js';

/** The action (`players.delete`), the resource that it writes, and its verb, which a report does not keep. */
export interface Action {
  readonly action: string;
  readonly resource?: string | undefined;
  readonly verb?: RunVerb | undefined;
}

interface Verb {
  /** The first word of a question. */
  readonly ask: string;
  /** Completes `N players would …`. */
  readonly would: string;
  /** Completes `N rows cannot be …`; the result of a row that was written. */
  readonly done: string;
  /** Completes the head of a preview, whose rows do not say it: ` to delete`. */
  readonly purpose: string;
}

const changing: Verb = { ask: 'Change', would: 'change', done: 'changed', purpose: '' };
const uploading: Verb = {
  ask: 'Upload',
  would: 'be uploaded',
  done: 'uploaded',
  purpose: ' to upload',
};
const verbs: { readonly [V in RunVerb]: Verb } = {
  update: changing,
  delete: { ask: 'Delete', would: 'be deleted', done: 'deleted', purpose: ' to delete' },
  convert: { ask: 'Convert', would: 'be converted', done: 'converted', purpose: ' to convert' },
  create: { ask: 'Create', would: 'be created', done: 'created', purpose: ' to create' },
  upload: uploading,
  import: { ask: 'Import', would: 'be imported', done: 'imported', purpose: ' to import' },
  undo: { ...changing, done: 'undone' },
};

/** The words for an action, so that a delete is never described as a change. */
export function verbOf({ action, verb = verbOfAction(action) }: Action): Verb {
  return verbs[verb];
}

/** Returns a row's message without the id that stands before it already. */
export function aboutRow(message: string, id: string): string {
  return message.startsWith(`${id} `) ? message.slice(id.length + 1) : message;
}

/** `3 applications`: a number of what the action changes. */
export function counted(
  count: number,
  { action, verb, resource = nounOfAction(action) }: Action,
): string {
  if (verbOf({ action, verb }) === uploading) return plural(count, 'file');
  const { noun = 'record', plural: many = 'records' } = Object.hasOwn(resourceWords, resource)
    ? resourceWords[resource as ResourceName]
    : {};
  return plural(count, noun, many);
}

/** The result of a row as a word: `changed`, or what the action did; `not sent` for `not_attempted`. */
export function resultWord(result: RowResult, action: Action): string {
  if (result === 'changed') return verbOf(action).done;
  if (result === 'not_attempted') return 'not sent';
  return result === 'would_change' ? `would ${verbOf(action).would}` : result;
}

/** The changes of a row: `pending → reviewing, note added`; a preview shows the note itself. */
export function describeChanges(
  { before = {}, after = {} }: Pick<ReportRow, 'before' | 'after'>,
  action: Action,
  { isPreview = false }: { readonly isPreview?: boolean } = {},
): string {
  if (verbOf(action) === uploading)
    return Object.hasOwn(after, 'id') ? `as ${shortValue(after['id'])}` : '';
  const { convertedPlayerId: player, ...others } = after;
  const isConverted = typeof player === 'string';
  const changes = Object.entries(isConverted ? others : after).map(([field, to]) => {
    const from = before[field];
    return field === 'internalNotes'
      ? describeNote(from, to, isPreview)
      : describeChange(field, from, to);
  });
  return [...(isConverted && !isPreview ? [`to ${shortValue(player)}`] : []), ...changes].join(
    ', ',
  );
}

function describeChange(field: string, from: unknown, to: unknown): string {
  if (field === 'status') return `${shortValue(from ?? null)} → ${shortValue(to)}`;
  const label = fieldLabel(field);
  const elements = isTexts(from) && isTexts(to) ? elementChanges(from, to) : '';
  if (elements !== '') return `${label} ${elements}`;
  return `${label} ${shortValue(from ?? null)} → ${shortValue(to)}`;
}

function describeNote(from: unknown, to: unknown, showsText: boolean): string {
  if (typeof to !== 'string') return 'notes removed';
  const kept = typeof from === 'string' ? from.trimEnd() : '';
  const isAdded = to.startsWith(kept);
  if (kept.length > to.trimEnd().length && kept.startsWith(to.trimEnd())) return 'note removed';
  const what = isAdded ? 'note added' : 'notes replaced';
  return showsText ? `${what}: ${shortValue((isAdded ? to.slice(kept.length) : to).trim())}` : what;
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

/** The one line of a single change without its mark: `Mira Kite (player_1): created`. */
export function describeOne(
  row: ReportRow,
  action: Action,
  { name, record }: { readonly name: string | undefined; readonly record?: JsonObject | undefined },
): string {
  const made = row.after?.['id'];
  const id = typeof made === 'string' ? made : row.id;
  const verb = verbOf(action);
  const who = named(name, id);
  if (verb === verbs.create || verb === verbs.delete) return `${who}: ${verb.done}`;
  if (verb === uploading) {
    const size = recordedSize(record);
    return `${name ?? row.id}: uploaded as ${id}${size === undefined ? '' : ` (${binarySize(size)})`}`;
  }
  const changes = describeChanges(row, action);
  return `${who}: ${verb === verbs.convert ? `${verb.done} ${changes}` : changes}`;
}

/** `Nimbus Kolmarden (app_0064)`, or the id alone. */
export function named(name: unknown, id: string): string {
  return typeof name === 'string' && name !== '' && name !== id ? `${name} (${id})` : id;
}

/** Describes the change of a report's row, for a list of rows: the deleted record, or each field old → new. */
export function rowChanges(row: ReportRow, action: Action, deletes: boolean): string {
  if (!deletes) return describeChanges(row, action);
  return Object.keys(row.after ?? {})
    .map((field) => deletedValue(field, row.before?.[field]))
    .join(', ');
}
