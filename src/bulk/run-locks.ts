/** The place of an invocation's run on disk: the lock under which it works, and its before-images. */
import type { Context } from '../context.js';
import { type AwaitedRuns, awaitLaterWrites } from '../engine/other-runs.js';
import type { RowRunOptions } from '../engine/run.js';
import { ConfigError, OutputError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { type BeforeImages, openBeforeImages } from '../runs/before-images.js';
import { lockRecord, lockRun } from '../runs/lock.js';
import type { NewRunHead, RunHead } from '../runs/plan.js';
import type { SelectedRow } from '../runs/report.js';
import { isSingleRun, type RunStore, runFolder } from '../runs/store.js';
import type { WriteOptions } from '../runs/stored-run.js';
import { verbs } from '../runs/verb.js';
import type { Invocation } from './invocation.js';

/**
 * Opens a part of a run's place on disk; undefined if no run can be kept, and a single update or delete
 * proceeds without one. Throws ConfigError if a run is required, and what else `open` throws.
 */
export async function ifKept<T>(
  context: Context,
  { operation, isSingle }: Invocation,
  open: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await open();
  } catch (error) {
    const isRequired = !isSingle || !verbs[operation.verb].isRepeatable;
    if (error instanceof OutputError && isRequired)
      throw new ConfigError(error.message, { cause: error, hint: error.hint });
    if (!(error instanceof OutputError || error instanceof ConfigError) || isRequired) throw error;
    context.note(`${error.message} This change cannot be undone later.`);
    return undefined;
  }
}

/** The place of a run to plan, once its lock is held. */
export interface RunSetup {
  readonly head: NewRunHead;
  /** Absent if no run can be kept on disk. */
  readonly store?: RunStore;
  readonly lock?: HeldLock;
}

/** The operation and the flag that decide which lock is acquired, and for how long it is waited for. */
type Locking = Pick<Invocation, 'operation'> & {
  readonly values: Pick<Invocation['values'], 'waitLock'>;
};

type LockWorld = Parameters<typeof lockRun>[0];

/**
 * Acquires the lock of a run: that of the resource, which allows one bulk write at a time, also if only
 * one of its rows is continued. For a single write (`isOfRow`) that of its row's record, else of its file,
 * else of the whole input. Throws GuardError `locked`.
 */
export function lockFor(
  given: LockWorld,
  { operation: { verb, files }, values }: Locking,
  store: RunStore,
  head: NewRunHead,
  row?: SelectedRow,
  isOfRow = isSingleRun(head.run),
): Promise<HeldLock> {
  const { waitLock } = values;
  // A command that has `--wait-lock` has a value, given or not.
  const givesWaitLock = waitLock !== undefined;
  const world = { hasWaitLock: 'waitLock' in values, givesWaitLock, ...given };
  if (!isOfRow) return lockRun(world, store, head, waitLock);
  const file = row && files?.subjectOf(row);
  if (file !== undefined)
    return lockRecord(world, store, head, file, waitLock, `Another upload of ${file}`);
  if (verb === 'create' || files)
    return lockRecord(world, store, head, head.input, waitLock, 'The same command');
  return lockRecord(world, store, head, row?.id ?? '', waitLock);
}

/**
 * Returns how the rows of a run of several are locked, if they are: each waits for the writes that other
 * processes sent to it since the earlier ones were awaited. The function throws as `lockFor` does.
 */
export function rowLocks(
  context: Context,
  invocation: Invocation,
  store: RunStore,
  head: RunHead,
  awaited: AwaitedRuns,
): RowRunOptions['lockRow'] {
  if (!invocation.operation.locksRows || isSingleRun(head.run)) return undefined;
  const awaitOthers = awaitLaterWrites(context, store, head, awaited);
  return async (row) => {
    const locking = lockFor(context, invocation, store, head, row, true);
    const lock = await locking.catch(throwAmidRun);
    try {
      return { lock, others: await awaitOthers(row) };
    } catch (error) {
      lock.release();
      throw error;
    }
  };
}

/**
 * Rewords the error of a lock that cannot be written during a run: rows were sent, and in another state
 * folder the same command would not find the run.
 */
function throwAmidRun(error: unknown): never {
  if (!(error instanceof OutputError)) throw error;
  const hint = 'Make room, then run the same command again.';
  throw new OutputError(error.message, { hint, cause: error.cause });
}

/** Opens the before-images of a run; undefined if `undo.keep` is off. */
export function openImages(
  { settings, api }: Context,
  store: RunStore,
  run: string,
  { isOurs }: Pick<WriteOptions, 'isOurs'>,
): BeforeImages | undefined {
  if (settings.undoKeepMs === undefined) return undefined;
  return openBeforeImages(runFolder(store, run), { isKey: (text) => api.isKey(text), isOurs });
}
