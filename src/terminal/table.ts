/** Tables on a terminal: column widths, and drawing by cli-table3 or, for many rows, by our own code. */

import { filledLines } from './layout.js';
import { type Paint, withoutColor } from './paint.js';
import { isPlainText } from './safe-text.js';
import { displayWidth, pad, truncate, widthUpTo } from './width.js';

/** One column of a table; its texts are sanitized already (singleLine). */
export interface TableColumn {
  readonly name: string;
  readonly cells: readonly string[];
  /** True for ids: never truncated unless the terminal is narrower than the column itself. */
  readonly neverTruncated?: boolean | undefined;
  /** True to colour each cell by its word. */
  readonly isColored?: boolean | undefined;
  readonly isDim?: boolean | undefined;
}

interface TableOptions {
  /** Width of the terminal. */
  readonly columns: number;
  readonly paint: Paint;
  /** The number of fields that are not among the columns. */
  readonly omitted?: number | undefined;
  /** The parts of the last line, which also counts the fields that are left out; undefined for none. */
  readonly footer?: readonly string[] | undefined;
  /** True if the first cells are the names of the fields, printed dim below the heads. */
  readonly hasNames?: boolean | undefined;
}

/** The maximum width of a cell that is not an id. */
export const maxCellWidth = 40;
const gap = '  ';
/** cli-table3 takes half a millisecond per row and is quadratic; above this, our own code draws the same lines. */
const maxLibraryRows = 25;

/**
 * Renders the lines of a table: bold header, two spaces between the columns, no frame, no line wider
 * than the terminal. Columns that do not fit are dropped from the right and counted in the footer.
 */
export async function renderTable(
  columns: readonly TableColumn[],
  options: TableOptions,
): Promise<string[]> {
  const fitted = fitColumns(columns, options.columns);
  const rows = fitted[0]?.cells.length ?? 0;
  const { paint, footer, omitted = 0, hasNames } = options;
  const lines =
    rows <= maxLibraryRows && fitted.every(isPlain)
      ? await linesByLibrary(fitted, paint)
      : linesByColumns(fitted, paint);
  if (hasNames && lines[1] !== undefined) lines[1] = paint.dim(withoutColor(lines[1]));
  if (!footer) return lines;
  const left = columns.length - fitted.length + omitted;
  const counts = left === 0 ? [] : [`+${left} field${left === 1 ? '' : 's'}: --fields`];
  const parts = [...footer, ...counts].map((text) => ({ text }));
  const last = filledLines(parts, ' · ', options.columns);
  return [...lines, ...last.map((line) => paint.dim(truncate(line, options.columns)))];
}

/** False for marks and joined emoji, which the library measures differently and splits. */
function isPlain({ name, cells }: FittedColumn): boolean {
  return isPlainText(name) && cells.every(isPlainText);
}

/** A column with its final width and texts truncated to it. */
interface FittedColumn extends TableColumn {
  readonly width: number;
}

/** Returns the columns that fit, from the left, with their widths decided. */
export function fitColumns(columns: readonly TableColumn[], room: number): FittedColumn[] {
  const fitted: FittedColumn[] = [];
  let used = 0;
  for (const column of columns) {
    const space = fitted.length === 0 ? room : room - used - gap.length;
    const preferred = widthOf(column);
    // An id alone is useless, and so is a blank right half: shrink a column rather than drop it.
    const minWidth = fitted.length < 2 ? minColumnWidth : minLastWidth;
    const shrinks = !column.neverTruncated && space >= minWidth;
    const width = shrinks ? Math.min(preferred, space) : preferred;
    if (width > space && fitted.length > 0) break;
    const final = Math.min(width, space);
    fitted.push({
      ...column,
      name: truncate(column.name, final),
      cells: column.cells.map((cell) => truncate(cell, final)),
      width: final,
    });
    used = room - space + final;
  }
  return fitted;
}

const minColumnWidth = 6;
/** The last column may shrink to this width; a narrower one would be useless. */
const minLastWidth = 16;

function widthOf({ name, cells, neverTruncated }: TableColumn): number {
  const max = neverTruncated ? Infinity : maxCellWidth;
  let width = displayWidth(truncate(name, maxCellWidth));
  for (const cell of cells) {
    // A text takes at most two columns per UTF-16 unit, escapes included: most cells need no measuring.
    if (cell.length * 2 > width) width = Math.max(width, widthUpTo(cell, max));
    if (width >= max) return max;
  }
  return width;
}

/** Draws the rows with cli-table3, which is loaded for the first small table. */
export async function linesByLibrary(
  columns: readonly FittedColumn[],
  paint: Paint,
): Promise<string[]> {
  const { default: CliTable } = await import('cli-table3');
  const table = new CliTable({
    head: columns.map((column) => paint.bold(column.name)),
    colWidths: columns.map((column) => column.width),
    chars: noFrame,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  const rows = columns[0]?.cells.length ?? 0;
  for (let row = 0; row < rows; row++)
    table.push(columns.map((column) => painted(column, column.cells[row] ?? '', paint)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Draws the lines that `linesByLibrary` would, in linear time. */
export function linesByColumns(columns: readonly FittedColumn[], paint: Paint): string[] {
  const lines = [
    joined(columns.map(({ name, width }) => [name, paint.bold(name), width] as const)),
  ];
  const rows = columns[0]?.cells.length ?? 0;
  for (let row = 0; row < rows; row++)
    lines.push(
      joined(
        columns.map((column) => {
          const cell = column.cells[row] ?? '';
          return [cell, painted(column, cell, paint), column.width] as const;
        }),
      ),
    );
  return lines;
}

type StyledCell = readonly [plain: string, styled: string, width: number];

function joined(pieces: readonly StyledCell[]): string {
  let line = '';
  for (const [index, [plain, styled, width]] of pieces.entries())
    line += (index === 0 ? '' : gap) + styled + pad(plain, width).slice(plain.length);
  return line.trimEnd();
}

function painted(column: TableColumn, cell: string, paint: Paint): string {
  if (column.isDim) return paint.dim(cell);
  return column.isColored ? paint.status(cell) : cell;
}

const noFrame = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: gap,
};
