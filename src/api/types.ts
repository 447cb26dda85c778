/** The API as commands see it: calls, responses and lists. */

import type { RecordStream } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import type { Overrides, ResourceName } from '../data/resources.js';
import type { Instant } from '../data/time.js';
import type { Failure } from '../errors.js';
import type { EndpointName } from './contract.js';
import type { RateLimiter } from './rate-limiter.js';
import type { Route } from './routes.js';
import type { ResponseHead, TransportRequest, TransportResponse } from './wire.js';

/** A document's file as a download or preview answer gives it: a signed URL (a secret), or the bytes. */
export type Link =
  | { readonly kind: 'url'; readonly url: string; readonly expiresAt: string | undefined }
  | {
      readonly kind: 'bytes';
      readonly bytes: Buffer;
      readonly headers: { readonly [name: string]: string };
    };

/** A call of the contract as data: what a plan contains, a dry run shows and `Api.send` sends. */
export interface Call {
  readonly endpoint: EndpointName;
  /** The ids in the path, by the contract's names, without organizationId. */
  readonly params?: { readonly [name: string]: string } | undefined;
  /** The JSON body without organizationId, which the client adds where the contract needs it. */
  readonly body?: JsonObject | undefined;
  /** A `METHOD /path` from --route that replaces the assumed one. */
  readonly route?: string | undefined;
}

/** A call as it would be sent. */
export interface PlannedRequest {
  readonly method: string;
  readonly path: string;
  readonly basis: 'stated' | 'assumed';
  readonly body?: unknown;
}

/** The response to a call; `body` is undefined if there was none or it was not JSON. */
export interface Answer extends ResponseHead {
  readonly body: unknown;
  /** The record in the body, of the resource that the call is about; its `id` is text. */
  readonly record: JsonObject | undefined;
  /** When its headers arrived: the age of its content counts from here. */
  readonly at: Instant;
}

/** Says if a list is known to be complete. A write to a filtered selection is refused in doubt. */
export type Completeness = { readonly state: 'complete' } | Doubt;

/** Why a list may be incomplete. */
export interface Doubt {
  /** `assumedEmpty`: no list was recognized in the answer, which is treated as an empty one. */
  readonly state: 'doubtful' | 'assumedEmpty';
  readonly reason: string;
  /** Commands that resolve the doubt, each after a few words on when to use it. */
  readonly fixes?: readonly string[];
  /** The service itself says that records are missing. */
  readonly isStated?: boolean;
  /** The service pointed to next pages, which were followed as far as possible. */
  readonly isLed?: boolean;
  /** The next page that it names must not be read: there is more, whatever is set. */
  readonly isBarred?: boolean;
  /** The only sign is the number of records: that of a usual page. */
  readonly isOnlyCount?: boolean;
}

/** A list being read: records as they arrive, in the service's order. */
export interface RecordList extends RecordStream<JsonObject> {
  /** Known when the iteration has ended; throws BugError before. */
  completeness(): Completeness;
  /**
   * When the last byte of the last page arrived. Throws BugError before the iteration has ended.
   */
  arrivedAt(): Instant;
  /** The most `secondsInCache` of its pages so far: nothing is decided about a write from what a cache kept. */
  cachedFor(): number;
}

/** How a list is read. */
export interface ListOptions {
  /** Called with the headers of the first response, before the first record. */
  readonly onHeaders?: (headers: Answer['headers']) => void;
  /** Replaces the configured overrides, to find out how the service pages. */
  readonly overrides?: Overrides;
  /** Leaves notes and drift out: the caller reports `completeness()` itself. */
  readonly isQuiet?: boolean;
  /** Leaves out the warning that the list may be incomplete: the caller reports `completeness()` itself. */
  readonly checksCompleteness?: boolean;
  /** Ends the reading when it fires, and leaves out retries: for a list that the caller can do without. */
  readonly until?: AbortSignal;
}

/** The client of the service. The organization id is never a parameter (contract 4.6). */
export interface Api {
  readonly organizationId: string;
  readonly baseUrl: string;
  /** Identifies this service to runs and locks: its base URL, or `sandbox`, whose port changes. */
  readonly service: string;
  /** Printed beside a signed URL that stops working sooner than it says. */
  readonly urlNote: string | undefined;
  /** With --strict, how the answer to a change differed from the contract. */
  readonly driftOfChange: Failure | undefined;
  /** True if a text contains the API key: such a value is never stored. */
  isKey(text: string): boolean;
  /** Decides when requests may start; bulk runs set its limits. */
  readonly limiter: RateLimiter;
  /** Returns the request that `send` would send. Throws UsageError for an invalid id. */
  describe(call: Call): PlannedRequest;
  /** Notes that the route of this call is assumed. Does nothing for one that is stated or named. */
  noteAssumedRoute(call: Call): void;
  /** Sends one call. Throws ApiError, NetworkError, ProtocolError, UnknownOutcomeError. */
  send(call: Call): Promise<Answer>;
  /**
   * Sends a write exactly once; the caller must read and decide before sending again. Sends nothing
   * and throws StaleReadError after a pause of more than a second for another response's
   * Retry-After, or if `isFresh` returns false directly before sending. Throws NetworkError
   * (`not-sent`) if nothing was sent, ApiError for a refusal (429: `details.wait`),
   * UnknownOutcomeError for everything in between.
   */
  sendOnce(call: Call, isFresh: () => boolean): Promise<Answer>;
  /**
   * Sends a call that returns one record, and finds the record in whatever envelope it comes; also returns
   * when the headers of its response arrived, and `secondsInCache`.
   */
  record(
    call: Call,
  ): Promise<{ readonly record: JsonObject; readonly at: Instant; readonly cachedFor: number }>;
  /** Finds the signed URL, or the bytes, in the response to a download or preview call. */
  link(call: Call): Promise<Link>;
  /** Finds the record of another resource in an answer: the player that a conversion made. */
  recordIn(body: unknown, resource: ResourceName): JsonObject | undefined;
  /** Returns how a call is sent. Throws UsageError or ConfigError for an override that is not a route. */
  route(call: Call): Route;
  /** True once a request by the route of this call has succeeded. */
  hasWorked(call: Call): boolean;
  /** Lists a resource through its documented list call. */
  list(
    resource: ResourceName,
    query?: { readonly [name: string]: string },
    options?: ListOptions,
  ): RecordList;
  /**
   * Sends a request that the contract does not know (`rosterctl api`), with the same origin and key
   * handling. Returns every status but a redirect; `failureOf` finds the failure in it.
   */
  raw(
    request: Pick<TransportRequest, 'method' | 'path' | 'template' | 'body' | 'needsJson'>,
  ): Promise<TransportResponse>;
}

/** Messages to the owner of a client while calls run. */
export interface ApiNotes {
  /** A note for stderr: a difference from the contract is reported once per run and path. */
  note(message: string): void;
  /** A warning that a result may be incomplete, printed with --quiet too. */
  message(message: string): void;
}
