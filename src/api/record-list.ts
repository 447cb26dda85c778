/** Lists: the records of a resource, page by page, and whether all of them were seen. */
import { filterMap, recordStream } from '../data/batches.js';
import { isZoneless } from '../data/dates.js';
import { isObject, type JsonObject, printJson } from '../data/json.js';
import { normalName } from '../data/path.js';
import {
  incompleteList,
  type Overrides,
  type ResourceName,
  resourceWords,
} from '../data/resources.js';
import { usualSorting } from '../data/sorting.js';
import type { Instant } from '../data/time.js';
import { ApiError, BugError, NetworkError, ProtocolError, shapesHint } from '../errors.js';
import { endpoint } from './contract.js';
import { type Drift, isOfOtherOrganization, strictHint } from './drift.js';
import type { ListPage } from './list-page.js';
import { type Caps, defaultCaps, doubtfulList, PageFollower, pathBelow } from './page-follower.js';
import { hasId, withTextId } from './records.js';
import { resources } from './resources.js';
import { replaceHint } from './response.js';
import { fillPath, type Route, withListQuery } from './routes.js';
import type { Transport } from './transport.js';
import type { ApiNotes, Completeness, ListOptions, RecordList } from './types.js';
import { secondsInCache } from './wire.js';

interface ListSource extends Pick<ListOptions, 'onHeaders' | 'checksCompleteness' | 'until'> {
  readonly route: Pick<Route, 'method' | 'template' | 'org'>;
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly transport: Transport;
  readonly overrides: Overrides;
  readonly drift: Drift;
  readonly notes: ApiNotes;
  /** Throw for a list that may be incomplete, instead of a note. */
  readonly strict: boolean;
  /** Query parameters in addition to those of the configuration. */
  readonly query?: { readonly [name: string]: string };
  /** Replaces the default caps, for tests. */
  readonly caps?: Caps;
}

/**
 * Streams the list of a resource, page by page. Sends no paging parameter unless configured,
 * follows only the next pages that responses offer, on the same origin, and skips repeated records.
 */
export function listRecords(resource: ResourceName, source: ListSource): RecordList {
  let completeness: Completeness | undefined;
  let lastByte: Instant | undefined;
  let cachedFor = 0;
  const batches = async function* () {
    completeness = undefined;
    const stopWaiting = source.transport.waiting();
    try {
      completeness = yield* readPages(resource, source, (page) => {
        lastByte = page.arrivedAt();
        cachedFor = Math.max(cachedFor, secondsInCache(page));
      });
    } finally {
      stopWaiting();
    }
    if (completeness.state === 'complete') return;
    if (completeness.state === 'assumedEmpty' && !source.strict) {
      const { plural: many } = resourceWords[resource];
      source.notes.note(`The list of ${many} is treated as empty: ${completeness.reason}.`);
      return;
    }
    const text = incompleteList(resource, completeness.reason);
    if (source.strict) throw new ProtocolError(text, { code: 'incomplete', hint: strictHint });
    if (source.checksCompleteness) return;
    source.notes.message(text);
    for (const line of completeness.fixes ?? []) source.notes.note(line);
  };
  return {
    ...recordStream(batches),
    completeness() {
      if (!completeness) throw new BugError('completeness() was asked before the list ended.');
      return completeness;
    },
    arrivedAt() {
      if (!completeness || !lastByte)
        throw new BugError('arrivedAt() was asked before the list ended.');
      return lastByte;
    },
    cachedFor: () => cachedFor,
  };
}

