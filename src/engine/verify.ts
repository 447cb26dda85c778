/** Verification: finds out by reading whether a write with an unknown outcome was applied. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../data/json.js';
import { isProvenNotFound } from '../data/outcome-errors.js';
import type { ResourceName } from '../data/resources.js';
import { type Instant, parseDuration } from '../data/time.js';
import { CancelledError, Failure, UnknownOutcomeError, UsageError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from '../runs/before-images.js';
import type { Entry } from '../runs/journal.js';
import type { DoneStep, ReportRow, RowChange, SelectedRow } from '../runs/report.js';
import { type Intent, isAsBefore } from '../runs/state.js';
import type { Guards } from './decide.js';
import type {
  BeforeValues,
  Comparison,
  ReadPurpose,
  RecordState,
  Sent,
  Session,
  Step,
  Task,
  Verification,
} from './operation.js';

/** Everything that the rows of a run depend on. */
export interface RowRunOptions {
  readonly session: Session;
  readonly resource: ResourceName;
  readonly guards: Guards;
  /** Resolves when the entry is on disk. */
  readonly journal: { append(entry: Entry): Promise<void> };
  /** Stores before-images; resolves when one is on disk. Absent: none are kept. */
  readonly images?: Pick<BeforeImages, 'append'> | undefined;
  /** Locks a row's record from its read to its result. Throws GuardError `locked`. */
  readonly lockRow?: ((id: string) => Promise<HeldLock>) | undefined;
  readonly concurrency: number;
  /** Extra sends of a row after the first. */
  readonly retries: number;
  /** Milliseconds before a resend if the answer asked for no wait, by the number of earlier sends. */
  readonly backoff: (sends: number, throttled: boolean) => number;
  /** Milliseconds after which a lost write can no longer take effect. */
  readonly settleMs: number;
  readonly maxErrors: number | undefined;
  /** True if the service has been silent for so long that it counts as dead. */
  readonly isSilent: () => boolean;
  readonly now: () => Date;
  readonly instant: () => Instant;
  /** Resolves after the time, or early if the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onResult: (row: ReportRow) => void;
  /** Called with a row's record in its last known state, or the failure that ended the row. */
  readonly onEnd?: (
    task: Task,
    end: { readonly record?: JsonObject | undefined; readonly error?: Failure },
  ) => void;
  /** Formats an error for the report. */
  readonly describeError: (error: Failure, id: string) => unknown;
  /** Called before a pause for verification: milliseconds. */
  readonly onVerify?: (ms: number) => void;
  readonly note: (message: string) => void;
  /** Called when the run stops sending; writes with an unknown outcome are still verified. */
  readonly onStop?: () => void;
}

/** A row in progress. */
export interface RowRun {
  readonly task: Task;
  /** Requests of this process that were sent or may have been. */
  sends: number;
  /** Sends after verification found that the previous one was not applied. */
  resends: number;
  /** Consecutive reads that aged before their write could be sent. */
  rereads: number;
  /** The changes found by the first read; a later read that differs is a conflict. */
  previewed: readonly RowChange[] | undefined;
  /** Digest of the entire record as first read, if the write affects all of it. */
  digest: string | undefined;
  done: DoneStep | undefined;
  /** The last recorded intent and its time; the same write needs no new one soon. */
  intent: { readonly key: string; readonly t: number } | undefined;
}

/** A write whose outcome has to be verified by reading. */
export interface PendingVerification {
  readonly run: RowRun;
  /**
   * `lost`: no answer. `unreadable`: a success status with an unreadable body. `accepted`: 202.
   * `notShown`: a success that a read does not show.
   */
  readonly kind: 'lost' | 'unreadable' | 'accepted' | 'notShown';
  /** The intent, as recorded before the send. */
  readonly intent: {
    readonly step?: string | undefined;
    readonly before: JsonObject;
    readonly digest?: string | undefined;
    /** Another step follows. */
    readonly more?: boolean | undefined;
  };
  /** Present if this process sent it. */
  readonly sent?: { readonly step: Step; readonly state: RecordState } | undefined;
  /** When it was sent, or at the latest can have been, in milliseconds since 1970. */
  readonly t: number;
  /** When its intent was recorded, in milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds after `t` from which the write can no longer take effect. */
  readonly settleMs: number;
  readonly error?: Failure | undefined;
}

/** The parts of a run that a row needs. */
export interface RowHost {
  readonly options: RowRunOptions;
  /** True once nothing new is started. */
  readonly isOver: boolean;
  /** True once nothing more is sent; writes with an unknown outcome are still verified. */
  readonly isStopped: boolean;
  read(run: RowRun, purpose?: ReadPurpose): Promise<RecordState | undefined>;
  isFresh(state: RecordState): boolean;
  /** Sends with a permit, ahead of rows waiting to be read; undefined if the run is over. */
  sendNext(run: RowRun, send: () => Promise<Sent>): Promise<Sent | undefined>;
  /** Marks a row's request as not sent after all, or as having a known outcome. */
  clearInFlight(run: RowRun): void;
  /** Lets other rows start: a step before the write was answered. */
  openGate(): void;
  /** Records for the circuit breaker that the service answered, or did not. */
  recordOutcome(outcome: 'changed' | UnknownOutcomeError): void;
  verifyLater(pending: PendingVerification): void;
  finish(run: RowRun, row: ReportRow, more?: JsonObject): Promise<void>;
  /** Finishes the row without waiting for the disk. */
  finishInBackground(run: RowRun, row: ReportRow): void;
}

