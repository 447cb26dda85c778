/** Response bodies as JSON, whatever content type they claim. */
import { isUtf8 } from 'node:buffer';
import { parseJson, TooDeepError } from './json.js';

/**
 * The JSON value of a body, or why there is none. The text of an unreadable body is never shown.
 */
export type JsonBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'empty' }
  | { readonly kind: 'html'; readonly text: string }
  | { readonly kind: 'deep' }
  | { readonly kind: 'other'; readonly text: string };

/**
 * Reads a body as JSON whatever content type it claims, and ignores a byte order mark. Several
 * callers read the same body, so it is parsed only once.
 */
export function readJson(body: Uint8Array, contentType: string | undefined): JsonBody {
  const cached: CachedBody = body;
  cached[parsed] ??= parseBody(body, contentType);
  return cached[parsed];
}

const parsed = Symbol('as read');

/** Cached on the body itself: a WeakMap of thousands of bodies costs the garbage collector more. */
interface CachedBody extends Uint8Array {
  [parsed]?: JsonBody;
}

function parseBody(body: Uint8Array, contentType: string | undefined): JsonBody {
  const decoded = textOf(body, contentType);
  const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded;
  if (text.trim() === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: parseJson(text) };
  } catch (error) {
    if (error instanceof TooDeepError) return { kind: 'deep' };
    const html = contentType?.startsWith('text/html') || /^\s*<(!doctype|html)/i.test(text);
    return { kind: html ? 'html' : 'other', text };
  }
}

function textOf(body: Uint8Array, contentType: string | undefined): string {
  const encoding = saysLatin1(contentType) && !isUtf8(body) ? 'latin1' : 'utf8';
  // Not a TextDecoder: its first use adds a millisecond to the start-up time.
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(encoding);
}

/** True if a content type names ISO-8859-1, the default of Java servlets. */
export function saysLatin1(contentType = ''): boolean {
  return /;\s*charset="?iso-8859-1\b/i.test(contentType);
}

/** True for a JSON content type: `application/json`, `application/problem+json`. */
export function saysJson(contentType = ''): boolean {
  return /^[\w.-]+\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType);
}

/** True for a text that is no JSON because it ends too early; of any other, the parser names an earlier place. */
export function breaksOff(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const [end, at] = / end of JSON| at position (\d+)/.exec(String(error)) ?? [];
    return at === undefined ? end !== undefined : Number(at) >= text.length;
  }
}

/** True for a body that is not JSON although its type or its first character says so. */
export function isBrokenJson(body: Uint8Array, contentType: string | undefined): boolean {
  const read = readJson(body, contentType);
  if (read.kind !== 'other') return read.kind === 'deep';
  return saysJson(contentType) || /^\s*[[{]/.test(read.text);
}

/**
 * True if a response that should be JSON may have been truncated or garbled. A 204 is not: it has no
 * body; nor is an HTML page: it means a wrong address.
 */
export function isGarbled(answer: {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: { readonly [name: string]: string };
}): boolean {
  const { kind } = readJson(answer.body, answer.headers['content-type']);
  return answer.status !== 204 && (kind === 'other' || kind === 'empty');
}
