/** The transport: sends requests to the service, with retries, rate limiting and tracing. */

import { isHeaderValue } from '../data/http.js';
import { isGarbled } from '../data/json-body.js';
import { keepHeapSmall } from '../data/workload.js';
import { BugError, ConfigError, StaleReadError } from '../errors.js';
import { exchange, neverAborts, openExchange } from './exchange.js';
import type { RateLimiter } from './rate-limiter.js';
import { readBeginning, responseOf, type ServiceSite } from './response.js';
import {
  type AttemptOutcome,
  backoffMs,
  type ClientOptions,
  deliveryOfStatus,
  type RetryPolicy,
  requestedWait,
  requestKind,
  retry,
  waitBeforeRetry,
  waitUntilReset,
} from './retry.js';
import { mayRetryAfter, responseLimit, type TransportError } from './transport-error.js';
import { type Agent, connectionPool } from './undici.js';
import {
  type Attempt,
  type Limits,
  type OpenReply,
  type StreamStart,
  siteOf,
  type TransportRequest,
  type TransportResponse,
  type Wire,
  wireBuilder,
} from './wire.js';

export interface TransportOptions extends ClientOptions {
  readonly connection: { readonly baseUrl: string; readonly key: string };
  /** Time to the first byte of a response, in milliseconds. */
  readonly timeoutMs: number;
  /** Called when the wait for a response begins; the returned function is called when it ends. */
  readonly waiting: () => () => void;
  readonly userAgent: string;
  /** Shared by all requests. */
  readonly limiter: RateLimiter;
  /** Replaces the default limits, for tests. */
  readonly bounds?: Partial<Pick<Limits, 'attemptMs' | 'bodyBytes' | 'quietMs'>> & {
    readonly connectMs?: number;
  };
}

interface AttemptOptions {
  readonly keepAlive: boolean;
  /** Ahead of the reads in the queue. */
  readonly first: boolean;
  /** Called directly before sending, with the milliseconds that a pause delayed it; may throw. */
  readonly beforeSend?: ((pausedMs: number) => void) | undefined;
}

/** A write that a pause delayed for longer must be decided again by the caller. */
const longestPauseMs = 1000;

/** The result of an attempt that never got a permit. */
const notSent: { readonly transportError: TransportError } = {
  transportError: { why: 'aborted', delivery: 'not-sent' },
};

/** Sends requests to the service: the key only to the base URL's origin, and follows no redirect. */
export class Transport {
  private readonly limits: Limits;
  private readonly connections: ReturnType<typeof connectionPool>;
  private readonly wireOf: ReturnType<typeof wireBuilder>;
  private readonly site: ServiceSite;
  private readonly once: RetryPolicy;
  /** A write got no answer; on a reused connection, the next one may be lost in the same way. */
  private lostWrite = false;

  constructor(private readonly options: TransportOptions) {
    const { connection, bounds, timeoutMs, userAgent } = options;
    checkHeaderKey(connection.key);
    const base = new URL(connection.baseUrl);
    this.limits = {
      firstByteMs: timeoutMs,
      attemptMs: bounds?.attemptMs ?? Math.max(60_000, timeoutMs),
      bodyBytes: bounds?.bodyBytes ?? responseLimit.bytes,
      quietMs: bounds?.quietMs ?? 30_000,
    };
    this.connections = connectionPool({ ...options, connectMs: bounds?.connectMs });
    this.wireOf = wireBuilder(base, { userAgent, key: connection.key });
    this.site = { origin: base.origin, firstByteMs: timeoutMs, hasAnswered: false };
    this.once = { ...options, retries: 0 };
  }

  /**
   * Sends one request, with the retries that the table in `retry.ts` allows. Returns responses of
   * 400 and above. Throws NetworkError, ProtocolError, UnknownOutcomeError, CancelledError.
   */
  request(request: TransportRequest): Promise<TransportResponse> {
    return this.send(request, this.options);
  }

  /**
   * Sends one write exactly once, ahead of the reads in the queue. Sends nothing and throws
   * StaleReadError if a pause that a response asked for delayed it by more than a second, or if
   * `isFresh`, called directly before sending, says that the read behind the write is too old.
   * Throws as `request` does.
   */
  requestOnce(request: TransportRequest, isFresh: () => boolean): Promise<TransportResponse> {
    return this.send(request, this.once, (pausedMs) => {
      if (pausedMs > longestPauseMs || !isFresh()) throw new StaleReadError(siteOf(request));
    });
  }

  private async send(
    request: TransportRequest,
    policy: RetryPolicy,
    beforeSend?: AttemptOptions['beforeSend'],
  ): Promise<TransportResponse> {
    const { method, template } = request;
    const { readsOnly, signal, instant, limiter } = this.options;
    if (readsOnly && method !== 'GET')
      throw new BugError(`Only reads are allowed here, not ${method} ${template}.`);
    const kind = requestKind(method, template);
    const wire = this.wireOf(request);
    // A write that must not happen twice must not use a connection that may be about to close.
    const keepAlive = !(kind === 'write' && (method === 'POST' || this.lostWrite));
    // Writes go first, so that the reads after them are as fresh as possible.
    const first = kind !== 'read';
    const stopWaiting = this.waiting();
    // A bulk run lets in-flight requests finish; the process itself bounds how long that may take.
    const call = (agent: Agent) =>
      exchange(agent, wire, this.limits, limiter.isDraining ? neverAborts : signal, instant);
    try {
      const result = await retry(kind, policy, async () =>
        this.outcomeOf(
          await this.attempt(call, wire, signal, { keepAlive, first, beforeSend }),
          kind === 'write' ? {} : request,
        ),
      );
      this.lostWrite ||= result.outcome === 'verify' && 'transportError' in result.value;
      return responseOf(result, request, this.site);
    } finally {
      stopWaiting();
    }
  }

