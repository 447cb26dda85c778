import type { Instant } from '../data/time.js';

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
  readonly doubt?: boolean | undefined;
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
export interface Begun<T> {
  readonly value: T;
  /** Worth one more attempt. */
  readonly doubtful?: boolean;
}
