import type { JsonObject } from '../data/json.js';
import type { Condition } from '../data/where.js';
import type { Failure } from '../errors.js';

/** One field of one record, as read and as wanted. */
export interface RowChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** One thing to change: where the input named it, and what the input wants for it alone. */
export interface SelectedRow {
  /** 1-based place among the ids, or the line of the input. */
  readonly row: number;
  readonly id: string;
  /** Values of its own, out of a CSV row; plain JSON. */
  readonly own?: JsonObject | undefined;
  /** The record as a list showed it, where a filter selected it. */
  readonly record?: JsonObject | undefined;
  /** The cells of the input as they came, for `--results`; absent: the id is all there was. */
  readonly cells?: readonly string[] | undefined;
  /** What the steps of an earlier process left of this row. */
  readonly steps?: JsonObject | undefined;
  /** What the preview saw; absent while it looks. */
  readonly previewed?: readonly RowChange[] | undefined;
}

/** What a look at the record says about a row. */
export interface Look<P> {
  readonly record: JsonObject | undefined;
  /** Empty = it is so already. */
  readonly changes: readonly RowChange[];
  /** What `send` gets. */
  readonly plan: P;
  /** Why the row is left alone whatever it would change. */
  readonly skipped?: { readonly code: string; readonly message: string } | undefined;
}

/** Bytes that were moved, for the progress line. */
export interface ByteCount {
  readonly done: number;
  /** What a row will move. */
  of(row: SelectedRow): number;
}

/** When a row is changed at all (`--if-status`, `--if`). */
export interface Guards {
  readonly ifStatus?: readonly string[] | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/**
 * When a record is looked at: for the preview, where rows may share a list; at the row's turn; or
 * because an earlier write of the row may have been done that was written down at `since`
 * (milliseconds since 1970). The last two see it as it stands then.
 */
export type Moment = 'preview' | 'turn' | { readonly since: number };

/** What a run is handed; it knows no resource. */
export interface RowWork<P> {
  readonly guards: Guards;
  /** How often a write whose outcome is open may be sent again after reading said "not done". */
  readonly resends: number;
  /** Reads the record and compares. Throws Failure, also where nothing that is read can tell. */
  look(row: SelectedRow, when: Moment): Promise<Look<P>>;
  /**
   * What has to be done before the write and is no write of the record itself (a file's bytes go to
   * the store); each step is on disk before the next. Throws Failure.
   */
  prepare?(
    look: Look<P>,
    row: SelectedRow,
    step: (entry: JsonObject) => Promise<void>,
  ): Promise<Look<P>>;
  readonly bytes?: ByteCount | undefined;
  /** Sends the row's write once; an unreadable outcome is thrown, not settled. */
  send(look: Look<P>, row: SelectedRow): Promise<unknown>;
  /** Whether this failure of a look proves that the write of an earlier attempt is done (a delete). */
  isGone?(error: Failure): boolean;
  /** What the row says of the thing that `send` made: its new id. */
  made?(value: unknown): JsonObject | undefined;
  /** The same of a write that reading found done. Throws the Failure of what `send` would have checked. */
  madeOf?(record: JsonObject, row: SelectedRow): Promise<JsonObject | undefined>;
  /** An error as the report shows it. */
  tell(error: Failure, id: string): unknown;
}
