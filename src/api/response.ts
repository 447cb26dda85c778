import { type CallSite, ProtocolError, UnknownOutcomeError } from '../errors.js';
import {
  failureMidStream,
  failureOfTransportError,
  type TransportError,
  retryPace,
  describeTransportError,
} from './transport-error.js';
import { requestKind, type AttemptResult, type AttemptOutcome } from './retry.js';
import {
  type Attempt,
  type StreamStart,
  BrokenBody,
  type OpenBody,
  type OpenReply,
  type TransportRequest,
  type TransportResponse,
} from './wire.js';

/** Where requests go and how long they wait, for the sentences. */
export interface ServiceSite {
  readonly origin: string;
  readonly firstByteMs: number;
}

/** The answer of a call, or the error that its last attempt stands for. */
export function responseOf(
  ending: AttemptResult<Attempt>,
  request: TransportRequest,
  place: ServiceSite,
): TransportResponse {
  const { value, verdict, attempts, wait, isTooLong } = ending;
  const call = { method: request.method, path: request.template };
  if ('transportError' in value) {
    const { transportError } = value;
    const at = { ...place, call, attempts };
    const unsettled = verdict === 'verify' && transportError.why !== 'ours';
    if (!unsettled) throw failureOfTransportError(transportError, at);
    const effect = transportError.delivery === 'applied' ? 'was accepted' : 'may have taken effect';
    throw new UnknownOutcomeError(
      `${call.method} ${call.path} ${effect}, but no readable answer came: ${describeTransportError(transportError, at)}`,
      call,
      { hint: readFirst, cause: transportError.cause, delivery: transportError.delivery },
    );
  }
  const { reply } = value;
  if (reply.status >= 300 && reply.status < 400 && !request.redirectIsData)
    throw redirected(reply, place.origin, call);
  return {
    ...reply,
    ...(wait !== undefined && { wait, ...(isTooLong && { retryAfter: wait }) }),
    ...(verdict === 'verify' && { outcomeUnknown: true }),
  };
}

/** The next step after an unknown outcome. */
export const readFirst = 'Read the record before you send this again.';

/** A 301 to 303 follows a write that was processed as often as it replaces one; 307 and 308 refuse it. */
function redirected(
  { status, headers }: { status: number; headers: { readonly [name: string]: string } },
  origin: string,
  call: { method: string; path: string },
): ProtocolError | UnknownOutcomeError {
  const location = headers['location'];
  const target =
    location !== undefined && URL.canParse(location, origin)
      ? new URL(location, origin)
      : undefined;
  const web = target && /^https?:$/.test(target.protocol);
  const where = target ? ` to ${web ? target.origin : target.protocol}` : '';
  if (status >= 301 && status <= 303 && requestKind(call.method, call.path) === 'write')
    return new UnknownOutcomeError(
      `${call.method} ${call.path} was redirected${where} (${status}), which was not followed, and may have taken effect.`,
      call,
      { hint: readFirst },
    );
  return new ProtocolError(`Unexpected redirect${where} (${status}); it was not followed.`, {
    call,
    status,
    hint: 'Check the base URL: rosterctl auth status',
  });
}

/** Lets `begin` read the start of an answer; a break in it counts as one of the attempt. */
export async function readBeginning<T>(
  { status, headers, stream, at }: OpenReply,
  begin: (body: OpenBody) => Promise<StreamStart<T>>,
  place: ServiceSite & { readonly call: CallSite; readonly onLong: () => void },
): Promise<AttemptOutcome<{ begun: T } | { transportError: TransportError }>> {
  let lifted = false;
  const body: OpenBody = {
    status,
    headers,
    at,
    get endedAt() {
      return stream.endedAt;
    },
    next: () =>
      stream.next().catch((error: unknown) => {
        throw lifted && error instanceof BrokenBody
          ? failureMidStream(error.transportError, place)
          : error;
      }),
    lift() {
      place.onLong();
      lifted = true;
      stream.lift();
    },
    abandon: () => stream.abandon(),
  };
  try {
    const { value, retryOnce } = await begin(body);
    const delivery = retryOnce ? 'applied' : undefined;
    return { value: { begun: value }, delivery, pace: retryOnce ? 'once' : 'always' };
  } catch (error) {
    stream.abandon();
    if (!(error instanceof BrokenBody)) throw error;
    const { transportError } = error;
    return {
      value: { transportError },
      delivery: transportError.delivery,
      pace: retryPace(transportError),
    };
  }
}
