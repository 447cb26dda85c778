import { ApiError, Failure, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { ReportRow } from './report.js';

/** One field of one record, as read and as wanted. */
export interface RowChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** A row before its write: what it would change, or why that cannot be said. */
export interface PlannedRow<P> {
  readonly row: number;
  readonly id: string;
  readonly plan?: P;
  readonly problem?: Failure;
}

/** What the sequence is handed; it knows no resource. */
export interface RowWork<P> {
  /** Reads only. */
  plan(id: string): Promise<P>;
  changes(plan: P): readonly RowChange[];
  /** Whether anything would be sent. */
  writes(plan: P): boolean;
  apply(plan: P, id: string): Promise<unknown>;
  /** What the row says of the thing that `apply` made: its new id. */
  made?(value: unknown): Readonly<Record<string, unknown>> | undefined;
  /** An error as the report shows it. */
  tell(error: Failure, id: string): unknown;
}

const stopAfterFailures = 5;

/** Reads every row's present state, in order. A refused key stops it; any other trouble belongs to its row. */
export async function planRows<P>(
  ids: readonly string[],
  work: Pick<RowWork<P>, 'plan'>,
): Promise<readonly PlannedRow<P>[]> {
  const rows: PlannedRow<P>[] = [];
  for (const [index, id] of ids.entries()) {
    try {
      rows.push({ row: index + 1, id, plan: await work.plan(id) });
    } catch (error) {
      if (!(error instanceof Failure) || stopsRun(error)) throw error;
      rows.push({ row: index + 1, id, problem: error });
    }
  }
  return rows;
}

/**
 * Writes the planned rows one after another, reading each again right before: a row that holds
 * neither the previewed value nor the target is a conflict and is not overwritten.
 */
export async function applyRows<P>(
  planned: readonly PlannedRow<P>[],
  work: RowWork<P>,
  options: { readonly aborted: () => boolean; readonly onRow?: (row: ReportRow) => void },
): Promise<{ rows: readonly ReportRow[]; stopped: ExitName | undefined }> {
  const rows: ReportRow[] = [];
  let stopped: ExitName | undefined;
  let inARow = 0;
  for (const row of planned) {
    const result: ReportRow =
      stopped !== undefined || options.aborted()
        ? { row: row.row, id: row.id, result: 'not_attempted' }
        : await applyRow(row, work).catch((error: unknown) => {
            if (!(error instanceof Failure)) throw error;
            if (stopsRun(error)) stopped = error.exitName;
            return failedRow(row, error, work);
          });
    inARow = result.result === 'not_attempted' ? inARow + 1 : 0;
    if (inARow >= stopAfterFailures && stopped === undefined) stopped = 'temporary';
    rows.push(result);
    options.onRow?.(result);
  }
  return { rows, stopped };
}

/** What a dry run reports of the planned rows. */
export function dryRows<P>(planned: readonly PlannedRow<P>[], work: RowWork<P>): ReportRow[] {
  return planned.map((row) => {
    if (!row.plan) return failedRow(row, row.problem ?? new NeverPlanned(), work);
    const result = work.writes(row.plan) ? 'would_change' : 'unchanged';
    return { row: row.row, id: row.id, result, ...beforeAfter(work.changes(row.plan)) };
  });
}

async function applyRow<P>(row: PlannedRow<P>, work: RowWork<P>): Promise<ReportRow> {
  if (!row.plan) throw row.problem ?? new NeverPlanned();
  const at = { row: row.row, id: row.id };
  if (!work.writes(row.plan))
    return { ...at, result: 'unchanged', ...beforeAfter(work.changes(row.plan)) };
  const fresh = await work.plan(row.id);
  const changes = work.changes(fresh);
  if (!work.writes(fresh)) return { ...at, result: 'unchanged', ...beforeAfter(changes) };
  const moved = movedField(work.changes(row.plan), changes);
  if (moved)
    return {
      ...at,
      result: 'conflict',
      before: { [moved.field]: moved.from },
      error: movedError(moved.field),
    };
  const value = await work.apply(fresh, row.id);
  const { before, after } = beforeAfter(changes);
  const made = work.made?.(value);
  return {
    ...at,
    result: 'changed',
    ...(before && { before }),
    ...((after || made) && { after: { ...after, ...made } }),
  };
}

function movedField(
  previewed: readonly RowChange[],
  fresh: readonly RowChange[],
): RowChange | undefined {
  return fresh.find((change) => {
    const before = previewed.find((other) => other.field === change.field);
    return !before || JSON.stringify(before.from) !== JSON.stringify(change.from);
  });
}

function movedError(field: string) {
  return {
    code: 'changedMeanwhile',
    kind: 'conflict',
    message: `${field} was changed by someone else after the preview.`,
  };
}

function failedRow<P>(row: PlannedRow<P>, error: Failure, work: RowWork<P>): ReportRow {
  return { row: row.row, id: row.id, result: resultOf(error), error: work.tell(error, row.id) };
}

function resultOf(error: Failure): ReportRow['result'] {
  if (error instanceof UnknownOutcomeError) return 'unknown';
  if (error instanceof ApiError && error.status === 409) return 'conflict';
  if (error.exitName === 'temporary' || stopsRun(error)) return 'not_attempted';
  return 'failed';
}

/** 401 and a plan without API access concern every row. */
function stopsRun(error: Failure): boolean {
  if (error.exitName === 'unauthenticated') return true;
  return error instanceof ApiError && error.serviceCode === 'featureNotAvailable';
}

function beforeAfter(changes: readonly RowChange[]): Pick<ReportRow, 'before' | 'after'> {
  if (changes.length === 0) return {};
  return {
    before: Object.fromEntries(changes.map((change) => [change.field, change.from])),
    after: Object.fromEntries(changes.map((change) => [change.field, change.to])),
  };
}

class NeverPlanned extends Failure {
  readonly kind = 'bug';
  readonly exitName = 'failed';
  readonly code = 'bug';
  constructor() {
    super('The row was never planned.');
  }
}
