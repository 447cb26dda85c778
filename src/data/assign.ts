/** Field assignments: `key=value` words, setting their values in a record, and where a new field goes. */
import { UsageError } from '../errors.js';
import { isObject, type JsonObject, parseJson } from './json.js';
import { bracketPath, isIndex } from './path.js';
import { plural } from './text.js';

/** A parsed `k=v` word; its text is not yet a value. */
interface FieldWord {
  /** The key as typed, for messages. */
  readonly key: string;
  readonly path: readonly string[];
  /** The key ended in `[]`. */
  readonly list: boolean;
  /** The text after the first `=`; undefined for a bare `tags[]`. */
  readonly text: string | undefined;
}

/** A field and its value; several with the same path form one list (`tags[]=a`, `tags[]=b`). */
export interface Field extends Omit<FieldWord, 'text'> {
  /** Undefined only for a bare `tags[]`: the empty list. */
  readonly value: unknown;
}

/** The files that `-F` reads: `notes.txt` of `bio=@notes.txt`. */
export function filesOfFields(words: unknown): readonly string[] {
  return [words]
    .flat()
    .flatMap((word) => /^[^=]*=@(.+)$/s.exec(typeof word === 'string' ? word : '')?.[1] ?? []);
}

/** Parses `a.b=1`, `a[b]=1`, `tags[]=x` or `tags[]`. Throws UsageError. */
export function readFieldWord(word: string): FieldWord {
  const equals = word.indexOf('=');
  const key = equals < 0 ? word : word.slice(0, equals);
  const text = equals < 0 ? undefined : word.slice(equals + 1);
  const list = key.endsWith('[]');
  if (text === undefined && !list)
    throw new UsageError(
      `"${word}" has no value. Write a field as key=value, e.g. -F role=Support.`,
    );
  return { key, path: parsePath(list ? key.slice(0, -2) : key, key), list, text };
}

function parsePath(text: string, key: string): string[] {
  return text.split('.').flatMap((segment) => {
    const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]+\])*)$/.exec(segment) ?? [];
    if (first === undefined)
      throw new UsageError(
        `"${key}" is not a field name. Write a.b for a nested field, a[] for a list.`,
      );
    return [first, ...[...rest.matchAll(/\[([^[\]]+)\]/g)].map(([, inner = '']) => inner)];
  });
}

/**
 * Returns the typed value of a `-F` text: true, false, null, a JSON object or list, and a number
 * only if it round-trips; `07`, `1.50`, `1e3` and 19-digit ids stay text.
 */
