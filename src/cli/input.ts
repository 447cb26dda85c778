/** Input files of the user: text, ids and JSON or YAML bodies, from a path or stdin. */
import { isUtf8 } from 'node:buffer';
import { typedValue } from '../data/assign.js';
import { isObject, type JsonObject, parseJson, repeatedKey } from '../data/json.js';
import { InputError } from '../errors.js';
import { bytesUpTo, inputBytes, unreadable } from '../files/input-file.js';
import { notUnicode } from '../files/text-decoder.js';
import type { Streams } from '../terminal/streams.js';

/** The maximum size in bytes of a file that holds a field or a body. */
const limit = 8 * 1024 * 1024;

/** The needs of reading an input file; a command's context provides them. */
export interface InputWorld {
  readonly streams: Pick<Streams, 'stdin'>;
  readonly signal: AbortSignal;
}

/**
 * Reads the text of a file; `-` is stdin. Throws InputError if it is unreadable, not UTF-8, too large
 * or contains a NUL, and CancelledError after a signal.
 */
export async function readInputText(
  path: string,
  { streams: { stdin }, signal }: InputWorld,
): Promise<string> {
  const bytes = path === '-' ? await stdin.readAll(limit) : await readFile(path, signal);
  return decoded(bytes, path === '-' ? 'stdin' : path);
}

/** The maximum size in bytes of a list of ids. */
const listLimit = 64 * 1024 * 1024;

/** Decodes a streamed text, such as the ids of a bulk change. Throws InputError if it is too large, not UTF-8, or contains a NUL. */
export async function byteText(chunks: AsyncIterable<Uint8Array>, name: string): Promise<string> {
  return decoded(await bytesUpTo(chunks, listLimit, inputTooLarge(name, listLimit)), name);
}

function readFile(path: string, signal: AbortSignal): Promise<Buffer> {
  const bytes = bytesUpTo(inputBytes(path, { signal }), limit, inputTooLarge(path, limit));
  return bytes.catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

function inputTooLarge(name: string, most: number): () => InputError {
  return () => new InputError(`${name} is larger than ${most} bytes.`);
}

function decoded(bytes: Uint8Array, name: string): string {
  // A NUL is valid UTF-8, but hardly any database stores it: the file is UTF-16, or not text at all.
  if (bytes.includes(0))
    throw new InputError(`${name} holds a NUL character; this is not UTF-8 text.`, {
      hint: 'Save it as UTF-8.',
    });
  if (!isUtf8(bytes)) throw notUnicode(name, bytes);
  return new TextDecoder().decode(bytes);
}

/** Reads one JSON or YAML object from a file; `-` is stdin. Throws InputError. */
export async function readBody(path: string, world: InputWorld): Promise<JsonObject> {
  const value = await readValue(path, world);
  if (isObject(value)) return value;
  throw new InputError(
    `${path === '-' ? 'stdin' : path} does not contain an object. Write one record: {"field": value} in JSON.`,
  );
}

/** Reads any JSON or YAML value from a file; `-` is stdin. Throws InputError. */
export async function readValue(path: string, world: InputWorld): Promise<unknown> {
  const name = path === '-' ? 'stdin' : path;
  const text = await readInputText(path, world);
  if (text.trim() === '')
    throw new InputError(`${name} is empty.`, { hint: 'Write JSON or YAML: {"field": value}' });
  return parseText(text, name);
}

async function parseText(text: string, name: string): Promise<unknown> {
  try {
    const value = parseJson(text);
    const key = repeatedKey(text);
    if (key === undefined) return value;
    throw new InputError(`${name} sets the field ${key} twice. Keep one of them.`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (/\.json$/i.test(name) || /^\s*[[{]/.test(text))
      throw new InputError(`${name} is not valid JSON: ${(error as Error).message}.`, {
        cause: error,
      });
    return parseYaml(text, name);
  }
}

/** Parses YAML with the typing of `-F`: an unquoted 07 or a 19-digit id stays text. */
async function parseYaml(text: string, name: string): Promise<unknown> {
  const { isCollection, parseDocument, visit } = await import('yaml');
  // The value of a tag such as `!!set` or `!!binary` has no form in JSON.
  const document = parseDocument(text, { prettyErrors: false, resolveKnownTags: false });
  const [problem] = document.errors;
  if (problem?.code === 'MULTIPLE_DOCS')
    throw new InputError(`${name} holds several YAML documents. Keep one of them.`);
  if (problem) throw new InputError(`${name} is neither JSON nor YAML: ${problem.message}.`);
  // Any line of text is a YAML scalar, also the error page of another program.
  if (!isCollection(document.contents)) throw new InputError(`${name} is neither JSON nor YAML.`);
  visit(document, {
    Scalar(_, node) {
      if (node.type === 'PLAIN' && typeof node.value === 'number')
        node.value = typedValue(node.source ?? String(node.value));
    },
  });
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new InputError(`${name} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
}
