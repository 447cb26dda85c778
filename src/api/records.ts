import { isObject, type JsonObject, RawNumber } from '../data/json.js';
import type { ResourceName } from './contract.js';
import { resource as rowOf, resources } from './resources.js';

/** `tryoutApplications`, `tryout_applications`: one word. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The property of a body whose name, normalised, is one of these; their order decides. */
function propertyNamed(
  body: JsonObject,
  names: readonly string[],
  fits: (value: unknown) => boolean,
): string | undefined {
  const keys = Object.keys(body);
  for (const name of names) {
    const key = keys.find((each) => normalName(each) === name && fits(body[each]));
    if (key !== undefined) return key;
  }
  return undefined;
}

const wrappers = ['data', 'item', 'result', 'record'];

/**
 * The one record in any answer: the body itself if it has an id, else what stands under the
 * resource's name or a usual wrapper, else the only object with an id. Undefined when there is none.
 */
export function findRecord(body: unknown, resource: ResourceName): JsonObject | undefined {
  return search(body, resource, 2);
}

function search(body: unknown, resource: ResourceName, depth: number): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  if (hasId(body)) return withTextId(body);
  if (depth === 0) return undefined;
  for (const name of [...resources[resource].envelopes, ...wrappers]) {
    const key = propertyNamed(body, [name], isObject);
    const found = key === undefined ? undefined : search(body[key], resource, depth - 1);
    if (found) return found;
  }
  const others = Object.values(body).filter(isObject).filter(hasId);
  return others.length === 1 && others[0] ? withTextId(others[0]) : undefined;
}

export function hasId(body: JsonObject): boolean {
  const { id } = body;
  return typeof id === 'string' || typeof id === 'number' || id instanceof RawNumber;
}

/** The record itself, or a copy whose numeric id is text, so that it can be typed back. */
export function withTextId(record: JsonObject): JsonObject {
  const { id } = record;
  return typeof id === 'number' || id instanceof RawNumber ? { ...record, id: String(id) } : record;
}

/** Fields that the service sets and no update sends. */
const serviceFields = ['id', 'organizationId', 'createdAt', 'updatedAt'];

/** The body of an update whose route replaces the whole record (`endpoints.<resource>.update.semantics`). */
export function replacementBody(
  record: JsonObject,
  changes: JsonObject,
  readOnly: readonly string[] = [],
): JsonObject {
  const dropped = new Set([...serviceFields, ...readOnly]);
  const kept = Object.entries({ ...record, ...changes }).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(kept);
}

/** What stands at a dotted path such as `data.signedUrl`; undefined when the path leads nowhere. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const part of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(part)];
    else if (isObject(value) && Object.hasOwn(value, part)) value = value[part];
    else return undefined;
  }
  return value;
}

const usualNames = [
  'data',
  'items',
  'results',
  'result',
  'records',
  'values',
  'entries',
  'content',
  'rows',
  'list',
];
const envelopeNames = ['data', 'result', 'results', 'response', 'payload', 'body'];
/** Arrays of objects that are never the list. */
const besides = [
  'errors',
  'warnings',
  'links',
  'included',
  'facets',
  'messages',
  'meta',
  'filters',
  'columns',
];

/**
 * The list in an answer whose envelope the contract does not show: the configured path, a bare array,
 * the array named after the resource, a usual name, the only array of objects, the same one level
 * down. Undefined when nothing qualifies: that is an error and never an empty list.
 */
export function findList(
  body: unknown,
  resource: ResourceName,
  path: string | undefined,
): readonly JsonObject[] | undefined {
  if (path !== undefined) return rows(valueAt(body, path));
  if (Array.isArray(body)) return rows(body);
  if (!isObject(body)) return undefined;
  const found = inObject(body, resource);
  if (found) return found;
  for (const name of envelopeNames) {
    const key = propertyNamed(body, [name], isObject);
    const inner = key === undefined ? undefined : body[key];
    const nested = isObject(inner) ? inObject(inner, resource) : undefined;
    if (nested) return nested;
  }
  return undefined;
}

/**
 * Whether an array met at this path of keys is taken for the list before the rest of the answer is
 * there; `findList` over the whole envelope must agree in the end.
 */
export function looksLikeList(
  keys: readonly string[],
  resource: ResourceName,
  path: string | undefined,
): boolean {
  if (path !== undefined) return keys.join('.') === path;
  const [first, second] = keys.map(normalName);
  if (first === undefined) return true;
  const name = second ?? first;
  if (!rowOf(resource).envelopes.includes(name) && !usualNames.includes(name)) return false;
  return second === undefined || envelopeNames.includes(first);
}

function inObject(body: JsonObject, resource: ResourceName): readonly JsonObject[] | undefined {
  const named = propertyNamed(body, [...rowOf(resource).envelopes, ...usualNames], isRows);
  if (named !== undefined) return rows(body[named]);
  if (hasId(body)) return undefined;
  const ignored = new Set(besides.map((name) => propertyNamed(body, [name], Array.isArray)));
  const arrays = Object.keys(body).filter((key) => isFilledRows(body[key]) && !ignored.has(key));
  return arrays.length === 1 ? rows(body[String(arrays[0])]) : undefined;
}

function rows(value: unknown): readonly JsonObject[] | undefined {
  return isRows(value) ? value : undefined;
}

function isRows(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** An empty array under an unknown name could be anything. */
function isFilledRows(value: unknown): boolean {
  return isRows(value) && value.length > 0;
}

/** The keys that a person sees when no list was found. */
export function describeTopLevel(body: unknown): string {
  if (Array.isArray(body)) return 'an array of something else than objects';
  if (!isObject(body)) return `a ${body === null ? 'null' : typeof body}`;
  const keys = Object.keys(body);
  if (keys.length === 0) return 'an empty object';
  return `${keys.slice(0, 12).join(', ')}${keys.length > 12 ? ', …' : ''}`;
}
