/** Writing files: complete writes, and errors that name the file. */

import {
  closeSync,
  constants,
  promises as fs,
  fstatSync,
  open,
  realpathSync,
  type Stats,
  write,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemCode, systemReason } from '../data/system-errors.js';
import { fileCommands, onWindows, shellQuote } from '../data/text.js';
import { CancelledError, Failure, OutputError } from '../errors.js';

/** A file being written: nothing has its final name before `commit`. */
export interface AtomicFile {
  /** Throws OutputError. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Drops the bytes beyond a length. Absent for what takes no byte back: a pipe, a device. */
  cutTo?(bytes: number): Promise<void>;
  /** Syncs the file and gives it its name. Throws OutputError. */
  commit(): Promise<void>;
  /** Removes the file. Does nothing after `commit`. */
  discard(): Promise<void>;
  /** True for a terminal, which control characters would drive. */
  readonly isTerminal?: boolean;
}

/** Awaits work on a file. Turns a system error into an OutputError that names the file. */
export async function attemptWrite<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Failure ? error : cannotWrite(file, error);
  }
}

/** The error for a file that cannot be written, with a hint if there is one. */
export function cannotWrite(file: string, error: unknown, isWindows = onWindows): OutputError {
  const code = systemCode(error) ?? '';
  const folder = dirname(file);
  const isMissing = code === 'ENOENT' && !isThere(folder);
  // Windows does not replace a file that is open, such as in Excel.
  const isOpen = isWindows && ['EBUSY', 'EPERM'].includes(code) && isThere(file);
  const reason = isMissing ? writeReason(error) : systemReason(error, fileReasons);
  return new OutputError(`${file} cannot be written: ${reason}.`, {
    hint: isMissing ? missingFolderHint(folder) : isOpen ? openElsewhere : writeHints[code],
    cause: error,
  });
}

/** True for what exists; the current folder may have been removed. */
function isThere(path: string): boolean {
  try {
    return realpathSync.native(path) !== '';
  } catch {
    return false;
  }
}

const otherFolder = 'Name a file in a folder that you can write to.';
const openElsewhere = 'If another program has it open, close it there. Or name another file.';
const makeRoomOnDisk = 'Make room, or name a file on another disk.';

/** The advice on a refusal of the file system, by its code. */
const writeHints: Readonly<Record<string, string>> = {
  EACCES: otherFolder,
  ELOOP: otherFolder,
  ENAMETOOLONG: 'Choose a shorter name.',
  ENOENT: 'Run the same command again, or name another file.',
  ENOTDIR: otherFolder,
  EPERM: otherFolder,
  EROFS: otherFolder,
  EDQUOT: makeRoomOnDisk,
  ENOSPC: makeRoomOnDisk,
};

function missingFolderHint(folder: string): string {
  if (folder === '.') return 'The current folder was removed. Change to another folder first.';
  return `Create the folder first: ${fileCommands().create} ${shellQuote(folder)}`;
}

const pipeReason = { EPIPE: 'nothing reads the pipe any more' };

/** Why a file cannot be written although its folder is there. */
const fileReasons = {
  ...pipeReason,
  ENOENT: 'it was removed in the meantime, or its file system does not allow the name',
};

/** Returns why the file system refused to write. */
export function writeReason(error: unknown): string {
  return systemReason(error, { ...pipeReason, ENOENT: 'there is no such folder' });
}

type WriteTarget =
  | { readonly kind: 'absent'; readonly path: string }
  | { readonly kind: 'device'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly stats: Stats };

/** Returns what a path leads to, through links. Throws OutputError for a folder, and links that lead nowhere. */
export async function outputTarget(file: string): Promise<WriteTarget> {
  const path = await fs.realpath(file).catch(() => file);
  // Let the system resolve the link: the link to a pipe is not a path that could be read.
  const stats = await fs.stat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ELOOP') throw cannotWrite(file, error);
  });
  if (!stats) return { kind: 'absent', path: await endOfLinks(file) };
  if (stats.isDirectory())
    throw new OutputError(`${file} is a folder, not a file.`, { hint: 'Name a file in it.' });
  // Other processes may share what the shell opened for us, such as /dev/stderr.
  if (!stats.isFile() || isOpenedByShell(file)) return { kind: 'device', path };
  return { kind: 'file', path, stats };
}

/**
 * Follows links that lead to nothing yet, as the shell does with `>`: a file in place of a link to a disk that
 * is not mounted would stay there. Throws OutputError if the folder is missing.
 */
