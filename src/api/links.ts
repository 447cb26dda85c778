/** Signed URLs: finds the link, or the bytes, in the response to a download or preview call. */
import { isObject, type JsonObject, numberOf } from '../data/json.js';
import { breaksOff, readJson, saysJson } from '../data/json-body.js';
import { childOf, keyWords, normalName } from '../data/path.js';
import { controlCharacter, plural, wordList } from '../data/text.js';
import { type CallSite, ProtocolError } from '../errors.js';
import { describeTopLevel } from './list-envelope.js';
import type { Link } from './types.js';
import type { FullResponse } from './wire.js';

interface LinkCall {
  readonly requestUrl: URL;
  /** A URL below it needs the key, which is sent to no link, so it is rarely the file. */
  readonly baseUrl: string;
  readonly verb: LinkVerb;
  /** The path of the URL, if an admin configured it (`download.urlPath`). */
  readonly urlPath?: string | undefined;
  readonly now: Date;
}

type LinkVerb = 'download' | 'preview';

/**
 * Finds the signed URL in the response to a download or preview call, whose shape the contract does
 * not show (4.4). `urlPath` replaces the search. Undefined if there is none, or no telling which.
 */
export function findLink(answer: FullResponse, call: LinkCall): Link | undefined {
  const { status, headers, body } = answer;
  const { requestUrl, urlPath, now } = call;
  if (status >= 300 && status < 400) {
    const location = headers['location'];
    const target =
      location !== undefined &&
      URL.canParse(location, requestUrl.href) &&
      new URL(location, requestUrl.href).href;
    return target ? urlLink(target, {}, now) : undefined;
  }
  const read = readJson(body, headers['content-type']);
  if (read.kind === 'json')
    return urlPath === undefined ? searchBody(read.value, call) : linkAt(urlPath, read.value, call);
  if (read.kind === 'empty') return undefined;
  // Many frameworks send plain text as text/html.
  const text = read.kind === 'deep' ? '' : read.text.trim();
  if (!/\s/.test(text) && isWebUrl(text)) return urlLink(text, {}, now);
  if (read.kind === 'html' || isCutJson(answer)) return undefined;
  return fileStatuses.includes(status) ? { kind: 'bytes', bytes: body, headers } : undefined;
}

/** True for a JSON answer that broke off. A file of that type may be JSON lines or no JSON at all. */
export function isCutJson({ status, body, headers }: FullResponse): boolean {
  const type = headers['content-type'];
  const read = readJson(body, type);
  return status < 300 && saysJson(type) && read.kind === 'other' && breaksOff(read.text);
}

/** The statuses whose body may be the file: not 202, a note on a file still being made, and not 206, a part. */
const fileStatuses = [200, 203];

/** The error for a response in which `findLink` finds nothing. */
export function missingLink(answer: FullResponse, call: LinkCall, site: CallSite): ProtocolError {
  const { status, headers, body } = answer;
  const { urlPath, ...rest } = call;
  const read = readJson(body, headers['content-type']);
  const isRead = read.kind === 'json';
  const at = isRead && urlPath !== undefined ? ` at "${urlPath}" (download.urlPath)` : '';
  const fix = findLink(answer, rest)
    ? 'To let rosterctl find it: rosterctl config set download.urlPath auto'
    : 'Say where the URL is: rosterctl config set download.urlPath PATH';
  return new ProtocolError(
    `No signed URL${at} in the answer to ${site.method} ${site.path} (${status}).`,
    {
      call: site,
      status,
      ...(status === 202 && { code: 'notReady', isTemporary: true }),
      hint:
        status === 202
          ? 'The file is not ready yet: try again in a moment.'
          : `${isRead ? `The answer holds ${topLevelOf(read.value)}.\n` : ''}${fix}`,
    },
  );
}

function topLevelOf(body: unknown): string {
  if (!Array.isArray(body)) return describeTopLevel(body);
  return body.length === 0 ? 'an empty list' : `a list of ${plural(body.length, 'item')}`;
}

