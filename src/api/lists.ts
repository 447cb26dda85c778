import { isObject, type JsonObject } from '../data/json.js';
import type { ResourceName } from './contract.js';
import { hasId, normalName, propertyNamed, valueAt } from './records.js';
import { resource as rowOf } from './resources.js';

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
const wrappers = ['data', 'result', 'results', 'response', 'payload', 'body'];
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
  for (const name of wrappers) {
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
  return second === undefined || wrappers.includes(first);
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
export function topLevel(body: unknown): string {
  if (Array.isArray(body)) return 'an array of something else than objects';
  if (!isObject(body)) return `a ${body === null ? 'null' : typeof body}`;
  const keys = Object.keys(body);
  if (keys.length === 0) return 'an empty object';
  return `${keys.slice(0, 12).join(', ')}${keys.length > 12 ? ', …' : ''}`;
}
