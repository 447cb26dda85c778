/** The changes of a run that can be undone, and the words of an undo: its counts, its effect, and why a run cannot be undone. */

import { shortValue } from '../cli/lines.js';
import type { Context } from '../context.js';
import type { CommandManifest } from '../data/command-manifest.js';
import type { JsonObject } from '../data/json.js';
import { type ResourceName, referenceKindsOf } from '../data/resources.js';
import { foldCase, groupedNumber, plural } from '../data/text.js';
import type { PreviewedRows, Task } from '../engine/operation.js';
import { GuardError } from '../errors.js';
import { type BeforeImage, readBeforeImages } from '../runs/before-images.js';
import type { ReportRow, SelectedRow } from '../runs/report.js';
import { runFolder, storeOf } from '../runs/store.js';
import type { StoredRun } from '../runs/stored-run.js';
import { countedNoun, type RunVerb, verbs } from '../runs/verb.js';
import { recordIfThere, recordReader } from './read.js';
import type { RowWarnings } from './row-warnings.js';

/** The effect of an undo on its rows; `mixed`: some fields are restored, other records deleted. */
export type UndoKind = 'fields' | 'created' | 'mixed';

/** The changed rows of a run that can be undone, each with its before-image, and those that cannot. */
export async function undoable(
  context: Context,
  { head }: StoredRun,
  results: readonly ReportRow[],
) {
  const images = await readBeforeImages(runFolder(storeOf(context), head.run));
  const imageByRow = new Map(images.map((image) => [image.row, image]));
  const documents = recordReader(context, 'documents');
  const can: BeforeImage[] = [];
  const cannot: NotUndoable[] = [];
  for (const row of results.toSorted((a, b) => a.row - b.row)) {
    if (row.result !== 'changed' && row.result !== 'unknown' && row.step === undefined) continue;
    const { id: made, replaces } = row.after ?? {};
    const id = typeof made === 'string' ? made : row.id;
    const image = imageByRow.get(row.row);
    const isLast = typeof replaces === 'string' && !(await recordIfThere(documents, replaces));
    const why = isLast
      ? `that replaced ${replaces}, which is gone`
      : obstacle(head.verb, row, image, images.length > 0);
    if (why === undefined && image) can.push({ ...image, id });
    else {
      const deleted = image?.kind === 'record' ? image.before : undefined;
      cannot.push({ id, why: why ?? '', deleted });
    }
  }
  return { can, cannot };
}

/** Why a row cannot be undone, worded to follow a count; undefined if it can. */
function obstacle(
  verb: RunVerb,
  { result, step, after }: ReportRow,
  image: BeforeImage | undefined,
  keepsImages: boolean,
): string | undefined {
  if (result === 'unknown') return 'with an unknown outcome';
  const { canUndo, done, isRepeatable } = verbs[verb];
  // A row that names a step did only that one; the next was refused.
  if (!canUndo) return step === undefined ? done : `only ${step}`;
  if (image?.kind === 'record') return 'deleted';
  // `auth logout` may have removed images of a run that was resumed later.
  const makesRecords = !isRepeatable;
  const isWithoutId = verb === 'create' && after?.['id'] === undefined;
  if (!image)
    return (keepsImages && makesRecords) || isWithoutId
      ? 'made without an answer that shows it'
      : 'changed by a run whose previous values were not kept';
  const unrestorable = unrestorableFields(image);
  const isRestorable = Object.keys(image.after ?? {}).some(
    (field) => !unrestorable.includes(field),
  );
  return image.kind === 'created' || isRestorable
    ? undefined
    : `with a previous value that was not kept (${unrestorable.join(', ')})`;
}

/** The effect of an undo of these rows. */
export function undoKind(rows: readonly BeforeImage[]): UndoKind {
  const created = rows.filter(({ kind }) => kind === 'created').length;
  if (created === 0) return 'fields';
  return created === rows.length ? 'created' : 'mixed';
}

/**
 * The sentence with the counts, which add up to the changed rows of the run. The preview of an undo that
 * is continued holds only the rows that are left of those that can be undone.
 */
export function undoneCounts(
  run: string,
  { tasks, decided }: PreviewedRows,
  { can, cannot }: { readonly can: readonly unknown[]; readonly cannot: readonly NotUndoable[] },
): string {
  const count = (...results: ReportRow['result'][]) =>
    decided.filter(({ result }) => results.includes(result)).length;
  const restored = count('unchanged');
  const undone = can.length - tasks.length - decided.length;
  const parts = [
    `${groupedNumber(tasks.length)} can be undone`,
    `${groupedNumber(count('conflict'))} changed since`,
    `${groupedNumber(cannot.length + count('failed', 'skipped', 'unknown'))} cannot be undone${countedReasons(cannot)}`,
    ...(undone > 0 ? [`${groupedNumber(undone)} already undone`] : []),
    ...(restored > 0 ? [`${groupedNumber(restored)} already as before`] : []),
  ];
  return `Of run ${run}: ${parts.join(', ')}.`;
}

/** Returns the effect on the records of a run that created some and changed others. */
export function mixedNote(kind: UndoKind, tasks: readonly Task[]): readonly string[] {
  if (kind !== 'mixed') return [];
  const created = tasks.filter(({ own }) => own?.['kind'] === 'created').length;
  const restored = tasks.length - created;
  const parts = [
    ...(created > 0 ? [`${plural(created, 'created record')} will be deleted`] : []),
    ...(restored > 0 ? [`${plural(restored, 'changed record')} will be restored`] : []),
  ];
  return parts.length > 0 ? [`${parts.join('; ')}.`] : [];
}

