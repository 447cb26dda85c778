/** The page of a card: name and state on top, contact below, then labelled sections, fitted to the terminal. */
import type { Canvas } from '../../cli/views.js';
import { type LabelledRow, labelledLines } from '../../terminal/labels.js';
import { dotOf, filledLines, type Piece, paintedLine } from '../../terminal/pieces.js';
import { displayWidth, wrap } from '../../terminal/width.js';

/** One labelled part of a card. */
export type Section = Omit<LabelledRow, 'paint'>;

/** The content of a card, as sanitized text. */
export interface CardPage {
  readonly name: string;
  /** The text to the right of the name: status and age. */
  readonly state: readonly Piece[];
  /** Paragraphs below the name, each of pieces between dots. */
  readonly contact: readonly (readonly Piece[])[];
  readonly sections: readonly Section[];
  /** Dim remarks at the end, as sentences. */
  readonly remarks: readonly string[];
}

/** Wider, the eye loses the line. */
const maxWidth = 120;
/** The widest that name and state are drawn apart. */
const maxHeadWidth = 80;

/** Renders a card as lines of at most `canvas.columns`. */
export function pageLines(page: CardPage, canvas: Canvas): readonly string[] {
  const { paint } = canvas;
  const columns = Math.min(canvas.columns, maxWidth);
  const dot = dotOf(canvas.isUtf8);
  const sections = labelledLines(
    page.sections.map((section) => ({ ...section, paint: paint.bold })),
    columns,
  );
  return [
    ...headLines(page, paint, columns, dot),
    ...page.contact.flatMap((pieces) => filledLines(pieces, dot, columns)),
    ...(sections.length > 0 ? ['', ...sections] : []),
    ...page.remarks.flatMap((text) => ['', ...wrap(text, columns).map(paint.dim)]),
  ];
}

function headLines(
  { name, state }: CardPage,
  paint: Canvas['paint'],
  columns: number,
  dot: string,
): readonly string[] {
  const right = paintedLine(state, dot);
  const free = Math.min(columns, maxHeadWidth) - displayWidth(name) - right.width;
  if (free >= 2) return [`${paint.bold(name)}${' '.repeat(free)}${right.text}`.trimEnd()];
  return [...wrap(name, columns).map(paint.bold), ...filledLines(state, dot, columns)];
}
