/** The configuration on disk: profiles, defaults and keys. */
import { join } from 'node:path';
import type { Environment } from '../data/environment.js';
import { systemCode, systemReason } from '../data/system-errors.js';
import { defaultProfile } from '../data/text.js';
import { ConfigError, UsageError } from '../errors.js';
import type { ThisProcess } from '../files/holder.js';
import { inspectPrivateFile, readOwnText, tightenPrivateFile } from '../files/private.js';
import {
  type ConfigData,
  emptyConfig,
  parseConfigFile,
  parseCredentialsFile,
  type Stored,
  type StoredKeys,
} from './config-file.js';
import type { GlobalFlags } from './environment.js';
import { type Paths, requireFolder } from './paths.js';

/** One profile, as `profile list` shows it; never its key. */
interface ProfileEntry {
  readonly name: string;
  readonly organization: string | undefined;
  readonly baseUrl: string | undefined;
  readonly active: boolean;
}

/** Profiles, defaults and keys on disk. Files are read on first use. */
export interface ConfigStore {
  /** Throws ConfigError if there is no folder to store in. */
  readonly configFile: string;
  readonly credentialsFile: string;
  /** Reads `config.json`; empty if there is none. Throws ConfigError with the path and the fix. */
  config(): ConfigData;
  /** Reads `credentials.json`, if there is one. Throws ConfigError without a key in its message. */
  keys(): StoredKeys;
  profiles(): readonly ProfileEntry[];
  /** One sentence for each file that other users could read. Reading a file tightens its mode. */
  warnings(): readonly string[];
  /**
   * Reads both files again under a lock, calls `change`, and writes what differs, so that
   * concurrent processes lose nothing. Throws ConfigError, GuardError (locked).
   */
  update(change: (now: Stored) => Stored): Promise<void>;
}

/** Opens the store. Reads, creates and writes nothing yet. `self`: for the lock between processes. */
export function openConfigStore(
  paths: Paths,
  { self }: { readonly self: ThisProcess },
): ConfigStore {
  let config: ConfigData | undefined;
  let keys: StoredKeys | undefined;
  const warnings = new Map<string, string>();
  const readConfig = () => {
    const file = paths.config && join(paths.config.path, 'config.json');
    const text = file && readPrivate(file, paths, warnings);
    return file && text !== undefined ? parseConfigFile(text, file) : emptyConfig(file);
  };
  const readKeys = (): StoredKeys => {
    const file = paths.config && join(paths.config.path, 'credentials.json');
    const text = file && readPrivate(file, paths, warnings);
    return file && text !== undefined ? parseCredentialsFile(text, file) : new Map();
  };
  return {
    get configFile() {
      return join(requireFolder(paths, 'config').path, 'config.json');
    },
    get credentialsFile() {
      return join(requireFolder(paths, 'config').path, 'credentials.json');
    },
    config: () => (config ??= readConfig()),
    keys: () => (keys ??= readKeys()),
    profiles() {
      const data = (config ??= readConfig());
      const active = activeProfileOf(data);
      return [...data.profiles].map(([name, profile]) => ({
        name,
        organization: profile.organization,
        baseUrl: profile.baseUrl,
        active: name === active,
      }));
    },
    warnings: () => [...warnings.values()],
    async update(change) {
      const folder = requireFolder(paths, 'config');
      const { writeStored } = await import('./store-write.js');
      const now = await writeStored(folder, { owner: paths.owner, self }, change, () => ({
        config: readConfig(),
        keys: readKeys(),
      }));
      config = now.config;
      keys = now.keys;
      // The file system may give new files a mode of its own.
      inspect(join(folder.path, 'credentials.json'), paths, warnings);
    },
  };
}

/** Returns the profile to use if none is named: the active one, else the one called `default`. */
export function activeProfileOf(config: ConfigData): string | undefined {
  return config.activeProfile ?? (config.profiles.has(defaultProfile) ? defaultProfile : undefined);
}

/**
 * Returns the profile that a command line uses: of the flag, of the environment, or the active one.
 * Throws UsageError for an empty flag.
 */
export function profileInForce(
  flags: Pick<GlobalFlags, 'profile'>,
  env: Environment,
  config: ConfigData,
): { readonly name: string; readonly via: 'flag' | 'environment' | 'active' | 'none' } {
  if (flags.profile === '')
    throw new UsageError('--profile needs a name.', { hint: 'See: rosterctl profile list' });
  if (flags.profile !== undefined) return { name: flags.profile, via: 'flag' };
  if (env['ROSTERCTL_PROFILE']) return { name: env['ROSTERCTL_PROFILE'], via: 'environment' };
  const active = activeProfileOf(config);
  return active === undefined
    ? { name: defaultProfile, via: 'none' }
    : { name: active, via: 'active' };
}

function readPrivate(
  file: string,
  paths: Paths,
  warnings: Map<string, string>,
): string | undefined {
  if (inspect(file, paths, warnings) === 'absent') return undefined;
  try {
    return readOwnText(file);
  } catch (error) {
    const code = systemCode(error);
    // Another process may have replaced the file since the check; a link may be dangling.
    if (code === 'ENOENT') return undefined;
    throw new ConfigError(`The file ${file} cannot be read: ${systemReason(error)}.`, {
      hint: 'Fix its permissions, or move it away.',
      cause: error,
    });
  }
}

/** Tightens a file's mode if others can read it, and warns. Throws ConfigError as `inspectPrivateFile` does. */
function inspect(file: string, { owner }: Paths, warnings: Map<string, string>) {
  const status = inspectPrivateFile(file, owner);
  if (status.state === 'present' && status.loose) {
    const text = isTightened(file, owner)
      ? `${file} could be read by other users; its mode is now 0600.`
      : `${file} can be read by other users, and its mode cannot be set.`;
    warnings.set(file, text);
  }
  return status.state;
}

/** Tightens a file's mode if possible: a container mounts keys as root, read-only, and NTFS and exFAT ignore the change. */
function isTightened(file: string, owner: number | undefined): boolean {
  try {
    tightenPrivateFile(file, owner);
    const now = inspectPrivateFile(file, owner);
    return now.state === 'absent' || !now.loose;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return false;
  }
}
