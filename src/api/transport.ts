import {
  BugError,
  ConfigError,
  ProtocolError,
  UnknownOutcomeError,
  UsageError,
} from '../errors.js';
import { type Attempt, exchange, type Limits, type Wire } from './exchange.js';
import { failureOfLoss, lossPace, lossText } from './loss.js';
import type { Pace } from './pace.js';
import { callKind, deliveryOfStatus, type Ending, repeat, type Tried, waitAsked } from './retry.js';
import { type Connections, openConnections } from './undici.js';

/** One request below the base URL; `path` begins with `/` and is already percent-encoded. */
export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  /** The path's template (`/tryout-applications/{applicationId}`), for errors and the trace. */
  readonly template: string;
  readonly body?: string | Uint8Array | undefined;
  /** A 3xx answer is what was asked for (download, preview); elsewhere it is an error. */
  readonly redirectIsData?: boolean | undefined;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** Seconds that the service asked to wait, when that was longer than the budget. */
  readonly retryAfter?: number | undefined;
  /** The status (408, 5xx) leaves open whether this write took effect. */
  readonly doubt?: boolean | undefined;
  /** An earlier attempt of the same call may have taken effect. */
  readonly afterDoubt?: boolean | undefined;
}

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
  readonly now: () => Date;
  readonly random: () => number;
  /** Resolves after the time, or early when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly userAgent: string;
  readonly nodeVersion: string;
  /** Shared by all requests; without it they go as they come. */
  readonly pace?: Pace | undefined;
  /** Other bounds than the usual ones, for tests. */
  readonly bounds?: {
    readonly connectMs?: number;
    readonly attemptMs?: number;
    readonly bodyBytes?: number;
  };
}

/** Requests to the service: the key goes to the base URL's origin alone, and no redirect is followed. */
export interface Transport {
  /**
   * Sends one request, repeated where the table of `retry.ts` allows. Answers of 400 and above are
   * returned, not thrown. Throws NetworkError, ProtocolError, UnknownOutcomeError, CancelledError.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Leaves nothing open; the process can end at once. */
  close(): void;
}

export function createTransport(options: TransportOptions): Transport {
  const { connection, bounds } = options;
  const base = new URL(connection.baseUrl);
  checkKey(connection.key);
  const limits: Limits = {
    firstByteMs: options.timeoutMs,
    attemptMs: bounds?.attemptMs ?? Math.max(60_000, options.timeoutMs),
    bodyBytes: bounds?.bodyBytes ?? 64 * 1024 * 1024,
  };
  const connectMs = bounds?.connectMs ?? 10_000;
  let closed = false;
  const opened = new Map<boolean, Promise<Connections>>();

  const connections = (keepAlive: boolean): Promise<Connections> => {
    const open =
      opened.get(keepAlive) ?? openConnections(options.nodeVersion, { connectMs, keepAlive });
    opened.set(keepAlive, open);
    return open;
  };

  const attempt = async (wire: Wire, keepAlive: boolean): Promise<Tried<Attempt>> => {
    const { agent } = await connections(keepAlive);
    if (closed) throw new BugError('A request after the transport was closed.');
    const { pace, signal } = options;
    const leave = await pace?.turn(signal);
    const started = performance.now();
    // A bulk run lets what is in flight finish; the process itself bounds how long that may take.
    const value = await exchange(agent, wire, limits, pace?.finishes ? never : signal);
    leave?.();
    options.trace?.(traceLine(wire, value, performance.now() - started));
    if ('loss' in value) {
      const { loss } = value;
      return { value, delivery: loss.delivery, pace: lossPace(loss) };
    }
    const { status, headers } = value.reply;
    const delivery = deliveryOfStatus(status);
    const wait = delivery && waitAsked(headers, options.now());
    pace?.answered(status, wait);
    return { value, delivery, pace: 'always', wait };
  };

  return {
    async request(request) {
      if (options.dryRun && request.method !== 'GET')
        throw new BugError(`A dry run tried to send ${request.method} ${request.template}.`);
      const kind = callKind(request.method, request.template);
      const wire = toWire(base, options, request);
      // A write that must not happen twice does not ride on a connection about to be dropped.
      const keepAlive = !(kind === 'write' && request.method === 'POST');
      const ending = await repeat(kind, options, () => attempt(wire, keepAlive));
      return conclude(ending, request, { origin: base.origin, firstByteMs: options.timeoutMs });
    },
    close() {
      closed = true;
      for (const open of opened.values())
        void open.then(
          (set) => set.close(),
          () => undefined,
        );
    },
  };
}

