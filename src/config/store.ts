import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultProfile } from '../data/text.js';
import { systemReason } from '../data/system-errors.js';
import { ConfigError } from '../errors.js';
import type { ThisProcess } from '../files/lock.js';
import { inspectPrivateFile, tightenPrivateFile } from '../files/private.js';
import {
  type ConfigData,
  emptyConfig,
  parseConfigFile,
  parseCredentialsFile,
  type Stored,
  type StoredKeys,
} from './config-file.js';
import { type Paths, requireFolder } from './paths.js';

export type { ConfigData, Stored } from './config-file.js';

/** One profile as `profile list` shows it; never its key. */
interface ProfileEntry {
  readonly name: string;
  readonly organization: string | undefined;
  readonly baseUrl: string | undefined;
  readonly active: boolean;
}

/** Profiles, defaults and keys on disk. Files are read when first asked for. */
export interface ConfigStore {
  /** Throws ConfigError when there is no folder to store in. */
  readonly configFile: string;
  readonly credentialsFile: string;
  /** `config.json`; empty where there is none. Throws ConfigError with the path and the fix. */
  config(): ConfigData;
  /** `credentials.json`; empty where there is none. Throws ConfigError; no key is in a message. */
  keys(): StoredKeys;
  profiles(): readonly ProfileEntry[];
  /** The files that other users could read, one sentence each; their modes are set when they are read. */
  warnings(): readonly string[];
  /**
   * Reads both files anew under a lock, lets `change` say what they shall hold and writes what
   * differs, so that processes side by side lose nothing. Throws ConfigError, GuardError (locked).
   */
  update(change: (now: Stored) => Stored): Promise<void>;
}

/** Who may have the files open: this process, for the lock between processes. */
export interface StoreOptions {
  readonly self: ThisProcess;
}

/** Opens the store; nothing is read, made or written yet. */
export function openConfigStore(paths: Paths, { self }: StoreOptions): ConfigStore {
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
    },
  };
}

/** The profile that is used when none is named: the chosen one, else the one called `default`. */
export function activeProfileOf(config: ConfigData): string | undefined {
  return config.activeProfile ?? (config.profiles.has(defaultProfile) ? defaultProfile : undefined);
}

function readPrivate(
  file: string,
  paths: Paths,
  warnings: Map<string, string>,
): string | undefined {
  const found = inspectPrivateFile(file, { owner: paths.owner });
  if (found.state === 'absent') return undefined;
  if (found.loose) warnings.set(file, tightened(file, paths));
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Between the look and the read another process may have replaced it; a link may point nowhere.
    if (code === 'ENOENT') return undefined;
    throw new ConfigError(`The file ${file} cannot be read: ${systemReason(error)}.`, {
      hint: 'Mend its mode or move it away.',
      cause: error,
    });
  }
}

/** Reading goes on where the mode cannot be set: a container mounts keys as root, read-only. */
function tightened(file: string, { owner }: Paths): string {
  try {
    tightenPrivateFile(file, { owner });
    return `${file} could be read by other users; its mode is now 0600.`;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return `${file} can be read by other users, and its mode cannot be set.`;
  }
}
