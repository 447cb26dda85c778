import { isHeaderValue } from '../data/http.js';
import { systemReason } from '../data/system-errors.js';
import { CancelledError, InputError, UsageError } from '../errors.js';

const longest = 8192;

/**
 * A key as it is sent: trimmed, and nothing in it that cannot stand in a header. `source` says in
 * the message where it came from; the key itself is in no message. Throws UsageError.
 */
export function cleanKey(text: string, source: string): string {
  const key = text.trim();
  if (key === '') throw new UsageError(`${source} holds no key.`, { hint: askAgain });
  if (key.length > longest)
    throw new UsageError(`${source} is too long for a key.`, { hint: askAgain });
  if (!isHeaderValue(key))
    throw new UsageError(
      `${source} holds a line break or another character that no key can have.`,
      { hint: askAgain },
    );
  return key;
}

/** `…1234`: at most the last four characters, and none of a key shorter than twelve. */
export function keyTail(key: string): string {
  return key.length < 12 ? '' : `…${key.slice(-4)}`;
}

/**
 * Reads a key from a file that the user named; `signal` ends the wait for the writer of a pipe. Throws
 * InputError, CancelledError; never shows what is in it.
 */
export async function readKeyFile(
  file: string,
  source: string,
  signal: AbortSignal,
): Promise<string> {
  let text: string;
  try {
    text = await readStart(file, signal);
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    throw new InputError(`${source}: ${file} cannot be read: ${systemReason(error)}.`, {
      hint: 'Check the path and its mode.',
    });
  }
  try {
    return cleanKey(text, `The file ${file}`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new InputError(error.message, { hint: 'The file holds the key alone, on one line.' });
  }
}

const askAgain = "Copy the key again from the organization's dashboard (settings, API keys).";

/** Enough to tell a key from something else; a pipe gives it in pieces. */
async function readStart(file: string, signal: AbortSignal): Promise<string> {
  const { inputBytes } = await import('../files/input-file.js');
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of inputBytes(file, { pieceBytes: 2 * longest, signal })) {
    pieces.push(piece);
    length += piece.length;
    if (length >= 2 * longest) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
