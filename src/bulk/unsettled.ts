import { CancelledError, type Failure, UnknownOutcomeError } from '../errors.js';

/**
 * The error of a write whose outcome stays open, whatever the reading that should have settled it was
 * answered: that a key may not read says nothing about what was written. `lost` is how the write
 * ended, undefined for one of an earlier process.
 */
export function unsettled(lost: Failure | undefined, unread?: Failure): UnknownOutcomeError {
  const known = lost instanceof UnknownOutcomeError ? lost : undefined;
  if (known && !unread) return known;
  const sentence = known?.message ?? 'The last request was sent and may have taken effect.';
  const why =
    unread && !(unread instanceof CancelledError)
      ? ` Reading did not settle it: ${withStop(unread.message)}`
      : '';
  return new UnknownOutcomeError(`${sentence}${why}`, known?.call, {
    hint: known?.hint ?? 'Look at the record before you send this again.',
    cause: unread ?? known?.cause,
    delivery: known?.delivery,
  });
}

function withStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
