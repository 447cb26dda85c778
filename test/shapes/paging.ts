/** Paging styles: how a service says that a list goes on, or does not say it. */
import type { Shape } from './cell.js';

/** Odd numbers of records to a page, so that no size gives a cut list away. */
const oddPages = { teams: 4, players: 11, documents: 5, tryouts: 23 } as const;

type More = Partial<Omit<Shape, 'table' | 'name' | 'shapes'>> & {
  readonly also?: readonly string[];
};

function style(name: string, mode: string, list: string, more: More = {}): Shape {
  const { also = [], pages = oddPages, ...rest } = more;
  const sizes = Object.entries(pages).map(([resource, size]) => `page-size.${resource}=${size}`);
  return {
    table: 'paging',
    name,
    shapes: [`paging=${mode}`, `list=${list}`, ...sizes, ...also],
    pages,
    ...rest,
  };
}

/** The tool says that it follows these (gaps 4.3): every list is whole. */
const followed = (name: string, mode: string, list: string, ...also: string[]): Shape =>
  style(name, mode, list, { promise: 'right', also });

/** These may be in doubt, and must not be short without a word. */
const any = (name: string, mode: string, list: string, ...also: string[]): Shape =>
  style(name, mode, list, { also });

/** One line of settings mends these. */
const mended = (
  name: string,
  settings: Readonly<Record<string, string>>,
  mode: string,
  list: string,
  ...also: string[]
): Shape => style(name, mode, list, { promise: 'right', settings, also });

const rows = '"$resource":"$rows"';
const link = (value: string): string => `list.headers=${JSON.stringify({ Link: value })}`;

const byLink: readonly Shape[] = [
  followed('Link', 'link', `{${rows}}`, link('<$nextUrl>; rel="next"')),
  followed(
    'Link among others',
    'link',
    `{${rows}}`,
    link('<http://127.0.0.1/v1/x?page=1>; rel="first", <$nextUrl>; rel="next"'),
  ),
  followed('Link beside a bare array', 'link', '"$rows"', link('<$nextUrl>; rel=next')),
  followed('Link with a path', 'link', `{${rows}}`, link('<$nextPath>; rel="next"; title="on"')),
  followed('next: URL', 'page', `{${rows},"next":"$nextUrl"}`),
  followed('next: URL, absent at the end', 'page', `{${rows},"next":"$nextUrl?"}`),
  followed('next: path', 'page', `{${rows},"next":"$nextPath"}`),
  followed('links.next', 'page', `{"data":"$rows","links":{"next":"$nextUrl","prev":null}}`),
  followed(
    '_links.next.href',
    'page',
    `{${rows},"_links":{"next":{"href":"$nextUrl"}}}`,
    `list.last={${rows},"_links":{"self":{"href":"/v1/x"}}}`,
  ),
  followed('meta.next_url', 'page', `{"data":"$rows","meta":{"next_url":"$nextUrl"}}`),
  followed('pagination.nextPageUrl', 'page', `{${rows},"pagination":{"nextPageUrl":"$nextUrl"}}`),
  followed('nextLink', 'page', `{"value":[],"items":"$rows","nextLink":"$nextUrl?"}`),
  followed('@odata.nextLink', 'offset', `{"items":"$rows","@odata.nextLink":"$nextUrl?"}`),
  followed(
    'links as an array',
    'page',
    `{${rows},"links":[{"rel":"self","href":"/v1/x"},{"rel":"next","href":"$nextUrl"}]}`,
    `list.last={${rows},"links":[{"rel":"self","href":"/v1/x"}]}`,
  ),
  followed('nextPage: URL', 'page', `{${rows},"nextPage":"$nextUrl"}`),
  followed(
    'next_page_url',
    'page',
    `{"data":"$rows","next_page_url":"$nextUrl","per_page":"$size"}`,
  ),
];

const cursor = (name: string, list: string, param: string, ...also: string[]): Shape =>
  followed(name, 'cursor', list, `paging.param=${param}`, ...also);

