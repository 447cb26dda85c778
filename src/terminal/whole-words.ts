/** A lead as short as `Go on with:` stays beside its command. */
const shortLead = 24;

/**
 * A line of prose in lines of at most so many columns, each indented like the first. No word is cut,
 * and a command stays in one piece, below the sentences that lead to it: both are there to be
 * copied. Letters are counted, not measured, for a note is to load nothing: a line of wide ones is
 * broken by the terminal itself.
 */
export function wrapWholeWords(line: string, columns: number): string[] {
  if (line.length <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lead = line.indexOf(': rosterctl ') + 1;
  if (lead > shortLead)
    return [...wrapWholeWords(line.slice(0, lead), columns), indent + line.slice(lead + 1)];
  if (line.includes('rosterctl ')) return [line];
  const lines: string[] = [];
  let current = indent;
  // Blanks that align something are empty words, so they stay where nothing is broken.
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
