/** Errors: one class per kind of failure, with its sentence, its next step and its facts. */
import type { ExitName } from './exit-codes.js';

/**
 * A failure. The lower layers throw it; only `cli/failure.ts` makes it what a person or a script
 * reads. `exitName` selects the exit code of the process.
 */
export abstract class Failure extends Error {
  abstract readonly kind: string;
  abstract readonly exitName: ExitName;
  /** The machine-readable code of the error envelope: the service's own, else ours. */
  abstract readonly code: string;
  /** The next step, as one sentence or command. */
  readonly hint: string | undefined;
  /** How to finish what it left unfinished; a person reads it below the hint. */
  unfinished?: string | undefined;
  constructor(message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.hint = options.hint;
  }
}

/** An invalid command line, id or input; nothing was sent. */
export class UsageError extends Failure {
  readonly kind = 'usage';
  readonly exitName = 'usage';
  readonly code = 'usage';
}

/** A command line that names no record; at a terminal it can be asked for. */
export class MissingArgumentError extends UsageError {}

/** An invalid configuration file or value. */
export class ConfigError extends Failure {
  readonly kind = 'config';
  readonly exitName = 'usage';
  readonly code = 'config';
}

/** A local input file that cannot be read or is invalid; nothing was sent. */
export class InputError extends Failure {
  readonly kind = 'input';
  readonly exitName = 'usage';
  readonly code = 'input';
}

/** Output that could not be written: full disk, read-only folder. */
export class OutputError extends Failure {
  readonly kind = 'output';
  readonly exitName = 'failed';
  readonly code = 'output';
}

/** No API key is configured. */
export class NoKeyError extends Failure {
  readonly kind = 'authentication';
  readonly exitName = 'unauthenticated';
  readonly code = 'noKey';
}

/** A guard of the tool stopped the command: an existing file, a lock, a name that does not match. */
export class GuardError extends Failure {
  readonly kind = 'guard';
  readonly exitName = 'guarded';
  readonly code: string;
  constructor(message: string, options: { hint?: string; code?: string; cause?: unknown } = {}) {
    super(message, options);
    this.code = options.code ?? 'guard';
  }
}

/** A record that is missing from the list, which may be incomplete (`isProven: false`); documents have no endpoint for a single one (contract 4.4). */
export class NotFoundError extends Failure {
  readonly kind: string;
  readonly exitName: 'notFound' | 'guarded';
  readonly code: string;
  /** True if the list was complete, so that the record does not exist. */
  readonly isProven: boolean;
  constructor(message: string, { isProven, hint }: { isProven: boolean; hint: string }) {
    super(message, { hint });
    this.isProven = isProven;
    this.kind = isProven ? 'notFound' : 'guard';
    this.exitName = isProven ? 'notFound' : 'guarded';
    this.code = isProven ? 'notFound' : 'incomplete';
  }
}

/** Leads from a list that may be incomplete to the command that examines how the service pages. */
export const shapesHint = 'To find out how it pages: rosterctl doctor --shapes';

/** Returns the hint for a list that may be incomplete: its own lines, one of which finds out how it pages. */
export function withShapes(fixes: readonly string[] = []): string {
  return [...new Set([...fixes, shapesHint])].join('\n');
}

/** A key that may read none of the documented lists of an organization, whose id is probably wrong. */
export class UnreadableOrganizationError extends Failure {
  readonly kind = 'permission';
  readonly exitName = 'forbidden';
  readonly code = 'forbidden';
}

/** The message after a No, Escape or Ctrl-C before anything was sent. */
export const nothingDone = 'Nothing was done.';

/** The user answered no, or pressed Escape or Ctrl-C at a prompt. */
export class CancelledError extends Failure {
  readonly kind = 'cancelled';
  readonly exitName = 'interrupted';
  readonly code = 'cancelled';
}

/** A bug in rosterctl, such as a write during a dry run. */
export class BugError extends Failure {
  readonly kind = 'bug';
  readonly exitName = 'failed';
  readonly code = 'bug';
}

