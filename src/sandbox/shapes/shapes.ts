/**
 * The shapes of a running sandbox: how its answers look on the wire, from `KEY=VALUE` texts. What
 * is stored stays as it is. A server with shapes, in this process and without a file:
 *
 *     const server = await startSandbox({
 *       stateDir: undefined, self, now, shapes: ['list=data', 'paging=cursor', 'page-size=2'],
 *     });
 *     // server.baseUrl, server.organizationId, server.apiKey; server.tables(); server.close()
 */
import { isObject, type JsonObject } from '../../data/json.js';
import { didYouMean } from '../../data/nearest.js';
import { resourceNames, resourceWords } from '../../data/resources.js';
import { UsageError } from '../../errors.js';
import { type ShapeKey, shapeKeys } from './table.js';
import { isTemplate, parseTemplate, placeholdersIn, type Template } from './template.js';

/** The values in force; `of` is a resource or a status. */
export interface Shapes {
  /** A value that was given, for `of` or for all. */
  given(key: string, of: string): string | undefined;
  /** The value that was given, else the first name of the key. */
  value(key: string, of: string): string;
  /** The template of a value, also of one with a name. */
  template(key: string, of: string): Template;
  /** The headers of an answer: those given, else those of its name. */
  headers(key: string, of: string): JsonObject;
}

/** Reads `KEY=VALUE` texts; a later one replaces an earlier. Throws UsageError with the nearest word. */
export function parseShapes(texts: readonly string[]): Shapes {
  const values = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1)
      throw new UsageError(`Not a shape: "${text}". Write KEY=VALUE.`, { hint: knownKeys });
    const [key, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    check(key, keyOf(key), value);
    values.set(key, value);
  }
  const templates = new Map<string, Template>();
  const given = (key: string, of: string) => values.get(`${key}.${of}`) ?? values.get(key);
  const value = (key: string, of: string) =>
    given(key, of) ?? Object.keys(shapeKeys[key]?.names ?? {})[0] ?? '';
  const named = (key: string, of: string) => shapeKeys[key]?.names?.[value(key, of)];
  return {
    given,
    value,
    template(key, of) {
      const text = named(key, of)?.template ?? value(key, of);
      const known = templates.get(text) ?? parseTemplate(text);
      templates.set(text, known);
      return known;
    },
    headers(key, of) {
      const text = given(`${key}.headers`, of) ?? named(key, of)?.headers;
      return text === undefined ? {} : (parseTemplate(text).json as JsonObject);
    },
  };
}

/** The sandbox as it is without shapes. */
export const noShapes: Shapes = parseShapes([]);

const knownKeys = `Keys: ${Object.keys(shapeKeys).join(', ')}. docs/sandbox.md explains them.`;

/** The row of `key` or `key.RESOURCE`. Throws UsageError. */
function keyOf(text: string): ShapeKey {
  const own = Object.hasOwn(shapeKeys, text) ? shapeKeys[text] : undefined;
  const at = text.lastIndexOf('.');
  const [key, of] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  const row = own ?? (Object.hasOwn(shapeKeys, key) ? shapeKeys[key] : undefined);
  if (row && (own || endingsOf(row, of).includes(of))) return row;
  const near = didYouMean(text, [
    ...Object.keys(shapeKeys),
    ...Object.entries(shapeKeys).flatMap(([name, each]) =>
      endingsOf(each, of).map((ending) => `${name}.${ending}`),
    ),
  ]);
  throw new UsageError(`Unknown shape "${text}".${near}`, { hint: knownKeys });
}

function endingsOf({ of }: ShapeKey, given: string): readonly string[] {
  if (of === 'status') return /^[45]\d\d$/.test(given) ? [given] : [];
  return of === 'resource'
    ? resourceNames
    : resourceNames.filter((name) => Object.keys(resourceWords[name].overrides).length > 0);
}

const forms = {
  number: [/^[1-9]\d{0,5}$/, 'a number of records'],
  words: [/^[^\s,&=]+(,[^\s,&=]+)*$/, 'one or more names with commas'],
  path: [/^\/[^\s#]*\{id\}[^\s#]*$/, 'a path with {id}'],
  ids: [/^[\w$@-]+(,[\w$@-]+)*$/, 'text, number or the name of a field'],
} as const;

/** Throws UsageError for a value that the key does not take. */
function check(key: string, row: ShapeKey, value: string): void {
  const names = Object.keys(row.names ?? {});
  if (names.includes(value)) return;
  if (row.value === 'choice') throw unknown(key, value, names, '');
  if (row.value === 'answer') {
    if (isTemplate(value)) checkPlaceholders(key, row, value);
    else throw unknown(key, value, names, `a template: '${exampleOf(row)}'`);
  } else if (row.value === 'headers' || row.value === 'record') {
    if (!isObject(parseTemplate(value).json))
      throw new UsageError(`${key} must be a JSON object, not "${value}".`);
    checkPlaceholders(key, row, value);
  } else {
    const [form, text] = forms[row.value];
    if (!form.test(value)) throw new UsageError(`${key} must be ${text}, not "${value}".`);
  }
}

function unknown(key: string, value: string, names: readonly string[], also: string): UsageError {
  const known = [...names, ...(also === '' ? [] : [also])];
  return new UsageError(`Unknown value "${value}" for ${key}.${didYouMean(value, names)}`, {
    hint: `Use one of: ${known.join(', ')}`,
  });
}

function exampleOf(row: ShapeKey): string {
  return Object.values(row.names ?? {})[0]?.template ?? '{"data":"$rows"}';
}

function checkPlaceholders(key: string, { placeholders = [] }: ShapeKey, text: string): void {
  for (const name of placeholdersIn(text)) {
    if (placeholders.includes(name)) continue;
    const known = placeholders.map((each) => `$${each}`);
    throw new UsageError(`${key} has no $${name}.${didYouMean(`$${name}`, known)}`, {
      hint: `It has: ${known.join(', ')}. A dollar sign is written $$`,
    });
  }
}
