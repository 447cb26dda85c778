/** Next pages: builds the URL of the next page of a list, and refuses one that leads elsewhere. */

import { normalName } from '../data/path.js';
import { percentDecoded } from '../data/text.js';
import type { NextPage } from './pager.js';

/** Returns the URL of the next page, with the first request's own query (organizationId). */
export function nextPageTarget(
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
  return pathname.split('/').filter(Boolean).map(percentDecoded);
}
