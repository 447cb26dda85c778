/** Carries out what was planned and shows it: a report of many rows, or the outcome of one. */
import type { Shown } from '../cli/define.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import { recordStream, type Item } from '../data/batches.js';
import { isObject, type JsonObject } from '../data/json.js';
import { CancelledError, type Failure } from '../errors.js';
import { ConflictError } from '../data/outcome-errors.js';
import {
  type EndedRun,
  type ExecutedRun,
  executeRun,
  hasEnded,
  type PlannedRun,
  printUnfinished,
} from './execute.js';
import type { Invocation } from './invocation.js';
import type { Session } from './operation.js';
import type { Planned } from './planned-run.js';
import type { ReportRow } from './report.js';
import { reportView, reportViewFor, printSummary } from './report-view.js';
import { readRun } from './runs.js';
import { resultLines } from './results.js';
import { unknownOutcome } from './verify.js';

/**
 * Carries out a run of many rows. ndjson: each row when its result is on disk, the summary last;
 * other formats, and where nothing was to be sent: the whole report.
 */
export async function showRun(context: Context, planned: Planned): Promise<Shown> {
  if (!('ready' in planned)) return shownReport(context, planned);
  if (context.settings.output !== 'ndjson')
    return shownExecuted(context, await executeRun(context, planned.ready));
  return streamed(context, planned.ready);
}

function shownReport(context: Context, { report, ...ended }: EndedRun): Shown {
  printSummary(context, report);
  return { value: report, view: reportViewFor(context.settings), isReport: true, ...ended };
}

function shownExecuted(
  context: Context,
  { report, exitName, failed, written, printEnd }: ExecutedRun,
): Shown {
  const isBelow = context.isInteractive && !context.settings.fields;
  if (!isBelow) printEnd();
  return {
    value: report,
    view: reportViewFor(context.settings),
    isReport: true,
    exitName,
    failed,
    written,
    ...(isBelow && { printAfter: printEnd }),
  };
}

function streamed(context: Context, run: PlannedRun): Shown {
  let ended: ExecutedRun | undefined;
  const stream = async function* (): AsyncGenerator<readonly Item<JsonObject>[]> {
    const queue = newQueue<ReportRow>();
    const running = executeRun(context, run, queue.push).finally(queue.end);
    running.catch(() => {});
    try {
      for await (const rows of queue.batches()) yield rows.map((value) => ({ value }));
    } finally {
      // A reader that went away does not stop what was begun.
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
    written: async () => ended?.written?.(),
  };
}

// --- one row ---

/**
 * Carries out the write of one record and shows its outcome: in json the record, at a terminal a
 * line, in a pipe the report's row. Throws the failure that ended it, unless a report is due.
 */
export async function showOne(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  planned: Planned,
): Promise<Shown> {
  if (!('ready' in planned)) return shownOne(context, invocation, unsent(planned));
  const { ready } = planned;
  const ended = await executeRun(context, ready);
  return shownOne(context, invocation, await outcomeOf(context, ready, ended));
}

async function shownOne(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  outcome: OneOutcome,
): Promise<Shown> {
  const { operation } = invocation;
  const { row, error, ended } = outcome;
  const exitName = error ? error.exitName : ended.exitName;
  if (operation.reports) {
    if ('printEnd' in ended) return { ...shownExecuted(context, ended as ExecutedRun), exitName };
    return { ...shownReport(context, ended), exitName, failed: error && { id: row.id, error } };
  }
  if (error) {
    for (const [field, value] of row.step === undefined ? [] : Object.entries(row.after ?? {}))
      context.message(`The ${field} was set to ${String(value)}; the rest was not done.`);
    await ended.written?.();
    throw error;
  }
  const { session, record } = outcome;
  if (row.result === 'skipped' || row.result === 'unchanged')
    context.note(unsentNote(row, session, record));
  const present = session.present ?? ((found: JsonObject | undefined) => found ?? { id: row.id });
  // What was not written is shown as it was read.
  const value = row.result === 'changed' || !record ? await present(record, row) : record;
  // The record of a write may hold no more than an id: the line names what is shown.
  const view = oneView(context, invocation, {
    ...outcome,
    record: isObject(value) ? value : record,
  });
  return { value, view, exitName: 'done', isReport: true, written: ended.written };
}

/** What the only row of a command line came to. */
interface OneOutcome {
  readonly row: ReportRow;
  readonly record: JsonObject | undefined;
  readonly error: Failure | undefined;
  readonly session: Session;
  readonly ended: EndedRun;
  /** Where its before-image is kept. */
  readonly run: string | undefined;
}

/** The outcome of one row of a run that was taken up. Throws the failure that ended it. */
export async function showFinished(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  { ended, run }: { readonly ended: ExecutedRun; readonly run: PlannedRun },
): Promise<Shown> {
  return shownOne(context, invocation, await outcomeOf(context, run, ended));
}

async function outcomeOf(
  context: Context,
  run: PlannedRun,
  ended: ExecutedRun,
): Promise<OneOutcome> {
  const { report, last } = ended;
  const row = report.results.find((each) => run.tasks.some((task) => task.row === each.row));
  const found: ReportRow = row ?? {
    row: 1,
    id: run.plan.rows[0]?.id ?? '',
    result: 'not_attempted',
  };
  const error = isGood(found) ? undefined : (last?.error ?? failureOfRow(found));
  const { operation } = run.invocation;
  const isUnfinished = !hasEnded(run, found) || (await isLeft(run));
  if (isUnfinished && !operation.reports && run.store) printUnfinished(context, run, 1);
  return {
    row: found,
    record: last?.record,
    error,
    session: run.session,
    ended,
    run: run.images && run.plan.head.run,
  };
}

/** A file that has arrived and whose document was refused can still be finished. */
async function isLeft({ store, plan, invocation: { operation } }: PlannedRun): Promise<boolean> {
  if (!store || !operation.recovery) return false;
  const stored = await readRun(store, plan.head.run);
  return stored !== undefined && operation.recovery.isLeft(stored);
}

function unsent({ only, ...ended }: Extract<Planned, { report: unknown }>): OneOutcome {
  const [row = { row: 1, id: '', result: 'not_attempted' as const }] = ended.report.results;
  if (!only) throw new CancelledError('Nothing was done.');
  const error = isGood(row) ? undefined : (only.failure ?? failureOfRow(row));
  return { row, record: only.record, error, session: only.session, ended, run: undefined };
}

function isGood({ result }: ReportRow): boolean {
  return result === 'changed' || result === 'unchanged' || result === 'skipped';
}

/** The error of a row that ended by what was read, and by no failure. */
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

/** json, csv and ids show the record; a table one line at a terminal, the report's row in a pipe. */
function oneView(
  context: Context,
  invocation: Omit<Invocation, 'source'>,
  outcome: OneOutcome,
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
    lines: (_, { columns }) => (isQuiet ? [] : resultLines(context, invocation, outcome, columns)),
  };
}

/** What is pushed comes out in order, as it comes, until the end. */
function newQueue<T>() {
  let queue: T[] = [];
  let over = false;
  let wake: (() => void) | undefined;
  return {
    push: (item: T) => {
      queue.push(item);
      wake?.();
    },
    end: () => {
      over = true;
      wake?.();
    },
    async *batches(): AsyncGenerator<readonly T[]> {
      for (;;) {
        const found = queue;
        queue = [];
        if (found.length > 0) yield found;
        if (queue.length > 0) continue;
        if (over) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
