/** Locks between processes: one holder at a time of a name in a folder, whatever is killed when. */
import { randomBytes } from 'node:crypto';
import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError, GuardError } from '../errors.js';
import { makeFolder } from './private.js';
import { describeSelf, holderState, type LockHolder, type ThisProcess } from './holder.js';
import {
  codeOf,
  firstLiveHolder,
  linkIfFree,
  listIfThere,
  listLock,
  pathOf,
  readIfThere,
  removeIfThere,
  writeNew,
} from './lock-files.js';

export type { LockHolder, ThisProcess } from './holder.js';

// A lock is a row of numbered files, `NAME.lock.N`, in one folder. A file appears whole (it is linked
// from a private file) and names its process; it is free when it is empty or that process is dead.
// Who finds all of them free links the next number, then looks once more: he holds the lock if his
// is the highest and all others are free; else he takes his own away again. Of two that come at once
// the one who linked last sees the other's file, so both never hold it, whatever the numbers are and
// however long one slept in between. Only the holder removes files that are not his own, and only
// free ones. Letting go removes the holder's file as the last of all, so nothing piles up; where
// somebody linked a higher number meanwhile it is emptied instead, and the next holder removes it.

interface LockOptions {
  readonly self: ThisProcess;
  /** How long to wait for a holder, in milliseconds; 0 = one look. */
  readonly waitMs: number;
  /** What the holder does, for the message that the next one gets. */
  readonly purpose?: string;
  readonly signal?: AbortSignal;
  /** Hears once of the holder that is waited for. */
  readonly onWait?: (holder: LockHolder) => void;
}

/** A lock that we hold; `release` may be called twice. */
export interface HeldLock {
  /** Whether nobody took it over: for a holder that slept for long (SIGSTOP). */
  isOurs(): boolean;
  release(): void;
}

/**
 * Runs `action` while holding the lock `name` in the folder `dir` (made when missing). Throws
 * GuardError with code `locked` when it is still held after `waitMs`, CancelledError when the signal
 * fires in that wait, and the file system's own error when the folder cannot be written.
 */
export async function withLock<T>(
  dir: string,
  name: string,
  options: LockOptions,
  action: () => T | Promise<T>,
): Promise<T> {
  const lock = await acquireLock(dir, name, options);
  try {
    return await action();
  } finally {
    lock.release();
  }
}

/** Takes the lock or throws as `withLock` does. It survives kill -9: a dead holder is passed over. */
export async function acquireLock(
  dir: string,
  name: string,
  options: LockOptions,
): Promise<HeldLock> {
  const deadline = performance.now() + options.waitMs;
  const claim = openClaim(dir, name, options);
  let isTold = false;
  try {
    for (let attempt = 0; ; attempt += 1) {
      if (options.signal?.aborted)
        throw new CancelledError('Stopped while waiting for the lock; nothing was done.');
      const outcome = claim.tryNow();
      if (outcome !== 'raced' && 'release' in outcome) return outcome;
      if (outcome === 'raced') continue;
      if (performance.now() >= deadline) throw locked(dir, name, outcome, options.self);
      if (!isTold) options.onWait?.(outcome);
      isTold = true;
      await sleep(pause(attempt), undefined, { ref: true });
    }
  } finally {
    claim.discard();
  }
}

/** Who holds the lock now, or undefined when nobody does. Writes nothing. */
export function lockHolder(dir: string, name: string, self: ThisProcess): LockHolder | undefined {
  return firstLiveHolder(dir, name, listLock(dir, name).generations, self);
}

/**
 * Removes lock files that killed processes left in a folder, of at most `most` names. Takes each lock
 * for that: only a holder may remove files of others. Throws the file system's own error.
 */
export async function sweepLocks(dir: string, self: ThisProcess, most: number): Promise<void> {
  const names = new Set(listIfThere(dir).flatMap((file) => /^(.+)\.lock\./.exec(file)?.[1] ?? []));
  const free = [...names].filter((name) => lockHolder(dir, name, self) === undefined);
  for (const name of free.slice(0, most)) {
    // oxlint-disable-next-line no-await-in-loop
    const lock = await acquireLock(dir, name, { self, waitMs: 0 }).catch((error: unknown) => {
      if (error instanceof GuardError) return undefined;
      throw error;
    });
    lock?.release();
  }
}

