/** Private files and folders: only their owner can read them. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, normalize, parse, resolve } from 'node:path';
import { systemCode, systemReason } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import { ConfigError, OutputError } from '../errors.js';

/** The owner of what we trust: the user's own id; undefined if the platform has none. */
interface Ownership {
  readonly owner: number | undefined;
  /** A folder that must exist already: we never create a home folder. */
  readonly within?: string | undefined;
  /** The advice if the folder cannot be used. */
  readonly hint?: string | undefined;
}

const folderMode = 0o700;
const fileMode = 0o600;
const sticky = 0o1000;

/**
 * Creates a folder with mode 0700, whatever the umask, or tightens an existing one. Throws
 * ConfigError for a link, a foreign owner, a shared folder such as /tmp, or one that cannot be
 * created.
 */
export function ensurePrivateFolder(
  folder: string,
  { owner, within, hint = folderHint }: Ownership,
): void {
  const refuse = (message: string) => new ConfigError(message, { hint });
  if (within !== undefined && !statIfThere(within))
    throw refuse(`The home folder ${within} does not exist.`);
  try {
    makeFolder(folder, folderMode);
  } catch (error) {
    // A link or a file in its place is reported below.
    if (systemCode(error) !== 'EEXIST') throw cannotUse('create the folder', folder, error, hint);
  }
  const stats = statIfThere(folder);
  if (!stats) throw refuse(`The folder ${folder} cannot be created.`);
  if (stats.isSymbolicLink())
    throw refuse(`${folder} is a link, and private files are kept in a real folder.`);
  if (!stats.isDirectory()) throw refuse(`${folder} is not a folder.`);
  if (owner !== undefined && stats.uid !== owner)
    throw refuse(`The folder ${folder} belongs to another user.`);
  if (stats.mode & sticky || parse(resolve(folder)).root === resolve(folder))
    throw refuse(`${folder} is shared by everyone; it cannot be made private.`);
  if (owner !== undefined && (stats.mode & 0o777) !== folderMode) chmod(folder, folderMode);
}

/** A folder of ours. */
export interface OwnFolder {
  readonly path: string;
  /** The home folder, which must exist already; undefined if the folder itself was named. */
  readonly within: string | undefined;
  /** The environment variable that names another one. */
  readonly variable: string;
}

/** The advice about a folder of ours that cannot be used. */
export function folderAdvice({ variable }: Pick<OwnFolder, 'variable'>): string {
  return `Set ${variable} to a folder of your own that you can write to.`;
}

/** Creates a folder of ours and folders within it, each as `ensurePrivateFolder` does. Throws ConfigError. */
export function ensurePrivateFolders(
  { path, within, variable }: OwnFolder,
  inner: readonly string[],
  owner: number | undefined,
): void {
  const hint = folderAdvice({ variable });
  ensurePrivateFolder(path, { owner, within, hint });
  for (const folder of inner) ensurePrivateFolder(folder, { owner, hint });
}

/** Returns the names in a folder; none if it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Returns the names in a folder of ours; none if it is absent. Throws OutputError if it cannot be read,
 * so that what is in it does not look like nothing. `subject`: what it holds, as in `runs`.
 */
export function listStateFolder(folder: string, subject: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw new OutputError(`The ${subject} in ${folder} cannot be read: ${systemReason(error)}.`, {
      hint: 'Check the folder and its permissions, or set ROSTERCTL_STATE_DIR.',
      cause: error,
    });
  }
}

/** The state of a path for one of our private files. */
type PrivateFile =
  | { readonly state: 'absent' }
  | { readonly state: 'present'; readonly loose: boolean; readonly link: boolean };

/**
 * Inspects a private file before it is read: its owner must be the user, or root for a file that a
 * container mounts. Throws ConfigError for another owner. `loose`: others can read or write it.
 */
export function inspectPrivateFile(file: string, owner: number | undefined): PrivateFile {
  const stats = statIfThere(file);
  if (!stats) return { state: 'absent' };
  if (owner !== undefined && stats.uid !== owner && stats.uid !== 0)
    throw new ConfigError(`The file ${file} belongs to another user and is not read.`, {
      hint: `Look at it, then remove it or make it yours: ${file}`,
    });
  const link = stats.isSymbolicLink();
  const loose = owner !== undefined && !link && (stats.mode & 0o077) !== 0;
  return { state: 'present', loose, link };
}

