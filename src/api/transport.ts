import { isHeaderValue } from '../data/http.js';
import type { Instant } from '../data/time.js';
import { BugError, CancelledError, ConfigError, StaleReadError } from '../errors.js';
import { readBeginning, responseOf } from './response.js';
import { exchange, neverAborts, openExchange } from './exchange.js';
import { isGarbled } from './json-body.js';
import { type TransportError, retryPace, responseLimit } from './transport-error.js';
import type { ProxyChoice } from './proxy.js';
import type { RateLimiter } from './rate-limiter.js';
import {
  backoffMs,
  requestKind,
  deliveryOfStatus,
  retry,
  type RetryPolicy,
  type AttemptOutcome,
  requestedWait,
  waitBeforeRetry,
  waitUntilReset,
} from './retry.js';
import { type Agent, type Connections, openConnections } from './undici.js';
import {
  type Attempt,
  type StreamStart,
  keepHeapSmall,
  type Limits,
  type OpenBody,
  type OpenReply,
  type TransportRequest,
  type TransportResponse,
  type Wire,
  wireBuilder,
} from './wire.js';

export type { StreamStart, OpenBody, TransportRequest, TransportResponse };

export interface TransportOptions {
  readonly connection: { readonly baseUrl: string; readonly key: string };
  /** To the first byte of an answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxWaitMs: number;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** One line of `--debug`: never a body, a key or a query. */
  readonly trace?: ((line: string) => void) | undefined;
  readonly instant: () => Instant;
  readonly random: () => number;
  /** Resolves after the time, or early when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Hears of each wait before an attempt, in milliseconds, and whether the answer asked for it. */
  readonly onWait?: ((ms: number, asked: boolean) => void) | undefined;
  /** Hears that an answer is waited for, and by the result that it came. */
  readonly waiting?: (() => () => void) | undefined;
  readonly userAgent: string;
  readonly nodeVersion: string;
  /** Shared by all requests; without it they go as they come. */
  readonly limiter?: RateLimiter | undefined;
  /** The proxy of each origin; without it every connection is direct. */
  readonly proxy?: ProxyChoice | undefined;
  /** Other bounds than the usual ones, for tests. */
  readonly bounds?: {
    readonly connectMs?: number;
    readonly attemptMs?: number;
    readonly bodyBytes?: number;
    readonly quietMs?: number;
  };
}

/** Requests to the service: the key goes to the base URL's origin alone, and no redirect is followed. */
export interface Transport {
  /**
   * Sends one request, repeated where the table of `retry.ts` allows. Answers of 400 and above are
   * returned, not thrown. Throws NetworkError, ProtocolError, UnknownOutcomeError, CancelledError.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /**
   * Sends one write exactly once, before the reads that wait for their turn. Sends nothing and throws
   * StaleReadError when a pause that an answer asked for held it back for more than a second, or
   * `isFresh` says directly before the request leaves that what it was decided by is too old. Throws as
   * `request` does.
   */
  requestOnce(request: TransportRequest, isFresh: () => boolean): Promise<TransportResponse>;
  /**
   * Sends one GET and lets `begin` read its 2xx body as it comes, anew for each attempt; another
   * answer is given whole. Throws as `request` does, and what `begin` throws.
   */
  stream<T>(
    request: TransportRequest,
    begin: (body: OpenBody) => Promise<StreamStart<T>>,
  ): Promise<{ readonly begun: T } | { readonly response: TransportResponse }>;
  /**
   * For what broke after `stream` had handed out its beginning: waits as long as before the attempt
   * that follows so many; false where none is allowed any more. Throws CancelledError.
   */
  again(attempts: number): Promise<boolean>;
  /** Says that more than one answer is waited for; the result ends that. */
  waiting(): () => void;
  /** Leaves nothing open; the process can end at once. */
  close(): void;
}

