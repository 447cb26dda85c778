/** Temporary files beside those that they become: their names, and what killed processes leave of them. */
import { promises as fs, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { digestOf } from '../data/digest.js';
import { cutToBytes } from '../data/file-names.js';
import { describeSelf, type ThisProcess } from './holder.js';

/** A temporary file of this age has no writer any more. */
const staleMs = 3_600_000;

/**
 * Removes old temporary files that killed processes of ours left in a folder. Never throws: an
 * unreadable folder has nothing to sweep.
 */
export async function sweepStaleTemps(folder: string, now: Date): Promise<void> {
  const names = await fs.readdir(folder).catch(() => []);
  for (const name of names.filter((entry) => tempPattern.test(entry))) {
    const path = join(folder, name);
    const stats = await fs.lstat(path).catch(() => undefined);
    if (!stats?.isFile() || now.getTime() - stats.mtimeMs < staleMs) continue;
    await fs.unlink(path).catch(() => {});
  }
}

const tempPattern = /^\..{0,100}\.[0-9a-f]{16}\.rosterctl-tmp$/su;

/** Removes the temporary file that a killed `singleWriter` left. Never throws. */
export async function removeSingleWriterTemp(file: string): Promise<void> {
  await fs.unlink(tempPath(file, fixedMark(file))).catch(() => {});
}

/** The path of a temporary file beside `path`; `mark` tells those of several writers apart. */
export function tempPath(path: string, mark: string): string {
  // Short enough for any file system.
  const start = cutToBytes(basename(path), 40);
  return join(dirname(path), `.${start}.${mark}.rosterctl-tmp`);
}

/** The mark of the only writer of a file. */
export function fixedMark(path: string): string {
  return digestOf(basename(path)).slice(0, 16);
}

/**
 * Removes the temporary files for `path` of processes that no longer run, and returns the mark of this one.
 * Undefined if the system does not tell which processes this one can see. Without /proc, they are those of
 * its host, as for locks.
 */
export async function removeDeadTemps(
  path: string,
  self: ThisProcess,
): Promise<string | undefined> {
  const { host, boot, namespace } = describeSelf(self, undefined);
  if (boot !== undefined && namespace === undefined) return undefined;
  const visible = digestOf(boot === undefined ? [host] : [boot, namespace]).slice(0, 8);
  const markOf = (pid: number) => `${visible}${pid.toString(16).padStart(8, '0')}`;
  for (const name of await fs.readdir(dirname(path)).catch(() => [])) {
    const [, hex = ''] = /([0-9a-f]{8})\.rosterctl-tmp$/.exec(name) ?? [];
    const pid = Number.parseInt(hex, 16);
    const temp = tempPath(path, markOf(pid));
    const isFree = pid === self.pid || !self.isAlive(pid);
    if (basename(temp) === name && isFree) removeNow(temp);
  }
  return markOf(self.pid);
}

/** Removes a file at once. Never throws. */
export function removeNow(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone, or is swept later.
  }
}
