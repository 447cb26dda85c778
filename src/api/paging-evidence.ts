/** Paging evidence: what a list answer says about further pages, read by rule from its field names. */
import { isObject, printJson, RawNumber, wholeNumberOf } from '../data/json.js';
import { normalName, valueAt } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { wordList } from '../data/text.js';
import { type Named, pagingFields } from './paging-fields.js';
import { isOfAnother, resources } from './resources.js';
import type { ResponseHead } from './wire.js';

/** The evidence in one answer about the rest of its list. */
export interface PagingEvidence {
  readonly url?: string | undefined;
  /** A cursor, offset or page number of the next page, and the parameter that takes it. */
  readonly way?: Way | undefined;
  /** The answer's own word for more: `hasMore`, or `isLast` negated. */
  readonly more?: boolean | undefined;
  /** A field for the next page is there and empty. */
  readonly ended: boolean;
  /** The largest number that counts records: `total`, `hits`. */
  readonly total?: Total | undefined;
  readonly pageNumber?: number | undefined;
  readonly pages?: number | undefined;
  /** The number of the last page, which is one less than there are if the service counts from 0. */
  readonly lastPage?: number | undefined;
  readonly offset?: number | undefined;
  readonly size?: number | undefined;
  /** A field that may lead to more and is not understood: its path. */
  readonly hint?: string | undefined;
  /** The path of `paging.next`, if the answer lacks it and names a next page elsewhere. */
  readonly passedOver?: string;
}

/** The parameter of the next page, by the word that `paging.params.*` may rename, and its value. */
interface Way {
  readonly word: string;
  readonly value: string;
}

/** A number that counts records. */
export interface Total {
  /** `meta.total`: where it is, to name it in a setting. */
  readonly path: string;
  readonly value: number;
  /** The answer names a total (`total`, `X-Total-Count`), not just a count that may be of the page. */
  readonly isNamed: boolean;
}

/** The fields that lead to the next page, best first, with the parameter that takes their value. */
const ways: readonly (readonly [field: string, parameter: string])[] = [
  ['nextCursor', 'cursor'],
  ['X-Next-Cursor', 'cursor'],
  ['nextPageToken', 'pageToken'],
  ['nextToken', 'nextToken'],
  ['continuationToken', 'continuationToken'],
  ['nextContinuationToken', 'continuationToken'],
  ['continue', 'continue'],
  ['nextMarker', 'marker'],
  ['scrollId', 'scrollId'],
  ['bookmark', 'bookmark'],
  ['LastEvaluatedKey', 'exclusiveStartKey'],
  ['nextPage', 'page'],
  ['X-Next-Page', 'page'],
  ['nextOffset', 'offset'],
  ['endCursor', 'after'],
  ['after', 'after'],
  ['next', 'cursor'],
];
const cursorNames = new Map(ways.map(([field, parameter]) => [normalName(field), parameter]));

/** The fields that lead to the next page, as documentation names them. */
export const followedFields: readonly string[] = ways.map(([field]) => field);

const urlNames = wordList(`
  next nexturl nextlink nextpageurl nexthref nextpage nexturi nextpagelink odatanextlink
  xnextpage
`);

/** Names that refer to the next page by themselves; of the other cursors, only the first that is there counts. */
const nextNames = [...urlNames, ...cursorNames.keys()].filter((name) => name.includes('next'));
const leadingNames = nextNames.filter((name) => name !== 'next');
const otherNames = [...cursorNames.keys()].filter((name) => !name.includes('next'));

const pageCountNames = wordList(`
  totalpages totalpage pagecount pagescount pagetotal numpages numberofpages pages nbpages xtotalpages
  xwptotalpages
`);

