/** Lists: the filter flags that every list command shares, applied to a stream of records. */
import * as z from 'zod/mini';
import type { ResourceName } from '../api/contract.js';
import type { Context } from '../context.js';
import {
  type Batches,
  batchesOf,
  collect,
  filterMap,
  type Item,
  type RecordStream,
  recordStream,
} from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import { nearest } from '../data/nearest.js';
import { defaultSorting, type Sorting, sortByField } from '../data/sorting.js';
import {
  type Condition,
  contains,
  matchesCondition,
  parseCondition,
  type RecordTest,
} from '../data/where.js';
import { Failure, UsageError } from '../errors.js';
import { param, params, type ValuesOf } from './define.js';
import { documentedChoices, fieldOf, ObservedFields } from './record-fields.js';

export type { RecordTest };

/** The filter flags of every list command, to be spread into its `flags`. */
export const listFlags = {
  where: params(
    z.optional(z.array(parsedBy(parseCondition))),
    'filter by any field; also != ~ < > <= >=',
    {
      placeholder: "'field=value'",
      group: 'selection',
      completes: 'field',
    },
  ),
  search: param(
    z.optional(z.string().check(z.minLength(1, 'must not be empty'))),
    'records with this text in any field',
    { placeholder: 'TEXT', group: 'selection' },
  ),
  sort: param(z.optional(parsedBy(parseSorting)), 'sort by this field', {
    placeholder: 'field[:desc]',
    group: 'selection',
    completes: 'field',
  }),
  limit: param(
    z.optional(
      z.pipe(
        z.string().check(z.regex(/^[1-9]\d{0,8}$/, 'must be a whole number above 0')),
        z.transform(Number),
      ),
    ),
    'at most this many',
    { short: 'L', placeholder: 'N', group: 'selection' },
  ),
} as const;

export type ListValues = ValuesOf<typeof listFlags>;

/** Builds a flag's schema from a function that parses its text and throws a Failure. */
export function parsedBy<T>(parse: (text: string) => T) {
  const transform = z.transform((text: string, { issues }): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // The message is printed after the flag's name and a colon; the hint follows on its own line.
      const what = error.message.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
      const message = error.hint ? `${what}\n${error.hint}` : what;
      issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    }
  });
  return z.pipe(z.string(), transform);
}

/** The resource of a list, and further tests of its records. */
interface ListFilters {
  readonly resource: ResourceName;
  readonly tests?: readonly RecordTest[];
  /** True to sort a limited list by the usual order of its resource first. */
  readonly usualOrder?: boolean;
  /** Receives a note for a probably misspelt value, which is compared as typed nevertheless. */
  readonly notes?: { note(line: string): void };
}

/**
 * Filters, sorts and limits a list lazily: records pass as they arrive unless --sort is given, and
 * nothing is read beyond --limit. Throws UsageError while iterating, before the first record passes,
 * for a field that neither the contract nor any record has.
 */
export function filterList(
  records: AsyncIterable<JsonObject>,
  values: ListValues,
  { resource, tests = [], usualOrder = false, notes }: ListFilters,
): RecordStream<JsonObject> {
  const { where = [], search, sort, limit } = values;
  if (notes) for (const condition of where) noteUnknownChoice(condition, resource, notes);
  const all = [
    ...where.map((condition) => testOf(condition, resource)),
    ...(search === undefined ? [] : [{ holds: (record: JsonObject) => mentions(record, search) }]),
    ...tests,
    ...(sort === undefined ? [] : [{ holds: () => true, ...fieldOf(sort.field, resource) }]),
  ];
  // Of a limited list a person sees the first rows in display order, not in the service's order.
  const order = sort ?? (usualOrder && limit !== undefined ? defaultSorting(resource) : undefined);
  return recordStream(() => {
    const source = batchesOf(records);
    const kept = all.length === 0 ? source : matching(source, all, resource);
    const ordered = order === undefined ? kept : sorted(kept, order);
    return limit === undefined ? ordered : limited(ordered, limit);
  });
}

