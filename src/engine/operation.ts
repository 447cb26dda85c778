/** The operation interface: what a command does to each of its records (read, plan, send, verify). One engine runs every operation. */

import type { Answer, Call, PlannedRequest } from '../api/types.js';
import type { CommandOutput } from '../cli/command-output.js';
import type { Filters } from '../cli/filters.js';
import type { Context } from '../context.js';
import type { ColumnRules } from '../data/csv-columns.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import type { Instant } from '../data/time.js';
import type { ApiError, Failure } from '../errors.js';
import type { BeforeImageEntry } from '../runs/before-images.js';
import type { Intent } from '../runs/journal.js';
import type { RunHead } from '../runs/plan.js';
import type { DoneStep, ReportRow, RowChange, RowError, SelectedRow } from '../runs/report.js';
import type { Action, RunVerb } from '../runs/verb.js';

/** The source of a command line's rows. */
export type Source = 'ids' | 'idsFile' | 'csv' | 'filter';

/** A row that still has to be processed. */
export interface Task extends SelectedRow {
  /** A write of an earlier process whose outcome is unknown. */
  readonly open?: Intent | undefined;
  /** The first step, if an earlier process did it. */
  readonly done?: DoneStep | undefined;
  /** Its before-images from the run that is being replaced. */
  readonly images?: readonly BeforeImageEntry[] | undefined;
  /** The record as the preview read it, if this is the only row. */
  readonly previewState?: RecordState | undefined;
}

/** A record as read, and when the answer arrived. */
export interface RecordState {
  /** Undefined if there is nothing to read, because the record is yet to be created. */
  readonly record: JsonObject | undefined;
  readonly at: Instant;
  /**
   * How long a write may rely on it, in milliseconds; by default `usualFreshMs`, and without a
   * record forever. A list that shows that a record is not there ages too.
   */
  readonly freshMs?: number | undefined;
}

/** Why a record is read: for the preview (rows may share a list), at its turn, before a resend, to verify. */
export type ReadPurpose = 'preview' | 'turn' | 'resend' | 'verify';

/** One write of a row. */
export interface Step {
  /** Name of the state that the step reaches, if the row has several steps: `accepted`. */
  readonly name?: string;
  readonly call: Call;
  readonly changes: readonly RowChange[];
  /** Digest of the entire record, if the write affects all of it (a delete). */
  readonly digest?: string | undefined;
  /** The record as read, if the write may replace all of it (PUT). */
  readonly replaces?: JsonObject | undefined;
}

/** A step that was sent; one of an earlier process is known by its intent only. */
export type KnownStep = Pick<Step, 'changes'> & {
  readonly [K in 'name' | 'call' | 'replaces']?: Step[K] | undefined;
};

/** The plan for a row, given the record as read. */
export interface RowPlan {
  /** The writes in order; empty if the record already has the target values. */
  readonly steps: readonly Step[];
  /** The result of an earlier write that an unchanged row reports: the player of a converted application. */
  readonly made?: JsonObject;
  /** Why the row is skipped, whatever it would change; `id`: the record that it would create, if it exists already. */
  readonly skipped?: (Pick<RowError, 'code' | 'message'> & { id?: string | undefined }) | undefined;
  /** A field that holds neither its expected nor its target value, or what `message` says: the row is left alone. */
  readonly conflict?: (Pick<RowChange, 'field' | 'from'> & { message?: string }) | undefined;
  /** Values that the write relies on without changing them: if the record has others at its turn, the row is a conflict. */
  readonly expects?: JsonObject | undefined;
  /** The record may be out of date, so the row is decided by a read of its own and not from a list. */
  readonly isDoubtful?: boolean;
  /** Replaces the calls in a dry run if these are not everything (an upload's PUT). */
  readonly requests?: readonly PlannedRequest[] | undefined;
}

/** A 2xx answer to a step: the row's record in it, or the error that its body reports. */
export interface Sent {
  readonly answer: Pick<Answer, 'status' | 'body' | 'headers'>;
  readonly record: JsonObject | undefined;
  readonly sign?: ApiError | undefined;
}