/** Returns what a list answer says about further pages. */
export function readEvidence(
  body: unknown,
  headers: { readonly [name: string]: string },
  { resource, listPath = '' }: { resource: ResourceName; listPath?: string | undefined },
): PagingEvidence {
  // `{applications: {data: […], total}}`: what wraps the list speaks of it, too.
  const wrappers = [...resources[resource].envelopes, ...listPath.split('.')];
  const fields = pagingFields(body, headers, wrappers);
  const first = <T>(
    names: Iterable<string>,
    read: (value: unknown, name: string) => T | undefined,
  ) => {
    for (const name of names)
      for (const field of fields) {
        const value = field.name === name ? read(field.value, name) : undefined;
        if (value !== undefined) return value;
      }
    return undefined;
  };
  const isEmptyIn = (names: readonly string[]) =>
    fields.some(({ name, value }) => names.includes(name) && isEmpty(value));
  const bestOther = otherNames.filter((own) => fields.some(({ name }) => name === own)).slice(0, 1);
  const pages = first(pageCountNames, countIn);
  const lastPage = first(['lastpage', 'maxpage'], countIn);
  const last = first(['last', 'islast', 'lastpage', 'islastpage'], booleanOf);
  const isSpring = (pages ?? lastPage ?? last) !== undefined;
  const totals = fields.filter((field) => countsRecords(field, resource));
  // A length beside a total is that of a page.
  const lengths = fields.filter(({ name, value }) => name === 'length' && countIn(value));
  const total = largest(totals) ?? largest(lengths);
  const isNamed = totals.some(({ words }) => words.includes('total') || words.includes('range'));
  const flags = fields.filter(saysMore).map(flagOf);
  if (fields.some(saysUnfinished)) flags.push(true);
  if (last !== undefined) flags.push(!last);
  return {
    url: nextLink(headers['link']) ?? first(urlNames, urlOf),
    way: first(cursorNames.keys(), wayOf) ?? first(['offset'], tokenOf),
    // One flag that says "more" outweighs another that says "no more".
    more: flags.includes(true) || (flags.includes(false) ? false : undefined),
    ended:
      isEmptyIn(['next']) ||
      (!first(leadingNames, wayOf) && isEmptyIn([...nextNames, ...bestOther])),
    total: total && { ...total, isNamed },
    pageNumber: first(
      ['page', 'currentpage', 'pagenumber', 'pageindex', ...(isSpring ? ['number'] : [])],
      countIn,
    ),
    pages,
    lastPage,
    offset: first(['offset', 'skip', 'start', 'startat', 'startindex'], countIn),
    size: first(['size', 'pagesize', 'perpage', 'limit', 'itemsperpage'], countIn),
    hint: fields.find(mayLeadOn)?.path,
  };
}

/** Reads the value of a next page that a setting names: a URL, a number or a cursor. */
export function readNext(name: string, value: unknown): Pick<PagingEvidence, 'url' | 'way'> {
  const url = urlOf(value) ?? (isObject(value) ? urlOf(value['href'] ?? value['url']) : undefined);
  if (url !== undefined) return { url };
  return { way: wayOf(value, normalName(name)) };
}

/** Returns the value at a path of the envelope, or of the header of that name. */
export function fieldOrHeader(
  path: string,
  { body, headers }: Pick<ResponseHead, 'headers'> & { readonly body: unknown },
): unknown {
  return (isObject(body) ? valueAt(body, path) : undefined) ?? headers[path.toLowerCase()];
}

/** Returns a whole number that is not negative, also one written as text. */
export function countIn(value: unknown): number | undefined {
  // Elasticsearch: `total: {value, relation}`.
  return wholeNumberOf(isObject(value) ? (value['value'] ?? value['count']) : value);
}

const moreWords = new Set(
  wordList(`
    next cursor token continuation marker bookmark scroll truncated incomplete more continue
  `),
);
const notMoreWords = new Set(
  wordList(`
    prev previous start first self current sync delta csrf access refresh auth session request
    date at
  `),
);

/** True for a field that can only be there because the list continues, as its words say. */
function mayLeadOn({ words, value }: Named): boolean {
  const isMore =
    words.some((word) => moreWords.has(word)) || (words.includes('last') && words.includes('key'));
  return isMore && !words.some((word) => notMoreWords.has(word)) && !isNothing(value);
}