/** Parses `name` or `submittedAt:desc`. Throws UsageError for an unknown direction. */
export function parseSorting(text: string): Sorting {
  const [, field = '', direction] = /^(.*?)(?::(asc|desc))?$/.exec(text) ?? [];
  const typo = /^([\w.]+):(\w*)$/.exec(field);
  if (typo)
    throw new UsageError(`"${typo[2]}" is not a direction.`, {
      hint: `Write ${typo[1]}:asc or ${typo[1]}:desc.`,
    });
  if (field === '')
    throw new UsageError('The field to sort by is missing.', {
      hint: 'Write --sort name, or --sort submittedAt:desc.',
    });
  return { field, descending: direction === 'desc' };
}

function testOf(condition: Condition, resource: ResourceName): RecordTest {
  return {
    holds: (record) => matchesCondition(condition, record),
    ...fieldOf(condition.field, resource),
  };
}

/** Notes a value outside the documented choices: `=` would match no record with it, `!=` every one. */
function noteUnknownChoice(
  { field, operator, value }: Condition,
  resource: ResourceName,
  notes: NonNullable<ListFilters['notes']>,
): void {
  if ((operator !== '=' && operator !== '!=') || value === 'null') return;
  const choices = documentedChoices(resource, field);
  if (!choices || choices.includes(value)) return;
  const near = nearest(value, choices);
  const instead = near === undefined ? `there are ${choices.join(', ')}.` : `did you mean ${near}?`;
  notes.note(`No documented ${field} is "${value}"; ${instead}`);
}

const time = /^\d{4}-\d{2}-\d{2}T/;

/** Searches a record's fields, except the organization's id and times, which would match every record. */
function mentions(record: JsonObject, text: string): boolean {
  return Object.keys(record).some((name) => {
    const value = record[name];
    if (name === 'organizationId' || (typeof value === 'string' && time.test(value))) return false;
    return contains(value, text);
  });
}

/** Yields matching records, held back until every named field has occurred in some record. */
async function* matching(
  records: Batches<JsonObject>,
  tests: readonly RecordTest[],
  resource: ResourceName,
): Batches<JsonObject> {
  const fields = new ObservedFields(tests, resource);
  let unmet = tests.filter(({ heldForNone }) => heldForNone !== undefined);
  let held: Item<JsonObject>[] = [];
  const select = (item: Item<JsonObject>) => {
    fields.observe(item.value);
    if (unmet.length > 0) unmet = unmet.filter((test) => !test.holds(item.value));
    return tests.every((test) => test.holds(item.value)) ? item : undefined;
  };
  for await (const batch of filterMap(records, select)) {
    for (const item of batch) held.push(item);
    if (!fields.areAllSeen) continue;
    yield held;
    held = [];
  }
  fields.check();
  // oxlint-disable-next-line no-await-in-loop
  for (const test of unmet) await test.heldForNone?.();
  if (held.length > 0) yield held;
}

async function* sorted(records: Batches<JsonObject>, sorting: Sorting): Batches<JsonObject> {
  const all = await collect(recordStream(() => records));
  yield sortByField(all, sorting).map((value) => ({ value }));
}

async function* limited(records: Batches<JsonObject>, limit: number): Batches<JsonObject> {
  let remaining = limit;
  for await (const batch of records) {
    yield batch.slice(0, remaining);
    remaining -= batch.length;
    if (remaining <= 0) return;
  }
}

type World = Pick<Context, 'api' | 'paths' | 'settings'>;

/**
 * Lists a resource's records in the service's order and caches their ids for completion, unless
 * `completion.cache` is off.
 */
export function listAndCacheIds(
  world: World,
  resource: ResourceName,
  query: { readonly [name: string]: string } = {},
): RecordStream<JsonObject> {
  const { completionCache, dryRun } = world.settings;
  // Caching a partial list would drop the other ids.
  const isPartial = Object.keys(query).length > 0;
  if (!completionCache || dryRun || isPartial) return world.api.list(resource, query);
  return recordStream(() => cached(world, resource));
}

async function* cached(
  { api, paths, settings }: World,
  resource: ResourceName,
): Batches<JsonObject> {
  const records = api.list(resource);
  const { rememberRecords } = await import('../config/completion-cache.js');
  const { baseUrl, organizationId } = api;
  const place = { profile: settings.profile.name, baseUrl, organizationId };
  const cache = rememberRecords(paths, place, resource);
  let isComplete = false;
  try {
    for await (const batch of records.batches()) {
      for (const { value } of batch) cache.see(value);
      yield batch;
    }
    isComplete = records.completeness().state === 'complete';
  } finally {
    await cache.keep({ whole: isComplete });
  }
}
