/** Executes a planned run and renders it: the report of many rows, or the outcome of one. */
import type { CommandOutput } from '../cli/define.js';
import type { Canvas, View } from '../cli/views.js';
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
  type OnlyRow,
  type Planned,
  type PlannedRun,
  printUnfinished,
} from './execute.js';
import type { Invocation } from './invocation.js';
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

function renderReport(
  context: Context,
  { report, names, exitName, failed, onWritten }: EndedRun,
): CommandOutput {
  printSummary(context, report);
  const view = reportViewFor(context, { names });
  return { value: report, view, isReport: true, exitName, failed, onWritten };
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
  invocation: Invocation,
  planned: Planned,
): Promise<CommandOutput> {
  if ('ready' in planned) {
    const run = planned.ready;
    return showFinished(context, invocation, { ended: await executeRun(context, run), run });
  }
  const [row = noRow] = planned.report.results;
  const error = errorOf(row, planned);
  // A person picks another record instead of reading a report.
  if (isNotFound(error) && mayPick(context)) {
    await planned.onWritten?.();
    throw error;
  }
  if (invocation.operation.reports)
    return {
      ...renderReport(context, planned),
      exitName: error ? error.exitName : planned.exitName,
      failed: error && { id: row.id, error },
    };
  return renderOne(context, invocation, { row, error, ended: planned });
}

const noRow: ReportRow = { row: 1, id: '', result: 'not_attempted' };

function mayPick({ isInteractive, prompts, settings }: Context): boolean {
  return isInteractive && !settings.yes && prompts.unavailable === undefined;
}

/** Renders the outcome of the only row of an executed run. Throws the failure that ended it. */
export async function showFinished(
  context: Context,
  invocation: Invocation,
  { ended, run }: { readonly ended: ExecutedRun; readonly run: PlannedRun },
): Promise<CommandOutput> {
  const { operation } = invocation;
  const row = ended.report.results.find((each) =>
    run.tasks.some((task) => task.row === each.row),
  ) ?? { ...noRow, id: run.plan.rows[0]?.id ?? '' };
  const error = errorOf(row, ended);
  const isUnfinished = !hasEnded(run, row) || (await hasLeftovers(run));
  if (isUnfinished && !operation.reports && run.store) printUnfinished(context, run, 1);
  if (operation.reports) {
    const output = await renderExecuted(context, run, ended);
    return { ...output, exitName: error ? error.exitName : ended.exitName };
  }
  const canUndo = run.images && run.store;
  const name = canUndo && (await shortRunName(run.store, run.plan.head.run));
  return renderOne(context, invocation, { row, error, ended, run: name });
}

/** The outcome of an invocation's only row. */
interface OneOutcome {
  readonly row: ReportRow;
  readonly error: Failure | undefined;
  readonly ended: EndedRun;
  /** The run that keeps its before-image, as a person types it. */
  readonly run?: string | undefined;
}

async function renderOne(
  context: Context,
  invocation: Invocation,
  { row, error, ended, run }: OneOutcome,
): Promise<CommandOutput> {
  if (error) {
    for (const [field, value] of row.step === undefined ? [] : Object.entries(row.after ?? {}))
      context.message(`The ${field} was set to ${String(value)}; the rest was not done.`);
    await ended.onWritten?.();
    throw error;
  }
  const { session, record }: Partial<OnlyRow> = ended.only ?? {};
  const unsent = row.result === 'changed' ? undefined : unsentNote(row, session, record);
  // The line at a terminal says it.
  const printsLine = context.isInteractive && !context.settings.fields;
  if (unsent !== undefined && !printsLine) context.note(unsent);
  // A record that was not written is shown as read.
  const isRead = row.result !== 'changed' && record !== undefined;
  const value =
    session?.present && !isRead ? await session.present(record, row) : (record ?? { id: row.id });
  const view = oneView(context, invocation, row, (canvas) =>
    resultLines(
      context,
      invocation,
      // The answer to a write may hold only an id, so the line names the record that is shown.
      { row, record: isObject(value) ? value : record, run, unsent },
      canvas,
    ),
  );
  return { value, view, exitName: 'done', isReport: true, onWritten: ended.onWritten };
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

/** Why the only row was not done. */
function errorOf(row: ReportRow, { only }: EndedRun): Failure | undefined {
  return isGood(row) ? undefined : (only?.error ?? failureOfRow(row));
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
  session: Session | undefined,
  record: JsonObject | undefined,
): string {
  const { message } = (row.error ?? {}) as { readonly message?: string };
  if (row.result === 'skipped') return `${row.id} was skipped: ${message ?? ''}`;
  return (
    session?.unchangedNote?.(record, row) ?? `${row.id} is already as wanted; nothing was sent.`
  );
}

/**
 * The view of one outcome: json, csv and ids show the record; a table is one line at a terminal,
 * the report's row in a pipe.
 */
function oneView(
  { settings: { output, fields, quiet } }: Context,
  { view = reportView }: Invocation,
  row: ReportRow,
  lines: (canvas: Canvas) => readonly string[],
): View<never> {
  if (output !== 'table' || fields) return view;
  return {
    kind: 'lines',
    rows: () => (quiet ? [] : [row]),
    rowFields: reportView.rowFields,
    lines: (_, canvas) => (quiet ? [] : lines(canvas)),
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
