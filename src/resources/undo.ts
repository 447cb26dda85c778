/** Undoes a run: restores fields from their before-images, and deletes created records. */

import { replacementBody } from '../api/records.js';
import { isReadByList, resourceRow } from '../api/resources.js';
import { TryoutStatus } from '../api/schemas.js';
import { shortValue } from '../cli/lines.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { lazy } from '../data/lazy.js';
import { isProvenNotFound } from '../data/outcome-errors.js';
import type { ResourceName } from '../data/resources.js';
import { withoutQueries } from '../data/signed-urls.js';
import { isSameMeaning, isSameValue } from '../data/sorting.js';
import { plainNotes } from '../engine/notes.js';
import type { Operation, Session } from '../engine/operation.js';
import { sessionByRow } from '../engine/run.js';
import { type BeforeImage, readBeforeImages } from '../runs/before-images.js';
import type { ReportRow, RowChange, SelectedRow } from '../runs/report.js';
import { runFolder, storeOf } from '../runs/store.js';
import type { StoredRun } from '../runs/stored-run.js';
import { type RunVerb, verbs } from '../runs/verb.js';
import { deleteSession } from './delete.js';
import { readingAfter } from './lagging-undo.js';
import { recordIfThere, recordReader } from './read.js';
import { compareEdit } from './tryout-edit.js';
import { type NotUndoable, type UndoKind, unrestorableFields } from './undo-words.js';
import { readOnlyFields, updateSession } from './update.js';

/** The job of an undo, which applies to all its rows. */
export type UndoJob = JsonObject & {
  /** The run to undo. */
  readonly of: string;
  readonly kind: UndoKind;
  readonly route?: string | undefined;
  /** When the run last wrote, in milliseconds since 1970, if reads may lag behind that. */
  readonly wroteAt?: number | undefined;
};

/** The values that a row of an undo restores; plain JSON. `isSetBack`: a later run restored them already. */
type UndoRow = Omit<BeforeImage, 'row' | 'id'> & { readonly isSetBack?: true } & JsonObject;

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
  if (!verbs[verb].canUndo) {
    // Its second step was refused.
    if (step !== undefined) return `only ${step}`;
    return verb === 'delete' ? 'deleted' : 'converted';
  }
  if (image?.kind === 'record') return 'deleted';
  // `auth logout` may have removed images of a run that was resumed later.
  const makesRecords = verb !== 'update' && verb !== 'undo';
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

/** The operation that undoes a run of this resource. */
export function undoOperation(
  resource: string,
  { of, kind }: Pick<UndoJob, 'of' | 'kind'>,
): Operation {
  const name = resource as ResourceName;
  return {
    resource: name,
    ...(kind === 'fields' ? { confirm: 'several' } : { confirm: 'count', locksRows: true }),
    verb: kind === 'created' ? 'delete' : 'undo',
    reports: true,
    // The second time, `last` would mean this undo.
    addsEachTime: true,
    of,
    job: async () => ({}),
    // Verifying what is left of the run may move its last write.
    identity: (job) => ({ ...job, wroteAt: undefined }),
    open(context: Context, job: UndoJob) {
      const afterRun = readingAfter(context, job);
      const sessions = {
        created: lazy(() => afterRun(deleteCreated(context, name))),
        fields: lazy(() => afterRun(restoreFields(context, name, job))),
      };
      return sessionByRow((row) =>
        rowOfUndo(row).kind === 'created' ? sessions.created() : sessions.fields(),
      );
    },
  };
}

function rowOfUndo({ own = {} }: SelectedRow): UndoRow {
  return own as UndoRow;
}

