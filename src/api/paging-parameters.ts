/** Paging parameters: the parts of a query that select a page of a list. */
import type { Overrides } from '../data/resources.js';

/** Leads to the next page: a URL of the service, or the query to send. */
export type NextTarget =
  | { readonly url: string }
  | { readonly query: { readonly [name: string]: string } };

/** Returns the paging parameters of the first request: none, unless a page size is configured. */
export function firstQuery(overrides: Overrides): { readonly [name: string]: string } {
  const size = overrides['paging.size'];
  return size === undefined ? {} : { [parameterFor('limit', overrides)]: size };
}

/** Returns the name of a parameter; `paging.params.cursor` renames every kind of cursor. */
export function parameterFor(word: string, overrides: Overrides): string {
  const own = overrides[`paging.params.${word}`];
  const isCursor = !['page', 'limit', 'offset', 'after'].includes(word);
  return own ?? (isCursor ? overrides['paging.params.cursor'] : undefined) ?? word;
}

/** A query that names a page by its number, or by how many records precede it. */
const numberParameter = /[?&](?:page|page_?number|offset|skip|start)=\d+(?:[&#]|$)/i;

/** True if a next page is named by its number or offset, so that records can move onto it and off it. */
export function namesNumber(next: NextTarget, overrides: Overrides): boolean {
  if ('url' in next) return numberParameter.test(next.url);
  return ['page', 'offset'].some((word) => parameterFor(word, overrides) in next.query);
}
