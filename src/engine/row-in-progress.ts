/** A row in progress: what it depends on, how far it got, and what its run does for it. */
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import { type Instant } from '../data/time.js';
import { Failure, UnknownOutcomeError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from '../runs/before-images.js';
import type { Entry } from '../runs/journal.js';
import type { DoneStep, ReportRow, RowChange } from '../runs/report.js';
import type { Guards } from './decide.js';
import type { ReadPurpose, RecordState, Sent, Session, Step, Task } from './operation.js';

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