  /**
   * Sends one GET and calls `begin` with the 2xx body as it arrives, once per attempt. Returns any
   * other response complete. Throws as `request` does, and what `begin` throws.
   */
  async stream<T>(
    request: TransportRequest,
    begin: (open: OpenReply) => Promise<StreamStart<T>>,
  ): Promise<{ readonly begun: T } | { readonly response: TransportResponse }> {
    const { options, limits } = this;
    const wire = this.wireOf(request);
    const { until } = request;
    const signal = until ? AbortSignal.any([options.signal, until]) : options.signal;
    const policy = until ? { ...this.once, signal } : options;
    const onLong = () => void keepHeapSmall(options.nodeVersion);
    const result = await retry<Attempt | { begun: T }>('read', policy, async () => {
      const open = (agent: Agent) => openExchange(agent, wire, limits, signal, options.instant);
      const value = await this.attempt(open, wire, signal, { keepAlive: true, first: false });
      if (!('open' in value)) return this.outcomeOf(value);
      const { status, headers } = value.open;
      options.limiter.onResponse(status, waitUntilReset(headers, this.now));
      return readBeginning(value.open, begin, onLong);
    });
    const { value } = result;
    if ('begun' in value) return value;
    return { response: responseOf({ ...result, value }, request, this.site) };
  }

  /** Makes one attempt by `call`, which is `exchange` or `openExchange`, as soon as it has a permit. */
  private async attempt<T extends Attempt | { open: OpenReply }>(
    call: (agent: Agent) => Promise<T>,
    wire: Wire,
    signal: AbortSignal,
    { keepAlive, first, beforeSend }: AttemptOptions,
  ): Promise<T | typeof notSent> {
    const { limiter, trace } = this.options;
    const agent = await this.connections.agent(keepAlive);
    const permit = await limiter.acquire(signal, { first });
    if (!permit) return notSent;
    beforeSend?.(permit.pausedMs);
    // The first use of `performance` adds 2 ms to the start-up, so only a trace pays for it.
    const started = trace ? performance.now() : 0;
    const endWait = limiter.onSend();
    const result = await call(agent);
    endWait();
    this.site.hasAnswered ||= !('transportError' in result);
    trace?.(traceLine(wire, result, performance.now() - started));
    return result;
  }

  private outcomeOf(
    value: Attempt,
    { needsJson = false, isPending }: Pick<TransportRequest, 'needsJson' | 'isPending'> = {},
  ): AttemptOutcome<Attempt> {
    const { limiter } = this.options;
    if ('transportError' in value) {
      const { transportError } = value;
      const mayRetry = limiter.silent ? 'never' : mayRetryAfter(transportError);
      return { value, delivery: transportError.delivery, mayRetry };
    }
    const { status, headers } = value.reply;
    if (needsJson && status < 300 && isGarbled(value.reply))
      return { value, delivery: 'applied', mayRetry: 'once' };
    if (isPending?.(value.reply)) {
      // Only this file is not there yet: nothing else waits for it.
      limiter.onResponse(status, undefined);
      const wait = requestedWait(value.reply, this.now());
      return { value, delivery: 'ambiguous', mayRetry: 'always', wait };
    }
    const delivery = deliveryOfStatus(status);
    const wait = delivery && requestedWait(value.reply, this.now());
    limiter.onResponse(status, wait ?? waitUntilReset(headers, this.now));
    return { value, delivery, mayRetry: 'always', wait };
  }

  private readonly now = (): Date => new Date(this.options.instant().wall);

  /**
   * Waits for a retry after a body of `stream` broke off, as long as after so many attempts.
   * Resolves to false if no retry is allowed. Throws CancelledError.
   */
  async again(attempts: number): Promise<boolean> {
    const { options } = this;
    if (attempts > options.retries || options.limiter.silent) return false;
    const ms = backoffMs(attempts - 1, false, options.random);
    await waitBeforeRetry(options, ms, false);
    return true;
  }

  /** Starts a wait for several responses; the returned function ends it. */
  waiting(): () => void {
    return this.options.waiting();
  }

  /** Closes all connections, so that the process can exit at once. */
  close(): void {
    this.connections.close();
  }
}

function checkHeaderKey(key: string): void {
  if (isHeaderValue(key)) return;
  throw new ConfigError('The API key holds characters that no header can carry.', {
    hint: 'Store it again: rosterctl auth login',
  });
}

function traceLine(wire: Wire, attempt: Attempt | { open: OpenReply }, ms: number): string {
  const [bare = ''] = wire.path.split('?', 1);
  const path = wire.hasIdInQuery ? wire.path : bare;
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
