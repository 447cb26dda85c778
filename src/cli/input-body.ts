import { typedValue } from '../data/assign.js';
import { isObject, type JsonObject, parseJson } from '../data/json.js';
import { InputError } from '../errors.js';
import { type InputWorld, readInputText } from './input-text.js';

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
