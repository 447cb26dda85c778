import { open } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { unreadable } from '../files/unreadable.js';
import type { Streams } from '../terminal/streams.js';

/** The most bytes that a field or a body typed in a file may have. */
const limit = 8 * 1024 * 1024;

/** The text of a file that the user named, `-` = stdin. Throws InputError: unreadable, no UTF-8, too large. */
export async function readInputText(path: string, stdin: Streams['stdin']): Promise<string> {
  const bytes = path === '-' ? await stdin.readAll(limit) : await readFile(path);
  const name = path === '-' ? 'stdin' : path;
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

async function readFile(path: string): Promise<Buffer> {
  try {
    const handle = await open(path, 'r');
    try {
      if ((await handle.stat()).size > limit)
        throw new InputError(`${path} is larger than ${limit} bytes.`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof InputError ? error : unreadable(path, error);
  }
}
