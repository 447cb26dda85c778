import { isObject } from '../data/json.js';
import { CancelledError, type Delivery } from '../errors.js';
import { contract } from './contract.js';
import { readJson } from './json-body.js';

/** Calls that differ in what may be repeated. */
type RequestKind = 'read' | 'grant' | 'put' | 'write';

/**
 * What follows a failure of each kind of call. `verify` means that only reading the record can tell
 * whether to send again; `done` that the effect is certain although the answer is unreadable.
 */
const repeats: {
  readonly [K in RequestKind]: { readonly [D in Delivery]: 'retry' | 'verify' | 'done' };
} = {
  read: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'retry', applied: 'retry' },
  grant: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'retry', applied: 'retry' },
  put: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'retry', applied: 'done' },
  write: { 'not-sent': 'retry', refused: 'retry', ambiguous: 'verify', applied: 'verify' },
};

/** The row of `repeats` for a call to the service; an unused upload grant is harmless. */
export function requestKind(method: string, template: string): RequestKind {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return `${method} ${template}` === contract.requestUpload.route ? 'grant' : 'write';
}

/** How far a request with this answer got; undefined when the answer settles it. */
export function deliveryOfStatus(status: number): Delivery | undefined {
  if (status === 429) return 'refused';
  if (status === 408 || (status >= 500 && status < 600 && status !== 501)) return 'ambiguous';
  return undefined;
}

/** What one attempt came to, as far as repeating goes. */
export interface AttemptOutcome<T> {
  readonly value: T;
  /** Undefined: settled, no reason to repeat. */
  readonly delivery: Delivery | undefined;
  readonly pace: 'always' | 'once' | 'never';
  /** Seconds that the answer asked to wait. */
  readonly wait?: number | undefined;
}

export interface RetryPolicy {
  /** Extra attempts after the first. */
  readonly retries: number;
  /** Longest single wait that the service may ask for, in milliseconds. */
  readonly maxWaitMs: number;
  readonly random: () => number;
  /** Resolves early when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Hears of each wait before it begins: how long, and whether the answer asked for it. */
  readonly onWait?: ((ms: number, asked: boolean) => void) | undefined;
  readonly signal: AbortSignal;
}

/** How a call with its repetitions ended. */
export interface AttemptResult<T> {
  readonly value: T;
  readonly attempts: number;
  readonly verdict: 'settled' | 'verify' | 'done' | 'gaveUp';
  /** Seconds that the last answer asked to wait before anything more is sent. */
  readonly wait?: number | undefined;
  /** That is longer than the budget. */
  readonly isTooLong: boolean;
}

/**
 * Runs `attempt` until its answer settles the call or the table and the budget say stop. Throws
 * CancelledError when the signal fires in a wait.
 */
export async function retry<T>(
  kind: RequestKind,
  policy: RetryPolicy,
  attempt: () => Promise<AttemptOutcome<T>>,
): Promise<AttemptResult<T>> {
  for (let attempts = 1; ; attempts++) {
    // oxlint-disable-next-line no-await-in-loop
    const { value, delivery, pace, wait } = await attempt();
    const isTooLong = wait !== undefined && wait * 1000 > policy.maxWaitMs;
    const end = (verdict: AttemptResult<T>['verdict']): AttemptResult<T> => {
      return { value, attempts, verdict, wait, isTooLong };
    };
    if (delivery === undefined) return end('settled');
    const verdict = repeats[kind][delivery];
    if (verdict !== 'retry') return end(verdict);
    const allowed = pace === 'never' ? 0 : pace === 'once' ? 1 : Infinity;
    if (isTooLong || attempts > Math.min(allowed, policy.retries)) return end('gaveUp');
    const backoff =
      pace === 'once' ? 1000 : backoffMs(attempts - 1, delivery === 'refused', policy.random);
    const ms = wait === undefined ? backoff : spread(wait, policy.random);
    // oxlint-disable-next-line no-await-in-loop
    if (await waitBeforeRetry(policy, ms, wait !== undefined)) continue;
    throw new CancelledError('Interrupted.');
  }
}