/** The initial state of a row in this process. */
export function rowRun(task: Task): RowRun {
  return {
    task,
    sends: 0,
    resends: 0,
    rereads: 0,
    previewed: task.previewed,
    digest: undefined,
    done: task.done,
    intent: undefined,
  };
}

/** The part of a row's result that describes a finished first step. */
export function partialResult({ done }: RowRun): Pick<ReportRow, 'before' | 'after' | 'step'> {
  return done ? { before: done.before, after: done.after, step: done.step } : {};
}

/** The default of ROSTERCTL_SETTLE: milliseconds after which a lost write can no longer take effect. */
const defaultSettleMs = 15_000;

/** ROSTERCTL_SETTLE in milliseconds. Throws UsageError, before anything is sent. */
export function settleMs(env: { readonly [name: string]: string | undefined }): number {
  const text = env['ROSTERCTL_SETTLE'];
  if (!text) return defaultSettleMs;
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`ROSTERCTL_SETTLE: ${error.message}`, { hint: error.hint });
  }
}

/**
 * Verifies a lost write: applied if no change remains; not applied if every field reads as the journal
 * recorded it before the write.
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
    const remaining = step?.changes.filter((change) => !isAdded(change, before, sent)) ?? [];
    if (!step || remaining.length === 0) return { outcome: 'applied', record: state.record };
    const compared = remaining.filter(({ adds }) => adds === undefined);
    const isBefore =
      isAsBefore(before, compared) && (digest === undefined || digest === step.digest);
    if (!isBefore && isMarkedAsDeleted(session, state.record)) return markedAsDeleted(state.record);
    return { outcome: isBefore ? 'notApplied' : 'other', state, step };
  } catch (error) {
    return fromFailure(session, error);
  }
}

/** Verifies a write whose success answer is no proof: it held no record, or another value. */
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
      if (session.isMarkedDeleted?.(before, record)) return markedAsDeleted(record);
      return { outcome: 'notApplied', state, step };
    }
    const comparison = (session.compare ?? compareFields)(step, record);
    if (comparison === 'reached') return { outcome: 'applied', record };
    return { outcome: comparison === 'asBefore' ? 'notApplied' : 'other', state, step };
  } catch (error) {
    return fromFailure(session, error);
  }
}

/**
 * Compares field by field. A field missing from the record proves nothing, and a value that is neither
 * old nor new counts as the service's own form of what was sent.
 */
export function compareFields({ changes }: Step, record: JsonObject): Comparison {
  const isUnchanged = changes.some(
    ({ field, from, to }) =>
      Object.hasOwn(record, field) &&
      !isDeepStrictEqual(record[field], to) &&
      isDeepStrictEqual(record[field] ?? null, from ?? null),
  );
  return isUnchanged ? 'asBefore' : 'reached';
}

/** Fields that are missing after a write that replaces the entire record. */
export function vanishedFields({ replaces }: Step, record: JsonObject): readonly string[] {
  if (!replaces) return [];
  return Object.keys(replaces).filter((field) => !Object.hasOwn(record, field));
}

/**
 * The error for a write that reading could not verify; `lost`: how it ended, undefined for one of
 * an earlier process.
 */
export function unknownOutcome(lost: Failure | undefined, unread?: Failure): UnknownOutcomeError {
  const known = lost instanceof UnknownOutcomeError ? lost : undefined;
  if (known && !unread) return known;
  const sentence = known?.message ?? 'The last request was sent and may have taken effect.';
  const why =
    unread && !(unread instanceof CancelledError)
      ? ` Reading did not settle it: ${withPeriod(unread.message)}`
      : '';
  return new UnknownOutcomeError(`${sentence}${why}`, known?.call, {
    hint: known?.hint ?? 'Look at the record before you send this again.',
    cause: unread ?? known?.cause,
    delivery: known?.delivery,
  });
}

/** The default before-image: the step's fields as read before it; undefined for those that the record lacks. */
export function imageOf({ changes }: Step): BeforeValues {
  return {
    kind: 'fields',
    before: Object.fromEntries(changes.map(({ field, from }) => [field, from])),
    after: Object.fromEntries(changes.map(({ field, to }) => [field, to])),
  };
}

/** True if the appended line is in the field now and was not before; others may have appended more after it. */
function isAdded(change: RowChange, before: JsonObject, sent: Step | undefined): boolean {
  const { field, adds, from } = change;
  if (adds === undefined || !hasLine(from, adds) || isAsBefore(before, [change])) return false;
  const read = sent?.changes.find((each) => each.field === field);
  return !hasLine(read?.from, adds);
}

/** True if a text contains the line, ignoring its date: the same command may have been typed before midnight. */
function hasLine(text: unknown, line: string): boolean {
  return (
    typeof text === 'string' &&
    text.split('\n').some((each) => withoutDate(each) === withoutDate(line))
  );
}

function withoutDate(line: string): string {
  return line.replace(/^\d{4}-\d\d-\d\d: /, '');
}

function isMarkedAsDeleted(session: Session, record: JsonObject | undefined): boolean {
  return record !== undefined && (session.isMarkedDeleted?.(undefined, record) ?? false);
}

function markedAsDeleted(record: JsonObject | undefined): Verification {
  return { outcome: 'applied', record, note: 'marked as deleted' };
}

function fromFailure(session: Session, error: unknown): Verification {
  if (!(error instanceof Failure)) throw error;
  if (session.provenByAbsence && isProvenNotFound(error))
    return { outcome: 'applied', record: undefined };
  return { outcome: 'unclear', error };
}

function withPeriod(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