export function typedValue(text: string): unknown {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  if (isPlainNumber(text)) return Number(text);
  if (!/^[[{]/.test(text)) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function isPlainNumber(text: string): boolean {
  if (!/^-?\d+(\.\d+)?$/.test(text) || String(Number(text)) !== text) return false;
  return text.includes('.') || Number.isSafeInteger(Number(text));
}

/** Throws UsageError if a key is given twice, or both as a value and with nested fields. */
export function refuseDoubleFields(fields: readonly Field[]): void {
  for (const [index, field] of fields.entries())
    for (const other of fields.slice(0, index)) {
      if (!startsWith(field.path, other.path) && !startsWith(other.path, field.path)) continue;
      const sameList = field.list && other.list && field.path.length === other.path.length;
      if (sameList && field.value !== undefined && other.value !== undefined) continue;
      throw new UsageError(
        field.key === other.key
          ? `You set the field ${field.key} twice. Keep one of them.`
          : `The fields ${other.key} and ${field.key} contradict each other.`,
      );
    }
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((segment, index) => path[index] === segment);
}

/**
 * Returns a copy of the base with the fields set. An index changes an element of an existing list,
 * and a key such as `__proto__` is an ordinary key. Throws UsageError for a field inside a value
 * that is neither an object nor a list, and for an index beyond the end of a list.
 */
export function setFields(base: JsonObject, fields: readonly Field[]): JsonObject {
  const draft = new Draft(base);
  const lists = new Map<string, unknown[]>();
  for (const { path, list, value } of fields) {
    if (!list) {
      draft.set(path, value);
      continue;
    }
    const listKey = JSON.stringify(path);
    const items = lists.get(listKey) ?? [];
    if (value !== undefined) items.push(value);
    if (lists.has(listKey)) continue;
    lists.set(listKey, items);
    draft.set(path, items);
  }
  return draft.root;
}

type Container = { [key: string]: unknown } | unknown[];

/** A value being changed. Copies each object and list on a path once, on first access. */
class Draft {
  readonly root: { [key: string]: unknown };
  private readonly copies = new Set<unknown>();

  constructor(base: JsonObject) {
    this.root = { ...base };
  }

  set(path: readonly string[], value: unknown): void {
    let container: Container = this.root;
    for (const index of path.slice(0, -1).keys()) container = this.enter(container, path, index);
    const last = path.length - 1;
    if (last >= 0) setKey(container, checkedKey(container, path, last), value);
  }

  private enter(container: Container, path: readonly string[], index: number): Container {
    const key = checkedKey(container, path, index);
    const present = Object.hasOwn(container, key)
      ? (container as { readonly [key: string]: unknown })[key]
      : undefined;
    if (this.copies.has(present)) return present as Container;
    const copy = copyOf(present, path, index);
    setKey(container, key, copy);
    this.copies.add(copy);
    return copy;
  }
}

function copyOf(present: unknown, path: readonly string[], index: number): Container {
  if (Array.isArray(present)) return [...(present as unknown[])];
  if (isObject(present)) return { ...present };
  const name = path.slice(0, index + 1).join('.');
  const isMissing = present === undefined || present === null;
  if (isMissing && !isIndex(path[index + 1] ?? '')) return {};
  throw new UsageError(
    `There is no ${path.join('.')}: ${name} is ${isMissing ? 'empty' : 'neither an object nor a list'}.`,
    { hint: `Set ${name} as a whole.` },
  );
}

function checkedKey(container: Container, path: readonly string[], index: number): string {
  const key = path[index] ?? '';
  if (!Array.isArray(container) || (isIndex(key) && Number(key) < container.length)) return key;
  const name = path.slice(0, index).join('.');
  const size = container.length === 0 ? 'is empty' : `has ${plural(container.length, 'element')}`;
  throw new UsageError(
    isIndex(key)
      ? `There is no ${name}.${key}: ${name} ${size}.`
      : `There is no ${name}.${key}: ${name} is a list. Name an element, such as ${name}.0.`,
    { hint: `Set ${name} as a whole.` },
  );
}

/** Sets a key of its own; a plain assignment to `__proto__` would set the prototype. */
export function setKey(container: Container, key: string, value: unknown): void {
  Object.defineProperty(container, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/**
 * Returns the path for a field that the record lacks: inside the existing object with the longest
 * keys. The rest of the name becomes nested fields if all of it are plain words, otherwise one key,
 * because a question may contain dots.
 */
export function newPath(record: JsonObject, name: string): readonly string[] {
  const brackets = bracketPath(name);
  if (brackets && isContainer(record[brackets[0] ?? ''])) return brackets;
  const path: string[] = [];
  let container: unknown = record;
  let rest = name.trim().split('.');
  for (
    let key = containerKey(container, rest);
    key !== undefined;
    key = containerKey(container, rest)
  ) {
    path.push(key);
    container = (container as JsonObject)[key];
    rest = rest.slice(key.split('.').length);
  }
  if (Array.isArray(container)) return [...path, ...rest];
  if (path.length === 0 && isPlainWord(rest[0])) path.push(...rest.splice(0, 1));
  return [...path, ...(rest.every(isPlainWord) ? rest : [rest.join('.')])];
}

function containerKey(container: unknown, words: readonly string[]): string | undefined {
  for (let length = words.length - 1; length > 0; length--) {
    const key = words.slice(0, length).join('.');
    if (Object.hasOwn(container as object, key) && isContainer((container as JsonObject)[key]))
      return key;
  }
  return undefined;
}

function isContainer(value: unknown): boolean {
  return Array.isArray(value) || isObject(value);
}

function isPlainWord(word: string | undefined): boolean {
  return /^[\p{L}\p{N}_-]+$/u.test(word ?? '');
}