const byCursor: readonly Shape[] = [
  cursor('nextCursor', `{${rows},"nextCursor":"$next"}`, 'cursor'),
  cursor('nextCursor, absent at the end', `{${rows},"nextCursor":"$next?"}`, 'cursor'),
  cursor('next_cursor', `{${rows},"next_cursor":"$next"}`, 'cursor'),
  cursor('meta.nextCursor', `{"data":"$rows","meta":{"nextCursor":"$next"}}`, 'cursor'),
  cursor('pagination.next_cursor', `{${rows},"pagination":{"next_cursor":"$next"}}`, 'cursor'),
  cursor(
    'response_metadata.next_cursor',
    `{"ok":true,${rows},"response_metadata":{"next_cursor":"$next"}}`,
    'cursor',
    `list.last={"ok":true,${rows},"response_metadata":{"next_cursor":""}}`,
  ),
  cursor('hasMore and nextCursor', `{${rows},"hasMore":"$more","nextCursor":"$next"}`, 'cursor'),
  cursor(
    'pageInfo.endCursor',
    `{${rows},"pageInfo":{"hasNextPage":"$more","endCursor":"$next"}}`,
    'after',
  ),
  cursor(
    'page_info.end_cursor',
    `{${rows},"page_info":{"has_next_page":"$more","end_cursor":"$next"}}`,
    'after',
  ),
  cursor(
    'paging.cursors.after',
    `{"data":"$rows","paging":{"cursors":{"after":"$next?"}}}`,
    'after',
  ),
  cursor('nextPageToken', `{${rows},"nextPageToken":"$next?"}`, 'pageToken'),
  cursor('nextToken', `{${rows},"nextToken":"$next"}`, 'nextToken'),
  cursor('continuationToken', `{${rows},"continuationToken":"$next"}`, 'continuationToken'),
  cursor(
    'metadata.continue',
    `{"kind":"List","metadata":{"continue":"$next?"},"items":"$rows"}`,
    'continue',
  ),
  cursor('nextMarker', `{${rows},"nextMarker":"$next?"}`, 'marker'),
  cursor('scrollId', `{${rows},"scrollId":"$next"}`, 'scrollId', 'paging.end=empty'),
  cursor('bookmark', `{${rows},"bookmark":"$next"}`, 'bookmark', 'paging.end=empty'),
  cursor(
    'LastEvaluatedKey',
    `{"Items":"$rows","Count":"$count","LastEvaluatedKey":"$next?"}`,
    'exclusiveStartKey,ExclusiveStartKey,lastEvaluatedKey',
  ),
  cursor('next: opaque', `{${rows},"next":"$next"}`, 'cursor'),
  cursor('meta.next: opaque', `{"data":"$rows","meta":{"next":"$next"}}`, 'cursor'),
  cursor('nextPage: token', `{${rows},"nextPage":"$next"}`, 'page'),
  cursor('X-Next-Cursor', '"$rows"', 'cursor', 'list.headers={"X-Next-Cursor":"$next"}'),
];

const byPosition: readonly Shape[] = [
  followed('nextPage: number', 'page', `{${rows},"nextPage":"$nextPage"}`),
  followed('next_page: number', 'page', `{${rows},"next_page":"$nextPage"}`),
  followed('nextOffset', 'offset', `{${rows},"nextOffset":"$nextOffset"}`),
  followed('next_offset', 'offset', `{${rows},"next_offset":"$nextOffset?"}`),
  followed('X-Next-Page', 'page', '"$rows"', 'list.headers={"X-Next-Page":"$nextPage"}'),
  followed(
    'offset and total',
    'offset',
    `{${rows},"offset":"$offset","limit":"$size","total":"$total"}`,
  ),
  followed('page and totalPages', 'page', `{${rows},"page":"$page","totalPages":"$pages"}`),
  followed(
    'page, total and size',
    'page',
    `{"items":"$rows","page":"$page","size":"$size","total":"$total"}`,
  ),
  followed('page and hasMore', 'page', `{${rows},"page":"$page","hasMore":"$more"}`),
  followed(
    'page and has_next',
    'page',
    `{"data":"$rows","meta":{"page":"$page","has_next":"$more"}}`,
  ),
  followed(
    'current_page and last_page',
    'page',
    `{"data":"$rows","meta":{"current_page":"$page","last_page":"$pages","per_page":"$size","total":"$total"}}`,
  ),
  followed(
    'pagination.page and pagination.pages',
    'page',
    `{${rows},"pagination":{"page":"$page","pages":"$pages"}}`,
  ),
  followed(
    'pages from 0, Spring',
    'page0',
    `{"content":"$rows","number":"$page","totalPages":"$pages","totalElements":"$total","last":"$last","first":false,"size":"$size"}`,
  ),
  followed('pages from 0, totalPages', 'page0', `{${rows},"page":"$page","totalPages":"$pages"}`),
  followed(
    'pages from 0, total and size',
    'page0',
    `{${rows},"page":"$page","pageSize":"$size","total":"$total"}`,
  ),
  followed(
    'offset and hasMore',
    'offset',
    `{${rows},"offset":"$offset","limit":"$size","hasMore":"$more"}`,
  ),
  followed(
    'the last page without hints',
    'page',
    `{${rows},"page":"$page","hasMore":true}`,
    `list.last={${rows}}`,
  ),
  followed(
    'an empty page at the end',
    'page',
    `{${rows},"page":"$page","hasMore":"$more"}`,
    'paging.end=empty',
  ),
];