/** The values that a record shows: those that a step set, those from before it, or neither. */
export type Comparison = 'applied' | 'notApplied' | 'other';

/** A read that does not show what the step writes. */
type Unshown = { readonly state: RecordState; readonly step: KnownStep };

/** The finding of a read after a write. `unclear`: reading cannot tell. */
export type Verification =
  | { readonly outcome: 'applied'; readonly record: JsonObject | undefined; readonly note?: string }
  | (Unshown & { readonly outcome: Exclude<Comparison, 'applied'> })
  | { readonly outcome: 'unclear'; readonly error?: Failure };

/** Values to keep before a write, for `runs undo`. */
export type BeforeValues = Pick<BeforeImageEntry, 'kind' | 'before' | 'after'>;

/** An operation within one run; holds the state of that run. */
export interface Session {
  /** How often a lost write may be sent again after reading proved that it was not applied. */
  readonly resends: number;
  /** The session of a row, if the rows of a run are written in different ways (an import creates and updates). */
  forRow?(row: SelectedRow): Session;
  /** Reads the record. Throws Failure; NotFoundError or ApiError 404 if there is none. */
  read(row: Task, purpose: ReadPurpose): Promise<RecordState>;
  /** Plans what the record needs, reading only data shared by the entire run. Throws InputError, UsageError. */
  plan(row: Task, state: RecordState): RowPlan | Promise<RowPlan>;
  /** Sends a step once, unless its read is too old. Throws Failure, also for an unknown outcome. */
  send(step: Step, row: SelectedRow, isFresh: () => boolean): Promise<Sent>;
  /** Compares the record with the step after a success; by default field by field. */
  readonly compare?: (step: KnownStep, record: JsonObject) => Comparison;
  /** A record that is missing, or marked as deleted, proves that the write was applied (a delete). */
  readonly provenByAbsence?: boolean;
  /** The before-image of a step; by default its fields as read. Undefined: nothing to undo. */
  readonly image?: (state: RecordState) => BeforeValues | undefined;
  /** Uploads only: the transfer of bytes that precedes the write. */
  readonly transfer?: Transfer;

  // --- the preview, before the first write ---
  /** There is nothing to read before the write (a create). */
  readonly isBlind?: boolean;
  /** The fields that a plan compares; a list that omits one of them cannot decide the row. */
  compares?(row: SelectedRow): readonly string[];
  /** Takes every record of a list that is read for the preview. */
  sees?(record: JsonObject): void;
  /** Called when all rows were planned for the preview (not printed for a single one); a guard skips `leftAlone`. */
  planned?(isSingle: boolean, leftAlone: ReadonlySet<number>): void;
  /** Called first if a run is resumed, with the rows that earlier processes finished. */
  resumes?(finished: readonly ReportRow[]): void;
  /** Notes before the first write why the service may refuse some of these rows; reads lists. */
  warn?(rows: readonly Pick<SelectedRow, 'id'>[]): Promise<void>;
  /** `Delete player "Ann" (player_1)?`: asked before the only row is written; `teams`: their names by id. */
  question?(row: SelectedRow, record: JsonObject | undefined, teams?: Action['teams']): string;

  // --- records that a write creates: until it is answered, there is no id to read them by ---
  /** Verifies a lost create; a Failure that it throws says why it is unclear. `never`: no read can tell, so it is only waited for. */
  readonly verify?: 'never' | ((row: SelectedRow, since: number) => Promise<Verification>);
  /** Checks a success where no read of the record can; returns the record. Throws Failure. */
  checkSuccess?(step: Step, row: SelectedRow, sent: Sent): Promise<JsonObject | undefined>;
  /**
   * The image recorded after the step, when the id is known. `sent`: its body, if known; `isFound`: the
   * record comes from a later read, not from the answer.
   */
  imageAfter?(
    record: JsonObject,
    how: { readonly sent: JsonObject; readonly isFound: boolean },
  ): BeforeValues | undefined;
  /** Returns the report's values for the created record, its new id; `record`: undefined if no answer showed it. */
  made?(record: JsonObject | undefined): JsonObject | undefined;
  /**
   * Returns why a created record is not what its row asked for, which stops the run. The row then keeps
   * the create as its done step, so that neither this nor a later process sends it again.
   */
  refusal?(record: JsonObject, row: SelectedRow): Failure | undefined;
  /** True once a row has shown what the others rely on; until then its rows are written one at a time. */
  readonly isProven?: () => boolean;