/** A changed row that cannot be undone. */
interface NotUndoable {
  readonly id: string;
  /** The reason, worded to follow a count. */
  readonly why: string;
  /** The record, if the run deleted it. */
  readonly deleted?: JsonObject | undefined;
}

/** Fields whose former value is incomplete: it held the API key, or a URL stored without its query. */
export function unrestorableFields({
  withheld,
  shortened,
}: Pick<BeforeImage, 'withheld' | 'shortened'>): readonly string[] {
  return [...new Set([...withheld, ...shortened])];
}

/** The reasons with their counts: ` (2 deleted or converted, 1 with an unknown outcome)`. */
function countedReasons(rows: readonly NotUndoable[]): string {
  const counts = new Map<string, number>();
  for (const { why } of rows) counts.set(why, (counts.get(why) ?? 0) + 1);
  const parts = [...counts].map(([why, count]) => `${groupedNumber(count)} ${why}`);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

/** Says which fields have a former value that is incomplete. */
export function partialNotes(rows: readonly BeforeImage[]): readonly string[] {
  const partial = rows.filter(
    (image) => image.kind === 'fields' && unrestorableFields(image).length > 0,
  );
  const fields = [...new Set(partial.flatMap(unrestorableFields))];
  if (fields.length === 0) return [];
  return [
    `${fields.join(', ')} of ${plural(partial.length, 'record')} cannot be undone: the previous value was not kept (an API key, or a URL with a query).`,
  ];
}

/** Says which fields are set to null, because the record did not have them. */
export function nullNote(tasks: readonly Task[]): readonly string[] {
  const fields = new Set(
    tasks.flatMap(({ own, previewed = [] }) => {
      const { absent = [] } = (own ?? {}) as Partial<BeforeImage>;
      return previewed.map(({ field }) => field).filter((field) => absent.includes(field));
    }),
  );
  if (fields.size === 0) return [];
  return [`${[...fields].join(', ')}: set to null, since a field cannot be removed.`];
}

/** Warns of what a record keeps although its other fields are restored: a status that is not documented, fields that are not shown. */
export function warnOfKept(
  warnings: RowWarnings,
  row: SelectedRow,
  record: JsonObject,
  { status, hidden }: { readonly status: unknown; readonly hidden: readonly string[] },
): void {
  if (status !== undefined)
    warnings.forRow(
      row,
      record,
      `keeps its status, because the previous one, ${shortValue(status)}, is not one of the documented ones.`,
      'Other records also keep their status.',
    );
  if (hidden.length > 0)
    warnings.forRow(
      row,
      record,
      `keeps ${hidden.join(', ')}, because the service does not show it.`,
      'Other records also keep fields that the service does not show.',
    );
}

/** How to bring back what a run deleted; undefined if no command can. */
function restoreHint(
  { head, state }: StoredRun,
  run: string,
  rows: readonly NotUndoable[],
  { commands }: CommandManifest,
) {
  const { resource, verb, of } = head;
  const has = (own: string) =>
    commands.some(({ words }) => words.join(' ') === `${resource} ${own}`);
  if (verb !== 'delete' || of !== undefined) return undefined;
  const isOne = state.results.size === 1;
  // A record alone does not bring its file back.
  if (has('upload'))
    return `If you still have the ${isOne ? 'file' : 'files'}, upload ${isOne ? 'it' : 'them'} again: rosterctl ${resource} upload FILE`;
  if (!has('import') || !rows.some(({ deleted }) => deleted)) return undefined;
  const kinds = referenceKindsOf(resource as ResourceName);
  const key = kinds.find((kind) => isKeyOf(rows, kind)) ?? kinds[0] ?? 'name';
  return [
    `Save the deleted records: rosterctl runs show ${run} --undoable -o ndjson > deleted.ndjson`,
    isOne
      ? `Create it again: rosterctl ${resource} create --input deleted.ndjson`
      : `Create them again: rosterctl ${resource} import deleted.ndjson --key ${key}`,
  ].join('\n');
}

/** True if each deleted record has a value of its own in this field, as `import --key` requires. */
function isKeyOf(rows: readonly NotUndoable[], field: string): boolean {
  const values = rows.map(({ deleted }) => deleted?.[field]);
  const texts = values.filter((value) => typeof value === 'string' && value.trim() !== '');
  return new Set(texts.map((text) => foldCase(String(text).trim()))).size === rows.length;
}

/** The error for a run of which nothing can be undone; `run`: its name; `table`: the commands that a hint may name. */
export function nothingToUndo(
  stored: StoredRun,
  run: string,
  rows: readonly NotUndoable[],
  table: CommandManifest,
): GuardError {
  const { head } = stored;
  const why = countedReasons(rows);
  const [first] = rows;
  const isSame = rows.every((row) => row.why === first?.why);
  const final = isSame
    ? Object.values(verbs).find(({ done }) => done === first?.why)?.many
    : undefined;
  const what = countedNoun(rows.length, head);
  return new GuardError(
    final === undefined
      ? `Nothing in run ${run} (${head.action.replace('.', ' ')}) can be undone${why}.`
      : `Run ${run} ${first?.why} ${what}. ${final} cannot be undone.`,
    {
      code: 'notUndoable',
      hint: [
        restoreHint(stored, run, rows, table) ?? `See what it changed: rosterctl runs show ${run}`,
        'To undo an earlier run, find its name: rosterctl runs list --all',
      ].join('\n'),
    },
  );
}
