/** The file of a mirror, which says what was downloaded into its folder, and when its document changed. */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { recordDigest } from '../data/digest.js';
import { isObject, type JsonObject, objectIn } from '../data/json.js';
import { GuardError } from '../errors.js';
import { type Place, placeOf } from '../runs/plan.js';

/** The state of a record when its file was fetched: its time, or without one a hash of the record. */
export interface RecordVersion {
  readonly updatedAt?: string | undefined;
  readonly record?: string | undefined;
}

/** A document's file in the folder. */
export interface MirroredFile extends RecordVersion {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

export const mirrorFile = '.rosterctl-downloads.json';

/** A larger file is not read; one of 200,000 documents is smaller. */
const maxMirrorBytes = 64 * 1024 * 1024;

/** The contents of a folder's file, and whether it may be replaced. */
export interface Remembered {
  readonly entries: readonly MirroredFile[];
  readonly isWritable: boolean;
}

/** The file may come from strangers: it can save a download, and never names a place to write. */
export async function readMirror(context: Context, folder: string): Promise<Remembered> {
  const path = join(folder, mirrorFile);
  const ignored = (why: string) => {
    context.note(`${path} ${why}; it is ignored, and files are compared by name and size.`);
  };
  const found = await lstat(path).catch(() => undefined);
  if (!found) return { entries: [], isWritable: true };
  if (!found.isFile() || found.size > maxMirrorBytes) {
    ignored(found.isFile() ? 'is too large' : 'is not a regular file');
    return { entries: [], isWritable: found.isFile() };
  }
  const content = parse(await readFile(path, 'utf8').catch(() => ''));
  if (!content) {
    ignored('is damaged');
    return { entries: [], isWritable: true };
  }
  const { organization, service } = placeOf(context);
  if (content.organization !== organization || content.service !== service)
    throw new GuardError(
      `${folder} holds documents of organization ${content.organization} at ${content.service}.`,
      { code: 'otherOrganization', hint: 'Name another folder with -D.' },
    );
  return { entries: content.entries, isWritable: true };
}

/** Returns the state of a record; nothing if there is none. */
export function asOf(record: JsonObject | undefined): RecordVersion {
  const updatedAt = record?.['updatedAt'];
  if (typeof updatedAt === 'string') return { updatedAt };
  return record ? { record: recordDigest(record) } : {};
}

/** True if both are the same state of a record; false where one is not known. */
export function isSameVersion(entry: RecordVersion, now: RecordVersion): boolean {
  const hasTime = now.updatedAt !== undefined && now.updatedAt === entry.updatedAt;
  return hasTime || (now.record !== undefined && now.record === entry.record);
}

/** The content of the file; undefined if it is damaged. Entries whose name is not a plain one are left out. */
function parse(text: string): (Place & { readonly entries: readonly MirroredFile[] }) | undefined {
  const { schema, origin, organization, files } = objectIn(text) ?? {};
  const areTexts = typeof origin === 'string' && typeof organization === 'string';
  if (schema !== 1 || !areTexts || !Array.isArray(files)) return undefined;
  return { service: origin, organization, entries: files.filter(isEntry) };
}

function isEntry(value: unknown): value is MirroredFile {
  if (!isObject(value)) return false;
  const { id, name, size, sha256 } = value;
  const areTexts = [id, name, sha256].every((text) => typeof text === 'string');
  return areTexts && Number.isSafeInteger(size) && isPlainName(String(name));
}

/** True for a name that stays in its folder on every system. */
function isPlainName(name: string): boolean {
  return /^[^./\\][^/\\\0]*$/.test(name) && name.length <= 255;
}
