/** Executes a planned run of many rows and renders its report. */
import { readFirst } from '../api/response.js';
import type { CommandOutput, PrintedHow } from '../cli/command-output.js';
import { rowError } from '../cli/failure.js';
import { withConnectionFlags } from '../cli/typed-line.js';
import type { Context } from '../context.js';
import { batchQueue, recordStream } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import { isExhausted } from '../data/outcome-errors.js';
import type { StopReason } from '../engine/limits.js';
import { GuardError } from '../errors.js';
import { shortRunName } from '../runs/find-run.js';
import { type BulkReport, summaryLine, wentWrong } from '../runs/report.js';
import { type RunVerb, verbs } from '../runs/verb.js';
import { type EndedRun, executeRun, hasEnded, type Planned, type PlannedRun } from './execute.js';
import { nextCommand, unfinishedLine } from './next-command.js';
import {
  closingLine,
  printSummary,
  printUnsent,
  printWrongRows,
  type ReportStyle,
  reportView,
  reportViewFor,
} from './report-view.js';

/**
 * Executes a run of many rows. For ndjson it returns a stream of rows, each once its result is on disk,
 * with the summary last; for other formats, or if nothing was to be sent, the complete report.
 */
export async function showRun(context: Context, planned: Planned): Promise<CommandOutput> {
  const willSend = !('report' in planned);
  if (willSend && context.settings.output === 'ndjson') return streamed(context, planned);
  return renderReport(context, await executeRun(context, planned));
}

/** Renders the report of a run, or of an invocation that sent nothing. */
export function renderReport(context: Context, ended: EndedRun): CommandOutput {
  const { run, report, names, exitName, failed, onWritten } = ended;
  const printsBelow = context.isInteractive && !context.settings.fields;
  printWrongRows(context, report);
  // Why it stopped is said below.
  if (!ended.stop?.error) printUnsent(context, report);
  if (!run) printSummary(context, report);
  else if (!printsBelow) printEnd(context, ended);
  return {
    value: report,
    view: reportViewFor(context, { names, ...(run && wordsOf(context, run)) }),
    isReport: true,
    keptIn: report.run ?? undefined,
    exitName,
    failed,
    onWritten,
    ...(printsBelow && {
      printAfter: (how) => (run ? printEnd(context, ended, how) : printNextStep(context, report)),
    }),
  };
}

/** Prints what to do about rows that all failed alike, so that nothing was sent. */
function printNextStep(context: Context, { results }: BulkReport): void {
  const hints = new Set(results.map(({ error }) => error?.hint));
  const [hint] = hints;
  if (hints.size > 1 || hint === undefined) return;
  for (const line of hint.split('\n')) context.note(line);
}

/** The words of a run's report for a person: what it did, its name, and how to undo it. */
function wordsOf(context: Context, run: PlannedRun): Pick<ReportStyle, 'action' | 'run' | 'undo'> {
  const { store, plan, invocation } = run;
  const { head } = plan;
  const { operation, teams } = invocation;
  const action = { action: head.action, resource: operation.resource, teams };
  if (!store || !context.isInteractive) return { action };
  return { action, run: shortRunName(store, head.run), undo: undoLine(context, run) };
}

/**
 * `Undo: rosterctl runs undo d181ba`, with the flags of this command line that it needs; undefined for a run
 * that cannot be undone.
 */
export function undoLine(
  { flags, table }: Context,
  { store, images, plan, invocation }: PlannedRun,
): string | undefined {
  if (!store || !images || !verbs[invocation.operation.verb].canUndo) return undefined;
  const run = shortRunName(store, plan.head.run);
  return withConnectionFlags(`Undo: rosterctl runs undo ${run}`, flags, table);
}

/** Prints to stderr how a run that sent ended and how to resume it; below the report if a person reads that. */
export function printEnd(
  context: Context,
  { run, report, stop, exitName }: EndedRun,
  { isShown, isKept }: PrintedHow = { isShown: false },
): void {
  if (!run) return;
  const { store, invocation, plan } = run;
  const { verb } = invocation.operation;
  const rate = invocation.values.rate ?? context.settings.rate;
  const unended = store ? report.results.filter((row) => !hasEnded(run, row)) : [];
  // The hint of a guard says what to do instead.
  const canResume = unended.length > 0 && !(stop?.error instanceof GuardError);
  const stopped = stop ? stopLines(context, report, stop, { isShown, rate }) : [];
  // The run that is resumed reads each record before it sends anything.
  const isReadAgain = canResume && verb !== 'create';
  for (const line of stopped) if (line !== readFirst || !isReadAgain) context.message(line);
  // A person's report names the run.
  if (store && !isShown) context.note(`Run ${report.run}: ${summaryLine(report)}`);
  if (canResume) context.message(unfinishedLine(context, run, unended, stop?.error));
  const canRetry = store && unended.length === 0 && exitName === 'rowsFailed';
  if (canRetry && isShown && !isKept)
    context.note(
      nextLine(report, verb, (count) =>
        nextCommand(context, invocation, plan.head.run, 'retry', count),
      ),
    );
}

const tooFast = 'Some services answer 503 to requests that come too fast: add --rate 5/s.';

/** Returns why a run stopped, unless a row shown says it, and what to do about it. */
function stopLines(
  context: Context,
  { action, results }: BulkReport,
  { reason, error }: StopReason,
  { isShown, rate }: { isShown: boolean; rate: number | undefined },
): readonly string[] {
  if (!error) return [`Stopped: ${reason}`];
  const { code, message, hint = '', status } = rowError(context, action.split('.'), error, '');
  const isSaid =
    isShown && results.some(({ result, error: own }) => wentWrong(result) && own?.code === code);
  // Proxies that limit the rate answer so, too.
  const isPerhapsTooFast =
    status === 503 && rate === undefined && results.some(({ result }) => result === 'changed');
  return [
    ...(isSaid ? [] : [`Stopped: ${message}`]),
    ...(isExhausted(error) || hint === '' ? [] : hint.split('\n')),
    ...(isPerhapsTooFast ? [tooFast] : []),
  ];
}

/** Says what to do about the rows of a finished run that went wrong. */
function nextLine(
  { results }: BulkReport,
  verb: RunVerb,
  retryCommand: (count: number) => string,
): string {
  const wrong = results.filter(({ result }) => wentWrong(result));
  // A retry would read the same lines, which are as wrong as before.
  const isOfFile = verb === 'import' && wrong.every(({ error }) => error?.code === 'input');
  return isOfFile
    ? 'Fix these lines, then import the file again.'
    : `To try those again: ${retryCommand(wrong.length)}`;
}

function streamed(context: Context, run: PlannedRun): CommandOutput {
  let ended: EndedRun | undefined;
  const stream = async function* (): AsyncGenerator<readonly JsonObject[]> {
    const rows = batchQueue<JsonObject>();
    const running = executeRun(context, run, rows.push).finally(rows.end);
    running.catch(() => {});
    try {
      yield* rows.batches();
    } finally {
      // A closed stdout does not stop a started run.
      ended = await running;
      printEnd(context, ended);
    }
    if (!context.settings.fields) yield [closingLine(ended.report)];
  };
  return {
    value: recordStream(stream),
    view: { rowFields: reportView.rowFields },
    isReport: true,
    get keptIn() {
      return ended?.report.run ?? undefined;
    },
    get exitName() {
      return ended?.exitName ?? 'failed';
    },
    get failed() {
      return ended?.failed;
    },
    onWritten: async () => ended?.onWritten?.(),
  };
}
