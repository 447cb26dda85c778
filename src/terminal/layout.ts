/** Layout of short texts: side by side in lines or columns, and values beside or below their labels. */
import { displayWidth, pad, truncate, widestOf, widthUpTo, wrap } from './width.js';

/** A sanitized text and its colour. */
export interface Piece {
  readonly text: string;
  readonly paint?: ((text: string) => string) | undefined;
}

const gap = '  ';

/** The separator between pieces of one line; ASCII where the locale is not UTF-8. */
export function dotOf(isUtf8: boolean): string {
  return isUtf8 ? ' · ' : ' - ';
}

/** Joins pieces, without the empty ones, on one line of any width; `width` is measured without colour. */
export function paintedLine(
  pieces: readonly Piece[],
  between: string,
): { readonly text: string; readonly width: number } {
  const filled = pieces.filter(({ text }) => text !== '');
  return {
    text: filled.map(painted).join(between),
    width: displayWidth(filled.map(({ text }) => text).join(between)),
  };
}

/** Fills lines of at most `columns` with pieces; only a piece that is wider than a line is wrapped. */
export function filledLines(
  pieces: readonly Piece[],
  between: string,
  columns: number,
): readonly string[] {
  const lines: string[] = [];
  let used = 0;
  for (const piece of pieces) {
    if (piece.text === '') continue;
    const width = displayWidth(piece.text);
    const last = lines.at(-1);
    if (last !== undefined && used + between.length + width <= columns) {
      lines[lines.length - 1] = last + between + painted(piece);
      used += between.length + width;
    } else {
      const wrapped = wrap(piece.text, columns);
      lines.push(...wrapped.map((text) => painted({ ...piece, text })));
      used = displayWidth(wrapped.at(-1) ?? '');
    }
  }
  return lines;
}

/** Renders rows of pieces in aligned columns, or each row filled into lines if they would not fit. */
export function alignedLines(
  rows: readonly (readonly Piece[])[],
  columns: number,
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, { text }] of row.entries())
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(text));
  const total = widths.reduce((sum, width) => sum + width + gap.length, -gap.length);
  if (total > columns) return rows.flatMap((row) => filledLines(row, gap, columns));
  return rows.map((row) =>
    row
      .map(
        (piece, at) => painted(piece) + pad(piece.text, widths[at] ?? 0).slice(piece.text.length),
      )
      .join(gap)
      .trimEnd(),
  );
}

function painted({ text, paint }: Piece): string {
  return paint ? paint(text) : text;
}

/** One label and its value, both sanitized. */
export interface LabelledRow {
  readonly label: string;
  /** Colours the label; it is measured before. */
  readonly paint?: ((label: string) => string) | undefined;
  /** Returns the lines of the value, none wider than `room` columns. */
  readonly lines: (room: number) => readonly string[];
  /** True to put the value below its label however much room there is. */
  readonly isBelow?: boolean | undefined;
  /** The width of the widest word of the value: beside its label it would be cut in less room. */
  readonly widestWord?: number | undefined;
}

const maxLabelWidth = 30;
/** A label of more lines is cut: it may be a hostile 100 kB. */
const maxLabelLines = 5;
/** With fewer columns than this, values are put below their labels rather than beside them. */
const minValueWidth = 16;
/** A value of more lines is put below a wide column of labels, where it becomes a broader paragraph. */
const maxBeside = 6;
const maxParagraphMargin = 14;
/** Narrower than this, values below their labels are not indented any more. */
const minIndented = 20;

/** Renders rows as lines of at most `columns`, in which only a word wider than a line is cut. */
export function labelledLines(rows: readonly LabelledRow[], columns: number): string[] {
  const widestLabel = Math.max(8, Math.min(maxLabelWidth, Math.floor(columns * 0.4)));
  const widths = rows.map(({ label }) => widthUpTo(label, widestLabel + 1));
  let width = 0;
  for (const [index, { isBelow }] of rows.entries()) {
    const own = widths[index] ?? 0;
    if (!isBelow && own <= widestLabel) width = Math.max(width, own);
  }
  const indent = columns < minIndented ? 0 : gap.length;
  const room = columns - width - gap.length;
  return rows.flatMap((row, index) => {
    const { label, paint = (text) => text, lines, isBelow, widestWord = 0 } = row;
    const isLong = (widths[index] ?? 0) > widestLabel;
    const hasRoom = room >= Math.max(minValueWidth, Math.min(widestWord, columns - indent));
    const beside = isBelow || !hasRoom ? undefined : lines(room);
    const isParagraph = width > maxParagraphMargin && (beside?.length ?? 0) > maxBeside;
    if (!beside || isLong || isParagraph) {
      const margin = beside && !isParagraph && width > 0 ? width + gap.length : indent;
      const below = beside && margin > indent ? beside : lines(columns - margin);
      const head = wrap(truncate(label, columns * maxLabelLines), columns).map(paint);
      return [...head, ...indented(below, margin)].map((line) => line.trimEnd());
    }
    const [first = '', ...more] = beside;
    const head = paint(label) + pad(label, width).slice(label.length) + gap;
    return [head + first, ...indented(more, width + gap.length)].map((line) => line.trimEnd());
  });
}

function indented(lines: readonly string[], margin: number): readonly string[] {
  return lines.map((line) => ' '.repeat(margin) + line);
}

/** Returns the width of the widest word; 0 for a text so long that measuring it would be wasted work. */
export function widestWordOf(text: string): number {
  return text.length > 2_000 ? 0 : widestOf(text.split(/\s+/));
}
