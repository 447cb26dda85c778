/** Executes a planned run and renders it: the report of many rows, or the outcome of one. */
import type { CommandOutput } from '../cli/define.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import { type Item, recordStream } from '../data/batches.js';
import { isObject, type JsonObject } from '../data/json.js';
import { ConflictError, isNotFound } from '../data/outcome-errors.js';
import type { Session } from '../engine/operation.js';
import { unknownOutcome } from '../engine/verify.js';
import { CancelledError, type Failure } from '../errors.js';
import type { ReportRow } from '../runs/report.js';
import { readRun, shortRunName } from '../runs/stored-run.js';
import {
  type EndedRun,
  type ExecutedRun,
  executeRun,
  hasEnded,
  type PlannedRun,
  printUnfinished,
} from './execute.js';
import type { Invocation } from './invocation.js';
import type { Planned } from './planned-run.js';
import { printSummary, reportView, reportViewFor } from './report-view.js';
import { resultLines } from './results.js';

/**
 * Executes a run of many rows. For ndjson it returns a stream of rows, each once its result is on disk,
 * with the summary last; for other formats, or if nothing was to be sent, the complete report.
 */
export async function showRun(context: Context, planned: Planned): Promise<CommandOutput> {
  if (!('ready' in planned)) return renderReport(context, planned);
  if (context.settings.output !== 'ndjson')
    return renderExecuted(context, planned.ready, await executeRun(context, planned.ready));
  return streamed(context, planned.ready);
}

function renderReport(context: Context, { report, names, ...ended }: EndedRun): CommandOutput {
  printSummary(context, report);
  const view = reportViewFor(context, { names });
  return { value: report, view, isReport: true, ...ended };
}

async function renderExecuted(
  context: Context,
  { store, plan, images, invocation: { operation } }: PlannedRun,
  { report, names, exitName, failed, onWritten, printEnd }: ExecutedRun,
): Promise<CommandOutput> {
  const printsBelow = context.isInteractive && !context.settings.fields;
  if (!printsBelow) printEnd();
  return {
    value: report,
    view: reportViewFor(context, {
      action: { action: plan.head.action, resource: operation.resource },
      names,
      run: store && context.isInteractive ? await shortRunName(store, plan.head.run) : undefined,
      canUndo: images !== undefined && operation.undoes !== false,
    }),
    isReport: true,
    exitName,
    failed,
    onWritten,
    ...(printsBelow && { printAfter: printEnd }),
  };
}

function streamed(context: Context, run: PlannedRun): CommandOutput {
  let ended: ExecutedRun | undefined;
  const stream = async function* (): AsyncGenerator<readonly Item<JsonObject>[]> {
    const queue = newQueue<ReportRow>();
    const running = executeRun(context, run, queue.push).finally(queue.end);
    running.catch(() => {});
    try {
      for await (const rows of queue.batches()) yield rows.map((value) => ({ value }));
    } finally {
      // A closed stdout does not stop a started run.
      ended = await running;
      ended.printEnd();
    }
    const { results: _, ...summary } = ended.report;
    if (!context.settings.fields) yield [{ value: { type: 'summary', ...summary } }];
  };
  return {
    value: recordStream(stream),
    view: { kind: 'records', rowFields: reportView.rowFields },
    isReport: true,
    get exitName() {
      return ended?.exitName ?? 'failed';
    },
    get failed() {
      return ended?.failed;
    },
    onWritten: async () => ended?.onWritten?.(),
  };
}

// --- one row ---

/**
 * Executes the write of one record and renders its outcome: the record in json, a line at a terminal,
 * the report's row in a pipe. Throws the failure that ended it, unless the operation prints a report.
 */
export async function showOne(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  planned: Planned,
): Promise<CommandOutput> {
  if (!('ready' in planned)) {
    const outcome = unsentOutcome(planned);
    // A person picks another record instead of reading a report.
    if (isNotFound(outcome.error) && mayPick(context)) {
      await outcome.ended.onWritten?.();
      throw outcome.error;
    }
    return renderOne(context, invocation, outcome);
  }
  const { ready } = planned;
  return showFinished(context, invocation, { ended: await executeRun(context, ready), run: ready });
}

function mayPick({ isInteractive, prompts, settings }: Context): boolean {
  return isInteractive && !settings.yes && prompts.unavailable === undefined;
}

async function renderOne(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  outcome: OneOutcome,
): Promise<CommandOutput> {
  const { operation } = invocation;
  const { row, error, ended } = outcome;
  const exitName = error ? error.exitName : ended.exitName;
  if (operation.reports) {
    const { executed } = outcome;
    if (executed)
      return { ...(await renderExecuted(context, executed.run, executed.ended)), exitName };
    return { ...renderReport(context, ended), exitName, failed: error && { id: row.id, error } };
  }
  if (error) {
    for (const [field, value] of row.step === undefined ? [] : Object.entries(row.after ?? {}))
      context.message(`The ${field} was set to ${String(value)}; the rest was not done.`);
    await ended.onWritten?.();
    throw error;
  }
  const { session, record } = outcome;
  const unsent = row.result === 'changed' ? undefined : unsentNote(row, session, record);
  // The line at a terminal says it.
  const printsLine = context.isInteractive && !context.settings.fields;
  if (unsent !== undefined && !printsLine) context.note(unsent);
  const present = session.present ?? ((found: JsonObject | undefined) => found ?? { id: row.id });
  // A record that was not written is shown as read.
  const value = row.result === 'changed' || !record ? await present(record, row) : record;
  // The answer to a write may hold only an id, so the line names the record that is shown.
  const view = oneView(context, invocation, {
    ...outcome,
    record: isObject(value) ? value : record,
    unsent,
  });
  return { value, view, exitName: 'done', isReport: true, onWritten: ended.onWritten };
}

