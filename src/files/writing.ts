/** Writing files: complete writes, and errors that name the file. */

import { dirname } from 'node:path';
import { systemReason } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import { GuardError, OutputError, PipeClosedError } from '../errors.js';

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

/** Returns why the file system refused to write. */
export function writeReason(error: unknown): string {
  return systemReason(error, { ENOENT: 'there is no such folder' });
}
