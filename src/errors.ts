import type { ExitName } from './exit-codes.js';

/**
 * What went wrong, as data. The lower layers throw these; `cli/failure.ts` alone words them
 * for a person or a script. `exitName` picks the process's exit code.
 */
export abstract class Failure extends Error {
  abstract readonly kind: string;
  abstract readonly exitName: ExitName;
  /** The machine-readable word of the error envelope: the service's own, else ours. */
  abstract readonly code: string;
  /** The next step, in one sentence or command. */
  readonly hint: string | undefined;
  constructor(message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.hint = options.hint;
  }
}

/** Bad command line, id or input; nothing was sent. */
export class UsageError extends Failure {
  readonly kind = 'usage';
  readonly exitName = 'usage';
  readonly code = 'usage';
}

/** A configuration file or value that cannot be used. */
export class ConfigError extends Failure {
  readonly kind = 'config';
  readonly exitName = 'usage';
  readonly code = 'config';
}

/** A local input file that cannot be read or used; nothing was sent. */
export class InputError extends Failure {
  readonly kind = 'input';
  readonly exitName = 'usage';
  readonly code = 'input';
}

/** A result that could not be written: full disk, read-only folder. */
export class OutputError extends Failure {
  readonly kind = 'output';
  readonly exitName = 'failed';
  readonly code = 'output';
}

/** No key to send. */
export class NoKeyError extends Failure {
  readonly kind = 'authentication';
  readonly exitName = 'unauthenticated';
  readonly code = 'noKey';
}

/** A guard of the tool refused: an existing file, a lock, another name than the one typed. */
export class GuardError extends Failure {
  readonly kind = 'guard';
  readonly exitName = 'guarded';
  readonly code: string;
  constructor(message: string, options: { hint?: string; code?: string; cause?: unknown } = {}) {
    super(message, options);
    this.code = options.code ?? 'guard';
  }
}

/** A record that the list does not show; documents have no call for one (contract 4.4). */
export class NotFoundError extends Failure {
  readonly kind = 'notFound';
  readonly exitName = 'notFound';
  readonly code = 'notFound';
  /** The list was whole: there is no such record. */
  readonly isProven: boolean;
  constructor(message: string, { isProven, hint }: { isProven: boolean; hint: string }) {
    super(message, { hint });
    this.isProven = isProven;
  }
}

/** A person said no, or pressed Escape or Ctrl-C at a prompt. */
export class CancelledError extends Failure {
  readonly kind = 'cancelled';
  readonly exitName = 'interrupted';
  readonly code = 'cancelled';
}

/** A mistake of ours, such as a write inside a dry run. */
export class BugError extends Failure {
  readonly kind = 'bug';
  readonly exitName = 'failed';
  readonly code = 'bug';
}

/** Where in the contract a failed call stands; `path` is the template, never the real ids. */
export interface CallSite {
  readonly method: string;
  readonly path: string;
}

/** A write that was about to leave on a read too old to decide by; nothing was sent. */
export class StaleReadError extends Failure {
  readonly kind = 'temporary';
  readonly exitName = 'temporary';
  readonly code = 'stale';
  constructor(readonly call: CallSite) {
    super(`${call.method} ${call.path} was not sent: the record was read too long ago.`, {
      hint: 'Run the same command again.',
    });
  }
}

/** The service answered and refused (contract section 7). */
export class ApiError extends Failure {
  readonly kind: string;
  readonly exitName: ExitName;
  readonly code: string;
  constructor(
    readonly status: number,
    /** The service's own `error` string, or undefined where it sent none. */
    readonly serviceCode: string | undefined,
    readonly call: CallSite,
    readonly details: {
      /** The service's own sentence, if it sent one; raw, made safe when shown. */
      readonly message?: string | undefined;
      /** The `Allow` header of a 405. */
      readonly allow?: string | undefined;
      /** Seconds that the answer asked to wait before anything more is sent. */
      readonly wait?: number | undefined;
      /** The same seconds, when they are more than --max-wait allows. */
      readonly retryAfter?: number | undefined;
      /** What in a 2xx answer says no: `code`, nothing but a number or a status word. */
      readonly sign?: 'error' | 'code' | undefined;
      /** That answer: a record may stand in it all the same. */
      readonly body?: unknown;
      /** The permission that the contract names for a call that was refused with 403. */
      readonly permission?: string | undefined;
      readonly hint?: string | undefined;
    } = {},
  ) {
    super(`${call.method} ${call.path} answered ${status}`, { hint: details.hint });
    const meaning = meaningOf(status < 300 ? statusOf(serviceCode) : status);
    this.kind = meaning.kind;
    this.exitName = meaning.exitName;
    this.code = serviceCode ?? meaning.kind;
  }
}

