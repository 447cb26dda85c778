/** A backup's folder while a snapshot is made: checked, locked, with what an interrupted backup left. */
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { type JsonObject, stringOf } from '../data/json.js';
import { systemCode, systemReason } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import type { RecordVersion } from '../downloads/mirror-file.js';
import { Failure, GuardError, OutputError, UsageError } from '../errors.js';
import { syncPath } from '../files/atomic-write.js';
import { acquireLock, type HeldLock, LockedError, processOf } from '../files/lock.js';
import { folderReasons, makeFolder } from '../files/private.js';
import { openSyncedLines, parseLines, readBytes, type SyncedLines } from '../files/synced-lines.js';
import { attemptWrite, cannotWrite } from '../files/writing.js';
import { isSamePlace, type Place, placeOf } from '../runs/plan.js';
import {
  type BackupFolder,
  foreignContent,
  journalFile,
  listBackup,
  newName,
  type Snapshot,
} from './layout.js';
import { type Manifest, readSnapshotManifest } from './manifest.js';

/** A finished snapshot that can be read. */
export interface GoodSnapshot {
  readonly snapshot: Snapshot;
  readonly manifest: Manifest;
}

/** The folder, open for a new snapshot. */
export interface OpenBackup {
  readonly folder: string;
  /** The finished snapshots that can be read, oldest first. */
  readonly earlier: readonly GoodSnapshot[];
  /** True if a snapshot cannot be read, so that the files it needs are unknown. */
  readonly hasUnreadable: boolean;
  /** The name of the new snapshot. */
  readonly name: string;
  /** The folder that it is made in. */
  readonly unfinished: string;
  /** The files that an interrupted backup fetched, by document. */
  readonly fetched: ReadonlyMap<string, FetchedFile>;
  readonly journal: SyncedLines;
  close(): Promise<void>;
}

/** Creates a folder of a backup if it is missing. Throws OutputError. */
export function attemptFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    const reason = systemReason(error, folderReasons);
    throw new OutputError(`The folder ${folder} cannot be created: ${reason}.`, {
      hint: 'Choose a folder in a place that you can write to.',
      cause: error,
    });
  }
}

/**
 * Opens the folder for a new snapshot; makes it if it is missing, and takes up what an interrupted
 * backup left (with `recheck`, only if that one had it, too). Throws UsageError for a folder that is
 * not ours, GuardError if another process holds it, OutputError.
 */
