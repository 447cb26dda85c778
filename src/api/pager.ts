import { isObject, type JsonObject } from '../data/json.js';
import { normalName } from './records.js';
import type { Overrides } from './routes.js';

/** What one page of a list showed. */
export interface Page {
  readonly body: unknown;
  readonly headers: { readonly [name: string]: string };
  /** Rows on this page. */
  readonly count: number;
  /** Different records so far, this page included. */
  readonly arrived: number;
  /** 1 for the first. */
  readonly number: number;
  /** Rows on all pages so far, repeated ones counted. */
  readonly rows: number;
}

/** Where the next page is, or why there is none. */
export type NextPage =
  | { readonly next: { readonly url: string } | { readonly query: Query } }
  | { readonly end: 'complete' }
  | { readonly end: 'doubtful'; readonly reason: string };

interface Query {
  readonly [name: string]: string;
}

/** Counts at which services like to cut a list without a word. */
const suspicious = new Set([10, 20, 25, 30, 50, 100, 200, 250, 500, 1000]);

/**
 * Reads the evidence of one page, in order: a next link, "no more", a cursor, offset or page against
 * a total, a bare total, nothing at all. `paging.*` of the configuration replaces words or the mode.
 */
export function nextPageOf(page: Page, overrides: Overrides): NextPage {
  const mode = overrides['paging.mode'] ?? 'auto';
  // What looks like a way on may be none; a count that does not fit is believed all the same.
  if (mode === 'none') return missing(page, collectHints(page.body)).turn ?? { end: 'complete' };
  if (mode === 'page' || mode === 'offset') return byCounting(page, mode, overrides);
  const hints = collectHints(page.body);
  if (mode === 'auto') {
    const url = nextLink(page.headers['link']) ?? hints.nextUrl;
    if (url !== undefined) return { next: { url } };
  }
  if (hints.hasMore === false) return { end: 'complete' };
  if (hints.cursor) return follow(hints.cursor.word, hints.cursor.value, overrides);
  if (mode === 'cursor')
    return nextLink(page.headers['link']) ? unfollowed : checkCompleteness(page, hints);
  return byPosition(page, hints, overrides) ?? checkCompleteness(page, hints);
}

/** The paging parameters of the very first request: none, unless a page size is configured. */
export function firstQuery(overrides: Overrides): Query {
  const size = overrides['paging.size'];
  return size === undefined ? {} : { [wordOf('limit', overrides)]: size };
}

/** Forced modes: on until a page brings nothing. */
function byCounting(page: Page, mode: 'page' | 'offset', overrides: Overrides): NextPage {
  if (page.count === 0) return { end: 'complete' };
  const value = mode === 'page' ? page.number + 1 : page.rows;
  return follow(mode, String(value), overrides);
}

function byPosition(page: Page, hints: Hints, overrides: Overrides): NextPage | undefined {
  const { offset, total, pageNumber, pages, size, nextPage, hasMore } = hints;
  if (nextPage !== undefined) return follow('page', String(nextPage), overrides);
  if (offset !== undefined && total !== undefined) {
    const next = offset + page.count;
    return next < total && page.count > 0
      ? follow('offset', String(next), overrides)
      : checkCompleteness(page, hints);
  }
  if (pageNumber === undefined) return undefined;
  const last =
    pages ??
    (total !== undefined && size !== undefined && size > 0 ? Math.ceil(total / size) : undefined);
  if (last !== undefined)
    return pageNumber < last && page.count > 0
      ? follow('page', String(pageNumber + 1), overrides)
      : checkCompleteness(page, { ...hints, hasMore: pageNumber < last });
  return hasMore ? follow('page', String(pageNumber + 1), overrides) : undefined;
}

const unfollowed: NextPage = {
  end: 'doubtful',
  reason: 'the service names a next page, which paging.mode cursor does not follow',
};

/** No way on: is what came the whole? */
function checkCompleteness(page: Page, hints: Hints): NextPage {
  const { arrived } = page;
  const { turn, total } = missing(page, hints);
  if (turn) return turn;
  if (total !== undefined || hints.ended || page.number > 1) return { end: 'complete' };
  if (suspicious.has(arrived))
    return {
      end: 'doubtful',
      reason: `exactly ${arrived} records came and the service says nothing about more`,
    };
  return { end: 'complete' };
}

