import { join } from 'node:path';
import type { Paths } from './paths.js';

/**
 * The folder of what is remembered about one organization at one service (ids for completion,
 * field names); gone with `auth logout`. Undefined when there is no cache folder.
 */
export function cacheFolder(
  paths: Paths,
  origin: string,
  organizationId: string,
): string | undefined {
  if (!paths.cache) return undefined;
  // Not a hash, since loading what computes one takes a TAB longer than all else. No two places
  // meet in one name, also where a file system does not tell A from a.
  const name = Buffer.from(`${origin}\n${organizationId}`).toString('hex');
  return join(paths.cache.path, ...(name.match(longestName) ?? []));
}

/** File systems take 255 letters; a longer name becomes folders in folders. */
const longestName = /.{1,200}/g;
