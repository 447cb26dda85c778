import { isObject, type JsonObject, printJson, printPlain, RawNumber } from './json.js';

/**
 * The value at a dotted path (`gamerTags.0.gamerTag`), or undefined where there is none. Where keys
 * hold dots themselves the longest key wins, and `a[b]` says which is meant; a name over a list gives
 * the list of its elements' values.
 */
export function valueAt(record: JsonObject, path: string): unknown {
  const own = record[path];
  // Nothing that JSON holds is a function, and all that objects inherit is, but for `__proto__`.
  if (own !== undefined && typeof own !== 'function' && path !== '__proto__') return own;
  if (Object.hasOwn(record, path)) return own;
  const found = path.includes('.') ? lookUp(record, path.split('.')) : undefined;
  if (found !== undefined || !path.endsWith(']')) return found;
  return bracketPath(path)?.reduce<unknown>(childOf, record);
}

/**
 * The keys of `a[b][c.d]`, in which dots are part of a key, or of `["a","b"]`; undefined for any other
 * spelling.
 */
export function bracketPath(name: string): readonly string[] | undefined {
  if (name.startsWith('["')) return keyList(name);
  const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]+\])+)$/.exec(name) ?? [];
  if (first === undefined) return undefined;
  return [first, ...[...rest.matchAll(/\[([^[\]]+)\]/g)].map(([, key = '']) => key)];
}

function keyList(json: string): readonly string[] | undefined {
  try {
    const keys: unknown = JSON.parse(json);
    const isPath = Array.isArray(keys) && keys.every((key) => typeof key === 'string');
    return isPath ? keys : undefined;
  } catch {
    return undefined;
  }
}

function bracketName(path: readonly string[]): string {
  if (path.some((key) => /[[\]]|^$/.test(key))) return JSON.stringify(path);
  const [first = '', ...rest] = path;
  return first + rest.map((key) => `[${key}]`).join('');
}

/** The value under one key of an object or at one index of a list; undefined where there is none. */
function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return isIndex(key) ? (value[Number(key)] as unknown) : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Whether a key is the place of an element in a list: `0`, `12`. */
export function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(key);
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
 * with `;` (as JSON where that would not come back), lists that hold objects as `gamerTags.0.game`.
 * Values stay as they are but for the lists. Of several fields that would share one name the one with
 * the longest key has it, and the others stand beside it as `a[b]`.
 */
export function flatten(record: JsonObject, names = new InnerNames()): Map<string, unknown> {
  const columns = new Map<string, unknown>();
  let leaves = 0;
  const put = (name: string, value: unknown) => {
    leaves += 1;
    columns.set(name, value);
  };
  for (const key of Object.keys(record)) eachLeaf(key, record[key], names, put);
  return leaves > columns.size ? flattenApart(record) : columns;
}

/** The same where dotted keys and nested fields share a name: each has a column of its own. */
function flattenApart(record: JsonObject): Map<string, unknown> {
  const fields = new Map<readonly string[], unknown>();
  const nesting = { of: (path: readonly string[], key: string | number) => [...path, String(key)] };
  for (const key of Object.keys(record))
    eachLeaf<readonly string[]>([key], record[key], nesting, (path, value) =>
      fields.set(path, value),
    );
  const firsts = new Map<string, readonly string[]>();
  for (const path of fields.keys()) {
    const name = path.join('.');
    const other = firsts.get(name);
    if (!other || hasLongerKeys(path, other)) firsts.set(name, path);
  }
  const columns = new Map<string, unknown>();
  for (const [path, value] of fields) {
    const dotted = path.join('.');
    const isFirst = firsts.get(dotted) === path;
    const name = isFirst ? dotted : bracketName(path);
    if (isFirst || !firsts.has(name)) columns.set(name, value);
  }
  return columns;
}

/** Whether the first key in which two spellings of one name differ is the longer one. */
function hasLongerKeys(path: readonly string[], other: readonly string[]): boolean {
  const at = path.findIndex((key, index) => key !== other[index]);
  return (path[at]?.length ?? 0) > (other[at]?.length ?? 0);
}

