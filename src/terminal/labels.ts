/** Labelled values: labels in a column of their own, each value wrapped beside its label or below it. */
import { displayWidth, pad, truncate, wrap } from './width.js';

/** One label and its value, both sanitized. */
export interface LabelledRow {
  readonly label: string;
  /** Colours the label; it is measured before. */
  readonly paint?: ((label: string) => string) | undefined;
  /** Returns the lines of the value, none wider than `room` columns. */
  readonly lines: (room: number) => readonly string[];
  /** True to put the value below its label however much room there is. */
  readonly isBelow?: boolean | undefined;
}

const gap = '  ';
const maxLabelWidth = 30;
/** A label of more lines is cut: it may be a hostile 100 kB. */
const maxLabelLines = 5;
/** With fewer columns than this, values are put below their labels rather than beside them. */
const minValueWidth = 16;
/** Narrower than this, values below their labels are not indented any more. */
const minIndented = 20;

/** Renders rows as lines of at most `columns`; no word of a label or value is cut unless it is wider than its line. */
export function labelledLines(rows: readonly LabelledRow[], columns: number): string[] {
  const widestLabel = Math.max(8, Math.min(maxLabelWidth, Math.floor(columns * 0.4)));
  const widths = rows.map(({ label }) => widthUpTo(label, widestLabel + 1));
  let width = 0;
  for (const [index, { isBelow }] of rows.entries()) {
    const own = widths[index] ?? 0;
    if (!isBelow && own <= widestLabel) width = Math.max(width, own);
  }
  const indent = columns < minIndented ? '' : gap;
  const hasRoomBeside = columns - width - gap.length >= minValueWidth;
  return rows.flatMap(({ label, paint = (text) => text, lines, isBelow }, index) => {
    const isTooWide = (widths[index] ?? 0) > widestLabel;
    if (isBelow || isTooWide || !hasRoomBeside) {
      const margin =
        isTooWide && !isBelow && hasRoomBeside && width > 0 ? width + 2 : indent.length;
      const value = lines(columns - margin).map((line) => ' '.repeat(margin) + line);
      return [...wrap(truncate(label, columns * maxLabelLines), columns).map(paint), ...value].map(
        (line) => line.trimEnd(),
      );
    }
    const [first = '', ...more] = lines(columns - width - gap.length);
    const head = paint(label) + pad(label, width).slice(label.length) + gap;
    const margin = ' '.repeat(width + gap.length);
    return [head + first, ...more.map((line) => margin + line)].map((line) => line.trimEnd());
  });
}

/** The width of a text, or `most` for one that is longer: measuring a label of 100 kB would be wasted work. */
function widthUpTo(text: string, most: number): number {
  return text.length > most * 24 ? most : Math.min(most, displayWidth(text));
}
