import type { RecordStream } from '../data/batches.js';
import type { Instant } from '../data/time.js';
import type { JsonObject } from '../data/json.js';
import type { EndpointName, ResourceName } from './contract.js';
import type { Link } from './links.js';
import type { RateLimiter } from './rate-limiter.js';
import type { TransportRequest, TransportResponse } from './transport.js';

/** A call of the contract as data: what a plan holds, a dry run shows and `Api.send` sends. */
export interface Call {
  readonly endpoint: EndpointName;
  /** The ids of the path, by the contract's names, without organizationId. */
  readonly params?: { readonly [name: string]: string };
  /** The JSON body without organizationId; the client puts that where the contract wants it. */
  readonly body?: JsonObject;
  /** Another `METHOD /path` than the guessed one, typed with --route. */
  readonly route?: string;
}

/** A call as it would stand on the wire. */
export interface PlannedRequest {
  readonly method: string;
  readonly path: string;
  readonly basis: 'stated' | 'assumed';
  readonly body?: unknown;
}

/** What a call was answered with; `body` is undefined where there was none or it was no JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: unknown;
  /** When its head was there: from then on what it says grows old. */
  readonly at: Instant;
}

/** Whether a list is known to be whole. A write to a filtered selection needs `complete`. */
export type Completeness =
  | { readonly state: 'complete' }
  | { readonly state: 'doubtful'; readonly reason: string };

/** A list on its way: records as they arrive, in the service's order. */
export interface RecordList extends RecordStream<JsonObject> {
  /** Settled when the iteration ended; throws when asked earlier. */
  completeness(): Completeness;
  /** When the last byte of the last page came. Throws BugError when asked before the iteration ended. */
  arrivedAt(): Instant;
}

/** What the reader of a list may want to hear besides its records. */
export interface ListObserver {
  /** Hears the headers of the list's first answer, before its first record. */
  readonly answered?: (headers: Answer['headers']) => void;
}

/** The service as commands see it. The organization id is never a parameter (contract 4.6). */
export interface Api {
  readonly organizationId: string;
  readonly baseUrl: string;
  /** By what runs and locks know this service: its base URL, unless that may differ from start to start. */
  readonly service: string;
  /** Where the key came from, for people: "environment ROSTERCTL_API_KEY". */
  readonly keySource: string | undefined;
  /** Whether a text holds the API key: such a value is kept nowhere. */
  isKey(text: string): boolean;
  /** When requests may start; bulk runs set its bounds. */
  readonly limiter: RateLimiter;
  /** What `send` would put on the wire; sends nothing. Throws UsageError on an impossible id. */
  describe(call: Call): PlannedRequest;
  /** Says, once for each, that the route of this call is a guess; nothing where it is none. */
  noteAssumedRoute(call: Call): void;
  /** Sends one call and judges its status. Throws ApiError, NetworkError, ProtocolError, UnknownOutcomeError. */
  send(call: Call): Promise<Answer>;
  /**
   * Sends the request of a write exactly once; whoever calls reads and decides before it is sent
   * again. After a pause of more than a second for another answer's Retry-After, or when `isFresh` says no
   * directly before the request leaves, nothing is sent: StaleReadError. Throws NetworkError (`not-sent`) where nothing
   * left, ApiError for a refusal (429: `details.wait`), UnknownOutcomeError for everything between.
   */
  sendOnce(call: Call, isFresh: () => boolean): Promise<Answer>;
  /** Sends a call whose answer is one record and finds the record in whatever envelope it came. */
  record(call: Call): Promise<JsonObject>;
  /** The record as `record` finds it, and when the head of its answer was there. */
  recordAt(call: Call): Promise<{ readonly record: JsonObject; readonly at: Instant }>;
  /** Finds the signed URL, or the bytes, in the answer of a download or preview call. */
  link(call: Call): Promise<Link>;
  /** `replace`: the body of this update must be the whole record (`wholeRecord` of records.ts). */
  semantics(call: Call): 'merge' | 'replace';
  /** Lists a resource through its documented list call. */
  list(
    resource: ResourceName,
    query?: { readonly [name: string]: string },
    listening?: ListObserver,
  ): RecordList;
  /**
   * A request that the contract does not know (`rosterctl api`); same origin, same key handling.
   * Every status but a redirect is returned; `failureOf` of answers.ts judges it.
   */
  raw(request: TransportRequest): Promise<TransportResponse>;
}

/** What the caller of `createApi` is told about while calls run. */
export interface ApiNotes {
  /** A deviation from the contract in an answer; told once per run and path. */
  drift(message: string): void;
  /** Anything else worth a line on stderr. */
  note(message: string): void;
}

export type { ResourceName };
