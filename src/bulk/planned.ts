/** What planning a run comes to: a run about to send, or the report of one that sends nothing. */
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import type { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { HeldLock } from '../files/lock.js';
import { hasQuery, holds } from './before-images.js';
import { isForbidden, stopsRun } from './decide.js';
import type { EndedRun, PlannedRun } from './execute.js';
import { failedRun, reportOf } from './report-view.js';
import type { Invocation, KeptJob } from './invocation.js';
import { hashOf } from './journal.js';
import type { Session, Task } from './operation.js';
import { exitOf, isFinalRow, type ReportRow } from './report.js';
import { concludeResults } from './results-file.js';
import type { SelectedRow } from './rows.js';
import type { RunHead, RunPlan, RunStore } from './runs.js';

/** What a run starts from, once its lock is held. */
export interface RunSetup {
  /** Undefined where no run can be kept. */
  readonly store: RunStore | undefined;
  readonly head: Omit<RunHead, 'rows'>;
  readonly lock: HeldLock | undefined;
  readonly kept: KeptJob;
  readonly input: {
    readonly header: readonly string[];
    /** Undefined: a filter selects them. */
    readonly rows: readonly SelectedRow[] | undefined;
  };
}

/** A run about to send, or how it ended where nothing is to be sent. */
export type Planned =
  | { readonly ready: PlannedRun }
  | (EndedRun & { readonly only?: OnlyRow | undefined });

/** What is known of the only row of a command line whose record needs nothing. */
export interface OnlyRow {
  readonly session: Session;
  readonly record: JsonObject | undefined;
  readonly failure?: Failure | undefined;
}

/** What the service says to all rows of a run; other failures are those of the line or of the person. */
export function stopsEveryRow(error: Failure): boolean {
  return stopsRun(error) || isForbidden(error) || error.exitName === 'temporary';
}

export function notAttempted({ row, id }: SelectedRow): ReportRow {
  return { row, id, result: 'not_attempted' };
}

/** The report of a command line that sent nothing. */
export async function endUnsent(
  context: Context,
  head: Pick<RunHead, 'action'>,
  { results }: Invocation['values'],
  read: Parameters<typeof concludeResults>[2],
  found: readonly ReportRow[],
  stop?: ExitName,
): Promise<EndedRun> {
  const report = reportOf(context, { ...head, run: null }, found);
  const ended = exitOf(report, stop);
  const exitName = await concludeResults(context, results, read, found, ended);
  return { report, exitName, failed: failedRun(report, exitName) };
}

export function planOf(
  head: RunHead,
  kept: KeptJob,
  rows: readonly Task[],
  tasks: readonly Task[],
  isKey: (text: string) => boolean,
): RunPlan {
  const isSecret = (text: string) => isKey(text) || hasQuery(text);
  let next = 0;
  return {
    head,
    job: kept,
    // The tasks themselves, which come in the same order: of 200,000 there is no second copy.
    rows: rows.map(({ row, id, own }) => {
      const task = tasks[next];
      if (task?.row !== row) return { row, id, own };
      next += 1;
      const { previewed } = task;
      if (!previewed?.some(({ from }) => holds(from, isSecret))) return task;
      const hashed = previewed.map((change) =>
        holds(change.from, isSecret) ? { ...change, from: hashOf(change.from) } : change,
      );
      return { ...task, previewed: hashed };
    }),
  };
}

/** Rows that the preview could not read for now: they are tried once more. */
export function unread(plan: RunPlan, decided: readonly ReportRow[]): readonly Task[] {
  const open = new Set(decided.filter((row) => !isFinalRow(row)).map(({ row }) => row));
  return plan.rows.filter(({ row }) => open.has(row));
}

export function scrubbed(row: ReportRow): JsonObject {
  const { before: _, after: __, ...rest } = row;
  return rest;
}
