import { UsageError } from '../errors.js';
import { isObject, type JsonObject } from './json.js';

/** A `k=v` word taken apart; its text is not yet a value. */
export interface FieldWord {
  /** The key as typed, for messages. */
  readonly key: string;
  readonly path: readonly string[];
  /** The key ended in `[]`. */
  readonly list: boolean;
  /** What stands after the first `=`; undefined for `tags[]` alone. */
  readonly text: string | undefined;
}

/** A field with its value; several with the same path are one list (`tags[]=a`, `tags[]=b`). */
export interface Field {
  readonly key: string;
  readonly path: readonly string[];
  readonly list: boolean;
  /** Undefined only for `tags[]` alone: the empty list. */
  readonly value: unknown;
}

/** Takes `a.b=1`, `a[b]=1`, `tags[]=x` or `tags[]` apart. Throws UsageError. */
export function readFieldWord(word: string): FieldWord {
  const equals = word.indexOf('=');
  const key = equals < 0 ? word : word.slice(0, equals);
  const text = equals < 0 ? undefined : word.slice(equals + 1);
  const list = key.endsWith('[]');
  if (text === undefined && !list)
    throw new UsageError(`"${word}" is no field: it needs the form key=value.`);
  return { key, path: pathOf(list ? key.slice(0, -2) : key, key), list, text };
}

function pathOf(text: string, key: string): string[] {
  return text.split('.').flatMap((segment) => {
    const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]+\])*)$/.exec(segment) ?? [];
    if (first === undefined)
      throw new UsageError(
        `"${key}" is no field name: write a.b for a nested field, a[] for a list.`,
      );
    return [first, ...[...rest.matchAll(/\[([^[\]]+)\]/g)].map(([, inner = '']) => inner)];
  });
}

/**
 * A value as `-F` types it: true, false, null, a JSON object or list, and numbers only if the text
 * survives the round trip; `07`, `1.50`, `1e3` and 19-digit ids stay text. `parse` reads JSON.
 */
export function typedValue(text: string, parse: (json: string) => unknown = JSON.parse): unknown {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  if (isPlainNumber(text)) return Number(text);
  if (!/^[[{]/.test(text)) return text;
  try {
    return parse(text);
  } catch {
    return text;
  }
}

function isPlainNumber(text: string): boolean {
  if (!/^-?\d+(\.\d+)?$/.test(text) || String(Number(text)) !== text) return false;
  return text.includes('.') || Number.isSafeInteger(Number(text));
}

/** Throws UsageError when a key is given twice, or both as a value and as something nested. */
export function refuseDoubleFields(
  fields: readonly Pick<Field, 'key' | 'path' | 'list' | 'value'>[],
): void {
  for (const [index, field] of fields.entries())
    for (const other of fields.slice(0, index)) {
      if (!begins(field.path, other.path) && !begins(other.path, field.path)) continue;
      const sameList = field.list && other.list && field.path.length === other.path.length;
      if (sameList && field.value !== undefined && other.value !== undefined) continue;
      throw new UsageError(
        field.key === other.key
          ? `The field ${field.key} is given twice.`
          : `The fields ${other.key} and ${field.key} contradict each other.`,
      );
    }
}

function begins(path: readonly string[], start: readonly string[]): boolean {
  return start.every((segment, index) => path[index] === segment);
}

/** The base with the fields set in it; a key such as `__proto__` is an ordinary key. */
export function setFields(base: JsonObject, fields: readonly Field[]): JsonObject {
  const lists = new Map<string, unknown[]>();
  let body = base;
  for (const { path, list, value } of fields) {
    if (!list) {
      body = setAt(body, path, value);
      continue;
    }
    const place = JSON.stringify(path);
    const items = [...(lists.get(place) ?? []), ...(value === undefined ? [] : [value])];
    lists.set(place, items);
    body = setAt(body, path, items);
  }
  return body;
}

// A computed key in an object literal defines an own property, `__proto__` included.
function setAt(base: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return base;
  if (rest.length === 0) return { ...base, [key]: value };
  const inner = Object.hasOwn(base, key) ? base[key] : undefined;
  return { ...base, [key]: setAt(isObject(inner) ? inner : {}, rest, value) };
}
