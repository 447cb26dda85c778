/** Executes a planned run and renders it: the report of many rows, or the outcome of one. */
import type { CommandOutput } from '../cli/command-output.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import { type Item, queue, recordStream } from '../data/batches.js';
import { isUtf8Locale } from '../data/environment.js';
import { isObject, type JsonObject } from '../data/json.js';
import { ConflictError, isNotFound } from '../data/outcome-errors.js';
import { labelOf } from '../data/path.js';
import type { Session } from '../engine/operation.js';
import { stoppedEarly } from '../engine/run.js';
import { unknownOutcome } from '../engine/verify.js';
import type { Failure } from '../errors.js';
import { isDelete, type ReportRow } from '../runs/report.js';
import { readRun, shortRunName } from '../runs/stored-run.js';
import { hasLeftovers, isUploadRun } from '../runs/unfinished-uploads.js';
import { singleLine } from '../terminal/safe-text.js';
import {
  type EndedRun,
  executeRun,
  hasEnded,
  type OnlyRow,
  type Planned,
  type PlannedRun,
  unfinishedLine,
} from './execute.js';
import type { Invocation } from './invocation.js';
import { headline, markOf, type ReportStyle } from './report-lines.js';
import { printSummary, reportView, reportViewFor, undoLine } from './report-view.js';
import { describeOne } from './words.js';

/**
 * Executes a run of many rows. For ndjson it returns a stream of rows, each once its result is on disk,
 * with the summary last; for other formats, or if nothing was to be sent, the complete report.
 */
export async function showRun(context: Context, planned: Planned): Promise<CommandOutput> {
  if (!('ready' in planned)) return renderReport(context, planned);
  const run = planned.ready;
  if (context.settings.output === 'ndjson') return streamed(context, run);
  return renderReport(context, await executeRun(context, run), run);
}

/** Renders the report of a run, or of an invocation that sent nothing. */
async function renderReport(
  context: Context,
  { report, names, exitName, failed, onWritten, printEnd }: EndedRun,
  run?: PlannedRun,
): Promise<CommandOutput> {
  const printsBelow = context.isInteractive && !context.settings.fields;
  if (!printEnd) printSummary(context, report);
  else if (!printsBelow) printEnd();
  return {
    value: report,
    view: reportViewFor(context, { names, ...(run && (await wordsOf(context, run))) }),
    isReport: true,
    ...{ exitName, failed, onWritten },
    ...(printEnd && printsBelow && { printAfter: printEnd }),
  };
}

/** The words of a run's report for a person: what it did, its name, and how to undo it. */
async function wordsOf(
  context: Context,
  { store, plan: { head }, images, invocation: { operation } }: PlannedRun,
): Promise<Pick<ReportStyle, 'action' | 'run' | 'undo'>> {
  const action = { action: head.action, resource: operation.resource };
  if (!store || !context.isInteractive) return { action };
  const run = await shortRunName(store, head.run);
  const canUndo = images && operation.undoes !== false;
  return { action, run, undo: canUndo ? undoLine(context, run) : undefined };
}

