/** Writing files: complete writes, and errors that name the file. */

import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemReason } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import { CancelledError, GuardError, OutputError } from '../errors.js';

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
}

/** Awaits work on a file. Turns a system error into an OutputError that names the file. */
export async function attemptWrite<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GuardError ? error : cannotWrite(file, error);
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

/** Returns why the file system refused to write. */
export function writeReason(error: unknown): string {
  return systemReason(error, {
    ENOENT: 'there is no such folder',
    ENXIO: 'it is a socket',
    EPIPE: 'nothing reads the pipe any more',
  });
}

/**
 * Opens a device or a pipe, which is neither replaced nor takes a byte back. Throws OutputError,
 * CancelledError.
 */
export async function throughDevice(
  file: string,
  signal: AbortSignal | undefined,
): Promise<AtomicFile> {
  const reader = await findReader(file, signal);
  const handle = await attemptWrite(file, open(file, 'a'));
  // Closed any earlier, the reader would see the end of the pipe.
  await reader.close();
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= handle.close());
  return {
    write: (chunk) => attemptWrite(file, handle.appendFile(chunk)),
    commit: () => attemptWrite(file, close()),
    discard: () => close().catch(() => {}),
  };
}

const pollMs = 50;

/**
 * Opens a device, or a pipe once it has a reader. Polls, because an open that blocks would keep the
 * process alive, whatever signal arrives. Throws OutputError, CancelledError.
 */
async function findReader(file: string, signal: AbortSignal | undefined): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(file, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A socket, which a service has for its outputs, never opens.
      const isAwaited = code === 'ENXIO' && (await stat(file)).isFIFO();
      if (!isAwaited) throw cannotWrite(file, error);
    }
    if (signal?.aborted) throw new CancelledError('Interrupted.');
    await sleep(pollMs);
  }
}
