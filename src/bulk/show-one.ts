/** The only record of an invocation: its fields to show, checked before the write, and its outcome. */
import { isReadByList } from '../api/resources.js';
import { readFirst } from '../api/response.js';
import type { CommandOutput } from '../cli/command-output.js';
import type { Canvas } from '../cli/views.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { ConflictError, isNotFound } from '../data/outcome-errors.js';
import { nameWithId } from '../data/path.js';
import type { Operation, Session } from '../engine/operation.js';
import { stoppedEarly } from '../engine/run.js';
import { unknownOutcome } from '../engine/verify.js';
import type { Failure } from '../errors.js';
import { endedWell, type ReportRow, reportRowFields } from '../runs/report.js';
import { readRun } from '../runs/stored-run.js';
import { hasLeftovers, isUploadRun } from '../runs/unfinished.js';
import { markOf } from '../terminal/paint.js';
import { singleLine } from '../terminal/safe-text.js';
import { type EndedRun, hasEnded, type PlannedRun } from './execute.js';
import type { Invocation } from './invocation.js';
import { unfinishedLine, withAdvice } from './next-command.js';
import type { Preview } from './preview.js';

/**
 * Renders the outcome of an invocation's only row: the record in json, a line at a terminal, the
 * report's row in a pipe. Throws the failure that ended it, unless the operation prints a report.
 */
export async function showOne(context: Context, ended: EndedRun): Promise<CommandOutput> {
  const { invocation, run } = ended;
  const row = onlyRow(ended);
  const failure = endedWell(row) ? undefined : (ended.error ?? failureOfRow(row));
  const error = failure && withSearch(failure, invocation);
  // A person picks another record instead of reading a report.
  if (!run && isNotFound(error) && mayPick(context)) {
    await ended.onWritten?.();
    throw error;
  }
  if (invocation.operation.reports) {
    const { renderReport } = await import('./show-run.js');
    const output = renderReport(context, ended);
    const failed = run ? output.failed : error && { ...output.failed, id: row.id, error };
    return { ...output, failed, exitName: error ? error.exitName : ended.exitName };
  }
  const advised = run ? await reportUnfinished(context, run, row, error) : error;
  if (!advised) return renderOne(context, ended, row);
  reportFirstStep(context, row);
  await ended.onWritten?.();
  throw advised;
}

function onlyRow({ run, report }: EndedRun): ReportRow {
  const isOurs = (row: ReportRow) => !run || run.tasks.some((task) => task.row === row.row);
  const id = run?.plan.rows[0]?.id ?? '';
  return report.results.find(isOurs) ?? { row: 1, id, result: 'not_attempted' };
}

function mayPick({ isInteractive, settings, prompts }: Context): boolean {
  return isInteractive && !settings.yes && prompts.unavailable === undefined;
}

/** Says how to finish the run if its row is still open, in the error or before it; returns the error. */
async function reportUnfinished(
  context: Context,
  run: PlannedRun,
  row: ReportRow,
  error: Failure | undefined,
): Promise<Failure | undefined> {
  if (!run.store || (hasEnded(run, row) && !(await leavesUpload(run)))) return error;
  const line = context.withConnection(unfinishedLine(context, run, [row], error));
  const { verb, files } = run.invocation.operation;
  // The run that is resumed reads the record before it sends anything; what was created has no id yet.
  const isReadAgain = verb !== 'create' && !files;
  if (isReadAgain && error?.hint?.includes(readFirst)) return withAdvice(error, line);
  const { output } = context.settings;
  // An error in JSON is the last line, and holds nothing else.
  if (error && output !== 'json' && output !== 'ndjson') error.unfinished = line;
  else context.message(line);
  return error;
}

/** Says what the first step of a row did whose second step failed. */
function reportFirstStep(context: Context, { result, step, after = {} }: ReportRow): void {
  if (step === undefined) return;
  const rest = result === 'unknown' ? 'the rest may have been done' : 'the rest was not done';
  for (const [field, value] of Object.entries(after))
    context.message(`The ${field} was set to ${String(value)}; ${rest}.`);
}

/**
 * Renders the outcome of one row that did not fail: json, csv, ids, --fields and --template show the
 * record; a table is one line at a terminal, the report's row in a pipe.
 */
async function renderOne(
  context: Context,
  ended: EndedRun,
  row: ReportRow,
): Promise<CommandOutput> {
  const { invocation, session, record, onWritten } = ended;
  const unsent = row.result === 'changed' ? undefined : unsentNote(row, session, record);
  const { output, fields, template, quiet } = context.settings;
  // The line at a terminal says it.
  const printsLine = context.isAligned && !fields;
  if (unsent !== undefined && !printsLine) context.note(unsent);
  // A record that was not written is shown as read.
  const isRead = row.result !== 'changed' && record !== undefined;
  const value =
    session?.present && !isRead ? await session.present(record, row) : (record ?? { id: row.id });
  const { exitName } = ended;
  const failed = exitName === 'done' ? undefined : ended.failed;
  // The row went well, so no line has said yet what failed after it.
  const isUnreported = failed?.isUnreported || failed?.error === ended.stop?.error;
  const ending = {
    value,
    exitName,
    failed: failed && { ...failed, isUnreported },
    isReport: true,
    keptIn: ended.report.run ?? undefined,
    onWritten,
  };
  if (output !== 'table' || fields || template !== undefined)
    return {
      ...ending,
      view: invocation.view ?? (await import('./report-view.js')).reportView,
    };
  // Only a person reads the line.
  const isSeen = context.streams.stdout.isTerminal || context.settings.forcedWidth !== undefined;
  const line = isSeen && (await lineOf(context, ended, row, value, unsent));
  return {
    ...ending,
    view: {
      rows: () => (quiet ? [] : [row]),
      rowFields: reportRowFields,
      lines: (_, canvas) => (quiet || !line ? [] : line(canvas)),
    },
  };
}

