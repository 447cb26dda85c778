// The next page of a list: where it stands, and whether a page that the service names may be read.
import type { Turn } from './pager.js';
import { normalName } from './records.js';

/** The next page; the first request's own query (organizationId) stays on every page. */
export function targetOf(
  next: Extract<Turn, { next: unknown }>['next'],
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
