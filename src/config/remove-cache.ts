/** Removes what lists have cached of an organization: ids, names and fields. */
import { rmSync } from 'node:fs';
import { systemReason } from '../data/system-errors.js';
import { cacheFolder, type Paths } from './paths.js';

/** Removes the cache of one organization at one service; says so if it cannot be removed. */
export function removeCache(
  { paths, message }: { readonly paths: Paths; readonly message: (line: string) => void },
  origin: string,
  organization: string,
): void {
  const folder = cacheFolder(paths, origin, organization);
  if (folder === undefined) return;
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    message(`The completion cache in ${folder} cannot be removed: ${systemReason(error)}.`);
  }
}
