import { statSync } from 'node:fs';
import { digestOf } from '../data/digest.js';
import { systemReason } from '../data/system-reason.js';
import { GuardError, OutputError } from '../errors.js';
import {
  acquireLock,
  heldSince,
  type HeldLock,
  lockHolder,
  type LockHolder,
  type ThisProcess,
} from '../files/lock.js';
import { journalPath, listOpenRuns, type RunHead, type RunStore } from './runs.js';

/** What one bulk write at a time is allowed for; one that stands alone excludes only itself. */
export interface LockKey {
  readonly service: string;
  readonly organization: string;
  readonly resource: string;
  readonly input: string;
  readonly alone?: boolean;
}

export interface RunLockOptions {
  readonly self: ThisProcess;
  readonly run: string;
  readonly startedAt: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Hears of the run that is waited for. */
  readonly note: (line: string) => void;
}

/**
 * Takes the lock of a bulk write: one at a time per state folder, service, organization and resource.
 * Throws GuardError `locked` that names the holder's run, process and start, OutputError where it
 * cannot be written. It survives kill -9.
 */
export async function lockRun(
  store: RunStore,
  key: LockKey,
  { self, run, startedAt, waitMs, signal, note }: RunLockOptions,
): Promise<HeldLock> {
  const name = lockName(key);
  const what = key.alone ? 'The same' : `Another bulk write on ${key.resource}`;
  try {
    return await acquireLock(store.locks, name, {
      self,
      waitMs,
      purpose: named({ run, startedAt }),
      signal,
      onWait: (holder) => note(`${what} goes on already: ${whoIs(holder)}. Waiting for it.`),
      vanishes: key.alone ?? false,
    });
  } catch (error) {
    if (isOfFileSystem(error)) throw unwritable(store, error);
    if (!(error instanceof GuardError) || error.code !== 'locked') throw error;
    const holder = lockHolder(store.locks, name, self);
    const going = holder && (await runOf(store, key, self));
    const who = holder ? whoIs(holder, going) : 'a run that has just ended';
    throw new GuardError(`${what} goes on already: ${who}.`, {
      code: 'locked',
      cause: error,
      hint: 'Wait for it, or let this one wait: --wait-lock 10m',
    });
  }
}

/** The run that the holder of this lock is at: it may go on with an older one than it set out with. */
async function runOf(
  store: RunStore,
  key: LockKey,
  self: ThisProcess,
): Promise<string | undefined> {
  const runs = await listOpenRuns(store, () => {}, { untold: false }).catch(() => []);
  const found = runs.findLast(
    ({ head }) => lockName(head) === lockName(key) && isGoingOn(store, head, self),
  );
  return found && named(found.head);
}

function whoIs({ purpose = 'a run', pid, host }: LockHolder, run = purpose): string {
  return `${run}, process ${pid} on ${host.split('/')[0]}`;
}

function named({ run, startedAt }: Pick<RunHead, 'run' | 'startedAt'>): string {
  return `run ${run}, started ${startedAt}`;
}

/** Whether a process is at this run now: one holds its lock and has written to its journal since. */
export function isGoingOn(store: RunStore, head: RunHead, self: ThisProcess): boolean {
  // Runs of one resource share their lock, so that it is held does not say for which of them.
  const since = heldSince(store.locks, lockName(head), self);
  if (since === undefined) return false;
  const journal = statSync(journalPath(store, head.run), { throwIfNoEntry: false });
  return journal !== undefined && journal.mtimeMs > since;
}

function isOfFileSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function unwritable({ locks }: RunStore, error: NodeJS.ErrnoException): OutputError {
  return new OutputError(`A lock cannot be written in ${locks}: ${systemReason(error)}.`, {
    cause: error,
    hint: 'Nothing was sent. Make room, or set ROSTERCTL_STATE_DIR to a folder that can be written.',
  });
}

function lockName({ service, organization, resource, input, alone }: LockKey): string {
  const digest = digestOf([service, organization, resource, ...(alone ? [input] : [])]);
  return `bulk-${resource}-${digest.slice(0, 16)}`;
}
