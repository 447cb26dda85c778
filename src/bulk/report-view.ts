/** Renders the report of a run, for a person and in a pipe. */

import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { groupedNumber, upTo } from '../data/text.js';
import {
  type BulkReport,
  type ReportRow,
  reportRowFields,
  resultWord,
  summaryLine,
} from '../runs/report.js';
import { verbOfAction } from '../runs/verb.js';
import { linesOfRows, type ReportStyle, reportLines, wrongRows } from './report-lines.js';
import { aboutRow } from './row-lines.js';

const reportFields: ReadonlySet<string | undefined> = new Set([
  'schema',
  'run',
  'profile',
  'organization',
  'plan',
  'action',
  'dryRun',
  'summary',
  'results',
] satisfies (keyof BulkReport)[]);

/** The bulk report, for every format. */
export const reportView: View<BulkReport> = {
  lines: reportLines,
  rows: ({ results }) => results,
  rowFields: reportRowFields,
  idRows: ({ results, ...report }) =>
    recordIds({
      ...report,
      results: results.filter(({ result }) =>
        ['changed', 'unchanged', 'would_change'].includes(result),
      ),
    }),
  closing: closingLine,
};

/** Returns the last line of a report in NDJSON. */
export function closingLine({ results: _rows, ...report }: BulkReport): JsonObject {
  return { type: 'summary', ...report };
}

/** Returns the ids of the records of all rows. */
export function recordIds(report: BulkReport): readonly JsonObject[] {
  return report.results
    .map((row) => ({ id: recordIdOf(row, report) }))
    .filter(({ id }) => id !== null);
}

/** Returns the id of a row's record; null if it is still to be created, or the service did not return its id. */
function recordIdOf({ id, ref, after }: ReportRow, { dryRun, action }: BulkReport): unknown {
  const made = after?.['id'];
  if (made !== undefined) return dryRun ? null : made;
  return ref === id || ['create', 'upload'].includes(verbOfAction(action)) ? null : id;
}

/**
 * The view of a report of changes. A person gets its summary and the rows that went wrong, with
 * --verbose all rows; with --quiet a table holds only the rows that went wrong, or would change.
 */
export function reportViewFor({ settings }: Context, words: ReportStyle = {}): View<BulkReport> {
  const { dryRun, verbose } = settings;
  if (isQuietTable(settings)) {
    const rows = dryRun ? (report: BulkReport) => withoutUnchanged(report).results : wrongRows;
    return {
      ...reportView,
      rows,
      lines: (report, canvas) => linesOfRows(report, rows(report), canvas, words).flat(),
    };
  }
  const style = { ...words, isBrief: !dryRun && !verbose };
  return {
    ...reportView,
    lines: (report, canvas) =>
      reportLines(dryRun && !verbose ? withoutUnchanged(report) : report, canvas, style),
  };
}

/** True if --quiet leaves rows out of a table; the lines of --template were asked for. */
function isQuietTable({ quiet, output, template }: Context['settings']): boolean {
  return quiet && output === 'table' && template === undefined;
}

/** True if stdout shows no row that went wrong: ids leave it out, and with --quiet a file says nothing. */
function hidesErrors({ output, out = '-', quiet }: Context['settings']): boolean {
  return output === 'ids' || (quiet && out !== '-' && !['json', 'ndjson'].includes(output));
}

function withoutUnchanged(report: BulkReport): BulkReport {
  return { ...report, results: report.results.filter(({ result }) => result !== 'unchanged') };
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

/** So many of them are named. */
const mostWrong = 20;

/** Names on stderr the rows that went wrong and why where stdout does not, also with --quiet: these are errors. */
export function printWrongRows(
  context: Pick<Context, 'settings' | 'message'>,
  report: BulkReport,
): void {
  if (!hidesErrors(context.settings)) return;
  const wrong = wrongRows(report);
  for (const { id, result, error } of wrong.slice(0, mostWrong))
    context.message(`${id}: ${aboutRow(error?.message ?? resultWord(result, report), id)}`);
  const more = wrong.length - mostWrong;
  if (more > 0) context.message(`… and ${groupedNumber(more)} more.`);
}

/** Says on stderr why rows were not sent, where stdout leaves them out. */
export function printUnsent(
  { settings, message }: Pick<Context, 'settings' | 'message'>,
  { dryRun, results }: BulkReport,
): void {
  if (!hidesErrors(settings) && (dryRun || !isQuietTable(settings))) return;
  const counts = new Map<string, number>();
  for (const { result, error } of results)
    if (result === 'not_attempted' && error)
      counts.set(error.message, (counts.get(error.message) ?? 0) + 1);
  const lines = [...counts].map(([why, count]) => `${groupedNumber(count)} not sent: ${why}`);
  for (const line of upTo(mostWrong, lines, (more) => `… and ${groupedNumber(more)} more reasons.`))
    message(line);
}

/** Checks `--fields` and `--template` against the report before anything is done. Throws UsageError. */
export async function checkFields({ settings }: Pick<Context, 'settings'>): Promise<void> {
  if ((settings.fields ?? settings.template) === undefined) return;
  const { checkRowFields } = await import('../cli/chosen-fields.js');
  const { chosenFields } = await import('../cli/lists/template.js');
  const fields = chosenFields(settings);
  const selectsReport =
    settings.output === 'json' && fields.every((field) => reportFields.has(field.split('.')[0]));
  if (!selectsReport) checkRowFields(fields, reportView);
}
