/** The last backup that this machine made of an organization: `overview` shows it. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../context.js';
import { Failure } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { ensurePrivateFolders, readOwnText } from '../files/private.js';
import { sealLine, unsealLine } from '../files/synced-lines.js';
import { placeName } from '../runs/plan.js';
import { manifestFile } from './layout.js';

/** A backup that was made. */
interface LastBackup {
  /** The absolute path of the snapshot. */
  readonly snapshot: string;
  readonly finishedAt: string;
  readonly complete: boolean;
  /** The resources that `--only` left out, and `files` after `--no-files`. */
  readonly leftOut?: readonly string[];
}

/** Remembers a backup in the state folder. A failure is a note: the backup itself is done. */
export async function rememberBackup(context: Context, made: LastBackup): Promise<void> {
  const file = fileOf(context);
  if (file === undefined) return;
  const { state, owner } = context.paths;
  try {
    if (state) ensurePrivateFolders(state, [dirname(file)], owner);
    await writeAtomically(file, sealLine(made), { isOwn: true, singleWriter: true });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`Could not record the backup for overview: ${error.message}`);
  }
}

/** Returns the last backup, and whether its snapshot is still there; null if none is known. */
export function lastBackup(context: Context): (LastBackup & { readonly exists: boolean }) | null {
  const made = readLast(fileOf(context));
  return made && { ...made, exists: existsSync(join(made.snapshot, manifestFile)) };
}

function readLast(file: string | undefined): LastBackup | null {
  if (file === undefined || !existsSync(file)) return null;
  try {
    // The checksum proves that this program wrote the line.
    return (unsealLine(readOwnText(file).trimEnd()) as LastBackup | undefined) ?? null;
  } catch {
    return null;
  }
}

function fileOf(context: Context): string | undefined {
  const { state } = context.paths;
  return state && join(state.path, 'backups', `${placeName(context)}.json`);
}