/** Waits before another attempt, and says so first; false where the signal fired meanwhile. */
export async function waitBeforeRetry(
  { onWait, sleep, signal }: Pick<RetryPolicy, 'onWait' | 'sleep' | 'signal'>,
  ms: number,
  asked: boolean,
): Promise<boolean> {
  onWait?.(ms, asked);
  await sleep(ms, signal);
  return !signal.aborted;
}

/** Full jitter: anything between nothing and a bound that doubles from 0.5 s (1 s after a 429) to 20 s. */
export function backoffMs(again: number, throttled: boolean, random: () => number): number {
  return random() * Math.min(20_000, (throttled ? 1000 : 500) * 2 ** again);
}

/** Never earlier than asked, and not all at the same moment. */
function spread(seconds: number, random: () => number): number {
  return Math.ceil(seconds * 1000) + 2 + random() * 250;
}

interface Headers {
  readonly [name: string]: string;
}

/**
 * Seconds that an answer asks to wait: Retry-After as seconds or as a date, else `retry_after` of a
 * JSON body, else the rate-limit headers. A moment is measured against the answer's own Date, for
 * clocks differ. Undefined when it asks for none.
 */
export function requestedWait(headers: Headers, body: Uint8Array, now: Date): number | undefined {
  return (
    waitOfHeader(headers, now) ??
    waitOfBody(body, headers['content-type']) ??
    waitOfLimit(headers, now)
  );
}

/** Seconds until there is anything left of a limit that a good answer says is used up. */
export function waitUntilReset(headers: Headers, now: () => Date): number | undefined {
  const left = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'];
  return left?.trim() === '0' ? waitOfLimit(headers, now()) : undefined;
}

function waitOfHeader(headers: Headers, now: Date): number | undefined {
  const asked = headers['retry-after'];
  if (asked === undefined) return undefined;
  const waits = asked
    .match(oneRetryAfter)
    ?.map((text) => positive(text) ?? secondsUntil(text, headers, now))
    .filter((seconds) => seconds !== undefined);
  return waits && waits.length > 0 ? Math.max(...waits) : undefined;
}

/** Several headers of one name have become one, joined by commas; a date has a comma of its own. */
const oneRetryAfter = /\s*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,)?[^,]+/gi;

function secondsUntil(text: string, headers: Headers, now: Date): number | undefined {
  // A bare number is never a date, whatever Date.parse makes of "-5".
  const until = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(until) ? undefined : secondsTo(until, headers, now);
}

function secondsTo(moment: number, headers: Headers, now: Date): number {
  const serverNow = Date.parse(headers['date'] ?? '');
  const from = Number.isNaN(serverNow) ? now.getTime() : serverNow;
  return Math.max(0, (moment - from) / 1000);
}

/** Seconds in the body, at the top or beside the code, as chat platforms send them. */
function waitOfBody(body: Uint8Array, contentType: string | undefined): number | undefined {
  const read = readJson(body, contentType);
  if (read.kind !== 'json' || !isObject(read.value)) return undefined;
  const holders = [read.value, read.value['error']].filter(isObject);
  for (const holder of holders)
    for (const name of ['retry_after', 'retryAfter']) {
      const value = holder[name];
      const seconds = positive(typeof value === 'number' ? String(value) : undefined);
      if (seconds !== undefined) return seconds;
    }
  return undefined;
}

function waitOfLimit(headers: Headers, now: Date): number | undefined {
  const after = positive(headers['x-ratelimit-reset-after']);
  if (after !== undefined) return after;
  const reset = positive(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset']);
  if (reset === undefined) return undefined;
  // A large number is a moment in Unix time, in seconds or milliseconds; a small one a duration.
  if (reset <= 1e9) return reset;
  return secondsTo(reset > 1e12 ? reset : reset * 1000, headers, now);
}

function positive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
