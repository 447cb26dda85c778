/** Retries: which failures of which requests may be repeated, and after how long. */

import { isObject, numberOf } from '../data/json.js';
import { readJson } from '../data/json-body.js';
import type { Instant } from '../data/time.js';
import { CancelledError, type Delivery } from '../errors.js';
import { contract } from './contract.js';
import type { ProxyChoice } from './proxy.js';

/** Kinds of request that differ in what may be repeated. */
type RequestKind = 'read' | 'grant' | 'put' | 'write';

/**
 * Maps each kind of request and how far it got to the next step after a failure. `verify`: only
 * reading the record can show whether to send again. `done`: the effect is certain although the
 * response is unreadable.
 */
const nextSteps: {
  readonly [K in RequestKind]: { readonly [D in Delivery]: 'retry' | 'verify' | 'done' };
} = {
  read: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'retry', applied: 'retry' },
  grant: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'retry', applied: 'retry' },
  put: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'retry', applied: 'done' },
  write: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'verify', applied: 'verify' },
};

/** Returns the row of `nextSteps` for a call to the service. An unused upload grant is harmless. */
export function requestKind(method: string, template: string): RequestKind {
  if (method === 'GET' || method === 'HEAD') return 'read';
  const sent = `${method} ${template}`;
  const isGrant = Object.values(contract).some(
    ({ answers, route }) => answers === 'grant' && route === sent,
  );
  return isGrant ? 'grant' : 'write';
}

/** Returns how far a request with this status got; undefined if the response is final. */
export function deliveryOfStatus(status: number): Delivery | undefined {
  if (status === 429) return 'refused';
  if (status === 408 || (status >= 500 && status < 600 && status !== 501)) return 'ambiguous';
  return undefined;
}

/** The result of one attempt, as far as retrying is concerned. */
export interface AttemptOutcome<T> {
  readonly value: T;
  /** Undefined: final, no reason to retry. */
  readonly delivery: Delivery | undefined;
  /** How often it may be repeated, if its request allows that at all. */
  readonly mayRetry: 'always' | 'once' | 'never';
  /** Seconds that the response asked to wait. */
  readonly wait?: number | undefined;
}