  // --- the outcome of an invocation with one id, as it is shown ---
  /** The output; by default the record in its last known state. */
  readonly present?: (record: JsonObject | undefined, row: SelectedRow) => unknown;
  /** The note for a record that already has the target values, so that nothing was sent. */
  readonly unchangedNote?: (record: JsonObject | undefined, row: SelectedRow) => string;
  /** Reads a record that an earlier process created; undefined if it is gone. Throws Failure. */
  readMade?(id: string): Promise<JsonObject | undefined>;
}

/** Work before a step that writes no record: sending a file's bytes to the store. */
interface Transfer {
  /** Sends the bytes and returns the step that they make possible. Each `note` is on disk before the next request. */
  prepare(row: SelectedRow, step: Step, note: (entry: JsonObject) => Promise<void>): Promise<Step>;
  /** Bytes transferred, and those that a row will transfer, for the progress line. */
  readonly bytes: { readonly done: number; of(row: SelectedRow): number };
  /** Checks the created record, also if verification found it. Throws Failure. */
  checkCreated(row: SelectedRow, record: JsonObject): Promise<void>;
  /** Called with a row's failure before it is reported. */
  failed(error: Failure, row: SelectedRow): void;
}

/** The rows of an input. */
export interface Selection {
  readonly rows: readonly SelectedRow[];
  /** The header of the input, for `--results`; by default `id`. */
  readonly header?: readonly string[];
  /** The documented names of the columns of a CSV that are read. */
  readonly columns?: readonly string[];
  /** The word for a row of the file in messages: `Line`, or `Row` in a workbook. */
  readonly rowWord?: string;
  /** True if the column that names the records holds values without a prefix, as `--key` reads them. */
  readonly isPlainKey?: boolean;
  /** A note for the user, on unused columns. */
  readonly note?: string | undefined;
  /** Digest of the entire content; the same input has the same digest. */
  readonly digest: string;
}

/** The rows of a preview: those to write, and those that are decided already. */
export interface PreviewedRows {
  readonly tasks: readonly Task[];
  readonly decided: readonly ReportRow[];
  /** The names of the first rows' records, by id. */
  readonly names?: ReadonlyMap<string, string> | undefined;
}

/** How much a preview lists. */
export interface PreviewStyle {
  /** A question follows, which `l` answers with all rows. */
  readonly canAsk: boolean;
  /** The rows that are listed: by default the first ones; `changes`: all but the unchanged ones. */
  readonly lists?: 'first' | 'changes' | 'all';
}

/**
 * When the user must confirm before the first write: `never` (the operation only adds), `several` (for
 * more than one row), `always`, `count` (always; for more than one row by typing the number), or `name`
 * (by typing the record's name, or with --confirm).
 */
export type ConfirmRule = 'never' | 'several' | 'always' | 'count' | 'name';

