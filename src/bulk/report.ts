/** The report of a run: what became of each row, and how that adds up. */
import type { JsonObject } from '../data/json.js';
import { type ExitName, mostSevere } from '../exit-codes.js';

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

/** How one row of a bulk write ended. */
export const rowResults = [
  'changed',
  'unchanged',
  'skipped',
  'failed',
  'conflict',
  'unknown',
  'not_attempted',
  'would_change',
] as const;
export type RowResult = (typeof rowResults)[number];

/** A type and no interface: a row is a record like any other when it is shown. */
export type ReportRow = {
  /** 1-based place among the ids, or the line of the input. */
  readonly row: number;
  readonly id: string;
  readonly result: RowResult;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
  /** The first step of a row that is done although the row failed: `accepted`. */
  readonly step?: string;
  /** Fields that a route which replaces the whole record made vanish. */
  readonly vanished?: readonly string[];
  /** The rest of the row may be tried again: its run is unfinished. */
  readonly retryable?: boolean;
};

/** Results that stand for good; the others are tried again when the run is resumed. */
export function isFinalRow({
  result,
  retryable,
}: Pick<ReportRow, 'result' | 'retryable'>): boolean {
  return result !== 'unknown' && result !== 'not_attempted' && !retryable;
}

/** Whether what an action (`players.delete`) changes is gone afterwards. */
export function isDelete(action: string): boolean {
  return action.endsWith('.delete');
}

/** Whether `--max-errors` counts a row. */
export function countsAsError(result: RowResult): boolean {
  return result === 'failed' || result === 'conflict';
}

/** Whether a person has to look at a row: it counts as an error, or its outcome is not known. */
export function wentWrong(result: RowResult): boolean {
  return countsAsError(result) || result === 'unknown';
}

/** What a write to several things prints, whatever the exit code. */
export interface BulkReport {
  readonly schema: 1;
  readonly run: string | null;
  /** The run that this one takes back. */
  readonly of?: string;
  readonly profile: string;
  readonly organization: string;
  readonly action: string;
  readonly dryRun: boolean;
  readonly summary: ReportSummary;
  readonly results: readonly ReportRow[];
}

export interface ReportSummary {
  readonly total: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly failed: number;
  readonly conflict: number;
  readonly unknown: number;
  readonly notAttempted: number;
  readonly wouldChange?: number;
}

/** Counts the rows; every row counts exactly once. */
export function summarize(rows: readonly ReportRow[], options: { dryRun: boolean }): ReportSummary {
  const counts = new Map<RowResult, number>();
  for (const { result } of rows) counts.set(result, (counts.get(result) ?? 0) + 1);
  const count = (result: RowResult) => counts.get(result) ?? 0;
  return {
    total: rows.length,
    changed: count('changed'),
    unchanged: count('unchanged'),
    skipped: count('skipped'),
    failed: count('failed'),
    conflict: count('conflict'),
    unknown: count('unknown'),
    notAttempted: count('not_attempted'),
    ...(options.dryRun && { wouldChange: count('would_change') }),
  };
}

/** The exit code of a run, and of why it was stopped if it was (docs, section 6). */
export function exitOf(
  { summary, results }: Pick<BulkReport, 'summary' | 'results'>,
  stopped: ExitName | undefined,
): ExitName {
  const { unknown, notAttempted, failed, conflict } = summary;
  const isLeft = notAttempted > 0 || results.some(({ retryable }) => retryable);
  return mostSevere([
    ...(stopped === undefined ? [] : [stopped]),
    ...(unknown > 0 ? ['unknownOutcome' as const] : []),
    ...(stopped === undefined && isLeft ? ['temporary' as const] : []),
    ...(failed + conflict > 0 ? ['rowsFailed' as const] : []),
  ]);
}
