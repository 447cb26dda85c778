/** The filter flags that every list command shares, and the lists that they apply to. */
import * as z from 'zod/mini';
import type { Completeness } from '../api/types.js';
import type { CacheWriter } from '../config/completion-cache.js';
import type { Context } from '../context.js';
import { type Batches, type RecordStream, recordStream } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import type { Overrides, ResourceName } from '../data/resources.js';
import type { Sorting } from '../data/sorting.js';
import { parseCondition, type RecordTest } from '../data/where.js';
import { UsageError } from '../errors.js';
import { flag, param, params, type ValuesOf } from './define.js';
import { countingNumber, nonEmptyText, parsedBy } from './schemas.js';
import type { ListSummary } from './views.js';

/** The filter flags of every list command, to be spread into its `flags`. */
export const listFlags = {
  where: params(
    z.optional(z.array(parsedBy(parseCondition))),
    'filter by any field; also != ~ < > <= >=',
    { placeholder: "'field=value'", group: 'selection', completes: 'field' },
  ),
  search: param(z.optional(nonEmptyText), 'records with this text in any field', {
    placeholder: 'TEXT',
    group: 'selection',
  }),
  sort: param(z.optional(parsedBy(parseSorting)), 'sort by this field', {
    placeholder: 'field[:desc]',
    group: 'selection',
    completes: 'field',
  }),
  limit: param(z.optional(countingNumber), 'the first N, in the order of the table', {
    short: 'L',
    placeholder: 'N',
    group: 'selection',
  }),
} as const;

export type ListValues = ValuesOf<typeof listFlags>;

/** The list flags as selection flags; the rare ones appear in --help only. */
export const listSelectionFlags = asRare(listFlags, ['where']);

/** Returns flags of which only `shown` appear on the short help page. */
export function asRare<F extends Record<string, object>>(flags: F, shown: readonly string[]): F {
  return Object.fromEntries(
    Object.entries(flags).map(([name, own]) => [
      name,
      shown.includes(name) ? own : { ...own, rare: true },
    ]),
  ) as F;
}

/** Parses the name of a cursor, which is part of a file name. Throws UsageError. */
export function parseCursorName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw new UsageError(`"${text}" cannot be the name of a cursor.`, {
    hint: 'Use letters, digits, dots, dashes and underscores, at most 64.',
  });
}

/** `--since-last`, which prints what is new, and the flags that go with it. */
export const sinceLastFlags = {
  sinceLast: param(
    z.optional(parsedBy(parseCursorName)),
    'only what is new since the last run with NAME',
    {
      placeholder: 'NAME',
      group: 'selection',
      completes: 'cursor',
    },
  ),
  changed: param(
    z.optional(nonEmptyText),
    'with --since-last: also records whose FIELD has changed',
    { placeholder: 'FIELD', group: 'selection', completes: 'field', rare: true },
  ),
  peek: flag('with --since-last: printed rows stay new until cursors commit NAME', {
    group: 'selection',
    rare: true,
  }),
  initial: param(z.optional(z.enum(['all'])), 'with --since-last: print everything on first use', {
    placeholder: 'all',
    group: 'selection',
    rare: true,
  }),
  exitCode: flag('with --since-last: exit 12 if something is new', {
    group: 'selection',
    rare: true,
  }),
} as const;

export type SinceLastValues = ValuesOf<typeof sinceLastFlags>;

/** Every cursor prints oldest first. */
export const sinceLastExcludes = [['sinceLast', 'sort']] as const;

/** Parses `name` or `submittedAt:desc`. Throws UsageError for an unknown direction. */
export function parseSorting(text: string): Sorting {
  const [, field = '', direction] = /^(.*?)(?::(asc|desc))?$/.exec(text) ?? [];
  const typo = /^([\w.]+):(\w*)$/.exec(field);
  if (typo)
    throw new UsageError(`"${typo[2]}" is not a direction.`, {
      hint: `Write ${typo[1]}:asc or ${typo[1]}:desc.`,
    });
  if (field.startsWith('-'))
    throw new UsageError(`"${field}" is not a field.`, {
      hint: `For the reverse order: --sort ${field.slice(1)}:desc`,
    });
  if (field === '')
    throw new UsageError('The field to sort by is missing.', {
      hint: 'Write --sort name, or --sort submittedAt:desc.',
    });
  return { field, descending: direction === 'desc' };
}

type ListWorld = Pick<Context, 'api' | 'paths' | 'settings'>;

/** Lists a resource's records in the service's order, and caches their ids for completion. */
export function listAndCacheIds(
  world: ListWorld,
  resource: ResourceName,
  query: { readonly [name: string]: string } = {},
): RecordStream<JsonObject> {
  // Caching a partial list would drop the other ids.
  const isPartial = Object.keys(query).length > 0;
  return isPartial ? world.api.list(resource, query) : recordStream(() => cached(world, resource));
}

/** Starts to remember the records of a list that is read for another reason; undefined if nothing is cached. */
export async function cacheFor(
  world: ListWorld,
  resource: ResourceName,
): Promise<CacheWriter | undefined> {
  const { paths, settings } = world;
  if (!settings.completionCache || settings.dryRun) return undefined;
  const { cachePlaceOf, rememberRecords } = await import('../config/completion-cache.js');
  return rememberRecords(paths, cachePlaceOf(world), resource, settings.overrides);
}

async function* cached(world: ListWorld, resource: ResourceName): Batches<JsonObject> {
  const records = world.api.list(resource);
  const cache = await cacheFor(world, resource);
  let end: Completeness['state'] | undefined;
  try {
    for await (const batch of records.batches()) {
      for (const record of batch) cache?.observe(record);
      yield batch;
    }
    end = records.completeness().state;
  } finally {
    await cache?.write({ whole: end === 'complete', isListed: end !== undefined });
  }
}

/** The sources that filters may ask: the clock, and the service. */
export type FilterWorld = Pick<Context, 'now' | 'api' | 'settings'>;

/** The filters that select rows: their flag names, and the tests they stand for. */
export interface Filters {
  readonly names: readonly string[];
  tests(values: object, world: FilterWorld): readonly RecordTest[];
  /** Replaces references among the values by ids, before the list is read. Throws what resolving throws. */
  resolve?(context: Context, values: object): Promise<object>;
  /**
   * The given filters in words around the noun: `pending Football` (applications) ` older than 60d`;
   * undefined if they cannot be said so simply.
   */
  words?(values: object): { readonly before: string; readonly after: string } | undefined;
  /** Observes the list if a filter may name a value that no record has; it says then which there are. */
  summary?(values: object): Promise<ListSummary | undefined>;
  /** The query parameters with which the service filters, where an admin's override names them. */
  query?(values: object, overrides: Overrides): { readonly [name: string]: string };
}

/** The filters of a resource: `--where` and `--search`, and its own. */
export function selectionBy(
  own: Readonly<Record<string, unknown>> = {},
  tests: Filters['tests'] = () => [],
): Filters {
  return { names: [...Object.keys(own), 'where', 'search'], tests };
}
