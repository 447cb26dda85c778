import type { FileHandle } from 'node:fs/promises';
import { systemReason } from '../data/system-errors.js';
import { OutputError, PipeClosedError } from '../errors.js';

/** A file in the making: nothing stands under its final name before `commit`. */
export interface AtomicFile {
  /** Throws OutputError, PipeClosedError. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Brings it to disk and under its name. Throws OutputError. */
  commit(): Promise<void>;
  /** Leaves nothing behind; harmless after `commit`. */
  discard(): Promise<void>;
}

/** Does something to a file; the system's refusal is an OutputError that names it. */
export async function attempt<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PipeClosedError ? error : cannotWrite(file, error);
  }
}

/** The refusal of the file system, with the next step where there is one. */
export function cannotWrite(file: string, error: unknown): OutputError {
  const { code } = error as NodeJS.ErrnoException;
  return new OutputError(`${file} cannot be written: ${writeReason(error)}.`, {
    hint: code === 'ENOENT' ? 'Make the folder first.' : undefined,
    cause: error,
  });
}

/**
 * Writes all of it, where the file stands or at `position`: one write may take only a part of the
 * bytes.
 */
export async function writeAll(
  handle: FileHandle,
  chunk: string | Uint8Array,
  position?: number,
): Promise<void> {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  let done = 0;
  while (done < bytes.length) {
    const at = position === undefined ? null : position + done;
    done += (await handle.write(bytes, done, bytes.length - done, at)).bytesWritten;
  }
}

/** Why the file system refused to write, in words where it has some. */
export function writeReason(error: unknown): string {
  return systemReason(error, { ENOENT: 'there is no such folder' });
}
