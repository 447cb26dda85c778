import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname, parse, resolve } from 'node:path';
import { systemReason } from '../data/system-errors.js';
import { ConfigError } from '../errors.js';

/** Who may own what we trust: the user's own id; undefined where the platform knows none. */
export interface Ownership {
  readonly owner: number | undefined;
  /** A folder that has to be there already: a home folder is never created by us. */
  readonly within?: string | undefined;
}

const folderMode = 0o700;
const fileMode = 0o600;
const sticky = 0o1000;

/**
 * Makes a folder that only its owner can look into, whatever the umask; an existing looser one is
 * tightened. Throws ConfigError for a link, a foreign owner, a shared folder such as /tmp, or one
 * that cannot be made.
 */
export function ensurePrivateFolder(folder: string, { owner, within }: Ownership): void {
  if (within !== undefined && !statIfThere(within))
    throw new ConfigError(`There is no home folder ${within} to store in.`, { hint: elsewhere });
  try {
    makeFolder(folder, folderMode);
  } catch (error) {
    // What stands in its place, a link or a file, is told below.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw cannotUse('make the folder', folder, error);
  }
  const found = statIfThere(folder);
  if (!found) throw new ConfigError(`The folder ${folder} cannot be made.`, { hint: elsewhere });
  if (found.isSymbolicLink())
    throw new ConfigError(`${folder} is a link, and private files are kept in a real folder.`, {
      hint: elsewhere,
    });
  if (!found.isDirectory()) throw new ConfigError(`${folder} is no folder.`, { hint: elsewhere });
  if (owner !== undefined && found.uid !== owner)
    throw new ConfigError(`The folder ${folder} belongs to another user.`, { hint: elsewhere });
  if (found.mode & sticky || parse(resolve(folder)).root === resolve(folder))
    throw new ConfigError(`${folder} is shared by everyone; it cannot be made private.`, {
      hint: elsewhere,
    });
  if (owner !== undefined && (found.mode & 0o777) !== folderMode) chmod(folder, folderMode);
}

/** What stands at a path that should hold one of our private files. */
type PrivateFile =
  | { readonly state: 'absent' }
  | { readonly state: 'present'; readonly loose: boolean; readonly link: boolean };

/**
 * Looks at a private file before it is read: its owner must be the user (or root, for what a
 * container mounts). Throws ConfigError for a foreign owner; `loose` = others can read or write it.
 */
export function inspectPrivateFile(file: string, { owner }: Ownership): PrivateFile {
  const found = statIfThere(file);
  if (!found) return { state: 'absent' };
  if (owner !== undefined && found.uid !== owner && found.uid !== 0)
    throw new ConfigError(`The file ${file} belongs to another user and is not read.`, {
      hint: `Look at it, then remove it or make it yours: ${file}`,
    });
  const link = found.isSymbolicLink();
  const loose = owner !== undefined && !link && (found.mode & 0o077) !== 0;
  return { state: 'present', loose, link };
}

/** Tightens the mode of a private file that is looser. Throws ConfigError for a link in its place. */
export function tightenPrivateFile(file: string, ownership: Ownership): void {
  const found = inspectPrivateFile(file, ownership);
  if (found.state === 'absent') return;
  if (found.link)
    throw new ConfigError(`${file} is a link; private files are not written through links.`, {
      hint: 'Put a real file in its place, or edit the file that it points to.',
    });
  if (found.loose) chmod(file, fileMode);
}

const elsewhere =
  'Name a folder of your own with ROSTERCTL_CONFIG_DIR, ROSTERCTL_STATE_DIR or ROSTERCTL_CACHE_DIR.';

const folderReasons = {
  ENOENT: 'a link in the path points nowhere, or the file system takes no folders there',
};

function statIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw cannotUse('look at', path, error);
  }
}

function chmod(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    throw cannotUse('set the mode of', path, error);
  }
}

function cannotUse(what: string, path: string, error: unknown): ConfigError {
  const reason = systemReason(error, folderReasons);
  return new ConfigError(`rosterctl cannot ${what} ${path}: ${reason}.`, {
    hint: elsewhere,
    cause: error,
  });
}

/**
 * Makes a folder and those above it that are missing; one that is there stays as it is. Throws the
 * file system's own error.
 */
export function makeFolder(folder: string, mode?: number): void {
  // Node's `recursive` asks for ever where the file system answers ENOENT to each new name (/proc).
  const missing: string[] = [];
  let at = resolve(folder);
  while (!statSync(at, { throwIfNoEntry: false })) {
    missing.unshift(at);
    if (dirname(at) === at) break;
    at = dirname(at);
  }
  // What is there may be a file, which only making it tells.
  for (const each of missing.length > 0 ? missing : [at]) makeOne(each, mode);
}

/** Another process may make it at the same moment. */
function makeOne(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(folder).isDirectory()) throw error;
  }
}
