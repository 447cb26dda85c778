/** Verification: finds out by reading whether a write with an unknown outcome was applied. */

import { readFirst } from '../api/response.js';
import type { JsonObject } from '../data/json.js';
import { isProvenNotFound } from '../data/outcome-errors.js';
import { normalName } from '../data/path.js';
import { isSameMeaning, isUnchanged } from '../data/sorting.js';
import { parseDuration } from '../data/time.js';
import { CancelledError, Failure, UnknownOutcomeError, UsageError } from '../errors.js';
import type { Intent } from '../runs/journal.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import { isAsBefore } from './decide.js';
import { holdsNote } from './notes.js';
import type {
  BeforeValues,
  Comparison,
  KnownStep,
  RecordState,
  Session,
  Step,
  Verification,
} from './operation.js';

/** The default of ROSTERCTL_SETTLE: milliseconds after which a lost write can no longer take effect. */
const defaultSettleMs = 15_000;

/** ROSTERCTL_SETTLE in milliseconds. Throws UsageError, before anything is sent. */
export function readSettleMs(env: { readonly [name: string]: string | undefined }): number {
  const text = env['ROSTERCTL_SETTLE'];
  if (!text) return defaultSettleMs;
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`ROSTERCTL_SETTLE: ${error.message}`, { hint: error.hint });
  }
}

/** A step to be sent, with the read that it is based on. */
export interface Write {
  readonly step: Step;
  readonly state: RecordState;
  /** The part of the record that `runs undo` needs. */
  readonly image: BeforeValues | undefined;
  /** Another step follows. */
  readonly more: boolean;
}

/** A write whose outcome is unknown. */
export interface Unverified {
  /**
   * `lost`: no answer. `unreadable`: a success status with an unreadable body. `accepted`: 202.
   * `notShown`: a success that a read does not show.
   */
  readonly kind: 'lost' | 'unreadable' | 'accepted' | 'notShown';
  /** The intent, as recorded before the send. */
  readonly intent: Pick<Intent, 'before' | 'digest' | 'step' | 'more'>;
  /** Present if this process sent it. */
  readonly sent?: Write | undefined;
  /** When its intent was recorded, in milliseconds since 1970. */
  readonly since: number;
  /**
   * When it was sent, or at the latest can have been, in milliseconds of the monotonic clock: one that is
   * set ahead meanwhile must not end the wait.
   */
  readonly sentAt: number;
  /** Milliseconds after `sentAt` from which the write can no longer take effect. */
  readonly settleMs: number;
  readonly error?: Failure | undefined;
}

/** Verifies a write that has no outcome: as its session can, else by reading its record. */
export async function verifyWrite(
  session: Session,
  row: SelectedRow,
  write: Omit<Unverified, 'sentAt' | 'settleMs'>,
): Promise<Verification> {
  const { kind, sent, since } = write;
  if (session.verify === 'never') return { outcome: 'unclear' };
  try {
    if (session.verify) return await session.verify(row, since);
    const state = await session.read(row, 'verify');
    const isAnswered = kind === 'notShown' || kind === 'accepted';
    if (isAnswered && sent) return compareAnswered(session, sent, state);
    const { steps } = await session.plan(row, state);
    return compareLost(session, row, write, state, steps);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (session.provenByAbsence && isProvenNotFound(error))
      return { outcome: 'applied', record: undefined };
    return { outcome: 'unclear', error };
  }
}

/** Decides the outcome of a write whose success response proves nothing: it held no record, or another value. */
function compareAnswered(
  session: Session,
  { step, state: before }: Write,
  state: RecordState,
): Verification {
  const { record = {} } = state;
  if (session.provenByAbsence) {
    if (isMarkedDeleted(before.record, record)) return markedAsDeleted(record);
    return { outcome: 'notApplied', state, step };
  }
  return compareStep(session, step, state);
}

function compareStep(session: Session, step: KnownStep, state: RecordState): Verification {
  const { record = {} } = state;
  const outcome = (session.compare ?? compareFields)(step, record);
  return outcome === 'applied' ? { outcome, record } : { outcome, state, step };
}

/**
 * Decides the outcome of a lost write: applied if no change remains (`steps`: those that the record still
 * needs); not applied if every field reads as the journal recorded it before the write. If only some do,
 * the write was applied and someone set those back.
 */
