/** Paging parameters: the parts of a query that select a page of a list. */
import { normalName } from '../data/path.js';
import type { Overrides } from '../data/resources.js';
import { wordList } from '../data/text.js';

/** Leads to the next page: a URL of the service, or the query to send. */
export type NextTarget =
  | { readonly url: string }
  | { readonly query: { readonly [name: string]: string } };

/** Returns the paging parameters of the first request: none, unless a page size is configured. */
export function firstQuery(overrides: Overrides): { readonly [name: string]: string } {
  const size = overrides['paging.size'];
  return size === undefined ? {} : { [parameterFor('limit', overrides)]: size };
}

/**
 * Returns the page sizes that the first request asks for, as texts: a service may obey and say nothing
 * about more.
 */
export function askedSizes(query: URLSearchParams, overrides: Overrides): readonly string[] {
  const sizes = [...query].filter(
    ([name]) => name === parameterFor('limit', overrides) || sizeParameter.test(name),
  );
  return sizes.map(([, size]) => size);
}

/** Returns the name of a parameter; `paging.params.cursor` renames every kind of cursor. */
export function parameterFor(word: string, overrides: Overrides): string {
  const own = overrides[`paging.params.${word}`];
  const isCursor = !['page', 'limit', 'offset', 'after'].includes(word);
  return own ?? (isCursor ? overrides['paging.params.cursor'] : undefined) ?? word;
}

/** A query parameter for how many records to send. */
const sizeParameter = /limit|size|per.?page|count|take|max|rows|results|\b(top|first)\b/i;

/** Query parameters that name a page by its number, or by how many records precede it. */
const numberParameters = wordList(`
  page pageno pagenum pagenumber pageindex offset skip start startat startindex
`);

/** True if a next page is named by its number or offset, so that records can move onto it and off it. */
export function namesNumber(next: NextTarget, overrides: Overrides): boolean {
  const own = ['page', 'offset'].map((word) => parameterFor(word, overrides));
  const [, query] = 'url' in next ? next.url.split('?', 2) : [];
  const parameters = 'url' in next ? new URLSearchParams(query) : Object.entries(next.query);
  return [...parameters].some(
    ([name, value]) =>
      /^\d+$/.test(value) && (own.includes(name) || numberParameters.includes(normalName(name))),
  );
}
