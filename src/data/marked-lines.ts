/** Lines of ours inside a file that belongs to the user, between two comment lines. */
export interface MarkedLines {
  readonly name: string;
  readonly lines: readonly string[];
}

/**
 * The text with our lines at its end, or renewed where they stand. `undefined` = there is no file
 * yet; the mark then says so, that `withoutMarked` can tell. The same lines twice change nothing.
 */
export function withMarked(text: string | undefined, { name, lines }: MarkedLines): string {
  const found = findMarked(text ?? '', name);
  const block = (made: boolean) =>
    [`# >>> ${name}${made ? madeForIt : ''} >>>`, ...lines, `# <<< ${name} <<<`].join('\n');
  if (text === undefined) return `${block(true)}\n`;
  if (found) return text.slice(0, found.from) + block(found.made) + text.slice(found.to);
  if (text === '' || text.endsWith('\n')) return `${text}${block(false)}\n`;
  // A file without a last line end stays one, so that taking the lines out leaves it as it was.
  return `${text}\n${block(false)}`;
}

/** The text as it was before `withMarked`; undefined when the file was made for our lines alone. */
export function withoutMarked(text: string, name: string): string | undefined {
  const found = findMarked(text, name);
  if (!found) return text;
  const before = text.slice(0, found.from);
  const after = text.slice(found.to);
  const rest = after === '' ? before.replace(/\n$/, '') : before + after.replace(/^\n/, '');
  return found.made && rest === '' ? undefined : rest;
}

const madeForIt = ' (this file was made for it)';

/** Where our block stands, its last line end not counted. */
function findMarked(text: string, name: string) {
  const begins = [`# >>> ${name} >>>\n`, `# >>> ${name}${madeForIt} >>>\n`];
  const end = `\n# <<< ${name} <<<`;
  for (const begin of begins) {
    const from = text.startsWith(begin) ? 0 : text.indexOf(`\n${begin}`) + 1;
    if (from === 0 && !text.startsWith(begin)) continue;
    const last = text.indexOf(end, from);
    if (last < 0) continue;
    return { from, to: last + end.length, made: begin === begins[1] };
  }
  return undefined;
}
