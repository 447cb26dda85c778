/** Reads responses: the failure or the JSON body that a response carries. */
import { isObject, type JsonObject, maxDepth } from '../data/json.js';
import { type JsonBody, readJson } from '../data/json-body.js';
import { describeRequestedWait } from '../data/outcome-errors.js';
import { normalName } from '../data/path.js';
import { bracketedCode, wordsIn } from '../data/refusal-words.js';
import {
  ApiError,
  type CallSite,
  emptyAnswer,
  type Failure,
  ProtocolError,
  requestLine,
  UnknownOutcomeError,
} from '../errors.js';
import { hasId, nonRecordNames } from './records.js';
import { readFirst } from './response.js';
import { requestKind } from './retry.js';
import { permissionFor } from './routes.js';
import type { TransportResponse } from './wire.js';

interface AnsweredCall {
  readonly call: CallSite;
  /** scheme://host of the service. */
  readonly origin: string;
  /** The contract shows a JSON response, so anything else is an error. */
  readonly needsJson: boolean;
}

/**
 * Returns the failure in a response, or undefined for a success. A failure is a status of 400 or
 * above, or a success status around an error body. The service's own code and message are kept.
 */
export function failureOf(
  response: TransportResponse,
  call: CallSite,
  { idName }: { readonly idName?: string | undefined } = {},
): Failure | undefined {
  const { status, headers } = response;
  const read = readJson(response.body, headers['content-type']);
  if (status < 400)
    return read.kind === 'json' ? refusalIn(read.value, status, call, { idName }) : undefined;
  const service = bodyForError(read);
  const code = codeIn(isObject(service) ? service : {});
  const refusal = new ApiError(status, code, call, {
    message: messageIn(service, code),
    service,
    allow: headers['allow'],
    wait: response.wait,
    retryAfter: response.retryAfter,
    permission: status === 403 ? permissionFor(call) : undefined,
    ...foreignSender(read, response),
  });
  if (!response.outcomeUnknown) return refusal;
  const requestedWait = describeRequestedWait(refusal);
  return new UnknownOutcomeError(
    `${requestLine(call)} failed with ${status}${bracketedCode(code, status)} but may have taken effect.`,
    call,
    {
      hint: requestedWait === undefined ? readFirst : `The service ${requestedWait} ${readFirst}`,
      cause: refusal,
      wait: requestedWait === undefined ? response.wait : undefined,
    },
  );
}

/** The body as the service's own words: JSON, or a text. A web page comes from something in front of it. */
function bodyForError(read: JsonBody): unknown {
  if (read.kind === 'json') return read.value;
  return read.kind === 'other' ? read.text : undefined;
}

/** Returns the error inside a 2xx response. */
function refusalIn(
  body: unknown,
  status: number,
  call: CallSite,
  envelope: EnvelopeContent,
): ApiError | undefined {
  const sign = refusalSign(body, envelope);
  if (!sign || !isObject(body)) return undefined;
  const own = isFailureCode(body['status']) ? String(body['status']) : undefined;
  const code = codeIn(body) ?? own;
  return new ApiError(status, code, call, { message: messageIn(body, code), sign, body });
}

/**
 * Returns the JSON of a successful response, or undefined when the body is empty and may be. Throws
 * UnknownOutcomeError for an unreadable response to a write, ProtocolError for one to a read.
 */
export function bodyOfAnswer(
  response: TransportResponse,
  { call, origin, needsJson }: AnsweredCall,
): unknown {
  const read = readJson(response.body, response.headers['content-type']);
  if (read.kind === 'json') return read.value;
  const writes = requestKind(call.method, call.path) === 'write';
  const isUnreadable = read.kind === 'other' || read.kind === 'deep';
  if (read.kind === 'empty' ? writes || !needsJson : isUnreadable && !needsJson) return undefined;
  const problem = problemOf(read, origin);
  if (writes)
    throw new UnknownOutcomeError(
      `${requestLine(call)} returned ${response.status}, but the answer cannot be read: ${problem}`,
      call,
      { hint: readFirst, delivery: 'applied' },
    );
  throw new ProtocolError(problem, {
    call,
    status: response.status,
    code: read.kind === 'empty' ? emptyAnswer : undefined,
    hint: 'Check the base URL: rosterctl auth status',
  });
}

/** Returns the JSON of a successful response to a list; null, an empty list, for a 204. */
export function listBodyOf(
  response: TransportResponse,
  answered: Omit<AnsweredCall, 'needsJson'>,
): unknown {
  return response.status === 204 ? null : bodyOfAnswer(response, { ...answered, needsJson: true });
}

/**
 * Returns the list in a response, as `find` finds it, and an error beside its rows: some may be missing.
 * Throws the failure in the response, and an error in place of rows.
 */
