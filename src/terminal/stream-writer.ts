/** Writing to one stream of the process: each write waits for its callback, and says why it failed. */
import { constants, fstatSync, fsync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { isDiskFailure, systemCode, systemReason } from '../data/system-errors.js';
import { CancelledError, OutputError, PipeClosedError } from '../errors.js';

/** The part of `process.stdout` and `process.stderr` that is used; any Writable fits. */
export type TerminalOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** Creates a writer that awaits each write's callback, so that a full disk fails the write that hit it. */
export function createWriter(
  source: () => TerminalOutput,
  writeNow?: (bytes: Uint8Array) => number,
) {
  let failure: Error | undefined;
  let opened: TerminalOutput | undefined;
  let waitsForReader = true;
  let bytes = 0;
  const fits = (text: string | Uint8Array) => {
    bytes += Buffer.byteLength(text);
    return bytes <= maxDirectBytes;
  };
  /** Functions that end the wait of a write that is not handed over yet. */
  const pending = new Set<() => void>();
  const open = (): TerminalOutput => {
    const raw = source();
    // Without a listener a closed pipe would end the process with a stack trace.
    raw.on('error', (error) => {
      failure ??= asFailure(error);
    });
    return raw;
  };
  return {
    /** After this, every write goes through the stream. */
    throughStream: (): void => {
      opened ??= open();
    },
    write: async (text: string | Uint8Array): Promise<void> => {
      if (text.length === 0) return;
      let remaining = text;
      if (writeNow && !opened && !failure && fits(text)) {
        try {
          remaining = writeDirect(writeNow, text);
        } catch (error) {
          failure = asFailure(error);
        }
      }
      if (!failure && remaining.length > 0)
        await new Promise<void>((resolve, reject) => {
          const giveUp = () => reject(new CancelledError('Interrupted.'));
          pending.add(giveUp);
          opened ??= open();
          opened.write(remaining, (error) => {
            pending.delete(giveUp);
            if (error) failure ??= asFailure(error);
            resolve();
          });
          if (!waitsForReader) giveUp();
        });
      if (failure) throw failure;
    },
    stopWaiting: (): void => {
      waitsForReader = false;
      for (const giveUp of pending) giveUp();
    },
    isHeld: (): boolean => !waitsForReader && pending.size > 0,
  };
}

/**
 * The size of a pipe's buffer in bytes. What is longer, all texts together, may have to wait for its
 * reader: a direct write would not return until then, whatever signal arrives or time passes.
 */
const maxDirectBytes = 64 * 1024;

/**
 * Returns a writer to the outputs of the process. A pipe gets a descriptor that does not wait, where the system has
 * one: with what others have written it may be full already, and a write that waits for its reader would not return
 * until then, whatever signal arrives or time passes.
 */
export function createDirectWrite(): (descriptor: 1 | 2, bytes: Uint8Array) => number {
  const descriptors = new Map<1 | 2, number>();
  return (descriptor, bytes) => {
    const own = descriptors.get(descriptor) ?? withoutWait(descriptor);
    descriptors.set(descriptor, own);
    return writeSync(own, bytes);
  };
}

function withoutWait(descriptor: number): number {
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // No /proc, a pipe of another user, or too many open files.
    return descriptor;
  }
}

/** Writes as much as the system accepts at once; returns the rest, which the stream has to write. */
function writeDirect(write: (bytes: Uint8Array) => number, text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  let done = 0;
  try {
    while (done < bytes.length) done += write(bytes.subarray(done));
  } catch (error) {
    if (systemCode(error) !== 'EAGAIN') throw error;
  }
  return bytes.subarray(done);
}

/** Resolves when what a file got through its descriptor is on disk. Throws OutputError if the disk fails. */
export async function syncDirect(descriptor: number): Promise<void> {
  try {
    await promisify(fsync)(descriptor);
  } catch (error) {
    if (isDiskFailure(error)) throw asFailure(error);
  }
}

function asFailure(error: unknown): Error {
  const code = systemCode(error);
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ECONNRESET')
    return new PipeClosedError('the pipe was closed', { cause: error });
  return new OutputError(`The output cannot be written: ${systemReason(error)}.`, { cause: error });
}
