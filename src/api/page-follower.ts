/** Next pages: follows the pages of a list on its own origin, and says where and why it ends. */

import { normalName } from '../data/path.js';
import { percentDecoded } from '../data/text.js';
import { shapesHint } from '../errors.js';
import type { Page, Paging } from './paging.js';
import type { NextTarget } from './paging-parameters.js';
import type { Completeness, Doubt } from './types.js';

/** Beyond these a list counts as endless. */
export interface Caps {
  readonly pages: number;
  readonly records: number;
}

/** Far beyond the size of any organization. */
export const defaultCaps: Caps = { pages: 100_000, records: 5_000_000 };

/** A service that filters what it has read sends empty pages in between; more in a row count as endless. */
const maxEmptyPages = 100;

/** The organization at a service to which all pages of a list belong. */
interface ListOwner {
  readonly baseUrl: string;
  readonly organizationId: string;
}

/** Follows the pages of one list, each of them once. */
export class PageFollower {
  /** The page to read now. */
  url: URL;
  /** 1 for the first page. */
  number = 1;
  private mayRepeat = true;
  /** Empty pages in a row, up to the last one that was read. */
  private emptyPages = 0;
  private readonly visited = new Set<string>();

  constructor(
    private readonly first: URL,
    private readonly paging: Paging,
    private readonly owner: ListOwner,
    private readonly caps: Caps = defaultCaps,
  ) {
    this.url = first;
    this.visited.add(first.href);
  }

  /** Advances to the page after the one that was read; returns how the list ends if there is none. */
  after(page: Page): Completeness | undefined {
    const { first, number, mayRepeat, caps } = this;
    const step = this.paging.after(page);
    if ('end' in step) return step.end;
    this.emptyPages = page.count === 0 ? this.emptyPages + 1 : 0;
    if (this.emptyPages > maxEmptyPages)
      return doubtfulList('the service keeps sending empty pages');
    if (page.fresh === 0 && page.count > 0 && !mayRepeat)
      return doubtfulList('the service keeps sending the same records', shapesHint);
    if (number >= caps.pages || page.arrived >= caps.records)
      return doubtfulList('the list does not end');
    const next = nextPageTarget(step.next, first, this.url);
    const problem = refusalOf(next, first, this.owner);
    if (problem !== undefined) return { ...doubtfulList(problem, shapesHint), isBarred: true };
    if (this.visited.has(next.href))
      return doubtfulList('the service points to a page that was already read');
    this.visited.add(next.href);
    this.url = next;
    this.number += 1;
    this.mayRepeat = step.mayRepeat ?? false;
    return undefined;
  }
}

/** The state of a list that may lack records although the service pointed to its next pages. */
export function doubtfulList(reason: string, ...fixes: readonly string[]): Doubt {
  return { state: 'doubtful', reason, isLed: true, ...(fixes.length > 0 && { fixes }) };
}

/** Returns the URL of the next page, with the first request's own query (organizationId). */
function nextPageTarget(next: NextTarget, first: URL, current: URL): URL {
  if ('query' in next) {
    const url = new URL(first);
    for (const [name, value] of Object.entries(next.query)) url.searchParams.set(name, value);
    return url;
  }
  const url = URL.canParse(next.url, current.href)
    ? new URL(next.url, current.href)
    : new URL('invalid:');
  // A service behind a proxy that ends TLS does not know that it is reached over https.
  if (url.protocol === 'http:' && url.host === first.host) url.protocol = first.protocol;
  const missing = [...first.searchParams].filter(([name]) => !url.searchParams.has(name));
  for (const [name, value] of missing) url.searchParams.append(name, value);
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
function refusalOf(
  next: URL,
  first: URL,
  { baseUrl, organizationId }: ListOwner,
): string | undefined {
  if (!staysInside(baseUrl, next)) {
    const place = next.origin === first.origin ? next.origin + next.pathname : next.origin;
    return `the service points to a next page elsewhere (${place})`;
  }
  if (changesOrganization(next, first, organizationId))
    return 'the service points to a next page of another organization';
  return undefined;
}

/** True if a next page is not of the organization to which the key belongs (contract 5.2). */
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
  return pathname.split('/').filter(Boolean).map(percentDecoded);
}