/** The answer says that there is more, and not how to get it. */
const inDoubt: readonly Shape[] = [
  ...[
    'hasMore',
    'has_more',
    'hasNext',
    'moreAvailable',
    'truncated',
    'isTruncated',
    'incomplete_results',
  ].map((key) => any(`${key} alone`, 'cursor', `{${rows},"${key}":"$more"}`, 'paging.param=zzz')),
  any(
    'hasMore as text',
    'cursor',
    `{${rows},"hasMore":"true"}`,
    `list.last={${rows},"hasMore":"false"}`,
  ),
  ...[
    'total',
    'totalCount',
    'total_count',
    'found',
    'hits',
    'totalRecords',
    'recordsTotal',
    'count',
  ].map((key) => any(`${key} alone`, 'none', `{${rows},"${key}":"$total"}`)),
  any('meta.total', 'none', '{"data":"$rows","meta":{"total":"$total"}}'),
  any('summary.total', 'none', '{"data":"$rows","summary":{"total":"$total"}}'),
  any('total.value', 'none', `{${rows},"total":{"value":"$total","relation":"eq"}}`),
  any('totalPages alone', 'page', `{${rows},"totalPages":"$pages"}`),
  any('pages alone', 'page', `{${rows},"pages":"$pages"}`),
  ...[
    'X-Total-Count',
    'Total-Count',
    'X-Total',
    'X-Pagination-Total',
    'X-Pagination-Total-Count',
  ].map((name) => any(name, 'none', '"$rows"', `list.headers={"${name}":"$total"}`)),
  any('Content-Range', 'none', '"$rows"', 'list.headers={"Content-Range":"items 0-$count/$total"}'),
  any(
    '206 and Content-Range',
    'none',
    '206 "$rows"',
    'list.headers={"Content-Range":"items 0-$count/$total"}',
  ),
  any('206 alone', 'none', `206 {${rows}}`),
  any('limit: as many as came', 'none', `{${rows},"limit":"$count"}`),
  any('pagination.perPage: as many as came', 'none', `{${rows},"pagination":{"perPage":"$count"}}`),
  style('a round number', 'none', `{${rows}}`, {
    pages: { teams: 100, players: 20, documents: 10, tryouts: 50 },
  }),
  ...[
    'resumeToken',
    'continuation',
    'next-token',
    'cursor',
    'paginationToken',
    'nextKey',
    'moreToken',
  ].map((key) =>
    any(`${key}, unknown`, 'cursor', `{${rows},"${key}":"$next?"}`, 'paging.param=zzz'),
  ),
  any(
    'meta.continuation',
    'cursor',
    `{"data":"$rows","meta":{"continuation":"$next?"}}`,
    'paging.param=zzz',
  ),
  any(
    'next_page_token, page_token',
    'cursor',
    `{${rows},"next_page_token":"$next"}`,
    'paging.param=page_token',
  ),
  any('next: number', 'page', `{${rows},"next":"$nextPage"}`),
  any('next: true', 'page', `{${rows},"next":"$more"}`),
  any(
    'has_more and the last id',
    'last-id',
    `{"data":"$rows","has_more":"$more"}`,
    'paging.param=starting_after',
  ),
  any('done: false', 'cursor', `{${rows},"done":false}`, `list.last={${rows},"done":true}`),
  any('status 207', 'none', `207 {${rows}}`),
  any('total within the resource', 'none', '{"$resource":{"data":"$rows","total":"$total"}}'),
  any('hasMore: false beside a larger total', 'none', `{${rows},"hasMore":false,"total":"$total"}`),
  any('last: true beside more pages', 'none', `{${rows},"last":true,"totalElements":"$total"}`),
  any(
    'totalPages, then nothing',
    'page',
    `{${rows},"totalPages":9}`,
    `list.last={${rows}}`,
    'paging.param=zzz',
  ),
];

