/** Earlier runs that concern a new one: their open writes are awaited, carried over, verified or reported. */
import type { ListValues } from '../cli/filters.js';
import type { Context } from '../context.js';
import { plural, upperFirst } from '../data/text.js';
import { pause } from '../data/time.js';
import { beforeAndAfter, changedMeanwhile, changedRow } from '../engine/decide.js';
import type { Session, Task } from '../engine/operation.js';
import { sessionFor } from '../engine/row-sessions.js';
import { settleMs, verify } from '../engine/verify.js';
import { Failure } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { type BeforeImages, readBeforeImages } from '../runs/before-images.js';
import { endRun, markReported } from '../runs/end.js';
import { type DamagedRun, type Journal, setAsideAll } from '../runs/journal.js';
import { isHeldByOther } from '../runs/lock.js';
import { isSamePlace, type RunHead, requireContinuable } from '../runs/plan.js';
import { exitOf, type ReportRow, reportOf, type SelectedRow, withRef } from '../runs/report.js';
import { type Intent, redactRow, sentAtLatest, settleTimeLeft } from '../runs/state.js';
import { type RunStore, runFolder, storeOf } from '../runs/store.js';
import {
  listOpenRuns,
  type RunOptions,
  readRun,
  resultsSoFar,
  type StoredRun,
  withJournal,
  writeOptions,
} from '../runs/stored-run.js';
import { hasLeftovers } from '../runs/unfinished-uploads.js';
import type { Planned } from './execute.js';
import { type BulkValues, type Invocation, jobOf } from './invocation.js';
import { runSince, unfinishedTasks, withRun } from './resume.js';