/** Restores a field only if its present value is what the run wrote. */
function restoreFields(context: Context, resource: ResourceName, { route }: UndoJob): Session {
  const hasStatus = 'status' in resourceRow(resource).schema.shape;
  const isForeign = ({ field, to }: RowChange) =>
    hasStatus && field === 'status' && !TryoutStatus.safeParse(to).success;
  const session = updateSession(context, resource, route, {
    plan(row, record) {
      const image = rowOfUndo(row);
      const { before = {}, after = {}, absent } = image;
      const unrestorable = unrestorableFields(image);
      const fields = Object.keys(after).filter(
        (field) => (field in before || absent.includes(field)) && !unrestorable.includes(field),
      );
      const hidden = fields.filter(
        (field) => absent.includes(field) && !Object.hasOwn(record, field) && after[field] !== null,
      );
      const all = fields
        .map((field) => ({
          field,
          from: ownValue(record, field),
          to: ownValue(before, field) ?? null,
        }))
        .filter(({ field, from, to }) => !isSame(field, from, to));
      const changes = all.filter((change) => !isForeign(change));
      const foreign = all.find(isForeign);
      // Only the documented statuses are accepted (contract section 3).
      if (changes.length === 0 && foreign)
        return notUndone(
          `The previous status ${shortValue(foreign.to)} is not one of the documented ones, so it is not sent back.`,
        );
      if (changes.length === 0 && hidden.length > 0)
        return notUndone(`The service does not show ${hidden.join(', ')}, so it cannot be undone.`);
      return {
        changes,
        // The service may keep what was sent in a form of its own, such as a number as text.
        conflict: changes.find(
          ({ field, from }) =>
            !isSame(field, from, after[field]) && !isSameMeaning(from, after[field]),
        ),
      };
    },
    names: (row) => Object.keys(rowOfUndo(row).after ?? {}),
  });
  // The statuses are documented, so a value that is neither old nor new comes from another writer.
  return hasStatus ? { ...session, compare: compareEdit } : session;
}

/** Returns a field, and nothing for one that every object inherits, such as `constructor`. */
function ownValue(values: JsonObject, field: string): unknown {
  return Object.hasOwn(values, field) ? values[field] : undefined;
}

function notUndone(message: string) {
  return { changes: [], skipped: { code: 'notUndoable', message } };
}

/** Compares two values of a field: absent equals null, and notes are compared as normalized. */
function isSame(field: string, a: unknown, b: unknown): boolean {
  if (field === 'internalNotes') return plainNotes(a) === plainNotes(b);
  return isSameValue(a ?? null, b ?? null);
}

/** Deletes a created record only if it still reads as it did after the create. */
function deleteCreated(context: Context, resource: ResourceName): Session {
  const session = deleteSession(context, resource, undefined);
  const readOnly = readOnlyFields(context, resource);
  // A list may show other fields than the answer to the create.
  const isListed = isReadByList(resource);
  return {
    ...session,
    async read(row, purpose) {
      try {
        return await session.read(row, purpose);
      } catch (error) {
        const decides = purpose === 'preview' || purpose === 'turn';
        if (!decides || !isProvenNotFound(error)) throw error;
        return { record: undefined, at: context.instant() };
      }
    },
    async plan(row, state) {
      const { record } = state;
      // It is gone already, as it was before the run.
      if (!record) return { steps: [] };
      const plan = await session.plan(row, state);
      const { after = {}, withheld, shortened } = rowOfUndo(row);
      const created = replacementBody(after, {}, readOnly);
      const now = replacementBody(record, {}, readOnly);
      const names = [...new Set([...Object.keys(created), ...Object.keys(now)])].filter(
        (name) => !isListed || isComparable(name, after, record),
      );
      const present = (name: string) =>
        shortened.includes(name) ? withoutQueries(now[name]) : now[name];
      const field = names.find(
        (name) => !withheld.includes(name) && !isSameValue(created[name], present(name)),
      );
      if (field === undefined) return plan;
      return { ...plan, conflict: { field, from: now[field], to: created[field] } };
    },
  };
}

/** True if a field of a list can be compared with the answer to the create: other fields prove nothing as long as the time of the last change is the same. */
function isComparable(name: string, created: JsonObject, listed: JsonObject): boolean {
  const isInBoth = Object.hasOwn(created, name) && Object.hasOwn(listed, name);
  const { updatedAt } = created;
  const isTouched = updatedAt !== undefined && !isSameValue(updatedAt, listed['updatedAt'] ?? null);
  return isInBoth || isTouched;
}
