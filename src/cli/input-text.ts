import { Failure, InputError } from '../errors.js';
import { inputBytes, unreadable } from '../files/input-file.js';
import type { Streams } from '../terminal/streams.js';

/** The most bytes that a field or a body typed in a file may have. */
const limit = 8 * 1024 * 1024;

/** What reading a file that the user named needs of the world; a command's context has it. */
export interface InputWorld {
  readonly streams: Pick<Streams, 'stdin'>;
  readonly signal: AbortSignal;
}

/**
 * The text of a file that the user named, `-` = stdin. Throws InputError: unreadable, no UTF-8, a NUL
 * in it, too large; CancelledError after a signal.
 */
export async function readInputText(
  path: string,
  { streams: { stdin }, signal }: InputWorld,
): Promise<string> {
  const bytes = path === '-' ? await stdin.readAll(limit) : await readFile(path, signal);
  const name = path === '-' ? 'stdin' : path;
  // Valid UTF-8, and kept by hardly any database: what holds one is UTF-16, or no text at all.
  if (bytes.includes(0))
    throw new InputError(`${name} holds a NUL character; this is no text in UTF-8.`, {
      hint: 'Save it as UTF-8.',
    });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`${name} is no UTF-8 text.`, { hint: 'Save it as UTF-8.' });
  }
}

/** The most bytes that a list of ids may have. */
const listLimit = 64 * 1024 * 1024;

/** A longer text as it comes: the ids of a bulk change. Throws InputError as `readInputText` does. */
export async function byteText(chunks: AsyncIterable<Uint8Array>, name: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > listLimit) throw new InputError(`${name} is larger than ${listLimit} bytes.`);
    parts.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw new InputError(`${name} is no UTF-8 text.`, { hint: 'Save it as UTF-8.' });
  }
}

async function readFile(path: string, signal: AbortSignal): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of inputBytes(path, { signal })) {
      size += chunk.length;
      if (size > limit) throw new InputError(`${path} is larger than ${limit} bytes.`);
      parts.push(chunk);
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(path, error);
  }
  return Buffer.concat(parts);
}
