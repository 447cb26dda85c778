/** Pages of help: fits their paragraphs, rows and commands to a width, so that commands can still be pasted. */
import { commandLines, fillPieces, fillWords, minTextWidth } from './whole-words.js';

/**
 * Fits a page to `width` columns. Lines of prose are one paragraph, however they were broken; an
 * indented line is a row, with the deeper lines after it.
 */
export function fitPage(page: string, width: number): string {
  const blocks = page.trimEnd().split('\n\n');
  const fitted = blocks.map((block) => fitBlock(joined(block), width).join('\n'));
  return `${fitted.join('\n\n')}\n`;
}

/** The paragraphs and rows of a block, each as one line. */
function joined(block: string): readonly string[] {
  const all: string[] = [];
  for (const line of block.split('\n')) {
    const [before, indent] = [all.at(-1), indentOf(line)];
    const above = before === undefined ? -1 : indentOf(before);
    // Two spaces begin the next column of a row.
    const goesOn = indent === 0 ? above === 0 : indent > above && above > 0 && !/\S {2}/.test(line);
    if (before !== undefined && goesOn) all[all.length - 1] = `${before} ${line.trim()}`;
    else all.push(line);
  }
  return all;
}

function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

function fitBlock(all: readonly string[], width: number): string[] {
  const rows = withColumns(all);
  // All rows of a block, or none, have their text below.
  const isStacked = rows.some(
    ({ line, column }) => line.length > width && (isCommand(line) || width - column < minTextWidth),
  );
  return rows.flatMap(({ line, column }) => {
    if (indentOf(line) === 0) return fillPieces(piecesOf(line), width);
    if (isCommand(line)) return fitCommand(line, width, isStacked);
    if (line.startsWith('  # ')) return commentLines(line.slice(4), width);
    return fitRow(line, column, width, isStacked);
  });
}

function isCommand(line: string): boolean {
  return line.startsWith('  rosterctl ');
}

/** Each row with the column of its text: after its head or its mark. A row without a head has only text. */
function withColumns(all: readonly string[]): readonly { line: string; column: number }[] {
  const columns = all.map((line) => /^ +(?:- |\S+(?: \S+)*? {2,})?/.exec(line)?.[0].length ?? 0);
  const headed = columns.filter((column, index) => column > indentOf(all[index] ?? ''));
  const first = Math.min(...headed);
  return all.map((line, index) => {
    const column = columns[index] ?? 0;
    return { line, column: column > first && line[first - 1] === ' ' ? first : column };
  });
}

function fitRow(row: string, column: number, width: number, isStacked: boolean): string[] {
  const [head, text] = [row.slice(0, column), row.slice(column)];
  const hasHead = column > indentOf(row);
  if (!isStacked || (!hasHead && column <= 6) || head.trim() === '-') {
    if (row.length <= width) return [row];
    const [first, ...rest] = fillPieces(piecesOf(text), width - column);
    return [`${head}${first}`, ...rest.map((line) => ' '.repeat(column) + line)];
  }
  return [
    ...(head.trim() === '' ? [] : fillWords(head.trim(), width - 2).map((line) => `  ${line}`)),
    ...fillPieces(piecesOf(text), width - 6).map((line) => `      ${line}`),
  ];
}

/** Wraps a command line: its comment stays to the right, or goes below it if there is no room. */
function fitCommand(line: string, width: number, isStacked: boolean): string[] {
  if (line.length <= width && !isStacked) return [line];
  const [command = '', comment] = line.trim().split(/ {2,}# /);
  return [
    ...commandLines(command, width, 2),
    ...(comment === undefined ? [] : commentLines(comment, width - 4).map((each) => `    ${each}`)),
  ];
}

/** Renders what a command is for; a shell skips each line. */
export function commentLines(text: string, width: number): string[] {
  return fillWords(text, width - 4).map((line) => `  # ${line}`);
}

/** The words of prose; a command after a colon or a bracket, and a flag with its quoted value, are one. */
function piecesOf(text: string): string[] {
  return text.match(/(?:(?<=: )|\()rosterctl [^.,;()]+\S*|--?[\w-]+ '[^']*'\S*|\S+/g) ?? [];
}
