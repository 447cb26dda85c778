/** `rosterctl runs undo`: restores what a run changed. */
import * as z from 'zod/mini';
import { verifiedResults } from '../../bulk/earlier-runs.js';
import { type BulkValues, bulkFlags, planFlags } from '../../bulk/invocation.js';
import { reportView } from '../../bulk/report-view.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { params } from '../../cli/define.js';
import type { Context } from '../../context.js';
import { digestOf } from '../../data/digest.js';
import type { JsonObject } from '../../data/json.js';
import { didYouMean } from '../../data/nearest.js';
import { groupedNumber } from '../../data/text.js';
import type { Operation } from '../../engine/operation.js';
import { UsageError } from '../../errors.js';
import { recordIfThere, recordReader } from '../../resources/read.js';
import { type UndoJob, type UndoKind, undoOperation } from '../../resources/undo.js';
import {
  mixedNote,
  type NotUndoable,
  nothingToUndo,
  nullNote,
  partialNotes,
  undoneCounts,
  unrestorableFields,
} from '../../resources/undo-words.js';
import { type BeforeImage, readBeforeImages } from '../../runs/before-images.js';
import { requireContinuable } from '../../runs/plan.js';
import type { ReportRow } from '../../runs/report.js';
import { runFolder, storeOf } from '../../runs/store.js';
import { rowsLeft, type StoredRun } from '../../runs/stored-run.js';
import { verbs } from '../../runs/verb.js';
import { earlierRunCommand, findRunHere, invocationOf, undoAction } from './shared.js';

interface Values extends Pick<BulkValues, 'waitLock'> {
  readonly run: string;
  readonly only: readonly string[] | undefined;
}

export default defineOperation({
  summary: 'Undo a run: restore fields and delete what it created',
  about:
    'A field is restored only if it still has the value that the run set. If someone has changed a ' +
    'record since then, it is left alone and reported as a conflict. Records that the run created are ' +
    'deleted if nobody has changed them. Deletions, conversions and the events of status ' +
    'changes cannot be undone; runs show RUN --undoable prints the records that a run deleted, for import. An undo ' +
    'is itself a run and can be undone.',
  examples: [
    ['Preview it first', 'last --dry-run'],
    ['From a script', 'last --yes'],
    ['One record of a run', 'last --only app_0013 --dry-run'],
  ],
  calls: earlierRunCommand.calls,
  args: earlierRunCommand.args,
  flags: {
    only: params(z.optional(z.array(z.string())), 'undo only these records', {
      placeholder: 'ID',
      commaList: true,
      group: 'selection',
    }),
    ...earlierRunCommand.flags,
    ...planFlags,
    restart: bulkFlags.restart,
    results: bulkFlags.results,
  },
  view: reportView,
  operation: {
    // A placeholder: the run determines the resource, and nothing is read or sent before.
    resource: 'tryouts',
    verb: 'undo',
    confirm: 'several',
    reports: true,
    job: async () => ({}),
    open() {
      throw new UsageError('This run cannot be undone.');
    },
    async bind(context, values: Values, use) {
      return use(await buildUndo(context, values));
    },
  },
});

/** Returns the operation that undoes a run. Throws GuardError if nothing of it can be undone. */
async function buildUndo(context: Context, values: Values): Promise<Partial<Operation>> {
  const { only } = values;
  const stored = await runToUndo(context, values);
  const { head } = stored;
  const candidates = await undoable(context, stored, values);
  const changedIds = [...candidates.can, ...candidates.cannot].map(({ id }) => id);
  const missing = only?.find((id) => !changedIds.includes(id));
  if (missing !== undefined)
    throw new UsageError(
      `The run ${head.run} changed nothing of ${missing}.${didYouMean(missing, changedIds)}`,
      { hint: `See: rosterctl runs show ${head.run}` },
    );
  const isSelected = ({ id }: { readonly id: string }) => only === undefined || only.includes(id);
  const can = candidates.can.filter(isSelected);
  const cannot = candidates.cannot.filter(isSelected);
  if (can.length === 0) throw nothingToUndo(stored, cannot, context.table);
  requireContinuable(stored, 'Undo it with the version that wrote it.');
  const kind = kindOf(can);
  const undo: UndoJob = {
    of: head.run,
    kind,
    ...(head.route !== undefined && { route: head.route }),
  };
  return {
    ...undoOperation(head.resource, undo),
    job: async () => undo,
    rows: async () => ({
      rows: can.map(({ row, id, kind: own, before = {}, after = {}, absent, ...image }) => ({
        row,
        id,
        own: {
          kind: own,
          before,
          after,
          absent,
          inexact: image.withheld,
          shortened: image.shortened,
        },
      })),
      header: ['id'],
      digest: digestOf([head.run, only ?? null]),
    }),
    previewNotes: (preview) => [
      undoneCounts(head.run, preview, cannot),
      ...(stored.finished ? [] : [endedNote(stored)]),
      ...mixedNote(kind, preview.tasks),
      ...partialNotes(can),
      ...nullNote(can),
    ],
  };
}