/** Returns the URL at a path such as `files.0.url` or `data[0].url`; a relative one is resolved. */
function linkAt(path: string, body: unknown, { requestUrl, now }: LinkCall): Link | undefined {
  let context: JsonObject = {};
  let value = body;
  for (const step of path.replace(/\[(\d+)\]/g, '.$1').split('.')) {
    if (step === '') continue;
    if (isObject(value)) context = { ...context, ...value };
    value = childOf(value, step);
  }
  if (isWebUrl(value)) return urlLink(value, context, now);
  if (!isRelativeUrl(value) || !URL.canParse(value, requestUrl.href)) return undefined;
  return urlLink(new URL(value, requestUrl.href).href, context, now);
}

/** True for a URL without a scheme. It needs a slash or a query, because a plain word is not a URL. */
function isRelativeUrl(value: unknown): value is string {
  if (typeof value !== 'string' || /[\s\\]/.test(value) || controlCharacter.test(value))
    return false;
  return /[/?]/.test(value) && !/^[a-z][a-z0-9+.-]*:/i.test(value);
}

/** A web URL of a response, and how it is named. */
interface LinkCandidate {
  readonly url: string;
  /** The lower the better; undefined if its name says nothing. */
  readonly rank: number | undefined;
  readonly isBelowBase: boolean;
  readonly context: JsonObject;
}

const otherVerbRank = 4;

function searchBody(body: unknown, call: LinkCall): Link | undefined {
  const value = onlyElement(body);
  if (isWebUrl(value)) return urlLink(value, {}, call.now);
  const all = isObject(value) ? candidatesIn(value, call) : [];
  const best = bestOf(all.filter((each) => !each.isBelowBase)) ?? bestOf(all);
  return best && urlLink(best.url, best.context, call.now);
}

/**
 * Returns the URL with the best name, else the only one. Undefined if the best is named after the other
 * verb and some names are unknown: one of those may be it.
 */
function bestOf(candidates: readonly LinkCandidate[]): LinkCandidate | undefined {
  const ranked = candidates.filter(({ rank }) => rank !== undefined);
  const [best] = ranked.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const unnamed = candidates.filter(({ rank }) => rank === undefined);
  if (best && (best.rank !== otherVerbRank || unnamed.length === 0)) return best;
  const [only] = unnamed;
  return !best && new Set(unnamed.map(({ url }) => url)).size === 1 ? only : undefined;
}

/** An object that may hold a URL; `of`: the verb that the names of its path contain. */
interface Holder {
  readonly value: JsonObject;
  readonly context: JsonObject;
  readonly of: LinkVerb | undefined;
  readonly depth: number;
}

const maxSearchDepth = 4;

/** Returns the web URLs in a body and its wrappers, the outermost first. */
function candidatesIn(body: JsonObject, { verb, baseUrl }: LinkCall): LinkCandidate[] {
  const found: LinkCandidate[] = [];
  const holders: Holder[] = [{ value: body, context: {}, of: undefined, depth: 0 }];
  for (const { value: holder, context, of, depth } of holders) {
    const own = { ...context, ...holder };
    for (const [key, entry] of Object.entries(holder).toSorted(byMeaning)) {
      const name = normalName(key);
      const meaning = meanings.get(name);
      const value = onlyElement(entry);
      if (isObject(value) && depth < maxSearchDepth && (meaning || wrappers.has(name)))
        holders.push({ value, context: own, of: of ?? verbOf(meaning), depth: depth + 1 });
      if (!isWebUrl(value) || references.has(name) || (!meaning && isDecoy(key))) continue;
      const isBelowBase = new URL(value).href.startsWith(`${baseUrl}/`);
      found.push({ url: value, rank: rankOf(meaning, of, verb), isBelowBase, context: own });
    }
  }
  return found;
}

/** Ranks the name of a URL: it names the verb, it says signed, or it only says that it is a URL. */
type Meaning = LinkVerb | 'signed' | 'plain';

/** The names of a signed URL, best first. */
const meanings: ReadonlyMap<string, Meaning> = new Map([
  ...(['download', 'preview'] as const).flatMap((verb) =>
    [`${verb}url`, `${verb}link`, `${verb}uri`, `${verb}href`, verb].map(
      (name) => [name, verb] as const,
    ),
  ),
  ...['signedurl', 'presignedurl'].map((name) => [name, 'signed'] as const),
  ...['url', 'href', 'link'].map((name) => [name, 'plain'] as const),
]);
const names = [...meanings.keys()];

