/** The folder of a backup: its snapshots by name, and the files that they share. */
import { type Dirent, existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { resources } from '../api/resources.js';
import { nearest } from '../data/nearest.js';
import { type ResourceName, resourceNames } from '../data/resources.js';
import { systemCode } from '../data/system-errors.js';
import { firstOf, shellQuote } from '../data/text.js';
import { InputError } from '../errors.js';
import { unreadable } from '../files/input-file.js';

/** One backup in its folder: `2026-11-22T010000Z`, the time at which it was begun. */
export interface Snapshot {
  readonly folder: string;
  readonly name: string;
  readonly path: string;
  /** `incomplete`: kept with --allow-partial although something is missing. */
  readonly isWhole: boolean;
}

const timeName = String.raw`\d{4}-\d\d-\d\dT\d{6}Z`;
const finished = new RegExp(`^(${timeName})(\\.incomplete)?$`);
const unfinished = new RegExp(`^${timeName}\\.partial$`);
const removed = new RegExp(`^${timeName}(?:\\.incomplete)?\\.removed$`);

/** The folder, within that of the backup, of the files that the snapshots share. */
export const filesFolder = 'files';
export const manifestFile = 'manifest.json';
/** The files of a snapshot as a manifest of `docs upload`. */
export const uploadFile = 'documents.csv';
/** The file of an unfinished snapshot that says which documents were fetched. */
export const journalFile = 'fetched.jsonl';

/** The resources in the order in which they are backed up: those with files come last, because these take longest. */
export const backedUp: readonly ResourceName[] = resourceNames
  .toReversed()
  .toSorted((a, b) => Number(hasFiles(a)) - Number(hasFiles(b)));

/** True for a resource whose records have files. */
export function hasFiles(resource: ResourceName): boolean {
  return 'download' in resources[resource].calls;
}

/** Returns the file of a resource's records in a snapshot. */
export function recordsFile(resource: ResourceName): string {
  return `${resource}.ndjson`;
}

/** Returns the path of a shared file, relative to the folder of the backup. */
export function sharedFile(sha256: string): string {
  return join(filesFolder, sha256.slice(0, 2), sha256);
}

/** Returns the paths of the shared files in a folder, and of nothing else that lies among them. */
export async function sharedFilesIn(folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const part of await entriesOf(join(folder, filesFolder))) {
    if (!part.isDirectory()) continue;
    for (const file of await entriesOf(join(folder, filesFolder, part.name))) {
      const path = join(filesFolder, part.name, file.name);
      const isShared = /^[0-9a-f]{64}$/.test(file.name) && path === sharedFile(file.name);
      if (isShared && file.isFile()) paths.push(join(folder, path));
    }
  }
  return paths;
}

function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

/** A file of a snapshot that is not as it was written. */
export class DamagedFileError extends InputError {
  constructor(
    file: string,
    readonly problem = 'is damaged',
    hint = `See what else is damaged: rosterctl backup verify ${shellQuote(dirname(file))}`,
  ) {
    super(`${file} ${problem}.`, { hint });
  }
}

/** Throws InputError for anything but a regular file, which might never end. */
export async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!found.isFile()) throw new DamagedFileError(path, 'is not a regular file');
}

/** Everything in the folder of a backup. */
export interface BackupFolder {
  readonly folder: string;
  /** The finished snapshots, oldest first. */
  readonly snapshots: readonly Snapshot[];
  readonly unfinished: readonly string[];
  /** The names of those that were being removed. */
  readonly removed: readonly string[];
  /** True if it has a folder for the files that the snapshots share. */
  readonly hasFiles: boolean;
  /** The names of entries that are not part of a backup. */
  readonly foreign: readonly string[];
}

/** Lists the folder of a backup. Throws the file system's error. */
export async function listBackup(folder: string): Promise<BackupFolder> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.map(({ name }) => name).toSorted();
  // The contents of such a folder are replaced and removed, so a link does not count as one.
  const links = new Set(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name));
  const snapshots = names.filter((name) => finished.test(name));
  return {
    folder,
    snapshots: snapshots.map((name) => {
      const isWhole = finished.exec(name)?.[2] === undefined;
      return { folder, name, path: join(folder, name), isWhole };
    }),
    unfinished: names.filter((name) => unfinished.test(name) && !links.has(name)),
    removed: names.filter((name) => removed.test(name)),
    hasFiles: names.includes(filesFolder),
    foreign: names.filter((name) => !isOfBackup(name)),
  };
}