/** The outcome of an invocation's only row. */
interface OneOutcome {
  readonly row: ReportRow;
  readonly record: JsonObject | undefined;
  readonly error: Failure | undefined;
  readonly session: Session;
  readonly ended: EndedRun;
  /** The run that keeps its before-image, as a person types it. */
  readonly run: string | undefined;
  /** Undefined if nothing was to be sent. */
  readonly executed?: { readonly run: PlannedRun; readonly ended: ExecutedRun } | undefined;
}

/** Renders the outcome of one row of a resumed run. Throws the failure that ended it. */
export async function showFinished(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  { ended, run }: { readonly ended: ExecutedRun; readonly run: PlannedRun },
): Promise<CommandOutput> {
  return renderOne(context, invocation, await outcomeOf(context, run, ended));
}

async function outcomeOf(
  context: Context,
  run: PlannedRun,
  ended: ExecutedRun,
): Promise<OneOutcome> {
  const { report, last } = ended;
  const row = report.results.find((each) => run.tasks.some((task) => task.row === each.row));
  const finalRow: ReportRow = row ?? {
    row: 1,
    id: run.plan.rows[0]?.id ?? '',
    result: 'not_attempted',
  };
  const error = isGood(finalRow) ? undefined : (last?.error ?? failureOfRow(finalRow));
  const { operation } = run.invocation;
  const isUnfinished = !hasEnded(run, finalRow) || (await hasLeftovers(run));
  if (isUnfinished && !operation.reports && run.store) printUnfinished(context, run, 1);
  return {
    row: finalRow,
    record: last?.record,
    error,
    session: run.session,
    ended,
    run: run.images && run.store && (await shortRunName(run.store, run.plan.head.run)),
    executed: { run, ended },
  };
}

/** True if the ended run can still be finished: its file arrived, but its document was refused. */
async function hasLeftovers({
  store,
  plan,
  invocation: { operation },
}: PlannedRun): Promise<boolean> {
  if (!store || !operation.recovery) return false;
  const stored = await readRun(store, plan.head.run);
  return stored !== undefined && operation.recovery.hasLeftovers(stored);
}

function unsentOutcome({ only, ...ended }: Extract<Planned, { report: unknown }>): OneOutcome {
  const [row = { row: 1, id: '', result: 'not_attempted' as const }] = ended.report.results;
  if (!only) throw new CancelledError('Nothing was done.');
  const error = isGood(row) ? undefined : (only.failure ?? failureOfRow(row));
  return { row, record: only.record, error, session: only.session, ended, run: undefined };
}

function isGood({ result }: ReportRow): boolean {
  return result === 'changed' || result === 'unchanged' || result === 'skipped';
}

/** The error for a row whose result came from a read rather than from a failure. */
function failureOfRow({ id, result, error }: ReportRow): Failure {
  const { message, hint } = (error ?? {}) as { readonly message?: string; readonly hint?: string };
  if (result === 'unknown') return unknownOutcome(undefined);
  if (result === 'conflict') return new ConflictError(`${id}: ${message ?? 'conflict'}`, { hint });
  return new CancelledError('Stopped before it was done; nothing was sent.');
}

function unsentNote(
  row: ReportRow,
  { unchangedNote }: Session,
  record: JsonObject | undefined,
): string {
  const { message } = (row.error ?? {}) as { readonly message?: string };
  if (row.result === 'skipped') return `${row.id} was skipped: ${message ?? ''}`;
  return unchangedNote?.(record, row) ?? `${row.id} is already as wanted; nothing was sent.`;
}

/**
 * The view of one outcome: json, csv and ids show the record; a table is one line at a terminal,
 * the report's row in a pipe.
 */
function oneView(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  outcome: OneOutcome & { readonly unsent: string | undefined },
): View<never> {
  const { settings } = context;
  const own = invocation.view ?? reportView;
  if (settings.output !== 'table' || settings.fields) return own;
  const isQuiet = settings.quiet;
  const { row } = outcome;
  return {
    kind: 'lines',
    rows: () => (isQuiet ? [] : [row]),
    rowFields: reportView.rowFields,
    lines: (_, canvas) => (isQuiet ? [] : resultLines(context, invocation, outcome, canvas)),
  };
}

/** A queue that yields what is pushed, in order and in batches, until it is ended. */
function newQueue<T>() {
  let queue: T[] = [];
  let isEnded = false;
  let wake: (() => void) | undefined;
  return {
    push: (item: T) => {
      queue.push(item);
      wake?.();
    },
    end: () => {
      isEnded = true;
      wake?.();
    },
    async *batches(): AsyncGenerator<readonly T[]> {
      for (;;) {
        const batch = queue;
        queue = [];
        if (batch.length > 0) yield batch;
        if (queue.length > 0) continue;
        if (isEnded) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