/** How one attempt is made. */
interface AttemptOptions {
  /** May go over a connection that stands. */
  readonly keepAlive: boolean;
  /** Before the reads that wait for their turn. */
  readonly first: boolean;
  /** Called directly before the request leaves, with how long an answer held it back; may throw. */
  readonly leaves?: ((pausedMs: number) => void) | undefined;
}

/** A write that a pause held back for longer goes back to whoever decided it. */
const longestPauseMs = 1000;

/** The attempt of one whose turn never came. */
const notSent: TransportError = { why: 'aborted', delivery: 'not-sent' };

export function createTransport(options: TransportOptions): Transport {
  const { connection, bounds, limiter } = options;
  const base = new URL(connection.baseUrl);
  checkKey(connection.key);
  const limits: Limits = {
    firstByteMs: options.timeoutMs,
    attemptMs: bounds?.attemptMs ?? Math.max(60_000, options.timeoutMs),
    bodyBytes: bounds?.bodyBytes ?? responseLimit.bytes,
    quietMs: bounds?.quietMs ?? 30_000,
  };
  const connectMs = bounds?.connectMs ?? 10_000;
  const now = () => new Date(options.instant().wall);
  let closed = false;
  const opening = new Map<boolean, Promise<Connections>>();
  const agents = new Map<boolean, Agent>();
  const wireOf = wireBuilder(base, { userAgent: options.userAgent, key: connection.key });

  const connections = (keepAlive: boolean): Promise<Connections> => {
    const { nodeVersion, proxy } = options;
    const open =
      opening.get(keepAlive) ?? openConnections(nodeVersion, { connectMs, keepAlive, proxy });
    opening.set(keepAlive, open);
    return open;
  };

  const openAgent = async (keepAlive: boolean): Promise<Agent> => {
    const { agent } = await connections(keepAlive);
    agents.set(keepAlive, agent);
    return agentFor(keepAlive);
  };
  const agentFor = (keepAlive: boolean): Agent | Promise<Agent> => {
    if (closed) throw new BugError('A request after the transport was closed.');
    return agents.get(keepAlive) ?? openAgent(keepAlive);
  };
  const tried = (value: Attempt, needsJson = false): AttemptOutcome<Attempt> => {
    if ('transportError' in value) {
      const { transportError } = value;
      const again = limiter?.silent ? 'never' : retryPace(transportError);
      return { value, delivery: transportError.delivery, pace: again };
    }
    const { status, headers, body } = value.reply;
    if (needsJson && status < 300 && isGarbled(value.reply))
      return { value, delivery: 'applied', pace: 'once' };
    const delivery = deliveryOfStatus(status);
    const wait = delivery && requestedWait(headers, body, now());
    limiter?.answered(status, wait ?? waitUntilReset(headers, now));
    return { value, delivery, pace: 'always', wait };
  };
  /** One attempt, as soon as it is its turn; `first`: before those that wait already. */
  const attempt = async (
    wire: Wire,
    { keepAlive, first, leaves }: AttemptOptions,
  ): Promise<Attempt> => {
    const { signal, trace } = options;
    const agent = agentFor(keepAlive);
    const opened = agent instanceof Promise ? await agent : agent;
    const acquired = limiter?.acquire(signal, { first });
    const turn = acquired instanceof Promise ? await acquired : acquired;
    if (limiter && !turn) return { transportError: notSent };
    leaves?.(turn?.pausedMs ?? 0);
    const started = traceStart();
    const ended = limiter?.sent();
    // A bulk run lets what is in flight finish; the process itself bounds how long that may take.
    const heeded = limiter?.isDraining ? neverAborts : signal;
    const found = await exchange(opened, wire, limits, heeded, options.instant);
    ended?.();
    trace?.(traceLine(wire, found, performance.now() - started));
    return found;
  };
  // The first use of `performance` costs a start 2 ms, so only a trace pays for it.
  const traceStart = () => (options.trace ? performance.now() : 0);
  const place = { origin: base.origin, firstByteMs: options.timeoutMs };

  const waiting = options.waiting ?? (() => () => {});
  const send = async (
    request: TransportRequest,
    policy: RetryPolicy,
    leaves?: AttemptOptions['leaves'],
  ): Promise<TransportResponse> => {
    const { method, template } = request;
    if (options.dryRun && method !== 'GET')
      throw new BugError(`A dry run tried to send ${method} ${template}.`);
    const kind = requestKind(method, template);
    const wire = wireOf(request);
    // A write that must not happen twice does not ride on a connection about to be dropped.
    const keepAlive = !(kind === 'write' && method === 'POST');
    // What was read for a write is to be as fresh as can be.
    const first = kind !== 'read';
    const answered = waiting();
    try {
      const ending = await retry(kind, policy, async () =>
        tried(await attempt(wire, { keepAlive, first, leaves }), !first && request.needsJson),
      );
      return responseOf(ending, request, place);
    } finally {
      answered();
    }
  };

  return {
    waiting,
    request: (request) => send(request, options),
    requestOnce(request, isFresh) {
      const call = { method: request.method, path: request.template };
      return send(request, { ...options, retries: 0 }, (pausedMs) => {
        if (pausedMs > longestPauseMs || !isFresh()) throw new StaleReadError(call);
      });
    },
    async stream<T>(request: TransportRequest, begin: (body: OpenBody) => Promise<StreamStart<T>>) {
      const wire = wireOf(request);
      const call = { method: request.method, path: request.template };
      const ending = await retry<Attempt | { begun: T }>('read', options, async () => {
        const agent = await agentFor(true);
        if (limiter && !(await limiter.acquire(options.signal)))
          return tried({ transportError: notSent });
        const started = traceStart();
        const ended = limiter?.sent();
        const value = await openExchange(agent, wire, limits, options.signal, options.instant);
        ended?.();
        options.trace?.(traceLine(wire, value, performance.now() - started));
        if (!('open' in value)) return tried(value);
        const { status, headers } = value.open;
        limiter?.answered(status, waitUntilReset(headers, now));
        const onLong = () => void keepHeapSmall(options.nodeVersion);
        return readBeginning(value.open, begin, { ...place, call, onLong });
      });
      const { value } = ending;
      if ('begun' in value) return value;
      return { response: responseOf({ ...ending, value }, request, place) };
    },
    async again(attempts) {
      if (attempts > options.retries || limiter?.silent) return false;
      const ms = backoffMs(attempts - 1, false, options.random);
      if (await waitBeforeRetry(options, ms, false)) return true;
      throw new CancelledError('Interrupted.');
    },
    close() {
      closed = true;
      for (const open of opening.values())
        void open.then(
          (set) => set.close(),
          () => undefined,
        );
    },
  };
}

function checkKey(key: string): void {
  if (isHeaderValue(key)) return;
  throw new ConfigError('The API key holds characters that no header can carry.', {
    hint: 'Store it again: rosterctl auth login',
  });
}

function traceLine(wire: Wire, attempt: Attempt | { open: OpenReply }, ms: number): string {
  const [path = ''] = wire.path.split('?', 1);
  const out = wire.body instanceof Uint8Array ? `, ${wire.body.length} B` : '';
  const sent = `${wire.method} ${path} (${wire.headers.filter((_, at) => at % 2 === 0).join(' ')}${out})`;
  const time = `${Math.round(ms)} ms`;
  if ('transportError' in attempt) {
    const { why, delivery } = attempt.transportError;
    return `${sent} -> no answer: ${why}, ${delivery}, ${time}`;
  }
  const { status, headers } = 'open' in attempt ? attempt.open : attempt.reply;
  const size = 'open' in attempt ? 'body follows' : `${attempt.reply.body.length} B`;
  return `${sent} -> ${status} (${Object.keys(headers).join(' ')}, ${size}) ${time}`;
}
