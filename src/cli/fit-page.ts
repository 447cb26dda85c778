/** As wide as a page is at most. */
export const fullWidth = 80;

/** Narrower than this a second column is no longer read with ease. */
export const minTextWidth = 24;

/** A page in fewer columns than it was made for: no word is cut. */
export function fitPage(page: string, width: number): string {
  return page
    .split('\n\n')
    .map((block) => fitBlock(block, width))
    .join('\n\n');
}

/** A paragraph is filled anew where it is too wide, a row goes on under the column of its text. */
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
 * The words of a text in lines of at most `width` columns. Our pages are plain letters, so these are
 * counted: help need not load what measures texts of others, as `wrap` of the terminal does.
 */
export function fillWords(text: string, width: number): string[] {
  return fillPieces(text.split(/\s+/), width);
}

/** Pieces that are not to be cut, in lines of at most `width` columns. */
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
