import { isObject, type JsonObject, maxDepth } from '../data/json.js';
import { describeRequestedWait } from '../data/outcome-errors.js';
import {
  ApiError,
  type CallSite,
  type Failure,
  ProtocolError,
  UnknownOutcomeError,
} from '../errors.js';
import { readFirst } from './response.js';
import { type JsonBody, readJson } from './json-body.js';
import { hasId, normalName } from './records.js';
import type { TransportResponse } from './wire.js';
import { requestKind } from './retry.js';
import { permissionFor } from './routes.js';

/** What is known about the call whose answer is judged. */
export interface AnsweredCall {
  readonly call: CallSite;
  /** scheme://host of the service. */
  readonly origin: string;
  /** The contract shows a JSON answer, so anything else is an error. */
  readonly needsJson: boolean;
}

/**
 * The failure that an answer stands for, or undefined when it is a success: a status of 400 and
 * above, or a success status around an error body. The service's own code and sentence are kept.
 * `isGuess`: the contract does not show the route.
 */
export function failureOf(
  response: TransportResponse,
  call: CallSite,
  { isGuess = false }: { readonly isGuess?: boolean } = {},
): Failure | undefined {
  const { status, headers } = response;
  const read = readJson(response.body, headers['content-type']);
  if (status < 400) return read.kind === 'json' ? refusalIn(read.value, status, call) : undefined;
  const body = read.kind === 'json' && isObject(read.value) ? read.value : {};
  const refusal = new ApiError(status, codeIn(body), call, {
    message: messageIn(body),
    allow: headers['allow'],
    wait: response.wait,
    retryAfter: response.retryAfter,
    permission: status === 403 ? permissionFor(call) : undefined,
    hint:
      read.kind === 'html'
        ? webPageHint(status)
        : status === 405 && isGuess
          ? guessHint
          : undefined,
  });
  if (!response.outcomeUnknown) return refusal;
  const code = codeIn(body);
  const quiet = describeRequestedWait(refusal);
  return new UnknownOutcomeError(
    `${call.method} ${call.path} was answered with ${status}${code ? ` (${code})` : ''} and may have taken effect.`,
    call,
    {
      hint: quiet === undefined ? readFirst : `The service ${quiet} ${readFirst}`,
      cause: refusal,
      wait: quiet === undefined ? response.wait : undefined,
    },
  );
}

const guessHint =
  "The route is a guess; replace it with --route 'METHOD /path' (rosterctl help undocumented).";

/** The refusal that a 2xx answer holds. `hasRows`: it is a list, with rows or without. */
export function refusalIn(
  body: unknown,
  status: number,
  call: CallSite,
  hasRows?: boolean,
): ApiError | undefined {
  const sign = refusalSign(body, hasRows);
  if (!sign || !isObject(body)) return undefined;
  return new ApiError(status, codeIn(body), call, { message: messageIn(body), sign, body });
}

/** The JSON of a successful answer, undefined where there is none and none is due. */
export function bodyOf(
  response: TransportResponse,
  { call, origin, needsJson }: AnsweredCall,
): unknown {
  const read = readJson(response.body, response.headers['content-type']);
  if (read.kind === 'json') return read.value;
  const writes = requestKind(call.method, call.path) === 'write';
  const unread = read.kind === 'other' || read.kind === 'deep';
  if (read.kind === 'empty' ? writes || !needsJson : unread && !needsJson) return undefined;
  const what = problemOf(read, origin);
  if (writes)
    throw new UnknownOutcomeError(
      `${call.method} ${call.path} was answered with ${response.status}, but not readably: ${what}`,
      call,
      { hint: readFirst, delivery: 'applied' },
    );
  throw new ProtocolError(what, {
    call,
    status: response.status,
    hint: 'Check the base URL: rosterctl auth status',
  });
}

function problemOf(read: JsonBody, origin: string): string {
  if (read.kind === 'html') return `HTML from ${origin}: wrong base URL or a proxy page.`;
  if (read.kind === 'empty') return `An empty answer from ${origin} where JSON is due.`;
  if (read.kind === 'deep')
    return `The answer from ${origin} is JSON of more than ${maxDepth} levels, which is not read.`;
  return `The answer from ${origin} is not JSON.`;
}

function webPageHint(status: number): string {
  return status === 403
    ? 'The answer is a web page: something in front of the service blocked the request.'
    : 'The answer is a web page: check the base URL with rosterctl auth status.';
}

/** Contract section 7: `error` holds the code; an object or a list around it is tolerated. */
function codeIn(body: JsonObject): string | undefined {
  const { error, code, statusCode } = body;
  const [first] = listOf(body['errors']);
  const found = [error, isObject(error) && error['code'], isObject(first) && first['code']];
  const own = [code, statusCode].find((each) => typeof each === 'number');
  return shortened(
    found.find((each) => typeof each === 'string') ?? (own === undefined ? own : String(own)),
    longestCode,
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** A word and a sentence: more than that would fill the screen. */
const longestCode = 200;
const longestMessage = 2_000;

function shortened(text: string | undefined, most: number): string | undefined {
  return text !== undefined && text.length > most ? `${text.slice(0, most)}…` : text;
}

function messageIn(body: JsonObject): string | undefined {
  const { error } = body;
  const [first] = listOf(body['errors']);
  const inList = isObject(first) ? first['message'] : first;
  const found = [body['message'], isObject(error) && error['message'], inList];
  return shortened(
    found.find((each) => typeof each === 'string'),
    longestMessage,
  );
}

/** `code`: nothing but a number or a status word says so, which may mean something else. */
type RefusalSign = 'error' | 'code';

/**
 * The sign of a refusal in the envelope of a success answer. A body with an id of its own is a record,
 * whatever its fields are called. `hasRecords`: a record or rows came with it.
 */
export function refusalSign(
  body: unknown,
  hasRecords = isObject(body) && holdsRecord(body, 2),
): RefusalSign | undefined {
  if (!isObject(body) || hasId(body)) return undefined;
  const { error, errors, ok, success, status, code, statusCode } = body;
  if (isFilled(error) || isFilled(errors) || ok === false || success === false) return 'error';
  if (typeof status === 'string' && /^(error|fail|failed)$/i.test(status)) return 'code';
  return !hasRecords && [code, statusCode].some(isFailureCode) ? 'code' : undefined;
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A status of HTTP, alone or with two digits of the service's own behind it. */
function isFailureCode(value: unknown): boolean {
  if (typeof value !== 'number') return false;
  return (value >= 400 && value < 600) || (value >= 40_000 && value < 60_000);
}

/** What has an id beside a record, or instead of one. */
const others = new Set([
  ...['organization', 'org', 'user', 'actor', 'createdby', 'account', 'job'],
  ...['request', 'meta', 'metadata', 'errors', 'error', 'details', 'warnings'],
]);

function holdsRecord(body: JsonObject, depth: number): boolean {
  return Object.entries(body).some(([key, value]) => {
    if (others.has(normalName(key))) return false;
    if (Array.isArray(value)) return value.some((each) => isObject(each) && hasId(each));
    return isObject(value) && (hasId(value) || (depth > 1 && holdsRecord(value, depth - 1)));
  });
}