function byMeaning([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return names.indexOf(normalName(a)) - names.indexOf(normalName(b));
}

function verbOf(meaning: Meaning | undefined): LinkVerb | undefined {
  return meaning === 'download' || meaning === 'preview' ? meaning : undefined;
}

function rankOf(
  meaning: Meaning | undefined,
  of: LinkVerb | undefined,
  verb: LinkVerb,
): number | undefined {
  const said = verbOf(meaning) ?? of;
  if (said === verb) return 0;
  // A download shows what a preview shows; the other way round, only part of it may come.
  if (said !== undefined) return verb === 'preview' ? 1 : otherVerbRank;
  return meaning && (meaning === 'signed' ? 2 : 3);
}

/** Names of objects in which a signed URL may be. */
const wrappers = new Set(
  wordList(`
    data document documents file files item items result results record response payload body
    content attributes attachment asset object resource links urls
  `),
);

/** Names of private references (contract 2.5), which are never links. */
const references = new Set(['fileurl', 'fileref', 'filekey']);

/** Words in the names of URLs that lead elsewhere than to the file. */
const decoys = new Set(
  wordList(`
    thumbnail thumbnails thumb avatar icon logo banner cover self next prev previous first last
    related upload help docs documentation support terms schema context type callback webhook
  `),
);

function isDecoy(key: string): boolean {
  const words = [...keyWords(key), normalName(key).replace(/(url|uri|href|link)$/, '')];
  return words.some((word) => decoys.has(word));
}

/** Returns the element of a list of one; of a list of links by `rel`, an object with each by its name. */
function onlyElement(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const list: readonly unknown[] = value;
  if (list.every((each) => isObject(each) && typeof each['rel'] === 'string'))
    return Object.fromEntries((list as readonly JsonObject[]).map((each) => [each['rel'], each]));
  return list.length === 1 ? list[0] : undefined;
}

/** True for an absolute http(s) URL. Other schemes, such as a private reference, do not count. */
function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function urlLink(url: string, context: JsonObject, now: Date): Link {
  const expiresAt = expiryIn(context, now) ?? expiryOf(new URL(url).searchParams)?.toISOString();
  return { kind: 'url', url, expiresAt };
}

/** Returns the expiry time in a body; a text exactly as the service sent it. */
function expiryIn(body: JsonObject, now: Date): string | undefined {
  for (const [key, value] of Object.entries(body)) {
    const name = normalName(key);
    const number = numberOf(value);
    if (['expiresat', 'expirytime', 'expiration', 'expires', 'validuntil'].includes(name)) {
      const at = number === undefined ? dateOf(value) : fromUnix(number);
      if (at) return typeof value === 'string' ? value : at.toISOString();
    }
    if (['expiresin', 'ttl', 'expiresinseconds'].includes(name) && number !== undefined)
      return validDate(new Date(now.getTime() + number * 1000))?.toISOString();
  }
  return undefined;
}

/** Reads the expiry time that the common stores put into their signed URLs. */
function expiryOf(query: URLSearchParams): Date | undefined {
  const started = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '');
  const seconds = Number(query.get('X-Amz-Expires') ?? Number.NaN);
  if (started && Number.isFinite(seconds)) {
    const [, year, month, day, hour, minute, second] = started.map(Number);
    const from = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
    return validDate(new Date(from + seconds * 1000));
  }
  const unix = query.get('Expires') ?? query.get('expires');
  return unix !== null && /^\d{9,13}$/.test(unix)
    ? fromUnix(Number(unix))
    : dateOf(query.get('se'));
}

/** Reads Unix time in seconds, or in milliseconds if the number is that large. */
function fromUnix(value: number): Date | undefined {
  return validDate(new Date(value > 1e11 ? value : value * 1000));
}

function dateOf(value: unknown): Date | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
    ? validDate(new Date(value))
    : undefined;
}

function validDate(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
