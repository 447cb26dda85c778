import { isObject, type JsonObject } from '../data/json.js';
import { readJson } from './json-body.js';
import { normalName, valueAt } from './records.js';
import type { Link } from './types.js';

interface LinkAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

const urlNames = ['url', 'downloadurl', 'signedurl', 'presignedurl', 'previewurl', 'href', 'link'];
const wrappers = ['data', 'document', 'result', 'results'];
/** Private references (contract 2.5), never links. */
const references = ['fileurl', 'fileref', 'filekey'];

/**
 * Finds the signed URL in any answer of a download or preview call, whose shape the contract does not
 * show. `urlPath` (config `download.urlPath`) comes first. Undefined when the answer holds none.
 */
export function findLink(
  answer: LinkAnswer,
  { asked, urlPath, now }: { asked: URL; urlPath?: string | undefined; now: Date },
): Link | undefined {
  const { status, headers, body } = answer;
  if (status >= 300 && status < 400) {
    const location = headers['location'];
    const target =
      location !== undefined &&
      URL.canParse(location, asked.href) &&
      new URL(location, asked.href).href;
    return target ? linkTo(target, {}, now) : undefined;
  }
  const read = readJson(body, headers['content-type']);
  if (read.kind === 'json') {
    if (webUrl(read.value)) return linkTo(read.value, {}, now);
    if (isObject(read.value)) return inObject(read.value, urlPath, now);
    return undefined;
  }
  if (read.kind === 'empty') return undefined;
  if (read.kind === 'html' && !headers['content-type']?.startsWith('text/html')) return undefined;
  const text = read.kind === 'other' ? read.text.trim() : '';
  if (!/\s/.test(text) && webUrl(text)) return linkTo(text, {}, now);
  return read.kind === 'html' ? undefined : { kind: 'bytes', bytes: body, headers };
}

function inObject(body: JsonObject, urlPath: string | undefined, now: Date): Link | undefined {
  const configured = urlPath === undefined ? undefined : valueAt(body, urlPath);
  if (webUrl(configured)) return linkTo(configured, body, now);
  const holders = [body, ...wrappers.flatMap((name) => named(body, name)).filter(isObject)];
  for (const holder of holders)
    for (const name of urlNames) {
      const found = named(holder, name).find(webUrl);
      if (found !== undefined) return linkTo(found, { ...body, ...holder }, now);
    }
  const all = holders.flatMap((holder) =>
    Object.entries(holder)
      .filter(([key]) => !references.includes(normalName(key)))
      .map(([, value]) => value)
      .filter(webUrl),
  );
  const [only] = all;
  return all.length === 1 && only !== undefined
    ? linkTo(only, Object.fromEntries(holders.flatMap((holder) => Object.entries(holder))), now)
    : undefined;
}

function named(body: JsonObject, name: string): unknown[] {
  return Object.keys(body)
    .filter((key) => normalName(key) === name)
    .map((key) => body[key]);
}

/** An absolute http(s) URL; other schemes, such as a private reference, are not. */
function webUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function linkTo(url: string, around: JsonObject, now: Date): Link {
  const expiresAt = expiryIn(around, now) ?? expiryOf(new URL(url).searchParams)?.toISOString();
  return { kind: 'url', url, expiresAt };
}

/** A text as the service sent it. */
function expiryIn(body: JsonObject, now: Date): string | undefined {
  for (const [key, value] of Object.entries(body)) {
    const name = normalName(key);
    if (['expiresat', 'expirytime', 'expiration', 'expires', 'validuntil'].includes(name)) {
      const at = typeof value === 'number' ? fromUnix(value) : dateOf(value);
      if (at) return typeof value === 'string' ? value : at.toISOString();
    }
    if (['expiresin', 'ttl', 'expiresinseconds'].includes(name) && typeof value === 'number')
      return valid(new Date(now.getTime() + value * 1000))?.toISOString();
  }
  return undefined;
}

/** Signed URLs of the usual stores say themselves when they end. */
function expiryOf(query: URLSearchParams): Date | undefined {
  const started = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '');
  const seconds = Number(query.get('X-Amz-Expires') ?? Number.NaN);
  if (started && Number.isFinite(seconds)) {
    const [, year, month, day, hour, minute, second] = started.map(Number);
    const from = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
    return valid(new Date(from + seconds * 1000));
  }
  const unix = query.get('Expires') ?? query.get('expires');
  return unix !== null && /^\d{9,13}$/.test(unix)
    ? fromUnix(Number(unix))
    : dateOf(query.get('se'));
}

/** Unix time in seconds, or in milliseconds when it is that large. */
function fromUnix(value: number): Date | undefined {
  return valid(new Date(value > 1e11 ? value : value * 1000));
}

function dateOf(value: unknown): Date | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
    ? valid(new Date(value))
    : undefined;
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