async function* readPages(
  resource: ResourceName,
  source: ListSource,
  onPage: (page: ListPage) => void,
): AsyncGenerator<readonly JsonObject[], Completeness> {
  const [{ readListPage }, { Paging }, { firstQuery }] = await Promise.all([
    import('./list-page.js'),
    import('./paging.js'),
    import('./paging-parameters.js'),
  ]);
  const { route, overrides, caps = defaultCaps } = source;
  const first = firstUrl(resource, source, firstQuery(overrides));
  const pages = new PageFollower(
    first,
    new Paging(resource, overrides, first.searchParams),
    source,
    caps,
  );
  const seen = new SeenRecords(recordChecker(resource, source));
  let refused: ApiError | undefined;
  let place: readonly string[] | undefined;
  for (;;) {
    const request = {
      transport: source.transport,
      call: { method: route.method, path: route.template },
      path: pathBelow(source.baseUrl, pages.url),
      origin: first.origin,
      search: {
        resource,
        path: configured(overrides, `lists.${resource}.path`),
        place,
        idName: configured(overrides, `ids.${resource}`),
      },
      until: source.until,
    };
    const page = yield* readOnePage(() => readListPage(request), seen, pages.number, source);
    if (!page) return doubtfulList(unknownPage);
    onPage(page);
    if (seen.received >= caps.records) return doubtfulList('the list does not end');
    const { status, headers } = page;
    const { body, refusal, isAssumed, place: found } = page.envelope();
    place ??= found;
    refused ??= refusal;
    const { count, fresh, received, lastId } = seen;
    const end = pages.after({ status, body, headers, count, fresh, arrived: received, lastId });
    if (!end) continue;
    if (end.state !== 'complete') return end;
    if (isAssumed && received === 0) return assumedEmpty(status);
    return refused ? { state: 'doubtful', reason: refusedText(refused) } : end;
  }
}

/**
 * Yields the new records of one page, up to the cap; requests it again if it breaks off. Returns the
 * page; undefined if the service does not know a page after the first.
 */
async function* readOnePage(
  request: () => Promise<ListPage>,
  seen: SeenRecords,
  number: number,
  { onHeaders, until, transport, caps }: ListSource,
): AsyncGenerator<readonly JsonObject[], ListPage | undefined> {
  const maxRecords = (caps ?? defaultCaps).records;
  seen.fresh = 0;
  for (let attempts = 1; ; attempts++) {
    seen.count = 0;
    const page = await ifKnown(request(), number);
    if (!page) return undefined;
    if (number === 1 && attempts === 1) onHeaders?.(page.headers);
    try {
      for await (const batch of filterMap(page.batches, (row) => seen.add(row))) {
        yield batch;
        if (seen.received >= maxRecords) break;
      }
      return page;
    } catch (error) {
      if (!seen.allHaveIds || !isBroken(error) || until || !(await transport.again(attempts)))
        throw error;
    }
  }
}

const nextPageHint = `The first page was read; a later one was refused.\n${shapesHint}`;

/** Why a list is doubtful whose next page is answered with 404. */
export const unknownPage = 'the service does not know the next page that it points to';

/**
 * Returns a page by its number; undefined if the service does not know one after the first. A failure
 * of such a page says nothing about the organization (its parameters may be wrong) or the base URL.
 */
export async function ifKnown<P>(page: Promise<P>, number: number): Promise<P | undefined> {
  return page.catch((error: unknown) => {
    if (number > 1 && error instanceof ApiError && error.status === 404) return undefined;
    throw number === 1 ? error : withPageHint(error, number);
  });
}

function withPageHint(error: unknown, number: number): unknown {
  if (error instanceof ApiError && error.exitName === 'invalid')
    return error.with({ hint: nextPageHint });
  const isOfTransfer = error instanceof NetworkError || error instanceof ProtocolError;
  // Any other advice, such as on a certificate or a proxy, is right for a later page, too.
  if (!isOfTransfer || error.hint?.includes('base URL') === false) return error;
  const read = number === 2 ? 'The first page was' : `The first ${number - 1} pages were`;
  return replaceHint(error, `${read} read; page ${number} was not. Run the same command again.`);
}

