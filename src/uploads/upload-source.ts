import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { unreadable } from '../files/input-file.js';

/** A file on disk whose bytes will be sent; its size is exact and guarded against change. */
export interface UploadFile {
  readonly sizeBytes: number;
  readonly identity: FileIdentity;
  /**
   * The bytes, from the start, each time it is called. Each chunk is valid until the one after the
   * next is asked for. Throws InputError, at the latest before the last one, when the file is not
   * what it was when it was opened first.
   */
  open(): AsyncIterable<Uint8Array>;
  /** Throws InputError when the file has changed since it was looked at. */
  verify(): Promise<void>;
}

/** Which file it was, untouched: device, inode, size, times of change of content and of the inode, in ns. */
export type FileIdentity = string;

const mostChunkBytes = 2 * 1024 * 1024;

/**
 * Looks at a file to upload; `expected` is the identity of an earlier look. Throws InputError unless
 * it is a regular file that can be read, and the one expected.
 */
export async function openUpload(path: string, expected?: FileIdentity): Promise<UploadFile> {
  // Opening a pipe would wait for its writer for ever.
  const planned = await statOf(path);
  if (!planned.isFile())
    throw new InputError(`${path} is ${kindOf(planned)}, not a regular file; nothing was sent.`);
  if (expected !== undefined && identityOf(planned) !== expected)
    throw changed(path, 'since its upload began');
  const check = async (handle: FileHandle) => {
    // The open file and what the name now leads to: a replacement by rename shows only there.
    const [now, byName] = await Promise.all([handle.stat({ bigint: true }), statOf(path)]);
    if (identityOf(now) !== identityOf(planned) || identityOf(byName) !== identityOf(planned))
      throw changed(path);
  };
  const withFile = async <T>(work: (handle: FileHandle) => Promise<T>): Promise<T> => {
    const handle = await openFile(path);
    try {
      return await work(handle);
    } finally {
      await handle.close();
    }
  };
  await withFile(check);
  return {
    sizeBytes: Number(planned.size),
    identity: identityOf(planned),
    async *open() {
      const handle = await openFile(path);
      try {
        await check(handle);
        let sum = 0n;
        for await (const chunk of chunks(handle, Number(planned.size), undefined)) {
          sum += BigInt(chunk.length);
          // Before the last one is handed over: a request that is not whole stores nothing.
          if (sum >= planned.size) await check(handle);
          yield chunk;
        }
        // Cut short, it never came to its last one; what is done to it later concerns `verify`.
        if (sum < planned.size) await check(handle);
      } finally {
        await handle.close();
      }
    },
    verify: () => withFile(check),
  };
}

/** A file that is open already and has no name: what came from stdin. It stays open. */
export async function heldUpload(handle: FileHandle): Promise<UploadFile> {
  const planned = await handle.stat({ bigint: true });
  return {
    sizeBytes: Number(planned.size),
    identity: identityOf(planned),
    open: () => chunks(handle, Number(planned.size), 0),
    async verify() {},
  };
}

/**
 * Two buffers take turns: while one is being sent the other is filled. A chunk is short only at the
 * end of the file, for the sender may still hold a short one when the next is asked for. A file of
 * less than a chunk needs one buffer, a byte longer than its `size`, which shows whether it grew.
 * `from` is undefined for a file that is read from where it stands.
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

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileIdentity {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

function changed(path: string, when = 'while uploading'): InputError {
  return new InputError(`${path} changed ${when}; no document was created.`, {
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

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
