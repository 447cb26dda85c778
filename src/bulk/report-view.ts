/** How the report of a run is shown: to a person and in a pipe. */
import type { FailedOne } from '../cli/failure.js';
import { goneThing, changeText } from '../cli/lines.js';
import type { Canvas, View } from '../cli/views.js';
import type { Context } from '../context.js';
import { RunError } from '../data/outcome-errors.js';
import { nameFirstFew } from '../data/text.js';
import { Failure, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { singleLine } from '../terminal/safe-text.js';
import { type BulkReport, isDelete, type ReportRow, summarize, wentWrong } from './report.js';
import type { RunHead } from './run-plan.js';

/** The names of what stands in a report itself, beside its rows. */
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
      // What was made has an id of its own, if anybody said it; a row of files has only a path.
      .map(({ id, after }) => ({ id: after?.['id'] === undefined ? id : after['id'] }))
      .filter(({ id }) => id !== null),
  closing: ({ results: _rows, ...report }) => ({ type: 'summary', ...report }),
};

/** The view of a report: with --quiet a table holds only the rows that went wrong and no summary. */
export function reportViewFor({
  quiet,
  output,
  dryRun,
}: Pick<Context['settings'], 'quiet' | 'output' | 'dryRun'>): View<BulkReport> {
  if (!quiet || dryRun || output !== 'table') return reportView;
  return {
    ...reportView,
    rows: wrongRows,
    lines: (report, canvas) =>
      reportLines({ ...report, results: wrongRows(report) }, canvas).slice(0, -1),
  };
}

/** Rows for a program do not add up by themselves; JSON and a person's report hold the sum. */
export function printSummary(
  context: Pick<Context, 'settings' | 'isInteractive' | 'note'>,
  report: BulkReport,
): void {
  const { output } = context.settings;
  if (context.isInteractive || output === 'json' || output === 'ndjson') return;
  context.note(summaryLine(report));
}

/** A misspelt field of the report is an error before anything is done. Throws UsageError. */
export async function checkFields({
  settings: { fields, output },
}: Pick<Context, 'settings'>): Promise<void> {
  if (!fields) return;
  const { checkRowFields } = await import('../cli/chosen-fields.js');
  const isWhole =
    output === 'json' && fields.every((field) => reportFields.has(field.split('.')[0]));
  if (!isWhole) checkRowFields(fields, reportView);
}

const isLeft = ({ result }: ReportRow) => result === 'not_attempted';
const isWrong = ({ result }: ReportRow) => wentWrong(result);
const wrongRows = ({ results }: BulkReport) => results.filter(isWrong);

/**
 * The bulk report for a person: one line a row, then the summary that adds up. What went wrong comes
 * last, where it is seen, however many rows there are; on a screen most of those that nobody came to
 * are only counted.
 */
export function reportLines(
  { results, summary, action }: BulkReport,
  { paint, isTerminal }: Canvas,
): string[] {
  const left = results.filter(isLeft);
  const untouched = new Set(
    left.filter(({ error }) => error === undefined).slice(isTerminal ? nameFirstFew : Infinity),
  );
  const named = left.filter((row) => !untouched.has(row));
  const wrong = results.filter(isWrong);
  const rest = results.filter((row) => !isLeft(row) && !isWrong(row));
  const width = [...rest, ...named, ...wrong].reduce(
    (most, { id }) => Math.max(most, id.length),
    0,
  );
  const line = (row: ReportRow) => rowLine(row, width, isDelete(action));
  return [
    ...rest.map(line),
    ...named.map(line),
    ...(untouched.size > 0 ? [paint.dim(`and ${untouched.size} more not attempted`)] : []),
    ...wrong.map(line),
    paint.bold(summaryLine({ summary })),
  ];
}

function rowLine(
  { id, result, before, after, error, step }: ReportRow,
  width: number,
  deletes: boolean,
): string {
  const { message } = (error ?? {}) as { readonly message?: string };
  const moved = Object.keys(after ?? {}).map((field) => {
    const [from, to] = [before?.[field], after?.[field]];
    if (!deletes) return `${field} ${changeText(from, to)}`;
    return `${result === 'would_change' ? 'delete' : 'deleted'} ${goneThing(field, from)}`;
  });
  const done = step === undefined ? '' : ` (done: ${moved.join(', ')})`;
  const detail = message ? `${singleLine(message)}${done}` : moved.join(', ');
  return `${singleLine(id).padEnd(width)}  ${result.padEnd(13)}  ${detail}`.trimEnd();
}

/** `9 changed, 1 unchanged, 1 failed of 11`; zero counts are left out. */
export function summaryLine({ summary }: Pick<BulkReport, 'summary'>): string {
  const { total, ...counts } = summary;
  if (total === 0) return 'No record matches. Nothing to do.';
  const words: Record<string, string> = {
    notAttempted: 'not attempted',
    wouldChange: 'would change',
  };
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${words[name] ?? name}`);
  return `${parts.join(', ') || 'nothing done'} of ${total}`;
}

/** A report of rows that are all there. */
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

/** The error that stopped a run, or that it did not end well; undefined where it did. */
export function failedRun(
  report: BulkReport,
  exitName: ExitName,
  error?: Failure,
): FailedOne | undefined {
  if (exitName === 'done') return undefined;
  const { run, summary } = report;
  // What a row met and reading settled is not what the run ended with.
  const isSettled = error instanceof UnknownOutcomeError && summary.unknown === 0;
  if (error && !isSettled) return { id: '', error };
  const verb = summary.unknown + summary.notAttempted > 0 ? 'resume' : 'retry';
  const hint = exitName === 'rowsFailed' && run ? `rosterctl runs ${verb} ${run}` : undefined;
  return { id: '', error: new RunError(`${summaryLine(report)}.`, exitName, { hint }) };
}
