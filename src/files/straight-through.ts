import { constants, type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError } from '../errors.js';
import { writeToDescriptor } from './own-descriptor.js';
import { type AtomicFile, attempt, cannotWrite, writeAll } from './writing.js';

const lookMs = 50;

/** Writes to what this process has open already; that stays open and nothing of it is replaced. */
export function throughDescriptor(file: string, number: number): AtomicFile {
  return {
    write: (chunk) => attempt(file, writeToDescriptor(number, chunk)),
    commit: async () => {},
    discard: async () => {},
  };
}

/**
 * Opens a device or a named pipe, for whose reader it waits until `signal` ends it. Throws
 * OutputError, CancelledError.
 */
export async function throughDevice(
  file: string,
  isPipe: boolean,
  signal: AbortSignal | undefined,
): Promise<AtomicFile> {
  const handle = await (isPipe ? openPipe(file, signal) : attempt(file, open(file, 'w')));
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close();
  };
  return {
    write: (chunk) => attempt(file, writeAll(handle, chunk)),
    commit: () => attempt(file, close()),
    discard: () => close().catch(() => {}),
  };
}

/**
 * Opens a named pipe for writing. Without a reader the system's own waiting would hold a thread, and
 * the process with it, whatever signal comes.
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
      const handle = await attempt(file, open(file, 'w'));
      // Any earlier it would be the end of the file for the reader.
      await first.close();
      return handle;
    }
    if (signal?.aborted) throw new CancelledError('Interrupted.');
    await sleep(lookMs);
  }
}
