import { parseJson, TooDeepError } from '../data/json.js';

/** The JSON value of a body, or why there is none. An unread body is never shown. */
export type JsonBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'empty' }
  | { readonly kind: 'html' }
  | { readonly kind: 'deep' }
  | { readonly kind: 'other'; readonly text: string };

/**
 * Reads a body as JSON whatever content type it claims; a byte order mark is passed over. An answer
 * is judged by several, and parsed once.
 */
export function readJson(body: Uint8Array, contentType: string | undefined): JsonBody {
  const known: Known = body;
  known[asRead] ??= parseBody(body, contentType);
  return known[asRead];
}

const asRead = Symbol('as read');

/** Kept with the body itself: a map beside thousands of bodies costs the collector of garbage more. */
interface Known extends Uint8Array {
  [asRead]?: JsonBody;
}

function parseBody(body: Uint8Array, contentType: string | undefined): JsonBody {
  // Not a TextDecoder, whose first use costs a start a millisecond.
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const text = whole.startsWith('\ufeff') ? whole.slice(1) : whole;
  if (text.trim() === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: parseJson(text) };
  } catch (error) {
    if (error instanceof TooDeepError) return { kind: 'deep' };
    const html = contentType?.startsWith('text/html') || /^\s*<(!doctype|html)/i.test(text);
    return html ? { kind: 'html' } : { kind: 'other', text };
  }
}

/** Whether a content type is that of JSON: `application/json`, `application/problem+json`. */
export function saysJson(contentType = ''): boolean {
  return /^[\w.-]+\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType);
}

/** Whether an answer where JSON is due was cut or mixed up, perhaps; a web page is another address. */
export function isGarbled(answer: {
  readonly body: Uint8Array;
  readonly headers: { readonly [name: string]: string };
}): boolean {
  const { kind } = readJson(answer.body, answer.headers['content-type']);
  return kind === 'other' || kind === 'empty';
}
