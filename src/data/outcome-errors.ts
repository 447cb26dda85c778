/** Errors of rows, runs and references, and what a failure means for a record: not found, forbidden, not proven. */
import {
  ApiError,
  emptyAnswer,
  Failure,
  NotFoundError,
  ProtocolError,
  StoreError,
  UnknownOutcomeError,
  UsageError,
} from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { missingHint, quotedId } from './references.js';
import { type ResourceName, resourceWords } from './resources.js';
import { quotedIfSpaced } from './text.js';

/** The record has neither the expected nor the new values, so it is left unchanged. */
export class ConflictError extends Failure {
  readonly kind = 'conflict';
  readonly exitName = 'conflict';
  readonly code = 'changedMeanwhile';
}

/** The values that a read shows after a write that the service accepted, by field. */
interface NotApplied {
  readonly resource: ResourceName;
  readonly deletes: boolean;
  readonly unchanged: readonly string[];
  readonly changed: readonly string[];
}

function fieldInWords(field: string): string {
  return field === 'internalNotes' ? 'notes' : field;
}

/** The service accepted a write, but a read shows the old value or the deleted record. */
export class NotAppliedError extends Failure {
  readonly kind = 'protocol';
  readonly exitName = 'failed';
  readonly code = 'notApplied';
  constructor(id: string, { resource, deletes, unchanged, changed }: NotApplied) {
    super(
      deletes
        ? `The service accepted the deletion of ${id}, but it is still there.`
        : `The service accepted the change of ${id}, but still shows the old ${unchanged.map(fieldInWords).join(', ') || 'value'}.${changed.map((field) => ` The ${fieldInWords(field)} was set.`).join('')}`,
      { hint: `See: rosterctl ${resource} get ${quotedId(id)}` },
    );
  }
}

/** A record that a reference may mean, as scripts get it. */
export type Candidate = {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly status: string | null;
};

/** References (`email:…`, `name:…`) that name no record, several, or a field that no record has; nothing was sent. */
export class ReferencesError extends Failure {
  readonly kind: string;
  readonly exitName: 'notFound' | 'guarded' | 'usage';
  readonly code: string;
  /** The records that the ambiguous references may mean. */
  readonly candidates: readonly Candidate[];
  constructor(
    message: string,
    { exitName, candidates, hint }: Pick<ReferencesError, 'exitName' | 'candidates' | 'hint'>,
  ) {
    super(message, { hint });
    this.exitName = exitName;
    this.candidates = candidates;
    this.kind = { notFound: 'notFound', guarded: 'guard', usage: 'usage' }[exitName];
    this.code = { notFound: 'notFound', guarded: 'ambiguous', usage: 'noSuchField' }[exitName];
  }
}

/** A run that failed in part, without a single error that ended it. */
export class RunError extends Failure {
  readonly kind = 'run';
  readonly code: string;
  constructor(
    message: string,
    readonly exitName: ExitName,
    options: { hint?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = exitName === 'interrupted' ? 'cancelled' : exitName;
  }
}

/** True if the service reports that there is no such record, or its list does not contain it. */
export function isNotFound(error: unknown): error is Failure {
  return error instanceof NotFoundError || (error instanceof ApiError && error.status === 404);
}

/** True for an answer that holds nothing: there may be no such record. */
export function isEmptyAnswer(error: unknown): error is ProtocolError {
  return error instanceof ProtocolError && error.code === emptyAnswer;
}

/** The error for an answer that holds nothing, which some services send in place of a 404. */
export function perhapsMissing(
  error: ProtocolError,
  resource: ResourceName,
  id: string,
): ProtocolError {
  const { noun } = resourceWords[resource];
  const message = `${error.message} There may be no ${noun} ${quotedIfSpaced(id)}.`;
  return new ProtocolError(message, { ...error.details, hint: missingHint(id, resource) });
}

/** True for a 403 that concerns this request or, if repeated, the key; not for a plan without API access. */
export function isForbidden(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && error.status === 403 && error.serviceCode !== 'featureNotAvailable'
  );
}

/** True if the service does not know the route of a request, or the feature behind it. */
export function isUnknownRoute(error: unknown): error is ApiError {
  return error instanceof ApiError && [404, 405, 501].includes(error.status);
}

/** True for the refusal of a list beside which other lists may well be read. */
export function isUnreadableList(error: unknown): error is ApiError {
  return isForbidden(error) || isUnknownRoute(error);
}

/** Returns the refusal of a list without a doubt about the base URL, because other lists were read from it. */
export function besideOthers(error: ApiError): ApiError {
  if (!isUnknownRoute(error)) return error;
  return error.with({ hint: 'Other lists were read, so the service does not have this one.' });
}

/** `this service has no list of teams (404)`, where other lists of the service were read. */
export function lacksList(resource: ResourceName, { status }: ApiError): string {
  return `this service has no list of ${resourceWords[resource].plural} (${status})`;
}

/** True if the file store does not have a file; asking again will not bring it back. */
export function isMissingFile(error: unknown): error is StoreError {
  return error instanceof StoreError && lacksFile(error);
}

/** True if a refusal of the file store says that it has the bucket, but not the file. */
export function lacksFile({
  status,
  code,
}: Pick<StoreError, 'status'> & { code?: string | undefined }): boolean {
  return status === 404 && code !== 'NoSuchBucket';
}

/** True for a refusal that something in front of the service sent, which says nothing about the key. */
export function isBlocked(error: Failure): boolean {
  return error instanceof ApiError && error.details.isForeign === true;
}

/** A word that names no stored run or profile; at a terminal another can be picked. */
export class UnknownNameError extends UsageError {
  constructor(
    message: string,
    readonly word: string,
    hint: string,
  ) {
    super(message, { hint });
  }
}

/** True if the record certainly does not exist: a list that may be incomplete is not enough. */
export function isProvenNotFound(error: unknown): boolean {
  if (error instanceof NotFoundError) return error.isProven;
  return error instanceof ApiError && (error.status === 404 || error.status === 410);
}

/** True if the service asked for a wait beyond --max-wait: nothing more is sent, not even reads. */
export function exceedsRetryBudget(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return exceedsRetryBudget(error.cause);
  return error instanceof ApiError && error.details.retryAfter !== undefined;
}

/** Describes that wait, as the rest of a sentence; undefined if --max-wait allows it. */
export function describeRequestedWait({ details }: ApiError): string | undefined {
  return details.retryAfter === undefined
    ? undefined
    : `asks you to wait ${details.retryAfter} s, longer than --max-wait allows.`;
}

/**
 * A record was created but could not be read back, so its content is unverified. It is not created
 * again, only read again. The exit code is that of the failed read.
 */
export class UnverifiedError extends Failure {
  readonly kind: string;
  readonly exitName: ExitName;
  readonly code = notVerified;
  constructor(message: string, cause: Failure | undefined) {
    super(message, {
      hint: 'It is not sent again: run the same command again to read it and compare.',
      cause,
    });
    this.kind = cause?.kind ?? 'protocol';
    this.exitName = cause?.exitName ?? 'failed';
  }
}

/** The error code of a record that exists but holds other bytes, or could not be read back. */
export const notVerified = 'notVerified';

/** Returns true if every attempt went unanswered or got a temporary error from the service or its store. */
export function isExhausted(error: Failure): boolean {
  return error.exitName === 'temporary' && !(error instanceof UnverifiedError);
}
