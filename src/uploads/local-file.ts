/** Local files to upload: inspects a file or stdin, and determines its content type. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { allowedExtensions, typeByName, type UploadContentType } from '../api/schemas.js';
import { isSystemError, systemReason } from '../data/system-errors.js';
import { orList } from '../data/text.js';
import { InputError, stoppedReading, UsageError } from '../errors.js';
import { unreadable } from '../files/input-file.js';
import type { Streams } from '../terminal/streams.js';
import { typeByContent } from './content-type.js';
import {
  heldUpload,
  openToRead,
  openUpload,
  readableFile,
  type UploadFile,
} from './upload-source.js';

/** An inspected file that may be uploaded. */
export interface LocalFile extends UploadFile {
  /** As typed; `-` for stdin. */
  readonly path: string;
  readonly name: string;
  readonly contentType: UploadContentType;
}

/**
 * Inspects a file: it must be readable and regular and, unless its type is given, one of the ten types
 * (contract section 8) by both name and content. Throws InputError or UsageError.
 */
export async function inspectFile(path: string, given?: UploadContentType): Promise<LocalFile> {
  const file = openUpload(path);
  // Also where the type is given, to find a file that cannot be read before anything is sent.
  const found = await contentOf(path, file.sizeBytes);
  const contentType = given ?? typeOf(path, path, found, file.sizeBytes);
  // macOS splits letters from their accents; what people type in a search is composed.
  return { ...file, path, name: basename(path).normalize(), contentType };
}

/**
 * Spools stdin to an unlinked temporary file, so that nothing remains however the process ends, and
 * passes it to `use`. Throws InputError, and UsageError if neither a given type, nor the extension of its
 * name, nor the bytes tell its type.
 */
export async function withStdinFile<T>(
  stdin: Streams['stdin'],
  signal: AbortSignal,
  { name, contentType: given }: { name: string; contentType: UploadContentType | undefined },
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  const path = join(tmpdir(), `rosterctl-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600).catch((cause: unknown) => {
    throw spoolFailure(cause);
  });
  try {
    await unlink(path);
    await spool(stdin, handle, signal);
    const { size } = await handle.stat();
    const found = given ?? (await typeByContent(readableFile(handle.fd, size)));
    const contentType = given ?? typeOf('-', name, found, size);
    return await use({ ...heldUpload(handle.fd), path: '-', name, contentType });
  } finally {
    await handle.close().catch(() => {});
  }
}

async function spool(stdin: Streams['stdin'], handle: FileHandle, signal: AbortSignal) {
  const input = stdin.stream as Readable;
  try {
    for await (const chunk of addAbortSignal(signal, input))
      await handle.appendFile(chunk as Uint8Array);
  } catch (error) {
    if (signal.aborted) throw stoppedReading('stdin');
    throw spoolFailure(error);
  }
}

function spoolFailure(cause: unknown): InputError {
  const reason = systemReason(cause, { ENOENT: 'there is no such folder' });
  return new InputError(`stdin cannot be kept in a temporary file in ${tmpdir()}: ${reason}.`, {
    hint: 'Set TMPDIR to a folder with enough room.',
    cause,
  });
}

/**
 * The type of a file by its name and its content (`found`), which must agree unless it is empty. The name
 * of a document from stdin needs no extension, so the bytes alone may determine it. Throws UsageError.
 */
function typeOf(path: string, name: string, found: UploadContentType | undefined, size: number) {
  const byName = typeByName(name);
  if (byName && (size === 0 || found === byName)) return byName;
  const isStdin = path === '-';
  if (!byName && isStdin && found) return found;
  const content = found ? `its content is ${found}` : 'its content is not of an allowed type';
  const what = isStdin ? `${name} (stdin)` : path;
  if (byName)
    throw new UsageError(`${what} has the extension of ${byName}, but ${content}.`, {
      hint: contentTypeHint,
    });
  if (isStdin)
    throw new UsageError('The type of the file from stdin is unknown.', { hint: contentTypeHint });
  throw new UsageError(
    `${path} does not have an allowed extension (${orList(allowedExtensions)})${found ? `; ${content}` : ''}.`,
    { hint: contentTypeHint },
  );
}

const contentTypeHint =
  'State its type with --content-type. See the allowed types: rosterctl docs upload --help';

async function contentOf(path: string, size: number) {
  const file = openToRead(path);
  try {
    return await typeByContent(readableFile(file.descriptor, size));
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, error) : error;
  } finally {
    file.close();
  }
}
