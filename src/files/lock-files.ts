/** The numbered files of a lock on disk: listing, reading, linking and removing them. */
import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { holderState, type LockHolder, parseHolder, type ThisProcess } from './holder.js';

/** The holder that the first of these files names which is not free. */
export function firstLiveHolder(
  dir: string,
  name: string,
  generations: readonly number[],
  self: ThisProcess,
): LockHolder | undefined {
  for (const generation of generations) {
    const path = pathOf(dir, name, generation);
    const found = statSync(path, { throwIfNoEntry: false });
    // Most are empty, and to ask for a size is cheaper than to read.
    if (!found?.size) continue;
    const holder = parseHolder(readIfThere(path) ?? '');
    if (holder && holderState(holder, self) !== 'gone') return holder;
  }
  return undefined;
}

/** Makes a file readable by its owner alone, also under a umask that would take that away. */
export function writeNew(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  chmodSync(path, 0o600);
}

/** The generations from the highest down, and the private files beside them. */
export function listLock(dir: string, name: string) {
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

/** The file of one number. */
export const pathOf = (dir: string, name: string, generation: number) =>
  join(dir, `${name}.lock.${generation}`);

/** Gives a file a second name; false where that name is taken. */
export function linkIfFree(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    // ENOENT: our private file was swept away by someone who cannot see our process.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The names in a folder; none where there is none. */
export function listIfThere(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A file's text; undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes a file that may be gone already. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** The system's code of an error: `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
