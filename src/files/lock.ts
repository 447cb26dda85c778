import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError, GuardError } from '../errors.js';
import { makeFolder } from './make-folder.js';
import { describeSelf, isGone, type LockHolder, parseHolder, type ThisProcess } from './holder.js';

export type { LockHolder, ThisProcess } from './holder.js';

// A lock is a row of numbered files, `NAME.lock.N`, in one folder. A file appears whole (it is linked
// from a private file) and names its process; it is free when it is empty or that process is dead.
// Who finds all of them free links the next number, then looks once more: he holds the lock if his
// is the highest and all others are free; else he takes his own away again. Of two that come at once
// the one who linked last sees the other's file, so both never hold it, whatever the numbers are and
// however long one slept in between. Only the holder removes files that are not his own, and only
// free ones. Letting go empties the holder's file; or it goes as the last of all, where the name is
// used once.

/** How many passed generations stay: who comes late finds his number taken and stands in nobody's way. */
const kept = 8;

export interface LockOptions {
  readonly self: ThisProcess;
  /** How long to wait for a holder, in milliseconds; 0 = one look. */
  readonly waitMs: number;
  /** What the holder does, for the message that the next one gets. */
  readonly purpose?: string;
  readonly signal?: AbortSignal;
  /** Hears once of the holder that is waited for. */
  readonly onWait?: (holder: LockHolder) => void;
  /** Leaves no file behind: for a name that nobody may ever lock again. */
  readonly vanishes?: boolean;
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
      if (performance.now() >= deadline) throw locked(dir, name, outcome);
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
  return holderAmong(dir, name, listLock(dir, name).generations, self)?.holder;
}

/** Since when it is held, in milliseconds by the file system's clock, or undefined. Writes nothing. */
export function heldSince(dir: string, name: string, self: ThisProcess): number | undefined {
  return holderAmong(dir, name, listLock(dir, name).generations, self)?.since;
}

/** The first of these files that is not free. */
function holderAmong(
  dir: string,
  name: string,
  generations: readonly number[],
  self: ThisProcess,
): { readonly holder: LockHolder; readonly since: number } | undefined {
  for (const generation of generations) {
    const path = pathOf(dir, name, generation);
    const found = statSync(path, { throwIfNoEntry: false });
    // Most are empty, and to ask for a size is cheaper than to read.
    if (!found?.size) continue;
    const holder = parseHolder(readIfThere(path) ?? '');
    if (holder && !isGone(holder, self)) return { holder, since: found.mtimeMs };
  }
  return undefined;
}

/** Readable by its owner alone, also under a umask that would take that away. */
function writeNew(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  chmodSync(path, 0o600);
}

function openClaim(dir: string, name: string, { self, purpose, vanishes }: LockOptions) {
  let own: string | undefined;
  const privateFile = () => {
    if (own !== undefined) return own;
    const path = join(dir, `${name}.lock.new.${self.pid}.${randomBytes(6).toString('hex')}`);
    const text = JSON.stringify(describeSelf(self, purpose));
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
    const holder = holderAmong(dir, name, before, self)?.holder;
    if (holder) return holder;
    const mine = (before[0] ?? 0) + 1;
    const path = pathOf(dir, name, mine);
    if (!linkIfFree(privateFile(), path)) {
      discard();
      return 'raced';
    }
    const { generations, privates } = listLock(dir, name);
    const [top, ...others] = generations;
    if (top !== mine || holderAmong(dir, name, others, self)) {
      removeIfThere(path);
      return 'raced';
    }
    sweep(dir, name, others.slice(kept - 1), self);
    for (const { file, pid } of privates) if (!self.isAlive(pid)) removeIfThere(join(dir, file));
    return heldLock(dir, name, mine, self, vanishes ?? false);
  };
  return { tryNow, discard };
}

function heldLock(
  dir: string,
  name: string,
  mine: number,
  self: ThisProcess,
  vanishes: boolean,
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
      const ours = listLock(dir, name).generations[0] === mine;
      known = ours && changed !== undefined && isSettled(changed) ? changed : undefined;
      return ours;
    },
    release() {
      if (released) return;
      released = true;
      const [top, ...passed] = vanishes ? listLock(dir, name).generations : [];
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
    if (!holderAmong(dir, name, [passed], self)) removeIfThere(pathOf(dir, name, passed));
}

/** The generations from the highest down, and the private files beside them. */
function listLock(dir: string, name: string) {
  const generations: number[] = [];
  const privates: { file: string; pid: number }[] = [];
  const prefix = `${name}.lock.`;
  for (const file of listIfThere(dir)) {
    if (!file.startsWith(prefix)) continue;
    const rest = file.slice(prefix.length);
    if (/^[1-9]\d{0,14}$/.test(rest)) generations.push(Number(rest));
    const pid = /^new\.(\d+)\./.exec(rest)?.[1];
    if (pid !== undefined) privates.push({ file, pid: Number(pid) });
  }
  generations.sort((a, b) => b - a);
  return { generations, privates };
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

function locked(dir: string, name: string, holder: LockHolder): GuardError {
  const doing = holder.purpose === undefined ? '' : ` (${holder.purpose})`;
  return new GuardError(`"${name}" is held by process ${holder.pid}${doing} on ${holder.host}`, {
    code: 'locked',
    hint: `Wait for it, or end it. If that machine is gone for good, remove ${join(dir, `${name}.lock.*`)}`,
  });
}

const pathOf = (dir: string, name: string, generation: number) =>
  join(dir, `${name}.lock.${generation}`);

/** Short at first, since most holds last a millisecond; uneven, so that waiters do not march in step. */
const pause = (attempt: number) => 1 + Math.random() * Math.min(3 + attempt, 20);

function linkIfFree(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    // ENOENT: our private file was swept away by someone who cannot see our process.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function listIfThere(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