function openClaim(dir: string, name: string, { self, purpose }: LockOptions) {
  let own: string | undefined;
  // Names this hold and no other one of this process.
  const text = JSON.stringify({
    ...describeSelf(self, purpose),
    hold: randomBytes(6).toString('hex'),
  });
  const privateFile = () => {
    if (own !== undefined) return own;
    const path = join(dir, `${name}.lock.new.${self.pid}.${randomBytes(6).toString('hex')}`);
    try {
      writeNew(path, text);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      makeFolder(dir, 0o700);
      writeNew(path, text);
    }
    own = path;
    return path;
  };
  const discard = () => {
    if (own !== undefined) removeIfThere(own);
    own = undefined;
  };
  const tryNow = (): HeldLock | LockHolder | 'raced' => {
    const before = listLock(dir, name).generations;
    const holder = firstLiveHolder(dir, name, before, self);
    if (holder) return holder;
    const mine = (before[0] ?? 0) + 1;
    const path = pathOf(dir, name, mine);
    if (!linkIfFree(privateFile(), path)) {
      discard();
      return 'raced';
    }
    const { generations, privates } = listLock(dir, name);
    const [top, ...others] = generations;
    if (top !== mine || firstLiveHolder(dir, name, others, self)) {
      removeIfThere(path);
      return 'raced';
    }
    sweep(dir, name, others, self);
    for (const { file, pid } of privates) if (!self.isAlive(pid)) removeIfThere(join(dir, file));
    return heldLock(dir, name, mine, text, self);
  };
  return { tryNow, discard };
}

function heldLock(
  dir: string,
  name: string,
  mine: number,
  text: string,
  self: ThisProcess,
): HeldLock {
  const path = pathOf(dir, name, mine);
  let released = false;
  /** When the folder had last changed, as of a look at it that no later change can be mistaken for. */
  let known: bigint | undefined;
  return {
    isOurs() {
      if (released) return false;
      const changed = changeOf(dir);
      if (changed !== undefined && changed === known) return true;
      // Numbers begin anew when a lock was let go, so the number alone does not tell.
      const ours = listLock(dir, name).generations[0] === mine && readIfThere(path) === text;
      known = ours && changed !== undefined && isSettled(changed) ? changed : undefined;
      return ours;
    },
    release() {
      if (released) return;
      released = true;
      const [top, ...passed] = listLock(dir, name).generations;
      if (readIfThere(path) !== text) return;
      if (top === mine) {
        sweep(dir, name, passed, self);
        // The last one: as long as it stands nobody else holds the lock.
        removeIfThere(path);
        return;
      }
      try {
        truncateSync(path, 0);
      } catch (error) {
        // The folder was removed under us: then there is nothing left to let go.
        if (codeOf(error) !== 'ENOENT') throw error;
      }
    },
  };
}

/** Removes those of these files that are free; for the holder alone. */
function sweep(dir: string, name: string, generations: readonly number[], self: ThisProcess): void {
  for (const passed of generations)
    if (!firstLiveHolder(dir, name, [passed], self)) removeIfThere(pathOf(dir, name, passed));
}

/** When something was last put into the folder or taken out, in nanoseconds since 1970. */
function changeOf(dir: string): bigint | undefined {
  return statSync(dir, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

/**
 * Whether a change from now on must bear another time: clocks of file systems tick, every 10 ms at
 * the slowest where they tell parts of a millisecond, else every 2 s.
 */
function isSettled(changed: bigint): boolean {
  const tick = changed % 1_000_000n === 0n ? 3_000 : 100;
  return Date.now() - Number(changed / 1_000_000n) > tick;
}

function locked(dir: string, name: string, holder: LockHolder, self: ThisProcess): GuardError {
  const doing = holder.purpose === undefined ? '' : ` (${holder.purpose})`;
  return new GuardError(`"${name}" is held by process ${holder.pid}${doing} on ${holder.host}`, {
    code: 'locked',
    hint: ['Wait for it, or end it.', ...removalHint(dir, name, holder, self)].join(' '),
  });
}

/** How to remove a lock by hand, where this machine cannot tell whether its holder still runs. */
export function removalHint(
  dir: string,
  name: string,
  holder: LockHolder,
  self: ThisProcess,
): readonly string[] {
  if (holderState(holder, self) !== 'unsure') return [];
  const files = join(dir, `${name}.lock.*`);
  return [`If process ${holder.pid} on ${holder.host} no longer runs, remove ${files}`];
}

/** Short at first, since most holds last a millisecond; uneven, so that waiters do not march in step. */
const pause = (attempt: number) => 1 + Math.random() * Math.min(3 + attempt, 20);