/** The open runs of this machine, oldest first, without moving or locking them; none if they cannot be read. */
async function openRuns(context: Context): Promise<readonly StoredRun[]> {
  try {
    return await listOpenRuns(storeOf(context));
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** Earlier runs on the resource of a new one. */
interface EarlierRuns {
  /** Those whose writes may still take effect, or whose uploads are unfinished, oldest first. */
  readonly concerned: readonly StoredRun[];
  /** Those of the same command line. */
  readonly same: readonly StoredRun[];
  /** The one that is resumed in place of a new run. */
  readonly continued?: StoredRun | undefined;
  /** What the same command line began, and a new run finishes before its own rows. */
  readonly carried: readonly Task[];
}

/** Returns what earlier runs mean for a command line. Throws GuardError for one of an unknown format. */
export async function earlierRunsFor(
  context: Context,
  { operation, values, selection }: Invocation,
  head: Omit<RunHead, 'rows'>,
  open?: readonly StoredRun[],
): Promise<EarlierRuns> {
  const concerned = (open ?? (await openRuns(context))).filter(
    (run) =>
      (!run.finished || (run.head.input === head.input && hasLeftovers(run))) &&
      isSamePlace(run.head, head) &&
      run.head.resource === head.resource,
  );
  const same = concerned.filter((run) => run.head.input === head.input && run.plan);
  if (values.restart || same.length === 0) return { concerned, same, carried: [] };
  for (const run of same) requireContinuable(run);
  const selectsAnew = operation.selectsAnew ?? !selection;
  if (!selectsAnew) return { concerned, same, continued: same.at(-1), carried: [] };
  return { concerned, same, carried: await startedTasks(storeOf(context), same) };
}

/**
 * Returns the rows of replaced runs that may have been sent in part, with their before-images: each once, as
 * the newest run knows it, because a run killed while it replaced an older one left both unfinished.
 */
async function startedTasks(
  store: RunStore,
  replaced: readonly StoredRun[],
): Promise<readonly Task[]> {
  const all = replaced.map(async (stored): Promise<readonly Task[]> => {
    const started = unfinishedTasks(stored).filter(({ open, done }) => open ?? done);
    if (started.length === 0) return [];
    const images = await readBeforeImages(runFolder(store, stored.head.run));
    return started.map((task) => ({
      ...task,
      images: images.filter(({ row }) => row === task.row),
    }));
  });
  const started = (await Promise.all(all)).flat();
  return [...new Map(started.map((task) => [task.id, task])).values()];
}

/**
 * Puts rows begun by an earlier run first and drops their duplicates from the selection; --limit counts
 * both.
 */
export function withCarried(
  carried: readonly Task[],
  selected: readonly SelectedRow[],
  values: BulkValues,
): readonly Task[] {
  if (carried.length === 0) return selected;
  const { limit = Number.POSITIVE_INFINITY } = values as BulkValues & ListValues;
  const startedIds = new Set(carried.map(({ id }) => id));
  const rest = selected.filter(({ id }) => !startedIds.has(id));
  const room = Math.max(0, limit - carried.length);
  return [...carried, ...rest.slice(0, room)].map((row, index) => ({ ...row, row: index + 1 }));
}

/** Records carried-over rows in the new journal before the old one is closed, so that a crash in between loses none. */
export async function recordCarried(
  journal: Journal,
  beforeImages: BeforeImages | undefined,
  carried: readonly Task[],
): Promise<void> {
  const images = carried.flatMap(({ row, images: kept = [] }) =>
    kept.map((image) => ({ ...image, row })),
  );
  if (beforeImages) await Promise.all(images.map((image) => beforeImages.append(image)));
  const entries = carried.flatMap(({ row, id, open, done }) => [
    ...(done ? [{ kind: 'done' as const, row, id, ...done }] : []),
    ...(open ? [{ ...open, kind: 'intent' as const, row, id }] : []),
  ]);
  await Promise.all(entries.map((entry) => journal.append(entry)));
}

/**
 * Waits for writes of earlier runs that may still take effect: those to the rows about to be read,
 * and every open write of the runs in `replaced`.
 */
export async function awaitEarlierWrites(
  context: Context,
  earlier: readonly StoredRun[],
  rows: readonly SelectedRow[],
  replaced: readonly StoredRun[],
): Promise<void> {
  const ids = new Set(rows.map(({ id }) => id));
  const open = earlier.flatMap((run) =>
    [...run.state.open.values()].filter(({ id }) => ids.has(id) || replaced.includes(run)),
  );
  await waitForWrites(context, open, 'an earlier run');
}

async function waitForWrites(
  context: Context,
  open: readonly Intent[],
  ofRun: string,
): Promise<void> {
  const now = context.now();
  const writes = open.map((intent) => sentAtLatest(intent, now));
  const longest = settleTimeLeft(writes, settleMs(context.env), now);
  if (longest === 0) return;
  context.note(
    `Waiting for ${plural(open.length, 'write')} of ${ofRun} that may still take effect.`,
  );
  await pause(longest, context.signal);
}

/** Finds a finished run of the same input whose process was killed before it printed its report. */
export function unreportedRun(runs: readonly StoredRun[], input: string): StoredRun | undefined {
  return runs.findLast(
    ({ finished, reported, state, head }) =>
      finished && !reported && !state.replaced && head.input === input,
  );
}

/** Returns the report of a finished run whose process was killed before it could print it. */
export async function reportAgain(
  context: Context,
  { operation }: Invocation,
  store: RunStore,
  stored: StoredRun,
): Promise<Planned> {
  const { head, state, plan } = stored;
  const run = upperFirst(runSince(head, context.now()));
  context.note(`${run}, did all of this; here is its report.`);
  const report = reportOf(context, head, [...state.results.values()]);
  const onWritten = () => markReported(store, head.run, state.last);
  const session = operation.open(context, jobOf(plan).job as never);
  const [only] = report.results;
  const [row] = plan?.rows ?? [];
  // The record that it created, if reading can identify it.
  const found =
    only?.result === 'changed' && row
      ? await session.verify?.(
          { ...row, steps: state.steps.get(row.row) },
          undefined,
          Date.parse(head.startedAt),
        )
      : undefined;
  const made = found?.outcome === 'applied' ? found.record : undefined;
  const exitName = exitOf(report, undefined);
  return { report, exitName, onWritten, only: { session, record: made ?? only?.after } };
}

/** Closes the runs that a new one replaces, and sets damaged ones aside. Throws OutputError, GuardError. */
export async function closeReplaced(
  context: Context,
  store: RunStore | undefined,
  { replaced, damaged }: Replaced,
  session: Session,
  options: RunOptions,
): Promise<void> {
  if (store) for (const run of replaced) await closeReplacedRun(store, run, session, options);
  await setAsideAll(context, damaged);
}

/** Earlier runs that a new one replaces. */
export interface Replaced {
  readonly replaced: readonly StoredRun[];
  readonly damaged: readonly DamagedRun[];
}

/**
 * Ends the unfinished run that this one undoes, so that the same command line starts over instead of
 * counting the undone rows as changed. A run that a process is working on is left alone. Throws
 * OutputError, GuardError.
 */
export async function closeUndone(
  context: Context,
  { operation }: Invocation,
  store: RunStore,
  lock: HeldLock | undefined,
): Promise<void> {
  const stored = operation.of === undefined ? undefined : await readRun(store, operation.of);
  if (!stored || stored.finished || isHeldByOther(stored, context.self)) return;
  await closeReplacedRun(store, stored, undefined, writeOptions(context, lock));
}

/**
 * Ends an unfinished run that another one replaces: verifies its open writes by the session (none can
 * still take effect, because the caller waited), then closes its journal. Its plan is kept if something
 * is left over that only this run knows of. Throws OutputError, GuardError.
 */
async function closeReplacedRun(
  store: RunStore,
  stored: StoredRun,
  session: Session | undefined,
  options: RunOptions,
): Promise<void> {
  const { plan } = stored;
  const keepsPlan = hasLeftovers(stored);
  if (!plan) return;
  await withJournal(store, plan, options, async (journal) => {
    if (session) await appendKnown(journal, await verifyOpen(session, stored));
    await endRun(store, plan, journal, { results: [], superseded: true, keepsPlan });
  });
}

async function appendKnown(journal: Journal, verified: readonly ReportRow[]): Promise<void> {
  for (const row of verified)
    if (row.result !== 'unknown')
      // oxlint-disable-next-line no-await-in-loop
      await journal.append({ kind: 'result', ...redactRow(row) });
}

/** Verifies the writes of a run that have no outcome; `unknown` where reading cannot tell. */
async function verifyOpen(session: Session, stored: StoredRun): Promise<readonly ReportRow[]> {
  const results: ReportRow[] = [];
  for (const task of unfinishedTasks(stored))
    if (task.open)
      // oxlint-disable-next-line no-await-in-loop
      results.push(withRef(await resultOfOpen(sessionFor(session, task), task, task.open), task));
  return results;
}

async function resultOfOpen(session: Session, task: Task, open: Intent): Promise<ReportRow> {
  const { row, id, previewed = [] } = task;
  const verification = await verify(session, task, { kind: 'lost', since: open.t, intent: open });
  if (verification.outcome === 'applied')
    return changedRow(
      task,
      beforeAndAfter(previewed),
      undefined,
      verification.record && session.made?.(verification.record),
    );
  const isNotApplied = verification.outcome === 'notApplied';
  if (isNotApplied && !open.applied) return { row, id, result: 'not_attempted' };
  if (isNotApplied || verification.outcome === 'unclear') return { row, id, result: 'unknown' };
  const { before } = beforeAndAfter(verification.step.changes);
  const error = changedMeanwhile('Someone else changed it after this change was sent.');
  return { row, id, result: 'conflict', ...(before && { before }), error };
}

/**
 * Returns the results of the rows of a run that were sent. Writes with an unknown outcome are verified
 * once they can no longer take effect, and the run's journal records what was found, except in a dry
 * run. Throws Failure, GuardError `locked` while another process works on the run.
 */
export async function verifiedResults(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
): Promise<readonly ReportRow[]> {
  const { operation, job } = invocation;
  const verifiedOf = async (run: StoredRun) => {
    await waitForWrites(context, [...run.state.open.values()], `run ${run.head.run}`);
    return verifyOpen(operation.open(context, job as never), run);
  };
  if (!stored.plan) return [...resultsSoFar(stored).values()];
  if (stored.state.open.size === 0) return closedResults(stored);
  if (context.settings.dryRun) return [...closedResults(stored), ...(await verifiedOf(stored))];
  return withRun(context, invocation, stored, async (store, now, lock) => {
    try {
      const verified = await verifiedOf(now);
      if (now.plan)
        await withJournal(store, now.plan, writeOptions(context, lock), (journal) =>
          appendKnown(journal, verified),
        );
      return [...closedResults(now), ...verified];
    } finally {
      lock.release();
    }
  });
}

function closedResults({ state }: StoredRun): readonly ReportRow[] {
  return [...state.results.values()].filter(({ row }) => !state.open.has(row));
}
