/** Downloads from the file store: opens a signed URL, follows redirects and streams the bytes. */
import { CancelledError, type Failure, NetworkError, ProtocolError } from '../../errors.js';
import { openExchange } from '../exchange.js';
import {
  type AttemptOutcome,
  type ClientOptions,
  deliveryOfStatus,
  requestedWait,
  retry,
} from '../retry.js';
import {
  describeTransportError,
  failureOfTransportError,
  mayRetryAfter,
  type TransportError,
} from '../transport-error.js';
import type { connectionPool } from '../undici.js';
import { type Limits, type OpenReply, type Reply, type ResponseHead, type Wire } from '../wire.js';
import { shortAnswerLimits, storeError } from './answers.js';
import type { UrlGuard } from './signed-url.js';

/** A file being downloaded. */
export interface Download extends ResponseHead {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Stops reading and drops the connection. */
  drop(): void;
}

/** The rest of a file from a byte on, if it is still the version of `ifRange`. */
export interface FilePart {
  readonly from: number;
  readonly ifRange?: string | undefined;
}

interface ReaderOptions extends ClientOptions {
  readonly guard: UrlGuard;
  readonly connections: ReturnType<typeof connectionPool>;
  readonly stallMs: number;
}

const maxHops = 3;

/**
 * Returns a function that opens signed URLs, without the key. It follows at most three redirects
 * and checks each target. Throws StoreError, NetworkError, ProtocolError (unsafe URL).
 */
export function createStoreReader(options: ReaderOptions) {
  const { stallMs } = options;
  const limits: Limits = {
    firstByteMs: stallMs,
    quietMs: stallMs,
    ...shortAnswerLimits(stallMs),
    anyEncoding: true,
  };
  const open = async (url: URL, part: FilePart | undefined): Promise<AttemptOutcome<Opened>> => {
    const agent = await options.connections.agent(true);
    const wire: Wire = {
      origin: url.origin,
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: part ? rangeHeaders(part) : [],
    };
    const value = await openExchange(agent, wire, limits, options.signal, options.instant);
    if ('transportError' in value) {
      const { transportError } = value;
      options.trace?.(`GET ${url.origin} (signed URL) -> no answer: ${transportError.why}`);
      return { value, delivery: transportError.delivery, mayRetry: mayRetryAfter(transportError) };
    }
    const { status } = 'open' in value ? value.open : value.reply;
    options.trace?.(`GET ${url.origin} (signed URL) -> ${status}`);
    if ('open' in value && fileStatuses.includes(status))
      return { value, delivery: undefined, mayRetry: 'always' };
    const reply = 'open' in value ? withoutBody(value.open) : value.reply;
    // 202: the file is not there yet.
    const delivery = status === 202 ? 'ambiguous' : deliveryOfStatus(status);
    const wait = delivery && requestedWait(reply, new Date(options.instant().wall));
    return { value: { reply }, delivery, mayRetry: 'always', wait };
  };

  return async (url: string, part?: FilePart): Promise<Download> => {
    let target = await options.guard.check(url);
    for (let hop = 0; ; hop++) {
      const from = target;
      const { value, attempts, retryAfter } = await retry('read', options, () => open(from, part));
      if ('transportError' in value)
        throw failureOfTransportError(value.transportError, {
          origin: from.origin,
          attempts,
          firstByteMs: stallMs,
        });
      if ('open' in value) return downloadOf(value.open, from.origin);
      const { reply } = value;
      const { status, headers } = reply;
      const location = headers['location'];
      if (status < 300 || status >= 400 || location === undefined || hop === maxHops)
        throw storeError('download', reply, retryAfter);
      if (!URL.canParse(location, from.href))
        throw new ProtocolError(`${from.origin} redirects to something that is not a URL.`);
      target = await options.guard.check(new URL(location, from.href).href);
    }
  };
}

type Opened = Awaited<ReturnType<typeof openExchange>>;

/** The statuses whose body is the file, or a part of it. */
const fileStatuses = [200, 203, 206];

/** Returns a response without its body, which is read no further. */
function withoutBody({ status, headers, stream, at }: OpenReply): Reply {
  stream.abandon();
  return { status, headers, body: Buffer.alloc(0), at };
}

function rangeHeaders({ from, ifRange }: FilePart): Wire['headers'] {
  return ['range', `bytes=${from}-`, ...(ifRange === undefined ? [] : ['if-range', ifRange])];
}

function downloadOf({ status, headers, stream }: OpenReply, origin: string): Download {
  const bytes = stream.pieces((error) => brokenDownload(error, origin));
  return { status, headers, bytes, drop: () => stream.abandon() };
}

/** The failure of a download that breaks off. */
function brokenDownload(error: TransportError, origin: string): Failure {
  const { why, cause } = error;
  if (why === 'aborted') return new CancelledError('Interrupted.', { cause });
  if (why === 'stalled')
    return new NetworkError(describeTransportError(error, { origin, attempts: 1 }), {
      reason: 'timeout',
      origin,
      cause,
    });
  const text = `The connection to ${origin} was lost during the download.`;
  return new NetworkError(text, { reason: 'lost', origin, cause });
}
