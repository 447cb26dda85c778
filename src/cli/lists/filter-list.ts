/** Filters, sorts and cuts a list as its records arrive, and counts them. */

import {
  type Batches,
  batchesOf,
  continuedBatches,
  filterMap,
  type RecordStream,
  recordStream,
} from '../../data/batches.js';
import type { JsonObject } from '../../data/json.js';
import { nearest } from '../../data/nearest.js';
import type { ResourceName } from '../../data/resources.js';
import { OrderedRecords, orderByField, type RecordOrder, usualOrder } from '../../data/sorting.js';
import { countOf } from '../../data/text.js';
import { type Condition, contains, matchesCondition, type RecordTest } from '../../data/where.js';
import type { ListValues } from '../filters.js';
import { documentedChoices, fieldOf, ObservedFields } from '../record-fields.js';
import type { CountedList, ListSummary } from '../views.js';

/** The resource of a list, and further tests of its records. */
interface ListFilters {
  readonly resource: ResourceName;
  readonly tests?: readonly RecordTest[];
  /** A test of what passed all others; `nameOf` translates the label of a field to its name. */
  readonly last?: (nameOf: (field: string) => string) => RecordTest;
  /** The order without `--sort`; by default the usual one of the resource, and only with `--limit`. */
  readonly order?: RecordOrder | undefined;
  /**
   * Receives a note for a probably misspelt value, which is compared as typed nevertheless, and a
   * message if a filter leaves out records that it cannot read.
   */
  readonly notes?: { note(line: string): void; message(line: string): void };
  /** Observes the records for the footer below the list. */
  readonly summary?: ListSummary | undefined;
  /** Called with the translation of labels to names, before the first record passes, if one was typed. */
  readonly onLabels?: (nameOf: (field: string) => string) => void;
}

/** A filtered list, and once it was read, how many records were read, matched and passed on. */
export interface FilteredList extends RecordStream<JsonObject>, CountedList {}

/**
 * Filters, sorts and limits a list lazily: records pass as they arrive, unless `--sort`, `--limit` or
 * `order` require an order, for which the entire list is read. `--limit` keeps the first records in
 * the order of `--sort`, else in the usual one. Throws UsageError while iterating, before the first
 * record passes, for a field that neither the contract nor any record has.
 */
export function filterList(
  records: AsyncIterable<JsonObject>,
  values: Partial<ListValues>,
  filters: ListFilters,
): FilteredList {
  const { resource, notes, summary } = filters;
  const { where = [], limit } = values;
  if (notes) for (const condition of where) noteUnknownChoice(condition, resource, notes);
  const counts = { read: 0, matched: 0, shown: 0 };
  const begin = async function* (): Batches<JsonObject> {
    const typed = narrowingOf(values, filters);
    const { all, nameOf } = await readUntilKnown(batchesOf(records), typed, resource);
    if (nameOf) filters.onLabels?.(nameOf);
    const { tests, order } = nameOf ? narrowingOf(values, filters, nameOf) : typed;
    const matches = matching(all, tests, counts, summary);
    for await (const batch of order ? inOrder(matches, order, limit) : matches) {
      counts.shown += batch.length;
      yield batch;
    }
    if (notes) for (const test of tests) reportUnreadable(test, resource, notes);
  };
  return { ...recordStream(begin), resource, counts, summary };
}

interface Narrowing {
  readonly tests: readonly RecordTest[];
  readonly order: RecordOrder | undefined;
}

/** Returns the tests and the order; `nameOf` translates the label of a field to its name. */
function narrowingOf(
  { where = [], search, sort, limit }: Partial<ListValues>,
  { resource, tests = [], last, order }: ListFilters,
  nameOf: (field: string) => string = (field) => field,
): Narrowing {
  const sorting = sort && { ...sort, field: nameOf(sort.field) };
  const usual = limit === undefined ? undefined : usualOrder(resource);
  return {
    tests: [
      ...where.map((condition) =>
        testOf({ ...condition, field: nameOf(condition.field) }, resource),
      ),
      ...(search === undefined
        ? []
        : [{ holds: (record: JsonObject) => mentions(record, search) }]),
      ...tests,
      ...(sorting ? [{ holds: () => true, ...fieldOf(sorting.field, resource) }] : []),
      ...(last ? [last(nameOf)] : []),
    ],
    order: sorting ? orderByField(sorting) : (order ?? usual),
  };
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

function reportUnreadable(
  { field, unreadable }: RecordTest,
  resource: ResourceName,
  notes: NonNullable<ListFilters['notes']>,
): void {
  const count = unreadable?.() ?? 0;
  if (count === 0) return;
  const what = `${countOf(count, resource)} without a readable ${field?.name}`;
  notes.message(`${what} ${count === 1 ? 'is' : 'are'} left out by ${field?.flag}.`);
}

const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}[\d:.,Zz+-]*$/;

/** Searches a record's fields, except the organization's id and times, which would match every record. */
function mentions(record: JsonObject, text: string): boolean {
  return Object.keys(record).some((name) => {
    const value = record[name];
    if (name === 'organizationId' || (typeof value === 'string' && time.test(value))) return false;
    return contains(value, text);
  });
}

/**
 * Reads records until every named field has occurred in one; returns all records, with those read. A
 * name that none has may be a label: `nameOf` then translates labels.
 */
async function readUntilKnown(
  records: Batches<JsonObject>,
  { tests }: Narrowing,
  resource: ResourceName,
): Promise<{ readonly all: Batches<JsonObject>; readonly nameOf?: (field: string) => string }> {
  const fields = new ObservedFields(tests, resource);
  const source = records[Symbol.asyncIterator]();
  const read: JsonObject[] = [];
  const all = continuedBatches(read, source);
  while (!fields.areAllSeen) {
    const next = await source.next();
    if (next.done) {
      const labels = fields.labels();
      fields.check(labels);
      return { all, nameOf: (field) => labels.get(field) ?? field };
    }
    for (const record of next.value) {
      fields.observe(record);
      read.push(record);
    }
  }
  return { all };
}

async function* matching(
  records: Batches<JsonObject>,
  tests: readonly RecordTest[],
  counts: { read: number; matched: number },
  summary: ListSummary | undefined,
): Batches<JsonObject> {
  let unmet = tests.filter(({ heldForNone }) => heldForNone !== undefined);
  yield* filterMap(records, (record) => {
    if (unmet.length > 0) unmet = unmet.filter((test) => !test.holds(record));
    const matches = tests.every((test) => test.holds(record));
    counts.read += 1;
    if (matches) counts.matched += 1;
    summary?.observe(record, matches);
    return matches ? record : undefined;
  });
  for (const test of unmet) await test.heldForNone?.();
}

async function* inOrder(
  records: Batches<JsonObject>,
  order: RecordOrder,
  limit: number | undefined,
): Batches<JsonObject> {
  const ordered = new OrderedRecords(order, limit);
  for await (const batch of records) for (const record of batch) ordered.add(record);
  const all = ordered.first();
  if (all.length > 0) yield all;
}
