/** The hash of a file on disk. */
import { createHash } from 'node:crypto';
import { inputBytes } from './input-file.js';

/**
 * Returns the SHA-256 of a file, in hex. Throws the file system's error, or CancelledError after a
 * signal.
 */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of inputBytes(path, { pieceBytes: 1024 * 1024, signal }))
    hash.update(chunk);
  return hash.digest('hex');
}
