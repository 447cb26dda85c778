/** One HTTP exchange as data: the request, its limits and its result. */
import type { Instant } from '../data/time.js';
import { type CallSite, type Failure, UsageError } from '../errors.js';
import type { TransportError } from './transport-error.js';

/** One request below the base URL; `path` starts with `/` and is already percent-encoded. */
export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  /** The path's template (`/tryout-applications/{applicationId}`), for errors and the trace. */
  readonly template: string;
  readonly body?: string | Uint8Array | undefined;
  /** A 3xx response is a valid result (download, preview), not an error. */
  readonly redirectIsData?: boolean | undefined;
  /** Retry a read once if its 2xx response is not JSON. */
  readonly needsJson?: boolean | undefined;
  /** True for a 2xx response that says "not yet": a read is retried. */
  readonly isPending?: ((response: FullResponse) => boolean) | undefined;
  /** For `stream`: ends the request when it fires, and leaves out retries. */
  readonly until?: AbortSignal | undefined;
}

/** Returns how errors name the endpoint of a route, or of a request to it. */
export function siteOf({
  method,
  template,
  path = '',
}: Pick<TransportRequest, 'method' | 'template'> & { readonly path?: string }): CallSite {
  const [sentPath = ''] = path.split('?', 1);
  return { method, path: template, ...(sentPath !== '' && { sentPath }) };
}

/** The status line and the headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
}

/** For how many seconds an intermediate cache has kept this response (RFC 9111); 0 for the service's own. */
export function secondsInCache({ headers }: Pick<ResponseHead, 'headers'>): number {
  const { age = '' } = headers;
  // Several caches may have added one each.
  return Math.max(
    0,
    ...age
      .split(',')
      .map(Number)
      .filter((seconds) => seconds > 0),
  );
}

/** A response that was read. */
export interface FullResponse extends ResponseHead {
  readonly body: Buffer;
}

export interface Reply extends FullResponse {
  /** When its headers arrived, or before the process was stopped meanwhile: its content's age counts from here. */
  readonly at: Instant;
}

export interface TransportResponse extends Reply {
  /** Seconds that the service asked to wait before sending anything else. */
  readonly wait?: number | undefined;
  /** Equal to `wait` if that is more than --max-wait allows. */
  readonly retryAfter?: number | undefined;
  /** The status (408, 5xx) does not show whether this write took effect. */
  readonly outcomeUnknown?: boolean | undefined;
}

/** The result of reading the start of a streamed response. */
export interface StreamStart<T> {
  readonly value: T;
  /** Retry once if attempts remain. */
  readonly retryOnce?: boolean;
  /** More of the body follows and is passed on as it arrives: only a stall ends it, and nothing is retried. */
  readonly isLong?: boolean;
}

