import { constants, createReadStream, open } from 'node:fs';
import { stat } from 'node:fs/promises';
import { stoppedReading } from '../errors.js';

export interface InputOptions {
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
