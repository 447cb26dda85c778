/** Transport errors: why a request got no usable response, and whether it was sent. */
import { SystemLimitError, systemLimit } from '../data/system-errors.js';
import {
  BugError,
  type CallSite,
  CancelledError,
  type Delivery,
  Failure,
  NetworkError,
  ProtocolError,
} from '../errors.js';
import { ProxyFailure } from './proxy.js';

/** The most that is kept in memory of one response, or of one value in a streamed list. */
export const responseLimit = { bytes: 64 * 1024 * 1024, words: '64 MiB' } as const;

/** Why an attempt ended without a response. */
export interface TransportError {
  readonly why: keyof typeof kinds;
  readonly delivery: Delivery;
  readonly cause?: unknown;
}

const byCode: { readonly [code: string]: TransportError['why'] } = {
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'noRoute',
  EHOSTUNREACH: 'noRoute',
  ENETDOWN: 'noRoute',
  EADDRNOTAVAIL: 'noRoute',
  ENOTFOUND: 'unknownName',
  EAI_AGAIN: 'busyResolver',
  UND_ERR_CONNECT_TIMEOUT: 'connectTimeout',
  ETIMEDOUT: 'connectTimeout',
  UND_ERR_HEADERS_OVERFLOW: 'headersTooLarge',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'badFraming',
  UND_ERR_INVALID_ARG: 'ours',
};

/** Classifies an error of undici or Node. The parser's errors carry no code at all. */
export function transportErrorOf(
  error: Error,
  delivery: Delivery,
  status: number | undefined,
): TransportError {
  if (error instanceof Failure) return { why: 'ours', delivery, cause: error };
  const limit = systemLimit(error);
  if (limit) return { why: 'ours', delivery, cause: limit };
  if (error instanceof ProxyFailure) return { why: 'proxy', delivery, cause: error };
  const code = errorCode(error);
  const why = byCode[code];
  // undici reports a body that ended with its connection in the same way.
  if (why === 'badFraming' && status !== undefined && status !== 204)
    return { why: 'cut', delivery, cause: error };
  if (why) return { why, delivery, cause: error };
  // A TLS 1.3 server that demands a client certificate has read no request yet.
  if (code.endsWith('_ALERT_CERTIFICATE_REQUIRED'))
    return { why: 'tls', delivery: 'not-sent', cause: error };
  if (tlsCode.test(code)) return { why: 'tls', delivery, cause: error };
  // undici has no codes of its own for interim answers that the request did not ask for.
  if (error.message === 'bad upgrade') return { why: 'switched', delivery, cause: error };
  if (error.message === 'bad response') return { why: 'continued', delivery, cause: error };
  if (error.name === 'HTTPParserError')
    return { why: status === undefined ? 'notHttp' : 'cut', delivery, cause: error };
  return { why: 'cut', delivery, cause: error };
}

