/** The folders for configuration, state and cache. */
import { join, posix, win32 } from 'node:path';
import type { Environment } from '../data/environment.js';
import { onWindows } from '../data/text.js';
import { ConfigError } from '../errors.js';
import type { OwnFolder } from '../files/private.js';

/** The parts of the environment that decide where files are stored. */
export interface PathsInput {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** The user's numeric id; undefined where the platform has none. */
  readonly uid: number | undefined;
}

/** Our folders; undefined = there is nowhere to store, and reading continues without. */
export interface Paths {
  readonly config: OwnFolder | undefined;
  readonly state: OwnFolder | undefined;
  readonly cache: OwnFolder | undefined;
  /** The user id that must own them. */
  readonly owner: number | undefined;
}

type Kind = 'config' | 'state' | 'cache';

const variables: Readonly<Record<Kind, readonly [own: string, xdg: string, home: string]>> = {
  config: ['ROSTERCTL_CONFIG_DIR', 'XDG_CONFIG_HOME', '.config'],
  state: ['ROSTERCTL_STATE_DIR', 'XDG_STATE_HOME', '.local/state'],
  cache: ['ROSTERCTL_CACHE_DIR', 'XDG_CACHE_HOME', '.cache'],
};

/** Returns our three folders. Reads and creates nothing. */
export function resolvePaths(input: PathsInput): Paths {
  return {
    config: folder('config', input),
    state: folder('state', input),
    cache: folder('cache', input),
    owner: input.uid,
  };
}

/**
 * Returns a folder to store in. Throws ConfigError, naming the variable to set, if there is none.
 */
export function requireFolder(paths: Paths, kind: Kind): OwnFolder {
  const found = paths[kind];
  if (found) return found;
  throw new ConfigError(`There is no folder to store the ${kind} in: ${noBase(kind)}.`, {
    hint: `Set ${variables[kind][0]} to a folder of your own.`,
  });
}

/** Returns why there is no folder of a kind: `HOME is not set`. */
export function noBase(kind: Kind, isWindows = onWindows): string {
  return `${isWindows ? windowsBase(kind) : 'HOME'} is not set`;
}

/** Says which variable to set if there is no configuration folder. */
export function setConfigFolder(isWindows = onWindows): string {
  return `Set ${isWindows ? windowsBase('config') : 'HOME'}, or ${variables.config[0]} to the folder of config.json.`;
}

/** Returns a path with `~` for the home folder, for a person. */
export function shortPath(path: string, { HOME: home }: Environment): string {
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function folder(kind: Kind, { env, platform }: PathsInput): OwnFolder | undefined {
  const [own, xdg, home] = variables[kind];
  if (env[own]) return { path: env[own], within: undefined, variable: own };
  if (platform === 'win32') return windowsFolder(kind, env);
  // A relative path would mean a different folder in every directory; the XDG rules ignore it too.
  if (posix.isAbsolute(env[xdg] ?? ''))
    return { path: posix.join(env[xdg] ?? '', 'rosterctl'), within: undefined, variable: own };
  if (!posix.isAbsolute(env['HOME'] ?? '')) return undefined;
  const path = posix.join(env['HOME'] ?? '', home, 'rosterctl');
  return { path, within: env['HOME'], variable: own };
}

function windowsBase(kind: Kind): 'APPDATA' | 'LOCALAPPDATA' {
  return kind === 'config' ? 'APPDATA' : 'LOCALAPPDATA';
}

function windowsFolder(kind: Kind, env: Environment): OwnFolder | undefined {
  const base = env[windowsBase(kind)];
  if (!base || !win32.isAbsolute(base)) return undefined;
  const parts = kind === 'config' ? ['rosterctl'] : ['rosterctl', kind];
  return { path: win32.join(base, ...parts), within: base, variable: variables[kind][0] };
}

/**
 * Returns the cache folder of one organization at one service (ids for completion, field names),
 * which `auth logout` removes. Undefined if there is no cache folder.
 */
export function cacheFolder(
  paths: Paths,
  origin: string,
  organizationId: string,
): string | undefined {
  return paths.cache && placeFolder(paths.cache.path, origin, organizationId);
}

/** Returns the folder of one organization at one service within another folder. */
export function placeFolder(within: string, origin: string, organizationId: string): string {
  // Not a hash: loading the hash module would take longer than the rest of a completion. Hex names
  // cannot collide, even on a file system that ignores case.
  const name = Buffer.from(`${origin}\n${organizationId}`).toString('hex');
  return join(within, ...(name.match(nameSegments) ?? []));
}

/** Some file systems allow only 143 characters; a longer name is split into nested folders. */
const nameSegments = /.{1,140}/g;
