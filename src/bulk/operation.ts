/** What a command does to each of its records: read, plan, send, verify. One engine runs them all. */
import type { ResourceName } from '../api/contract.js';
import type { Answer, Call, PlannedRequest } from '../api/types.js';
import type { CommandOutput } from '../cli/define.js';
import type { Overrides } from '../config/settings.js';
import type { Context } from '../context.js';
import type { Instant } from '../data/time.js';
import type { JsonObject } from '../data/json.js';
import type { RecordTest } from '../data/dates.js';
import type { ApiError, Failure } from '../errors.js';
import type { BeforeImageEntry } from './before-images.js';
import type { ColumnRules } from '../data/csv-columns.js';
import type { RunHead } from './run-plan.js';
import type { StoredRun } from './runs.js';
import type { Intent } from './run-state.js';
import type { DoneStep, RowChange, SelectedRow } from './report.js';
import type { Selection } from './selection.js';

/** Where the rows of a command line come from. */
export type Source = 'ids' | 'idsFile' | 'csv' | 'filter';

/** A row that is still to be done. */
export interface Task extends SelectedRow {
  /** A write of an earlier process whose outcome is unknown. */
  readonly open?: Intent | undefined;
  /** The first step, done by an earlier process. */
  readonly done?: DoneStep | undefined;
  /** Its before-images in the run that is replaced. */
  readonly images?: readonly BeforeImageEntry[] | undefined;
  /** The record as the preview read it, where the row is the only one. */
  readonly seen?: RecordState | undefined;
}

/** A record as a read showed it, and when the answer came. */
export interface RecordState {
  /** Undefined where there is nothing to read: what is to be created. */
  readonly record: JsonObject | undefined;
  readonly at: Instant;
}

/** Why a record is read: for the preview, where rows may share a list; at the row's turn; before it is sent again; to verify a write. */
export type ReadPurpose = 'preview' | 'turn' | 'resend' | 'verify';

/** One write of a row. */
export interface Step {
  /** What the step reaches, where a row has several: `accepted`. */
  readonly name?: string;
  readonly call: Call;
  readonly changes: readonly RowChange[];
  /** Stands for the whole record, where the write takes all of it (a delete). */
  readonly digest?: string | undefined;
  /** The record as read, where the write replaces all of it (PUT). */
  readonly replaces?: JsonObject | undefined;
}

/** What a row needs, by the record as read. */
export interface RowPlan {
  /** The writes in order; none: the record is as wanted. */
  readonly steps: readonly Step[];
  /** Why the row is left alone whatever it would change. */
  readonly skipped?: { readonly code: string; readonly message: string } | undefined;
  /** A field that holds neither what is expected nor what is wanted: it is left as it is. */
  readonly conflict?: RowChange | undefined;
  /** What a dry run shows instead of the calls, where these do not tell all (an upload's PUT). */
  readonly requests?: readonly PlannedRequest[] | undefined;
}

/** A 2xx answer to a step: the row's record in it, or what in it says no. */
export interface Sent {
  readonly answer: Pick<Answer, 'status' | 'body' | 'headers'>;
  readonly record: JsonObject | undefined;
  readonly sign?: ApiError | undefined;
}

/** How a record compares with what a step writes: as wanted, as before the write, or a third thing. */
export type Comparison = 'reached' | 'asBefore' | 'other';

/** What reading said of a write. `unclear`: nothing that can be read tells. */
export type Verification =
  | { readonly outcome: 'applied'; readonly record: JsonObject | undefined; readonly note?: string }
  | { readonly outcome: 'notApplied' | 'other'; readonly state: RecordState; readonly step: Step }
  | { readonly outcome: 'unclear'; readonly error?: Failure };

/** Values to keep before a write, for `runs undo`. */
export type BeforeValues = Pick<BeforeImageEntry, 'kind' | 'before' | 'after'>;

/** An operation at work in one run; what belongs to the run lives here. */
export interface Session {
  /** How often a lost write may be sent again after reading said that it was not done. */
  readonly resends: number;
  /** Reads the record. Throws Failure, NotFoundError or ApiError 404 where there is none. */
  read(row: SelectedRow, purpose: ReadPurpose): Promise<RecordState>;
  /** What the record needs. Throws InputError, UsageError. Reads nothing but what belongs to the whole run. */
  plan(row: SelectedRow, state: RecordState): RowPlan | Promise<RowPlan>;
  /** Sends a step once, unless the read has aged. Throws Failure; an outcome that is open is thrown, not settled. */
  send(step: Step, row: SelectedRow, isFresh: () => boolean): Promise<Sent>;
  /** How a record compares after a success; by default field by field. */
  readonly compare?: (step: Step, record: JsonObject) => Comparison;
  /** A missing record proves the write (a delete). */
  readonly provenByAbsence?: boolean;
  /** Whether a record that is still there counts as gone: marked as deleted since `before`. */
  isMarkedDeleted?(before: JsonObject | undefined, now: JsonObject): boolean;
  /** Another way to verify than reading the record; for a create, which has no record to read. */
  verify?(row: SelectedRow, step: Step | undefined, since: number): Promise<Verification>;
  /** What a success means where no read of the record can tell (a create); gives the record. Throws Failure. */
  confirm?(step: Step, row: SelectedRow, sent: Sent): Promise<JsonObject | undefined>;
  /** The fields that a plan compares: a list that leaves one of them out is no evidence for the row. */
  compares?(row: SelectedRow): readonly string[];
  /** What is kept before the step; by default its fields as read. Undefined: nothing to undo. */
  readonly image?: (step: Step, state: RecordState) => BeforeValues | undefined;
  /** The same once it is done, where the id is known only then (a create). */
  imageAfter?(record: JsonObject): BeforeValues | undefined;
  /** What the row's report says of the thing that was made: its new id. */
  made?(record: JsonObject): JsonObject;
  /** What a command line of one id prints; by default the record as it stood last. */
  readonly present?: (record: JsonObject | undefined, row: SelectedRow) => unknown;
  /** What is said where the record is as wanted and nothing was sent. */
  readonly unchangedNote?: (record: JsonObject | undefined, row: SelectedRow) => string;
  /** `Delete player "Ann" (player_1)?`: asked before the only row is written. */
  question?(row: SelectedRow, record: JsonObject | undefined): string;
  /** Uploads only: the bytes that go before the write. */
  readonly transfer?: Transfer;
}