export interface RetryPolicy {
  readonly retries: number;
  /** Longest single wait that the service may ask for, in milliseconds. */
  readonly maxWaitMs: number;
  readonly random: () => number;
  /** Resolves after the time, or early if the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called before each retry delay: milliseconds, and whether a response asked for it. */
  readonly onWait?: ((ms: number, isRequested: boolean) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Options shared by the clients of the service and of its file store. */
export interface ClientOptions extends RetryPolicy {
  /** Refuses every request that is not a GET. */
  readonly readsOnly: boolean;
  readonly instant: () => Instant;
  /** Prints one line for `--debug`: never a body, a key or a query. */
  readonly trace?: ((line: string) => void) | undefined;
  readonly proxy: ProxyChoice;
  readonly nodeVersion: string;
}

/** The end of a call after its retries. */
export interface RetryResult<T> {
  readonly value: T;
  readonly attempts: number;
  readonly outcome: 'final' | 'verify' | 'done' | 'gaveUp';
  /** Seconds that the last response asked to wait before sending anything else. */
  readonly wait?: number | undefined;
  /** Equal to `wait` if that is more than `maxWaitMs`. */
  readonly retryAfter?: number | undefined;
}

/**
 * Runs `attempt` until its response is final, or until the table or the budget allows no retry.
 * Throws CancelledError if the signal fires during a wait.
 */
export async function retry<T>(
  kind: RequestKind,
  policy: RetryPolicy,
  attempt: () => Promise<AttemptOutcome<T>>,
): Promise<RetryResult<T>> {
  for (let attempts = 1; ; attempts++) {
    const { value, delivery, mayRetry, wait } = await attempt();
    const isTooLong = wait !== undefined && wait * 1000 > policy.maxWaitMs;
    const end = (outcome: RetryResult<T>['outcome']): RetryResult<T> => {
      return { value, attempts, outcome, wait, retryAfter: isTooLong ? wait : undefined };
    };
    if (delivery === undefined) return end('final');
    const outcome = nextSteps[kind][delivery];
    if (outcome !== 'retry') return end(outcome);
    const maxRetries = mayRetry === 'never' ? 0 : mayRetry === 'once' ? 1 : Infinity;
    if (isTooLong || attempts > Math.min(maxRetries, policy.retries)) return end('gaveUp');
    const backoff =
      mayRetry === 'once' ? 1000 : backoffMs(attempts - 1, delivery === 'refused', policy.random);
    const ms = wait === undefined ? backoff : withJitter(wait, policy.random);
    await waitBeforeRetry(policy, ms, wait !== undefined);
  }
}

/** Calls `onWait`, then waits. Throws CancelledError if the signal fired meanwhile. */
export async function waitBeforeRetry(
  { onWait, sleep, signal }: Pick<RetryPolicy, 'onWait' | 'sleep' | 'signal'>,
  ms: number,
  isRequested: boolean,
): Promise<void> {
  onWait?.(ms, isRequested);
  await sleep(ms, signal);
  if (signal.aborted) throw new CancelledError('Interrupted.');
}

/** Full jitter: a random delay up to a bound that doubles from 0.5 s (1 s after a 429) to 20 s. */
export function backoffMs(retryIndex: number, throttled: boolean, random: () => number): number {
  return random() * Math.min(20_000, (throttled ? 1000 : 500) * 2 ** retryIndex);
}

/** Adds jitter to a requested wait: never earlier than asked, and not all at the same moment. */
function withJitter(seconds: number, random: () => number): number {
  return Math.ceil(seconds * 1000) + 2 + random() * 250;
}

interface Headers {
  readonly [name: string]: string;
}

/**
 * Returns the seconds that a response asks to wait: Retry-After as seconds or as a date, else
 * `retry_after` of a JSON body, else the rate-limit headers, which some services add to each response:
 * after another failure they count only if no request is left. A date is compared with the response's
 * own Date header, because clocks differ. Undefined if it asks for none, or for 0 s: some services
 * round down, and an immediate retry would be refused again.
 */
export function requestedWait(
  { status, headers, body }: { status: number; headers: Headers; body: Uint8Array },
  now: Date,
): number | undefined {
  const inHeader = waitInRetryAfter(headers, now);
  const asked = inHeader || waitInBody(body, headers['content-type']);
  const isLimited = status === 429 || (requestsLeft(headers) ?? '0') === '0';
  if (asked || inHeader === 0 || !isLimited) return asked || undefined;
  return waitUntilLimitReset(headers, now) || undefined;
}

/** Returns the seconds until a rate limit resets that a success response reports as used up. */
export function waitUntilReset(headers: Headers, now: () => Date): number | undefined {
  return requestsLeft(headers) === '0' ? waitUntilLimitReset(headers, now()) : undefined;
}

function requestsLeft(headers: Headers): string | undefined {
  return (headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'])?.trim();
}

function waitInRetryAfter(headers: Headers, now: Date): number | undefined {
  const header = headers['retry-after'];
  if (header === undefined) return undefined;
  const waits = header
    .match(retryAfterValues)
    ?.map((text) => nonNegative(text) ?? secondsUntil(text, headers, now))
    .filter((seconds) => seconds !== undefined);
  return waits && waits.length > 0 ? Math.max(...waits) : undefined;
}

/** Repeated headers are joined with commas, and a date contains a comma of its own. */
const retryAfterValues = /\s*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,)?[^,]+/gi;

function secondsUntil(text: string, headers: Headers, now: Date): number | undefined {
  // A date has a time of day; Date.parse also accepts "-5" and "try 5".
  const until = /\d:\d\d/.test(text) ? timeOf(text) : Number.NaN;
  return Number.isNaN(until) ? undefined : secondsBetween(until, headers, now);
}

/** Reads a date of a header; its oldest form names no zone and is meant in UTC (RFC 9110 5.6.7). */
function timeOf(text: string): number {
  return Date.parse(/\d \d{4}\s*$/.test(text) ? `${text} GMT` : text);
}

function secondsBetween(timestamp: number, headers: Headers, now: Date): number {
  const serverNow = timeOf(headers['date'] ?? '');
  const from = Number.isNaN(serverNow) ? now.getTime() : serverNow;
  return Math.max(0, (timestamp - from) / 1000);
}

/** Returns the seconds in a body, at its top level or beside the error code. */
function waitInBody(body: Uint8Array, contentType: string | undefined): number | undefined {
  const read = readJson(body, contentType);
  if (read.kind !== 'json' || !isObject(read.value)) return undefined;
  const holders = [read.value, read.value['error']].filter(isObject);
  for (const holder of holders)
    for (const name of ['retry_after', 'retryAfter']) {
      const seconds = nonNegative(numberOf(holder[name])?.toString());
      if (seconds !== undefined) return seconds;
    }
  return undefined;
}

function waitUntilLimitReset(headers: Headers, now: Date): number | undefined {
  const after = nonNegative(headers['x-ratelimit-reset-after']);
  if (after !== undefined) return after;
  const reset = nonNegative(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset']);
  if (reset === undefined) return undefined;
  // A large number is Unix time, in seconds or milliseconds; a small one is a duration.
  if (reset <= 1e9) return reset;
  return secondsBetween(reset > 1e12 ? reset : reset * 1000, headers, now);
}

function nonNegative(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
