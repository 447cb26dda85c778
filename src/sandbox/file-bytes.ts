/** The bytes of files: demo files beside the code, uploads in a folder or in memory. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { makeFolder } from '../files/private.js';
import { demoFile } from './demo/documents.js';

export interface StoredBytes {
  readonly sizeBytes: number;
  /** Only of bytes in memory; the record of an upload has its own. */
  readonly sha256?: string;
  /** From `first` to `last`, both included. */
  open(first: number, last: number): Readable;
}

export interface FileBytes {
  find(key: string): StoredBytes | undefined;
  /** Receives the bytes of one upload; `find` returns them after `keep`. */
  newTarget(key: string): UploadTarget;
}

interface UploadTarget {
  write(chunk: Buffer): Promise<void>;
  /** Called after the last chunk. */
  finish(): Promise<void>;
  /** Stores the finished file under its key. */
  keep(): void;
  /** Removes what was written; does nothing after `keep`. */
  discard(): Promise<void>;
}

/** Uploads as files of a folder, each renamed into place when it is complete. */
export function bytesInFolder(dir: string): FileBytes {
  const pathOf = (key: string) => join(dir, key.slice(key.lastIndexOf('/') + 1));
  return {
    find(key) {
      const demo = demoFile(key);
      if (demo) return inMemory(demo);
      const found = statSync(pathOf(key), { throwIfNoEntry: false });
      return (
        found && {
          sizeBytes: found.size,
          open: (start, end) => createReadStream(pathOf(key), { start, end }),
        }
      );
    },
    newTarget: (key) => folderTarget(dir, pathOf(key)),
  };
}

/** Uploads in memory, which end with this process. */
export function bytesInMemory(): FileBytes {
  const uploads = new Map<string, Buffer>();
  return {
    find(key) {
      const bytes = demoFile(key) ?? uploads.get(key);
      return bytes && inMemory(bytes);
    },
    newTarget(key) {
      const chunks: Buffer[] = [];
      return {
        write: async (chunk) => void chunks.push(chunk),
        finish: async () => {},
        keep: () => void uploads.set(key, Buffer.concat(chunks)),
        discard: async () => void chunks.splice(0),
      };
    },
  };
}

/** Removes every upload of a folder, incomplete ones included. */
export function removeUploads(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

function inMemory(bytes: Buffer): StoredBytes {
  return {
    sizeBytes: bytes.length,
    get sha256() {
      return createHash('sha256').update(bytes).digest('hex');
    },
    open: (first, last) => Readable.from([bytes.subarray(first, last + 1)]),
  };
}

function folderTarget(dir: string, path: string): UploadTarget {
  let handle: FileHandle | undefined;
  const temporary = `${path}.${randomBytes(6).toString('hex')}.part`;
  const opened = async () => {
    makeFolder(dir, 0o700);
    handle ??= await open(temporary, 'wx', 0o600);
    return handle;
  };
  const close = async () => {
    await handle?.close();
    handle = undefined;
  };
  return {
    write: async (chunk) => (await opened()).writeFile(chunk),
    async finish() {
      await opened();
      await close();
    },
    keep: () => renameSync(temporary, path),
    async discard() {
      await close();
      rmSync(temporary, { force: true });
    },
  };
}