export function listAnswered<L extends { readonly rows: readonly unknown[] }>(
  response: TransportResponse,
  { call, origin }: Omit<AnsweredCall, 'needsJson'>,
  find: (body: unknown) => L | undefined,
  idName?: string,
) {
  const { status } = response;
  const failure = status < 400 ? undefined : failureOf(response, call);
  if (failure) throw failure;
  const body = listBodyOf(response, { call, origin });
  const found = find(body);
  const hasRows = found !== undefined && found.rows.length > 0;
  const refusal = refusalIn(body, status, call, { hasRecords: hasRows || undefined, idName });
  if (refusal && !hasRows) throw refusal;
  return { body, found, refusal };
}

function problemOf(read: JsonBody, origin: string): string {
  if (read.kind === 'html') return `${origin} answered with a web page, not with JSON.`;
  if (read.kind === 'empty') return `The answer from ${origin} is empty.`;
  if (read.kind === 'deep')
    return `The answer from ${origin} is JSON nested more than ${maxDepth} levels deep, which rosterctl does not read.`;
  return `The answer from ${origin} is not JSON.`;
}

/** Recognizes an answer of something in front of the service: a web page, or a request for a password. */
function foreignSender(
  { kind }: JsonBody,
  { status, headers }: TransportResponse,
): Pick<ApiError['details'], 'isForeign' | 'hint'> {
  const challenge = headers['www-authenticate'] ?? '';
  if (status === 401 && kind !== 'json' && passwordScheme.test(challenge))
    return {
      isForeign: true,
      hint: 'Something in front of the service asks for a user name and a password; rosterctl sends only the API key.',
    };
  return kind === 'html' ? { isForeign: true, hint: htmlHint(status) } : {};
}

/** Authentication schemes that the contract does not use (section 5). */
const passwordScheme = /^(basic|digest|negotiate|ntlm)\b/i;

function htmlHint(status: number): string | undefined {
  if (status === 403)
    return 'The answer is a web page: something in front of the service blocked the request.';
  // Pages of these come from a proxy in front of the service; the base URL is right.
  if ([408, 413, 429].includes(status) || status >= 500) return undefined;
  return 'The answer is a web page: check the base URL with rosterctl auth status.';
}

/** Contract section 7: `error` holds the code. An object or a list around it is tolerated. */
function codeIn(body: JsonObject): string | undefined {
  const { error, errors, code, statusCode } = body;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const candidates = [error, isObject(error) && error['code'], isObject(first) && first['code']];
  const numericCode = [code, statusCode].find((each) => typeof each === 'number');
  return shorten(
    candidates.find((each): each is string => typeof each === 'string' && each !== '') ??
      (numericCode === undefined ? numericCode : String(numericCode)),
    maxCodeLength,
  );
}

/** In characters. Anything longer would fill the screen. */
const maxCodeLength = 200;
const maxMessageLength = 2_000;

function shorten(text: string | undefined, maxLength: number): string | undefined {
  return text !== undefined && text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Returns the first words of the body, on one line. */
function messageIn(body: unknown, code: string | undefined): string | undefined {
  const [first] = wordsIn(body, code);
  return shorten(first, maxMessageLength);
}

/** Facts about an envelope that its fields alone do not show. */
interface EnvelopeContent {
  /** It contains a record or rows; by default this is looked up. */
  readonly hasRecords?: boolean | undefined;
  /** The field that holds a record's id (`ids.<resource>`). */
  readonly idName?: string | undefined;
}

/**
 * Returns how the envelope of a success response indicates an error, or undefined if it does not:
 * `code`, if only a number or a status word does, which may mean something else. A body with an id of
 * its own is a record, whatever its fields are called.
 */
export function refusalSign(
  body: unknown,
  { hasRecords, idName }: EnvelopeContent = {},
): 'error' | 'code' | undefined {
  if (!isObject(body) || hasId(body, idName)) return undefined;
  const { error, errors, ok, success, status, code, statusCode } = body;
  if (isFilled(error) || isFilled(errors) || saysNo(ok) || saysNo(success)) return 'error';
  if (typeof status === 'string' && /^(error|fail|failed)$/i.test(status)) return 'code';
  if (![code, statusCode, status].some(isFailureCode)) return undefined;
  return (hasRecords ?? containsRecord(body, idName, 2)) ? undefined : 'code';
}

/** `false`, and how some services write it. */
function saysNo(flag: unknown): boolean {
  return flag === false || flag === 'false' || flag === 0;
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** An HTTP error status, alone or followed by two digits of the service's own. */
function isFailureCode(value: unknown): boolean {
  if (typeof value !== 'number') return false;
  return (value >= 400 && value < 600) || (value >= 40_000 && value < 60_000);
}

function containsRecord(body: JsonObject, idName: string | undefined, depth: number): boolean {
  const isRecord = (value: unknown) => isObject(value) && hasId(value, idName);
  return Object.entries(body).some(([key, value]) => {
    if (nonRecordNames.has(normalName(key))) return false;
    if (Array.isArray(value)) return value.some(isRecord);
    return (
      isRecord(value) || (isObject(value) && depth > 1 && containsRecord(value, idName, depth - 1))
    );
  });
}