/** What goes before a step and is no write of a record: a file's bytes on their way to the store. */
interface Transfer {
  /** Each `note` is on disk before the next request. Gives the step that it made possible. */
  prepare(row: SelectedRow, step: Step, note: (entry: JsonObject) => Promise<void>): Promise<Step>;
  readonly bytes: ByteCount;
  /** Checks what was made, also where reading found it. Throws Failure. */
  confirm(row: SelectedRow, record: JsonObject): Promise<void>;
  /** Hears of a row that failed, before it is reported. */
  failed(error: Failure, row: SelectedRow): void;
}

/** Bytes that were moved, for the progress line. */
interface ByteCount {
  readonly done: number;
  /** What a row will move. */
  of(row: SelectedRow): number;
}

/** How interrupted runs of files are taken up again; records need none of it. */
export interface Recovery {
  /** Whether such a run, when it ends, leaves something that only its journal knows of. */
  readonly isLeft: (stored: StoredRun) => boolean;
  /** The rows of a run, also of one that has ended, that can be finished. */
  unfinishedRows(stored: StoredRun): readonly number[];
  /** The command that finishes an unfinished run, without the program's name. */
  finishLine(run: Pick<RunHead, 'run'>): string;
  /** What a row is about, where its id is only how that was typed; undefined: nothing came before it. */
  readonly subjectOf: (row: SelectedRow) => string | undefined;
  /** The rows of a retry as they are now. */
  inspectAgain(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
}

/** Which filters select rows, by flag name, and what they mean. */
export interface Filters {
  readonly names: readonly string[];
  tests(values: never, now: Date): readonly RecordTest[];
  /** What of them the service is asked to do, by the admin's word. */
  query?(values: never, guesses: Overrides): { readonly [name: string]: string };
}

/**
 * When a person is asked before the first write: `never` (it only adds), `several` (more than one
 * row), `always`, `count` (always; the number is typed for more than one), or `name` (the record's
 * name is typed, or given with --confirm).
 */
export type ConfirmRule = 'never' | 'several' | 'always' | 'count' | 'name';

/** What a command does to its records; the engine does the rest. */
export interface Operation {
  readonly resource: ResourceName;
  readonly confirm: ConfirmRule;
  /** What happens to its records, where the command's own verb does not say it (an undo). */
  readonly verb?: 'delete';
  /** Always a bulk report, also for one id. */
  readonly reports?: boolean;
  /** What a CSV may say; absent: the command has no --csv. */
  readonly csv?: ColumnRules;
  /** The columns that the command line overrules, by the flag that does. */
  overrules?(values: never): ReadonlyMap<string, string>;
  readonly filters?: Filters;
  /** Where its rows come from, if these are no records: files, or one thing to create. */
  rows?(context: Context, values: never): Promise<Selection>;
  /** Whether one positional is many things all the same (a folder). */
  isMany?(values: never): boolean | Promise<boolean>;
  /** It is never sent without a run on disk: what is lost of it could be done twice. */
  readonly requiresRun?: boolean;
  /** Not idempotent: if the previous run finished but its report was never printed, print that report. */
  readonly addsEachTime?: boolean;
  /** The run that it takes back. */
  readonly of?: string;
  /** What the preview says besides. */
  readonly previewNotes?: (counts: {
    readonly can: number;
    readonly changedSince: number;
  }) => readonly string[];
  /** Its only row is what it creates; there is no record to read. */
  readonly createsRow?: boolean;
  /** False where `runs undo` cannot take it back (a delete, a conversion). */
  readonly undoes?: boolean;
  /** Two processes may not do the same row at once: its record is locked in a bulk run too. */
  readonly locksRows?: boolean;
  /** The values of one command line as plain JSON; kept in the run's plan until it is finished. */
  job(context: Context, values: never): Promise<JsonObject>;
  /** The part of the job that makes two command lines the same; by default all of it. */
  identity?(job: JsonObject): JsonObject;
  /** Whether the job and the rows together say what to do. Throws UsageError. */
  checkRows?(job: JsonObject, rows: readonly SelectedRow[], source: Source): void;
  /** Checks the command line before anything is read. Throws UsageError, InputError. */
  check?(context: Context, values: never): Promise<void> | void;
  /** Asks before the write of the only row would lose something (notes); gives the job as answered. Throws UsageError, CancelledError. */
  ask?(context: Context, job: JsonObject, row: Task, record: JsonObject): Promise<JsonObject>;
  /** Takes what `job` gave, maybe in another process. */
  open(context: Context, job: never): Session;
  readonly recovery?: Recovery;
  /** Holds what the whole command needs (stdin in a file) around it; gives what takes the place of parts of the operation. */
  bind?(
    context: Context,
    values: never,
    use: (parts: Partial<Operation>) => Promise<CommandOutput>,
  ): Promise<CommandOutput>;
}
