/** The lines of a report for a person: the summary, and the rows that went wrong or all of them. */

import { deletedValue } from '../cli/lines.js';
import type { Canvas } from '../cli/views.js';
import { groupedNumber, nameFirstFew } from '../data/text.js';
import {
  type BulkReport,
  isDeletion,
  type ReportRow,
  resultWord,
  summaryLine,
  wentWrong,
} from '../runs/report.js';
import type { Action } from '../runs/verb.js';
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
export const wrongRows = ({ results }: BulkReport) => results.filter(isWrong);

/** A person's report: the words beside the report itself, and how much of it is listed. */
export interface ReportStyle {
  /** The subject of the report; by default its own action. */
  readonly action?: Action | undefined;
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly run?: string | undefined;
  readonly undo?: string | undefined;
  /** The lines of a preview, which stand around the rows or hold them. */
  readonly frame?: {
    readonly above: readonly string[];
    readonly below: readonly string[];
    readonly holdsRows?: boolean;
  };
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
export function linesOfRows(
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
