/** Paging: finds the next page of a list, or decides whether the list is complete. */
import { isObject, type JsonObject } from '../data/json.js';
import type { Overrides } from '../data/resources.js';
import { normalName } from './records.js';

/** One page of a list. */
export interface Page {
  readonly body: unknown;
  readonly headers: { readonly [name: string]: string };
  /** Rows on this page. */
  readonly count: number;
  /** Distinct records so far, including this page. */
  readonly arrived: number;
  /** 1 for the first page. */
  readonly number: number;
  /** Rows on all pages so far, including repeated ones. */
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

/** Counts at which services often truncate a list silently. */
const suspiciousCounts = new Set([10, 20, 25, 30, 50, 100, 200, 250, 500, 1000]);

/**
 * Decides how to continue after a page. Looks, in this order, for a next link, "no more", a cursor,
 * an offset or page number against a total, and a bare total. The settings `paging.*` replace the
 * parameter names or the mode.
 */
export function nextPageOf(page: Page, overrides: Overrides): NextPage {
  const mode = overrides['paging.mode'] ?? 'auto';
  // In this mode links and cursors do not count, but a total that does not match still does.
  if (mode === 'none') return checkTotal(page, readHints(page.body)).result ?? { end: 'complete' };
  if (mode === 'page' || mode === 'offset') return byCounting(page, mode, overrides);
  const hints = readHints(page.body);
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

/** Returns the paging parameters of the first request: none, unless a page size is configured. */
export function firstQuery(overrides: Overrides): Query {
  const size = overrides['paging.size'];
  return size === undefined ? {} : { [parameterFor('limit', overrides)]: size };
}

/** For the forced modes: continues until a page is empty. */
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

/** Decides, where there is no next page, whether the list is complete. */
function checkCompleteness(page: Page, hints: Hints): NextPage {
  const { arrived } = page;
  const { result, total } = checkTotal(page, hints);
  if (result) return result;
  if (total !== undefined || hints.ended || page.number > 1) return { end: 'complete' };
  if (suspiciousCounts.has(arrived))
    return {
      end: 'doubtful',
      reason: `exactly ${arrived} records came and the service says nothing about more`,
    };
  return { end: 'complete' };
}

/**
 * Checks whether the service itself says that records are missing, and returns its total, if any.
 */
function checkTotal(
  page: Page,
  hints: Hints,
): { readonly result?: NextPage; readonly total?: number } {
  const { arrived } = page;
  const headerTotal = countOf(page.headers['x-total-count'] ?? page.headers['x-total']);
  // A `count` is often that of the page, so only a larger one is a total.
  const counted = hints.count !== undefined && hints.count > arrived ? hints.count : undefined;
  const total = hints.total ?? headerTotal ?? counted;
  if (total !== undefined && total > arrived)
    return {
      result: {
        end: 'doubtful',
        reason: `the service speaks of ${total} records and sent ${arrived}`,
      },
    };
  if (hints.hasMore)
    return {
      result: {
        end: 'doubtful',
        reason:
          'the service says that there are more and not where (see paging.* in help undocumented)',
      },
    };
  return total === undefined ? {} : { total };
}

function follow(word: ParameterName, value: string, overrides: Overrides): NextPage {
  return { next: { query: { [parameterFor(word, overrides)]: value } } };
}

type ParameterName = 'page' | 'limit' | 'offset' | 'cursor' | 'after' | 'pageToken';

function parameterFor(name: ParameterName, overrides: Overrides): string {
  return overrides[`paging.params.${name}`] ?? name;
}

/** Returns the target of rel=next in a Link header (RFC 8288). */
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
  /** A field for the next page or cursor was present and empty: the end. */
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

function readHints(body: unknown): Hints {
  const values = new Map<string, unknown>();
  if (isObject(body)) collect(body, values, 3);
  const first = <T>(names: readonly string[], read: (value: unknown) => T | undefined) => {
    for (const name of names) {
      const value = read(values.get(name));
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const last = first(['islast', 'lastpageflag', 'last'], booleanOf);
  const hasMore =
    first(
      ['hasmore', 'hasnext', 'hasnextpage', 'moredataavailable', 'more', 'truncated'],
      booleanOf,
    ) ?? (last === undefined ? undefined : !last);
  const nextNames = ['next', 'nexturl', 'nextlink', 'nextpageurl', 'nexthref'];
  const found = cursorWords.find(([name]) => cursorOf(values.get(name)) !== undefined);
  return {
    hasMore,
    nextUrl: first(nextNames, linkOf),
    ended: [...nextNames, ...cursorWords.map(([name]) => name), 'nextpage'].some(
      (name) => values.has(name) && isEmpty(values.get(name)),
    ),
    cursor: found && { word: found[1], value: cursorOf(values.get(found[0])) ?? '' },
    offset: first(['offset', 'skip', 'start'], countOf),
    total: first(['total', 'totalcount', 'totalitems', 'totalresults', 'totalrecords'], countOf),
    count: countOf(values.get('count')),
    pageNumber: first(['page', 'currentpage', 'pagenumber'], countOf),
    nextPage: countOf(values.get('nextpage')),
    pages: first(['totalpages', 'pagecount', 'pages', 'lastpage'], countOf),
    size: first(['size', 'pagesize', 'perpage', 'limit'], countOf),
  };
}

/**
 * Collects the properties of the envelope and its usual containers; the outermost of a name wins.
 */
function collect(body: JsonObject, into: Map<string, unknown>, depth: number): void {
  const inner: JsonObject[] = [];
  for (const [key, value] of Object.entries(body)) {
    const name = normalName(key);
    if (isObject(value)) {
      // `links: {next: {href}}`
      if (name === 'next' && typeof value['href'] === 'string') into.set('nexthref', value['href']);
      else if (containers.includes(name) && depth > 0) inner.push(value);
    } else if (!Array.isArray(value) && !into.has(name)) into.set(name, value);
  }
  for (const each of inner) collect(each, into, depth - 1);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === false;
}

function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function linkOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^(https?:\/\/|\/|\?)/i.test(value) ? value : undefined;
}

function cursorOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && linkOf(value) === undefined
    ? value
    : undefined;
}

function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}
