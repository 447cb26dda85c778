/** Undoes a run: restores fields from their before-images, and deletes created records; by reads that may lag behind the run. */

import { replacementBody } from '../api/records.js';
import { isReadByList, resources } from '../api/resources.js';
import { TryoutStatus } from '../api/schemas.js';
import { shortValue } from '../cli/lines.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { lazy } from '../data/lazy.js';
import { ConflictError, isProvenNotFound } from '../data/outcome-errors.js';
import type { ResourceName } from '../data/resources.js';
import { withoutQueries } from '../data/signed-urls.js';
import { isSameMeaning, isSameValue } from '../data/sorting.js';
import { lagPauses, pause } from '../data/time.js';
import { plainNotes } from '../engine/notes.js';
import type { Operation, Session } from '../engine/operation.js';
import { sessionByRow } from '../engine/run.js';
import { readSettleMs } from '../engine/verify.js';
import { type BeforeImage, readBeforeImages } from '../runs/before-images.js';
import { settleTimeLeft } from '../runs/journal.js';
import { isSameScope } from '../runs/plan.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import { runFolder, runNames, storeOf } from '../runs/store.js';
import { readRun, readRuns, type StoredRun } from '../runs/stored-run.js';
import { deleteSession } from './delete.js';
import { RowWarnings } from './row-warnings.js';
import { compareEdit } from './tryout-edit.js';
import { type UndoKind, unrestorableFields, warnOfKept } from './undoable.js';
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
      const warnings = new RowWarnings(context);
      const sessions = {
        created: lazy(() => afterRun(deleteCreated(context, name))),
        fields: lazy(() => afterRun(restoreFields(context, name, job, warnings))),
      };
      return {
        ...sessionByRow((row) =>
          rowOfUndo(row).kind === 'created' ? sessions.created() : sessions.fields(),
        ),
        planned: (isSingle, leftAlone) => warnings.print(isSingle, leftAlone),
      };
    },
  };
}

function rowOfUndo({ own = {} }: SelectedRow): UndoRow {
  return own as UndoRow;
}

