/** Wraps messages, report rows and commands at whole words, without measuring each letter. */

/** Wraps a line of a page to `columns` like a message, except a command, which is broken so that it can be pasted. */
export function wrapPageLine(line: string, columns: number): string[] {
  return wrapWholeWords(line, columns).flatMap((each) =>
    isCommandAlone(each)
      ? commandLines(each.trim(), columns, each.length - each.trimStart().length)
      : [each],
  );
}

/**
 * Wraps a line of prose to `columns`, each line indented like the first. Words and commands are never
 * broken, because they are there to be copied; a command moves below the sentence that leads to it.
 */
export function wrapWholeWords(line: string, columns: number): string[] {
  if (cellsOf(line) <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lead = line.indexOf(': rosterctl ') + 1;
  if (lead > 0)
    return [...wrapWholeWords(line.slice(0, lead), columns), indent + line.slice(lead + 1)];
  if (isToCopy(line)) return [line];
  const lines: string[] = [];
  let current = indent;
  // Spaces that align something become empty words, so they survive where no line is broken.
  for (const word of line.slice(indent.length).split(' ')) {
    const isFirst = current === indent;
    const longer = isFirst ? current + word : `${current} ${word}`;
    if (!isFirst && cellsOf(longer) > columns) {
      lines.push(current.trimEnd());
      current = indent + word;
    } else current = longer;
  }
  return [...lines, current];
}

/** Letters of one UTF-16 unit that take two columns; those of two units take two at most. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g;

/** The columns that a text takes at most; a note must not load the tables of `displayWidth` for it. */
function cellsOf(text: string): number {
  return text.length + (text.match(wide)?.length ?? 0);
}

/** True for a command, and for a flag with a short lead: `Allow it: --allow-partial`. */
function isToCopy(line: string): boolean {
  return /^\s*rosterctl |^\s*[^:]{1,24}: --(?!.*\. )/.test(line);
}

/** True for a command without a sentence after it. */
function isCommandAlone(line: string): boolean {
  const command = line.trimStart();
  return command.startsWith('rosterctl ') && !/[.,;:] |  /.test(command.replace(quoted, '_'));
}

/** A word in quotes, or an escaped quote, as `shellQuote` writes them. */
const quoted = /'[^']*'|"[^"]*"|\\./g;

/** Renders a command in lines of at most `columns`, broken after `&&` or with ` \` where it is too long. */
export function commandLines(command: string, columns: number, indent: number): string[] {
  if (indent + command.length <= columns) return [' '.repeat(indent) + command];
  const steps = command.split(/(?<= &&) /);
  return steps.flatMap((step, index) =>
    brokenCommand(step, columns, indent, index === 0 ? 0 : hanging),
  );
}

/** The additional indent of the further lines of a command. */
const hanging = 4;

function brokenCommand(step: string, columns: number, indent: number, first: number): string[] {
  if (indent + first + step.length <= columns) return [' '.repeat(indent + first) + step];
  const room = columns - indent - hanging - ' \\'.length;
  // Only where both do not fit, a flag's value is below it. A long word would be searched again from
  // each of its letters if the space did not come first.
  const parts = withValues(step).flatMap((piece) =>
    piece.length > room ? piece.split(/ (?<=^--?\w[^\s=]* )/) : [piece],
  );
  return fillPieces(parts, room).map(
    (part, index, all) =>
      `${' '.repeat(indent + (index === 0 ? first : hanging))}${part}${index < all.length - 1 ? ' \\' : ''}`,
  );
}

/** The words of a command, quoted ones whole, each flag with its value. */
function withValues(command: string): string[] {
  const pieces: string[] = [];
  for (const word of command.match(/(?:'[^']*'|"[^"]*"|\\.|\S)+/g) ?? []) {
    const last = pieces.at(-1);
    if (last !== undefined && /^--?\w[^\s=]*$/.test(last) && !word.startsWith('-'))
      pieces[pieces.length - 1] = `${last} ${word}`;
    else pieces.push(word);
  }
  return pieces;
}

/** The minimum width of a second column that is easy to read. */
export const minTextWidth = 24;

/** Wraps `text` beside `head`, or below it where the column would be too narrow. */
export function hangingLines(head: string, text: string, columns: number): string[] {
  const isBeside = columns - head.length >= minTextWidth;
  const indent = isBeside ? head.length : Math.min(head.length, 6);
  const lines = wrapWholeWords(text, columns - indent);
  const first =
    isBeside || head.length + text.length <= columns ? head + (lines.shift() ?? '') : head;
  return [first.trimEnd(), ...lines.map((line) => ' '.repeat(indent) + line)];
}

/** The maximum width of a page, in columns. */
export const fullWidth = 80;

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
