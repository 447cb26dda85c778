/** The end of a call: its response, or the error of its last attempt. */
import {
  type CallSite,
  type Failure,
  NetworkError,
  ProtocolError,
  requestLine,
  UnknownOutcomeError,
} from '../errors.js';
import { type AttemptOutcome, type RetryResult, requestKind } from './retry.js';
import {
  describeTransportError,
  failureOfTransportError,
  mayRetryAfter,
  type TransportError,
} from './transport-error.js';
import {
  type Attempt,
  BrokenBody,
  type OpenReply,
  type ResponseHead,
  type StreamStart,
  siteOf,
  type TransportRequest,
  type TransportResponse,
} from './wire.js';

/** The target and timeouts of requests, for error messages. */
export interface ServiceSite {
  readonly origin: string;
  readonly firstByteMs: number;
  hasAnswered: boolean;
}

/** Returns the response of a call, or throws the error of its last attempt. */
export function responseOf(
  result: RetryResult<Attempt>,
  request: TransportRequest,
  site: ServiceSite,
): TransportResponse {
  const { value, outcome, attempts, wait, retryAfter } = result;
  const call = siteOf(request);
  if ('transportError' in value) {
    const { transportError } = value;
    const details = { ...site, call, attempts };
    const isOutcomeUnknown = outcome === 'verify' && transportError.why !== 'ours';
    if (!isOutcomeUnknown) throw failureOfTransportError(transportError, details);
    const effect = transportError.delivery === 'applied' ? 'was accepted' : 'may have taken effect';
    throw new UnknownOutcomeError(
      `${requestLine(call)} ${effect}, but no readable answer arrived: ${describeTransportError(transportError, details)}`,
      call,
      { hint: readFirst, cause: transportError.cause, delivery: transportError.delivery },
    );
  }
  const { reply } = value;
  if (reply.status >= 300 && reply.status < 400 && !request.redirectIsData)
    throw redirectError(reply, site.origin, call);
  const { status, headers, body, at } = reply;
  const outcomeUnknown = outcome === 'verify' ? true : undefined;
  return { status, headers, body, at, wait, retryAfter, outcomeUnknown };
}

/** The hint after an unknown outcome. */
export const readFirst = 'Check whether it took effect before you send it again.';

/** The error for a 3xx: 307 and 308 refuse a write, after others it may have been processed. */
function redirectError(
  { status, headers }: ResponseHead,
  origin: string,
  call: CallSite,
): ProtocolError | UnknownOutcomeError {
  const target = redirectTarget(headers['location'], origin);
  const where = target === undefined ? '' : ` to ${target}`;
  if (status >= 301 && status <= 303 && requestKind(call.method, call.path) === 'write')
    return new UnknownOutcomeError(
      `${requestLine(call)} was redirected${where} (${status}), which was not followed, and may have taken effect.`,
      call,
      { hint: readFirst },
    );
  if (status === 304)
    return new ProtocolError(
      'The service answered 304 (not modified), which rosterctl did not ask for.',
      {
        call,
        status,
        hint: 'A cache may have answered in its place: exempt the service from that cache.',
      },
    );
  return new ProtocolError(`Unexpected redirect${where} (${status}); it was not followed.`, {
    call,
    status,
    hint: target?.endsWith(`${call.sentPath ?? call.path}/`)
      ? 'The service wants a / at the end of its paths, which the contract does not have. Tell its operator.'
      : 'Check the base URL: rosterctl auth status',
  });
}

/** The target of a redirect without its query, which may hold a secret: a path of the service, or an origin. */
function redirectTarget(location: string | undefined, origin: string): string | undefined {
  if (location === undefined || !URL.canParse(location, origin)) return undefined;
  const target = new URL(location, origin);
  if (!/^https?:$/.test(target.protocol)) return target.protocol;
  // A path without a / at its start would belong to an address that is not known here.
  const isWhole = /^(https?:|\/)/i.test(location) && target.pathname.length <= maxPathLength;
  return target.origin === origin && isWhole ? target.pathname : target.origin;
}

/** In characters. Anything longer would fill the screen. */
const maxPathLength = 200;

/** Lets `begin` read the start of a response. A break in it counts as a failure of the attempt. */
export async function readBeginning<T>(
  open: OpenReply,
  begin: (open: OpenReply) => Promise<StreamStart<T>>,
  onLong: () => void,
): Promise<AttemptOutcome<{ begun: T } | { transportError: TransportError }>> {
  const { stream } = open;
  try {
    const { value, retryOnce, isLong } = await begin(open);
    if (isLong) {
      onLong();
      stream.lift();
    }
    const delivery = retryOnce ? 'applied' : undefined;
    return { value: { begun: value }, delivery, mayRetry: retryOnce ? 'once' : 'always' };
  } catch (error) {
    stream.abandon();
    if (!(error instanceof BrokenBody)) throw error;
    const { transportError } = error;
    return {
      value: { transportError },
      delivery: transportError.delivery,
      mayRetry: mayRetryAfter(transportError),
    };
  }
}

/** Returns the same failure of a transfer with another hint. */
export function replaceHint(error: NetworkError | ProtocolError, hint: string): Failure {
  return error instanceof NetworkError
    ? new NetworkError(error.message, { ...error.details, hint })
    : new ProtocolError(error.message, { ...error.details, hint });
}