function isOfBackup(name: string): boolean {
  const ways = [finished, unfinished, removed, /^(?:files|lost\+found|backup\.lock\..+)$/];
  return ways.some((way) => way.test(name));
}

/** Returns the name of something in a folder that no backup has made; undefined for a backup and an empty folder. */
export function foreignContent(found: BackupFolder): string | undefined {
  const isBackup = found.snapshots.length + found.unfinished.length + found.removed.length > 0;
  // Files without a snapshot were not made by a backup.
  return isBackup ? undefined : (found.foreign[0] ?? (found.hasFiles ? filesFolder : undefined));
}

/** Finds the snapshots that `DIR` or `DIR/SNAPSHOT` names, oldest first. Throws InputError for none. */
export async function findSnapshots(word: string): Promise<readonly Snapshot[]> {
  const path = absolute(word);
  const name = basename(path);
  if (unfinished.test(name))
    throw new InputError(`${word} is an unfinished backup.`, {
      hint: 'To finish it, run the same backup create command again.',
    });
  const parent = dirname(word);
  // A folder that is not there may be a misspelt snapshot.
  const isFolder =
    !finished.test(name) && (existsSync(path) || (await countSnapshots(dirname(path))) === 0);
  if (isFolder) return snapshotsIn(word);
  const snapshots = await snapshotsIn(parent);
  const found = snapshots.filter((each) => each.name === name);
  if (found.length > 0) return found;
  const names = snapshots.map((each) => each.name).toReversed();
  const meant = nearest(name, names) ?? names[0] ?? '';
  throw new InputError(`Unknown snapshot "${word}".`, {
    hint: `Snapshots there, newest first: ${firstOf(names)}.\nTry: ${shellQuote(join(parent, meant))}`,
  });
}

/** As typed if the name of the current folder is not UTF-8, because Node replaces each such byte. */
function absolute(folder: string): string {
  const path = resolve(folder);
  return path.includes('\ufffd') ? normalize(folder) : path;
}

async function countSnapshots(folder: string): Promise<number> {
  return listBackup(folder).then(
    ({ snapshots }) => snapshots.length,
    () => 0,
  );
}

/** Finds one snapshot: the one named, or the newest whole one of a folder, else its newest. Throws InputError. */
export async function findSnapshot(word: string): Promise<Snapshot> {
  const found = await findSnapshots(word);
  const newest = found.findLast(({ isWhole }) => isWhole) ?? found.at(-1);
  if (!newest) throw noBackup(word);
  return newest;
}

/** Returns the snapshots of a folder, as it was typed. Throws InputError if there is none. */
async function snapshotsIn(folder: string): Promise<readonly Snapshot[]> {
  const found = await listBackup(absolute(folder)).catch((error: unknown) => {
    throw systemCode(error) === 'ENOENT' ? noBackup(folder) : unreadable(folder, error);
  });
  if (found.snapshots.length === 0) throw noBackup(folder, foreignContent(found));
  return found.snapshots;
}

/** An InputError; `foreign` is something because of which no backup can be made there. */
function noBackup(folder: string, foreign?: string): InputError {
  const hint =
    foreign === undefined
      ? `Make one: rosterctl backup create ${shellQuote(folder)}`
      : `It holds ${foreign}. To make a backup, choose a new or empty folder.`;
  return new InputError(`No finished backup was found in ${folder}.`, { hint });
}

/**
 * Returns the name of a new snapshot: the time, or one second after the newest name, so that names
 * stay in the order in which backups were made even if the clock was set back.
 */
export function newName(now: Date, newest: string | undefined): string {
  const name = snapshotName(now);
  if (newest === undefined || newest < name) return name;
  const [date = '', time = ''] = newest.split('T');
  const clock = `${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4, 6)}`;
  return snapshotName(new Date(Date.parse(`${date}T${clock}Z`) + 1_000));
}

function snapshotName(moment: Date): string {
  return `${moment.toISOString().slice(0, 19).replaceAll(':', '')}Z`;
}
