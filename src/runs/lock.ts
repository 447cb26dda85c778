/** Write locks: one bulk write per resource, and one write per record at a time. */
import { join } from 'node:path';
import type { LocalContext } from '../context.js';
import { digestOf } from '../data/digest.js';
import { isSystemError, systemReason } from '../data/system-errors.js';
import { longTimeOf } from '../data/time.js';
import { OutputError } from '../errors.js';
import {
  describeSelf,
  holderState,
  isSameProcess,
  type LockHolder,
  type ThisProcess,
} from '../files/holder.js';
import { acquireLock, type HeldLock, LockedError, processOf } from '../files/lock.js';
import type { RunHead, Scope } from './plan.js';
import { makeRoom, type RunStore } from './store.js';
import { cannotBeUsed, listOpenRuns, readRun, type StoredRun } from './stored-run.js';

type Locking = Scope & Pick<RunHead, 'run' | 'startedAt'>;

type LockWorld = Pick<LocalContext, 'self' | 'signal' | 'note'> & {
  /** False if the command has no `--wait-lock`. */
  readonly hasWaitLock?: boolean;
  /** True if its line gives `--wait-lock`. */
  readonly givesWaitLock?: boolean;
};

/** How long a write waits for the lock of its record without `--wait-lock`. */
const recordWaitMs = 10_000;

/**
 * Acquires the lock of a bulk write: one at a time per state folder, service, organization and
 * resource. Throws GuardError `locked`, which names the holder's run, process and start, or OutputError
 * if the lock cannot be written. The lock file survives kill -9.
 */
export async function lockRun(
  world: LockWorld,
  store: RunStore,
  head: Locking,
  waitMs = 0,
): Promise<HeldLock> {
  const name = lockName(head);
  const what = `Another bulk change on ${head.resource}`;
  return lockNamed(world, { dir: store.locks, name, what, head, waitMs }, (holder) =>
    runOf(store, name, holder).catch(() => undefined),
  );
}

/**
 * Acquires the lock of one record, held from its read to the result of its write, or of an input that has
 * no record yet. Throws as `lockRun` does, after `waitMs`. Releasing it removes its file. `what`: the start
 * of a sentence.
 */
export function lockRecord(
  world: LockWorld,
  store: RunStore,
  head: Locking,
  id: string,
  waitMs = recordWaitMs,
  what = `Another change of ${id}`,
): Promise<HeldLock> {
  const { service, organization, resource } = head;
  const name = `${resource}-${digestOf([service, organization, resource, id]).slice(0, 16)}`;
  return lockNamed(world, { dir: recordLocks(store), name, what, head, waitMs });
}

/** Record locks are apart, because the holder of a resource lock checks whether its folder changed. */
export function recordLocks({ locks }: Pick<RunStore, 'locks'>): string {
  return join(locks, 'records');
}

/** True if a process may be working on this run; true also for a run that cannot be read. */
export async function isRunHeld(store: RunStore, run: string, self: ThisProcess): Promise<boolean> {
  try {
    const stored = await readRun(store, run);
    return stored !== undefined && workerState(stored, self) !== 'gone';
  } catch (error) {
    if (cannotBeUsed(error)) return true;
    throw error;
  }
}

/** True if a process that is certainly alive is working on this run. */
export function isRunning(run: StoredRun, self: ThisProcess): boolean {
  return workerState(run, self) === 'runs';
}

/** True if another process is working on this run, or may be where this machine cannot tell. */
export function isHeldByOther(run: StoredRun, self: ThisProcess): boolean {
  return !isOurs(run, self) && workerState(run, self) !== 'gone';
}

/** True if another process wrote this run and is certainly alive, so that it prints the report itself. */
export function isOfLivingProcess(run: StoredRun, self: ThisProcess): boolean {
  const { holder } = run.state;
  return holder !== undefined && !isOurs(run, self) && holderState(holder, self) === 'runs';
}

function isOurs({ state: { holder } }: StoredRun, self: ThisProcess): boolean {
  return holder !== undefined && isSameProcess(holder, describeSelf(self, undefined));
}

/** The state of the process that works on a run; `gone` if it has ended, or if none is recorded. */
function workerState({ state: { holder, endedAt } }: StoredRun, self: ThisProcess) {
  return holder && endedAt === undefined ? holderState(holder, self) : 'gone';
}

interface NamedLock {
  readonly dir: string;
  readonly name: string;
  /** The start of a sentence: `Another change of app_1`. */
  readonly what: string;
  readonly head: Pick<RunHead, 'run' | 'startedAt'>;
  readonly waitMs: number;
}

async function lockNamed(
  world: LockWorld,
  { dir, name, what, head, waitMs }: NamedLock,
  runOfHolder: (holder: LockHolder) => Promise<string | undefined> = async () => undefined,
): Promise<HeldLock> {
  const { self, signal, hasWaitLock = true, givesWaitLock } = world;
  try {
    return await acquireLock(dir, name, {
      self,
      waitMs,
      purpose: describeRun(head),
      signal,
      onWait: (holder) =>
        world.note(`${what} is running (${describeHolder(holder)}). Waiting for it.`),
    });
  } catch (error) {
    if (isSystemError(error))
      throw new OutputError(`A lock cannot be written in ${dir}: ${systemReason(error)}.`, {
        cause: error,
        hint: makeRoom,
      });
    if (!(error instanceof LockedError)) throw error;
    const who = describeHolder(error.holder, await runOfHolder(error.holder));
    const longer = givesWaitLock ? 'raise --wait-lock' : 'add --wait-lock 10m';
    const hint = hasWaitLock ? `Wait for it, or ${longer}.` : undefined;
    throw error.inWords(`${what} is running (${who}).`, hint);
  }
}

/** The run that the lock's holder is working on; it may be resuming an older one than its lock names. */
async function runOf(store: RunStore, name: string, holder: LockHolder) {
  const runs = await listOpenRuns(store);
  const found = runs.findLast(
    ({ head, state }) =>
      state.holder && isSameProcess(state.holder, holder) && lockName(head) === name,
  );
  return found && describeRun(found.head);
}

function describeHolder(holder: LockHolder, run = holder.purpose ?? 'a run'): string {
  // Only where somebody reads it: the first use of a time zone takes 20 ms.
  const since = run.replace(/(?<=, started )\S+$/, longTimeOf);
  return `${since}, ${processOf(holder)}`;
}

function describeRun({ run, startedAt }: Pick<RunHead, 'run' | 'startedAt'>): string {
  return `run ${run}, started ${startedAt}`;
}

function lockName({ service, organization, resource }: Scope): string {
  const digest = digestOf([service, organization, resource]);
  return `bulk-${resource}-${digest.slice(0, 16)}`;
}
