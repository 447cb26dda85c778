/**
 * Writes of other runs to the records of this one: a killed process may have sent one that can still take
 * effect, and reads may not show yet what a finished one did.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { lazy } from '../data/lazy.js';
import type { ResourceName } from '../data/resources.js';
import { plural } from '../data/text.js';
import { lagMs, lagPauses, pause } from '../data/time.js';
import { type Intent, sentAtLatest, settleTimeLeft } from '../runs/journal.js';
import { isHeldByOther } from '../runs/lock.js';
import { isSameScope, type NewRunHead, placeOf, type RunHead, type Scope } from '../runs/plan.js';
import type { ReportRow, SelectedRow } from '../runs/report.js';
import {
  journalIn,
  modifiedAt,
  placeIn,
  type RunStore,
  runFolder,
  runNames,
  runNamesSince,
  storeOf,
} from '../runs/store.js';
import { listOpenRuns, readRuns, type StoredRun } from '../runs/stored-run.js';
import { isAsBefore } from './decide.js';
import type { RowPlan, Session, Task } from './operation.js';
import { sessionFor } from './run.js';
import { readSettleMs } from './verify.js';

/** The runs whose writes to these rows were awaited, each with the number of its last record by then. */
export type AwaitedRuns = ReadonlyMap<string, number>;

/** The scope of a run, and its name if it is one to leave out. */
type OwnRun = Scope & Partial<Pick<RunHead, 'run'>>;

/**
 * Waits for writes of earlier runs that may still take effect: those to the rows about to be read,
 * and every open write of the runs in `replaced`. Returns the runs that can send none any more.
 */
export async function awaitEarlierWrites(
  context: Context,
  earlier: readonly StoredRun[],
  rows: readonly SelectedRow[],
  replaced: readonly StoredRun[] = [],
): Promise<AwaitedRuns> {
  const ended = earlier.filter((run) => !isHeldByOther(run, context.self));
  const ids = new Set(rows.map(({ id }) => id));
  const open = earlier.flatMap((run) =>
    [...run.state.open.values()].filter(({ id }) => ids.has(id) || replaced.includes(run)),
  );
  await waitForWrites(context, open, 'an earlier run');
  return new Map(ended.map(({ head, state }) => [head.run, state.last]));
}

/** Waits until none of these writes can still take effect. */
export async function waitForWrites(
  context: Context,
  open: readonly Intent[],
  ofRun: string,
): Promise<void> {
  const now = context.now();
  const writes = open.map((intent) => sentAtLatest(intent, now, context.self));
  const longest = settleTimeLeft(writes, readSettleMs(context.env), now);
  if (longest === 0) return;
  context.note(
    `Waiting for ${plural(open.length, 'write')} of ${ofRun} that may still take effect.`,
  );
  await pause(longest, context.signal);
}

/** The open runs that may write the records of this one. Throws OutputError. */
export async function runsBeside(store: RunStore, head: OwnRun): Promise<readonly StoredRun[]> {
  return (await listOpenRuns(store)).filter((run) => isBeside(run, head));
}

function isBeside({ head }: StoredRun, own: OwnRun): boolean {
  return head.run !== own.run && isSameScope(head, own);
}

/**
 * Returns a wait for the writes to a row that other processes sent since the earlier ones were awaited; it
 * returns true if there were any. To be called once the row is locked, because who held it before may
 * have been killed.
 */
export function awaitLaterWrites(
  context: Context,
  store: RunStore,
  head: NewRunHead,
  awaited: AwaitedRuns,
): (row: SelectedRow) => Promise<boolean> {
  const { self } = context;
  const read = new Map<string, { readonly size: number; readonly run: StoredRun | undefined }>();
  const runNow = async (name: string) => {
    const known = read.get(name);
    const path = journalIn(join(placeIn(store, 'open'), name));
    // None if it has ended meanwhile.
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (known?.size === size) return known.run;
    const [run] = await readRuns(store, [name]);
    read.set(name, { size, run });
    return run;
  };
  return async (row) => {
    const later: StoredRun[] = [];
    for (const name of runNames(store, ['open'])) {
      const run = name === head.run ? undefined : await runNow(name);
      if (!run || !isBeside(run, head) || isHeldByOther(run, self)) continue;
      if (awaited.get(name) !== run.state.last) later.push(run);
    }
    await awaitEarlierWrites(context, later, [row]);
    const isShownLate = await awaitShown(context, store, head, [row]);
    return (
      isShownLate ||
      later.some(({ state }) => [...state.open.values()].some(({ id }) => id === row.id))
    );
  };
}

/**
 * Waits until reads can no longer lag behind a conversion of one of these rows that another run has just
 * made: a second one would make a second player. Returns true if it waited.
 */
export async function awaitShown(
  context: Context,
  store: RunStore,
  head: NewRunHead,
  rows: readonly SelectedRow[],
): Promise<boolean> {
  if (head.verb !== 'convert') return false;
  const changed = await justChanged(context, store, head);
  const writes = rows.flatMap(({ id }) => changed.get(id) ?? []);
  const left = settleTimeLeft(writes, lagMs, context.now());
  if (left === 0) return false;
  context.note('Waiting until reads show what another run has just done.');
  await pause(left, context.signal);
  return true;
}

