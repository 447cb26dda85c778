/** Paths into records: dotted field names, records as flat columns, and the words that name a record. */
import { isObject, type JsonObject, printJson, RawNumber, wholeNumberOf } from './json.js';

/** Normalizes a property name: `tryoutApplications` and `tryout_applications` become the same. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Splits a key into its words: `nextPageToken`, `next_page_token` and `next-page-token`. */
export function keyWords(key: string): readonly string[] {
  return key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

/** Returns a test for keys with one of these normalized names; it remembers its answers, as records share keys. */
export function namedTest(names: readonly string[]): (key: string) => boolean {
  const known = new Map<string, boolean>();
  return (key) => {
    const found = known.get(key) ?? names.includes(normalName(key));
    if (known.size < 1_000) known.set(key, found);
    return found;
  };
}

/**
 * Returns the value at a dotted path (`gamerTags.0.gamerTag`), or undefined if there is none. If
 * keys contain dots, the longest key wins, and `a[b]` is unambiguous. A name applied to a list
 * returns the values of its elements.
 */
export function valueAt(record: JsonObject, path: string): unknown {
  const own = record[path];
  // JSON contains no functions, and everything that objects inherit is one, except `__proto__`.
  if (own !== undefined && typeof own !== 'function' && path !== '__proto__') return own;
  if (Object.hasOwn(record, path)) return own;
  const found = path.includes('.') ? lookUp(record, path.split('.')) : undefined;
  if (found !== undefined || !path.endsWith(']')) return found;
  return bracketPath(path)?.reduce<unknown>(childOf, record);
}

/** Returns the keys of `a[b][c.d]` or `["a","b"]`; undefined for any other notation. */
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

/** Returns the value at a key of an object or an index of a list; undefined if there is none. */
export function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return isIndex(key) ? (value[Number(key)] as unknown) : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** True if a key is an index of a list: `0`, `12`. */
export function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(key);
}

/** True if the record has a value at the path, including null. */
export function hasPath(record: JsonObject, path: string): boolean {
  return valueAt(record, path) !== undefined;
}

/**
 * Returns the values at a path, a list as its elements; undefined if the record has no such field.
 */
export function valuesAt(record: JsonObject, path: string): readonly unknown[] | undefined {
  const value = valueAt(record, path);
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.flat() : [value];
}

/**
 * Returns a record as flat columns: nested objects as dotted names, lists of plain values as one
 * cell joined with `;` (as JSON if that would not round-trip), lists of objects as
 * `gamerTags.0.game`. Other values stay unchanged. Of several fields with the same name, the one
 * with the longest key gets it, and the others are named `a[b]`.
 */
export function flatten(record: JsonObject): Map<string, unknown> {
  const columns = new Map<string, unknown>();
  let leaves = 0;
  const addColumn = (name: string, value: unknown) => {
    leaves += 1;
    columns.set(name, value);
  };
  for (const key of Object.keys(record)) eachLeaf(key, record[key], dottedName, addColumn);
  return leaves > columns.size ? flattenAmbiguous(record) : columns;
}

const dottedName = (name: string, key: string | number) => `${name}.${key}`;
const innerPath = (path: readonly string[], key: string | number) => [...path, String(key)];

/**
 * Flattens a record in which dotted keys and nested fields share a name: each gets its own column.
 */
function flattenAmbiguous(record: JsonObject): Map<string, unknown> {
  const fields = new Map<readonly string[], unknown>();
  for (const key of Object.keys(record))
    eachLeaf<readonly string[]>([key], record[key], innerPath, (path, value) =>
      fields.set(path, value),
    );
  const winners = new Map<string, readonly string[]>();
  for (const path of fields.keys()) {
    const name = path.join('.');
    const other = winners.get(name);
    if (!other || hasLongerKeys(path, other)) winners.set(name, path);
  }
  const columns = new Map<string, unknown>();
  for (const [path, value] of fields) {
    const dotted = path.join('.');
    const isWinner = winners.get(dotted) === path;
    const name = isWinner ? dotted : bracketName(path);
    if (isWinner || !winners.has(name)) columns.set(name, value);
  }
  return columns;
}

