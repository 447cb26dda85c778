/** The report of a run: the result of each row, their summary, and the exit code. */
import type { FailedItem } from '../cli/command-output.js';
import type { Context } from '../context.js';
import { reportColumns } from '../data/csv.js';
import type { JsonObject } from '../data/json.js';
import { RunError } from '../data/outcome-errors.js';
import { resourceWords } from '../data/resources.js';
import { groupedNumber } from '../data/text.js';
import { type Failure, UnknownOutcomeError } from '../errors.js';
import { type ExitName, mostSevere } from '../exit-codes.js';
import { type Action, nothingToDo, verbOf, verbOfAction, verbs } from './verb.js';

/** One changed field of a record: its value as read, and its target. */
export interface RowChange {
  readonly field: string;
  /** Undefined if the record does not have the field. */
  readonly from: unknown;
  readonly to: unknown;
  /** The line to append to whatever the field holds (`--append-note`); another writer's change is then no conflict. */
  readonly adds?: string;
}

/** One record of a run: its position in the input, and the values that the input gives for it alone. */
export interface SelectedRow {
  /** 1-based place among the ids, or the line of the input. */
  readonly row: number;
  /** Empty until the reference is resolved. */
  readonly id: string;
  /** The reference that named the record, to which it must still answer before a write. */
  readonly ref?: string | undefined;
  /** The row's own values, from a CSV; plain JSON. */
  readonly own?: JsonObject | undefined;
  /** The record as listed, if a filter selected it. */
  readonly record?: JsonObject | undefined;
  /** The input's cells unchanged, for `--results`; absent if the input had only an id. */
  readonly cells?: readonly string[] | undefined;
  /** Values that earlier processes recorded in this row's steps (an upload's key). */
  readonly steps?: JsonObject | undefined;
  /** The changes that the preview found; absent during the preview. */
  readonly previewed?: readonly RowChange[] | undefined;
}

