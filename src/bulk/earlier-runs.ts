/** Earlier runs that concern a new one: what they mean for its command line, and what it carries over from them. */
import type { Context } from '../context.js';
import { isSameValue } from '../data/sorting.js';
import { upperFirst } from '../data/text.js';
import type { Session, Task } from '../engine/operation.js';
import { Failure } from '../errors.js';
import { type BeforeImages, readBeforeImages } from '../runs/before-images.js';
import { markReported } from '../runs/end.js';
import type { Journal } from '../runs/journal.js';
import { isOfLivingProcess } from '../runs/lock.js';
import { isSameLine, isSameScope, type NewRunHead, requireContinuable } from '../runs/plan.js';
import type { ReportRow, SelectedRow } from '../runs/report.js';
import { isReported, type RunStore, runFolder, storeOf } from '../runs/store.js';
import { listOpenRuns, type StoredRun } from '../runs/stored-run.js';
import { hasLeftovers } from '../runs/unfinished.js';
import { type EndedRun, endWith } from './execute.js';
import { type Invocation, jobOf } from './invocation.js';
import { runSince, unfinishedTasks } from './resume.js';

/** The open runs of this machine, oldest first, without moving or locking them; none if they cannot be read. */
async function openRuns(context: Context): Promise<readonly StoredRun[]> {
  try {
    return await listOpenRuns(storeOf(context));
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

interface EarlierRuns {
  /** Runs whose writes may still take effect, or whose uploads are unfinished, oldest first. */
  readonly concerned: readonly StoredRun[];
  /** Runs of the same command line. */
  readonly same: readonly StoredRun[];
  /** The run that is resumed in place of a new one. */
  readonly continued?: StoredRun | undefined;
  /** Rows that the same command line began; a new run finishes them before its own. */
  readonly carried: readonly Task[];
}

/** Returns what earlier runs mean for a command line. Throws GuardError for one of an unknown format. */
export async function earlierRunsFor(
  context: Context,
  { operation, values, selection }: Invocation,
  head: NewRunHead,
  open?: readonly StoredRun[],
): Promise<EarlierRuns> {
  const concerned = (open ?? (await openRuns(context))).filter(
    (run) =>
      (!run.finished || (isSameLine(context, run, head) && hasLeftovers(run))) &&
      isSameScope(run.head, head),
  );
  const same = concerned.filter((run) => isSameLine(context, run, head) && run.plan);
  if (values.restart || same.length === 0) return { concerned, same, carried: [] };
  for (const run of same) requireContinuable(run);
  const selectsAnew = operation.selectsAnew ?? !selection;
  if (!selectsAnew) return { concerned, same, continued: same.at(-1), carried: [] };
  const started = await startedTasks(storeOf(context), same);
  // A review may have changed a decision since, or taken it back.
  const isStillAsked = ({ id, own }: Task) =>
    selection?.rows.some((row) => row.id === id && isSameValue(row.own, own)) ?? true;
  return { concerned, same, carried: started.filter(isStillAsked) };
}

/**
 * Returns the rows of replaced runs that may have been sent in part, with their before-images: each once, as
 * the newest run knows it, because a run killed while it replaced an older one left both unfinished.
 */
async function startedTasks(store: RunStore, replaced: readonly StoredRun[]) {
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

/** Puts rows that an earlier run began first, and drops their duplicates; --limit counts both. */
export function withCarried(
  carried: readonly Task[],
  selected: readonly SelectedRow[],
  { selection, values }: Invocation,
): readonly Task[] {
  if (carried.length === 0) return selected;
  const startedIds = new Set(carried.map(({ id }) => id));
  const rest = selected.filter(({ id }) => !startedIds.has(id));
  // The --limit of a review cuts what it shows, not what was decided.
  const { limit = Infinity } = selection ? {} : values;
  const room = Math.max(0, limit - carried.length);
  return [...carried, ...rest.slice(0, room)].map((row, index) => ({ ...row, row: index + 1 }));
}

/** Records in the new journal what earlier runs began, before theirs are closed, so that a crash in between loses nothing. */
export async function recordCarried(
  journal: Journal,
  beforeImages: BeforeImages | undefined,
  tasks: readonly Task[],
): Promise<void> {
  const images = tasks.flatMap(({ row, images: kept = [] }) =>
    kept.map((image) => ({ ...image, row })),
  );
  if (beforeImages) await Promise.all(images.map((image) => beforeImages.append(image)));
  const entries = tasks.flatMap(({ row, id, open, done }) => [
    ...(done ? [{ kind: 'done' as const, row, id, ...done }] : []),
    ...(open ? [{ ...open, kind: 'intent' as const, row, id }] : []),
  ]);
  await Promise.all(entries.map((entry) => journal.append(entry)));
}

/** Finds a finished run of the same input whose process was killed before it printed its report. */
export function unreportedRun(
  context: Pick<Context, 'self' | 'paths' | 'config'>,
  runs: readonly StoredRun[],
  newHead: NewRunHead,
): StoredRun | undefined {
  return runs.findLast((run) => {
    const { finished, reported, state, head } = run;
    const isUnseen = finished && !reported && !state.replaced && isSameLine(context, run, newHead);
    if (!isUnseen || isOfLivingProcess(run, context.self)) return false;
    // Its process may have printed the report and ended since the run was read.
    return !isReported(runFolder(storeOf(context), head.run), state.last);
  });
}

/** The record of a row as it is now, if an earlier process created it; otherwise what the row knows of it. */
async function recordMade(context: Context, session: Session, { result, after = {} }: ReportRow) {
  const { id } = after;
  if (result !== 'changed' || typeof id !== 'string') return after;
  try {
    return (await session.readMade?.(id)) ?? after;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`${id}: done, but it could not be read again: ${error.message}`);
    return after;
  }
}

/** Returns the report of a finished run whose process was killed before it could print it. */
export async function reportAgain(
  context: Context,
  invocation: Invocation,
  store: RunStore,
  stored: StoredRun,
): Promise<EndedRun> {
  const { head, state, plan } = stored;
  const run = upperFirst(runSince(context, store, head));
  context.note(`${run}, already did this; here is its result.`);
  const ended = await endWith(context, invocation, head, [...state.results.values()], undefined);
  const onWritten = () => markReported(store, head.run, state.last);
  const session = invocation.operation.open(context, jobOf(plan).job);
  const [only] = ended.report.results;
  const record = only && (await recordMade(context, session, only));
  return { ...ended, onWritten, session, record };
}
