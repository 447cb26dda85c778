import { constants, createReadStream, open } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemLimit, systemReason } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import { type Failure, InputError, stoppedReading } from '../errors.js';

interface InputOptions {
  /** Bytes read at once. */
  readonly pieceBytes?: number;
  /** Ends the reading, also while nobody writes to a named pipe. */
  readonly signal: AbortSignal;
}

/**
 * The bytes of a file that the user named, as they come; a named pipe is waited for without holding a
 * thread, and the process with it. Throws what the file system says, CancelledError after a signal.
 */
export async function* inputBytes(
  path: string,
  { pieceBytes = 64 * 1024, signal }: InputOptions,
): AsyncGenerator<Uint8Array> {
  const stream = (await stat(path)).isFIFO()
    ? await openPipe(path)
    : createReadStream(path, { highWaterMark: pieceBytes });
  const stop = () => stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of stream) yield Buffer.from(chunk as Uint8Array);
  } catch (error) {
    throw signal.aborted ? stoppedReading(path) : error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  // A stream that is destroyed before anything came ends like an empty one.
  if (signal.aborted) throw stoppedReading(path);
}

/** A pipe as the event loop knows it: opened at once, read when there is a writer. */
async function openPipe(path: string) {
  const { Socket } = await import('node:net');
  const fd = await new Promise<number>((done, fail) => {
    open(path, constants.O_RDONLY | constants.O_NONBLOCK, (error, descriptor) =>
      error ? fail(error) : done(descriptor),
    );
  });
  return new Socket({ fd, readable: true, writable: false });
}

/**
 * What the file system said about an input file, in a sentence, with the next step where there is one:
 * InputError, or SystemLimitError where the fault is not the file's.
 */
export function unreadable(path: string, error: unknown): Failure {
  const { code = '' } = error as NodeJS.ErrnoException;
  const refused = new InputError(`${path} cannot be read: ${systemReason(error)}.`, {
    hint: nextSteps[code]?.(path),
    cause: error,
  });
  return systemLimit(refused) ?? refused;
}

const whoMay = (path: string) => `See who may read it: ls -ld ${shellQuote(path)}`;

const nextSteps: Readonly<Record<string, (path: string) => string>> = {
  EACCES: whoMay,
  EISDIR: () => 'Name a file in it.',
  ENOENT: (path) => `See what is there: ls ${shellQuote(dirname(path))}`,
  EPERM: whoMay,
};
