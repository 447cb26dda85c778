/** Dry runs: what a command would change, without sending it. */

import type { CommandOutput } from '../cli/command-output.js';
import type { DryRun } from '../cli/define.js';
import { changeText, viewOfDryRun } from '../cli/lines.js';
import { fieldLabel } from '../cli/lists/labels.js';
import { chosenFields } from '../cli/lists/template.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { withTeamNames } from '../data/references.js';
import { groupedNumber } from '../data/text.js';
import { beforeAndAfter } from '../engine/decide.js';
import type { Operation, RowPlan, Task } from '../engine/operation.js';
import {
  endedWell,
  exitOf,
  failedRun,
  type ReportRow,
  reportOf,
  reportRow,
} from '../runs/report.js';
import { isFutureId } from '../runs/verb.js';
import {
  countErrors,
  printCap,
  printPreview,
  printPreviewNotes,
  printWrongName,
  warnOfRefusals,
} from './confirm.js';
import { errorLimit, type Invocation, openSession } from './invocation.js';
import { type ObserveRow, type Preview, previewRows, subjectOf } from './preview.js';
import { previewFrame } from './preview-lines.js';
import { printSummary, printWrongRows, reportViewFor } from './report-view.js';
import { describeChanges, describeFields } from './row-lines.js';
import { requireNoKey } from './secrets.js';
import { failureOfRow } from './show-one.js';

/** The rows of a dry run, and how many records match where `--limit` cut them. */
interface DryRows {
  readonly rows: readonly Task[];
  readonly matched?: number;
  /** The unfinished run that would be resumed, and its other rows. */
  readonly run?: string;
  readonly finished?: readonly ReportRow[];
}

/** Shows what an invocation would do with these rows: the requests of its only record, else a report. */
export async function dryRunRows(
  context: Context,
  invocation: Invocation,
  dryRows: DryRows,
): Promise<CommandOutput> {
  const [only] = dryRows.rows;
  requireNoKey(context, invocation, dryRows.rows);
  if (invocation.isSingle && only && !invocation.operation.reports)
    return dryRunOne(context, invocation, only, dryRows.finished);
  return dryRunMany(context, invocation, dryRows);
}

/**
 * The requests that would change one record, with old and new values. Throws as the read does, and the
 * conflict that would keep the change from being sent.
 */
async function dryRunOne(
  context: Context,
  invocation: Invocation,
  row: Task,
  finished: DryRows['finished'],
): Promise<CommandOutput> {
  const { operation, values } = invocation;
  const { api, settings } = context;
  const session = openSession(context, invocation, finished);
  const preview = await previewRows(context, invocation, [row], session);
  if (preview.error) throw preview.error;
  const [ended] = preview.decided;
  // A record that may have been created is searched for, not created again.
  const creates = operation.verb === 'create';
  const isSearchedFor = row.open !== undefined && creates;
  if (isSearchedFor)
    context.message(
      'It may have been created. Without --dry-run, the command looks for it and sends nothing.',
    );
  if (ended) reportDecided(context, ended);
  const plan = ended || isSearchedFor ? undefined : preview.plan;
  const id = creates || operation.files ? null : row.id;
  const value = requestsOf(plan, id, api);
  const { requests } = value;
  if (requests.length > 0) printWrongName(context, invocation, row.id, preview.record);
  const existingId = ended?.after?.['id'];
  const exitName = values.exitCode && requests.length > 0 ? 'changesPending' : 'done';
  if (choosesRecord(settings, value)) {
    for (const { method, path } of requests) context.note(`Would send ${method} ${path}`);
    const known = { id: existingId ?? id ?? undefined, ...preview.record };
    const record = { ...known, ...sentFields(operation, value) };
    const ids = record.id === undefined ? [] : [record];
    return { value: record, existingId, view: { ...invocation.view, idRows: () => ids }, exitName };
  }
  const isNamed = plan?.steps.some(({ call }) => api.route(call).source === 'named') ?? false;
  const name = preview.names?.get(row.id);
  const describe = (change: Change) => describeChange(invocation, change);
  const view = viewOfDryRun(({ isTerminal }) => ({
    isNamed,
    name,
    ...(isTerminal && { describe }),
  }));
  return { value, existingId, view, exitName };
}

/** Says why nothing would be sent for a row. Throws the failure that its change would end with. */
function reportDecided(context: Context, row: ReportRow): void {
  if (!endedWell(row)) throw failureOfRow(row);
  if (!row.error) return;
  const { id, result } = row;
  const { message } = row.error;
  const start = /^[a-z]/.test(message) ? `${id} would be ${result}:` : `${id}: ${result}.`;
  context.message(`${start} ${message}`.trimEnd());
}

/** The requests of a plan, and what they would change; none without a plan. */
function requestsOf(plan: RowPlan | undefined, id: string | null, api: Context['api']): DryRun {
  const steps = plan?.steps ?? [];
  for (const { call } of steps) api.noteAssumedRoute(call);
  const requests = plan?.requests ?? steps.map(({ call }) => api.describe(call));
  const changes = steps.flatMap((step) =>
    step.changes.map(({ field, from = null, to }) => ({ id, field, from, to })),
  );
  return { schema: 1, dryRun: true, requests, changes };
}

