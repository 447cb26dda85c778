/** Noted routes: which assumed routes a user was told about, so that the note comes once per service. */
import { dirname, join } from 'node:path';
import { ensurePrivateFolders, readIfOurs, writePrivateFile } from '../files/private.js';
import { originOf, parseBaseUrl } from './base-url.js';
import { cacheFolder, type Paths } from './paths.js';
import type { Connection } from './settings.js';

/** Returns true if a route was never noted before; `store` remembers that it is now. */
interface NotedRoute {
  readonly isNew: boolean;
  /** Never rejects: a cache that cannot be written costs a repeated note. */
  readonly store: () => Promise<void>;
}

/**
 * Looks an assumed `METHOD /path` up among those noted for an organization at a service. They are kept
 * in the cache folder that `auth logout` removes. Never throws.
 */
export function notedRoute(
  paths: Paths,
  { baseUrl, organizationId }: Pick<Connection, 'baseUrl' | 'organizationId'>,
  route: string,
): NotedRoute {
  const folder = cacheFolder(paths, originOf(parseBaseUrl(baseUrl)), organizationId);
  const file = folder === undefined ? undefined : join(folder, 'noted-routes.txt');
  return {
    isNew: file === undefined || !readNoted(file, paths).includes(route),
    async store() {
      if (file !== undefined) await writeNoted(file, paths, route).catch(() => {});
    },
  };
}

/** Returns the noted routes, one a line; none for a file that is absent or not ours. */
function readNoted(file: string, { owner }: Paths): readonly string[] {
  return (readIfOurs(file, owner) ?? '').split('\n').filter(Boolean);
}

async function writeNoted(file: string, paths: Paths, route: string): Promise<void> {
  const { owner, cache } = paths;
  if (!cache) return;
  ensurePrivateFolders(cache, [dirname(file)], owner);
  const all = new Set([...readNoted(file, paths), route]);
  await writePrivateFile(file, `${[...all].join('\n')}\n`, owner);
}
