/** The last backup that this machine made of an organization: `overview` shows it. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../context.js';
import { systemCode, systemReason } from '../data/system-errors.js';
import { Failure } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { ensurePrivateFolders, readOwnText } from '../files/private.js';
import { sealLine, unsealLine } from '../files/synced-lines.js';
import type { Overview } from '../resources/overview.js';
import { placeName } from '../runs/plan.js';
import { manifestFile } from './layout.js';

type LastBackup = Omit<NonNullable<Overview['backup']>, 'exists'>;

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

/**
 * Returns the last backup, and whether its snapshot is still there (null if that cannot be seen); null if
 * none is known. Undefined, with a message, if its record cannot be read.
 */
export function lastBackup(context: Context): Overview['backup'] | undefined {
  const file = fileOf(context);
  if (file === undefined) return null;
  let text: string;
  try {
    text = readOwnText(file).trimEnd();
  } catch (error) {
    if (isAbsent(error)) return null;
    context.message(
      `The record of the last backup, ${file}, cannot be read: ${systemReason(error)}.`,
    );
    return undefined;
  }
  // The checksum proves that this program wrote the line.
  const made = unsealLine(text) as LastBackup | undefined;
  return made ? { ...made, exists: isThere(join(made.snapshot, manifestFile)) } : null;
}

function isThere(path: string): boolean | null {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return isAbsent(error) ? false : null;
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
}

function fileOf(context: Context): string | undefined {
  const { state } = context.paths;
  return state && join(state.path, 'backups', `${placeName(context)}.json`);
}
