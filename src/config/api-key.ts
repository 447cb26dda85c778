import type { FileHandle } from 'node:fs/promises';
import { isSendable } from '../data/sendable.js';
import { systemReason } from '../data/system-reason.js';
import { InputError, UsageError } from '../errors.js';

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
  if (!isSendable(key))
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

/** Reads a key from a file that the user named. Throws InputError; never shows what is in it. */
export async function readKeyFile(file: string, source: string): Promise<string> {
  let handle: FileHandle | undefined;
  let text: string;
  try {
    const { open } = await import('node:fs/promises');
    handle = await open(file, 'r');
    text = await readStart(handle);
  } catch (error) {
    throw new InputError(`${source}: ${file} cannot be read: ${systemReason(error)}.`, {
      hint: 'Check the path and its mode.',
    });
  } finally {
    await handle?.close();
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
async function readStart(handle: FileHandle): Promise<string> {
  const room = Buffer.alloc(longest * 2);
  let length = 0;
  while (length < room.length) {
    const { bytesRead } = await handle.read(room, length, room.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return room.toString('utf8', 0, length);
}
