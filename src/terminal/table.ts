import { displayWidth, isOneColumnEach, pad, truncate } from './width.js';
import type { Paint } from './paint.js';

/** One column of a table; its texts are safe already (cellText). */
export interface TableColumn {
  readonly name: string;
  readonly cells: readonly string[];
  /** Never cut as long as the terminal is wide enough for it at all: ids. */
  readonly neverTruncated?: boolean | undefined;
  /** Colours a cell by its word. */
  readonly isColored?: boolean | undefined;
}

interface TableOptions {
  /** Width of the terminal. */
  readonly columns: number;
  readonly paint: Paint;
  /** Names of fields that are not among the columns; counted in the last line. */
  readonly hidden?: readonly string[] | undefined;
}

/** The widest cell that is not an id. */
export const maxCellWidth = 40;
const gap = '  ';
/** cli-table3 takes half a millisecond a row and is quadratic; beyond this our own columns draw the same. */
const mostLibraryRows = 25;

/**
 * The lines of a table: bold header, two spaces between the columns, no frame, no line wider than
 * the terminal. Columns that do not fit fall off at the right end and are named in the last line.
 */
export async function renderTable(
  columns: readonly TableColumn[],
  options: TableOptions,
): Promise<string[]> {
  const fitted = fitColumns(columns, options.columns);
  const rows = fitted[0]?.cells.length ?? 0;
  const lines =
    rows <= mostLibraryRows && fitted.every(isPlain)
      ? await linesByLibrary(fitted, options.paint)
      : linesByColumns(fitted, options.paint);
  const left = [
    ...columns.slice(fitted.length).map((column) => column.name),
    ...(options.hidden ?? []),
  ];
  if (left.length > 0) lines.push(options.paint.dim(leftOutLine(left, options.columns)));
  return lines;
}

/** The library measures marks and joined emoji in its own way, and cuts them in their middle. */
function isPlain({ name, cells }: FittedColumn): boolean {
  return isOneColumnEach(name) && cells.every(isOneColumnEach);
}

/** A column with its width decided and its texts cut to it. */
interface FittedColumn extends TableColumn {
  readonly width: number;
}

/** Decides the widths; drops columns from the right end until the rest fits. */
export function fitColumns(columns: readonly TableColumn[], room: number): FittedColumn[] {
  const fitted: FittedColumn[] = [];
  let used = 0;
  for (const column of columns) {
    const space = fitted.length === 0 ? room : room - used - gap.length;
    const wanted = widthOf(column);
    // A lonely id tells nothing, nor does a blank right half: a column rather shrinks than falls.
    const least = fitted.length < 2 ? leastWidth : readableWidth;
    const shrinks = !column.neverTruncated && space >= least;
    const width = shrinks ? Math.min(wanted, space) : wanted;
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

const leastWidth = 6;
/** The last column may be cut to this; less would tell nothing. */
const readableWidth = 16;

function widthOf({ name, cells, neverTruncated }: TableColumn): number {
  const most = neverTruncated ? Infinity : maxCellWidth;
  let width = displayWidth(truncate(name, maxCellWidth));
  for (const cell of cells) {
    // A text has at most two columns a unit, escapes included: most cells need no measuring.
    if (cell.length * 2 > width) width = Math.max(width, Math.min(most, widthUpTo(cell, most)));
    if (width >= most) return most;
  }
  return width;
}

function widthUpTo(cell: string, most: number): number {
  return cell.length > most * 30 ? most : displayWidth(cell);
}

/** The rows drawn by cli-table3; loaded when the first small table is shown. */
export async function linesByLibrary(
  columns: readonly FittedColumn[],
  paint: Paint,
): Promise<string[]> {
  if (columns.length === 0) return [];
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

/** The same lines by our own hand, in time that grows with the rows only. */
export function linesByColumns(columns: readonly FittedColumn[], paint: Paint): string[] {
  if (columns.length === 0) return [];
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

type Piece = readonly [plain: string, shown: string, width: number];

function joined(pieces: readonly Piece[]): string {
  let line = '';
  for (const [index, [plain, shown, width]] of pieces.entries())
    line += (index === 0 ? '' : gap) + shown + pad(plain, width).slice(plain.length);
  return line.trimEnd();
}

function painted(column: TableColumn, cell: string, paint: Paint): string {
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

/** `+6 fields: a, b, … (use --fields or --json)`, in the width there is. */
function leftOutLine(names: readonly string[], room: number): string {
  const way = ' (use --fields or --json)';
  const count = `+${names.length} field${names.length === 1 ? '' : 's'}`;
  const all = `${count}: ${names.join(', ')}`;
  if (displayWidth(all) + way.length <= room) return all + way;
  const space = room - way.length;
  if (space < count.length) return truncate(count, room);
  let some = `${count}:`;
  let told = 0;
  for (const name of names) {
    const longer = `${some}${told === 0 ? ' ' : ', '}${name}`;
    if (displayWidth(longer) + ', …'.length > space) break;
    some = longer;
    told++;
  }
  return told === 0 ? count + way : `${some}, …${way}`;
}