/** The endpoint of a failed request; `path` is the template, without ids. */
export interface CallSite {
  readonly method: string;
  readonly path: string;
  /** The path as sent, with the record's id and without its query. */
  readonly sentPath?: string;
}

/** `PATCH /teams/team_1`: a request in a sentence. */
export function requestLine({ method, path, sentPath = path }: CallSite): string {
  return `${method} ${sentPath}`;
}

/** A write that was held back because the read it is based on is too old; nothing was sent. */
export class StaleReadError extends Failure {
  readonly kind = 'temporary';
  readonly exitName = 'temporary';
  readonly code = 'stale';
  constructor(readonly call: CallSite) {
    super(`${requestLine(call)} was not sent: the record was read too long ago.`, {
      hint: 'Run the same command again.',
    });
  }
}

/** An error response of the service (contract section 7). */
export class ApiError extends Failure {
  readonly kind: string;
  readonly exitName: ExitName;
  readonly code: string;
  constructor(
    readonly status: number,
    /** The service's `error` string; undefined if it sent none. */
    readonly serviceCode: string | undefined,
    readonly call: CallSite,
    readonly details: {
      /** The service's first words, if any; raw, sanitized when printed. */
      readonly message?: string | undefined;
      /** The body of a 4xx or 5xx: its JSON or text; raw, redacted and sanitized when it is printed. */
      readonly service?: unknown;
      /** The `Allow` header, as sent. */
      readonly allow?: string | undefined;
      /** Seconds to wait before the next request, as the response asked. */
      readonly wait?: number | undefined;
      /** Those seconds, if they exceed --max-wait. */
      readonly retryAfter?: number | undefined;
      /** The mark of an error in a 2xx response; `code`: only a number or a status word. */
      readonly sign?: 'error' | 'code' | undefined;
      /** The body of that response, which may hold a record nevertheless. */
      readonly body?: unknown;
      /** True if something in front of the service sent the response: a web page, or a question for a password. */
      readonly isForeign?: boolean | undefined;
      /** The hint about the assumed route of a refused write, printed after the hint. */
      readonly routeHint?: string | undefined;
      /** The permission that the contract names for a request rejected with 403. */
      readonly permission?: string | undefined;
      readonly hint?: string | undefined;
    } = {},
  ) {
    super(`${call.method} ${call.path} answered ${status}`, { hint: details.hint });
    const meaning = statusMeaning(status < 300 ? statusOf(serviceCode) : status);
    this.kind = meaning.kind;
    this.exitName = meaning.exitName;
    this.code = serviceCode ?? meaning.kind;
  }

  /** Returns the same error with further details. */
  with(details: ApiError['details']): ApiError {
    return new ApiError(this.status, this.serviceCode, this.call, { ...this.details, ...details });
  }

  /** The service's own message, or the error's code if it sent none. */
  get said(): string {
    return this.details.message ?? this.code;
  }
}

/** The status that contract section 7 pairs with an error code found in a 2xx response. */
function statusOf(code: string | undefined): number {
  if (code === 'unauthorized' || code === 'invalidApiKey') return 401;
  return code === 'forbidden' || code === 'featureNotAvailable' ? 403 : 400;
}

/** Maps a status by contract section 7, and by HTTP where the contract is silent. */
function statusMeaning(status: number): { kind: string; exitName: ExitName } {
  if (status === 401) return { kind: 'authentication', exitName: 'unauthenticated' };
  if (status === 403) return { kind: 'permission', exitName: 'forbidden' };
  if (status === 404) return { kind: 'notFound', exitName: 'notFound' };
  if (status === 409) return { kind: 'conflict', exitName: 'conflict' };
  if (status === 408 || status === 429 || (status >= 500 && status < 600))
    return { kind: 'temporary', exitName: 'temporary' };
  if (status >= 400 && status < 500) return { kind: 'invalid', exitName: 'invalid' };
  return { kind: 'protocol', exitName: 'failed' };
}