const tlsCode =
  /^(EPROTO$|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Returns how often to retry after a transport error: some will be the same each time. */
export function mayRetryAfter({ why, cause }: TransportError): 'always' | 'once' | 'never' {
  // Other requests may finish meanwhile and free resources.
  if (cause instanceof SystemLimitError) return 'always';
  if (cause instanceof ProxyFailure)
    return cause.lasts || tlsCode.test(errorCode(cause.cause)) ? 'never' : 'always';
  if (why === 'unknownName') return 'once';
  return kindOf(why).isPermanent ? 'never' : 'always';
}

/** The request and its limits, for the message. */
interface RequestSite {
  readonly origin: string;
  readonly call?: CallSite | undefined;
  readonly firstByteMs?: number | undefined;
  /** A server that has answered in HTTP speaks it. */
  readonly hasAnswered?: boolean;
  readonly attempts: number;
}

/** Returns the failure for a transport error that ends a call which can safely be repeated. */
export function failureOfTransportError(
  transportError: TransportError,
  site: RequestSite,
): Failure {
  const { origin, call } = site;
  const { delivery, cause } = transportError;
  if (transportError.why === 'aborted') return new CancelledError('Interrupted.', { cause });
  if (transportError.why === 'ours')
    return cause instanceof Failure ? cause : new BugError(messageOf(cause), { cause });
  const text = describeTransportError(transportError, site);
  const reason = kindOf(transportError.why).reason;
  const hint = hintOf(transportError, site);
  if (!reason) return new ProtocolError(text, { call, hint, cause });
  const attemptsSuffix = site.attempts > 1 ? ` (${site.attempts} attempts)` : '';
  return new NetworkError(
    text.replace(/\.?$/, (end) => attemptsSuffix + end),
    {
      reason,
      origin,
      delivery,
      isPermanent: mayRetryAfter(transportError) === 'never',
      call,
      hint,
      cause,
    },
  );
}

/** Returns the failure for a response that broke after part of it was passed on. */
export function failureMidStream(
  transportError: TransportError,
  site: Pick<RequestSite, 'origin' | 'call'>,
): Failure {
  if (transportError.why === 'aborted')
    return new CancelledError('Interrupted.', { cause: transportError.cause });
  const { origin, call } = site;
  return new NetworkError(
    `${describeTransportError(transportError, { ...site, attempts: 1 })} Only part of the list arrived.`,
    {
      reason: kindOf(transportError.why).reason ?? 'lost',
      origin,
      call,
      cause: transportError.cause,
    },
  );
}

/** Returns what happened, in one sentence that names the origin but never a path or a query. */
export function describeTransportError(transportError: TransportError, site: RequestSite): string {
  return kindOf(transportError.why).says(site, transportError.cause);
}

const connectionLost = ({ origin }: RequestSite) =>
  `The connection to ${origin} was lost before the whole answer arrived.`;
const nameUnresolved = ({ origin }: RequestSite) =>
  `The name ${new URL(origin).hostname} cannot be resolved.`;

interface TransportErrorKind {
  readonly says: (site: RequestSite, cause: unknown) => string;
  /** Absent if the network did not fail. */
  readonly reason?: NetworkError['details']['reason'];
  /** It will be the same each time. */
  readonly isPermanent?: true;
}

const kinds = {
  refused: { says: ({ origin }) => `${origin} refused the connection.`, reason: 'refused' },
  noRoute: { says: ({ origin }) => `${origin} cannot be reached (no route).`, reason: 'lost' },
  unknownName: { says: nameUnresolved, reason: 'dns' },
  busyResolver: { says: nameUnresolved, reason: 'dns' },
  connectTimeout: {
    says: ({ origin }) => `${origin} did not accept a connection in time.`,
    reason: 'timeout',
  },
  tls: {
    says: ({ origin }, cause) =>
      `Cannot open a trusted TLS connection to ${origin}: ${errorCode(cause)}.`,
    reason: 'tls',
    isPermanent: true,
  },
  proxy: { says: (_, cause) => messageOf(cause), reason: 'proxy' },
  firstByte: {
    says: ({ origin, firstByteMs }) =>
      `${origin} did not answer within ${(firstByteMs ?? 0) / 1000} s.`,
    reason: 'timeout',
  },
  deadline: {
    says: ({ origin }) => `${origin} did not finish its answer in time.`,
    reason: 'timeout',
  },
  stalled: {
    says: ({ origin }) => `The transfer to or from ${origin} stalled.`,
    reason: 'timeout',
  },
  aborted: { says: () => 'Interrupted.', isPermanent: true },
  notHttp: {
    says: ({ origin }) => `${origin} did not answer with HTTP.`,
    isPermanent: true,
  },
  switched: {
    says: ({ origin }) =>
      `${origin} switched to another protocol (101), which rosterctl did not ask for.`,
    isPermanent: true,
  },
  continued: {
    says: ({ origin }) => `${origin} answered 100 Continue, which rosterctl did not ask for.`,
    isPermanent: true,
  },
  badFraming: {
    says: ({ origin }) => `The answer from ${origin} is not as long as its headers say.`,
    isPermanent: true,
  },
  headersTooLarge: {
    says: ({ origin }) => `The answer from ${origin} has more than 16 KiB of headers.`,
    isPermanent: true,
  },
  tooLarge: {
    says: ({ origin }) => `The answer from ${origin} is larger than ${responseLimit.words}.`,
    isPermanent: true,
  },
  encoding: {
    says: ({ origin }) =>
      `The answer from ${origin} has a content encoding that rosterctl did not ask for.`,
    isPermanent: true,
  },
  cut: { says: connectionLost, reason: 'lost' },
  ours: { says: connectionLost, isPermanent: true },
} satisfies Record<string, TransportErrorKind>;

function kindOf(why: TransportError['why']): TransportErrorKind {
  return kinds[why];
}

function hintOf(
  { why, delivery, cause }: TransportError,
  { origin, call, hasAnswered = false }: RequestSite,
): string | undefined {
  // The address of a file store came from the service.
  const isService = call !== undefined;
  const checkUrl = 'Check the base URL: rosterctl auth status';
  if (cause instanceof ProxyFailure) {
    const { proxy, hint } = cause;
    const code = errorCode(cause.cause);
    return tlsCode.test(code) ? tlsHint(code, proxy.origin, `Check ${proxy.variable}.`) : hint;
  }
  if (why === 'tls')
    return tlsHint(
      errorCode(cause),
      origin,
      isService ? checkUrl : 'The service gave this address.',
    );
  if (!isService) return undefined;
  if (why === 'firstByte' || why === 'deadline')
    return 'Run the same command again later, or give it longer: --timeout 2m';
  const mayBeHttps = !hasAnswered && delivery !== 'applied' && origin.startsWith('http:');
  if (why === 'cut' && mayBeHttps) return 'Is the base URL meant to be https?';
  if (why === 'unknownName' || why === 'busyResolver' || why === 'noRoute')
    return 'Check your internet connection, and the base URL: rosterctl auth status';
  if (why === 'refused' || why === 'notHttp') return checkUrl;
  if (why === 'encoding')
    return 'Something in front of the service may compress it: exempt the service from that.';
  return undefined;
}

/** An error's code, or its message: the code of an aborted request is a number. */
function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns what to do about a failed TLS connection, by the code of its error; `advice`: about its address. */
export function tlsHint(code: string, origin: string, advice: string): string {
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return 'Its certificate is self-signed. If it is yours, set NODE_EXTRA_CA_CERTS to its PEM file.';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'This machine does not know who issued its certificate. If the authority is yours, set NODE_EXTRA_CA_CERTS to its PEM file.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return `Its certificate is for a host other than ${new URL(origin).hostname}. ${advice}`;
    case 'CERT_HAS_EXPIRED':
      return "Its certificate has expired. Check this machine's clock. If the clock is right, the certificate must be renewed.";
    case 'CERT_NOT_YET_VALID':
      return "Its certificate is not valid yet. Check this machine's clock: it may be behind.";
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'ERR_SSL_HTTP_REQUEST':
      return `The server there does not speak TLS. Is the port right? ${advice}`;
    // Node's code for whatever ends a handshake while bytes wait to be written.
    case 'EPROTO':
      return `It does not speak TLS, or ended the handshake. ${advice}`;
    case 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED':
      return 'It demands a client certificate, which rosterctl does not send. Ask its operator.';
    case 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION':
    case 'ERR_SSL_UNSUPPORTED_PROTOCOL':
      return 'It does not support TLS 1.2 or newer. Ask its operator to enable it.';
    case 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL':
      return `It does not speak HTTP/1.1. ${advice}`;
    default:
      return 'It ended the handshake: it may demand a client certificate, or its own certificate cannot be used. Ask its operator.';
  }
}
