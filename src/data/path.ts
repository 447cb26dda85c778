import { isObject, type JsonObject, printJson, printPlain, RawNumber } from './json.js';

/**
 * The value at a dotted path (`gamerTags.0.gamerTag`), or undefined where there is none. A key that
 * holds dots itself is found; a name over a list gives the list of its elements' values.
 */
export function valueAt(record: JsonObject, path: string): unknown {
  const own = record[path];
  // Nothing that JSON holds is a function, and all that objects inherit is, but for `__proto__`.
  if (own !== undefined && typeof own !== 'function' && path !== '__proto__') return own;
  if (Object.hasOwn(record, path)) return own;
  if (!path.includes('.')) return undefined;
  return look(record, path.split('.'));
}

/** Whether the record has something there, be it null. */
export function hasPath(record: JsonObject, path: string): boolean {
  return valueAt(record, path) !== undefined;
}

/** What stands at a path, a list as its elements; undefined where the record has no such field. */
export function valuesAt(record: JsonObject, path: string): readonly unknown[] | undefined {
  const value = valueAt(record, path);
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.flat() : [value];
}

/**
 * A record as flat columns: nested objects as dotted names, lists of plain values as one cell joined
 * with `;`, lists that hold objects as `gamerTags.0.game`. Values stay as they are but for the lists.
 */
export function flatten(record: JsonObject, names = new InnerNames()): Map<string, unknown> {
  const columns = new Map<string, unknown>();
  for (const key of Object.keys(record)) put(columns, key, record[key], names);
  return columns;
}

/** Dotted names, made once for many records: to make and to hash a new text each time is half the work. */
export class InnerNames {
  private readonly known = new Map<string, Map<string | number, string>>();

  of(name: string, key: string | number): string {
    const inner = this.known.get(name) ?? new Map<string | number, string>();
    if (inner.size === 0) this.known.set(name, inner);
    const found = inner.get(key);
    if (found !== undefined) return found;
    const made = `${name}.${key}`;
    // Keys may be anything, a different one in each record.
    if (inner.size < mostInnerNames) inner.set(key, made);
    return made;
  }
}

const mostInnerNames = 1000;

/** A plain value as text; null and absent are empty, what is not plain is compact JSON. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof RawNumber) return value.text;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return printPlain(value) ?? printJson(value);
}

function look(value: unknown, words: readonly string[]): unknown {
  if (words.length === 0) return value;
  if (Array.isArray(value)) return lookInList(value, words);
  if (!isObject(value)) return undefined;
  // The shortest key that leads somewhere; longer ones are keys that hold dots.
  for (let count = 1; count <= words.length; count++) {
    const key = words.slice(0, count).join('.');
    if (!Object.hasOwn(value, key)) continue;
    const found = look(value[key], words.slice(count));
    if (found !== undefined) return found;
  }
  return undefined;
}

function lookInList(list: readonly unknown[], words: readonly string[]): unknown {
  const [first = ''] = words;
  if (/^(?:0|[1-9]\d{0,8})$/.test(first)) return look(list[Number(first)], words.slice(1));
  const found = list.map((item) => look(item, words)).filter((item) => item !== undefined);
  return found.length > 0 ? found.flat() : undefined;
}

function put(columns: Map<string, unknown>, name: string, value: unknown, names: InnerNames): void {
  if (isObject(value)) {
    for (const key of Object.keys(value)) put(columns, names.of(name, key), value[key], names);
    return;
  }
  if (Array.isArray(value) && value.some((item) => isObject(item) || Array.isArray(item))) {
    for (const [index, item] of value.entries()) put(columns, names.of(name, index), item, names);
    return;
  }
  const cell = Array.isArray(value) ? value.map(plainText).join(';') : value;
  // A key with dots and a nested object may claim one name; the first one that says something has it.
  if (!columns.has(name) || columns.get(name) === null) columns.set(name, cell);
}