/** A confirmed step of a row that has more steps. */
export interface DoneStep {
  readonly step: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** The result of a row whose first step is done, and whose second one was not sent. */
export function unsentResult(
  done: DoneStep,
): Pick<ReportRow, 'result' | 'before' | 'after' | 'step' | 'retryable'> {
  return { result: 'failed', ...firstStepOf(done), retryable: true };
}

/** The part of a row's result that describes its finished first step. */
export function firstStepOf(
  done: DoneStep | undefined,
): Pick<ReportRow, 'before' | 'after' | 'step'> {
  if (!done) return {};
  const { before, after, step } = done;
  return { before, after, step };
}

/** How a row ended whose first step may be done: whatever stops the second step, the first one stays done. */
export function endAfter(done: DoneStep | undefined, end: RowEnd): RowEnd {
  if (!done) return end;
  const result = end.result === 'conflict' ? 'failed' : end.result;
  const first = wentWrong(end.result) ? firstStepOf(done) : {};
  const known = end.result === 'not_attempted' ? unsentResult(done) : { result, ...first };
  // Twice: the first decides the order, the second the values.
  return { ...known, ...end, ...known };
}

/** How one row of a bulk write ended, by the name of its count in a summary. */
const resultByCount = {
  changed: 'changed',
  unchanged: 'unchanged',
  skipped: 'skipped',
  failed: 'failed',
  conflict: 'conflict',
  unknown: 'unknown',
  notAttempted: 'not_attempted',
  wouldChange: 'would_change',
} as const;
type CountName = keyof typeof resultByCount;
export type RowResult = (typeof resultByCount)[CountName];
export const rowResults: readonly RowResult[] = Object.values(resultByCount);

/** Why a row was not changed. */
export interface RowError {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly hint?: string;
  /** The body of the service's refusal, which a journal does not keep. */
  readonly service?: unknown;
}

/** A type rather than an interface, so that a row can be rendered like any other record. */
export type ReportRow = {
  /** 1-based place among the ids, or the line of the input. */
  readonly row: number;
  readonly id: string;
  /** The reference that named the record. */
  readonly ref?: string;
  readonly result: RowResult;
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  readonly error?: RowError;
  /** The first step, if it is done although the row failed: `accepted`. */
  readonly step?: string;
  /** Fields that an update by PUT made vanish. */
  readonly vanished?: readonly string[];
  /** The remaining step may be tried again, so the run counts as unfinished. */
  readonly retryable?: boolean;
};

/** The fields of a row, in the order of the columns. */
export const reportRowFields = reportColumns satisfies readonly (keyof ReportRow)[];

/** How a row ended, without its number and reference; `id`: the new id of its record, if it got one. */
export type RowEnd = Omit<ReportRow, 'row' | 'id' | 'ref'> & { readonly id?: string };

/** Returns the row of a report for a row that ended so. */
export function reportRow({ row, id, ref }: SelectedRow, end: RowEnd): ReportRow {
  return { row, id, ...(ref !== undefined && { ref }), ...end };
}

/** True for a final result; other rows are tried again when the run is resumed. */
export function isFinalRow({
  result,
  retryable,
}: Pick<ReportRow, 'result' | 'retryable'>): boolean {
  return result !== 'unknown' && result !== 'not_attempted' && !retryable;
}

const nouns: ReadonlyMap<string | undefined, string> = new Map(
  Object.entries(resourceWords).map(([resource, { noun }]) => [resource, noun]),
);

/** True if the row is the deletion of a record: by a delete, or by an undo of what created it. */
export function isDeletion(
  { action, resource }: Action,
  { after = {} }: Pick<ReportRow, 'after'>,
): boolean {
  const verb = verbOfAction(action);
  if (verb !== 'undo') return verb === 'delete';
  const noun = nouns.get(resource) ?? '';
  return after[noun] === null && Object.keys(after).length === 1;
}

/** True if `--max-errors` counts the result. */
export function countsAsError(result: RowResult): boolean {
  return result === 'failed' || result === 'conflict';
}

/** True if the row needs attention: it counts as an error, or its outcome is unknown. */
export function wentWrong(result: RowResult): boolean {
  return countsAsError(result) || result === 'unknown';
}

/** True if the row needs no attention: its record is as asked for, or was left alone on purpose. */
export function endedWell({ result }: ReportRow): boolean {
  return result === 'changed' || result === 'unchanged' || result === 'skipped';
}

/** True if the record holds what the row set. */
export function isAtTarget({ result }: Pick<ReportRow, 'result'>): boolean {
  return result === 'changed' || result === 'unchanged';
}

/** The output of a bulk write, whatever its exit code. */
export interface BulkReport {
  readonly schema: 1;
  readonly run: string | null;
  /** The run that this one undoes. */
  readonly of?: string;
  /** The hash of the plan file that it applies, or that was written. */
  readonly plan?: string;
  readonly profile: string;
  readonly organization: string;
  readonly action: string;
  readonly dryRun: boolean;
  readonly summary: ReportSummary;
  readonly results: readonly ReportRow[];
}

/** How many rows there are, and of each result; `wouldChange` only in a dry run. */
export type ReportSummary = { readonly total: number } & {
  readonly [name in Exclude<CountName, 'wouldChange'>]: number;
} & { readonly wouldChange?: number };

/** Counts the rows by result; each row counts once. */
export function summarize(rows: readonly ReportRow[], dryRun = false): ReportSummary {
  const counts = new Map<RowResult, number>();
  for (const { result } of rows) counts.set(result, (counts.get(result) ?? 0) + 1);
  const byName = Object.entries(resultByCount)
    .filter(([name]) => dryRun || name !== 'wouldChange')
    .map(([name, result]) => [name, counts.get(result) ?? 0] as const);
  return { total: rows.length, ...Object.fromEntries(byName) } as ReportSummary;
}

/** The exit code of a run, given the reason it stopped, if any (docs, section 6). */
export function exitOf(
  { summary, results }: Pick<BulkReport, 'summary' | 'results'>,
  stopped: ExitName | undefined,
): ExitName {
  const { unknown, notAttempted, failed, conflict } = summary;
  const isUnfinished = notAttempted > 0 || results.some(({ retryable }) => retryable);
  return mostSevere([
    ...(stopped === undefined ? [] : [stopped]),
    ...(unknown > 0 ? ['unknownOutcome' as const] : []),
    ...(stopped === undefined && isUnfinished ? ['temporary' as const] : []),
    ...(failed + conflict > 0 ? ['rowsFailed' as const] : []),
  ]);
}

/** The facts of a report about the run itself; the name is null for a run that was not kept. */
type ReportHead = Pick<BulkReport, 'run' | 'action'> & {
  readonly of?: string | undefined;
  readonly plan?: string | undefined;
};

/** Builds the report of a run from all its rows. */
export function reportOf(
  { settings: { profile, dryRun }, api }: Context,
  head: ReportHead,
  rows: readonly ReportRow[],
): BulkReport {
  const place = { profile: profile.name, organization: api.organizationId };
  return bulkReport({ ...head, ...place }, rows, summarize(rows, dryRun), dryRun);
}

/** A report, in the order of its fields and its rows. */
export function bulkReport(
  {
    run,
    of,
    plan,
    profile,
    organization,
    action,
  }: ReportHead & Pick<BulkReport, 'profile' | 'organization'>,
  rows: readonly ReportRow[],
  summary: ReportSummary,
  dryRun: boolean,
): BulkReport {
  return {
    schema: 1,
    run,
    ...(of !== undefined && { of }),
    ...(plan !== undefined && { plan }),
    profile,
    organization,
    action,
    dryRun,
    summary,
    results: rows.toSorted((a, b) => a.row - b.row),
  };
}

/** The error that stopped a run, or one that says how it failed and with what to go on; undefined if it succeeded. */
export function failedRun(
  report: BulkReport,
  exitName: ExitName,
  error?: Failure,
  nextCommand?: (how: 'resume' | 'retry', count: number) => string,
): FailedItem | undefined {
  if (exitName === 'done') return undefined;
  const { summary, results } = report;
  // An unknown outcome that was verified later is not why the run failed.
  const isVerified = error instanceof UnknownOutcomeError && summary.unknown === 0;
  if (error && !isVerified) return { error };
  const unended = results.filter((row) => !isFinalRow(row));
  const wrong = results.filter(({ result }) => wentWrong(result));
  const isOpen = unended.length > 0;
  // A create in doubt is never sent again by resuming: its closing line says how to go on.
  const isCreateInDoubt = verbOf(report) === verbs.create && summary.unknown > 0;
  const canGoOn = exitName === 'rowsFailed' || (isOpen && !isCreateInDoubt);
  const [how, rows] = isOpen ? (['resume', unended] as const) : (['retry', wrong] as const);
  const hint = canGoOn ? nextCommand?.(how, rows.length) : undefined;
  return { error: new RunError(`${summaryLine(report)}.`, exitName, { hint }) };
}

/** The result of a row as a word: `changed`, or what the action did; `not sent` for `not_attempted`. */
export function resultWord(result: RowResult, action: Action): string {
  if (result === 'changed') return verbOf(action).done;
  if (result === 'not_attempted') return 'not sent';
  return result === 'would_change' ? `would ${verbOf(action).would}` : result;
}

/** `9 changed, 1 in conflict, 1 failed, of 11`, in words of the action; zero counts are left out. */
export function summaryLine(
  report: Pick<BulkReport, 'summary' | 'action'>,
  action: Action = report,
): string {
  const { total, ...counts } = report.summary;
  if (total === 0) return nothingToDo(action);
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => {
      const word = resultWord(resultByCount[name as CountName], action);
      return `${groupedNumber(count)} ${word === 'conflict' ? 'in conflict' : word}`;
    });
  return `${parts.join(', ') || 'nothing done'}${parts.length === 1 ? '' : `, of ${groupedNumber(total)}`}`;
}