/**
 * How far a failed request got. `not-sent`: it never left; `refused`: the service rejected it
 * unprocessed (429); `ambiguous`: it was sent and its outcome is unknown; `applied`: a success status
 * arrived with a body that could not be read.
 */
export type Delivery = 'not-sent' | 'refused' | 'ambiguous' | 'applied';

/** No response: connection refused, DNS, TLS, timeout. Nothing was changed, or repeating the request is safe. */
export class NetworkError extends Failure {
  readonly kind: 'network' | 'timeout';
  readonly exitName = 'temporary';
  readonly code: string;
  constructor(
    message: string,
    readonly details: {
      readonly reason: 'refused' | 'dns' | 'tls' | 'timeout' | 'proxy' | 'lost';
      /** scheme://host:port, never a path or a query. */
      readonly origin: string;
      readonly delivery?: Delivery | undefined;
      /** True if a retry would fail the same way, such as for an invalid certificate. */
      readonly isPermanent?: boolean | undefined;
      readonly call?: CallSite | undefined;
      readonly hint?: string | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { hint: details.hint, cause: details.cause });
    this.kind = details.reason === 'timeout' ? 'timeout' : 'network';
    this.code = this.kind;
  }
}

/** A response that violates HTTP, JSON or the contract. */
export class ProtocolError extends Failure {
  readonly kind = 'protocol';
  readonly exitName: 'failed' | 'temporary';
  readonly code: string;
  constructor(
    message: string,
    readonly details: {
      readonly call?: CallSite | undefined;
      readonly status?: number | undefined;
      readonly code?: string | undefined;
      /** True if a later answer may be another one. */
      readonly isTemporary?: boolean | undefined;
      readonly hint?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { hint: details.hint, cause: details.cause });
    this.exitName = details.isTemporary ? 'temporary' : 'failed';
    this.code = details.code ?? 'protocol';
  }
}

/** The code of a ProtocolError whose response holds another record than the requested one. */
export const otherRecord = 'otherRecord';

/** The code of a ProtocolError for an answer that holds nothing, as of a service that sends no 404. */
export const emptyAnswer = 'emptyAnswer';

/** The code of a ProtocolError for a write whose route the service does not know. */
export const wrongRoute = 'wrongRoute';

/** An error response of the file store behind a signed URL (contract 4.5 step 2, 4.4 download). */
export class StoreError extends Failure {
  /** The code of a refusal that names none. */
  static readonly noCode = 'store';
  readonly kind = 'store';
  readonly exitName: 'failed' | 'temporary';
  readonly code: string;
  constructor(
    message: string,
    readonly status: number,
    storeCode: string | undefined,
    options: { hint?: string | undefined } = {},
  ) {
    super(message, options);
    this.exitName = statusMeaning(status).exitName === 'temporary' ? 'temporary' : 'failed';
    this.code = storeCode ?? StoreError.noCode;
  }
}

/** A write that may have taken effect but got no readable response. */
export class UnknownOutcomeError extends Failure {
  readonly kind = 'unknownOutcome';
  readonly exitName = 'unknownOutcome';
  readonly code = 'unknownOutcome';
  readonly delivery: Delivery;
  /** Seconds to wait before the next request, as the service asked. */
  readonly wait: number;
  constructor(
    message: string,
    /** Undefined if it is known only from a journal. */
    readonly call: CallSite | undefined,
    options: {
      hint?: string | undefined;
      cause?: unknown;
      delivery?: Delivery | undefined;
      wait?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.delivery = options.delivery ?? 'ambiguous';
    this.wait = options.wait ?? 0;
  }
}

/** Returns the error for an input whose reading a signal stopped. */
export function stoppedReading(source: string): CancelledError {
  return new CancelledError(`Stopped while reading ${source}; nothing was sent.`);
}

/** The reader of our output closed the pipe (`| head -1`), which is not a failure for a list. */
export class PipeClosedError extends Error {
  override readonly name = 'PipeClosedError';
}