/** Says that the rows that an unfinished run has left are not sent any more. */
function endedNote(stored: StoredRun): string {
  const left = rowsLeft(stored);
  return `The run is unfinished. Undoing it ends it: ${left === 1 ? 'its last row is' : `its other ${groupedNumber(left)} rows are`} not sent any more.`;
}

function kindOf(rows: readonly BeforeImage[]): UndoKind {
  const created = rows.filter(({ kind }) => kind === 'created').length;
  if (created === 0) return 'fields';
  return created === rows.length ? 'created' : 'mixed';
}

/**
 * The run to undo. `last` is the newest that changed something; if that is an interrupted undo, the
 * undo is continued.
 */
async function runToUndo(context: Context, { run }: Values): Promise<StoredRun> {
  const stored = await findRunHere(context, run, mayHaveChanged);
  const { head, finished } = stored;
  const isInterruptedUndo = head.action === undoAction && !finished && head.of !== undefined;
  return run === 'last' && isInterruptedUndo ? findRunHere(context, head.of, () => true) : stored;
}

function mayHaveChanged({ state }: StoredRun): boolean {
  const { results, open, done } = state;
  if (open.size > 0 || done.size > 0) return true;
  return [...results.values()].some(({ result }) => result === 'changed');
}

/** The changed rows of a run that can be undone, and those that cannot. */
interface Undoable {
  readonly can: readonly BeforeImage[];
  readonly cannot: readonly NotUndoable[];
}

async function undoable(context: Context, stored: StoredRun, values: Values): Promise<Undoable> {
  const invocation = await invocationOf(context, stored, { waitLock: values.waitLock });
  const results = await verifiedResults(context, invocation, stored);
  const images = await readBeforeImages(runFolder(storeOf(context), stored.head.run));
  const byRow = new Map(images.map((image) => [image.row, image]));
  const can: BeforeImage[] = [];
  const cannot: NotUndoable[] = [];
  const documents = recordReader(context, 'documents');
  const hasNoUndo = !verbs[invocation.operation.verb].canUndo;
  for (const row of results.toSorted((a, b) => a.row - b.row)) {
    if (row.result !== 'changed' && row.result !== 'unknown' && row.step === undefined) continue;
    const made = row.after?.['id'];
    const id = typeof made === 'string' ? made : row.id;
    const image = byRow.get(row.row);
    const replaced = row.after?.['replaces'];
    const isLast = typeof replaced === 'string' && !(await recordIfThere(documents, replaced));
    const why = hasNoUndo
      ? doneForGood(stored, row)
      : isLast
        ? `that replaced ${replaced}, which is gone`
        : undoObstacle(row, image, images.length > 0);
    if (why === undefined && image) can.push({ ...withoutUnrestorable(image), id });
    else cannot.push({ id, why: why ?? '' });
  }
  return { can, cannot };
}

/** Describes what a run without an undo did to a row. */
function doneForGood({ head }: StoredRun, { result, step }: ReportRow): string {
  if (result === 'unknown') return unknownChange;
  // Its second step was refused.
  if (step !== undefined) return `only ${step}`;
  return head.verb === 'delete' || head.of !== undefined ? 'deleted' : 'converted';
}

const unknownChange = 'unknown whether it was changed';

function undoObstacle(
  { result }: ReportRow,
  image: BeforeImage | undefined,
  keepsImages: boolean,
): string | undefined {
  if (result === 'unknown') return unknownChange;
  if (image?.kind === 'record') return 'deleted';
  if (!image && keepsImages) return 'made without an answer that shows it';
  if (!image) return 'changed by a run whose former values are not kept';
  const hasNothingLeft =
    image.kind === 'fields' && Object.keys(withoutUnrestorable(image).after ?? {}).length === 0;
  return hasNothingLeft
    ? `with a former value that is not kept (${unrestorableFields(image).join(', ')})`
    : undefined;
}

/** Removes fields whose former value is incomplete, so that the undo leaves them as they are. */
function withoutUnrestorable(image: BeforeImage): BeforeImage {
  const unrestorable = unrestorableFields(image);
  if (unrestorable.length === 0 || image.kind !== 'fields') return image;
  const keep = (fields: JsonObject = {}) =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => !unrestorable.includes(field)));
  return { ...image, before: keep(image.before), after: keep(image.after) };
}
