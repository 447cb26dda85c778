/** Records: finds the one in a response whose envelope the contract does not show, and its id; makes the body that replaces one. */
import { isObject, type JsonObject, RawNumber } from '../data/json.js';
import { normalName, valueAt } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { wordList } from '../data/text.js';
import { resources } from './resources.js';

/** Returns the property whose normalized name is one of `names`; the first of them wins. */
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

/** Objects that carry an id beside a record, or instead of one. */
export const nonRecordNames: ReadonlySet<string> = new Set(
  wordList(`
    organization org user actor createdby account job request meta metadata errors error
    details warnings
  `),
);

interface RecordSearch {
  readonly resource: ResourceName;
  /** The field that holds the id (`ids.<resource>`). */
  readonly idName?: string | undefined;
  /** An object with this id is the organization, never a record. */
  readonly organizationId?: string | undefined;
}

/**
 * Finds the record in a response: the body itself if it has an id, else the value under the
 * resource's name or a usual wrapper, else the only object with an id that is not about something
 * else (`user`, `job`). Undefined if there is none. Its `id` is text.
 */
export function findRecord(body: unknown, search: RecordSearch, depth = 2): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  if (isRecord(body, search)) return withTextId(body, search.idName);
  if (depth === 0) return undefined;
  for (const name of [...resources[search.resource].envelopes, ...wrappers]) {
    const key = propertyNamed(body, [name], isObject);
    const found = key === undefined ? undefined : findRecord(body[key], search, depth - 1);
    if (found) return found;
  }
  const others = Object.entries(body).filter(([key]) => !nonRecordNames.has(normalName(key)));
  const records = others
    .map(([, value]) => value)
    .filter(isObject)
    .filter((value) => isRecord(value, search));
  return records.length === 1 && records[0] ? withTextId(records[0], search.idName) : undefined;
}

function isRecord(body: JsonObject, { idName, organizationId }: RecordSearch): boolean {
  return hasId(body, idName) && idOf(body, idName) !== organizationId;
}

/** True if the object has an id in this field. */
export function hasId(body: JsonObject, idName?: string): boolean {
  return idOf(body, idName) !== undefined;
}

function idOf(body: JsonObject, idName = 'id'): string | undefined {
  const id = idName === 'id' ? body['id'] : valueAt(body, idName);
  if (typeof id === 'string') return id === '' ? undefined : id;
  return typeof id === 'number' || id instanceof RawNumber ? String(id) : undefined;
}

/**
 * Returns the record with its id as text in the field `id`, so that it can be typed back: itself, or
 * a copy if the id is a number or in another field.
 */
export function withTextId(record: JsonObject, idName?: string): JsonObject {
  const id = idOf(record, idName);
  if (id === undefined || record['id'] === id) return record;
  return { id, ...record, ...(Object.hasOwn(record, 'id') && { id }) };
}

/** Fields that the service sets and updates never send. */
export const serviceFields: readonly string[] = ['id', 'organizationId', 'createdAt', 'updatedAt'];

/**
 * Returns the body of an update that replaces the record (`endpoints.<resource>.update.semantics`).
 */
export function replacementBody(
  record: JsonObject,
  changes: JsonObject,
  readOnly: readonly string[],
): JsonObject {
  const omitted = new Set([...serviceFields, ...readOnly]);
  const kept = Object.entries({ ...record, ...changes }).filter(([key]) => !omitted.has(key));
  return Object.fromEntries(kept);
}