/** Where the service itself says that there are more than came; and how many, if it does. */
function missing(page: Page, hints: Hints): { readonly turn?: NextPage; readonly total?: number } {
  const { arrived } = page;
  const headerTotal = whole(page.headers['x-total-count'] ?? page.headers['x-total']);
  // A `count` is often that of the page; only a larger one says something.
  const counted = hints.count !== undefined && hints.count > arrived ? hints.count : undefined;
  const total = hints.total ?? headerTotal ?? counted;
  if (total !== undefined && total > arrived)
    return {
      turn: {
        end: 'doubtful',
        reason: `the service speaks of ${total} records and sent ${arrived}`,
      },
    };
  if (hints.hasMore)
    return {
      turn: {
        end: 'doubtful',
        reason:
          'the service says that there are more and not where (see paging.* in help undocumented)',
      },
    };
  return total === undefined ? {} : { total };
}

function follow(word: ParameterName, value: string, overrides: Overrides): NextPage {
  return { next: { query: { [wordOf(word, overrides)]: value } } };
}

type ParameterName = 'page' | 'limit' | 'offset' | 'cursor' | 'after' | 'pageToken';

function wordOf(name: ParameterName, overrides: Overrides): string {
  return overrides[`paging.params.${name}`] ?? name;
}

/** RFC 8288: the target of rel=next. */
function nextLink(header: string | undefined): string | undefined {
  for (const match of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const [, target, parameters = ''] = match;
    if (/;\s*rel\s*=\s*("[^"]*\bnext\b[^"]*"|next\b)/i.test(parameters)) return target;
  }
  return undefined;
}

interface Hints {
  readonly nextUrl?: string | undefined;
  readonly hasMore?: boolean | undefined;
  /** A place for the next cursor was there and empty: the end. */
  readonly ended: boolean;
  readonly cursor?: { readonly word: ParameterName; readonly value: string } | undefined;
  readonly offset?: number | undefined;
  readonly total?: number | undefined;
  readonly count?: number | undefined;
  readonly pageNumber?: number | undefined;
  readonly nextPage?: number | undefined;
  readonly pages?: number | undefined;
  readonly size?: number | undefined;
}

const containers = [
  'meta',
  'metadata',
  'paging',
  'pagination',
  'pageinfo',
  'page',
  'links',
  'cursors',
  'cursor',
  'data',
  'result',
  'response',
  'next',
];

const cursorWords: readonly (readonly [name: string, word: ParameterName])[] = [
  ['nextcursor', 'cursor'],
  ['nextpagetoken', 'pageToken'],
  ['endcursor', 'after'],
  ['after', 'after'],
  ['next', 'cursor'],
];

function collectHints(body: unknown): Hints {
  const values = new Map<string, unknown>();
  if (isObject(body)) gather(body, values, 3);
  const first = <T>(names: readonly string[], read: (value: unknown) => T | undefined) => {
    for (const name of names) {
      const value = read(values.get(name));
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const last = first(['islast', 'lastpageflag', 'last'], flag);
  const hasMore =
    first(['hasmore', 'hasnext', 'hasnextpage', 'moredataavailable', 'more', 'truncated'], flag) ??
    (last === undefined ? undefined : !last);
  const nextNames = ['next', 'nexturl', 'nextlink', 'nextpageurl', 'nexthref'];
  const found = cursorWords.find(([name]) => opaque(values.get(name)) !== undefined);
  return {
    hasMore,
    nextUrl: first(nextNames, link),
    ended: [...nextNames, ...cursorWords.map(([name]) => name), 'nextpage'].some(
      (name) => values.has(name) && isEmpty(values.get(name)),
    ),
    cursor: found && { word: found[1], value: opaque(values.get(found[0])) ?? '' },
    offset: first(['offset', 'skip', 'start'], whole),
    total: first(['total', 'totalcount', 'totalitems', 'totalresults', 'totalrecords'], whole),
    count: whole(values.get('count')),
    pageNumber: first(['page', 'currentpage', 'pagenumber'], whole),
    nextPage: whole(values.get('nextpage')),
    pages: first(['totalpages', 'pagecount', 'pages', 'lastpage'], whole),
    size: first(['size', 'pagesize', 'perpage', 'limit'], whole),
  };
}

/** Properties of the envelope and of the usual containers in it; the outermost of a name wins. */
function gather(body: JsonObject, into: Map<string, unknown>, depth: number): void {
  const inner: JsonObject[] = [];
  for (const [key, value] of Object.entries(body)) {
    const name = normalName(key);
    if (isObject(value)) {
      // `links: {next: {href}}`
      if (name === 'next' && typeof value['href'] === 'string') into.set('nexthref', value['href']);
      else if (containers.includes(name) && depth > 0) inner.push(value);
    } else if (!Array.isArray(value) && !into.has(name)) into.set(name, value);
  }
  for (const each of inner) gather(each, into, depth - 1);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === false;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function link(value: unknown): string | undefined {
  return typeof value === 'string' && /^(https?:\/\/|\/|\?)/i.test(value) ? value : undefined;
}

function opaque(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && link(value) === undefined ? value : undefined;
}

function whole(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}