function compareLost(
  session: Session,
  row: SelectedRow,
  { intent, sent }: Pick<Unverified, 'intent' | 'sent'>,
  state: RecordState,
  steps: readonly Step[],
): Verification {
  const { record } = state;
  const { before, digest, step: name, more } = intent;
  const step = steps.find((each) => each.name === name);
  // Others may have done the last step, after which the record needs no first one.
  if (!step && more)
    return compareStep(session, sent?.step ?? stepOfIntent(intent, row.previewed), state);
  const remaining = step?.changes.filter((change) => !isAdded(change, before, sent?.step)) ?? [];
  if (!step || remaining.length === 0) return { outcome: 'applied', record };
  const compared = remaining.filter(({ adds }) => adds === undefined);
  const differing = new Set(remaining.map(({ field }) => field));
  const hasNewValue = Object.keys(before).some((field) => !differing.has(field));
  // A field that the service does not show was not set back.
  const isSetBack = hasNewValue && compared.some(({ field }) => Object.hasOwn(record ?? {}, field));
  const isBefore =
    !isSetBack && isAsBefore(before, compared) && (digest === undefined || digest === step.digest);
  const known = sent?.state.record;
  if (!isBefore && session.provenByAbsence && record && isMarkedDeleted(known, record))
    return markedAsDeleted(record);
  return { outcome: isBefore ? 'notApplied' : 'other', state, step };
}

/**
 * Compares field by field. A field missing from the record proves nothing, and a value that is neither
 * old nor new, or means the same as the new one, counts as the service's own form of what was sent.
 */
export function compareFields({ changes }: KnownStep, record: JsonObject): Comparison {
  const hasOldValue = changes.some(
    ({ field, from, to }) =>
      Object.hasOwn(record, field) &&
      !isSameMeaning(record[field], to) &&
      isUnchanged(record[field] ?? null, from ?? null),
  );
  return hasOldValue ? 'notApplied' : 'applied';
}

/** The error for a write that reading could not verify; `lost`: how it ended, if in this process. */
export function unknownOutcome(lost: Failure | undefined, unread?: Failure): UnknownOutcomeError {
  const known = lost instanceof UnknownOutcomeError ? lost : undefined;
  if (known && !unread) return known;
  const sentence = known?.message ?? 'The last request was sent and may have taken effect.';
  const why =
    unread && !(unread instanceof CancelledError)
      ? ` Reading did not settle it: ${unread.message.replace(/\.?$/, '.')}`
      : '';
  return new UnknownOutcomeError(`${sentence}${why}`, known?.call, {
    hint: known?.hint ?? readFirst,
    cause: unread ?? known?.cause,
    delivery: known?.delivery,
  });
}

/** The step of an intent that an earlier process recorded. */
export function stepOfIntent(
  { step: name, before }: Pick<Intent, 'before' | 'step'>,
  previewed: readonly RowChange[] = [],
): KnownStep {
  const known = previewed.filter(({ field }) => Object.hasOwn(before, field));
  if (known.length > 0) return { name, changes: known };
  const changes = Object.entries(before).map(([field, from]) => ({ field, from, to: undefined }));
  return { name, changes };
}

/** The before-image of a step; by default its fields as read before it, undefined for those that the record lacks. */
export function imageOf(
  { image }: Session,
  step: Step,
  state: RecordState,
): BeforeValues | undefined {
  if (image) return image(state);
  const { changes } = step;
  return {
    kind: 'fields',
    before: Object.fromEntries(changes.map(({ field, from }) => [field, from])),
    after: Object.fromEntries(changes.map(({ field, to }) => [field, to])),
  };
}

/** True if the appended text is in the field now and was not before; others may have appended more after it. */
function isAdded(change: RowChange, before: JsonObject, sent: Step | undefined): boolean {
  const { field, adds, from } = change;
  if (adds === undefined || !holdsNote(from, adds) || isAsBefore(before, [change])) return false;
  const read = sent?.changes.find((each) => each.field === field);
  return !holdsNote(read?.from, adds);
}

const deletedWords = ['deleted', 'archived', 'inactive'];
/** The normalized names of fields that mark a record as deleted: `discarded_at` of Rails, `is_removed` of Django. */
const deletedField = /^(?:is)?(?:deleted|archived|discarded|removed|trashed)(?:at|on)?$/;

/** How services write a mark that is not set: as text in PHP and Perl, as the first day of Go, .NET and MySQL. */
const unsetMark = /^(?:0|false|0001-01-01.*|0000-00-00.*)$/i;
const isSet = (mark: unknown) => Boolean(mark) && !unsetMark.test(String(mark));

/** True if a record is newly marked as deleted, by a status only if it had another one before. */
export function isMarkedDeleted(before: JsonObject | undefined, now: JsonObject): boolean {
  const was = byNormalName(before ?? {});
  const is = byNormalName(now);
  const isNew = (field: string) => isSet(is[field]) && !isSet(was[field]);
  if (Object.keys(is).some((field) => deletedField.test(field) && isNew(field))) return true;
  const { status } = is;
  return (
    before !== undefined &&
    typeof status === 'string' &&
    deletedWords.includes(status.toLowerCase()) &&
    was['status'] !== status
  );
}

/** The fields of a record by their normalized names: services also write `deleted_at`. */
export function byNormalName(record: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [normalName(name), value]),
  );
}

function markedAsDeleted(record: JsonObject | undefined): Verification {
  return { outcome: 'applied', record, note: 'marked as deleted' };
}