function streamed(context: Context, run: PlannedRun): CommandOutput {
  let ended: EndedRun | undefined;
  const stream = async function* (): AsyncGenerator<readonly Item<JsonObject>[]> {
    const rows = queue<JsonObject>();
    const running = executeRun(context, run, rows.push).finally(rows.end);
    running.catch(() => {});
    try {
      yield* rows.batches();
    } finally {
      // A closed stdout does not stop a started run.
      ended = await running;
      ended.printEnd?.();
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
  if (!('ready' in planned)) return showEnded(context, invocation, planned);
  return showEnded(context, invocation, await executeRun(context, planned.ready), planned.ready);
}

/** Renders the outcome of an invocation's only row; `run`: its run, if it was executed. Throws as `showOne` does. */
export async function showEnded(
  context: Context,
  invocation: Invocation,
  ended: EndedRun,
  run?: PlannedRun,
): Promise<CommandOutput> {
  const row: ReportRow = ended.report.results.find(
    (each) => !run || run.tasks.some((task) => task.row === each.row),
  ) ?? { row: 1, id: run?.plan.rows[0]?.id ?? '', result: 'not_attempted' };
  const error = isGood(row) ? undefined : (ended.only?.error ?? failureOfRow(row));
  // A person picks another record instead of reading a report.
  if (!run && isNotFound(error) && mayPick(context)) {
    await ended.onWritten?.();
    throw error;
  }
  if (invocation.operation.reports) {
    const output = await renderReport(context, ended, run);
    const failed = run ? output.failed : error && { ...output.failed, id: row.id, error };
    return { ...output, failed, exitName: error ? error.exitName : ended.exitName };
  }
  const isUnfinished = run?.store && (!hasEnded(run, row) || (await leavesUpload(run)));
  if (isUnfinished) {
    const line = await unfinishedLine(context, run, 1, error);
    const { output } = context.settings;
    // An error in JSON is the last line, and holds nothing else.
    if (error && output !== 'json' && output !== 'ndjson') error.unfinished = line;
    else context.message(line);
  }
  return renderOne(context, invocation, { row, error, ended, run });
}

function mayPick({ isInteractive, prompts, settings }: Context): boolean {
  return isInteractive && !settings.yes && prompts.unavailable === undefined;
}

/** The outcome of an invocation's only row. */
interface OneOutcome {
  readonly row: ReportRow;
  readonly error: Failure | undefined;
  readonly ended: EndedRun;
  readonly run: PlannedRun | undefined;
}

/**
 * Renders the outcome of one row: json, csv, ids, --fields and --template show the record; a table is
 * one line at a terminal, the report's row in a pipe. Throws its error.
 */
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
  const printsLine = context.isAligned && !context.settings.fields;
  if (unsent !== undefined && !printsLine) context.note(unsent);
  // A record that was not written is shown as read.
  const isRead = row.result !== 'changed' && record !== undefined;
  const value =
    session?.present && !isRead ? await session.present(record, row) : (record ?? { id: row.id });
  // The answer to a write may hold only an id, so the line names the record that is shown.
  const shown = isObject(value) ? value : record;
  const sentence = unsent ?? `${doneText(invocation, row, shown)}.`;
  const line = `${markOf(true, isUtf8Locale(context.env))} ${singleLine(sentence)}`;
  const canUndo = unsent === undefined && invocation.operation.undoes !== false && run?.images;
  const undo =
    printsLine && canUndo && run.store
      ? undoLine(context, await shortRunName(run.store, run.plan.head.run))
      : undefined;
  const { output, fields, template, quiet } = context.settings;
  const view: View<never> =
    output !== 'table' || fields || template !== undefined
      ? (invocation.view ?? reportView)
      : {
          kind: 'lines',
          rows: () => (quiet ? [] : [row]),
          rowFields: reportView.rowFields,
          lines: (_, canvas) => (quiet ? [] : headline(line, undo, canvas)),
        };
  return { value, view, exitName: 'done', isReport: true, onWritten: ended.onWritten };
}

/** True if the ended run can still be finished: its file arrived, but its document was refused. */
async function leavesUpload({ store, plan }: PlannedRun): Promise<boolean> {
  if (!store || !isUploadRun(plan.head)) return false;
  const stored = await readRun(store, plan.head.run);
  return stored !== undefined && hasLeftovers(stored);
}

function isGood({ result }: ReportRow): boolean {
  return result === 'changed' || result === 'unchanged' || result === 'skipped';
}

/** The error for a row whose result came from a read rather than from a failure. */
function failureOfRow({ id, result, error, step }: ReportRow): Failure {
  if (result === 'unknown') return unknownOutcome(undefined);
  if (result === 'conflict' || error?.kind === 'conflict')
    return new ConflictError(`${id}: ${error?.message ?? 'conflict'}`, { hint: error?.hint });
  return stoppedEarly(step !== undefined);
}

function unsentNote(
  row: ReportRow,
  session: Session | undefined,
  record: JsonObject | undefined,
): string {
  if (row.result === 'skipped') return `${row.id} was skipped: ${row.error?.message ?? ''}`;
  return (
    session?.unchangedNote?.(record, row) ?? `${row.id} is already as wanted; nothing was sent.`
  );
}

/** `Nimbus Kolmarden (app_0064): reviewing → shortlisted` */
function doneText(
  { words, operation: { verb } }: Invocation,
  row: ReportRow,
  record: JsonObject | undefined,
): string {
  const action = words.join('.');
  const name = isDelete(action) ? Object.values(row.before ?? {})[0] : labelOf(record, '');
  return describeOne(
    row,
    { action, verb },
    {
      name: typeof name === 'string' && name !== '' ? name : undefined,
      record,
    },
  );
}
