/** Signed URLs: finds the link, or the bytes, in the response to a download or preview call. */
import { isObject, type JsonObject } from '../data/json.js';
import { readJson } from '../data/json-body.js';
import { normalName, valueAt } from '../data/path.js';
import type { Link } from './types.js';

interface LinkAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

const urlNames = ['url', 'downloadurl', 'signedurl', 'presignedurl', 'previewurl', 'href', 'link'];
const wrappers = ['data', 'document', 'result', 'results'];
/** Names of private references (contract 2.5), which are never links. */
const references = ['fileurl', 'fileref', 'filekey'];

/**
 * Finds the signed URL in the response to a download or preview call, whose shape the contract does
 * not show. `urlPath` (config `download.urlPath`) takes precedence. Undefined if there is none.
 */
export function findLink(
  answer: LinkAnswer,
  { requestUrl, urlPath, now }: { requestUrl: URL; urlPath?: string | undefined; now: Date },
): Link | undefined {
  const { status, headers, body } = answer;
  if (status >= 300 && status < 400) {
    const location = headers['location'];
    const target =
      location !== undefined &&
      URL.canParse(location, requestUrl.href) &&
      new URL(location, requestUrl.href).href;
    return target ? urlLink(target, {}, now) : undefined;
  }
  const read = readJson(body, headers['content-type']);
  if (read.kind === 'json') {
    if (isWebUrl(read.value)) return urlLink(read.value, {}, now);
    if (isObject(read.value)) return linkInObject(read.value, urlPath, now);
    return undefined;
  }
  if (read.kind === 'empty') return undefined;
  if (read.kind === 'html' && !headers['content-type']?.startsWith('text/html')) return undefined;
  const text = read.kind === 'other' ? read.text.trim() : '';
  if (!/\s/.test(text) && isWebUrl(text)) return urlLink(text, {}, now);
  return read.kind === 'html' ? undefined : { kind: 'bytes', bytes: body, headers };
}

function linkInObject(body: JsonObject, urlPath: string | undefined, now: Date): Link | undefined {
  const configured = urlPath === undefined ? undefined : valueAt(body, urlPath);
  if (isWebUrl(configured)) return urlLink(configured, body, now);
  const holders = [body, ...wrappers.flatMap((name) => valuesNamed(body, name)).filter(isObject)];
  for (const holder of holders)
    for (const name of urlNames) {
      const found = valuesNamed(holder, name).find(isWebUrl);
      if (found !== undefined) return urlLink(found, { ...body, ...holder }, now);
    }
  const all = holders.flatMap((holder) =>
    Object.entries(holder)
      .filter(([key]) => !references.includes(normalName(key)))
      .map(([, value]) => value)
      .filter(isWebUrl),
  );
  const [only] = all;
  return all.length === 1 && only !== undefined
    ? urlLink(only, Object.fromEntries(holders.flatMap((holder) => Object.entries(holder))), now)
    : undefined;
}

function valuesNamed(body: JsonObject, name: string): unknown[] {
  return Object.keys(body)
    .filter((key) => normalName(key) === name)
    .map((key) => body[key]);
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
    if (['expiresat', 'expirytime', 'expiration', 'expires', 'validuntil'].includes(name)) {
      const at = typeof value === 'number' ? fromUnix(value) : dateOf(value);
      if (at) return typeof value === 'string' ? value : at.toISOString();
    }
    if (['expiresin', 'ttl', 'expiresinseconds'].includes(name) && typeof value === 'number')
      return validDate(new Date(now.getTime() + value * 1000))?.toISOString();
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
