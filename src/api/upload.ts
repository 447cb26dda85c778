import { type BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { InputError } from '../errors.js';

/** A file on disk whose bytes will be sent; its size is exact and guarded against change. */
export interface UploadFile {
  readonly path: string;
  readonly sizeBytes: number;
  /**
   * The bytes, from the start, each time it is called. Each chunk is valid until the one after the
   * next is asked for. Throws InputError when the file is not what it was when it was opened first.
   */
  open(): AsyncIterable<Uint8Array>;
}

const chunkBytes = 1024 * 1024;

/** Looks at a file to upload. Throws InputError unless it is a regular file that can be read. */
export async function openUpload(path: string): Promise<UploadFile> {
  const planned = await statOf(path);
  if (!planned.isFile())
    throw new InputError(`${path} is ${kindOf(planned)}, not a regular file; nothing was sent.`);
  const handle = await openFile(path);
  await handle.close();
  return {
    path,
    sizeBytes: Number(planned.size),
    open: () => read(path, planned),
  };
}

async function* read(path: string, planned: BigIntStats): AsyncGenerator<Uint8Array> {
  const handle = await openFile(path);
  try {
    if (!same(await handle.stat({ bigint: true }), planned)) throw changed(path);
    yield* chunks(handle);
    // The open file and what the name now leads to: a replacement by rename shows only there.
    const [now, byName] = await Promise.all([handle.stat({ bigint: true }), statOf(path)]);
    if (!same(now, planned) || !same(byName, planned)) throw changed(path);
  } finally {
    await handle.close();
  }
}

/**
 * Two buffers take turns: while one is being sent the other is filled. A chunk is short only at the
 * end of the file, for the sender may still hold a short one when the next is asked for.
 */
async function* chunks(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const buffers = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)] as const;
  let turn: 0 | 1 = 0;
  let ahead = fill(handle, buffers[turn]);
  try {
    for (;;) {
      const chunk = await ahead;
      turn = turn === 0 ? 1 : 0;
      const last = chunk.length < chunkBytes;
      if (!last) ahead = fill(handle, buffers[turn]);
      if (chunk.length > 0) yield chunk;
      if (last) return;
    }
  } finally {
    await ahead.catch(() => undefined);
  }
}

async function fill(handle: FileHandle, buffer: Buffer): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function same(now: BigIntStats, planned: BigIntStats): boolean {
  return (
    now.dev === planned.dev &&
    now.ino === planned.ino &&
    now.size === planned.size &&
    now.mtimeNs === planned.mtimeNs &&
    now.ctimeNs === planned.ctimeNs
  );
}

function changed(path: string): InputError {
  return new InputError(`${path} changed while uploading; no document was created.`, {
    hint: 'Wait until nothing writes to the file, then upload it again.',
  });
}

async function statOf(path: string): Promise<BigIntStats> {
  try {
    return await stat(path, { bigint: true });
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): InputError {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const why: { readonly [code: string]: string } = {
    ENOENT: 'there is no such file',
    EACCES: 'it may not be read',
    EPERM: 'it may not be read',
    ELOOP: 'its links lead in a circle',
    ENAMETOOLONG: 'the name is too long',
    ENOTDIR: 'a part of its path is not a folder',
    EMFILE: 'too many files are open',
  };
  return new InputError(`${path} cannot be read: ${why[code] ?? code}.`, { cause });
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
