/** Renders the report of a run, for a person and in a pipe. */
import { deletedValue } from '../cli/lines.js';
import type { Canvas, View } from '../cli/views.js';
import { isJsonFormat } from '../config/choices.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { groupedNumber, nameFirstFew, upTo } from '../data/text.js';
import {
  type BulkReport,
  isDeletion,
  type ReportRow,
  reportRowFields,
  resultWord,
  summaryLine,
  wentWrong,
} from '../runs/report.js';
import { type Action, verbOfAction } from '../runs/verb.js';
import { markOf } from '../terminal/paint.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapWholeWords } from '../terminal/whole-words.js';
import { displayWidth, wrap } from '../terminal/width.js';
import {
  type AlignedRow,
  aboutRow,
  alignedRows,
  describeChanges,
  describeOne,
  idOfRow,
} from './row-lines.js';

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
export function reportViewFor({ settings }: Context, words: ReportStyle): View<BulkReport> {
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
  return output === 'ids' || (quiet && out !== '-' && !isJsonFormat(output));
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
  if (context.isInteractive || isJsonFormat(output)) return;
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

/** True for a row that was not sent, without a reason of its own. */
const isUntouched = ({ result, error }: ReportRow) =>
  result === 'not_attempted' && error === undefined;
const isExplained = ({ result, error }: ReportRow) =>
  result === 'not_attempted' && error !== undefined;
const isWrong = ({ result }: ReportRow) => wentWrong(result);
/** True for a file whose document exists already, which a person is told. */
const isExisting = ({ result, after }: ReportRow) =>
  result === 'skipped' && after?.['id'] !== undefined;
/** So many of them are listed. */
const mostExisting = 20;
/** The rows that need attention. */
const wrongRows = ({ results }: BulkReport) => results.filter(isWrong);

/** The lines of a preview, which stand around the rows of a report or hold them. */
export interface PreviewFrame {
  readonly above: readonly string[];
  readonly below: readonly string[];
  readonly holdsRows?: boolean;
}

/** A person's report: the words beside the report itself, and how much of it is listed. */
export interface ReportStyle {
  /** The subject of the report; by default its own action. */
  readonly action?: Action | undefined;
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly run?: string | undefined;
  readonly undo?: string | undefined;
  readonly frame?: PreviewFrame | undefined;
  /** Only the summary, and below it the rows that a person must know of; a single change is one line. */
  readonly isBrief?: boolean;
}

/**
 * Renders the bulk report for a person: a line per row, then the summary, which a brief report begins
 * with. Rows that went wrong come last, where they stay visible however many rows there are. Of the
 * rows that were not sent, only the first are listed and the rest are counted.
 */
export function reportLines(
  report: BulkReport,
  canvas: Canvas,
  style: ReportStyle = {},
): readonly string[] {
  const { action = report, names, frame, isBrief = false } = style;
  const results = frame?.holdsRows ? [] : report.results;
  const [only] = results;
  if (isBrief && only?.result === 'changed' && results.length === 1) {
    const what = describeOne(only, action, { name: names?.get(only.id) });
    return headline(`${markOf(true, canvas.isUtf8)} ${singleLine(what)}.`, style.undo, canvas);
  }
  const existing = results.filter(isExisting);
  const untouched = results.filter(isUntouched);
  const listed = isBrief
    ? existing.slice(0, mostExisting)
    : [
        ...results.filter((row) => row.result !== 'not_attempted' && !isWrong(row)),
        ...untouched.slice(0, nameFirstFew),
      ];
  listed.push(...results.filter(isExplained));
  const more = isBrief ? existing.length - mostExisting : untouched.length - nameFirstFew;
  const moreText = isBrief ? 'more skipped (-v lists all)' : 'more not sent';
  const indent = isBrief || frame ? '  ' : '';
  const rows = [...listed, ...results.filter(isWrong)];
  const lines = linesOfRows(report, rows, canvas, { ...style, indent });
  const framing = (line: string) => wrapWholeWords(singleLine(line), canvas.columns);
  const summary = summaryLines(report, canvas, style);
  return [
    ...(isBrief ? summary : []),
    ...(frame?.above ?? []).flatMap(framing),
    ...lines.slice(0, listed.length).flat(),
    ...(more > 0
      ? [`${indent}${canvas.paint.dim(`… and ${groupedNumber(more)} ${moreText}`)}`]
      : []),
    ...lines.slice(listed.length).flat(),
    ...(frame?.below ?? []).flatMap(framing),
    ...(isBrief ? [] : summary),
  ];
}

/** The summary of a report; of a run also whether all went well, its name, and how to undo it. */
function summaryLines(
  report: BulkReport,
  canvas: Canvas,
  { action = report, run, undo, isBrief }: ReportStyle,
): readonly string[] {
  const { total, changed, failed, conflict, unknown, notAttempted } = report.summary;
  const text = summaryLine(report, action);
  // Without rows, the text is already a sentence.
  const sentence = text.endsWith('.') ? text : `${text}.`;
  if (run === undefined && !isBrief) {
    const line = report.dryRun && total > 0 ? `${sentence} Nothing was sent.` : text;
    return wrap(line, canvas.columns).map(canvas.paint.bold);
  }
  const mark = markOf(failed + conflict + unknown + notAttempted === 0, canvas.isUtf8);
  const runText = run === undefined ? '' : ` Run ${run}.`;
  return headline(`${mark} ${sentence}${runText}`, changed > 0 ? undo : undefined, canvas);
}

/** A line with the undo command behind it, or below it where both do not fit. */
export function headline(
  line: string,
  undo: string | undefined,
  { columns, paint }: Pick<Canvas, 'columns' | 'paint'>,
): readonly string[] {
  const [mark = ''] = line.split(' ', 1);
  const painted = (text: string) => paint.status(mark) + text.slice(mark.length);
  if (undo !== undefined && displayWidth(`${line}   ${undo}`) <= columns)
    return [painted(`${line}   ${undo}`)];
  const [first = '', ...rest] = wrap(line, columns);
  return [painted(first), ...rest, ...(undo === undefined ? [] : [undo])];
}

/** The lines of each row: id, name, result and what changed or why not, in columns. */
function linesOfRows(
  report: BulkReport,
  rows: readonly ReportRow[],
  { columns, paint }: Canvas,
  { action = report, names, indent = '' }: ReportStyle & { readonly indent?: string },
): readonly (readonly string[])[] {
  const aligned = rows.map((row): AlignedRow => {
    const deletes = isDeletion(action, row);
    const id = idOfRow(row, action);
    const name = singleLine(names?.get(row.id) ?? names?.get(id) ?? '');
    // An undo that deletes what a run created is the same action as one that restores fields.
    const word = resultWord(row.result, deletes ? { ...action, verb: 'delete' } : action);
    // The name of a deleted record is in its own column.
    const isNamed = deletes && name !== '' && row.error === undefined;
    const detail = isNamed ? '' : rowDetail(row, action, deletes);
    return { cells: [singleLine(id), name, word], detail };
  });
  return alignedRows(aligned, { columns, indent, paint: paint.status });
}

function rowDetail(row: ReportRow, action: Action, deletes: boolean): string {
  const message = row.error?.message;
  const deleted = Object.keys(row.after ?? {}).map((field) =>
    deletedValue(field, row.before?.[field]),
  );
  const changes = singleLine(deletes ? deleted.join(', ') : describeChanges(row, action));
  const done = row.step === undefined ? '' : ` (done: ${changes})`;
  return message ? `${singleLine(aboutRow(message, row.id))}${done}` : changes;
}
