import { InputError, stoppedReading } from '../errors.js';

/**
 * Everything on stdin, at most `limit` bytes; `isStopped`: a signal came and the stream was closed.
 * Throws InputError, CancelledError.
 */
export async function readAll(
  stdin: AsyncIterable<string | Uint8Array>,
  limit: number,
  isStopped: () => boolean = () => false,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk as Uint8Array);
      size += bytes.length;
      if (size > limit) break;
      chunks.push(bytes);
    }
  } catch (error) {
    if (isStopped()) throw stoppedReading('stdin');
    throw new InputError(`stdin cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  if (size > limit) throw new InputError(`stdin holds more than ${limit} bytes.`);
  return Buffer.concat(chunks);
}
