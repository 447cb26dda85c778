/** Handles reads that lag behind a run, so that an undo soon after it does not mistake old values for restored ones. */

import type { Context } from '../context.js';
import { ConflictError } from '../data/outcome-errors.js';
import { isSameValue } from '../data/sorting.js';
import { lagPauses, pause } from '../data/time.js';
import type { Session } from '../engine/operation.js';
import { readSettleMs } from '../engine/verify.js';
import { type BeforeImage, readBeforeImages } from '../runs/before-images.js';
import { settleTimeLeft } from '../runs/journal.js';
import { isSameScope } from '../runs/plan.js';
import type { SelectedRow } from '../runs/report.js';
import { runFolder, runNames, storeOf } from '../runs/store.js';
import { readRun, readRuns, type StoredRun } from '../runs/stored-run.js';

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
export function readingAfter(
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
      return { ...planned, isDoubtful: planned.steps.length === 0 && !isExplained };
    };
    const read: Session['read'] = async (row, purpose) => {
      let state = await session.read(row, purpose);
      if (purpose === 'verify') return state;
      for (let reads = 0; (await plan(row, state)).isDoubtful; reads += 1) {
        if (reads === 0 && (await isSetBackMeanwhile(row))) break;
        const left = end - clock();
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
