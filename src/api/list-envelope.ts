/** List envelopes: finds the list in a response, wherever the service puts it. */
import { isObject, type JsonObject } from '../data/json.js';
import { normalName, valueAt } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { readEvidence } from './paging-evidence.js';
import { hasId, propertyNamed } from './records.js';
import { isOfAnother, resources } from './resources.js';

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
/** HAL: `_embedded`. */
const envelopeNames = ['data', 'result', 'results', 'response', 'payload', 'body', 'embedded'];
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

/** A list in a response. */
export interface FoundList {
  readonly rows: readonly JsonObject[];
  /** Its path of keys, if it was not configured: the list of the next page is there too. */
  readonly place?: readonly string[];
  /** No list was recognized: it is treated as empty, which proves nothing. */
  readonly isAssumed?: boolean;
}

/** Which list is looked for. */
export interface ListSearch {
  readonly resource: ResourceName;
  /** Its configured path (`lists.<resource>.path`): `data.teams`, `data.teams.edges[].node`. */
  readonly path?: string | undefined;
  /** The path of the list in the previous page. */
  readonly place?: readonly string[] | undefined;
  /** The field that holds the id (`ids.<resource>`). */
  readonly idName?: string | undefined;
}

/**
 * Finds the list in a response: at the configured path, else a bare array, the array named after
 * the resource, one with a usual name, the only array of objects, or one of these further down.
 * `null` and an empty array under an unknown name count as an empty list, marked as assumed unless the
 * total is 0.
 * Undefined if nothing qualifies, which is an error.
 */
export function findList(body: unknown, search: ListSearch): FoundList | undefined {
  const { resource, path, place, idName } = search;
  if (path !== undefined) {
    // `edges.node` is the `node` of each edge, whether it is written with or without brackets.
    const value = isObject(body) ? valueAt(body, path.replaceAll('[]', '')) : undefined;
    if (value === null) return assumedEmpty;
    const rows =
      rowsOf(value, idName) ?? (isObject(value) ? recordsByKey(value, idName) : undefined);
    return rows ? { rows } : emptyHal(body, resource);
  }
  if (body === null) return assumedEmpty;
  if (place) {
    const rows = rowsOf(place.reduce<unknown>(valueOf, body), idName);
    if (rows) return { rows, place };
  }
  const rows = rowsOf(body, idName);
  if (rows) return { rows, place: [] };
  if (!isObject(body)) return undefined;
  const found = listWithin(body, search, [], listInObject);
  if (found) return found;
  const empty = listWithin(body, search, [], emptyInObject);
  return empty && saysNone(body, resource) ? { rows: [] } : (empty ?? emptyHal(body, resource));
}

/** Returns an empty list for HAL without `_embedded`, which it leaves out if there are no records. */
function emptyHal(body: unknown, resource: ResourceName): FoundList | undefined {
  if (!isObject(body) || !isObject(body['_links']) || Object.hasOwn(body, '_embedded'))
    return undefined;
  return saysNone({ ...body, _links: null }, resource) ? { rows: [] } : undefined;
}

/** True if the total is 0, beside nothing that may hold records: empty lists and `meta: {total: 0}`. */
function saysNone(body: JsonObject, resource: ResourceName): boolean {
  const { total } = readEvidence(body, {}, { resource });
  // Another count, such as `errorCount`, says nothing about the list.
  return total?.value === 0 && total.isNamed && Object.values(body).every(isBare);
}

/** True for a plain value, an empty array, and an object of plain values. */
function isBare(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return Object.values(value).every((each) => typeof each !== 'object' || each === null);
}

const assumedEmpty: FoundList = { rows: [], isAssumed: true };

/** Returns the records of a map by id; a record without an id gets its key. */
function recordsByKey(
  map: JsonObject,
  idName: string | undefined,
): readonly JsonObject[] | undefined {
  const entries = Object.entries(map);
  if (!entries.every(([, value]) => isObject(value))) return undefined;
  return entries.map(([key, value]) => {
    const record = value as JsonObject;
    return hasId(record, idName) ? record : { [idName ?? 'id']: key, ...record };
  });
}

function valueOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

type FindInObject = (body: JsonObject, search: ListSearch) => [string, FoundList] | undefined;

