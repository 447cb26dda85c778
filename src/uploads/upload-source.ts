/** The bytes of an upload: reads a file in chunks and detects any change to it. */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { unreadable } from '../files/input-file.js';

/** A file on disk whose bytes will be sent; its size is exact and guarded against change. */
export interface UploadFile {
  readonly sizeBytes: number;
  readonly identity: FileIdentity;
  /**
   * Reads the bytes from the start on each call. Each chunk is valid until the one after the next is
   * requested. Throws InputError, at the latest before the last chunk, if the file has changed since
   * it was first opened.
   */
  open(): AsyncIterable<Uint8Array>;
  /** Throws InputError if the file has changed since it was inspected. */
  verify(): Promise<void>;
}

/** Identifies an unchanged file: device, inode, size, mtime and ctime in ns. */
type FileIdentity = string;

const mostChunkBytes = 2 * 1024 * 1024;

/**
 * Inspects a file to upload; `expected` is its identity from an earlier inspection. Throws InputError
 * unless it is a regular file with that identity.
 */
export async function openUpload(path: string, expected?: FileIdentity): Promise<UploadFile> {
  // Opening a pipe would wait forever for its writer.
  const initial = await statOf(path);
  if (!initial.isFile())
    throw new InputError(`${path} is ${kindOf(initial)}, not a regular file; nothing was sent.`);
  const identity = fileIdentity(initial);
  if (expected !== undefined && identity !== expected)
    throw changed(path, 'since its upload began');
  // The path shows a replacement by rename, too.
  const verify = async () => {
    if (fileIdentity(await statOf(path)) !== identity) throw changed(path);
  };
  return {
    sizeBytes: Number(initial.size),
    identity,
    async *open() {
      const handle = await openToRead(path);
      try {
        if (fileIdentity(await handle.stat({ bigint: true })) !== identity) throw changed(path);
        let sum = 0n;
        for await (const chunk of chunks(handle, Number(initial.size), undefined)) {
          sum += BigInt(chunk.length);
          // Before the last chunk is sent, because an incomplete request stores nothing. The file is
          // closed by then, so that nothing delays the end of the request: an answer that comes
          // before it costs the connection.
          if (sum >= initial.size) {
            await verify();
            await handle.close();
          }
          yield chunk;
        }
        // The file shrank, so that no chunk was the last. Changes after the last chunk are for `verify`.
        if (sum < initial.size) await verify();
      } finally {
        await handle.close();
      }
    },
    verify,
  };
}

/** An open file without a name, which holds the spooled stdin. It stays open. */
export async function heldUpload(handle: FileHandle): Promise<UploadFile> {
  const initial = await handle.stat({ bigint: true });
  return {
    sizeBytes: Number(initial.size),
    identity: fileIdentity(initial),
    open: () => chunks(handle, Number(initial.size), 0),
    async verify() {},
  };
}

/**
 * Alternates two buffers: one is filled while the other is being sent. A chunk is short only at the end
 * of the file, because the sender may still hold a short one when the next is requested. A file
 * smaller than a chunk needs one buffer, one byte longer than its `size` to detect growth. `from`:
 * undefined to read from the current position.
 */
async function* chunks(
  handle: FileHandle,
  size: number,
  from: number | undefined,
): AsyncGenerator<Uint8Array> {
  const chunkBytes = Math.min(mostChunkBytes, size + 1);
  const buffers: Buffer[] = [];
  let turn: 0 | 1 = 0;
  let at = from;
  const next = async () => {
    const chunk = await fill(handle, (buffers[turn] ??= Buffer.allocUnsafe(chunkBytes)), at);
    if (at !== undefined) at += chunk.length;
    return chunk;
  };
  let ahead = next();
  try {
    for (;;) {
      const chunk = await ahead;
      turn = turn === 0 ? 1 : 0;
      const last = chunk.length < chunkBytes;
      if (!last) ahead = next();
      if (chunk.length > 0) yield chunk;
      if (last) return;
    }
  } finally {
    await ahead.catch(() => undefined);
  }
}

async function fill(handle: FileHandle, buffer: Buffer, at: number | undefined): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const from = at === undefined ? null : at + filled;
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, from);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function fileIdentity({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileIdentity {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

function changed(path: string, when = 'while uploading'): InputError {
  return new InputError(`${path} changed ${when}; no document was created.`, {
    hint: 'Wait until nothing writes to the file, then upload it again.',
  });
}

function statOf(path: string): Promise<BigIntStats> {
  return orUnreadable(path, stat(path, { bigint: true }));
}

/** Opens a file to read it. Throws InputError. */
export function openToRead(path: string): Promise<FileHandle> {
  return orUnreadable(path, open(path, 'r'));
}

function orUnreadable<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
