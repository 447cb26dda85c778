/** Renders the report of a run, for a person and in a pipe. */
import type { FailedItem } from '../cli/failure.js';
import { changeText, deletedValue } from '../cli/lines.js';
import type { Canvas, View } from '../cli/views.js';
import type { Context } from '../context.js';
import { RunError } from '../data/outcome-errors.js';
import { nameFirstFew } from '../data/text.js';
import { Failure, UnknownOutcomeError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { RunHead } from '../runs/plan.js';
import {
  type BulkReport,
  isDeletion,
  type ReportRow,
  summarize,
  wentWrong,
} from '../runs/report.js';
import { singleLine } from '../terminal/safe-text.js';
import { hangingLines } from '../terminal/whole-words.js';

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

/** The view of a report; with --quiet, a table holds only the rows that went wrong, without the summary. */
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

/**
 * Renders the bulk report for a person: one line per row, then the summary. Rows that went wrong come
 * last, where they stay visible however many rows there are. On a terminal only the first unattempted
 * rows are listed and the rest are counted.
 */
export function reportLines(report: BulkReport, { paint, isTerminal, columns }: Canvas): string[] {
  const { results, summary } = report;
  const unattempted = results.filter(isUnattempted);
  const unlisted = new Set(
    unattempted
      .filter(({ error }) => error === undefined)
      .slice(isTerminal ? nameFirstFew : Infinity),
  );
  const named = unattempted.filter((row) => !unlisted.has(row));
  const wrong = results.filter(isWrong);
  const rest = results.filter((row) => !isUnattempted(row) && !isWrong(row));
  const width = [...rest, ...named, ...wrong].reduce(
    (most, { id }) => Math.max(most, id.length),
    0,
  );
  const lines = (row: ReportRow) =>
    hangingLines(
      rowHead(row, width),
      rowDetail(row, isDeletion(report, row)),
      isTerminal ? columns : Infinity,
    );
  return [
    ...rest.flatMap(lines),
    ...named.flatMap(lines),
    ...(unlisted.size > 0 ? [paint.dim(`and ${unlisted.size} more not attempted`)] : []),
    ...wrong.flatMap(lines),
    paint.bold(summaryLine({ summary })),
  ];
}

function rowHead({ id, result }: ReportRow, width: number): string {
  return `${singleLine(id).padEnd(width)}  ${result.padEnd(13)}  `;
}

function rowDetail({ result, before, after, error, step }: ReportRow, deletes: boolean): string {
  const { message } = (error ?? {}) as { readonly message?: string };
  const changes = Object.keys(after ?? {}).map((field) => {
    const [from, to] = [before?.[field], after?.[field]];
    if (!deletes) return `${field} ${changeText(from, to)}`;
    return `${result === 'would_change' ? 'delete' : 'deleted'} ${deletedValue(field, from)}`;
  });
  const done = step === undefined ? '' : ` (done: ${changes.join(', ')})`;
  return message ? `${singleLine(message)}${done}` : changes.join(', ');
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