type Change = DryRun['changes'][number];

function describeChange(
  { operation, action, teams }: Invocation,
  { field, from, to }: Change,
): string {
  if (isFutureId({ field, to })) return String(to).slice(1, -1);
  if (operation.verb === 'create') return describeFields(withTeamNames({ [field]: to }, teams));
  // A file is not a record yet: its change is described by its field alone.
  if (operation.files) return `${fieldLabel(field)} ${changeText(from, to)}`;
  const changes = { before: { [field]: from }, after: { [field]: to } };
  const text = describeChanges(changes, { ...operation, action, teams }, { isPreview: true });
  return text || `${fieldLabel(field)} ${changeText(from, to)}`;
}

/** The fields that the record would be sent; the last request of an upload makes the document. */
function sentFields({ files }: Operation, { requests, changes }: DryRun): JsonObject {
  if (!files) return Object.fromEntries(changes.map(({ field, to }) => [field, to]));
  const body = requests.at(-1)?.body;
  return isObject(body) ? body : {};
}

/** True if the output shows fields of the record as it would read, instead of its requests. */
function choosesRecord(settings: Context['settings'], requests: DryRun): boolean {
  const fields = chosenFields(settings);
  return (
    settings.output === 'ids' ||
    fields.some((field) => !((field.split('.', 1)[0] ?? '') in requests))
  );
}

/** Previews rows as a run would, prints the preview, and sends nothing. */
export async function previewMany(
  context: Context,
  invocation: Invocation,
  { rows, matched = rows.length, finished }: DryRows,
  observe?: ObserveRow,
) {
  const { operation } = invocation;
  const { isInteractive, settings, api } = context;
  const session = openSession(context, invocation, finished);
  const preview = await previewRows(context, invocation, rows, session, observe);
  const { tasks, firstCall } = preview;
  const subject = subjectOf(invocation, matched, matched > rows.length);
  const isShown = tasks.length > 0 && operation.confirm !== 'never';
  // The rows of a person's report stand between the lines of the preview.
  const isFramed = isShown && isInteractive && !settings.quiet;
  if (isShown && !isFramed) await printPreview(context, subject, preview);
  else if (isFramed && firstCall) api.noteAssumedRoute(firstCall);
  printPreviewNotes(context, operation, preview);
  await warnOfRefusals(context, invocation, session, tasks);
  const frame = isFramed ? previewFrame(context, subject, preview) : undefined;
  return { preview, subject, frame };
}

/** The rows of a preview, as a dry run reports them. */
export function previewedRows({ tasks, decided }: Preview): readonly ReportRow[] {
  const wouldChange = tasks.map((task) =>
    reportRow(task, { result: 'would_change', ...beforeAndAfter(task.previewed ?? []) }),
  );
  return [...wouldChange, ...decided].toSorted((a, b) => a.row - b.row);
}

/** The output for rows that were only previewed; `plan`: the hash of the plan file that was written. */
export function previewOutput(
  context: Context,
  { operation, values, action }: Invocation,
  { preview, subject, frame }: Awaited<ReturnType<typeof previewMany>>,
  made: { readonly run?: string | undefined; readonly plan?: string | undefined },
): CommandOutput {
  const { tasks, names } = preview;
  const { of, plan = made.plan } = operation;
  const head = { action, run: made.run ?? null, of, plan };
  const report = reportOf(context, head, previewedRows(preview));
  // An interrupted run is finished: rows that no longer fit become conflicts.
  const refusal = made.run === undefined ? operation.refuses?.(preview) : undefined;
  const exitName = exitOf(report, refusal?.exitName);
  printWrongRows(context, report);
  printSummary(context, report);
  const pending = values.exitCode && exitName === 'done' && tasks.length > 0;
  return {
    value: report,
    view: reportViewFor(context, { action: subject, names, frame }),
    exitName: pending ? 'changesPending' : exitName,
    failed: refusal ? { error: refusal, isUnreported: true } : failedRun(report, exitName),
  };
}

/** Previews rows as a run would, and reports what it would do. */
export async function dryRunMany(
  context: Context,
  invocation: Invocation,
  dryRows: DryRows,
): Promise<CommandOutput> {
  const { operation, values } = invocation;
  const previewed = await previewMany(context, invocation, dryRows);
  const { subject, preview } = previewed;
  const { tasks, decided } = preview;
  if (operation.confirm !== 'never') printCap(context, subject, tasks.length, values);
  const errorCount = countErrors(decided);
  if (tasks.length > 0 && errorCount >= errorLimit(values))
    context.message(
      `Without --dry-run nothing would be sent: ${groupedNumber(errorCount)} failed or conflicted.`,
    );
  const output = previewOutput(context, invocation, previewed, dryRows);
  const [row] = decided;
  if (!invocation.isSingle || !row || endedWell(row)) return output;
  const error = preview.error ?? failureOfRow(row);
  return { ...output, failed: { ...output.failed, id: row.id, error }, exitName: error.exitName };
}
