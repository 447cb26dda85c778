/** Wraps prose for a terminal without breaking words or commands. */

/** A lead of at most this length, such as `Go on with:`, stays on the line of its command. */
const maxLeadLength = 24;

/**
 * Wraps a line of prose to `columns`, each line indented like the first. Words and commands are never
 * broken, because they are there to be copied; a command moves below the sentence that leads to it.
 * Counts characters instead of measuring widths, because a note must not load the width tables: the
 * terminal itself breaks a line of wide characters.
 */
export function wrapWholeWords(line: string, columns: number): string[] {
  if (line.length <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lead = line.indexOf(': rosterctl ') + 1;
  if (lead > maxLeadLength)
    return [...wrapWholeWords(line.slice(0, lead), columns), indent + line.slice(lead + 1)];
  if (line.includes('rosterctl ')) return [line];
  const lines: string[] = [];
  let current = indent;
  // Spaces that align something become empty words, so they survive where no line is broken.
  for (const word of line.slice(indent.length).split(' ')) {
    const isFirst = current === indent;
    const longer = isFirst ? current + word : `${current} ${word}`;
    if (!isFirst && longer.length > columns) {
      lines.push(current.trimEnd());
      current = indent + word;
    } else current = longer;
  }
  return [...lines, current];
}

/** The minimum width of a second column that is easy to read. */
export const minTextWidth = 24;

/**
 * Wraps `text` beside `head`, each further line indented like the first; below it where the column
 * would be too narrow.
 */
export function hangingLines(head: string, text: string, columns: number): string[] {
  const isBeside = columns - head.length >= minTextWidth;
  const indent = isBeside ? head.length : Math.min(head.length, 6);
  const lines = wrapWholeWords(text, columns - indent);
  const first =
    isBeside || head.length + text.length <= columns ? head + (lines.shift() ?? '') : head;
  return [first.trimEnd(), ...lines.map((line) => ' '.repeat(indent) + line)];
}