/** A refusal inside a success means what its code means with the status of contract section 7. */
function statusOf(code: string | undefined): number {
  if (code === 'unauthorized' || code === 'invalidApiKey') return 401;
  return code === 'forbidden' || code === 'featureNotAvailable' ? 403 : 400;
}

/** Contract section 7, and what HTTP adds to it. */
function meaningOf(status: number): { kind: string; exitName: ExitName } {
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
 * How far a failed request got: it never left; the service refused it unprocessed (429); it left and
 * nobody knows; a success status came and its body could not be read.
 */
export type Delivery = 'not-sent' | 'refused' | 'ambiguous' | 'applied';

/** No answer: refused, not resolved, TLS, timeout. Nothing was done, or doing it again is safe. */
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
      /** Another try would end the same: a certificate does not get better by asking again. */
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

/** An answer that is not as HTTP, JSON or the contract says. */
export class ProtocolError extends Failure {
  readonly kind = 'protocol';
  readonly exitName = 'failed';
  readonly code: string;
  constructor(
    message: string,
    readonly details: {
      readonly call?: CallSite | undefined;
      readonly status?: number | undefined;
      readonly code?: string | undefined;
      readonly hint?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { hint: details.hint, cause: details.cause });
    this.code = details.code ?? 'protocol';
  }
}

/** The code of a ProtocolError: the answer holds another record than the one that was asked for. */
export const otherRecord = 'otherRecord';

/** The file store behind a signed URL refused (contract 4.5 step 2, 4.4 download). */
export class StoreError extends Failure {
  readonly kind = 'store';
  readonly exitName = 'failed';
  readonly code: string;
  constructor(
    message: string,
    readonly status: number,
    storeCode: string | undefined,
    options: { hint?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options);
    this.code = storeCode ?? 'store';
  }
}

/** A write that may have taken effect and got no readable answer. */
export class UnknownOutcomeError extends Failure {
  readonly kind = 'unknownOutcome';
  readonly exitName = 'unknownOutcome';
  readonly code = 'unknownOutcome';
  readonly delivery: Delivery;
  /** Seconds that the service asked for before anything more is sent. */
  readonly wait: number;
  constructor(
    message: string,
    /** Undefined where only a journal tells of it. */
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

/**
 * Something was made and could not be read again, which says nothing of what it holds: it is not made
 * a second time, only read once more. It ends the process as the reading would have.
 */
export class UnverifiedError extends Failure {
  readonly kind: string;
  readonly exitName: ExitName;
  readonly code = notVerified;
  constructor(message: string, cause: Failure | undefined) {
    super(message, {
      hint: 'It is not sent again: going on reads it once more and compares it.',
      cause,
    });
    this.kind = cause?.kind ?? 'protocol';
    this.exitName = cause?.exitName ?? 'failed';
  }
}

/** The code of the failure of something that is there and holds other bytes, or could not be read again. */
export const notVerified = 'notVerified';

/** What a reader of an input is told after a signal. */
export function stoppedReading(source: string): CancelledError {
  return new CancelledError(`Stopped while reading ${source}; nothing was sent.`);
}

/** The reader of our output went away (`| head -1`); for a list that is a good end. */
export class PipeClosedError extends Error {
  override readonly name = 'PipeClosedError';
}

/** The service or its store did not answer in all attempts, or said each time that it could not. */
export function isExhausted(error: Failure): boolean {
  if (error instanceof UnverifiedError) return false;
  return (
    error.exitName === 'temporary' ||
    (error instanceof StoreError && meaningOf(error.status).exitName === 'temporary')
  );
}