/** Restores a field only if its present value is what the run wrote. */
function restoreFields(
  context: Context,
  resource: ResourceName,
  { route }: UndoJob,
  warnings: RowWarnings,
): Session {
  const hasStatus = 'status' in resources[resource].schema.shape;
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
        return {
          ...notUndone(`The service does not show ${hidden.join(', ')}, so it cannot be undone.`),
          isDoubtful: true,
        };
      // The service may keep what was sent in a form of its own, such as a number as text.
      const conflict = changes.find(
        ({ field, from }) =>
          !isSame(field, from, after[field]) && !isSameMeaning(from, after[field]),
      );
      if (!conflict) warnOfKept(warnings, row, record, { status: foreign?.to, hidden });
      return { changes, conflict };
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

/** The pause before a read is repeated, after those of every lagging read. */
const longestPause = 1_000;

/**
 * When a run last wrote, and which of these rows of it a later run of this machine has set back since, which
 * explains old values; undefined once it has settled.
 */
export async function recentWrite(
  context: Context,
  { head, state: { wroteAt } }: StoredRun,
  rows: readonly BeforeImage[],
) {
  if (wroteAt === undefined || settlesIn(context, wroteAt) === 0) return undefined;
  const store = storeOf(context);
  const setBack = new Set<number>();
  const later = runNames(store).filter((name) => name > head.run);
  for (const { head: own, state } of await readRuns(store, later)) {
    if (!isSameScope(own, head)) continue;
    const images = await readBeforeImages(runFolder(store, own.run));
    const written = images.filter(({ row }) => state.results.get(row)?.result === 'changed');
    const byId = new Map(written.map((image) => [image.id, image]));
    for (const row of rows) {
      const image = byId.get(row.id);
      if (!image || !isSameField(row, image)) continue;
      if (isReverse(row, image)) setBack.add(row.row);
      else setBack.delete(row.row);
    }
  }
  return { wroteAt, setBack };
}

/** True if a later write concerns what the earlier one changed; of a created record, that is its deletion. */
function isSameField(earlier: BeforeImage, { kind, after = {} }: BeforeImage): boolean {
  if (earlier.kind === 'created') return kind === 'record';
  return Object.keys(earlier.after ?? {}).some((field) => Object.hasOwn(after, field));
}

/** True if a later write found exactly what the earlier one left, and left what that had found. */
function isReverse(earlier: BeforeImage, later: BeforeImage): boolean {
  if (earlier.kind === 'created') return true;
  const { before = {}, after = {} } = earlier;
  const { before: found = {}, after: left = {} } = later;
  return Object.keys(after).every(
    (field) =>
      Object.hasOwn(left, field) &&
      isSameValue(found[field] ?? null, after[field] ?? null) &&
      isSameValue(left[field] ?? null, before[field] ?? null),
  );
}

function settlesIn({ env, now }: Context, wroteAt: number): number {
  return settleTimeLeft([{ t: wroteAt }], readSettleMs(env), now());
}

/**
 * Returns how sessions read while reads may still lag behind the run that they undo, which is as long as
 * its last write would take to settle; `wroteAt`: when that was. A record that reads as before the run is
 * read again until then, and is a conflict if it stays so: someone set it back, or reads lag for longer.
 * A later run that has set it back meanwhile explains it, too: another undo of the same run, at the same time.
 */
function readingAfter(
  context: Context,
  { of, wroteAt }: { readonly of: string; readonly wroteAt?: number | undefined },
): (session: Session) => Session {
  const { clock, signal } = context;
  const settles = wroteAt === undefined ? 0 : settlesIn(context, wroteAt);
  if (settles === 0) return (session) => session;
  const end = clock() + settles;
  let isNoted = false;
  const waitToRead = async (id: string, reads: number, left: number) => {
    if (!isNoted)
      context.note(
        `${id} still reads as it did before the run. Reading it again for up to ${Math.ceil(left / 1_000)} s.`,
      );
    isNoted = true;
    await pause(Math.min(lagPauses[reads] ?? longestPause, left), signal);
  };
  const isSetBackMeanwhile = async ({ row, id, own }: SelectedRow) => {
    const run = await readRun(storeOf(context), of);
    const image = { ...own, row, id } as unknown as BeforeImage;
    return run !== undefined && (await recentWrite(context, run, [image]))?.setBack.has(row);
  };
  return (session) => {
    const plan: Session['plan'] = async (row, state) => {
      const planned = await session.plan(row, state);
      const isExplained = row.own?.['isSetBack'] === true || planned.skipped !== undefined;
      const isDoubtful = planned.isDoubtful ?? (planned.steps.length === 0 && !isExplained);
      return { ...planned, isDoubtful };
    };
    const read: Session['read'] = async (row, purpose) => {
      let state = await session.read(row, purpose);
      if (purpose === 'verify') return state;
      for (let reads = 0; ; reads += 1) {
        const { isDoubtful, skipped } = await plan(row, state);
        if (!isDoubtful || (reads === 0 && (await isSetBackMeanwhile(row)))) break;
        const left = end - clock();
        if (left <= 0 && skipped) break;
        if (left <= 0) throw asBeforeTheRun(row.id, state.record === undefined);
        await waitToRead(row.id, reads, left);
        state = await session.read(row, 'turn');
      }
      return state;
    };
    return { ...session, plan, read };
  };
}

function asBeforeTheRun(id: string, isGone: boolean): ConflictError {
  const why = isGone
    ? 'was not found, although the run has only just created it. Someone deleted it'
    : 'still reads as it did before the run, which has only just changed it. Someone set it back';
  return new ConflictError(`${id} ${why}, or the service shows changes late.`, {
    hint: 'Read it again in a minute. If it shows the change, undo the run again.',
  });
}