export async function endOfLinks(file: string): Promise<string> {
  const link = await fs.readlink(file).catch(() => undefined);
  if (link === undefined) return file;
  // Not normalized: `missing/..` leads nowhere.
  const end = isAbsolute(link) ? link : `${await fs.realpath(dirname(file))}/${link}`;
  const folder = await attemptWrite(end, fs.realpath(dirname(end)));
  return endOfLinks(join(folder, basename(end)));
}

/** True for a name of what the shell opened for this process, such as `/dev/stdin` or `<(…)`. */
export function isOpenedByShell(file: string): boolean {
  return /^\/(dev\/(fd\/|std)|proc\/)/.test(file);
}

/** How long to wait for the reader of a pipe. */
interface PipeOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Once there is a reader, a signal does not end the wait for it to read. */
  readonly isReport?: boolean | undefined;
}

/**
 * Opens a device, a pipe, or a socket that is an output of this process; none is replaced or takes a byte
 * back. Throws OutputError, CancelledError.
 */
export async function throughDevice(
  file: string,
  { signal, isReport = false }: PipeOptions,
): Promise<AtomicFile> {
  const own = await ownSocket(file);
  if (own !== undefined) return throughOwn(file, own);
  const opened = await findReader(file, signal);
  if (fstatSync(opened).isFIFO()) return throughPipe(file, opened, isReport ? undefined : signal);
  closeSync(opened);
  const handle = await attemptWrite(file, fs.open(file, 'a'));
  const { isatty } = await import('node:tty');
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= handle.close());
  return {
    write: (chunk) => attemptWrite(file, handle.appendFile(chunk)),
    commit: () => attemptWrite(file, close()),
    discard: () => close().catch(() => {}),
    isTerminal: isatty(handle.fd),
  };
}

/**
 * Writes to a pipe in the event loop: a thread that waits for a reader which has stopped reading would
 * keep the process alive, whatever signal arrives.
 */
async function throughPipe(
  file: string,
  descriptor: number,
  signal: AbortSignal | undefined,
): Promise<AtomicFile> {
  const { Socket } = await import('node:net');
  const pipe = new Socket({ fd: descriptor, readable: false, writable: true });
  let failure: Error | undefined;
  // Without a listener, a reader that goes away would end the process with a stack trace.
  pipe.on('error', (error) => {
    failure ??= error;
  });
  const send = (chunk: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        pipe.destroy();
        reject(new CancelledError('Interrupted.'));
      };
      pipe.write(chunk, (error) => {
        signal?.removeEventListener('abort', giveUp);
        if (error) reject(failure ?? error);
        else resolve();
      });
      if (signal?.aborted) giveUp();
      else signal?.addEventListener('abort', giveUp, { once: true });
    });
  return {
    write: (chunk) => attemptWrite(file, send(chunk)),
    commit: () => new Promise((resolve) => pipe.end(() => resolve())),
    discard: async () => void pipe.destroy(),
  };
}

const pollMs = 50;
const outputs = /^\/(?:dev\/std(?:(out)|err)|(?:dev|proc\/self)\/fd\/(\d+))$/;

/**
 * The descriptor that a name such as `/dev/stderr` stands for, if it is a socket, as under systemd: unlike a pipe, a socket
 * cannot be opened by such a name.
 */
async function ownSocket(file: string): Promise<number | undefined> {
  const [name, out, number] = outputs.exec(file) ?? [];
  if (name === undefined || !(await fs.stat(file)).isSocket()) return undefined;
  if (number !== undefined) return Number(number);
  return out === undefined ? 2 : 1;
}

const writePart = promisify(write);

function throughOwn(file: string, descriptor: number): AtomicFile {
  const writeAll = async (chunk: string | Uint8Array) => {
    let rest = Buffer.from(chunk);
    while (rest.length > 0)
      try {
        rest = rest.subarray((await writePart(descriptor, rest)).bytesWritten);
      } catch (error) {
        // The socket is full for now.
        if (systemCode(error) !== 'EAGAIN') throw error;
        await sleep(pollMs);
      }
  };
  return {
    write: (chunk) => attemptWrite(file, writeAll(chunk)),
    commit: async () => {},
    discard: async () => {},
  };
}

const openFile = promisify(open);

/**
 * Opens a device, or a pipe once it has a reader. Polls, because an open that blocks would keep the
 * process alive, whatever signal arrives. Throws OutputError, CancelledError.
 */
async function findReader(file: string, signal: AbortSignal | undefined): Promise<number> {
  for (;;) {
    try {
      return await openFile(file, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      const code = systemCode(error);
      // A socket never opens.
      const isAwaited = code === 'ENXIO' && (await fs.stat(file)).isFIFO();
      if (!isAwaited) throw cannotWrite(file, error);
    }
    if (signal?.aborted) throw new CancelledError('Interrupted.');
    await sleep(pollMs);
  }
}