/** Rows that stand for local files: how interrupted ones are resumed, and how a plan file holds them. */
export interface FileRows {
  /** The command that finishes an unfinished run, without the program's name. */
  finishCommand(run: Pick<RunHead, 'run'>): string;
  /** The command that discards what is left of an unfinished run, without the program's name. */
  forgetCommand(run: Pick<RunHead, 'run'>): string;
  /** The subject of a row, since its id is only the text typed; undefined: no earlier run can have had the same. */
  readonly subjectOf: (row: SelectedRow) => string | undefined;
  /** Inspects the files of a retry's rows again. */
  inspectAgain(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
  /**
   * Adds to each row of a plan file the hash of its file, and drops what only this machine knows. Throws
   * UsageError for a file that cannot be read again (stdin), InputError.
   */
  seal(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
  /**
   * Finds the files of sealed rows again, perhaps on another machine. A row whose file is missing or has
   * another content gets that as its problem, so that its plan throws InputError.
   */
  unseal(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
}

/** The change that a command makes to its records, which types `values` and `job`; the engine handles the rest. */
export interface Operation {
  readonly resource: ResourceName;
  readonly confirm: ConfirmRule;
  /** Its effect on records, by which reports and later commands word its runs. */
  readonly verb: RunVerb;
  /** Prints a bulk report even for one id. */
  readonly reports?: boolean;
  /** The columns that a CSV may have; absent: the command has no --csv. */
  readonly csv?: ColumnRules;
  /** The columns that flags overrule, each with its flag. */
  overrules?(values: object): ReadonlyMap<string, string>;
  readonly filters?: Filters;
  /** The source of rows that are not records: files, or one record to create. */
  rows?(context: Context, values: object): Promise<Selection>;
  /**
   * Replaces the rows of `rows` by what they stand for at the service, read once no earlier write can
   * take effect any more; undefined leaves them as they are. Throws Failure.
   */
  resolve?(): Promise<readonly SelectedRow[] | undefined>;
  /**
   * Its rows are selected anew each time, as by a filter: an unfinished run of the same command line is
   * replaced, after what it may have sent was finished.
   */
  readonly selectsAnew?: boolean;
  /** True if a single positional stands for many rows (a folder). */
  isMany?(values: object): boolean | Promise<boolean>;
  /** Not idempotent: if the previous run finished but its report was never printed, print that report. */
  readonly addsEachTime?: boolean;
  /** The run that it undoes. */
  readonly of?: string;
  readonly previewNotes?: (preview: PreviewedRows) => readonly string[];
  /** The lines of its preview; absent or undefined if they are those of every change. */
  readonly describePreview?: (
    rows: PreviewedRows,
    how: PreviewStyle,
  ) => readonly string[] | undefined;
  /** Locks each row's record in a bulk run too, because two processes must not write it at once. */
  readonly locksRows?: boolean;
  /** The invocation's values as plain JSON, stored in the run's plan until it is finished. */
  job(context: Context, values: object): Promise<JsonObject>;
  /** The part of the job by which two command lines count as the same; by default all of it. */
  identity?(job: JsonObject): JsonObject;
  /** Checks that job and rows together define a change. Throws UsageError. */
  checkRows?(job: JsonObject, selection: Partial<Selection>, source: Source): void;
  /** Checks the command line before anything is read. Throws UsageError, InputError. */
  check?(values: object): Promise<void> | void;
  /**
   * Asks if the write of the only row would lose something (notes); returns the job as answered.
   * Throws UsageError, CancelledError.
   */
  ask?(context: Context, job: JsonObject, row: Task, record: JsonObject): Promise<JsonObject>;
  /** Opens a session with the result of `job`, possibly in a later process. */
  open(context: Context, job: object): Session;
  /** Returns the command that shows whether a create with an unknown outcome made its record. */
  findMade?(job: object): string;
  /** Present if its rows stand for local files. */
  readonly files?: FileRows;
  /** The hash of the plan file that it applies. */
  readonly plan?: string;
  /** Learns which rows of its run `runs resume` or `runs retry` brought to their target. */
  onResumed?(context: Context, done: readonly SelectedRow[]): Promise<void>;
  /** Returns why nothing may be sent after this preview: records are no longer as the plan file says. */
  refuses?(preview: PreviewedRows): Failure | undefined;
  /**
   * Runs the command while holding a resource it needs (stdin in a file); `use` receives
   * replacements for parts of the operation.
   */
  bind?(
    context: Context,
    values: object,
    use: (parts: Partial<Operation>) => Promise<CommandOutput>,
  ): Promise<CommandOutput>;
}
