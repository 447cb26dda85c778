/** Fits help pages to the terminal's width. */
import { minTextWidth } from '../terminal/whole-words.js';

/** The maximum width of a page, in columns. */
export const fullWidth = 80;

/** Wraps a page to fewer columns than it was written for, without breaking a word. */
export function fitPage(page: string, width: number): string {
  return page
    .split('\n\n')
    .map((block) => fitBlock(block, width))
    .join('\n\n');
}

/** Refills a paragraph that is too wide; wraps a row under the column of its text. */
function fitBlock(block: string, width: number): string {
  const all = block.split('\n');
  if (all.every((line) => line.length <= width)) return block;
  const isProse = all.every((line) => !line.startsWith(' '));
  return isProse
    ? fillWords(all.join(' '), width).join('\n')
    : all.flatMap((line) => fitRow(line, width)).join('\n');
}

function fitRow(row: string, width: number): string[] {
  if (row.length <= width) return [row];
  const column = (/^ +(?:- |\S+(?: \S+)*? {2,})?/.exec(row)?.[0] ?? '').length;
  const indent = width - column < minTextWidth ? Math.min(column, 6) : column;
  const head = row.slice(0, column);
  const text = fillWords(row.slice(column), width - indent);
  const isBeside = indent === column;
  const lead = isBeside ? `${head}${text.shift() ?? ''}` : head;
  return [lead.trimEnd(), ...text.map((line) => ' '.repeat(indent) + line)].filter(
    (line) => line !== '',
  );
}

/**
 * Wraps a text into lines of at most `width` columns. Counts characters, because our pages are plain
 * letters and help need not load the width tables that `wrap` of the terminal uses.
 */
export function fillWords(text: string, width: number): string[] {
  return fillPieces(text.split(/\s+/), width);
}

/** Joins unbreakable pieces into lines of at most `width` columns. */
export function fillPieces(pieces: readonly string[], width: number): string[] {
  const out: string[] = [];
  let line = '';
  for (const piece of pieces) {
    if (line !== '' && line.length + 1 + piece.length > width) {
      out.push(line);
      line = piece;
    } else line = line === '' ? piece : `${line} ${piece}`;
  }
  return line === '' ? out : [...out, line];
}
