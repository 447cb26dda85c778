/** Short texts side by side: filled into lines, or aligned in columns. */
import { displayWidth, pad, wrap } from './width.js';

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
