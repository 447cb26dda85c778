/** The lines of a report for a person: the summary, and the rows that went wrong or all of them. */

import type { Canvas } from '../cli/views.js';
import { named } from '../data/path.js';
import { groupedNumber, nameFirstFew } from '../data/text.js';
import {
  type BulkReport,
  isDeletion,
  type ReportRow,
  resultWord,
  summaryLine,
  wentWrong,
} from '../runs/report.js';
import { type Action } from '../runs/verb.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapWholeWords } from '../terminal/whole-words.js';
import { displayWidth, truncate, wrap } from '../terminal/width.js';
import {
  type AlignedRow,
  aboutRow,
  alignedRows,
  describeOne,
  idOfRow,
  rowChanges,
} from './row-lines.js';

const isUnattempted = ({ result }: ReportRow) => result === 'not_attempted';
const isWrong = ({ result }: ReportRow) => wentWrong(result);
/** True for a file whose document exists already, which a person is told. */
const isExisting = ({ result, after }: ReportRow) =>
  result === 'skipped' && after?.['id'] !== undefined;
/** So many of them are listed. */
const mostExisting = 20;
/** The rows that need attention. */
export const wrongRows = ({ results }: BulkReport) => results.filter(isWrong);

/** Options of a person's report: the words beside the report itself, and their form. */
export interface ReportStyle {
  /** The subject of the report; by default its own action. */
  readonly action?: Action | undefined;
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly run?: string | undefined;
  readonly undo?: string | undefined;
  readonly isUtf8?: boolean;
  /** The lines of a preview, which stand around the rows or hold them. */
  readonly frame?: {
    readonly above: readonly string[];
    readonly below: readonly string[];
    readonly holdsRows?: boolean;
  };
}

/** The summary, and below it the rows that went wrong; a single change is one line. */
export function shortReport(
  report: BulkReport,
  canvas: Canvas,
  style: ReportStyle,
): readonly string[] {
  const { results, summary } = report;
  const { action = report, names } = style;
  const [only] = results;
  const { notAttempted, failed, conflict, unknown, changed } = summary;
  const mark = markOf(failed + conflict + unknown + notAttempted === 0, style.isUtf8);
  const undo = changed > 0 ? style.undo : undefined;
  if (only?.result === 'changed' && results.length === 1) {
    const { id } = only;
    const what = isDeletion(report, only)
      ? `${named(names?.get(id), id)}: deleted`
      : describeOne(only, action, { name: names?.get(id) });
    return headline(`${mark} ${singleLine(what)}.`, undo, canvas);
  }
  const run = style.run === undefined ? '' : ` Run ${style.run}.`;
  const listed = results.filter(
    (row) => isWrong(row) || (isUnattempted(row) && row.error !== undefined),
  );
  const existing = results.filter(isExisting);
  const more = existing.length - mostExisting;
  const shown = [...existing.slice(0, mostExisting), ...listed];
  return [
    ...headline(`${mark} ${sentence(summaryLine(report, action))}${run}`, undo, canvas),
    ...linesOfRows(report, shown, canvas, { ...style, indent: '  ' }).flat(),
    ...(more > 0 ? [`  … and ${groupedNumber(more)} more skipped (-v lists all)`] : []),
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
  if (undo !== undefined && displayWidth(`${line}   ${undo}`) <= columns)
    return [painted(`${line}   ${undo}`)];
  const [first = '', ...rest] = wrap(line, isTerminal || undo !== undefined ? columns : Infinity);
  return [painted(first), ...rest, ...(undo === undefined ? [] : [undo])];
}

/**
 * Renders the bulk report for a person: one line per row, then the summary. Rows that went wrong come
 * last, where they stay visible however many rows there are. On a terminal only the first unattempted
 * rows are listed and the rest are counted.
 */
export function reportLines(
  report: BulkReport,
  canvas: Canvas,
  { action = report, names, run, undo, isUtf8, frame }: ReportStyle = {},
): string[] {
  const { summary } = report;
  const results = frame?.holdsRows ? [] : report.results;
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
  const indent = frame ? '  ' : '';
  const lines = linesOfRows(report, [...listed, ...wrong], canvas, { action, names, indent });
  const columns = isTerminal ? canvas.columns : Infinity;
  const framing = (line: string) => wrapWholeWords(singleLine(line), columns);
  const runText = run === undefined ? '' : ` Run ${run}.`;
  const nothing = report.dryRun && summary.total > 0 ? ' Nothing was sent.' : '';
  const isGood = wrong.length + unattempted.length === 0 && !report.dryRun && run !== undefined;
  const mark = isGood ? `${markOf(true, isUtf8)} ` : '';
  const last = `${mark}${summaryLine(report, action)}`;
  return [
    ...(frame?.above ?? []).flatMap(framing),
    ...lines.slice(0, listed.length).flat(),
    ...(unlisted.size > 0 ? [paint.dim(`and ${groupedNumber(unlisted.size)} more not sent`)] : []),
    ...lines.slice(listed.length).flat(),
    ...(frame?.below ?? []).flatMap(framing),
    ...(run === undefined
      ? wrap(`${last}${nothing && `.${nothing}`}`, columns).map(paint.bold)
      : headline(`${sentence(last)}${runText}`, undo, canvas)),
  ];
}

/** A summary with a full stop; that of no rows has one already. */
function sentence(summary: string): string {
  return summary.endsWith('.') ? summary : `${summary}.`;
}

/** The lines of each row: id, name, result and what changed or why not, in columns. */
export function linesOfRows(
  report: BulkReport,
  rows: readonly ReportRow[],
  { isTerminal, columns, paint }: Canvas,
  { action = report, names, indent = '' }: ReportStyle & { readonly indent?: string },
): readonly (readonly string[])[] {
  const aligned = rows.map((row): AlignedRow => {
    const deletes = isDeletion(report, row);
    const id = idOfRow(row, action);
    const name = truncate(singleLine(names?.get(row.id) ?? names?.get(id) ?? ''), widestName);
    // An undo that deletes what a run created is the same action as one that restores fields.
    const word = row.result === 'changed' && deletes ? 'deleted' : resultWord(row.result, action);
    // The name of a deleted record is in its own column.
    const isNamed = deletes && name !== '' && row.error === undefined;
    const detail = isNamed ? '' : rowDetail(row, action, deletes);
    return { cells: [singleLine(id), name, word], detail };
  });
  const room = isTerminal ? columns : Infinity;
  return alignedRows(aligned, { columns: room, indent, paint: paint.status });
}

const widestName = 32;

function rowDetail(row: ReportRow, action: Action, deletes: boolean): string {
  const message = row.error?.message;
  const changes = singleLine(rowChanges(row, action, deletes));
  const done = row.step === undefined ? '' : ` (done: ${changes})`;
  return message ? `${singleLine(aboutRow(message, row.id))}${done}` : changes;
}