export async function openBackup(
  context: Context,
  folder: string,
  { recheck }: { readonly recheck: boolean },
): Promise<OpenBackup> {
  await checkFolder(context, folder);
  attemptFolder(folder);
  const lock = await lockFolder(context, folder);
  try {
    const place = placeOf(context);
    const content = await attemptWrite(folder, listBackup(folder));
    const { earlier, hasUnreadable } = await readEarlier(context, folder, content.snapshots);
    const newest = await newestJournal(content);
    const places = earlier.map(({ manifest }) => placeOfManifest(manifest));
    checkPlace(folder, place, [...places, ...(newest?.place ? [newest.place] : [])]);
    const journal = recheck && !newest?.isRecheck ? undefined : newest;
    const last = content.snapshots.at(-1)?.name.replace('.incomplete', '');
    const name = newName(context.now(), last);
    const path = join(folder, `${name}.partial`);
    await removeRemnants(context, content);
    await continueUnfinished(content, journal, path);
    if (journal) context.note('Continuing the interrupted backup.');
    const bytes = journal?.bytes ?? 0;
    const isOurs = () => lock.isOurs();
    const what = 'The journal';
    const lines = await openSyncedLines(join(path, journalFile), { what, bytes, isOurs });
    if (bytes === 0) await lines.append({ ...place, recheck });
    return {
      folder,
      earlier,
      hasUnreadable,
      name,
      unfinished: path,
      journal: lines,
      fetched: new Map((journal?.fetched ?? []).map((file) => [file.id, file])),
      async close() {
        await lines.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Reads the journal of the newest unfinished snapshot; undefined if there is none, or if it is damaged, which costs fetching its files again. */
async function newestJournal({ folder, unfinished }: BackupFolder) {
  const name = unfinished.at(-1);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  try {
    const file = join(path, journalFile);
    const found = await lstat(file).catch(() => undefined);
    if (found && !found.isFile()) return undefined;
    const { lines, bytes } = parseLines(await readBytes(file), file, (line) => line);
    const [head, ...fetched] = lines;
    // Undefined if it was cut before it said so.
    const place = head && {
      service: String(head.service),
      organization: String(head.organization),
    };
    const isRecheck = head?.['recheck'] === true;
    return { path, place, isRecheck, fetched: fetched.flatMap(fetchedIn), bytes };
  } catch (error) {
    if (error instanceof GuardError) return undefined;
    throw error;
  }
}

/** Removes what an interrupted removal of old snapshots left. What stays is reported: it only takes room. */
async function removeRemnants(context: Context, { folder, removed }: BackupFolder): Promise<void> {
  for (const name of removed)
    await rm(join(folder, name), { recursive: true, force: true }).catch((error: unknown) =>
      context.message(`${join(folder, name)} cannot be removed: ${systemReason(error)}.`),
    );
}

/** Makes the folder of a new snapshot, with the journal of an interrupted one if it can be read; removes all other unfinished ones. */
async function continueUnfinished(
  { folder, unfinished }: BackupFolder,
  journal: { readonly path: string } | undefined,
  path: string,
): Promise<void> {
  for (const name of unfinished) {
    const other = join(folder, name);
    if (other !== journal?.path)
      await attemptWrite(other, rm(other, { recursive: true, force: true }));
  }
  if (journal) {
    // Anything else is written again, because it could be a link that leads elsewhere.
    await removeAllBut([journalFile], journal.path);
    await attemptWrite(path, rename(journal.path, path));
  } else await attemptWrite(path, mkdir(path, { mode: 0o700 }));
  await syncPath(folder);
}

/** Removes what is in a folder, except the files of these names. Throws OutputError. */
export async function removeAllBut(names: readonly string[], folder: string): Promise<void> {
  for (const name of await attemptWrite(folder, readdir(folder)))
    if (!names.includes(name))
      await attemptWrite(folder, rm(join(folder, name), { recursive: true, force: true }));
}

/** Returns the snapshots of a folder without writing to it. Throws UsageError for one that holds something else. */
export async function checkFolder(context: Context, folder: string): Promise<readonly Snapshot[]> {
  const found = await listBackup(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (systemCode(error) === 'ENOTDIR')
      throw new UsageError(`${folder} is not a folder.`, { hint: 'Choose a new or empty folder.' });
    throw cannotWrite(folder, error);
  });
  if (!found) return [];
  const { snapshots } = found;
  const foreign = foreignContent(found);
  if (foreign !== undefined)
    throw new UsageError(`${folder} is not a backup: it holds ${foreign}.`, {
      hint: 'Choose a new or empty folder.',
    });
  for (const snapshot of snapshots.toReversed()) {
    const manifest = await readSnapshotManifest(snapshot).catch(() => undefined);
    if (!manifest) continue;
    checkPlace(folder, placeOf(context), [placeOfManifest(manifest)]);
    break;
  }
  return snapshots;
}

function placeOfManifest({ origin, organization }: Manifest): Place {
  return { service: origin, organization };
}

function checkPlace(folder: string, own: Place, others: readonly Place[]): void {
  const other = others.find((each) => !isSamePlace(each, own));
  if (!other) return;
  throw new UsageError(
    `${folder} holds a backup of organization ${other.organization} at ${other.service}; this profile is for ${own.organization} at ${own.service}.`,
    { hint: 'Choose another folder, or the profile of that organization with -p.' },
  );
}

async function lockFolder(context: Context, folder: string): Promise<HeldLock> {
  const { self, signal } = context;
  const options = { self, waitMs: 0, purpose: 'backup create', signal };
  return acquireLock(folder, 'backup', options).catch((error: unknown) => {
    if (error instanceof LockedError)
      throw error.inWords(`Another backup to ${folder} is running (${processOf(error.holder)}).`);
    throw error instanceof Failure ? error : cannotWrite(folder, error);
  });
}

/** Reads the manifests of snapshots; says which cannot be read. */
export async function readEarlier(
  context: Context,
  folder: string,
  snapshots: readonly Snapshot[],
): Promise<Pick<OpenBackup, 'earlier' | 'hasUnreadable'>> {
  const earlier: GoodSnapshot[] = [];
  for (const snapshot of snapshots) {
    try {
      earlier.push({ snapshot, manifest: await readSnapshotManifest(snapshot) });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      context.message(`${error.message} See: rosterctl backup verify ${shellQuote(folder)}`);
    }
  }
  return { earlier, hasUnreadable: earlier.length < snapshots.length };
}

/** A file that was fetched, and the state of its document's record then. */
export interface FetchedFile extends RecordVersion {
  readonly id: string;
  readonly bytes: number;
  readonly sha256: string;
}

function fetchedIn({ id, bytes, sha256, updatedAt, record }: JsonObject): readonly FetchedFile[] {
  if (typeof id !== 'string' || typeof bytes !== 'number' || typeof sha256 !== 'string') return [];
  return [{ id, bytes, sha256, updatedAt: stringOf(updatedAt), record: stringOf(record) }];
}
