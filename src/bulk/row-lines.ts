/** One row of a preview or report: id, name and one more column, and what happens to it beside or below them. */
import { minTextWidth } from '../terminal/whole-words.js';
import { displayWidth, pad, truncate, widestOf, wrap } from '../terminal/width.js';

/** A row of sanitized texts. */
export interface AlignedRow {
  /** Id, name, and an age or a result. */
  readonly cells: readonly [id: string, name: string, third: string];
  readonly detail: string;
}

/** The form of a list of rows. */
interface RowStyle {
  /** The width of the terminal; Infinity for a pipe. */
  readonly columns: number;
  readonly indent?: string;
  /** Colours the third cell. */
  readonly paint?: (text: string) => string;
}

/** Returns the lines of each row, in columns as wide as their widest cell. */
export function alignedRows(
  rows: readonly AlignedRow[],
  style: RowStyle,
): readonly (readonly string[])[] {
  const widths = [0, 1, 2].map((column) => widestOf(rows.map(({ cells }) => cells[column] ?? '')));
  return rows.map((row) => alignedRow(row, widths, style));
}

const gap = '  ';
const belowIndent = '    ';
const maxIndent = 6;
/** A detail of more lines is put below, where it becomes a broader paragraph. */
const maxBeside = 3;

/**
 * Returns the lines of a row, none wider than `columns` unless an id is; a column of width 0 is left
 * out. The detail stands beside the columns where there is room for it, else below. On a terminal
 * that is too narrow for the columns, id and name are one line and the rest is below it.
 */
function alignedRow(
  { cells, detail }: AlignedRow,
  widths: readonly number[],
  { columns, indent = '', paint = (text) => text }: RowStyle,
): string[] {
  const [id, name, third] = cells;
  const painted = (line = '', at: number) =>
    line.slice(0, at) + paint(third) + line.slice(at + third.length);
  const padded = cells.map((cell, at) =>
    widths[at] === 0 ? '' : pad(cell, widths[at] ?? 0) + gap,
  );
  const head = indent + padded.join('');
  const width = displayWidth(head);
  if (width - gap.length > columns) {
    const below = indent + belowIndent;
    const room = columns - displayWidth(indent + id + gap);
    const rest = [third, detail].filter((text) => text !== '').join(gap);
    const [second = '', ...more] = indented(rest, below.length, columns);
    const first = `${indent}${id}${gap}${truncate(name, room)}`.trimEnd();
    return [first, painted(second, below.length), ...more];
  }
  const room = columns - width;
  const isShort = displayWidth(detail) <= room;
  const fits = isShort || (room >= minTextWidth && widestOf(detail.split(' ')) <= room);
  const beside = fits ? indented(detail, width, columns) : [];
  const isBeside = fits && beside.length <= maxBeside;
  const [first = '', ...more] = isBeside ? beside : indented(detail, maxIndent, columns);
  const line = isBeside ? head + first.slice(width) : head;
  const lines = isBeside ? [line, ...more] : [line, first, ...more];
  return [painted(line, head.length - (padded[2] ?? '').length), ...lines.slice(1)].map((each) =>
    each.trimEnd(),
  );
}

function indented(text: string, indent: number, columns: number): string[] {
  return wrap(text, columns - indent).map((line) => ' '.repeat(indent) + line);
}