/**
 * Returns the bytes of a file that this program wrote. Throws the file system's error, and one for what
 * is no regular file: reading a named pipe in its place would never end.
 */
export function readOwnFile(file: string): Buffer {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) throw notRegular();
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The error for a named pipe or a device in place of a file of ours. */
export function notRegular(): Error {
  return new Error('it is not a regular file');
}

/** Returns the text of such a file. Throws as `readOwnFile` does. */
export function readOwnText(file: string): string {
  return readOwnFile(file).toString('utf8');
}

/** Returns the text of a private file; undefined if it is absent, unreadable or not ours. Never throws. */
export function readIfOurs(file: string, owner: number | undefined): string | undefined {
  try {
    const { state } = inspectPrivateFile(file, owner);
    return state === 'absent' ? undefined : readOwnText(file);
  } catch {
    return undefined;
  }
}

/** Tightens the mode of a private file if needed. Throws ConfigError for a link in its place. */
export function tightenPrivateFile(file: string, owner: number | undefined): void {
  const status = inspectPrivateFile(file, owner);
  if (status.state === 'absent') return;
  if (status.link)
    throw new ConfigError(`${file} is a link; private files are not written through links.`, {
      hint: 'Put a real file in its place, or edit the file that it points to.',
    });
  if (status.loose) chmod(file, fileMode);
}

/**
 * Writes a private file, whole or not at all. Throws OutputError, ConfigError for a link in its place.
 */
export async function writePrivateFile(
  file: string,
  text: string,
  owner: number | undefined,
  options: { readonly singleWriter?: boolean } = {},
): Promise<void> {
  tightenPrivateFile(file, owner);
  // Few commands write.
  const { writeAtomically } = await import('./atomic-write.js');
  await writeAtomically(file, text, { mode: fileMode, isOwn: true, ...options });
}

const folderHint =
  'Name a folder of your own with ROSTERCTL_CONFIG_DIR, ROSTERCTL_STATE_DIR or ROSTERCTL_CACHE_DIR.';

/** Why the file system refuses to create a folder. */
export const folderReasons = {
  ENOENT: 'a link in the path points nowhere, or the file system allows no folders there',
};

function statIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw cannotUse('read', path, error, code === 'EACCES' ? ownershipHint(path) : undefined);
  }
}

/** How to get back a folder of ours that sudo created; undefined for any other folder. */
function ownershipHint(path: string): string | undefined {
  const folder = firstVisible(dirname(path));
  return basename(folder) === 'rosterctl'
    ? `If sudo created ${folder}, make it yours: sudo chown -R "$USER" ${shellQuote(folder)}`
    : undefined;
}

/** The folder itself, or the nearest one above it that can be seen: the one that may not be entered. */
function firstVisible(folder: string): string {
  try {
    lstatSync(folder);
    return folder;
  } catch {
    return firstVisible(dirname(folder));
  }
}

function chmod(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    throw cannotUse('set the mode of', path, error);
  }
}

function cannotUse(
  action: string,
  path: string,
  error: unknown,
  hint: string = folderHint,
): ConfigError {
  const reason = systemReason(error, folderReasons);
  return new ConfigError(`Cannot ${action} ${path}: ${reason}.`, { hint, cause: error });
}

/** Creates a folder and its missing parents. Throws the file system's error. */
export function makeFolder(folder: string, mode?: number): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  // Node's `recursive` loops forever if the file system answers every mkdir with ENOENT (/proc).
  const missing: string[] = [];
  // Not made absolute: Node replaces each byte of the current folder that is not UTF-8.
  let existing = normalize(folder);
  while (!statSync(existing, { throwIfNoEntry: false })) {
    missing.unshift(existing);
    if (dirname(existing) === existing) break;
    existing = dirname(existing);
  }
  // The existing path may be a file, which only mkdir detects.
  for (const each of missing.length > 0 ? missing : [existing]) makeSingle(each, mode);
}

/** Creates one folder, which another process may create at the same moment. */
function makeSingle(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    if (!statSync(folder).isDirectory()) throw error;
  }
}
