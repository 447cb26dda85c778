import * as z from 'zod/mini';
import type { ResourceName } from '../api/contract.js';
import type { Context } from '../context.js';
import type { RecordTest } from '../data/dates.js';
import {
  type Batches,
  batchesOf,
  type RecordStream,
  recordStream,
  collect,
  type Item,
  filterMap,
} from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import { nearest } from '../data/nearest.js';
import { sortByField, type Sorting, defaultSorting } from '../data/sorting.js';
import { type Condition, contains, matchesCondition, parseCondition } from '../data/where.js';
import { Failure, UsageError } from '../errors.js';
import { param, params, type ValuesOf } from './define.js';
import { documentedChoices, fieldOf, ObservedFields } from './record-fields.js';

export type { RecordTest };

/** The filter flags of every list command; spread them into its `flags`. */
export const listFlags = {
  where: params(
    z.optional(z.array(parsedBy(parseCondition))),
    'keep records; also != ~ < > <= >=',
    {
      placeholder: "'field=value'",
      group: 'selection',
      completes: 'field',
    },
  ),
  search: param(
    z.optional(z.string().check(z.minLength(1, 'must not be empty'))),
    'keep records with this text in any field',
    { placeholder: 'TEXT', group: 'selection' },
  ),
  sort: param(z.optional(parsedBy(parseSorting)), 'order by a field', {
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

/** Makes a flag's schema from a function that reads its text and throws a Failure. */
export function parsedBy<T>(read: (text: string) => T) {
  const reading = z.transform((text: string, { issues }): T => {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const sentences = error.hint ? `${error.message} ${error.hint}` : error.message;
      // It is shown after the flag's name and a colon, and the one who shows it ends the sentence.
      const message = sentences.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
      issues.push({ code: 'custom', message: message.replace(/\.$/, ''), input: text });
      return z.NEVER;
    }
  });
  return z.pipe(z.string(), reading);
}

/** Whose records they are, and what else they have to be. */
interface ListFilters {
  readonly resource: ResourceName;
  readonly tests?: readonly RecordTest[];
  /** A list that is cut is put in the usual order of its resource first. */
  readonly usualOrder?: boolean;
  /** Hears of a value that is probably misspelt; it is compared as typed all the same. */
  readonly notes?: { note(line: string): void };
}

/**
 * Filters, sorts and cuts a list lazily: records pass as they come, unless --sort is given; after
 * --limit nothing more is read. Throws UsageError while iterating, before the first record is
 * passed on, when a field is named that no record has and the contract does not know.
 */
export function filterList(
  records: AsyncIterable<JsonObject>,
  values: ListValues,
  { resource, tests = [], usualOrder = false, notes }: ListFilters,
): RecordStream<JsonObject> {
  const { where = [], search, sort, limit } = values;
  if (notes) for (const condition of where) noteStranger(condition, resource, notes);
  const all = [
    ...where.map((condition) => testOf(condition, resource)),
    ...(search === undefined ? [] : [{ holds: (record: JsonObject) => mentions(record, search) }]),
    ...tests,
    ...(sort === undefined ? [] : [{ holds: () => true, ...fieldOf(sort.field, resource) }]),
  ];
  // What a person sees of a list that is cut are its first rows as shown, not as sent.
  const order = sort ?? (usualOrder && limit !== undefined ? defaultSorting(resource) : undefined);
  return recordStream(() => {
    const came = batchesOf(records);
    const kept = all.length === 0 ? came : keep(came, all, resource);
    const ordered = order === undefined ? kept : sorted(kept, order);
    return limit === undefined ? ordered : cut(ordered, limit);
  });
}

/** Reads `name`, `submittedAt:desc`. Throws UsageError for another direction. */
export function parseSorting(text: string): Sorting {
  const [, field = '', direction] = /^(.*?)(?::(asc|desc))?$/.exec(text) ?? [];
  const typo = /^([\w.]+):(\w*)$/.exec(field);
  if (typo)
    throw new UsageError(`"${typo[2]}" is no direction.`, {
      hint: `Write ${typo[1]}:asc or ${typo[1]}:desc.`,
    });
  if (field === '')
    throw new UsageError('The field to sort by is missing.', {
      hint: 'e.g. --sort name, or --sort submittedAt:desc',
    });
  return { field, descending: direction === 'desc' };
}

function testOf(condition: Condition, resource: ResourceName): RecordTest {
  return {
    holds: (record) => matchesCondition(condition, record),
    ...fieldOf(condition.field, resource),
  };
}

/** A status that the service does not have matches none with `=`, and with `!=` all. */
function noteStranger(
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

/** The organization's id and times stand in every record: a search that finds them finds all. */
function mentions(record: JsonObject, text: string): boolean {
  return Object.keys(record).some((name) => {
    const value = record[name];
    if (name === 'organizationId' || (typeof value === 'string' && time.test(value))) return false;
    return contains(value, text);
  });
}

/** Holds what matched back until every named field was seen on some record. */
async function* keep(
  records: Batches<JsonObject>,
  tests: readonly RecordTest[],
  resource: ResourceName,
): Batches<JsonObject> {
  const fields = new ObservedFields(tests, resource);
  let held: Item<JsonObject>[] = [];
  const fitting = (item: Item<JsonObject>) => {
    fields.see(item.value);
    return tests.every((test) => test.holds(item.value)) ? item : undefined;
  };
  for await (const batch of filterMap(records, fitting)) {
    for (const item of batch) held.push(item);
    if (!fields.all) continue;
    yield held;
    held = [];
  }
  fields.check();
  if (held.length > 0) yield held;
}

async function* sorted(records: Batches<JsonObject>, sorting: Sorting): Batches<JsonObject> {
  const all = await collect(recordStream(() => records));
  yield sortByField(all, sorting).map((value) => ({ value }));
}

async function* cut(records: Batches<JsonObject>, limit: number): Batches<JsonObject> {
  let left = limit;
  for await (const batch of records) {
    yield batch.slice(0, left);
    left -= batch.length;
    if (left <= 0) return;
  }
}

type World = Pick<Context, 'api' | 'paths' | 'settings'>;

/**
 * A resource's records as the service lists them; what passes is remembered for completion, unless
 * `completion.cache` is off.
 */
export function listAndCacheIds(
  world: World,
  resource: ResourceName,
  query: { readonly [name: string]: string } = {},
): RecordStream<JsonObject> {
  const { completionCache, dryRun } = world.settings;
  // A part of the list would make the memory forget the rest.
  const isPart = Object.keys(query).length > 0;
  if (!completionCache || dryRun || isPart) return world.api.list(resource, query);
  return recordStream(() => remembered(world, resource));
}

async function* remembered(
  { api, paths, settings }: World,
  resource: ResourceName,
): Batches<JsonObject> {
  const records = api.list(resource);
  const { rememberRecords } = await import('../config/completion-cache.js');
  const { baseUrl, organizationId } = api;
  const place = { profile: settings.profile.name, baseUrl, organizationId };
  const memory = rememberRecords(paths, place, resource);
  let whole = false;
  try {
    for await (const batch of records.batches()) {
      for (const { value } of batch) memory.see(value);
      yield batch;
    }
    whole = records.completeness().state === 'complete';
  } finally {
    await memory.keep({ whole });
  }
}
