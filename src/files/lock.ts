/** Locks between processes: one holder of a name in a folder at a time, even after a kill -9. */
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../data/digest.js';
import { systemCode } from '../data/system-errors.js';
import { CancelledError, GuardError } from '../errors.js';
import { describeSelf, holderState, type LockHolder, type ThisProcess } from './holder.js';
import {
  firstLiveHolder,
  linkIfFree,
  listIfThere,
  listLock,
  pathOf,
  readIfThere,
  removeIfThere,
  writeNew,
} from './lock-files.js';
import { makeFolder } from './private.js';

// A lock is a series of numbered files, `NAME.lock.N`, in one folder. A file appears complete (it
// is linked from a private file) and names its process; without hard links (FAT) it is empty until
// its process has written it, before that lists the others. It is free if it is empty or that
// process is dead. A process that finds all files free links the next number, then lists the files again:
// it holds the lock if its number is the highest, all others are free, and its file is still its own,
// because a holder may have removed it while it was empty; otherwise it removes its own file. Of two
// concurrent processes, the one that linked last sees the other's file, so both can never hold the
// lock, whatever the numbers are and however long one was suspended in between.
// Before a holder does anything else, it removes the files of others, and only free ones. A release
// removes the holder's own file last, so nothing piles up. If another process linked a higher number
// meanwhile, the release empties the file instead, and the next holder removes it.

interface LockOptions {
  readonly self: ThisProcess;
  /** How long to wait for a holder, in milliseconds; 0 = try once. */
  readonly waitMs: number;
  /** The holder's activity, for the error of the next process. */
  readonly purpose?: string;
  readonly signal?: AbortSignal;
  /** Called once, with the current holder, before the first wait. */
  readonly onWait?: (holder: LockHolder) => void;
}

/** A lock that we hold. */
export interface HeldLock {
  /** False if another process took the lock over, for example after a long suspension (SIGSTOP). */
  isOurs(): boolean;
  /**
   * May be called twice. Never throws, since what the lock was for is done: if the system refuses (too
   * many open files), it is tried again, and a lock ends with its process at the latest.
   */
  release(): void;
}

const endHint = 'Wait for it, or end it.';

/** Names the holder of a lock: `process 12 on host mail`. */
export function processOf({ pid, host }: LockHolder): string {
  return `process ${pid} on host ${host}`;
}

/** Another process holds the lock. */
export class LockedError extends GuardError {
  constructor(
    name: string,
    readonly holder: LockHolder,
    /** How to remove the lock by hand, where that may be needed. */
    private readonly removal: readonly string[],
  ) {
    const purpose = holder.purpose === undefined ? '' : ` (${holder.purpose})`;
    super(`"${name}" is held by process ${holder.pid}${purpose} on ${holder.host}`, {
      code: 'locked',
      hint: [endHint, ...removal].join(' '),
    });
  }

  /** Returns this error with a message that names what the lock is for. */
  inWords(message: string, hint = endHint): GuardError {
    return new GuardError(message, {
      code: this.code,
      cause: this,
      hint: [hint, ...this.removal].join(' '),
    });
  }
}

/**
 * Runs `action` while holding the lock `name` in the folder `dir`, which is created if missing.
 * Throws LockedError if the lock is still held after `waitMs`, CancelledError if
 * the signal fires during that wait, and the file system's own error if the folder cannot be
 * written.
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

/** Acquires the lock or throws as `withLock` does. A holder that was killed does not block it. */
export async function acquireLock(
  dir: string,
  name: string,
  options: LockOptions,
): Promise<HeldLock> {
  const claim = openClaim(dir, name, options);
  // Set by the first wait, because Node loads this clock when it is first read.
  let deadline: number | undefined;
  try {
    for (let attempt = 0; ; attempt += 1) {
      if (options.signal?.aborted)
        throw new CancelledError('Stopped while waiting for the lock; nothing was done.');
      const outcome = claim.tryNow();
      if (outcome !== 'raced' && 'release' in outcome) return outcome;
      if (outcome === 'raced') {
        // On a file system that lists names in another form this has no end, except by a signal.
        await pauseBefore(attempt);
        continue;
      }
      const isFirst = deadline === undefined;
      deadline ??= performance.now() + options.waitMs;
      if (performance.now() >= deadline)
        throw new LockedError(name, outcome, removalHint(dir, name, outcome, options.self));
      if (isFirst) options.onWait?.(outcome);
      await pauseBefore(attempt);
    }
  } finally {
    claim.discard();
  }
}

/** Returns the current holder, or undefined if the lock is free. Writes nothing. */
export function lockHolder(dir: string, name: string, self: ThisProcess): LockHolder | undefined {
  return firstLiveHolder(dir, name, listLock(dir, name).generations, self);
}

