/** The result of planning: a run about to send, or the report of one that sends nothing, such as a dry run. */
import type { CommandOutput, DryRun } from '../cli/define.js';
import { dryRunView, namedRouteView } from '../cli/lines.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { decideRow, isForbidden, stopsRun } from '../engine/decide.js';
import type { Session, Task } from '../engine/operation.js';
import type { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { HeldLock } from '../files/lock.js';
import { hasQuery, someText } from '../runs/before-images.js';
import { hashOf } from '../runs/journal.js';
import type { RunHead, RunPlan } from '../runs/plan.js';
import {
  type BulkReport,
  exitOf,
  isFinalRow,
  type ReportRow,
  type SelectedRow,
} from '../runs/report.js';
import { redactError } from '../runs/state.js';
import type { RunStore } from '../runs/store.js';
import { printCap, printPreview, printPreviewNotes } from './confirm.js';
import { errorsBefore } from './error-limits.js';
import type { EndedRun, PlannedRun } from './execute.js';
import type { Invocation, KeptJob } from './invocation.js';
import { type Preview, previewRows } from './preview.js';
import { type Subject, subjectOf } from './preview-lines.js';
import { openSession } from './references.js';
import { failedRun, printSummary, reportOf, reportViewFor } from './report-view.js';
import { writeResultsFile } from './results.js';

/** The input of a run, once its lock is held. */
export interface RunSetup {
  /** Undefined if no run can be kept on disk. */
  readonly store: RunStore | undefined;
  readonly head: Omit<RunHead, 'rows'>;
  readonly lock: HeldLock | undefined;
  readonly kept: KeptJob;
  readonly input: {
    readonly header: readonly string[];
    /** Undefined if a filter selects them. */
    readonly rows: readonly SelectedRow[] | undefined;
  };
}

/** A run about to send, or how it ended if there is nothing to send. */
export type Planned =
  | { readonly ready: PlannedRun }
  | (EndedRun & { readonly only?: OnlyRow | undefined });

/** The only row of an invocation that sends nothing. */
interface OnlyRow {
  readonly session: Session;
  readonly record: JsonObject | undefined;
  readonly failure?: Failure | undefined;
}

/** True for failures of the service that concern every row; others come from the command line or the user. */
export function stopsEveryRow(error: Failure): boolean {
  return stopsRun(error) || isForbidden(error) || error.exitName === 'temporary';
}

export function notAttempted({ row, id, ref }: SelectedRow): ReportRow {
  return { row, id, ...(ref !== undefined && { ref }), result: 'not_attempted' };
}

/** Reports an invocation that sent nothing, and writes `--results`. */
export async function endUnsent(
  context: Context,
  head: Pick<RunHead, 'action'>,
  { results: file }: Invocation['values'],
  input: Parameters<typeof writeResultsFile>[2],
  results: readonly ReportRow[],
  { stop, names }: { readonly stop?: ExitName; readonly names?: Preview['names'] } = {},
): Promise<EndedRun> {
  const report = reportOf(context, { ...head, run: null }, results);
  const ended = exitOf(report, stop);
  const exitName = await writeResultsFile(context, file, input, results, ended);
  return { report, exitName, names, failed: failedRun(report, exitName) };
}

/** The plan of a run, without texts that hold the API key or the query of a URL. */
export function planOf(
  head: RunHead,
  kept: KeptJob,
  rows: readonly Task[],
  { tasks, names = new Map() }: Pick<Preview, 'tasks' | 'names'>,
  isKey: (text: string) => boolean,
): RunPlan {
  const isSecret = (text: string) => isKey(text) || hasQuery(text);
  let next = 0;
  return {
    head,
    job: kept,
    names: new Map([...names].filter(([, name]) => !isSecret(name))),
    // Reuses the task objects, which are in the same order, to avoid a second copy of 200,000 rows.
    rows: rows.map(({ row, id, ref, own }) => {
      const task = tasks[next];
      if (task?.row !== row) return { row, id, ref, own };
      next += 1;
      const { previewed } = task;
      if (!previewed?.some(({ from }) => someText(from, isSecret))) return task;
      const hashed = previewed.map((change) =>
        someText(change.from, isSecret) ? { ...change, from: hashOf(change.from) } : change,
      );
      return { ...task, previewed: hashed };
    }),
  };
}

/** Rows that the preview could not read for now; the run tries them again. */
export function unreadRows(plan: RunPlan, decided: readonly ReportRow[]): readonly Task[] {
  const open = new Set(decided.filter((row) => !isFinalRow(row)).map(({ row }) => row));
  return plan.rows.filter(({ row }) => open.has(row));
}

export function withoutValues(row: ReportRow): JsonObject {
  const { before: _, after: __, error, ...rest } = row;
  return error === undefined ? rest : { ...rest, error: redactError(error) };
}

/** The requests that would change one record, with old and new values. Throws as the read does. */
export async function dryRunOne(
  context: Context,
  { operation }: Pick<Invocation, 'operation'>,
  kept: KeptJob,
  row: Task,
): Promise<CommandOutput> {
  const session = openSession(context, operation, kept.job);
  const state = await session.read(row, 'preview');
  const plan = await session.plan(row, state);
  const decision = decideRow(row, state.record, plan, {
    guards: kept.guards,
    previewed: row.previewed,
    done: row.done,
  });
  // A record that may have been created is searched for, not created again.
  const isSearchedFor = row.open !== undefined && operation.createsRow === true;
  if (isSearchedFor)
    context.message(
      'Whether it was created is not known: this line looks for it, and sends nothing.',
    );
  const steps = decision.write && !isSearchedFor ? plan.steps : [];
  if (!decision.write && decision.row.error) {
    const { message = '' } = decision.row.error as { readonly message?: string };
    const isClause = /^[a-z]/.test(message);
    const { result } = decision.row;
    context.message(
      (isClause
        ? `${row.id} would be ${result}: ${message}`
        : `${row.id}: ${result}. ${message}`
      ).trimEnd(),
    );
  }
  for (const { call } of steps) context.api.noteAssumedRoute(call);
  const value: DryRun = {
    schema: 1,
    dryRun: true,
    requests:
      (decision.write ? plan.requests : undefined) ??
      steps.map(({ call }) => context.api.describe(call)),
    changes: steps.flatMap(({ changes }) =>
      changes.map(({ field, from, to }) => ({
        id: operation.createsRow || operation.recovery ? null : row.id,
        field,
        from: from ?? null,
        to,
      })),
    ),
  };
  const isNamed = steps.some(({ call }) => context.api.route(call).source === 'named');
  return { value, view: isNamed ? namedRouteView : dryRunView, exitName: 'done' };
}

/** The rows of a dry run, and how many records match where `--limit` cut them. */
interface DryRows {
  readonly rows: readonly Task[];
  readonly matched?: number;
  /** The unfinished run that would be resumed. */
  readonly run?: string;
}

/**
 * Says before the first write which rows the service may refuse. A script that names one record is told
 * by the refusal instead, which changes nothing: a loop over ids would read the list for each.
 */
export async function warnOfRefusals(
  { prompts, settings }: Context,
  { operation, source }: Pick<Invocation, 'operation'> & Partial<Pick<Invocation, 'source'>>,
  session: Session,
  count: number,
): Promise<void> {
  const isAsked = prompts.unavailable === undefined && !settings.yes;
  const isWorthIt = operation.confirm === 'always' || isAsked || source === 'filter' || count > 1;
  if (count > 0 && isWorthIt) await session.warn?.();
}

/** An invocation whose rows are previewed; the source is `ids` if none is given. */
type Previewing = Omit<Invocation, 'isSingle' | 'source'> & Partial<Invocation>;

/** Previews rows as a run would, prints the preview, and sends nothing. */
export async function previewMany(
  context: Context,
  { source = 'ids', ...invocation }: Previewing,
  { session, guards }: { readonly session: Session; readonly guards: KeptJob['guards'] },
  { rows, matched = rows.length }: DryRows,
): Promise<{ readonly preview: Preview; readonly subject: Subject }> {
  const { operation } = invocation;
  const preview = await previewRows(context, rows, { ...invocation, source }, session, guards);
  const { tasks } = preview;
  const subject = subjectOf({ ...invocation, source }, { matched, isCut: matched > rows.length });
  // For a person the report lists all rows.
  if (tasks.length > 0 && operation.confirm !== 'never')
    printPreview(context, subject, preview, { listsRows: !context.isInteractive });
  printPreviewNotes(context, operation, preview);
  await warnOfRefusals(context, { operation, source }, session, tasks.length);
  return { preview, subject };
}

/** The report of rows that were only previewed. */
export function previewReport(
  context: Context,
  head: Parameters<typeof reportOf>[1],
  { tasks, decided }: Preview,
): BulkReport {
  const wouldChange = tasks.map(({ row, id, ref, previewed = [] }) => ({
    row,
    id,
    ...(ref !== undefined && { ref }),
    result: 'would_change' as const,
    before: Object.fromEntries(previewed.map(({ field, from }) => [field, from ?? null])),
    after: Object.fromEntries(previewed.map(({ field, to }) => [field, to])),
  }));
  return reportOf(context, head, [...wouldChange, ...decided]);
}

/** Previews rows as a run would, and reports what it would do. */
export async function dryRunMany(
  context: Context,
  invocation: Previewing,
  { job, guards }: KeptJob,
  dryRows: DryRows,
): Promise<CommandOutput> {
  const { operation, values } = invocation;
  const session = openSession(context, operation, job);
  const { preview, subject } = await previewMany(context, invocation, { session, guards }, dryRows);
  const { tasks, decided } = preview;
  if (operation.confirm !== 'never') printCap(context, subject, tasks.length, values);
  const { errorCount, isTooMany } = errorsBefore(values, decided);
  if (tasks.length > 0 && isTooMany)
    context.message(`Without --dry-run nothing would be sent: ${errorCount} failed or conflicted.`);
  const { action } = subject;
  const { of, plan } = operation;
  const report = previewReport(context, { action, run: dryRows.run ?? null, of, plan }, preview);
  const refusal = operation.refuses?.(preview);
  const exitName = exitOf(report, refusal?.exitName);
  printSummary(context, report);
  const pending = values.exitCode && exitName === 'done' && tasks.length > 0;
  return {
    value: report,
    view: reportViewFor(context, { action: subject, names: preview.names }),
    exitName: pending ? 'changesPending' : exitName,
    failed: refusal ? { id: '', error: refusal, isUnreported: true } : failedRun(report, exitName),
  };
}
