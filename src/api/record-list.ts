/** Lists: the records of a resource, page by page, and whether all of them were seen. */
import { filterMap, type Item, recordStream } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import type { Overrides } from '../data/resources.js';
import type { Instant } from '../data/time.js';
import { type ApiError, BugError, NetworkError, ProtocolError } from '../errors.js';
import { endpoint, type ResourceName } from './contract.js';
import { type Drift, strictHint } from './drift.js';
import type { ListPage } from './list-page.js';
import type { NextPage } from './pager.js';
import { hasId, normalName, withTextId } from './records.js';
import { resources } from './resources.js';
import { fillPath, partsOf } from './routes.js';
import type { Transport } from './transport.js';
import type { ApiNotes, Completeness, ListObserver, RecordList } from './types.js';

interface ListSource {
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
  readonly observer?: ListObserver;
  /** Replaces the default caps, for tests. */
  readonly caps?: Caps;
}

/** Beyond these a list counts as endless. */
interface Caps {
  readonly pages: number;
  readonly records: number;
}

/** Far beyond the size of any organization. */
export const defaultCaps: Caps = { pages: 100_000, records: 5_000_000 };

/**
 * Streams the list of a resource, page by page. Sends no paging parameter unless configured,
 * follows only the next pages that responses offer, on the same origin, and skips repeated records.
 */
export function listRecords(resource: ResourceName, source: ListSource): RecordList {
  let completeness: Completeness | undefined;
  let lastByte: Instant | undefined;
  const batches = async function* () {
    completeness = undefined;
    const stopWaiting = source.transport.waiting();
    try {
      completeness = yield* readPages(resource, source, (at) => {
        lastByte = at;
      });
    } finally {
      stopWaiting();
    }
    if (completeness.state === 'complete') return;
    const text = `The list of ${resource} may be incomplete: ${completeness.reason}.`;
    if (source.strict) throw new ProtocolError(text, { code: 'incomplete', hint: strictHint });
    source.notes.note(text);
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
  };
}

async function* readPages(
  resource: ResourceName,
  source: ListSource,
  onLastByte: (lastByte: Instant) => void,
): AsyncGenerator<readonly Item<JsonObject>[], Completeness> {
  const [{ readListPage }, { firstQuery, nextPageOf }] = await Promise.all([
    import('./list-page.js'),
    import('./pager.js'),
  ]);
  const row = endpoint(resources[resource].calls.list);
  const { method, template } = partsOf(row.route);
  const route = { template, org: row.org };
  const first = new URL(`${source.baseUrl}${fillPath(route, {}, source.organizationId)}`);
  const own = new URLSearchParams(source.overrides[`lists.${resource}.query`] ?? '');
  const query = { ...firstQuery(source.overrides), ...source.query };
  for (const [name, value] of [...own, ...Object.entries(query)])
    first.searchParams.set(name, value);
  const seenIds = new Set<string>();
  const visitedUrls = new Set<string>();
  let url = first;
  let rows = 0;
  let received = 0;
  /** Every record has an id, so a broken page can be requested again without duplicates. */
  let allHaveIds = true;
  let refused: ApiError | undefined;
  const caps = source.caps ?? defaultCaps;
  const checkRecord = recordChecker(resource, source);
  /** Returns a new record, or undefined for one that was seen before. */
  const dropRepeated = (item: Item<JsonObject>) => {
    rows++;
    const record = checkRecord(item.value);
    const { id } = record;
    allHaveIds &&= typeof id === 'string';
    if (typeof id === 'string') {
      const { size } = seenIds;
      if (seenIds.add(id).size === size) return undefined;
    }
    received++;
    return record === item.value ? item : { value: record };
  };
  for (let number = 1; ; number++) {
    if (visitedUrls.has(url.href))
      return incomplete('the service names a page that was already read');
    visitedUrls.add(url.href);
    const request = {
      transport: source.transport,
      call: { method, path: template },
      path: pathBelow(source.baseUrl, url),
      origin: first.origin,
      resource,
      listPath: source.overrides[`lists.${resource}.path`],
    };
    const previous = { arrived: received, rows };
    let page: ListPage | undefined;
    for (let attempts = 1; !page; attempts++) {
      // oxlint-disable-next-line no-await-in-loop
      const candidate = await readListPage(request);
      if (number === 1 && attempts === 1) source.observer?.onHeaders?.(candidate.headers);
      try {
        for await (const batch of filterMap(candidate.batches, dropRepeated)) {
          yield batch;
          if (received < caps.records) continue;
          onLastByte(candidate.arrivedAt());
          return incomplete('the list does not end');
        }
        page = candidate;
        onLastByte(candidate.arrivedAt());
      } catch (error) {
        // oxlint-disable-next-line no-await-in-loop
        if (!allHaveIds || !isBroken(error) || !(await source.transport.again(attempts)))
          throw error;
        ({ rows } = previous);
      }
    }
    const { headers } = page;
    const { body, refusal } = page.envelope();
    refused ??= refusal;
    const count = rows - previous.rows;
    const step = nextPageOf(
      { body, headers, count, arrived: received, number, rows },
      source.overrides,
    );
    if ('end' in step && step.end !== 'complete') return incomplete(step.reason);
    if ('end' in step) return refused ? incomplete(refusedText(refused)) : { state: 'complete' };
    if (number > 1 && received === previous.arrived)
      return incomplete('the service sends nothing new any more');
    if (number >= caps.pages) return incomplete('the list does not end');
    const next = targetOf(step.next, first, url);
    const problem = refusalOf(next, first, source);
    if (problem !== undefined) return incomplete(problem);
    url = next;
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof ProtocolError && error.code === 'cut');
}