/** A field of a record where a column of `flatten` names one. */
export interface Located {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * The field that a column of `flatten` shows, else the object or list of that name; undefined where
 * the record has neither. `isKey` compares a key with its spelling in the name, default exactly.
 */
export function locate(
  record: JsonObject,
  name: string,
  isKey?: (key: string, spelling: string) => boolean,
): Located | undefined {
  const find = (isColumn: boolean) => locateIn(record, name.split('.'), [], { isKey, isColumn });
  return (
    find(true) ??
    (name.endsWith(']') ? locateExactly(record, bracketPath(name) ?? [], isKey) : undefined) ??
    find(false)
  );
}

function locateExactly(
  record: JsonObject,
  spellings: readonly string[],
  isKey: Search['isKey'],
): Located | undefined {
  const path: string[] = [];
  let value: unknown = record;
  for (const spelling of spellings) {
    const key = isObject(value) || Array.isArray(value) ? keyIn(value, spelling, isKey) : undefined;
    if (key === undefined) return undefined;
    path.push(key);
    value = childOf(value, key);
  }
  return path.length > 0 ? { path, value } : undefined;
}

interface Search {
  readonly isKey: ((key: string, spelling: string) => boolean) | undefined;
  /** Only what `flatten` gives a column; else also what is around it, and the elements within. */
  readonly isColumn: boolean;
}

function locateIn(
  value: unknown,
  words: readonly string[],
  path: readonly string[],
  search: Search,
): Located | undefined {
  const isLeaf = search.isColumn && !isNested(value);
  if (words.length === 0) return isLeaf || !search.isColumn ? { path, value } : undefined;
  const count = isLeaf ? 0 : Array.isArray(value) ? 1 : isObject(value) ? words.length : 0;
  for (let length = count; length > 0; length--) {
    const key = keyIn(value as object, words.slice(0, length).join('.'), search.isKey);
    if (key === undefined) continue;
    const found = locateIn(childOf(value, key), words.slice(length), [...path, key], search);
    if (found) return found;
  }
  return undefined;
}

function keyIn(value: object, spelling: string, isKey: Search['isKey']): string | undefined {
  if (Array.isArray(value))
    return isIndex(spelling) && Number(spelling) < value.length ? spelling : undefined;
  if (Object.hasOwn(value, spelling)) return spelling;
  return isKey && Object.keys(value).find((key) => isKey(key, spelling));
}

/** Whether a value has columns of its own below its name: an object, or a list that holds lists or objects. */
export function isNested(value: unknown): value is object {
  if (!Array.isArray(value)) return isObject(value);
  return value.some((item) => isObject(item) || Array.isArray(item));
}

/**
 * A list of plain values as one cell: joined with `;`, or as JSON where an element holds a `;` or the
 * whole would be taken for JSON.
 */
export function listText(list: readonly unknown[]): string {
  const texts = list.map(plainText);
  const joined = texts.join(';');
  const isAmbiguous =
    joined.trimStart().startsWith('[') || texts.some((text) => text.includes(';'));
  return isAmbiguous ? printJson(list) : joined;
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

function lookUp(value: unknown, words: readonly string[]): unknown {
  if (words.length === 0) return value;
  if (Array.isArray(value)) return lookUpInList(value, words);
  if (!isObject(value)) return undefined;
  // The longest key that leads somewhere, as `flatten` names its columns.
  for (let count = words.length; count > 0; count--) {
    const key = words.slice(0, count).join('.');
    if (!Object.hasOwn(value, key)) continue;
    const found = lookUp(value[key], words.slice(count));
    if (found !== undefined) return found;
  }
  return undefined;
}

function lookUpInList(list: readonly unknown[], words: readonly string[]): unknown {
  const [first = ''] = words;
  if (isIndex(first)) return lookUp(list[Number(first)], words.slice(1));
  const found = list.map((item) => lookUp(item, words)).filter((item) => item !== undefined);
  return found.length > 0 ? found.flat() : undefined;
}

/** Hands on each plain value and list of plain values with its name; `names` makes those of inner fields. */
function eachLeaf<N>(
  name: N,
  value: unknown,
  names: { of(name: N, key: string | number): N },
  take: (name: N, value: unknown) => void,
): void {
  if (isObject(value))
    for (const key of Object.keys(value)) eachLeaf(names.of(name, key), value[key], names, take);
  else if (!Array.isArray(value)) take(name, value);
  else if (isNested(value))
    for (const [index, item] of value.entries()) eachLeaf(names.of(name, index), item, names, take);
  else take(name, listText(value));
}

/** Its name, else its id. */
export function labelOf(record: JsonObject | undefined, id: string): string {
  const name = record?.['name'];
  return typeof name === 'string' && name !== '' ? name : id;
}
