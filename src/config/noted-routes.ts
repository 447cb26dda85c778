/** Noted routes: which assumed routes a user was told about, so that the note comes once per service. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensurePrivateFolder, inspectPrivateFile, tightenPrivateFile } from '../files/private.js';
import { originOf, parseBaseUrl } from './base-url.js';
import { cacheFolder, type Paths } from './paths.js';

interface Place {
  readonly baseUrl: string;
  readonly organizationId: string;
}

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
export function notedRoute(paths: Paths, place: Place, route: string): NotedRoute {
  const folder = cacheFolder(paths, originOf(parseBaseUrl(place.baseUrl)), place.organizationId);
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
  try {
    if (inspectPrivateFile(file, { owner }).state === 'absent') return [];
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

async function writeNoted(file: string, paths: Paths, route: string): Promise<void> {
  const { owner, cache } = paths;
  if (!cache) return;
  ensurePrivateFolder(cache.path, { owner, within: cache.within });
  ensurePrivateFolder(dirname(file), { owner });
  tightenPrivateFile(file, { owner });
  const { writeAtomically } = await import('../files/atomic-write.js');
  const all = new Set([...readNoted(file, paths), route]);
  await writeAtomically(file, `${[...all].join('\n')}\n`, { mode: 0o600 });
}
