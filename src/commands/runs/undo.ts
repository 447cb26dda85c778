/** `rosterctl runs undo`: restores what a run changed. */
import * as z from 'zod/mini';
import { type BulkValues, bulkFlags, planFlags } from '../../bulk/invocation.js';
import { verifiedResults } from '../../bulk/open-writes.js';
import { flowsWarnings } from '../../bulk/preview-lines.js';
import { reportView } from '../../bulk/report-view.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { params } from '../../cli/define.js';
import type { Context } from '../../context.js';
import { digestOf } from '../../data/digest.js';
import { didYouMean } from '../../data/nearest.js';
import { parseReference } from '../../data/references.js';
import { groupedNumber } from '../../data/text.js';
import type { Operation } from '../../engine/operation.js';
import { GuardError, UsageError } from '../../errors.js';
import { recentWrite, type UndoJob, undoOperation } from '../../resources/undo.js';
import {
  mixedNote,
  nothingToUndo,
  nullNote,
  partialNotes,
  undoable,
  undoKind,
  undoneCounts,
} from '../../resources/undoable.js';
import { shortRunName, shownRunName } from '../../runs/find-run.js';
import { isHeldByOther } from '../../runs/lock.js';
import { requireContinuable } from '../../runs/plan.js';
import { isFinalRow, type ReportRow } from '../../runs/report.js';
import { storeOf } from '../../runs/store.js';
import { mayHaveChanged, readRun, resultsSoFar, type StoredRun } from '../../runs/stored-run.js';
import { earlierRunCommand, findRunHere, invocationOf, undoAction } from './shared.js';

interface Values extends Pick<BulkValues, 'waitLock' | 'plan'> {
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
    // Replaced by `bind`: the run determines the resource, and nothing is read or sent before.
    ...undoOperation('tryouts', { of: '', kind: 'fields' }),
    async bind(context, values: Values, use) {
      return use(await buildUndo(context, values));
    },
  },
});

/** Returns the operation that undoes a run. Throws GuardError if nothing of it can be undone. */
async function buildUndo(context: Context, values: Values): Promise<Partial<Operation>> {
  const stored = await runToUndo(context, values);
  const { head } = stored;
  const shown = shownRunName(context, storeOf(context), head.run);
  const hint = `See: rosterctl runs show ${shown}`;
  const only = values.only?.map((word) => idOf(word, hint));
  const invocation = await invocationOf(context, stored, { waitLock: values.waitLock });
  const results = await verifiedResults(context, invocation, stored);
  const candidates = await undoable(context, stored, results);
  const changedIds = [...candidates.can, ...candidates.cannot].map(({ id }) => id);
  const missing = only?.find((id) => !changedIds.includes(id));
  if (missing !== undefined)
    throw new UsageError(
      `The run ${shown} changed nothing of ${missing}.${didYouMean(missing, changedIds)}`,
      { hint },
    );
  const isSelected = ({ id }: { readonly id: string }) => only === undefined || only.includes(id);
  const can = candidates.can.filter(isSelected);
  const cannot = candidates.cannot.filter(isSelected);
  if (can.length === 0) throw nothingToUndo(stored, shown, cannot, context.table);
  requireContinuable(stored, 'Undo it with the version that wrote it.');
  const kind = undoKind(can);
  const isEnded = stored.finished || isHeldByOther(stored, context.self);
  const left = isEnded ? 0 : head.rows - results.filter(isFinalRow).length;
  const isShownOnly = context.settings.dryRun || values.plan !== undefined;
  const recent = await recentWrite(context, stored, can);
  const waits = can.length > 1 && !isShownOnly;
  const { isInteractive } = context;
  const name = isInteractive ? shortRunName(storeOf(context), head.run) : head.run;
  const undo: UndoJob = {
    of: head.run,
    kind,
    route: head.route,
    wroteAt: recent?.wroteAt,
  };
  return {
    ...undoOperation(head.resource, undo),
    job: async () => undo,
    rows: async () => ({
      rows: can.map(({ row, id, ...image }) => ({
        row,
        id,
        own: { ...image, ...(recent?.setBack.has(row) && { isSetBack: true }) },
      })),
      digest: digestOf([head.run, only ?? null]),
    }),
    async resolve() {
      // The run may have continued while this one waited for its lock; a single record waits for no run.
      if (waits) await requireUnmoved(context, head.run, begunOf(results));
      return undefined;
    },
    previewNotes: (preview) => [
      // For several rows, or without sending, the preview says it.
      ...(can.length === 1 && !isShownOnly ? flowsWarnings(head, preview) : []),
      undoneCounts(name, preview, { can, cannot }),
      ...(left > 0 ? [endedNote(left)] : []),
      ...mixedNote(kind, preview.tasks),
      ...partialNotes(can),
      ...nullNote(preview.tasks),
    ],
  };
}

/** Returns the id that a word of `--only` names. Throws UsageError for any other reference, because the record may have changed. */
function idOf(word: string, hint: string): string {
  const { kind, value } = parseReference(word);
  if (kind !== 'id') throw new UsageError(`--only takes ids, not ${kind}:.`, { hint });
  return value;
}

function begunOf(rows: Iterable<ReportRow>): number {
  return [...rows].filter(isBegun).length;
}

function isBegun({ result, step }: ReportRow): boolean {
  return result === 'changed' || result === 'unknown' || step !== undefined;
}

/** Throws GuardError if a run has sent more rows than these since it was read. */
async function requireUnmoved(context: Context, run: string, begun: number): Promise<void> {
  const store = storeOf(context);
  const now = await readRun(store, run);
  if (now && begunOf(resultsSoFar(now).values()) === begun) return;
  const name = shownRunName(context, store, run);
  throw new GuardError(`The run ${name} has continued in the meantime. Nothing was sent.`, {
    code: 'goneOn',
    hint: 'To undo all of it, run the same command again.',
  });
}

/** Says that the remaining rows of an unfinished run will not be sent. */
function endedNote(left: number): string {
  return `The run is unfinished. Undoing it ends it: ${left === 1 ? 'its last row' : `its other ${groupedNumber(left)} rows`} will not be sent.`;
}

/**
 * The run to undo. `last` is the newest that changed something; if that is an undo that was interrupted,
 * or whose report was not printed, the undo is continued.
 */
async function runToUndo(context: Context, { run }: Values): Promise<StoredRun> {
  const stored = await findRunHere(context, run, mayHaveChanged);
  const { head, finished, reported } = stored;
  const isUnseen = !finished || (head.addsEachTime === true && !reported);
  const isInterruptedUndo = head.action === undoAction && isUnseen && head.of !== undefined;
  return run === 'last' && isInterruptedUndo ? findRunHere(context, head.of, () => true) : stored;
}