/** Says why rows may be missing from a list whose response also contains an error. */
export function refusedText({ serviceCode }: ApiError): string {
  return `the answer holds an error${serviceCode === undefined ? '' : ` (${serviceCode})`} beside its rows`;
}

function incomplete(reason: string): Completeness {
  return { state: 'doubtful', reason };
}

/** Returns a function that reports the drift of a record and returns it with its id as text. */
function recordChecker(
  resource: ResourceName,
  source: ListSource,
): (item: JsonObject) => JsonObject {
  const { route, result } = endpoint(resources[resource].calls.list);
  const { drift, organizationId: own } = source;
  return (item) => {
    const record = withTextId(item);
    if (record !== item) drift.report(route, 'id: a number where the contract has text');
    else if (!hasId(item)) drift.report(route, 'id: missing');
    const { organizationId } = record;
    if (organizationId !== undefined && organizationId !== own)
      drift.report(route, 'organizationId: a record of another organization');
    drift.check(route, result, record);
    return record;
  };
}

/** Returns the URL of the next page, with the first request's own query (organizationId). */
export function targetOf(
  next: Extract<NextPage, { next: unknown }>['next'],
  first: URL,
  current: URL,
): URL {
  if ('query' in next) {
    const url = new URL(first);
    for (const [name, value] of Object.entries(next.query)) url.searchParams.set(name, value);
    return url;
  }
  const url = URL.canParse(next.url, current.href)
    ? new URL(next.url, current.href)
    : new URL('invalid:');
  for (const [name, value] of first.searchParams)
    if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  return url;
}

function staysInside(baseUrl: string, url: URL): boolean {
  const base = new URL(baseUrl);
  return (
    url.origin === base.origin &&
    url.username === '' &&
    url.pathname.startsWith(`${base.pathname.replace(/\/$/, '')}/`)
  );
}

export function pathBelow(baseUrl: string, url: URL): string {
  const prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
  return `${url.pathname.slice(prefix.length)}${url.search}`;
}

/** Says why the next page that the service names must not be read; undefined if it may be. */
export function refusalOf(
  next: URL,
  first: URL,
  { baseUrl, organizationId }: { readonly baseUrl: string; readonly organizationId: string },
): string | undefined {
  if (!staysInside(baseUrl, next))
    return `the service names a next page elsewhere (${next.origin})`;
  if (changesOrganization(next, first, organizationId))
    return 'the service names a next page of another organization';
  return undefined;
}

/**
 * A key belongs to one organization (contract 5.2), so path and query of each page must name that
 * one.
 */
function changesOrganization(next: URL, first: URL, own: string): boolean {
  const expected = first.searchParams.get('organizationId') ?? own;
  for (const [name, value] of next.searchParams)
    if (normalName(name) === 'organizationid' && value !== expected) return true;
  const firstSegments = segmentsOf(first);
  const segments = segmentsOf(next);
  const at = firstSegments.indexOf(own);
  const isSameList = firstSegments
    .slice(0, at)
    .every((segment, index) => segment.toLowerCase() === segments[index]?.toLowerCase());
  if (at > 0 && isSameList && segments.length > at && segments[at] !== own) return true;
  const named = segments.findIndex((segment) => /^org(anization)?s$/i.test(segment)) + 1;
  return named > 0 && named < segments.length && segments[named] !== own;
}

function segmentsOf({ pathname }: URL): string[] {
  return pathname.split('/').filter(Boolean).map(decoded);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