/**
 * Removes lock files that killed processes left in a folder, for at most `most` names. Acquires
 * each lock to do so, because only a holder may remove files of others. Throws the file system's
 * own error.
 */
export async function sweepLocks(dir: string, self: ThisProcess, most: number): Promise<void> {
  const names = new Set(listIfThere(dir).flatMap((file) => /^(.+)\.lock\./.exec(file)?.[1] ?? []));
  const free = [...names].filter((name) => lockHolder(dir, name, self) === undefined);
  for (const name of free.slice(0, most)) {
    const lock = await acquireLock(dir, name, { self, waitMs: 0 }).catch((error: unknown) => {
      if (error instanceof GuardError) return undefined;
      throw error;
    });
    lock?.release();
  }
}

function openClaim(dir: string, name: string, { self, purpose }: LockOptions) {
  let privatePath: string | undefined;
  // Unique for this acquisition, even within this process.
  const text = JSON.stringify({
    ...describeSelf(self, purpose),
    hold: randomHex(6),
  });
  const privateFile = () => {
    if (privatePath !== undefined) return privatePath;
    const path = join(dir, `${name}.lock.new.${self.pid}.${randomHex(6)}`);
    try {
      writeNew(path, text);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
      makeFolder(dir, 0o700);
      writeNew(path, text);
    }
    privatePath = path;
    return path;
  };
  const discard = () => {
    if (privatePath !== undefined) removeIfThere(privatePath);
    privatePath = undefined;
  };
  const tryNow = (): HeldLock | LockHolder | 'raced' => {
    const before = listLock(dir, name).generations;
    const holder = firstLiveHolder(dir, name, before, self);
    if (holder) return holder;
    const ownGeneration = (before[0] ?? 0) + 1;
    const path = pathOf(dir, name, ownGeneration);
    if (!linkIfFree(privateFile(), path)) {
      discard();
      return 'raced';
    }
    const { generations, privates } = listLock(dir, name);
    const [top, ...others] = generations;
    const isOwn = readIfThere(path) === text;
    if (!isOwn || top !== ownGeneration || firstLiveHolder(dir, name, others, self)) {
      if (isOwn) removeIfThere(path);
      return 'raced';
    }
    sweep(dir, name, others, self);
    for (const { file, pid } of privates) if (!self.isAlive(pid)) removeIfThere(join(dir, file));
    return heldLock(dir, name, ownGeneration, text, self);
  };
  return { tryNow, discard };
}

function heldLock(
  dir: string,
  name: string,
  ownGeneration: number,
  text: string,
  self: ThisProcess,
): HeldLock {
  const path = pathOf(dir, name, ownGeneration);
  let released = false;
  const remove = () => {
    const [top, ...others] = listLock(dir, name).generations;
    if (readIfThere(path) !== text) return;
    if (top === ownGeneration) {
      sweep(dir, name, others, self);
      // Our own file last: while it exists, no other process can acquire the lock.
      removeIfThere(path);
      return;
    }
    try {
      truncateSync(path, 0);
    } catch (error) {
      // The folder was removed, so there is nothing left to release.
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  };
  const removeSoon = () => {
    try {
      remove();
    } catch {
      setTimeout(removeSoon, retryMs).unref();
    }
  };
  const release = () => {
    if (released) return;
    released = true;
    self.atExit?.delete(release);
    removeSoon();
  };
  // Another container, or this machine under another name, cannot tell that its process has ended.
  self.atExit?.add(release);
  return {
    isOurs() {
      // The next holder removes our file before it holds the lock.
      return !released && readIfThere(path) === text;
    },
    release,
  };
}

/** How long after a refusal of the system a lock is released again. */
const retryMs = 100;

/** Removes those of these files that are free. Only the holder may call it. */
function sweep(dir: string, name: string, generations: readonly number[], self: ThisProcess): void {
  for (const generation of generations)
    if (!firstLiveHolder(dir, name, [generation], self))
      removeIfThere(pathOf(dir, name, generation));
}

/** Says how to remove a lock by hand, if this machine cannot tell whether its holder still runs. */
function removalHint(
  dir: string,
  name: string,
  holder: LockHolder,
  self: ThisProcess,
): readonly string[] {
  if (holderState(holder, self) !== 'unsure') return [];
  const files = join(dir, `${name}.lock.*`);
  return [`If process ${holder.pid} on ${holder.host} is no longer running, remove ${files}`];
}

/** Short at first, as most locks are held for a millisecond; random, so that waiters spread out. */
function pauseBefore(attempt: number): Promise<void> {
  const ms = 1 + Math.random() * Math.min(3 + attempt, 20);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
