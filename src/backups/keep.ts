/** Removes old snapshots, and the files that no snapshot needs any more. */
import { rename, rm, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Context } from '../context.js';
import { plural } from '../data/text.js';
import { OutputError } from '../errors.js';
import { syncFolder } from '../files/atomic-write.js';
import { attemptWrite } from '../files/writing.js';
import type { GoodSnapshot, OpenBackup } from './folder.js';
import { backedUp, type Snapshot, sharedFilesIn } from './layout.js';

/** The old snapshots that were removed, and why others were not. */
export interface Removal {
  /** The snapshots that --keep removed. */
  readonly removed: readonly string[];
  /** Why others are still there. */
  readonly unremoved?: OutputError | undefined;
}

interface KeptParts {
  readonly snapshot: Pick<Snapshot, 'name' | 'isWhole'>;
  readonly manifest: {
    readonly resources: readonly { readonly resource: string }[];
    readonly files: unknown;
  };
}

/**
 * Keeps the newest `count` whole snapshots, the newest one that holds each resource or files, and
 * incomplete ones among the newest; removes the others and their files. Returns the names removed, and
 * why no more could be.
 */
export async function removeOld(
  context: Context,
  backup: Pick<OpenBackup, 'folder' | 'hasUnreadable'>,
  all: readonly GoodSnapshot[],
  count: number,
): Promise<Removal> {
  const removed: string[] = [];
  try {
    await remove(context, backup, all, oldOf(all, count), (name) => removed.push(name));
    return { removed };
  } catch (error) {
    // The new snapshot is made, and has to be reported.
    if (!(error instanceof OutputError)) throw error;
    return { removed, unremoved: error };
  }
}

async function remove(
  context: Context,
  { folder, hasUnreadable }: Pick<OpenBackup, 'folder' | 'hasUnreadable'>,
  all: readonly GoodSnapshot[],
  old: readonly GoodSnapshot[],
  onRemoved: (name: string) => void,
): Promise<void> {
  for (const { snapshot } of old) {
    const aside = `${snapshot.path}.removed`;
    // Half removed, it must not look like a snapshot.
    await attemptWrite(snapshot.path, rename(snapshot.path, aside));
    onRemoved(snapshot.name);
    await attemptWrite(aside, rm(aside, { recursive: true }));
  }
  if (old.length > 0) await syncFolder(folder);
  if (hasUnreadable)
    context.message(
      'No files were removed, because a snapshot that cannot be read may still need them.',
    );
  else
    await removeUnused(
      context,
      folder,
      all.filter((each) => !old.includes(each)),
    );
}

/** Returns the snapshots that are removed if the newest `count` whole ones are kept. */
export function oldOf<T extends KeptParts>(all: readonly T[], count: number): readonly T[] {
  const whole = all.filter(({ snapshot }) => snapshot.isWhole);
  const newest = whole.slice(-count);
  const [oldest] = newest;
  const lastOfEach = [
    ...backedUp.map((resource) => newestWith(whole, resource)),
    whole.findLast(({ manifest }) => manifest.files !== null),
  ];
  return all.filter((each) => {
    if (newest.includes(each) || lastOfEach.includes(each)) return false;
    return each.snapshot.isWhole || (oldest && each.snapshot.name < oldest.snapshot.name);
  });
}

/** Returns the newest whole snapshot that holds a resource. */
export function newestWith<T extends KeptParts>(
  all: readonly T[],
  resource: (typeof backedUp)[number],
): T | undefined {
  return all.findLast(
    ({ snapshot, manifest }) =>
      snapshot.isWhole && manifest.resources.some((each) => each.resource === resource),
  );
}

async function removeUnused(context: Context, folder: string, kept: readonly GoodSnapshot[]) {
  const used = new Set(
    kept.flatMap(({ manifest }) => manifest.files?.documents.map(({ sha256 }) => sha256) ?? []),
  );
  let count = 0;
  for (const path of await sharedFilesIn(folder)) {
    if (used.has(basename(path))) continue;
    await attemptWrite(path, unlink(path));
    count += 1;
  }
  if (count > 0) context.detail(`Removed ${plural(count, 'file')} that no snapshot needs.`);
}
