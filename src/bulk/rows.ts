/** The rows of a run: what the input names, and what is changed of each. */
import type { JsonObject } from '../data/json.js';

/** One field of one record, as read and as wanted. */
export interface RowChange {
  readonly field: string;
  /** Undefined: the record does not have the field. */
  readonly from: unknown;
  readonly to: unknown;
  /** The line that is added to whatever the field holds (`--append-note`): another writer's change is no conflict. */
  readonly adds?: string;
}

/** One record of a run: where the input named it, and what the input wants for it alone. */
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
  /** What the steps of an earlier process left of this row (an upload's key). */
  readonly steps?: JsonObject | undefined;
  /** What the preview saw; absent while it looks. */
  readonly previewed?: readonly RowChange[] | undefined;
}

/** A step that was written and confirmed while its row has more to do. */
export interface DoneStep {
  readonly step: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Some of these rows, by their numbers; of 200,000 it takes a byte each. */
export class RowSet {
  private readonly rows: Uint8Array;

  constructor(all: readonly { readonly row: number }[]) {
    this.rows = new Uint8Array(all.reduce((last, { row }) => Math.max(last, row), 0) + 1);
  }

  add(row: number): void {
    this.rows[row] = 1;
  }

  delete(row: number): void {
    this.rows[row] = 0;
  }

  has(row: number): boolean {
    return this.rows[row] === 1;
  }
}
