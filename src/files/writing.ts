/** Writing files: complete writes, and errors that name the file. */

import { write } from 'node:fs';
import { constants, type FileHandle, open, readFile, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemReason } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import { CancelledError, GuardError, OutputError, PipeClosedError } from '../errors.js';

/** A file being written: nothing has its final name before `commit`. */
export interface AtomicFile {
  /** Throws OutputError, PipeClosedError. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Drops the bytes beyond a length. Absent for what takes no byte back: a pipe, a device. */
  cutTo?(bytes: number): Promise<void>;
  /** Syncs the file and gives it its name. Throws OutputError. */
  commit(): Promise<void>;
  /** Removes the file. Does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Awaits work on a file. Turns a system error into an OutputError that names the file. */
export async function attemptWrite<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PipeClosedError || error instanceof GuardError
      ? error
      : cannotWrite(file, error);
  }
}

/** The error for a file that cannot be written, with a hint if there is one. */
export function cannotWrite(file: string, error: unknown): OutputError {
  const { code } = error as NodeJS.ErrnoException;
  return new OutputError(`${file} cannot be written: ${writeReason(error)}.`, {
    hint:
      code === 'ENOENT'
        ? `Create the folder first: mkdir -p ${shellQuote(dirname(file))}`
        : undefined,
    cause: error,
  });
}

/** Writes all bytes at the current position. Loops because one write may accept only some of them. */
export async function writeAll(handle: FileHandle, chunk: string | Uint8Array): Promise<void> {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  let done = 0;
  while (done < bytes.length) {
    done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
  }
}

/** Returns why the file system refused to write. */
export function writeReason(error: unknown): string {
  return systemReason(error, { ENOENT: 'there is no such folder' });
}

const maxLinks = 40;

/**
 * Returns the descriptor of this process that a path names, directly or through links
 * (`/dev/stdout`, `/dev/fd/63`); undefined for any other path, -1 for a descriptor that was not
 * inherited. Such paths are links on Linux only.
 */
export async function ownDescriptor(file: string): Promise<number | undefined> {
  const own = await realpath('/proc/self').catch(() => undefined);
  if (own === undefined) return undefined;
  let path = resolve(file);
  for (let links = 0; links < maxLinks; links++) {
    const folder = await realpath(dirname(path)).catch(() => undefined);
    if (folder === undefined) return undefined;
    if (folder === `${own}/fd`)
      return (await isInherited(basename(path))) ? Number(basename(path)) : -1;
    const next = await readlink(path).catch(() => undefined);
    if (next === undefined) return undefined;
    path = resolve(folder, next);
  }
  return undefined;
}

/** True if the shell left it open for us: descriptors that this process opens are close-on-exec. */
async function isInherited(number: string): Promise<boolean> {
  const info = await readFile(`/proc/self/fdinfo/${number}`, 'utf8').catch(() => '');
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  if (flags === undefined) return false;
  return Number(number) <= 2 || (Number.parseInt(flags, 8) & closeOnExec) === 0;
}

const closeOnExec = 0o2000000;

const pipeFullMs = 5;

/**
 * Writes to a descriptor, at `position` or else at its end, without closing it: the shell does that,
 * and other processes may write to it. Throws PipeClosedError, or the system's error.
 */
export async function writeToDescriptor(
  descriptor: number,
  chunk: string | Uint8Array,
  position?: number,
): Promise<void> {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    done += await put(descriptor, bytes.subarray(done), at);
  }
}

/** Returns how many bytes were written. */
async function put(
  descriptor: number,
  bytes: Uint8Array,
  position: number | null,
): Promise<number> {
  try {
    return await new Promise((done, fail) => {
      write(descriptor, bytes, 0, bytes.length, position, (error, written) =>
        error ? fail(error) : done(written),
      );
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') throw new PipeClosedError('the pipe was closed');
    if (code !== 'EAGAIN') throw error;
    await sleep(pipeFullMs);
    return 0;
  }
}

const pollMs = 50;

/** Writes to a descriptor that this process has open. Keeps it open and replaces nothing. */
export function throughDescriptor(file: string, number: number): AtomicFile {
  return {
    write: (chunk) => attemptWrite(file, writeToDescriptor(number, chunk)),
    commit: async () => {},
    discard: async () => {},
  };
}

/**
 * Opens a device or a named pipe; waits for the reader of a pipe until `signal` fires. Throws
 * OutputError, CancelledError.
 */
export async function throughDevice(
  file: string,
  isPipe: boolean,
  signal: AbortSignal | undefined,
): Promise<AtomicFile> {
  const handle = await (isPipe ? openPipe(file, signal) : attemptWrite(file, open(file, 'w')));
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close();
  };
  return {
    write: (chunk) => attemptWrite(file, writeAll(handle, chunk)),
    commit: () => attemptWrite(file, close()),
    discard: () => close().catch(() => {}),
  };
}

/**
 * Opens a named pipe for writing. Polls for a reader, because a blocking open would occupy a thread
 * and keep the process alive, whatever signal arrives.
 */
async function openPipe(file: string, signal: AbortSignal | undefined): Promise<FileHandle> {
  for (;;) {
    const first = await open(file, constants.O_WRONLY | constants.O_NONBLOCK).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENXIO') throw cannotWrite(file, error);
        return undefined;
      },
    );
    if (first) {
      const handle = await attemptWrite(file, open(file, 'w'));
      // Closed any earlier, the reader would see the end of the file.
      await first.close();
      return handle;
    }
    if (signal?.aborted) throw new CancelledError('Interrupted.');
    await sleep(pollMs);
  }
}

/** Replaces a path that leads to stdout by `-`. */
export async function fileOrStdout<T extends string | undefined>(file: T): Promise<T | '-'> {
  return file !== undefined && (await ownDescriptor(file)) === 1 ? '-' : file;
}
