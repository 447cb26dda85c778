/** Finds out by reading whether a write was applied whose outcome no answer tells. */
import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../data/duration.js';
import type { JsonObject } from '../data/json.js';
import { CancelledError, Failure, UnknownOutcomeError, UsageError } from '../errors.js';
import { isGoneForSure } from '../data/failure-kinds.js';
import type { BeforeValues, Comparison, Session, Step, Verification } from './operation.js';
import type { RowChange, SelectedRow } from './rows.js';
import { type Intent, isAsBefore } from './run-state.js';

/** After how long a write whose answer was lost counts as never applied, unless ROSTERCTL_SETTLE says so. */
const usualSettleMs = 15_000;

/** Milliseconds of ROSTERCTL_SETTLE. Throws UsageError, so before anything is sent. */
export function settleMs(env: { readonly [name: string]: string | undefined }): number {
  const text = env['ROSTERCTL_SETTLE'];
  if (!text) return usualSettleMs;
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`ROSTERCTL_SETTLE: ${error.message}`, { hint: error.hint });
  }
}

/**
 * Reads after an answer that was lost: applied where nothing is left to do; not applied where every
 * field reads as the journal kept it before the write.
 */
export async function verifyLost(
  session: Session,
  row: SelectedRow,
  { before, digest, step: name }: Pick<Intent, 'before' | 'digest' | 'step'>,
  sent?: Step,
): Promise<Verification> {
  try {
    const state = await session.read(row, 'verify');
    const { steps } = await session.plan(row, state);
    const step = steps.find((each) => each.name === name);
    const left = step?.changes.filter((change) => !isAdded(change, before, sent)) ?? [];
    if (!step || left.length === 0) return { outcome: 'applied', record: state.record };
    const judged = left.filter(({ adds }) => adds === undefined);
    const isBefore = isAsBefore(before, judged) && (digest === undefined || digest === step.digest);
    if (!isBefore && isMarked(session, state.record)) return marked(state.record);
    return { outcome: isBefore ? 'notApplied' : 'other', state, step };
  } catch (error) {
    return ofFailure(session, error);
  }
}

/** Reads after a success that proves nothing by itself: no record in the answer, or another value. */
export async function verifySent(
  session: Session,
  row: SelectedRow,
  step: Step,
  before: JsonObject | undefined,
): Promise<Verification> {
  try {
    const state = await session.read(row, 'verify');
    const { record = {} } = state;
    if (session.provenByAbsence) {
      if (session.isMarkedDeleted?.(before, record)) return marked(record);
      return { outcome: 'notApplied', state, step };
    }
    const found = (session.compare ?? compareFields)(step, record);
    if (found === 'reached') return { outcome: 'applied', record };
    return { outcome: found === 'asBefore' ? 'notApplied' : 'other', state, step };
  } catch (error) {
    return ofFailure(session, error);
  }
}

/**
 * Field by field: one that the record does not show tells nothing, and a third value is the
 * service's own way to keep what was sent.
 */
export function compareFields({ changes }: Step, record: JsonObject): Comparison {
  const isLeft = changes.some(
    ({ field, from, to }) =>
      Object.hasOwn(record, field) &&
      !isDeepStrictEqual(record[field], to) &&
      isDeepStrictEqual(record[field] ?? null, from ?? null),
  );
  return isLeft ? 'asBefore' : 'reached';
}

/** Fields that a write which replaces the whole record made vanish. */
export function vanishedFields({ replaces }: Step, record: JsonObject): readonly string[] {
  if (!replaces) return [];
  return Object.keys(replaces).filter((field) => !Object.hasOwn(record, field));
}

/** The error of a write that reading could not settle; `lost` is how it ended, undefined for one of an earlier process. */
export function unknownOutcome(lost: Failure | undefined, unread?: Failure): UnknownOutcomeError {
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

/** The fields of a step as read before it; one that the record does not have is undefined. */
export function imageOf({ changes }: Step): BeforeValues {
  return {
    kind: 'fields',
    before: Object.fromEntries(changes.map(({ field, from }) => [field, from])),
    after: Object.fromEntries(changes.map(({ field, to }) => [field, to])),
  };
}

/** Whether a line that was to be added stands in the field, and did not before; others may have added theirs behind it. */
function isAdded(change: RowChange, before: JsonObject, sent: Step | undefined): boolean {
  const { field, adds, from } = change;
  if (adds === undefined || !hasLine(from, adds) || isAsBefore(before, [change])) return false;
  const read = sent?.changes.find((each) => each.field === field);
  return !hasLine(read?.from, adds);
}

/** Whatever the day of the line: the same command line may have been typed before midnight. */
function hasLine(text: unknown, line: string): boolean {
  return typeof text === 'string' && text.split('\n').some((each) => bare(each) === bare(line));
}

function bare(line: string): string {
  return line.replace(/^\d{4}-\d\d-\d\d: /, '');
}

function isMarked(session: Session, record: JsonObject | undefined): boolean {
  return record !== undefined && (session.isMarkedDeleted?.(undefined, record) ?? false);
}

function marked(record: JsonObject | undefined): Verification {
  return { outcome: 'applied', record, note: 'marked as deleted' };
}

function ofFailure(session: Session, error: unknown): Verification {
  if (!(error instanceof Failure)) throw error;
  if (session.provenByAbsence && isGoneForSure(error))
    return { outcome: 'applied', record: undefined };
  return { outcome: 'unclear', error };
}

function withStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
