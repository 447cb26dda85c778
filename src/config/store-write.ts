/** Writes the configuration, under a lock between processes. */
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../data/json.js';
import { isSystemError, systemReason } from '../data/system-errors.js';
import { ConfigError } from '../errors.js';
import { syncPath } from '../files/atomic-write.js';
import type { ThisProcess } from '../files/holder.js';
import { withLock } from '../files/lock.js';
import { ensurePrivateFolders, type OwnFolder, tightenPrivateFile } from '../files/private.js';
import { configToJson, parseJsonText, type Stored, withoutLeftovers } from './config-file.js';

const lockName = 'config';
const lockWaitMs = 20_000;

/** Writes config.json and credentials.json, for `ConfigStore.update`. Nothing else writes them. */
export async function writeStored(
  folder: OwnFolder,
  { owner, self }: { owner: number | undefined; self: ThisProcess },
  change: (now: Stored) => Stored,
  read: () => Stored,
): Promise<Stored> {
  ensurePrivateFolders(folder, [], owner);
  const purpose = 'changing the configuration';
  const lock = { self, waitMs: lockWaitMs, purpose };
  try {
    return await withLock(folder.path, lockName, lock, async () => {
      sweepStaleCopies(folder.path);
      const before = read();
      const after = change(withoutLeftovers(before));
      const [config, newConfig] = [configToJson(before.config), configToJson(after.config)];
      const [keys, newKeys] = [keysToJson(before), keysToJson(after)];
      const isMove = Object.keys(newKeys).some((name) => !Object.hasOwn(keys, name));
      // A kill in between must not part a profile from its key: while it is renamed, both names have it.
      const keysMeanwhile = isMove ? { ...keys, ...newKeys } : newKeys;
      // Keys first: a profile whose key is bound elsewhere is refused, never used.
      await writeFile('credentials', folder.path, owner, keys, keysMeanwhile);
      await writeFile('config', folder.path, owner, config, newConfig);
      await writeFile('credentials', folder.path, owner, keysMeanwhile, newKeys);
      // conf syncs the files, not their names.
      await syncPath(folder.path);
      return after;
    });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const message = `The configuration in ${folder.path} cannot be written: ${systemReason(error)}.`;
    throw new ConfigError(message, {
      hint: 'Check the folder and the disk, or name another with ROSTERCTL_CONFIG_DIR.',
      cause: error,
    });
  }
}

async function writeFile(
  name: 'config' | 'credentials',
  folder: string,
  owner: number | undefined,
  before: JsonObject,
  after: JsonObject,
): Promise<void> {
  tightenPrivateFile(join(folder, `${name}.json`), owner);
  if (isDeepStrictEqual(before, after)) return;
  const { default: Conf } = await import('conf');
  const file = new Conf<JsonObject>({
    cwd: folder,
    configName: name,
    projectSuffix: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    deserialize: (text) => parseJsonText(text) as JsonObject,
    serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
  });
  file.store = after;
}

function keysToJson({ keys }: Stored): JsonObject {
  return Object.fromEntries(keys);
}

/** Removes copies that a killed writer left. All writers hold the lock, so any copy is stale. */
function sweepStaleCopies(folder: string): void {
  for (const name of readdirSync(folder))
    if (/^(config|credentials)\.json\.tmp-[0-9a-f]{16}$/.test(name)) unlinkSync(join(folder, name));
}
