/** The bytes of an upload: reads a file in chunks and detects any change to it. */
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  openSync,
  read as readInThread,
  readSync,
  statSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { isSystemError } from '../data/system-errors.js';
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
  verify(): void;
}

/** A file that can be read at any position; a short read means its end. */
export interface ReadableFile {
  readonly size: number;
  read(offset: number, length: number): Promise<Buffer>;
}

/**
 * Identifies an unchanged file: size, mtime and ctime in ns. Not by device and inode: a file system may
 * renumber both when it is mounted again (btrfs, sshfs), and so after each start of the machine.
 */
type FileIdentity = string;

const mostChunkBytes = 2 * 1024 * 1024;

/**
 * Inspects a file to upload; `expected` is its identity from an earlier inspection. Throws InputError
 * unless it is a regular file with that identity.
 */
export function openUpload(path: string, expected?: FileIdentity): UploadFile {
  // Opening a pipe would wait forever for its writer.
  const initial = statOf(path);
  if (!initial.isFile())
    throw new InputError(`${path} is ${kindOf(initial)}, not a regular file; nothing was sent.`);
  const identity = fileIdentity(initial);
  if (expected !== undefined && identity !== expected)
    throw changed(path, 'since its upload began');
  // The path shows a replacement by rename, too.
  const verify = () => {
    if (fileIdentity(statOf(path)) !== identity) throw changed(path);
  };
  return {
    sizeBytes: Number(initial.size),
    identity,
    async *open() {
      const file = openToRead(path);
      try {
        if (fileIdentity(fstatSync(file.descriptor, { bigint: true })) !== identity)
          throw changed(path);
        let sum = 0n;
        for await (const chunk of chunks(file.descriptor, Number(initial.size))) {
          sum += BigInt(chunk.length);
          // Before the last chunk is sent, because an incomplete request stores nothing. The file is
          // closed by then, so that nothing delays the end of the request: an answer that comes
          // before it costs the connection.
          if (sum >= initial.size) {
            verify();
            file.close();
          }
          yield chunk;
        }
        // The file shrank, so that no chunk was the last. Changes after the last chunk are for `verify`.
        if (sum < initial.size) verify();
      } catch (error) {
        throw isSystemError(error) ? unreadable(path, error) : error;
      } finally {
        file.close();
      }
    },
    verify,
  };
}

/** An open file without a name, which holds the spooled stdin. It stays open. */
export function heldUpload(descriptor: number): UploadFile {
  const initial = fstatSync(descriptor, { bigint: true });
  return {
    sizeBytes: Number(initial.size),
    identity: fileIdentity(initial),
    open: () => chunks(descriptor, Number(initial.size)),
    verify() {},
  };
}

/**
 * Alternates two buffers: one is filled while the other is being sent. A chunk is short only at the end
 * of the file, because the sender may still hold a short one when the next is requested. A file
 * smaller than a chunk needs one buffer, one byte longer than its `size` to detect growth.
 */
async function* chunks(descriptor: number, size: number): AsyncGenerator<Uint8Array> {
  const chunkBytes = Math.min(mostChunkBytes, size + 1);
  const buffers: Buffer[] = [];
  let turn: 0 | 1 = 0;
  let at = 0;
  const next = async () => {
    const chunk = await fill(descriptor, (buffers[turn] ??= Buffer.allocUnsafe(chunkBytes)), at);
    at += chunk.length;
    return chunk;
  };
  let ahead = next();
  try {
    for (;;) {
      const chunk = await ahead;
      turn = turn === 0 ? 1 : 0;
      // Nothing is read ahead of the end, because the file is closed there.
      const last = chunk.length < chunkBytes || at >= size;
      if (!last) {
        ahead = next();
        // It may fail before it is awaited, which would end the process; the await still throws.
        ahead.catch(() => undefined);
      }
      if (chunk.length > 0) yield chunk;
      if (last) return;
    }
  } finally {
    await ahead.catch(() => undefined);
  }
}

/** Makes an open file readable by position. */
export function readableFile(descriptor: number, size: number): ReadableFile {
  return {
    size,
    read: (offset, length) =>
      fill(descriptor, Buffer.alloc(Math.max(0, Math.min(length, size - offset))), offset),
  };
}

/** Reads that are no longer than this are made at once: a turn in the thread pool takes longer. */
const shortRead = 64 * 1024;

const readLong = promisify(readInThread);

async function fill(descriptor: number, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const from = position + filled;
    const length = buffer.length - filled;
    const bytesRead =
      length <= shortRead
        ? readSync(descriptor, buffer, filled, length, from)
        : (await readLong(descriptor, buffer, filled, length, from)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function fileIdentity({ size, mtimeNs, ctimeNs }: BigIntStats): FileIdentity {
  return [size, mtimeNs, ctimeNs].join(':');
}

function changed(path: string, when = 'during the upload'): InputError {
  return new InputError(`${path} changed ${when}; no document was created.`, {
    hint: 'Wait until nothing writes to the file, then upload it again.',
  });
}

function statOf(path: string): BigIntStats {
  return orUnreadable(path, () => statSync(path, { bigint: true }));
}

/** Opens a file to read it; `close` may be called twice. Throws InputError. */
export function openToRead(path: string): {
  readonly descriptor: number;
  readonly close: () => void;
} {
  const descriptor = orUnreadable(path, () => openSync(path, 'r'));
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  return { descriptor, close };
}

function orUnreadable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
