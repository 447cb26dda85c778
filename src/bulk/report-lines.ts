/** The lines of a report for a person: the summary, and the rows that went wrong or all of them. */
import type { Canvas } from '../cli/views.js';
import { nameFirstFew } from '../data/text.js';
import {
  type BulkReport,
  isDeletion,
  type ReportRow,
  type RowResult,
  wentWrong,
} from '../runs/report.js';
import { singleLine } from '../terminal/safe-text.js';
import { displayWidth, truncate, widestOf, wrap } from '../terminal/width.js';
import { alignedRow } from './row-lines.js';
import { type Action, counted, describeOne, named, resultWord, rowChanges } from './words.js';

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
interface ReportStyle {
  /** The subject of the report; by default its own action. */
  readonly action?: Action | undefined;
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly run?: string | undefined;
  readonly undo?: string | undefined;
  readonly isUtf8?: boolean;
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
    ...headline(`${mark} ${summaryLine(report, action)}.${run}`, undo, canvas),
    ...shown.flatMap(rowLinesOf(report, canvas, { action, names, indent: '  ', rows: shown })),
    ...(more > 0 ? [`  … and ${more} more skipped (-v lists all)`] : []),
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
      ? wrap(`${last}${nothing && `.${nothing}`}`, isTerminal ? canvas.columns : Infinity).map(
          paint.bold,
        )
      : headline(`${last}.${runText}`, undo, canvas)),
  ];
}

/** Returns a function that renders a row: id, name, result and what changed or why not, in columns. */
export function rowLinesOf(
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
  // An undo that deletes what a run created is the same action as one that restores fields.
  const wordOf = (row: ReportRow) =>
    row.result === 'changed' && isDeletion(report, row)
      ? 'deleted'
      : resultWord(row.result, action);
  const widths = [idWidth, nameWidth, widestOf(rows.map(wordOf))];
  const room = isTerminal ? columns : Infinity;
  return (row) => {
    const deletes = isDeletion(report, row);
    // The name of a deleted record is in its own column.
    const isNamed = deletes && nameOf(row) !== '' && row.error === undefined;
    const detail = isNamed ? '' : rowDetail(row, action, deletes);
    const name = nameWidth > 0 ? nameOf(row) : '';
    const cells = [singleLine(row.id), name, wordOf(row)] as const;
    return alignedRow({ indent, cells, detail, paint: paint.status }, widths, room);
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
