/** Pages of a list: which records a request selects, and what its answer may say about the others. */
import type { JsonObject } from '../../data/json.js';
import { invalid } from '../refusal.js';
import type { Shapes } from './shapes.js';
import { type PlaceholderValues, wireText } from './template.js';

interface PageRequest {
  readonly shapes: Shapes;
  readonly resource: string;
  /** `http://127.0.0.1:PORT/v1/…` with its query. */
  readonly url: URL;
}

/** A record with its id, both as they go over the wire. */
interface WireRow {
  readonly id: unknown;
  readonly record: JsonObject;
}

const defaultSize = 20;
const defaultMax = 100;

/** A mode of paging: the parameters it reads, and how it counts. */
interface PagingMode {
  readonly param: string;
  /** The place of the first record for the parameter's text. Throws 400. */
  offset(word: string, size: number, all: readonly WireRow[]): number;
  /** The parameter for the page that begins at a place. */
  at(offset: number, size: number, all: readonly WireRow[]): unknown;
}

const pages = (first: number): PagingMode => ({
  param: 'page',
  offset: (word, size) => (wholeNumber(word, first) - first) * size,
  at: (offset, size) => Math.ceil(offset / size) + first,
});

const modes: Readonly<Record<string, PagingMode>> = {
  page: pages(1),
  link: pages(1),
  page0: pages(0),
  offset: { param: 'offset', offset: (word) => wholeNumber(word, 0), at: (offset) => offset },
  cursor: {
    param: 'cursor',
    offset: (word) => wholeNumber(Buffer.from(word, 'base64url').toString().replace(/^at:/, ''), 0),
    at: (offset) => Buffer.from(`at:${offset}`).toString('base64url'),
  },
  'last-id': {
    param: 'after',
    offset(word, _, all) {
      const at = all.findIndex(({ id }) => String(id) === word);
      if (at < 0) throw invalid('there is no record with that id');
      return at + 1;
    },
    at: (offset, _, all) => all[offset - 1]?.id ?? null,
  },
};

/** The placeholders of a list answer for the page that the URL selects. Throws 400. */
export function pageOf(
  { shapes, resource, url }: PageRequest,
  all: readonly WireRow[],
): PlaceholderValues {
  const mode = modes[shapes.value('paging', resource)];
  const size = mode
    ? pageSizeOf(shapes, resource, url)
    : Number(shapes.given('page-size', resource) ?? Math.max(1, all.length));
  const names = (shapes.given('paging.param', resource) ?? mode?.param ?? '').split(',');
  const name = names.find((each) => url.searchParams.has(each)) ?? names[0] ?? '';
  const word = url.searchParams.get(name) ?? '';
  const offset = mode && word !== '' ? mode.offset(word, size, all) : 0;
  const rows = all.slice(offset, offset + size);
  const end = offset + rows.length;
  const hasEmptyEnd = shapes.value('paging.end', resource) === 'empty';
  const more = mode !== undefined && (hasEmptyEnd ? rows.length > 0 : end < all.length);
  const place = (from: number) => mode?.at(from, size, all) ?? null;
  const next = more ? place(end) : null;
  const nextUrl = new URL(url);
  nextUrl.searchParams.set(name, wireText(next));
  const first = shapes.value('paging', resource) === 'page0' ? 0 : 1;
  const page = Math.floor(offset / size) + first;
  return {
    rows: rows.map(({ record }) => record),
    rowsById: () => Object.fromEntries(rows.map(({ id, record }) => [String(id), record])),
    edges: () =>
      rows.map(({ record }, at) => ({
        node: record,
        cursor: (mode ?? cursorMode).at(offset + at + 1, size, all),
      })),
    total: all.length,
    count: rows.length,
    page,
    pages: Math.ceil(all.length / size),
    size,
    offset,
    prev: offset > 0 ? place(Math.max(0, offset - size)) : null,
    next,
    nextPage: more ? page + 1 : null,
    nextOffset: more ? end : null,
    nextUrl: more ? nextUrl.href : null,
    nextPath: more ? nextUrl.pathname + nextUrl.search : null,
    lastId: rows.at(-1)?.id ?? null,
    more,
    last: !more,
  };
}

const cursorMode = modes['cursor'] as PagingMode;

function pageSizeOf(shapes: Shapes, resource: string, url: URL): number {
  const size = Number(shapes.given('page-size', resource) ?? defaultSize);
  const max = Number(shapes.given('page-size.max', resource) ?? Math.max(size, defaultMax));
  const names = (shapes.given('paging.limit', resource) ?? 'limit').split(',');
  const asked = names.map((each) => url.searchParams.get(each)).find((each) => each !== null);
  return Math.min(asked == null ? size : wholeNumber(asked, 1), max);
}

function wholeNumber(word: string, least: number): number {
  if (!/^\d{1,9}$/.test(word) || Number(word) < least)
    throw invalid(`the page "${word}" does not exist`);
  return Number(word);
}
