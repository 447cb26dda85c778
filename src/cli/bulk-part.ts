import type { ResourceName } from '../api/contract.js';
import type { ColumnRules } from '../bulk/csv-columns.js';
import type { RunHead, RunStore, StoredRun } from '../bulk/runs.js';
import type { Selection } from '../bulk/selection.js';
import type { ByteCount, SelectedRow } from '../bulk/work.js';
import type { Guesses } from '../config/settings.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import type { Failure } from '../errors.js';
import type { RecordTest } from '../data/record-test.js';
import type { Plan } from './plan.js';

/** Where the rows of a command line come from. */
export type Source = 'ids' | 'idsFile' | 'csv' | 'filter';

/** How a command changes many things. */
export interface BulkPart {
  readonly resource: ResourceName;
  /** What a CSV may say; absent: the command has no --csv. */
  readonly rules?: ColumnRules;
  /** The columns for which the command line speaks itself, by the flag that does. */
  overrules?(values: never): ReadonlyMap<string, string>;
  /** The flags that select, by name, and what they mean; absent: the command has none. */
  readonly filters?: {
    readonly names: readonly string[];
    tests(values: never, now: Date): readonly RecordTest[];
    /** What of them the service is asked to do, by the admin's word. */
    query?(values: never, guesses: Guesses): { readonly [name: string]: string };
  };
  /** Asks also for a single row (delete, convert). */
  readonly asksForOne?: boolean;
  /** Asks for many only: what it does adds and changes nothing (uploads). */
  readonly neverAsks?: boolean;
  /** Where its rows come from, if these are no records: files. Throws InputError, UsageError. */
  rows?(context: Context, values: never): Promise<Selection>;
  /** The rows of a retry as they are now, where a run keeps what it saw of them. */
  lookAgain?(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
  /** Whether one positional is many things all the same (a folder). */
  isMany?(values: never): boolean | Promise<boolean>;
  /** Done once more it makes things twice: a run whose report nobody saw is told, not begun anew. */
  readonly addsEachTime?: boolean;
  /** Whether such a run, when it ends, leaves something that only its journal knows of. */
  isLeft?(stored: StoredRun): boolean;
  /** Whether what this run made has to stay known although nothing of it is left to do. */
  isEvidence?(store: RunStore, head: RunHead): Promise<boolean>;
  /** The rows of a run, also of one that has ended, that can be finished. */
  unfinishedRows?(stored: StoredRun): readonly number[];
  /** The command that goes on with an unfinished run, without the program's name. */
  readonly goOn?: (run: Pick<RunHead, 'run' | 'alone'>) => string;
  /** What a row is about, where its id is only how that was typed; undefined: nothing came before it. */
  subjectOf?(row: SelectedRow): string | undefined;
  /** What is wanted of every row, as plain JSON: it is kept until the run is finished. */
  job(context: Context, values: never): Promise<JsonObject>;
  /** Whether the job and the rows together say what to do. Throws UsageError. */
  checkRows?(job: JsonObject, rows: readonly SelectedRow[], source: Source): void;
  /** Takes what `job` gave, maybe in another process. */
  open(context: Context, job: never): BulkJob;
}

/** A job at work. */
export interface BulkJob {
  /** How often a lost write may be sent again after reading said that it was not done. */
  readonly resends: number;
  /**
   * The record as it stands now, or where not `fresh` as a list shared with other rows shows it;
   * undefined where the key may not read it.
   */
  read(id: string, how: { readonly fresh: boolean }): Promise<JsonObject | undefined>;
  plan(row: SelectedRow, record: JsonObject | undefined): Plan | Promise<Plan>;
  /** The fields that a plan compares: a list that leaves one of them out is no evidence for the row. */
  compares?(row: SelectedRow): readonly string[];
  /**
   * What a write of this row made whose answer was lost and which was written down then (`since`);
   * undefined where it provably made nothing. Throws Failure where reading cannot tell.
   */
  witness?(row: SelectedRow, since: number): Promise<JsonObject | undefined>;
  /** What goes before the write; gives the plan that it made possible. */
  prepare?(plan: Plan, row: SelectedRow, step: (entry: JsonObject) => Promise<void>): Promise<Plan>;
  /** Sends the planned calls; an outcome that is open is thrown, not settled. */
  send(plan: Plan, id: string): Promise<unknown>;
  /** What `send` would have checked of the record that the witness found. Throws Failure. */
  confirm?(row: SelectedRow, record: JsonObject): Promise<void>;
  readonly bytes?: ByteCount;
  /** Told of a row that ended so, before it is reported. */
  failed?(error: Failure, id: string): void;
  made?(value: unknown): JsonObject | undefined;
  madeOf?(record: JsonObject): JsonObject | undefined;
  isGone?(error: Failure): boolean;
}
