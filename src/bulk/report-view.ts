/** Renders the report of a run, for a person and in a pipe. */

import { withConnectionFlags } from '../cli/connection-flags.js';
import type { FailedItem } from '../cli/failure.js';
import type { Canvas, View } from '../cli/views.js';
import type { Context } from '../context.js';
import { isUtf8Locale } from '../data/environment.js';
import { RunError } from '../data/outcome-errors.js';
import { nameFirstFew } from '../data/text.js';
import { Failure, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { RunHead } from '../runs/plan.js';
import {
  type BulkReport,
  isDeletion,
  type ReportRow,
  type RowResult,
  summarize,
  wentWrong,
} from '../runs/report.js';
import { singleLine } from '../terminal/safe-text.js';
import { hangingLines } from '../terminal/whole-words.js';
import { displayWidth, pad, truncate, widestOf, wrap } from '../terminal/width.js';
import {
  type Action,
  counted,
  describeOne,
  named,
  resultWord,
  rowChanges,
  verbOf,
} from './words.js';

/** The top-level fields of a report. */
const reportFields: ReadonlySet<string | undefined> = new Set([
  'schema',
  'run',
  'profile',
  'organization',
  'action',
  'dryRun',
  'summary',
  'results',
] satisfies (keyof BulkReport)[]);

const rowFields = [
  'row',
  'id',
  'result',
  'before',
  'after',
  'error',
  'step',
  'retryable',
] satisfies (keyof ReportRow)[];

/** The bulk report of docs, section 5. */
export const reportView: View<BulkReport> = {
  kind: 'lines',
  lines: reportLines,
  rows: ({ results }) => results,
  rowFields,
  idRows: ({ results }) =>
    results
      .filter(({ result }) => ['changed', 'unchanged', 'would_change'].includes(result))
      // A created record has its own id, unless the service did not return it; a row of files has only a path.
      .map(({ id, after }) => ({ id: after?.['id'] === undefined ? id : after['id'] }))
      .filter(({ id }) => id !== null),
  closing: ({ results: _rows, ...report }) => ({ type: 'summary', ...report }),
};

/** What a person's report says beside the report itself. */
interface ReportDetails {
  readonly action?: Action | undefined;
  /** The names of the first rows' records, by id. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  /** The run as a person types it, if it can be named. */
  readonly run?: string | undefined;
  /** True if `runs undo` can take the run back. */
  readonly canUndo?: boolean;
}

/**
 * The view of a report of changes. A person gets its summary and the rows that went wrong, with
 * --verbose all rows; with --quiet a table holds only the rows that went wrong.
 */
export function reportViewFor(
  context: Pick<Context, 'settings' | 'env' | 'flags' | 'table'>,
  { action, names, run, canUndo = false }: ReportDetails = {},
): View<BulkReport> {
  const { settings, flags, table, env } = context;
  const undo =
    run === undefined || !canUndo
      ? undefined
      : withConnectionFlags(`Undo: rosterctl runs undo ${run}`, flags, table);
  if (settings.quiet && !settings.dryRun && settings.output === 'table')
    return {
      ...reportView,
      rows: wrongRows,
      lines: (report, canvas) => wrongRows(report).flatMap(rowLinesOf(report, canvas, { names })),
    };
  const style = { action, names, run, undo, isUtf8: isUtf8Locale(env) };
  return {
    ...reportView,
    lines: (report, canvas) =>
      settings.verbose || settings.dryRun || !canvas.isTerminal
        ? reportLines(report, canvas, style)
        : shortReport(report, canvas, style),
  };
}

/** Prints the summary to stderr when stdout holds only rows; JSON and a person's report include it. */
export function printSummary(
  context: Pick<Context, 'settings' | 'isInteractive' | 'note'>,
  report: BulkReport,
): void {
  const { output } = context.settings;
  if (context.isInteractive || output === 'json' || output === 'ndjson') return;
  context.note(summaryLine(report));
}

/** Checks `--fields` against the report before anything is done. Throws UsageError. */
export async function checkFields({
  settings: { fields, output },
}: Pick<Context, 'settings'>): Promise<void> {
  if (!fields) return;
  const { checkRowFields } = await import('../cli/chosen-fields.js');
  const selectsReport =
    output === 'json' && fields.every((field) => reportFields.has(field.split('.')[0]));
  if (!selectsReport) checkRowFields(fields, reportView);
}

const isUnattempted = ({ result }: ReportRow) => result === 'not_attempted';
const isWrong = ({ result }: ReportRow) => wentWrong(result);
const wrongRows = ({ results }: BulkReport) => results.filter(isWrong);

interface ReportStyle {
  /** What the report is about; by default its own action. */
  readonly action?: Action | undefined;
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly run?: string | undefined;
  readonly undo?: string | undefined;
  readonly isUtf8?: boolean;
}

/** The summary, and below it the rows that went wrong; a single change is one line. */
function shortReport(report: BulkReport, canvas: Canvas, style: ReportStyle): readonly string[] {
  const { results, summary } = report;
  const { action = report, names } = style;
  const [only] = results;
  const { notAttempted, failed, conflict, unknown, changed } = summary;
  const mark = markOf(failed + conflict + unknown + notAttempted === 0, style.isUtf8);
  const undo = changed > 0 ? style.undo : undefined;
  if (only?.result === 'changed' && results.length === 1) {
    const { id } = only;
    const what = isDeletion(report, only)
      ? `${named(names?.get(id), id)}: ${verbOf(action).done}`
      : describeOne(only, action, { name: names?.get(id) });
    return headline(`${mark} ${singleLine(what)}.`, undo, canvas);
  }
  const run = style.run === undefined ? '' : ` Run ${style.run}.`;
  const listed = results.filter(
    (row) => isWrong(row) || (isUnattempted(row) && row.error !== undefined),
  );
  return [
    ...headline(`${mark} ${summaryLine(report, action)}.${run}`, undo, canvas),
    ...listed.flatMap(rowLinesOf(report, canvas, { action, names, indent: '  ' })),
  ];
}

/** `✔` or `✘`; in ASCII `ok` or `error:`. */
export function markOf(isGood: boolean, isUtf8 = true): string {
  if (isGood) return isUtf8 ? '✔' : 'ok';
  return isUtf8 ? '✘' : 'error:';
}

/** A line with the undo command behind it, or below it where both do not fit. */
export function headline(
  line: string,
  undo: string | undefined,
  { columns, paint, isTerminal }: Pick<Canvas, 'columns' | 'paint' | 'isTerminal'>,
): readonly string[] {
  const [mark = ''] = line.split(' ', 1);
  const painted = (text: string) => paint.status(mark) + text.slice(mark.length);
  if (undo === undefined) return wrapAt(line, isTerminal ? columns : Infinity, painted);
  const both = `${line}   ${undo}`;
  if (displayWidth(both) <= columns) return [painted(both)];
  return [...wrapAt(line, columns, painted), undo];
}

function wrapAt(line: string, columns: number, painted: (text: string) => string): string[] {
  const [first = '', ...rest] = wrap(line, columns);
  return [painted(first), ...rest];
}

/**
 * Renders the bulk report for a person: one line per row, then the summary. Rows that went wrong come
 * last, where they stay visible however many rows there are. On a terminal only the first unattempted
 * rows are listed and the rest are counted.
 */
export function reportLines(
  report: BulkReport,
  canvas: Canvas,
  { action = report, names, run, undo, isUtf8 }: ReportStyle = {},
): string[] {
  const { results, summary } = report;
  const { paint, isTerminal } = canvas;
  const unattempted = results.filter(isUnattempted);
  const unlisted = new Set(
    unattempted
      .filter(({ error }) => error === undefined)
      .slice(isTerminal ? nameFirstFew : Infinity),
  );
  const listed = [
    ...results.filter((row) => !isUnattempted(row) && !isWrong(row)),
    ...unattempted.filter((row) => !unlisted.has(row)),
  ];
  const wrong = results.filter(isWrong);
  const lines = rowLinesOf(report, canvas, { action, names, rows: [...listed, ...wrong] });
  const runText = run === undefined ? '' : ` Run ${run}.`;
  const nothing = report.dryRun && summary.total > 0 ? ' Nothing was sent.' : '';
  const isGood = wrong.length + unattempted.length === 0 && !report.dryRun && run !== undefined;
  const mark = isGood ? `${markOf(true, isUtf8)} ` : '';
  const last = `${mark}${summaryLine(report, action)}`;
  return [
    ...listed.flatMap(lines),
    ...(unlisted.size > 0 ? [paint.dim(`and ${unlisted.size} more not sent`)] : []),
    ...wrong.flatMap(lines),
    ...(run === undefined
      ? [paint.bold(`${last}${nothing && `.${nothing}`}`)]
      : headline(`${last}.${runText}`, undo, canvas)),
  ];
}

/** Returns a function that renders a row: id, name, result and what changed or why not, in columns. */
function rowLinesOf(
  report: BulkReport,
  { isTerminal, columns, paint }: Canvas,
  {
    action = report,
    names,
    indent = '',
    rows = wrongRows(report),
  }: Pick<ReportStyle, 'action' | 'names'> & {
    readonly indent?: string;
    readonly rows?: readonly ReportRow[];
  },
): (row: ReportRow) => string[] {
  const nameOf = ({ id }: ReportRow) => truncate(singleLine(names?.get(id) ?? ''), widestName);
  const idWidth = widestOf(rows.map(({ id }) => singleLine(id)));
  const nameWidth = names ? widestOf(rows.map(nameOf)) : 0;
  const wordWidth = widestOf(rows.map(({ result }) => resultWord(result, action)));
  return (row) => {
    const result = pad(resultWord(row.result, action), wordWidth);
    const name = nameWidth > 0 ? `${pad(nameOf(row), nameWidth)}  ` : '';
    const before = `${indent}${pad(singleLine(row.id), idWidth)}  ${name}`;
    const head = `${before}${result}  `;
    const room = isTerminal ? columns - (displayWidth(head) - head.length) : Infinity;
    const lines = hangingLines(head, rowDetail(row, action, isDeletion(report, row)), room);
    const painted = before + paint.status(result);
    return lines.map((line, index) =>
      index === 0 && line.startsWith(head.trimEnd())
        ? painted + line.slice(before.length + result.length)
        : line,
    );
  };
}

const widestName = 32;

function rowDetail(row: ReportRow, action: Action, deletes: boolean): string {
  const { message } = (row.error ?? {}) as { readonly message?: string };
  const changes = singleLine(rowChanges(row, action, deletes));
  const done = row.step === undefined ? '' : ` (done: ${changes})`;
  return message ? `${singleLine(message)}${done}` : changes;
}

/** `9 changed, 1 unchanged, 1 failed of 11`, in words of the action; zero counts are left out. */
export function summaryLine(
  report: Pick<BulkReport, 'summary' | 'action'>,
  action: Action = report,
): string {
  const { total, ...counts } = report.summary;
  if (total === 0) return `No ${counted(1, action).slice(2)} matches. Nothing to do.`;
  const results: { readonly [count: string]: RowResult } = {
    changed: 'changed',
    notAttempted: 'not_attempted',
    wouldChange: 'would_change',
  };
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${resultWord(results[name] ?? (name as RowResult), action)}`);
  return `${parts.join(', ') || 'nothing done'}${parts.length === 1 ? '' : ` of ${total}`}`;
}

/** Builds the report of a run from all its rows. */
export function reportOf(
  context: Context,
  head: Pick<RunHead, 'action'> & { readonly run: string | null; readonly of?: string | undefined },
  rows: readonly ReportRow[],
): BulkReport {
  const { settings, api } = context;
  return {
    schema: 1,
    run: head.run,
    ...(head.of !== undefined && { of: head.of }),
    profile: settings.profile.name,
    organization: api.organizationId,
    action: head.action,
    dryRun: settings.dryRun,
    summary: summarize(rows, { dryRun: settings.dryRun }),
    results: rows.toSorted((a, b) => a.row - b.row),
  };
}

/** The error that stopped a run, or one that says how it failed; undefined if it succeeded. */
export function failedRun(
  report: BulkReport,
  exitName: ExitName,
  error?: Failure,
): FailedItem | undefined {
  if (exitName === 'done') return undefined;
  const { run, summary } = report;
  // An unknown outcome that was verified later is not why the run failed.
  const isVerified = error instanceof UnknownOutcomeError && summary.unknown === 0;
  if (error && !isVerified) return { id: '', error };
  const verb = summary.unknown + summary.notAttempted > 0 ? 'resume' : 'retry';
  const hint = exitName === 'rowsFailed' && run ? `rosterctl runs ${verb} ${run}` : undefined;
  return { id: '', error: new RunError(`${summaryLine(report)}.`, exitName, { hint }) };
}
