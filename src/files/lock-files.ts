/** Lock files: lists, reads, links and removes the numbered files of a lock. */
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
import { systemCode } from '../data/system-errors.js';
import { holderState, type LockHolder, parseHolder, type ThisProcess } from './holder.js';

/** Returns the holder in the first of these files that is not free; undefined if all are free. */
export function firstLiveHolder(
  dir: string,
  name: string,
  generations: readonly number[],
  self: ThisProcess,
): LockHolder | undefined {
  for (const generation of generations) {
    const path = pathOf(dir, name, generation);
    const stats = statSync(path, { throwIfNoEntry: false });
    // Most files are empty, and a stat is cheaper than a read.
    if (!stats?.size) continue;
    const holder = parseHolder(readIfThere(path) ?? '');
    if (holder && holderState(holder, self) !== 'gone') return holder;
  }
  return undefined;
}

/** Creates a file with mode 0600, whatever the umask; leaves none behind if the disk is full. */
export function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    removeIfThere(path);
    // Node does not say which file it was writing.
    throw Object.assign(error as Error, { path });
  }
  try {
    chmodSync(path, 0o600);
  } catch {
    // FAT has no modes.
  }
}

/** Returns the generations of a lock, highest first, and the private files beside them. */
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

/** Returns the path of one generation. */
export const pathOf = (dir: string, name: string, generation: number) =>
  join(dir, `${name}.lock.${generation}`);

/** Links a file to a second name, or copies it (FAT). Returns false if that name exists. */
export function linkIfFree(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
  }
  // Any other reason than missing links, for which some file systems say ENOENT, stops this, too.
  try {
    writeFileSync(to, readFileSync(from), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    // ENOENT: our private file was removed by a process that cannot see ours.
    if (systemCode(error) === 'EEXIST' || systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Returns the names in a folder; none if it does not exist. */
export function listIfThere(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Returns the text of a file; undefined if it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes a file if it exists. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
