/** What a row is while it is being done, and what it needs of its run. */
import type { Instant } from '../data/instant.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import type { Failure, UnknownOutcomeError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { BeforeImages } from './before-images.js';
import type { Guards } from './decide.js';
import type { Entry } from './journal.js';
import type { ReadPurpose, RecordState, Sent, Session, Step, Task } from './operation.js';
import type { ReportRow } from './report.js';
import type { DoneStep, RowChange } from './rows.js';

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
export function halfDone({ done }: RowRun): Pick<ReportRow, 'before' | 'after' | 'step'> {
  return done ? { before: done.before, after: done.after, step: done.step } : {};
}