/** The line of a single row for a person: what was done, or why nothing was sent, and how to undo it. */
async function lineOf(
  context: Context,
  { invocation, run, record: known }: EndedRun,
  row: ReportRow,
  value: unknown,
  unsent: string | undefined,
): Promise<(canvas: Canvas) => readonly string[]> {
  const { headline } = await import('./report-view.js');
  const { undoLine } = await import('./show-run.js');
  const { describeOne } = await import('./row-lines.js');
  const { verb } = invocation.operation;
  const action = { action: invocation.action, verb, teams: invocation.teams };
  // The answer to a write may hold only an id, so the line names the record that is shown.
  const record = isObject(value) ? value : known;
  const label = verb === 'delete' ? Object.values(row.before ?? {})[0] : record?.['name'];
  const name = typeof label === 'string' && label !== '' ? label : undefined;
  const text = unsent ?? `${describeOne(row, action, { name, record })}.`;
  const undo =
    unsent === undefined && context.isAligned && run ? undoLine(context, run) : undefined;
  return (canvas) => headline(`${markOf(true, canvas.isUtf8)} ${singleLine(text)}`, undo, canvas);
}

/** True if the ended run can still be finished: its file arrived, but its document was refused. */
async function leavesUpload({ store, plan }: PlannedRun): Promise<boolean> {
  if (!store || !isUploadRun(plan.head)) return false;
  const stored = await readRun(store, plan.head.run);
  return stored !== undefined && hasLeftovers(stored);
}

/** The error for a row whose result came from a read rather than from a failure. */
export function failureOfRow({ id, result, error, step }: ReportRow): Failure {
  if (result === 'unknown') return unknownOutcome(undefined);
  if (result === 'conflict' || error?.kind === 'conflict') {
    const { message = 'conflict', hint } = error ?? {};
    return new ConflictError(message.startsWith(`${id} `) ? message : `${id}: ${message}`, {
      hint,
    });
  }
  return stoppedEarly(step !== undefined);
}

/** Adds to an unknown outcome the command that shows whether the record was created. */
function withSearch(error: Failure, { operation, job }: Invocation): Failure {
  const command = operation.findMade?.(job);
  return command === undefined
    ? error
    : withAdvice(error, `Check whether it was created: ${command}`);
}

function unsentNote(row: ReportRow, session: Session | undefined, record: JsonObject | undefined) {
  if (row.result === 'skipped')
    return `${row.id} was skipped: ${(row.error?.message ?? '').replace(/\.?$/, '.')}`;
  return (
    session?.unchangedNote?.(record, row) ??
    `${nameWithId(record?.['name'], row.id)} already has these values; nothing was sent.`
  );
}

/**
 * Checks `--fields` and `--template` while the only record, which will be shown, is unchanged. A record
 * that will be created has the fields that lists on this machine have shown. Throws UsageError.
 */
export async function checkFieldsToShow(
  context: Context,
  { isSingle, operation, view }: Invocation,
  { tasks: [task], record }: Preview,
): Promise<void> {
  const { settings } = context;
  const isShown = isSingle && !operation.reports;
  const isChosen = (settings.fields ?? settings.template) !== undefined;
  if (!isShown || !isChosen || !view) return;
  const { checkRecordFields, checkRowFields } = await import('../cli/chosen-fields.js');
  const { chosenFields } = await import('../cli/lists/template.js');
  const chosen = chosenFields(settings);
  if (view.rowFields) checkRowFields(chosen, view);
  if (view.resource === undefined) return;
  const fields = record ? undefined : await listedFields(context, operation);
  if (!record && !fields) return;
  const values = (task?.previewed ?? []).map(({ field, to }) => [field, to] as const);
  // Lists tell which fields there are, and not what is in them.
  const checked = fields ? chosen.map((field) => field.split('.', 1)[0] ?? field) : chosen;
  checkRecordFields(checked, view, { ...record, ...fields }, Object.fromEntries(values));
}

/** The fields of a resource that lists have shown, where a created record is read again; undefined if there are none. */
async function listedFields(context: Context, { resource, verb }: Operation) {
  const { paths, settings } = context;
  if (verb !== 'create' || isReadByList(resource) || !settings.completionCache) return undefined;
  const cache = await import('../config/completion-cache.js');
  const file = cache.completionCacheFile(paths, cache.cachePlaceOf(context));
  const { fields } = cache.recall(file, resource, paths.owner);
  if (fields.length === 0) return undefined;
  return Object.fromEntries(fields.map((field) => [field, null]));
}