/** A row that another run has changed; `t`: when at the latest, in milliseconds since 1970. */
type Change = ReportRow & { readonly t: number };

/** The rows that other runs of this machine have just changed, in the order of the runs, by their ids. */
async function justChanged(context: Context, store: RunStore, head: OwnRun) {
  const byId = new Map<string, Change[]>();
  const others = await writtenSince(store, head, context.now().getTime() - lagMs);
  for (const { state } of others)
    for (const row of state.results.values())
      if (row.result === 'changed')
        byId.set(row.id, [...(byId.get(row.id) ?? []), { ...row, t: state.wroteAt ?? 0 }]);
  return byId;
}

/**
 * Returns how a session reads while reads may lag behind other runs of this machine: a record that reads as
 * before one of them is read again if the write is built on what they changed, or it would undo their change.
 */
export async function readingPast(
  context: Context,
  store: RunStore,
  head: OwnRun,
  session: Session,
): Promise<Session> {
  const changed = await justChanged(context, store, head);
  const longest = Math.min(lagMs, readSettleMs(context.env));
  const within = (inner: Session): Session => ({
    ...inner,
    async read(row, purpose) {
      let state = await inner.read(row, purpose);
      const changes = changed.get(row.id) ?? [];
      for (const pauseMs of lagPauses) {
        const left = settleTimeLeft(changes, longest, context.now());
        if (left === 0 || !state.record || !isBehind(state.record, changes)) break;
        if (!buildsOn(await inner.plan(row, state), changes)) break;
        await pause(Math.min(pauseMs, left), context.signal);
        state = await inner.read(row, 'resend');
      }
      return state;
    },
    ...(inner.forRow && { forRow: (row: SelectedRow) => within(sessionFor(inner, row)) }),
  });
  return changed.size === 0 ? session : within(session);
}

/** True if a write would set another value than these changes did, or takes all of the record along. */
function buildsOn(plan: RowPlan, changes: readonly Change[]): boolean {
  return plan.steps.some(
    ({ changes: planned, digest, replaces }) =>
      (digest ?? replaces) !== undefined ||
      planned.some(({ field, to }) =>
        changes.some(
          ({ before = {}, after = {} }) =>
            Object.hasOwn(before, field) &&
            !isAsBefore(after, [{ field, from: to, to: undefined }]),
        ),
      ),
  );
}

/** True if a field of a record reads as before one of these changes, and not as that or a later one left it. */
function isBehind(record: JsonObject, changes: readonly Change[]): boolean {
  const reads = (values: JsonObject, field: string) =>
    isAsBefore(values, [{ field, from: record[field], to: undefined }]);
  return changes.some(({ before = {} }, index) =>
    Object.keys(before).some(
      (field) =>
        reads(before, field) && !changes.slice(index).some(({ after = {} }) => reads(after, field)),
    ),
  );
}

/**
 * Returns a check whether another run of this machine has changed what a row's open write changes, since
 * that began. Then a record that reads as before does not prove that the write was not applied.
 */
export function changesSince(
  store: RunStore,
  head: OwnRun,
  tasks: readonly Task[],
): (task: Task) => Promise<boolean> {
  const others = lazy(() => {
    const began = Math.min(...tasks.flatMap(({ open }) => open?.t ?? []));
    return writtenSince(store, head, began);
  });
  return async ({ id, open }) => {
    if (!open) return false;
    const fields = Object.keys(open.before);
    const isChange = ({ id: changed, result, after = {} }: ReportRow) =>
      changed === id && result === 'changed' && fields.some((field) => Object.hasOwn(after, field));
    return (await others()).some(
      ({ state: { wroteAt = 0, results } }) =>
        wroteAt > open.t && [...results.values()].some(isChange),
    );
  };
}

/** How far a list may lag behind the records that were created, in milliseconds. */
const listLagMs = 15_000;

/** Returns the ids of the records that runs of this machine have just created, and did not delete since. */
export async function justCreated(
  context: Context,
  resource: ResourceName,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  if (!context.paths.state) return ids;
  const scope = { ...placeOf(context), resource };
  const since = context.now().getTime() - listLagMs;
  for (const { head, state } of await writtenSince(storeOf(context), scope, since))
    for (const { id, result, after = {} } of state.results.values()) {
      if (result !== 'changed') continue;
      const { id: made = id } = after;
      if (head.verb === 'create' || head.verb === 'import') ids.add(String(made));
      else if (head.verb === 'delete' || head.verb === 'undo') ids.delete(id);
    }
  return ids;
}

/** Reads the runs beside this one whose journals were written since, oldest first. */
async function writtenSince(store: RunStore, own: OwnRun, since: number) {
  const ended = placeIn(store, 'ended');
  // There may be hundreds: one call of the file system each, for nearly all have ended.
  const writtenAt = (name: string) =>
    modifiedAt(journalIn(`${ended}/${name}`)) || modifiedAt(journalIn(runFolder(store, name)));
  const written = runNamesSince(store, since).filter(
    // Its own journal, which is long in the end, would be read for each of its rows.
    (name) => name !== own.run && writtenAt(name) >= since,
  );
  return (await readRuns(store, written)).filter((run) => isBeside(run, own));
}
