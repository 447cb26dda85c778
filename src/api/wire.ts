/** One HTTP exchange as data: what is sent, within which bounds, and what came of it. */
import type { Instant } from '../data/time.js';
import { UsageError } from '../errors.js';
import type { BodyFlow } from './body-flow.js';
import type { Loss } from './loss.js';
import type { TransportRequest } from './request.js';

/** One request as it goes on the wire. */
export interface Wire {
  readonly origin: string;
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** Bounds of one attempt, in milliseconds and bytes; absent = none. */
export interface Limits {
  /** From the head of the request leaving to the status line. */
  readonly firstByteMs?: number | undefined;
  /** From the start, connecting included, to the last byte of the answer. */
  readonly attemptMs?: number | undefined;
  /** Without any byte moving in either direction. */
  readonly stallMs?: number | undefined;
  /** From the whole request leaving to the last byte of an answer that is not handed out as it comes. */
  readonly answerMs?: number | undefined;
  /** Without any byte of an open answer, while its reader waits. */
  readonly quietMs?: number | undefined;
  readonly bodyBytes: number;
  /** Keep what fits of a longer body instead of failing. */
  readonly cutBody?: boolean | undefined;
  /** Whether the encoding of a file matters is for whoever knows the file. */
  readonly anyEncoding?: boolean | undefined;
}

export interface Reply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** When its head was there. */
  readonly at: Instant;
}

/** An answer of 2xx whose body is read as it comes. */
export interface OpenReply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly flow: BodyFlow;
  /** When its head was there. */
  readonly at: Instant;
}

/** What one attempt came to. */
export type Attempt = { readonly reply: Reply } | { readonly loss: Loss };

/**
 * What requests to the service look like on the wire; what all of them share is made once. Throws
 * UsageError for a path that would leave the base URL.
 */
export function wires(base: URL, { userAgent, key }: { userAgent: string; key: string }) {
  const { origin } = base;
  const folder = base.pathname.replace(/\/$/, '');
  const bare = [
    ...['accept', 'application/json'],
    ...['user-agent', userAgent],
    ...['x-api-key', key],
  ];
  const withBody = [...bare, 'content-type', 'application/json'];
  return ({ method, path: below, body }: TransportRequest): Wire => {
    checkPath(below);
    const path = folder + below;
    if (body === undefined) return { origin, method, path, headers: bare };
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return { origin, method, path, headers: withBody, body: bytes };
  };
}

/** No part begins with a dot or is percent-encoded, so that nothing can be folded. */
const plainPath = /^(?:\/[\w~-][\w~.-]*)+(?:\?[\w~.=&-]*)?$/;

/** What a server or a proxy would fold to a path outside the base URL is refused here. */
function checkPath(path: string): void {
  if (plainPath.test(path)) return;
  const [bare = ''] = path.split('?', 1);
  const folded = bare.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part));
  if (path.startsWith('/') && !folded && /^[\u0021-\u007e]+$/.test(path) && !/[#\\]/.test(path))
    return;
  throw new UsageError('This path cannot be sent: it needs a leading slash and percent-encoding.');
}
