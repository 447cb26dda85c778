/** One HTTP exchange as data: what is sent, within which bounds, and what came of it. */
import type { Instant } from '../data/time.js';
import { UsageError } from '../errors.js';
import type { TransportError } from './transport-error.js';

/** One request below the base URL; `path` begins with `/` and is already percent-encoded. */
export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  /** The path's template (`/tryout-applications/{applicationId}`), for errors and the trace. */
  readonly template: string;
  readonly body?: string | Uint8Array | undefined;
  /** A 3xx answer is what was asked for (download, preview); elsewhere it is an error. */
  readonly redirectIsData?: boolean | undefined;
  /** A read whose 2xx answer is no JSON is tried once more. */
  readonly needsJson?: boolean | undefined;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** When the head of this answer was there: from then on what it says grows old. */
  readonly at: Instant;
  /** Seconds that the service asked to wait before anything more is sent. */
  readonly wait?: number | undefined;
  /** The same seconds, when they are more than --max-wait allows. */
  readonly retryAfter?: number | undefined;
  /** The status (408, 5xx) leaves open whether this write took effect. */
  readonly outcomeUnknown?: boolean | undefined;
}

/** The body of a 2xx answer that is read as it comes. */
export interface OpenBody {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** When the head of the answer was there. */
  readonly at: Instant;
  /** When its last byte was there, however late it is read; undefined before. */
  readonly endedAt: Instant | undefined;
  /** The next piece, undefined at the end. Throws NetworkError once `lift` was called. */
  next(): Promise<Buffer | undefined>;
  /** What comes is handed on from here: no deadline but that of standing still, no second attempt. */
  lift(): void;
  /** Nothing more is read; the connection is dropped unless the end has come. */
  abandon(): void;
}

/** What the beginning of an open answer came to. */
export interface StreamStart<T> {
  readonly value: T;
  /** Worth one more attempt. */
  readonly retryOnce?: boolean;
}

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
  readonly stream: BodyStream;
  /** When its head was there. */
  readonly at: Instant;
}

/** What one attempt came to. */
export type Attempt = { readonly reply: Reply } | { readonly transportError: TransportError };

/**
 * What requests to the service look like on the wire; what all of them share is made once. Throws
 * UsageError for a path that would leave the base URL.
 */
export function wireBuilder(base: URL, { userAgent, key }: { userAgent: string; key: string }) {
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

/** As much as waits for a reader before the connection is told to hold back. */
const enough = 256 * 1024;

/** Breaks the reading of a flow: the answer did not come whole. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenFlow';
  constructor(readonly transportError: TransportError) {
    super(transportError.why);
  }
}

/** What a flow does to the connection that feeds it. */
interface BodySource {
  /** More may come. */
  resume(): void;
  /** Nobody reads on: the connection is of no use any more. */
  abandon(): void;
  /** Ends the attempt's own deadline; from here on only standing still is a failure. */
  lift(): void;
}

/**
 * The body of an answer on its way, to be read once. A reader that is slow holds the connection
 * back; one that leaves early ends it. Reading throws BrokenFlow when the answer breaks.
 */
export class BodyStream {
  private waiting: Buffer[] = [];
  private bytes = 0;
  private end:
    | { readonly at: Instant; readonly transportError?: TransportError | undefined }
    | undefined;
  private wake: (() => void) | undefined;
  private held = false;

  constructor(private readonly source: BodySource) {}

  /** Takes a piece from the connection; false = hold back. */
  put(piece: Buffer): boolean {
    this.waiting.push(piece);
    this.bytes += piece.length;
    this.wake?.();
    this.held = this.bytes >= enough;
    return !this.held;
  }

  /** The last piece has come, or none will. */
  finish(at: Instant, transportError?: TransportError): void {
    this.end ??= { at, transportError };
    this.wake?.();
  }

  /** When the last piece came, however late it is read; undefined before. */
  get endedAt(): Instant | undefined {
    return this.end?.at;
  }

  lift(): void {
    this.source.lift();
  }

  abandon(): void {
    if (!this.end) this.source.abandon();
  }

  /** The next piece, undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const piece = this.waiting.shift();
      if (piece) {
        this.bytes -= piece.length;
        if (this.held && this.bytes === 0) {
          this.held = false;
          this.source.resume();
        }
        return piece;
      }
      if (this.end?.transportError) throw new BrokenBody(this.end.transportError);
      if (this.end) return undefined;
      // oxlint-disable-next-line no-await-in-loop
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/**
 * Keeps V8's space for new objects as small as it is now: the records of a long list are garbage a
 * moment later, and a larger space for them costs 20 MiB and saves no time. Versions whose V8 pays no
 * heed to the flag are left alone.
 */
export async function keepHeapSmall(nodeVersion: string): Promise<void> {
  if (!/^v?2[02]\./.test(nodeVersion)) return;
  isSmall = true;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
}

let isSmall = false;

/**
 * Ends that: what thousands of requests leave behind takes a tenth of their time to clear away in so
 * small a space, and 20 MiB more end that. In few large steps, so that runs of all sizes have as much.
 */
export async function letHeapGrow(): Promise<void> {
  if (!isSmall) return;
  isSmall = false;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=4');
}

const manyRows = 20_000;

/** The heap of a long run would grow to twice what lives in it; a little more work keeps it near that. */
export async function keepHeapClose(rows: number): Promise<void> {
  if (rows <= manyRows) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--heap-growing-percent=5');
}
