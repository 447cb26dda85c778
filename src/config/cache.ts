import { createHash } from 'node:crypto';
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
  const name = createHash('sha256').update(`${origin}\n${organizationId}`).digest('hex');
  return join(paths.cache.path, name.slice(0, 32));
}
