/** This machine's earlier uploads: the content hash of each document, in the state folder. */
import { appendFileSync, existsSync, type Stats, statSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from '../context.js';
import { textDigest } from '../data/digest.js';
import type { JsonObject } from '../data/json.js';
import { isSystemError, systemCode, systemReason } from '../data/system-errors.js';
import { Failure } from '../errors.js';
import { syncPath } from '../files/atomic-write.js';
import { withLock } from '../files/lock.js';
import { ensurePrivateFolders, notRegular, readOwnText } from '../files/private.js';
import { sealLine, unsealLine } from '../files/synced-lines.js';
import { cannotWrite } from '../files/writing.js';
import { placeName } from '../runs/plan.js';

/** Larger files are compared by name, type and size only: hashing them would take too long. */
export const mostHashedBytes = 64 * 1024 * 1024;

interface Uploaded {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly id: string;
  /** The `nameMark` of its name; absent in entries of earlier versions. */
  readonly name?: string;
}

/** The documents that this machine uploaded to one organization at one service, by id, oldest first. */
export type UploadMemory = ReadonlyMap<string, Uploaded>;

/** Returns what the memory keeps of a document's name: enough to recognize it, but not the name itself. */
export function nameMark(name: string): string {
  return textDigest(name.normalize()).slice(0, 16);
}

/** The ids of the documents with this content: first those in `preferred`, then the newest. */
export function idsOfContent(
  memory: UploadMemory,
  sha256: string,
  preferred: readonly string[] = [],
): readonly string[] {
  const same = [...memory.values()].filter((uploaded) => uploaded.sha256 === sha256);
  const isOther = (id: string) => Number(!preferred.includes(id));
  const ids = same.map(({ id }) => id).toReversed();
  return ids.toSorted((a, b) => isOther(a) - isOther(b));
}

/** Beyond this size the file becomes the old one, and the old one is dropped: about 20,000 documents each. */
const mostFileBytes = 3 * 1024 * 1024;

/** Reads what this machine uploaded before; nothing, with a note, if it cannot be read. */
export function readUploadMemory(context: Context): UploadMemory {
  const paths = pathsOf(context);
  const read = (path: string) => {
    try {
      return readOwnText(path);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        context.note(
          `What was uploaded before cannot be read from ${path}: ${systemReason(error)}.`,
        );
      return '';
    }
  };
  // The ids of a sandbox begin again after a reset: the last upload of an id counts.
  const documents = new Map<string, Uploaded>();
  const texts = paths ? [read(paths.old), read(paths.current)] : [];
  for (const line of texts.join('\n').split('\n')) {
    const uploaded = parseLine(line);
    if (!uploaded) continue;
    documents.delete(uploaded.id);
    documents.set(uploaded.id, uploaded);
  }
  return documents;
}

/** Returns the size of the memory, which grows with each upload that a process adds, and when the last was added. */
export function memoryStats(context: Context): Pick<Stats, 'size' | 'mtimeMs'> {
  try {
    return statSync(pathsOf(context)?.current ?? '');
  } catch {
    // Nothing is remembered, or it cannot be read.
    return { size: 0, mtimeMs: 0 };
  }
}

/**
 * Remembers an uploaded document, and returns how many bytes that added. A kill may tear the line, which
 * is then passed over. A failure is a note: the upload itself is done.
 */
export async function rememberUpload(context: Context, uploaded: Uploaded): Promise<number> {
  const paths = pathsOf(context);
  if (!paths) return 0;
  const { state, current, old } = paths;
  try {
    const stats = statSync(current, { throwIfNoEntry: false });
    if (stats && !stats.isFile()) throw cannotWrite(current, notRegular());
    if (stats && stats.size > mostFileBytes) await renew(context, current, old);
    if (!existsSync(current)) {
      ensurePrivateFolders(state, [dirname(current)], context.paths.owner);
      appendFileSync(current, '', { mode: 0o600 });
      await syncPath(dirname(current));
    }
    // The line feed before it ends a torn line.
    const line = `\n${sealLine(uploaded)}`;
    // Synchronous: until its size is known, another row would take the line for one of another process.
    appendFileSync(current, line, { mode: 0o600, flush: true });
    return Buffer.byteLength(line);
  } catch (error) {
    if (!(error instanceof Failure) && !isSystemError(error)) throw error;
    const { message } = error instanceof Failure ? error : cannotWrite(current, error);
    context.note(`Could not record the upload of ${uploaded.id}: ${message}`);
    return 0;
  }
}

/** Sets the current file aside, under a lock, so that of two processes only one does. */
function renew(context: Context, current: string, old: string): Promise<void> {
  const { self, signal } = context;
  return withLock(dirname(current), 'renew', { self, signal, waitMs: 5_000 }, async () => {
    const stats = await stat(current).catch(() => undefined);
    if (stats && stats.size > mostFileBytes) await rename(current, old);
  });
}

function parseLine(line: string): Uploaded | undefined {
  // The checksum proves that this program wrote the line.
  return unsealLine(line) as (JsonObject & Uploaded) | undefined;
}

/** The files of the organization and service in force; undefined if there is no state folder. */
function pathsOf(context: Context) {
  const { state } = context.paths;
  if (!state) return undefined;
  const name = placeName(context);
  const folder = join(state.path, 'uploads');
  return { state, current: join(folder, `${name}.jsonl`), old: join(folder, `${name}.old.jsonl`) };
}