/** Ways on that lead astray: stuck, round and round, to somebody else. */
const astray: readonly Shape[] = [
  any(
    'stuck: the cursor is not read',
    'cursor',
    `{${rows},"nextCursor":"$next"}`,
    'paging.param=zzz',
  ),
  any(
    'stuck: the page is not read',
    'page',
    `{${rows},"page":"$page","totalPages":"$pages"}`,
    'paging.param=zzz',
  ),
  any(
    'stuck: the offset is not read',
    'offset',
    `{${rows},"offset":"$offset","total":"$total"}`,
    'paging.param=zzz',
  ),
  any('the link names its own page', 'link', `{${rows},"next":"/v1/$resource/$organization"}`),
  any('next without end', 'none', `{${rows},"nextCursor":"again"}`),
  any('a dead link', 'none', `{${rows},"next":"/v1/nowhere?page=2"}`),
  any('a foreign Link', 'none', `{${rows}}`, link('<FOREIGN/v1/players?page=2>; rel="next"')),
  any('a foreign next', 'none', `{${rows},"next":"FOREIGN/v1/players?page=2"}`),
  any(
    'a foreign @odata.nextLink',
    'none',
    `{"items":"$rows","@odata.nextLink":"FOREIGN/v1/x?$$skip=5"}`,
  ),
  any('another path', 'none', `{${rows},"next":"/v1/teams/$organization"}`),
];

const forced: readonly Shape[] = [
  {
    ...mended('paging.mode page', { 'paging.mode': 'page' }, 'page', `{${rows}}`),
    // Page 1 may be the first page again.
    extraReads: 1,
  },
  mended(
    'paging.mode page, pages from 0',
    { 'paging.mode': 'page', 'paging.first': '0' },
    'page0',
    `{${rows}}`,
  ),
  mended(
    'paging.mode page, first unset, pages from 0',
    { 'paging.mode': 'page' },
    'page0',
    `{${rows}}`,
  ),
  mended('paging.mode offset', { 'paging.mode': 'offset' }, 'offset', '"$rows"'),
  mended(
    'paging.mode offset by $skip',
    { 'paging.mode': 'offset', 'paging.params.offset': '$skip' },
    'offset',
    '"$rows"',
    'paging.param=$skip',
  ),
  mended(
    'paging.mode last-id',
    { 'paging.mode': 'last-id', 'paging.params.after': 'starting_after' },
    'last-id',
    '{"data":"$rows","has_more":"$more"}',
    'paging.param=starting_after',
  ),
  mended(
    'paging.next as a path',
    { 'paging.next': 'meta.continuation', 'paging.params.cursor': 'continuation' },
    'cursor',
    '{"data":"$rows","meta":{"continuation":"$next"}}',
    'paging.param=continuation',
  ),
  mended(
    'paging.next as a header',
    { 'paging.next': 'X-Continuation', 'paging.params.cursor': 'continuation' },
    'cursor',
    '"$rows"',
    'list.headers={"X-Continuation":"$next"}',
    'paging.param=continuation',
  ),
  mended(
    'paging.params.cursor',
    { 'paging.params.cursor': 'from' },
    'cursor',
    `{${rows},"nextCursor":"$next"}`,
    'paging.param=from',
  ),
  mended(
    'paging.size',
    { 'paging.size': '100' },
    'page',
    `{${rows},"hasMore":"$more","page":"$page"}`,
  ),
  mended(
    'paging.total',
    { 'paging.total': 'meta.hits', 'paging.mode': 'page' },
    'page',
    '{"data":"$rows","meta":{"hits":"$total","total":9999}}',
  ),
  style('paging.mode page, and the page is not read', 'none', `{${rows},"total":"$total"}`, {
    settings: { 'paging.mode': 'page' },
  }),
  style(
    'paging.mode cursor, and pages come',
    'page',
    `{${rows},"page":"$page","totalPages":"$pages"}`,
    {
      settings: { 'paging.mode': 'cursor' },
    },
  ),
  style('paging.mode none, and a larger total', 'none', `{${rows},"total":"$total"}`, {
    settings: { 'paging.mode': 'none' },
  }),
];

/** Nothing in the answer, its headers or its size tells that it was cut. */
const silent: readonly Shape[] = [
  style('cut at 17, and nothing says so', 'none', `{${rows}}`, {
    pages: { teams: 5, players: 17, documents: 7, tryouts: 37 },
  }),
];

/** Every paging style. */
export const pagingStyles: readonly Shape[] = [
  ...byLink,
  ...byCursor,
  ...byPosition,
  ...inDoubt,
  ...astray,
  ...forced,
  ...silent,
];
