/** Finds records and lists in responses whose envelope the contract does not show. */
import { isObject, type JsonObject, RawNumber } from '../data/json.js';
import type { ResourceName } from './contract.js';
import { resources, resource as rowOf } from './resources.js';

/** Normalizes a property name: `tryoutApplications` and `tryout_applications` become the same. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Returns the property whose normalized name is one of `names`; the first of them wins. */
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
 * Finds the record in a response: the body itself if it has an id, else the value under the
 * resource's name or a usual wrapper, else the only object with an id. Undefined if there is none.
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

/** Returns the record, or a copy with its numeric id as text, so that it can be typed back. */
export function withTextId(record: JsonObject): JsonObject {
  const { id } = record;
  return typeof id === 'number' || id instanceof RawNumber ? { ...record, id: String(id) } : record;
}

/** Fields that the service sets and updates never send. */
const serviceFields = ['id', 'organizationId', 'createdAt', 'updatedAt'];

/**
 * Returns the body of an update that replaces the record (`endpoints.<resource>.update.semantics`).
 */
export function replacementBody(
  record: JsonObject,
  changes: JsonObject,
  readOnly: readonly string[] = [],
): JsonObject {
  const omitted = new Set([...serviceFields, ...readOnly]);
  const kept = Object.entries({ ...record, ...changes }).filter(([key]) => !omitted.has(key));
  return Object.fromEntries(kept);
}

/** Returns the value at a dotted path such as `data.signedUrl`; undefined if there is none. */
export function valueBelow(body: unknown, path: string): unknown {
  let value = body;
  for (const part of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(part)];
    else if (isObject(value) && Object.hasOwn(value, part)) value = value[part];
    else return undefined;
  }
  return value;
}

const listNames = [
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
const nonListNames = [
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
 * Finds the list in a response: at the configured path, else a bare array, the array named after
 * the resource, one with a usual name, the only array of objects, or one of these one level down.
 * Undefined if nothing qualifies, which is an error and never an empty list.
 */
export function findList(
  body: unknown,
  resource: ResourceName,
  path: string | undefined,
): readonly JsonObject[] | undefined {
  if (path !== undefined) return rows(valueBelow(body, path));
  if (Array.isArray(body)) return rows(body);
  if (!isObject(body)) return undefined;
  const found = listInObject(body, resource);
  if (found) return found;
  for (const name of envelopeNames) {
    const key = propertyNamed(body, [name], isObject);
    const inner = key === undefined ? undefined : body[key];
    const innerList = isObject(inner) ? listInObject(inner, resource) : undefined;
    if (innerList) return innerList;
  }
  return undefined;
}

/**
 * True if an array at this path of keys is probably the list, decided before the rest of the
 * response has arrived. `findList` over the complete envelope must agree in the end.
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
  if (!rowOf(resource).envelopes.includes(name) && !listNames.includes(name)) return false;
  return second === undefined || envelopeNames.includes(first);
}

function listInObject(body: JsonObject, resource: ResourceName): readonly JsonObject[] | undefined {
  const named = propertyNamed(body, [...rowOf(resource).envelopes, ...listNames], isRows);
  if (named !== undefined) return rows(body[named]);
  if (hasId(body)) return undefined;
  const ignored = new Set(nonListNames.map((name) => propertyNamed(body, [name], Array.isArray)));
  const arrays = Object.keys(body).filter((key) => isFilledRows(body[key]) && !ignored.has(key));
  return arrays.length === 1 ? rows(body[String(arrays[0])]) : undefined;
}

function rows(value: unknown): readonly JsonObject[] | undefined {
  return isRows(value) ? value : undefined;
}

function isRows(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Excludes the empty array: under an unknown name it could be anything. */
function isFilledRows(value: unknown): boolean {
  return isRows(value) && value.length > 0;
}

/** Describes the top level of a body, for the message when no list was found. */
export function describeTopLevel(body: unknown): string {
  if (Array.isArray(body)) return 'an array of something else than objects';
  if (!isObject(body)) return `a ${body === null ? 'null' : typeof body}`;
  const keys = Object.keys(body);
  if (keys.length === 0) return 'an empty object';
  return `${keys.slice(0, 12).join(', ')}${keys.length > 12 ? ', …' : ''}`;
}
