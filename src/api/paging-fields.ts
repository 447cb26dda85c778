/** Paging fields: the fields of a list's envelope, and the headers, in which paging evidence may stand. */
import { isObject, type JsonObject, objectIn } from '../data/json.js';
import { keyWords, normalName } from '../data/path.js';
import { wordList } from '../data/text.js';

/** A field of the envelope, or a header. */
export interface Named {
  readonly path: string;
  /** The last key in lower case without separators: `nextpagetoken`. */
  readonly name: string;
  /** The words of the last key: `next`, `page`, `token`. */
  readonly words: readonly string[];
  readonly value: unknown;
}

/** Objects of an envelope that say something about its pages. */
const containers = new Set(
  wordList(`
    meta metadata pagination paging page pageinfo info summary links cursors cursor next
    responsemetadata data result results response payload body hits pages pager additionaldata
  `),
);

/** Returns the fields around a list, in the body first; `wrappers` are objects that may hold some, too. */
export function pagingFields(
  body: unknown,
  headers: { readonly [name: string]: string },
  wrappers: readonly string[],
): readonly Named[] {
  const within = new Set([...containers, ...wrappers.map(normalName)]);
  return [
    ...(isObject(body) ? namedFields(body, within, [], 3) : []),
    ...headerFields(headers, within),
  ];
}

/** Returns the fields of an envelope and its containers; the outermost come first. */
function namedFields(
  body: JsonObject,
  within: ReadonlySet<string>,
  above: readonly string[],
  depth: number,
): readonly Named[] {
  const own: Named[] = [];
  const inner: Named[] = [];
  const leads = leadIn(above.at(-1) ?? '', body);
  for (const [key, value] of Object.entries(body)) {
    const path = [...above, key];
    // `next: {cursor}` and `nextPage: {cursor}` mean the same as `nextCursor`.
    const isNext = leads(key);
    const words = isNext ? ['next', ...keyWords(key)] : keyWords(key);
    const name = isNext ? `next${normalName(key)}` : normalName(key);
    // `pageInfo`, `result_info` and `pagingMetadata` are made of such words.
    const holds = within.has(name) || (words.length > 1 && words.every((word) => within.has(word)));
    if (isObject(value) && holds && depth > 0 && !Object.hasOwn(value, 'id'))
      inner.push(...namedFields(value, within, path, depth - 1));
    else if (!Array.isArray(value)) own.push({ path: path.join('.'), name, words, value });
    else if (name === 'links') own.push(...linkedNext(value, path));
  }
  return [...own, ...inner];
}

/**
 * Returns which keys of an object name the next page: all of `next: {…}`, and of `nextPage: {…}` those that
 * are not its size, unless it also says whether there is such a page (`exists: false`).
 */
function leadIn(parent: string, fields: JsonObject): (key: string) => boolean {
  if (normalName(parent) === 'next') return () => true;
  const isSaid = Object.values(fields).some((each) => each === null || typeof each === 'boolean');
  if (isSaid || !keyWords(parent).includes('next')) return () => false;
  return (key) => !/size|limit|count|total/i.test(key);
}

/** `links: [{rel: 'next', href}]`. */
function linkedNext(links: readonly unknown[], path: readonly string[]): readonly Named[] {
  return links.flatMap((link, at) => {
    if (!isObject(link) || link['rel'] !== 'next') return [];
    const value = link['href'] ?? link['url'];
    return [{ path: [...path, at, 'href'].join('.'), name: 'nexthref', words: ['next'], value }];
  });
}

const pagingHeaders =
  /^((x-)?total-count|x-total|x-(wp-)?total-?pages|x-wp-total|x-has-(more|next(-page)?)|(x-)?pagination(-.*)?|x-next-(page|cursor|token)|x-(ms-)?continuation(-?token)?)$/;

function headerFields(
  headers: { readonly [name: string]: string },
  within: ReadonlySet<string>,
): readonly Named[] {
  const named = Object.entries(headers)
    .filter(([name]) => pagingHeaders.test(name))
    .flatMap(([name, value]) => {
      // ASP.NET: `X-Pagination: {"TotalCount":47,"TotalPages":4}`.
      const content = name === 'x-pagination' ? objectIn(value) : undefined;
      if (content) return namedFields(content, within, [name], 1);
      const own = name.replace(/^(x-)?pagination-/, '');
      return { path: name, name: normalName(own), words: keyWords(own), value };
    });
  const range = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  if (range === undefined) return named;
  return [
    ...named,
    { path: 'content-range', name: 'contentrange', words: ['total', 'range'], value: range },
  ];
}
