/** Input files: their bytes and hash, why one cannot be read, and the spreadsheet program that has it open. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  open,
  readFileSync,
  statSync,
} from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemCode, systemLimit, systemReason } from '../data/system-errors.js';
import { fileCommands, shellQuote } from '../data/text.js';
import { Failure, InputError, stoppedReading } from '../errors.js';

interface InputOptions {
  readonly pieceBytes?: number;
  /** Stops reading, also while a named pipe has no writer. */
  readonly signal: AbortSignal;
}

/**
 * Yields the bytes of a file that the user named. Waits for a named pipe or a terminal without blocking a thread,
 * which would keep the process alive. Throws the file system's error, or CancelledError after a
 * signal.
 */
export async function* inputBytes(
  path: string,
  { pieceBytes = 64 * 1024, signal }: InputOptions,
): AsyncGenerator<Uint8Array> {
  const file = await stat(path);
  // A buffer larger than the file costs more than reading it. A device or a file of /proc has size 0.
  const highWaterMark = file.size > 0 ? Math.min(pieceBytes, file.size + 1) : pieceBytes;
  const stream =
    (file.isFIFO() && (await openPipe(path))) ||
    (file.isCharacterDevice() && (await openTerminal(path))) ||
    createReadStream(path, { highWaterMark });
  const stop = () => stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw signal.aborted ? stoppedReading(path) : error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  // A stream that is destroyed before any data arrived ends like an empty one.
  if (signal.aborted) throw stoppedReading(path);
}

/** Files that are no longer than this are read at once: each turn in the thread pool takes longer. */
const shortFile = 64 * 1024;

/** Returns the SHA-256 of a file, in hex. Throws the file system's error, CancelledError. */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const stats = statSync(path);
  if (signal.aborted) throw stoppedReading(path);
  if (stats.isFile() && stats.size <= shortFile)
    return hash.update(readFileSync(path)).digest('hex');
  for await (const chunk of inputBytes(path, { pieceBytes: 1024 * 1024, signal }))
    hash.update(chunk);
  return hash.digest('hex');
}

/** Collects all bytes; throws what `tooMany` returns for more than `most`. */
export async function bytesUpTo(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
  tooMany: () => Failure,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw tooMany();
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** Opens a pipe for the event loop: at once, and readable when there is a writer. */
async function openPipe(path: string) {
  const { Socket } = await import('node:net');
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Opens a terminal for the event loop; undefined for any other device. */
async function openTerminal(path: string) {
  const { isatty, ReadStream } = await import('node:tty');
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NOCTTY);
  if (isatty(fd)) return new ReadStream(fd);
  closeSync(fd);
  return undefined;
}

/**
 * Returns the error for an input file that cannot be read, with a hint if there is one: InputError,
 * or SystemLimitError if the file is not to blame. A Failure is returned as it is.
 */
export function unreadable(path: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = systemCode(error) ?? '';
  const isMissing = code === 'ENOENT';
  const message = isMissing
    ? `No such file: ${path}.`
    : `${path} cannot be read: ${systemReason(error)}.`;
  const failure = new InputError(message, { hint: nextSteps[code]?.(path), cause: error });
  return systemLimit(failure) ?? failure;
}

const permissionsHint = (path: string) =>
  `See who may read it: ${fileCommands().permissions} ${shellQuote(path)}`;

const nextSteps: Readonly<Record<string, (path: string) => string | undefined>> = {
  EACCES: permissionsHint,
  EISDIR: () => 'Name a file in it.',
  ENOENT(path) {
    // Node replaces each byte that is not UTF-8.
    if (path.includes('\ufffd')) return 'If its name is not UTF-8 text, rename it first.';
    return existsSync(dirname(path)) ? undefined : `The folder ${dirname(path)} does not exist.`;
  },
  EPERM: permissionsHint,
};

/**
 * Returns the program that has a file open, as far as its lock file tells; undefined for none. Throws
 * InputError if the file is such a lock file itself.
 */
export async function spreadsheetProgram(path: string): Promise<string | undefined> {
  const name = basename(path);
  const locked = /^~\$(.+)$/.exec(name)?.[1] ?? /^\.~lock\.(.+)#$/.exec(name)?.[1];
  if (locked !== undefined)
    throw new InputError(`${path} only says that ${locked} is open in a spreadsheet program.`, {
      hint: `Close ${locked} there, and read it: --csv ${shellQuote(join(dirname(path), locked))}`,
    });
  const hasLock = (lock: string) =>
    lstat(join(dirname(path), lock)).then(
      () => true,
      () => false,
    );
  if (await hasLock(`~$${name}`)) return 'Excel';
  return (await hasLock(`.~lock.${name}#`)) ? 'LibreOffice' : undefined;
}
