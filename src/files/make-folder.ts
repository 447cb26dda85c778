import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing; one that is there stays as it is. Throws the
 * file system's own error.
 */
export function makeFolder(folder: string, mode?: number): void {
  // Node's `recursive` asks for ever where the file system answers ENOENT to each new name (/proc).
  const missing: string[] = [];
  let at = resolve(folder);
  while (!statSync(at, { throwIfNoEntry: false })) {
    missing.unshift(at);
    if (dirname(at) === at) break;
    at = dirname(at);
  }
  // What is there may be a file, which only making it tells.
  for (const each of missing.length > 0 ? missing : [at]) makeOne(each, mode);
}

/** Another process may make it at the same moment. */
function makeOne(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(folder).isDirectory()) throw error;
  }
}
