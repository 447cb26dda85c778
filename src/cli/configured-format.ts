/** The output format that `config.json` sets, for the error of a command line whose settings were never read. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GlobalFlags } from '../config/environment.js';
import { resolvePaths } from '../config/paths.js';
import type { World } from '../context.js';
import { Failure } from '../errors.js';
import { typedFormat } from './global-flags.js';

/** Returns the text of the setting; undefined if there is none, another was typed, or the file cannot be used. */
export async function configuredFormat(
  world: World,
  flags: Pick<GlobalFlags, 'profile'>,
): Promise<string | undefined> {
  // A format that was typed decides, and loading the settings takes longer than the error.
  if (typedFormat(world.argv, world.env['ROSTERCTL_OUTPUT']) !== undefined) return undefined;
  const paths = resolvePaths(world);
  if (!paths.config || !existsSync(join(paths.config.path, 'config.json'))) return undefined;
  const { openConfigStore, profileInForce } = await import('../config/store.js');
  try {
    const config = openConfigStore(paths, world).config();
    const { name } = profileInForce(flags, world.env, config);
    return config.profiles.get(name)?.settings.get('output') ?? config.defaults.get('output');
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
