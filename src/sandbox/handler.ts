/** The input and output of a handler, and the table of all handlers as a type. */
import type { contract, Endpoint, EndpointName } from '../api/contract.js';
import type { JsonObject } from '../data/json.js';
import type { UrlSigner } from './keys.js';
import type { LogStep, Tables } from './records.js';
import type { AnswerName } from './shapes/table.js';

/** A call whose key, permission, organization and body have been checked. */
export interface HandlerCall<Param extends string = string> {
  readonly params: { readonly [P in Param]: string };
  /** The JSON body without organizationId; empty where there is none. */
  readonly body: JsonObject;
  /** The organization of the key. */
  readonly organizationId: string;
  readonly tables: Tables;
  /** The changes of the call; applied and logged when the handler returns, dropped when it throws. */
  readonly steps: LogStep[];
  readonly now: Date;
  /** True if an update to the present status emits its events again: for tests of what must not happen twice. */
  readonly strictEvents: boolean;
  /** True where an update replaces the whole record. */
  readonly replaces: boolean;
  /** Signs URLs of the file store. */
  readonly urls: UrlSigner;
}

/** The result of a call; the shapes decide how the answer presents it. */
export interface HandlerReply {
  readonly answer: Exclude<AnswerName, 'error'>;
  /** All records of a list. */
  readonly rows?: readonly JsonObject[];
  readonly records?: ReplyRecords;
  /** The values of the answer's other placeholders. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Records by the placeholder that stands for them; `old` is the one before the write. */
export interface ReplyRecords {
  readonly record?: JsonObject;
  readonly old?: JsonObject;
  readonly player?: JsonObject;
  readonly application?: JsonObject;
}

type ParamNames<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

type CallsOf<R extends Endpoint['resource']> = {
  [N in EndpointName]: (typeof contract)[N]['resource'] extends R ? N : never;
}[EndpointName];

/** The handlers of a resource: one for each of its endpoints. */
export type HandlersOf<R extends Endpoint['resource']> = Pick<Handlers, CallsOf<R>>;

/** A handler for every endpoint of the contract: a missing one is a type error. */
export type Handlers = {
  readonly [N in EndpointName]: (
    call: HandlerCall<ParamNames<(typeof contract)[N]['route']>>,
  ) => HandlerReply;
};