/** One request as it is sent. */
export interface Wire {
  readonly origin: string;
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** The query names the record, so the trace shows the query. */
  readonly hasIdInQuery?: boolean;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** Limits of one attempt, in milliseconds and bytes; absent = none. */
export interface Limits {
  /** From sending the request headers to the status line. */
  readonly firstByteMs?: number | undefined;
  /** From the start, including connecting, to the last byte of the response. */
  readonly attemptMs?: number | undefined;
  /** Without any byte moving in either direction. */
  readonly stallMs?: number | undefined;
  /** From the end of the request to the last byte of a response that is not streamed. */
  readonly answerMs?: number | undefined;
  /** Without any byte of a streamed response while its reader waits. */
  readonly quietMs?: number | undefined;
  readonly bodyBytes: number;
  /** Truncate a longer body instead of failing. */
  readonly cutBody?: boolean | undefined;
  /** Accept any content-encoding: the caller decides, because it knows the file. */
  readonly anyEncoding?: boolean | undefined;
}

/** A 2xx response whose body is streamed. */
export interface OpenReply extends ResponseHead {
  readonly stream: BodyStream;
  /** When its headers arrived. */
  readonly at: Instant;
}

/** The result of one attempt. */
export type Attempt = { readonly reply: Reply } | { readonly transportError: TransportError };

/**
 * Returns a function that builds requests to the service; the shared headers are built once. It
 * throws UsageError for a path that would leave the base URL.
 */
export function wireBuilder(base: URL, { userAgent, key }: { userAgent: string; key: string }) {
  const { origin } = base;
  const basePath = base.pathname.replace(/\/$/, '');
  const bareHeaders = [
    ...['accept', 'application/json'],
    // A write is decided from a read, which no cache between us and the service may answer.
    ...['cache-control', 'no-cache'],
    ...['user-agent', userAgent],
    ...['x-api-key', key],
  ];
  const bodyHeaders = [...bareHeaders, 'content-type', 'application/json'];
  return ({ method, path: relativePath, template, body }: TransportRequest): Wire => {
    checkPath(relativePath);
    return {
      origin,
      method,
      path: basePath + relativePath,
      hasIdInQuery: template.includes('?'),
      headers: body === undefined ? bareHeaders : bodyHeaders,
      body: typeof body === 'string' ? Buffer.from(body) : body,
    };
  };
}

/** Refuses a path that a server or a proxy could fold to one outside the base URL. */
function checkPath(path: string): void {
  const [pathname = ''] = path.split('?', 1);
  const isFolded = pathname.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part));
  if (path.startsWith('/') && !isFolded && /^[\u0021-\u007e]+$/.test(path) && !/[#\\]/.test(path))
    return;
  throw new UsageError('This path cannot be sent: it needs a leading slash and percent-encoding.');
}

/** In bytes. Above this, the connection is paused until the reader catches up. */
const highWaterMark = 256 * 1024;

/** Thrown while reading a stream whose response broke off. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody';
  constructor(readonly transportError: TransportError) {
    super(transportError.why);
  }
}

/** The connection that feeds a stream. */
interface BodySource {
  resume(): void;
  /** Drops the connection, because nobody reads any more. */
  abandon(): void;
  /** Cancels the attempt's deadline; from here on only a stall is a failure. */
  lift(): void;
}

/**
 * The body of a response while it arrives, to be read once. A slow reader pauses the connection;
 * one that stops early ends it. Reading throws BrokenBody if the response breaks off.
 */
export class BodyStream {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private end:
    | { readonly at: Instant; readonly transportError?: TransportError | undefined }
    | undefined;
  private wake: (() => void) | undefined;
  private isPaused = false;

  constructor(private readonly source: BodySource) {}

  /** Adds a chunk from the connection. Returns false to pause the connection. */
  put(chunk: Buffer): boolean {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    this.wake?.();
    this.isPaused = this.bytes >= highWaterMark;
    return !this.isPaused;
  }

  /** Ends the stream, with an error if no more chunks will come. */
  finish(at: Instant, transportError?: TransportError): void {
    this.end ??= { at, transportError };
    this.wake?.();
  }

  /** When the last byte arrived, however late it is read; undefined before. */
  get endedAt(): Instant | undefined {
    return this.end?.at;
  }

  lift(): void {
    this.source.lift();
  }

  /** Stops reading and drops the connection, unless the body has ended. */
  abandon(): void {
    if (!this.end) this.source.abandon();
  }

  /** Yields the chunks to the end; throws what `failureOf` returns if the response breaks off. */
  async *pieces(failureOf: (error: TransportError) => Failure): AsyncGenerator<Buffer> {
    try {
      for (let piece = await this.next(); piece; piece = await this.next()) yield piece;
    } catch (error) {
      throw error instanceof BrokenBody ? failureOf(error.transportError) : error;
    }
  }

  /** Returns the next chunk, undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const chunk = this.chunks.shift();
      if (chunk) {
        this.bytes -= chunk.length;
        if (this.isPaused && this.bytes === 0) {
          this.isPaused = false;
          this.source.resume();
        }
        return chunk;
      }
      if (this.end?.transportError) throw new BrokenBody(this.end.transportError);
      if (this.end) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