/** Looks in an object, then in the objects of it that usually wrap a list. */
function listWithin(
  body: JsonObject,
  search: ListSearch,
  above: readonly string[],
  find: FindInObject,
): FoundList | undefined {
  const found = find(body, search);
  if (found) return found[1].isAssumed ? found[1] : { ...found[1], place: [...above, found[0]] };
  if (above.length > deepestWrapper) return undefined;
  for (const name of [...resources[search.resource].envelopes, ...envelopeNames]) {
    const key = propertyNamed(body, [name], isObject);
    const inner = key === undefined ? undefined : body[key];
    if (key === undefined || !isObject(inner)) continue;
    const list = listWithin(inner, search, [...above, key], find);
    if (list) return list;
  }
  return undefined;
}

/** `{data: {teams: {edges: […]}}}` has two wrappers. */
const deepestWrapper = 1;

const listInObject: FindInObject = (body, { resource, idName }) => {
  const isList = (value: unknown) => rowsOf(value, idName) !== undefined;
  const named = propertyNamed(body, [...resources[resource].envelopes, ...listNames], isList);
  const key = named ?? (hasId(body, idName) ? undefined : onlyArray(body, resource, isFilledRows));
  const rows = key === undefined ? undefined : rowsOf(body[key], idName);
  return key !== undefined && rows ? [key, { rows }] : undefined;
};

/** Finds what can only be an empty list: `{teams: null}`, `{squads: []}`. */
const emptyInObject: FindInObject = (body, { resource, idName }) => {
  const names = [...resources[resource].envelopes, ...listNames];
  const named = propertyNamed(body, names, (value) => value === null);
  const key = named ?? (hasId(body, idName) ? undefined : onlyArray(body, resource, Array.isArray));
  if (key === undefined) return undefined;
  const value = body[key];
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  return isEmpty ? [key, assumedEmpty] : undefined;
};

/** Returns the key of the only array that can be the list, if there is just one. */
function onlyArray(
  body: JsonObject,
  resource: ResourceName,
  fits: (value: unknown) => boolean,
): string | undefined {
  const arrays = Object.keys(body).filter((key) => {
    const name = normalName(key);
    return fits(body[key]) && !nonListNames.includes(name) && !isOfAnother(name, resource);
  });
  return arrays.length === 1 ? arrays[0] : undefined;
}

function rowsOf(value: unknown, idName: string | undefined): readonly JsonObject[] | undefined {
  return isRows(value) ? value : numberedRows(value, idName);
}

/** Returns the records of `{"0": …, "2": …}`: PHP writes a list so once an element was taken out. */
function numberedRows(
  value: unknown,
  idName: string | undefined,
): readonly JsonObject[] | undefined {
  if (!isObject(value)) return undefined;
  if (!Object.keys(value).every((key) => /^\d+$/.test(key))) return undefined;
  const rows: unknown = Object.values(value);
  return isFilledRows(rows) && rows.every((row) => hasId(row, idName)) ? rows : undefined;
}

function isRows(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Excludes the empty array: under an unknown name it could be anything. */
function isFilledRows(value: unknown): value is readonly JsonObject[] {
  return isRows(value) && value.length > 0;
}

/**
 * True if an array at this path of keys is probably the list, decided before the rest of the
 * response has arrived. `findList` over the complete envelope must agree in the end.
 */
export function looksLikeList(
  keys: readonly string[],
  { resource, path }: Pick<ListSearch, 'resource' | 'path'>,
): boolean {
  if (path !== undefined) return keys.join('.') === path;
  const [first, second] = keys.map(normalName);
  if (first === undefined) return true;
  const name = second ?? first;
  if (!resources[resource].envelopes.includes(name) && !listNames.includes(name)) return false;
  return second === undefined || envelopeNames.includes(first);
}

/** Describes the top level of a body, for the message when no list was found. */
export function describeTopLevel(body: unknown): string {
  if (isRows(body)) return 'a bare array';
  if (Array.isArray(body)) return 'an array of something other than objects';
  if (!isObject(body)) return `a ${body === null ? 'null' : typeof body}`;
  const keys = Object.keys(body);
  if (keys.length === 0) return 'an empty object';
  return `${keys.slice(0, 12).join(', ')}${keys.length > 12 ? ', …' : ''}`;
}