/** True if, at the first key in which two paths of one name differ, that of `path` is longer. */
function hasLongerKeys(path: readonly string[], other: readonly string[]): boolean {
  const at = path.findIndex((key, index) => key !== other[index]);
  return (path[at]?.length ?? 0) > (other[at]?.length ?? 0);
}

/** A field of a record, found by the name of a column. */
export interface Located {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * Returns the field that a column of `flatten` shows, else the object or list of that name;
 * undefined if there is neither. `isKey` compares a key with its spelling in the name; default:
 * equality.
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
  /** Find only columns of `flatten`; otherwise also their containers and elements. */
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

/**
 * True for a value that `flatten` splits into columns: an object, or a list of lists or objects.
 */
export function isNested(value: unknown): boolean {
  if (!Array.isArray(value)) return isObject(value);
  return value.some((item) => isObject(item) || Array.isArray(item));
}

/**
 * Returns a list of plain values as one cell: joined with `;`, or as JSON if an element contains a
 * `;` or the result would look like JSON.
 */
export function listText(list: readonly unknown[]): string {
  const texts = list.map(plainText);
  const joined = texts.join(';');
  const isAmbiguous =
    joined.trimStart().startsWith('[') || texts.some((text) => text.includes(';'));
  return isAmbiguous ? printJson(list) : joined;
}

/** Returns a plain value as text; null and undefined are empty, anything else is compact JSON. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof RawNumber) return value.text;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return printJson(value);
}

function lookUp(value: unknown, words: readonly string[]): unknown {
  if (words.length === 0) return value;
  if (Array.isArray(value)) return lookUpInList(value, words);
  if (!isObject(value)) return undefined;
  // Prefer the longest key that leads to a value, as `flatten` does.
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

/** Calls `visit` with each plain value and list of plain values; `innerName` names a field inside `name`. */
function eachLeaf<N>(
  name: N,
  value: unknown,
  innerName: (name: N, key: string | number) => N,
  visit: (name: N, value: unknown) => void,
): void {
  if (isObject(value))
    for (const key of Object.keys(value))
      eachLeaf(innerName(name, key), value[key], innerName, visit);
  else if (!Array.isArray(value)) visit(name, value);
  else if (isNested(value))
    for (const [index, item] of value.entries())
      eachLeaf(innerName(name, index), item, innerName, visit);
  else visit(name, listText(value));
}

/** Returns the `sizeBytes` of a document (contract 2.5), a number or a text; undefined for anything else. */
export function recordedSize(record: JsonObject | undefined): number | undefined {
  return wholeNumberOf(record?.['sizeBytes']);
}

/** Returns the name of an object: `valorant: Foxy#EU1` for a gamer tag, else its name, title, label or id. */
export function nameOfObject(value: JsonObject): string | undefined {
  if (typeof value['gamerTag'] === 'string')
    return typeof value['game'] === 'string'
      ? `${value['game']}: ${value['gamerTag']}`
      : value['gamerTag'];
  for (const key of ['name', 'title', 'displayName', 'label', 'id']) {
    const name = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof name === 'string' && name !== '') return name;
  }
  return undefined;
}

/** Returns the name of a record, else its id. */
export function labelOf(record: JsonObject | undefined, id: string): string {
  const name = record?.['name'];
  return typeof name === 'string' && name !== '' ? name : id;
}

/** `"Nimbus Kolmarden" (app_0064)`, as a question names a record, or the id alone. */
export function quotedName(record: JsonObject | undefined, id: string): string {
  const label = labelOf(record, id);
  return label === id ? id : `"${label}" (${id})`;
}

/** `Nimbus Kolmarden (app_0064)`, or the id alone. */
export function nameWithId(name: unknown, id: string): string {
  return typeof name === 'string' && name !== '' && name !== id ? `${name} (${id})` : id;
}
