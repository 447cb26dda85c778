import { recordStream, type Item, filterMap } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import type { Instant } from '../data/time.js';
import { type ApiError, BugError, NetworkError, ProtocolError } from '../errors.js';
import { endpoint, type ResourceName } from './contract.js';
import { type Drift, strictHint } from './drift.js';
import type { ListPage } from './list-page.js';
import type { NextPage } from './pager.js';
import { hasId, normalName, withTextId } from './records.js';
import { resources } from './resources.js';
import { fillPath, type Overrides, partsOf } from './routes.js';
import type { Transport } from './transport.js';
import type { ApiNotes, Completeness, ListObserver, RecordList } from './types.js';

interface ListSource {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly transport: Transport;
  readonly overrides: Overrides;
  readonly drift: Drift;
  readonly notes: ApiNotes;
  /** A doubtful list is an error, not a note. */
  readonly strict: boolean;
  /** Parameters besides those of the configuration. */
  readonly query?: { readonly [name: string]: string };
  readonly listening?: ListObserver;
  /** Other caps than the usual ones, for tests. */
  readonly caps?: Caps;
}

/** Beyond these a list is taken for one that never ends. */
interface Caps {
  readonly pages: number;
  readonly records: number;
}

/** Far beyond any organization: what goes on longer does not end. */
export const defaultCaps: Caps = { pages: 100_000, records: 5_000_000 };

/**
 * The list of a resource, page by page as it comes. It sends no paging parameter of its own accord
 * and follows only what the answers offer, on the same origin; repeated records are left out.
 */
export function listRecords(resource: ResourceName, source: ListSource): RecordList {
  let completeness: Completeness | undefined;
  let lastByte: Instant | undefined;
  const batches = async function* () {
    completeness = undefined;
    const arrived = source.transport.waiting();
    try {
      completeness = yield* walk(resource, source, (at) => {
        lastByte = at;
      });
    } finally {
      arrived();
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

async function* walk(
  resource: ResourceName,
  source: ListSource,
  arrivedAt: (lastByte: Instant) => void,
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
  const asked = { ...firstQuery(source.overrides), ...source.query };
  for (const [name, value] of [...own, ...Object.entries(asked)])
    first.searchParams.set(name, value);
  const seen = new Set<string>();
  const visited = new Set<string>();
  let url = first;
  let rows = 0;
  let arrived = 0;
  /** Every record has an id: a page that broke can be asked for again, and none comes twice. */
  let isNamed = true;
  let refused: ApiError | undefined;
  const caps = source.caps ?? defaultCaps;
  const judged = recordChecker(resource, source);
  /** A record of its own; undefined for one that came before. */
  const fresh = (item: Item<JsonObject>) => {
    rows++;
    const record = judged(item.value);
    const { id } = record;
    isNamed &&= typeof id === 'string';
    if (typeof id === 'string') {
      const { size } = seen;
      if (seen.add(id).size === size) return undefined;
    }
    arrived++;
    return record === item.value ? item : { value: record };
  };
  for (let number = 1; ; number++) {
    if (visited.has(url.href)) return doubt('the service names a page that was already read');
    visited.add(url.href);
    // oxlint-disable-next-line no-await-in-loop
    const place = {
      transport: source.transport,
      call: { method, path: template },
      path: pathBelow(source.baseUrl, url),
      origin: first.origin,
      resource,
      listPath: source.overrides[`lists.${resource}.path`],
    };
    const before = { arrived, rows };
    let page: ListPage | undefined;
    for (let attempts = 1; !page; attempts++) {
      // oxlint-disable-next-line no-await-in-loop
      const begun = await readListPage(place);
      if (number === 1 && attempts === 1) source.listening?.answered?.(begun.headers);
      try {
        for await (const batch of filterMap(begun.batches, fresh)) {
          yield batch;
          if (arrived < caps.records) continue;
          arrivedAt(begun.arrivedAt());
          return doubt('the list does not end');
        }
        page = begun;
        arrivedAt(begun.arrivedAt());
      } catch (error) {
        // oxlint-disable-next-line no-await-in-loop
        if (!isNamed || !brokeOff(error) || !(await source.transport.again(attempts))) throw error;
        ({ rows } = before);
      }
    }
    const { headers } = page;
    const { body, refusal } = page.envelope();
    refused ??= refusal;
    const count = rows - before.rows;
    const turn = nextPageOf({ body, headers, count, arrived, number, rows }, source.overrides);
    if ('end' in turn && turn.end !== 'complete') return doubt(turn.reason);
    if ('end' in turn) return refused ? doubt(refusedText(refused)) : { state: 'complete' };
    if (number > 1 && arrived === before.arrived)
      return doubt('the service sends nothing new any more');
    if (number >= caps.pages) return doubt('the list does not end');
    const next = targetOf(turn.next, first, url);
    const strays = refusalOf(next, first, source);
    if (strays !== undefined) return doubt(strays);
    url = next;
  }
}

function brokeOff(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof ProtocolError && error.code === 'cut');
}

/** Why a list whose answer says no beside its rows may lack some. */
export function refusedText({ serviceCode }: ApiError): string {
  return `the answer holds an error${serviceCode === undefined ? '' : ` (${serviceCode})`} beside its rows`;
}

function doubt(reason: string): Completeness {
  return { state: 'doubtful', reason };
}

/** Tells where a record is not as the contract says; gives the record with its id as text. */
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

/** The next page; the first request's own query (organizationId) stays on every page. */
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

/** Why the page that the service names is not read; undefined where it may be. */
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

/** A key belongs to one organization (contract 5.2): its pages name that one, in the path and in the query. */
function changesOrganization(next: URL, first: URL, own: string): boolean {
  const asked = first.searchParams.get('organizationId') ?? own;
  for (const [name, value] of next.searchParams)
    if (normalName(name) === 'organizationid' && value !== asked) return true;
  const before = segmentsOf(first);
  const segments = segmentsOf(next);
  const at = before.indexOf(own);
  const isSameList = before
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
