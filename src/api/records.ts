import { isObject, type JsonObject, RawNumber } from '../data/json.js';
import type { ResourceName } from './contract.js';
import { resources } from './resources.js';

/** `tryoutApplications`, `tryout_applications`: one word. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The property of a body whose name, normalised, is one of these; their order decides. */
export function propertyNamed(
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
export function wholeRecord(
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