const never = new AbortController().signal;

function checkKey(key: string): void {
  if (/^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(key)) return;
  throw new ConfigError('The API key holds characters that no header can carry.', {
    hint: 'Store it again: rosterctl auth login',
  });
}

function toWire(base: URL, options: TransportOptions, request: TransportRequest): Wire {
  const { method, path, body } = request;
  checkPath(path);
  return {
    origin: base.origin,
    method,
    path: `${base.pathname.replace(/\/$/, '')}${path}`,
    headers: {
      accept: 'application/json',
      'user-agent': options.userAgent,
      'x-api-key': options.connection.key,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? Buffer.from(body) : body }),
  };
}

/** What a server or a proxy would fold to a path outside the base URL is refused here. */
function checkPath(path: string): void {
  const [bare = ''] = path.split('?', 1);
  const folded = bare.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part));
  if (path.startsWith('/') && !folded && /^[\u0021-\u007e]+$/.test(path) && !/[#\\]/.test(path))
    return;
  throw new UsageError('This path cannot be sent: it needs a leading slash and percent-encoding.');
}

interface Place {
  readonly origin: string;
  readonly firstByteMs: number;
}

/** The answer of a call, or the error that its last attempt stands for. */
function conclude(
  ending: Ending<Attempt>,
  request: TransportRequest,
  place: Place,
): TransportResponse {
  const { value, verdict, attempts, afterDoubt, tooLong } = ending;
  const call = { method: request.method, path: request.template };
  if ('loss' in value) {
    const { loss } = value;
    const at = { ...place, call, attempts };
    if (verdict === 'done') return { status: 204, headers: {}, body: Buffer.alloc(0) };
    const unsettled = verdict === 'verify' && loss.why !== 'ours';
    if (!unsettled) throw failureOfLoss(loss, at);
    const effect = loss.delivery === 'applied' ? 'was accepted' : 'may have taken effect';
    throw new UnknownOutcomeError(
      `${call.method} ${call.path} ${effect}, but no readable answer came: ${lossText(loss, at)}`,
      call,
      { hint: readFirst, cause: loss.cause, delivery: loss.delivery },
    );
  }
  const { reply } = value;
  if (reply.status >= 300 && reply.status < 400 && !request.redirectIsData)
    throw unexpectedRedirect(reply, place.origin, call);
  return {
    ...reply,
    ...(tooLong !== undefined && { retryAfter: tooLong }),
    ...(verdict === 'verify' && { doubt: true }),
    ...(afterDoubt && { afterDoubt }),
  };
}

/** The next step after an unknown outcome. */
export const readFirst = 'Read the record before you send this again.';

function unexpectedRedirect(
  { status, headers }: { status: number; headers: { readonly [name: string]: string } },
  origin: string,
  call: { method: string; path: string },
): ProtocolError {
  const location = headers['location'];
  const target =
    location !== undefined && URL.canParse(location, origin)
      ? new URL(location, origin)
      : undefined;
  const web = target && /^https?:$/.test(target.protocol);
  const where = target ? ` to ${web ? target.origin : target.protocol}` : '';
  return new ProtocolError(`Unexpected redirect${where} (${status}); it was not followed.`, {
    call,
    status,
    hint: 'Check the base URL: rosterctl auth status',
  });
}

function traceLine(wire: Wire, attempt: Attempt, ms: number): string {
  const [path = ''] = wire.path.split('?', 1);
  const out = wire.body instanceof Uint8Array ? `, ${wire.body.length} B` : '';
  const sent = `${wire.method} ${path} (${Object.keys(wire.headers).join(' ')}${out})`;
  const time = `${Math.round(ms)} ms`;
  if ('loss' in attempt) {
    const { why, delivery } = attempt.loss;
    return `${sent} -> no answer: ${why}, ${delivery}, ${time}`;
  }
  const { status, headers, body } = attempt.reply;
  return `${sent} -> ${status} (${Object.keys(headers).join(' ')}, ${body.length} B) ${time}`;
}
