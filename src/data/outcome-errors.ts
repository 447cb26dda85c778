/** How rows and runs end that no answer of the service ended. */
import { ApiError, Failure, NotFoundError, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { ResourceName } from './resources.js';
import { shellQuote } from './text.js';

/** The record holds neither what was expected nor what was to be written: it is left as it is. */
export class ConflictError extends Failure {
  readonly kind = 'conflict';
  readonly exitName = 'conflict';
  readonly code = 'changedMeanwhile';
}

/** What a read shows of a write that was answered with yes, by field. */
interface NotApplied {
  readonly resource: ResourceName;
  readonly deletes: boolean;
  readonly unchanged: readonly string[];
  readonly changed: readonly string[];
}

function word(field: string): string {
  return field === 'internalNotes' ? 'notes' : field;
}

/** The service said yes, and a read shows the old value or the record that was to be gone. */
export class NotAppliedError extends Failure {
  readonly kind = 'protocol';
  readonly exitName = 'failed';
  readonly code = 'notApplied';
  constructor(id: string, { resource, deletes, unchanged, changed }: NotApplied) {
    super(
      deletes
        ? `The service accepted the deletion of ${id}, and it is still there.`
        : `The service accepted the change of ${id}, and still shows the former ${unchanged.map(word).join(', ') || 'value'}.${changed.map((field) => ` The ${word(field)} was set.`).join('')}`,
      { hint: `See: rosterctl ${resource} get ${shellQuote(id)}` },
    );
  }
}

/** A run of several things that did not end well though no single error ended it. */
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

/** The service said that there is no such record, or its list does not show it. */
export function isNotFound(error: unknown): error is Failure {
  return error instanceof NotFoundError || (error instanceof ApiError && error.status === 404);
}

/** The same for sure: not where the list may lack some. */
export function isProvenNotFound(error: unknown): boolean {
  return isNotFound(error) && !(error instanceof NotFoundError && !error.isProven);
}

/** The service asked for a longer wait than the line allows: nothing more is sent, no read, either. */
export function exceedsRetryBudget(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return exceedsRetryBudget(error.cause);
  return error instanceof ApiError && error.details.retryAfter !== undefined;
}

/** What it asked for then, in words that follow its name; undefined where the line allows the wait. */
export function describeRequestedWait({ details }: ApiError): string | undefined {
  return details.retryAfter === undefined
    ? undefined
    : `asks to wait ${details.retryAfter} s, longer than --max-wait allows.`;
}
