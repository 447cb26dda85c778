/** Finds out by reading whether a write was applied whose outcome no answer tells. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../data/json.js';
import { isProvenNotFound } from '../data/outcome-errors.js';
import type { ResourceName } from '../data/resources.js';
import { type Instant, parseDuration } from '../data/time.js';
import { CancelledError, Failure, UnknownOutcomeError, UsageError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from './before-images.js';
import type { Guards } from './decide.js';
import type { Entry } from './journal.js';
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
import type { DoneStep, ReportRow, RowChange, SelectedRow } from './report.js';
import { type Intent, isAsBefore } from './run-state.js';

/** How the rows of a run are done. */
export interface RunOptions {
  readonly session: Session;
  readonly resource: ResourceName;
  readonly guards: Guards;
  /** Resolves when the entry is on disk. */
  readonly journal: { append(entry: Entry): Promise<void> };
  /** Keeps what was there before a write; resolves when it is on disk. Absent: nothing is kept. */
  readonly images?: Pick<BeforeImages, 'append'> | undefined;
  /** Locks the record of a row from its read to its result. Throws GuardError `locked`. */
  readonly lockRow?: ((id: string) => Promise<HeldLock>) | undefined;
  readonly concurrency: number;
  /** Extra sends of a row after the first. */
  readonly retries: number;
  /** The wait before another send that nobody asked for, by how many went before, in milliseconds. */
  readonly backoff: (sends: number, throttled: boolean) => number;
  /** After how long a write that was lost counts as never applied, in milliseconds. */
  readonly settleMs: number;
  readonly maxErrors: number | undefined;
  /** Whether nothing was heard of the service for so long that it counts as dead. */
  readonly isSilent: () => boolean;
  readonly now: () => Date;
  readonly instant: () => Instant;
  /** Resolves after the time, or early when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onResult: (row: ReportRow) => void;
  /** Hears of the record of a row as it stood last, or of the failure that ended it. */
  readonly onEnd?: (
    task: Task,
    end: { readonly record?: JsonObject | undefined; readonly error?: Failure },
  ) => void;
  /** An error as the report shows it. */
  readonly describeError: (error: Failure, id: string) => unknown;
  /** Called before a pause after which lost writes are read again: milliseconds. */
  readonly onVerify?: (ms: number) => void;
  readonly note: (message: string) => void;
  /** Nothing more is to be sent; what may have been applied is still read. */
  readonly onStop?: () => void;
}

/** A row while it is being done. */
export interface RowRun {
  readonly task: Task;
  /** Requests that left or may have left, in this process. */
  sends: number;
  /** Sends after reading said that the one before was not applied. */
  resends: number;
  /** Reads in a row that aged before their write could leave. */
  rereads: number;
  /** What the first read showed: a later one that differs is a conflict. */
  previewed: readonly RowChange[] | undefined;
  /** Of the whole record as first read, where the write takes all of it. */
  digest: string | undefined;
  done: DoneStep | undefined;
  /** The intent that stands on disk, and when it was written: the same send needs no other one soon. */
  intent: { readonly key: string; readonly t: number } | undefined;
}

/** A write whose outcome reading has to verify. */
export interface PendingVerification {
  readonly run: RowRun;
  /**
   * `lost`: no answer. `unreadable`: a success line and nothing readable. `accepted`: 202.
   * `notShown`: a success that no read shows.
   */
  readonly kind: 'lost' | 'unreadable' | 'accepted' | 'notShown';
  /** What was written down before the send. */
  readonly intent: {
    readonly step?: string | undefined;
    readonly before: JsonObject;
    readonly digest?: string | undefined;
    /** Another step follows. */
    readonly more?: boolean | undefined;
  };
  /** Where this process sent it. */
  readonly sent?: { readonly step: Step; readonly state: RecordState } | undefined;
  /** When it was sent, or as late as can be, in milliseconds since 1970. */
  readonly t: number;
  /** When it was written down. */
  readonly since: number;
  /** Milliseconds after `t` from which nothing can arrive any more. */
  readonly settleMs: number;
  readonly error?: Failure | undefined;
}

/** What a row needs of its run. */
export interface RowHost {
  readonly options: RunOptions;
  /** Nothing new is begun. */
  readonly isOver: boolean;
  /** Nothing more is sent; what may have been applied is still read. */
  readonly isStopped: boolean;
  read(run: RowRun, purpose?: ReadPurpose): Promise<RecordState | undefined>;
  isFresh(state: RecordState): boolean;
  /** Sends with a permit, before rows that are to be read; undefined where the run is over. */
  sendNext(run: RowRun, send: () => Promise<Sent>): Promise<Sent | undefined>;
  /** The request of a row did not leave after all, or its outcome is known. */
  clearInFlight(run: RowRun): void;
  /** A step before the write was answered: other rows can begin. */
  openGate(): void;
  /** The service answered, or did not. */
  heard(outcome: 'changed' | UnknownOutcomeError): void;
  verifyLater(pending: PendingVerification): void;
  finish(run: RowRun, row: ReportRow, more?: JsonObject): Promise<void>;
  /** The same without waiting for the disk. */
  finishBehind(run: RowRun, row: ReportRow): void;
}

/** A row that nothing was done for in this process. */
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

/** What a row says of a first step that is done. */
export function partialResult({ done }: RowRun): Pick<ReportRow, 'before' | 'after' | 'step'> {
  return done ? { before: done.before, after: done.after, step: done.step } : {};
}

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
  if (session.provenByAbsence && isProvenNotFound(error))
    return { outcome: 'applied', record: undefined };
  return { outcome: 'unclear', error };
}

function withStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