/** True for a flag such as `hasMore`, `hasNextPage`, `isTruncated`. */
function saysMore({ words, value }: Named): boolean {
  if (booleanOf(value) === undefined || words.some((word) => notMoreWords.has(word))) return false;
  return (
    words.some((word) => ['more', 'truncated', 'incomplete', 'partial'].includes(word)) ||
    (words.includes('next') && (words.includes('has') || words.length === 1))
  );
}

/**
 * True for a flag such as `complete`, `done` or `endOfList` that is false, for `remaining: 34`, and for
 * what Elasticsearch says of a search that did not see everything.
 */
function saysUnfinished({ name, words, value }: Named): boolean {
  if (name === 'timedout') return booleanOf(value) === true;
  if (name === 'shards' && isObject(value)) return (countIn(value['failed']) ?? 0) > 0;
  if (isObject(value) && value['relation'] === 'gte') return true;
  if (/^remaining(items?|records?|results?|rows?|pages?)?(count)?$/.test(name))
    return (countIn(value) ?? 0) > 0;
  return booleanOf(value) === false && words.some((word) => endWords.has(word));
}

const endWords = new Set(['complete', 'done', 'end', 'eof', 'exhausted', 'finished']);

/** `truncated: false` says nothing: it may be about something other than pages. */
function flagOf({ words, value }: Named): boolean | undefined {
  const isAboutPages = words.includes('more') || words.includes('next');
  return booleanOf(value) || (isAboutPages ? false : undefined);
}

const totalNames = new Set(wordList('total count found matched hits records rows elements'));
const notTotalWords = new Set(
  wordList('max limit quota used size bytes ms time seconds page pages'),
);

/** True for a number that counts the records of the list, not of another resource. */
function countsRecords({ words, value }: Named, resource: ResourceName): boolean {
  return (
    countIn(value) !== undefined &&
    words.some((word) => totalNames.has(word)) &&
    !words.some((word) => notTotalWords.has(word) || isOfAnother(word, resource))
  );
}

function largest(fields: readonly Named[]): Pick<Total, 'path' | 'value'> | undefined {
  const counts = fields.map(({ path, value }) => ({ path, value: countIn(value) ?? 0 }));
  return counts.toSorted((a, b) => b.value - a.value)[0];
}

/** Returns the next page from the value of a field, if that is a cursor, an offset or a number. */
function wayOf(value: unknown, name: string): Way | undefined {
  const cursor = cursorOf(value);
  if (cursor === undefined) return undefined;
  return { word: cursorNames.get(name) ?? 'cursor', value: cursor };
}

/** Reads an `offset` that is not a number: a token to send back in the parameter `offset`, as with Airtable. */
function tokenOf(value: unknown): Way | undefined {
  const token = typeof value === 'string' && countIn(value) === undefined && cursorOf(value);
  return token ? { word: 'offset', value: token } : undefined;
}

/** True for a value that says "nothing", wherever it is. */
function isNothing(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return isEmpty(value) || value === 0 || value === '0' || value === 'false';
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === false;
}

function booleanOf(value: unknown): boolean | undefined {
  if (value === 'true' || value === 'false') return value === 'true';
  return typeof value === 'boolean' ? value : undefined;
}

function urlOf(value: unknown): string | undefined {
  const isUrl = typeof value === 'string' && /^(https?:\/\/|\/|\?|[\w./-]*\?\S+=)/i.test(value);
  return isUrl ? value : undefined;
}

/** A cursor as text; an object (a key of several fields) as JSON. */
function cursorOf(value: unknown): string | undefined {
  if (typeof value === 'number') return value === 0 ? undefined : String(value);
  if (value instanceof RawNumber) return value.text;
  if (isObject(value)) return Object.keys(value).length > 0 ? printJson(value) : undefined;
  return typeof value === 'string' && value !== '' && urlOf(value) === undefined
    ? value
    : undefined;
}

/** Returns the target of rel=next in a Link header (RFC 8288). */
function nextLink(header: string | undefined): string | undefined {
  for (const match of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const [, target, parameters = ''] = match;
    if (/;\s*rel\s*=\s*(["'][^"']*\bnext\b[^"']*["']|next\b)/i.test(parameters)) return target;
  }
  return undefined;
}
