import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { allowedExtensions, typeByName } from '../api/content-types.js';
import { typeByContent } from '../api/file-signature.js';
import type { UploadSource } from '../api/file-store.js';
import { readableFile } from '../api/readable-file.js';
import type { UploadContentType } from '../api/schemas.js';
import { unreadable } from '../cli/input-text.js';
import { orList } from '../data/words.js';
import { CancelledError, InputError, UsageError } from '../errors.js';
import type { Streams } from '../terminal/streams.js';

/** A file that was looked at and may be uploaded. */
export interface LocalFile {
  /** As typed; `-` for what came from stdin. */
  readonly path: string;
  readonly name: string;
  readonly contentType: UploadContentType;
  readonly sizeBytes: number;
  /** Its bytes, from the start each time. Throws InputError when they are no longer those looked at. */
  source(onProgress?: (bytes: number) => void): UploadSource;
  /** Throws InputError when the file has changed since it was looked at. */
  verify(): Promise<void>;
}

/**
 * Looks at a file: readable, regular, and by name and by content one of the ten types (contract
 * section 8) unless the type is given. Throws InputError or UsageError.
 */
export async function lookAtFile(path: string, given?: UploadContentType): Promise<LocalFile> {
  const before = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (before.isDirectory()) throw new InputError(`${path} is a folder, not a file.`);
  if (!before.isFile()) throw new InputError(`${path} is no regular file.`);
  const handle = await openFile(path);
  try {
    const contentType = given ?? (await typeOf(path, handle, before.size));
    return localFile(path, basename(path), contentType, before, () => openFile(path));
  } finally {
    await handle.close();
  }
}

/**
 * Keeps stdin in a file that has no name any more, so that nothing of it is left however the process
 * ends, and gives it to `use`. Throws InputError.
 */
export async function withStdinFile<T>(
  stdin: Streams['stdin'],
  signal: AbortSignal,
  name: string,
  contentType: UploadContentType,
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  const path = join(tmpdir(), `rosterctl-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    await spool(stdin, handle, signal);
    const before = await handle.stat();
    return await use(localFile('-', name, contentType, before, async () => handle));
  } finally {
    await handle.close().catch(() => {});
  }
}

async function spool(
  stdin: Streams['stdin'],
  handle: FileHandle,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const chunk of addAbortSignal(signal, stdin.stream as Readable))
      await handle.appendFile(chunk as Uint8Array);
  } catch (error) {
    if (signal.aborted) throw new CancelledError('Stopped while reading stdin; nothing was sent.');
    throw new InputError('stdin cannot be kept in a temporary file.', { cause: error });
  }
}

async function openFile(path: string): Promise<FileHandle> {
  return open(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

async function typeOf(path: string, handle: FileHandle, size: number): Promise<UploadContentType> {
  const named = typeByName(path);
  const found = await typeByContent(readableFile(handle, size));
  const hint =
    'Say what it is with --content-type; allowed types are in: rosterctl docs upload --help';
  if (!named)
    throw new UsageError(
      `${path} has no extension of an allowed type (${orList(allowedExtensions)})${found ? `; its content is ${found}` : ''}.`,
      { hint },
    );
  if (size > 0 && found !== named)
    throw new UsageError(
      `${path} is named like ${named}, but its content is ${found ?? 'of no allowed type'}.`,
      { hint },
    );
  return named;
}

function localFile(
  path: string,
  name: string,
  contentType: UploadContentType,
  before: Stats,
  openAgain: () => Promise<FileHandle>,
): LocalFile {
  const changed = () => new InputError(`${path} changed while it was being uploaded.`);
  const check = async (handle: FileHandle) => {
    if (!isSame(before, await handle.stat())) throw changed();
  };
  const withHandle = async (work: (handle: FileHandle) => Promise<void>) => {
    const handle = await openAgain();
    try {
      await work(handle);
    } finally {
      if (path !== '-') await handle.close();
    }
  };
  const sizeBytes = before.size;
  return {
    path,
    name,
    contentType,
    sizeBytes,
    verify: () => withHandle(check),
    source: (onProgress) => ({
      contentType,
      sizeBytes,
      onProgress,
      async *open() {
        const handle = await openAgain();
        try {
          await check(handle);
          const file = readableFile(handle, sizeBytes);
          for (let offset = 0; offset < sizeBytes; ) {
            const chunk = await file.read(offset, 256 * 1024);
            if (chunk.length === 0) throw changed();
            offset += chunk.length;
            if (offset === sizeBytes) await check(handle);
            yield chunk;
          }
        } finally {
          if (path !== '-') await handle.close();
        }
      },
    }),
  };
}

/** The same file, not touched: another one under its name, another size or time of change is not. */
function isSame(before: Stats, now: Stats): boolean {
  return (
    before.ino === now.ino &&
    before.dev === now.dev &&
    before.size === now.size &&
    before.mtimeMs === now.mtimeMs
  );
}
