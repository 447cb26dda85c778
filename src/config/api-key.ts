/** API keys: reading, checking and abbreviating them. */
import { isHeaderValue } from '../data/http.js';
import { systemReason } from '../data/system-errors.js';
import { CancelledError, InputError, UsageError } from '../errors.js';

const maxKeyLength = 8192;

/**
 * Returns a key as it is sent: trimmed, and valid in a header. `source` says in the message where
 * it came from; no message contains the key itself. Throws UsageError.
 */
export function cleanKey(text: string, source: string): string {
  const key = text.trim();
  if (key === '') throw new UsageError(`${source} holds no key.`, { hint: copyHint });
  if (key.length > maxKeyLength)
    throw new UsageError(`${source} is too long for a key.`, { hint: copyHint });
  if (!isHeaderValue(key))
    throw new UsageError(
      `${source} holds a line break or another character that no key can contain.`,
      { hint: copyHint },
    );
  return key;
}

/** Returns `…1234`: the last four characters, or nothing for a key shorter than twelve. */
export function keyTail(key: string): string {
  return key.length < 12 ? '' : `…${key.slice(-4)}`;
}

/**
 * Reads a key from a file that the user named. `signal` ends the wait for the writer of a pipe.
 * Throws InputError, CancelledError; no message shows the content.
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
      hint: 'Check the path and its permissions.',
    });
  }
  try {
    return cleanKey(text, `The file ${file}`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new InputError(error.message, {
      hint: 'The file must hold nothing but the key, on one line.',
    });
  }
}

const copyHint = "Copy the key again from the organization's dashboard (settings, API keys).";

/** Reads enough of a file to distinguish a key from anything else. A pipe delivers it in chunks. */
async function readStart(file: string, signal: AbortSignal): Promise<string> {
  const { inputBytes } = await import('../files/input-file.js');
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of inputBytes(file, { pieceBytes: 2 * maxKeyLength, signal })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= 2 * maxKeyLength) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