function firstUrl(
  resource: ResourceName,
  { route, baseUrl, organizationId, overrides, query }: ListSource,
  pagingQuery: { readonly [name: string]: string },
): URL {
  const path = fillPath(route, {}, organizationId);
  const url = new URL(`${baseUrl}${withListQuery(path, resource, overrides)}`);
  for (const [name, value] of Object.entries({ ...pagingQuery, ...query }))
    url.searchParams.set(name, value);
  return url;
}

/** Counts the records of a page and of all pages so far, and recognizes repeated ones. */
export class SeenRecords {
  /** The rows of this page, repeated ones included. */
  count = 0;
  /** The records of this page that no earlier one had. */
  fresh = 0;
  /** The distinct records of all pages. */
  received = 0;
  /** Every record has an id, so a broken page can be requested again without duplicates. */
  allHaveIds = true;
  lastId: string | undefined;
  private readonly keys = new Set<string>();

  constructor(private readonly check: (row: JsonObject) => JsonObject) {}

  /** Returns a new record, or undefined for one that was seen before. */
  add(row: JsonObject): JsonObject | undefined {
    this.count++;
    const record = this.check(row);
    const { id } = record;
    this.lastId = typeof id === 'string' && id !== '' ? id : undefined;
    this.allHaveIds &&= this.lastId !== undefined;
    const { size } = this.keys;
    const isSeen = this.keys.add(this.lastId ?? printJson(record)).size === size;
    if (isSeen && this.lastId !== undefined) return undefined;
    // Two records without ids may be alike, but a page of nothing else is a repeated one.
    if (!isSeen) this.fresh++;
    this.received++;
    return record;
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof ProtocolError && error.code === 'cut');
}

/** Says why rows may be missing from a list whose response also contains an error. */
export function refusedText({ serviceCode }: ApiError): string {
  return `the answer holds an error${serviceCode === undefined ? '' : ` (${serviceCode})`} in addition to its rows`;
}

function assumedEmpty(status: number): Completeness {
  const reason = status === 204 ? 'the service sent no content' : 'the answer shows no list';
  return { state: 'assumedEmpty', reason };
}

/** Returns an override; undefined if it is not set, or set to its default, `auto`. */
export function configured(overrides: Overrides, key: string): string | undefined {
  const value = overrides[key];
  return value === 'auto' ? undefined : value;
}

/** Returns the record in `{node, cursor}` or `{team}`; the row itself if it is none of these. */
export function wrappedIn(row: JsonObject, resource: ResourceName): JsonObject {
  const keys = Object.keys(row);
  const wrappers = ['node', ...resources[resource].envelopes];
  const key = keys.find((each) => wrappers.includes(normalName(each)));
  const inner = key === undefined || keys.length > 2 ? undefined : row[key];
  return isObject(inner) ? inner : row;
}

/** Returns a function that reports the drift of a record and returns it with its id as text. */
function recordChecker(
  resource: ResourceName,
  source: ListSource,
): (item: JsonObject) => JsonObject {
  const { route, result } = endpoint(resources[resource].calls.list);
  const { drift, organizationId: own, overrides } = source;
  const idName = configured(overrides, `ids.${resource}`);
  const { field, descending: isTime } = usualSorting(resource);
  return (row) => {
    const item = hasId(row, idName) ? row : wrappedIn(row, resource);
    const record = withTextId(item, idName);
    if (!hasId(record))
      drift.report(
        route,
        `${idName ?? 'id'}: missing (to name another field: rosterctl config set ids.${resource} FIELD)`,
      );
    else if (record !== item && idName === undefined)
      drift.report(route, 'id: a number where the contract has text');
    if (isOfOtherOrganization(record, own))
      drift.report(route, 'organizationId: a record of another organization');
    if (isTime && isZoneless(record[field]))
      drift.report(
        route,
        `${field}: a time without a time zone, read as local time (if it is UTC, set TZ=UTC)`,
      );
    // A missing id was reported, with what to do.
    drift.check(route, result, hasId(record) ? record : { ...record, id: '' });
    return record;
  };
}
