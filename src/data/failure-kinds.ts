/** Questions about a failure that several layers ask. */
import { ApiError, type Failure, NotFoundError, UnknownOutcomeError } from '../errors.js';

/** The service said that there is no such record, or its list does not show it. */
export function isNotFound(error: unknown): error is Failure {
  return error instanceof NotFoundError || (error instanceof ApiError && error.status === 404);
}

/** The same for sure: not where the list may lack some. */
export function isGoneForSure(error: unknown): boolean {
  return isNotFound(error) && !(error instanceof NotFoundError && !error.isProven);
}

/** The service asked for a longer wait than the line allows: nothing more is sent, no read, either. */
export function asksForQuiet(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return asksForQuiet(error.cause);
  return error instanceof ApiError && error.details.retryAfter !== undefined;
}

/** What it asked for then, in words that follow its name; undefined where the line allows the wait. */
export function quietAsked({ details }: ApiError): string | undefined {
  return details.retryAfter === undefined
    ? undefined
    : `asks to wait ${details.retryAfter} s, longer than --max-wait allows.`;
}
