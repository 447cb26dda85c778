import { typedValue } from '../data/assign.js';
import { isObject, type JsonObject, parseJson } from '../data/json.js';
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

/** One JSON or YAML object out of a file, `-` = stdin. Throws InputError. */
export async function readBody(path: string, world: InputWorld): Promise<JsonObject> {
  const value = await readValue(path, world);
  if (isObject(value)) return value;
  throw new InputError(
    `${path === '-' ? 'stdin' : path} holds no object: a body is one record, {"field": value} in JSON.`,
  );
}

/** Any JSON or YAML value out of a file. Throws InputError. */
export async function readValue(path: string, world: InputWorld): Promise<unknown> {
  return parseText(await readInputText(path, world), path === '-' ? 'stdin' : path);
}

async function parseText(text: string, name: string): Promise<unknown> {
  try {
    return parseJson(text);
  } catch (error) {
    if (/\.json$/i.test(name) || /^\s*[[{]/.test(text))
      throw new InputError(`${name} is no valid JSON: ${(error as Error).message}`, {
        cause: error,
      });
    return parseYaml(text, name);
  }
}

/** YAML with the typing of `-F`: an unquoted 07 or a 19-digit id stays text. */
async function parseYaml(text: string, name: string): Promise<unknown> {
  const { parseDocument, visit } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: false });
  const [problem] = document.errors;
  if (problem) throw new InputError(`${name} is neither JSON nor YAML: ${problem.message}`);
  visit(document, {
    Scalar(_, node) {
      if (node.type === 'PLAIN' && typeof node.value === 'number')
        node.value = typedValue(node.source ?? String(node.value));
    },
  });
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new InputError(`${name} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
