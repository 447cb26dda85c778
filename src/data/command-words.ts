import { UsageError } from '../errors.js';

/**
 * Splits a command line at spaces; quotes and backslashes as in a shell, and nothing else of a
 * shell. Throws UsageError for a quote that is not closed.
 */
export function splitWords(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, single, double, escaped, space] of command.matchAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(\s+)|[^\s'"\\]+|./gsu,
  )) {
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (piece === "'" || piece === '"')
      throw new UsageError('The command has a quote that is not closed.');
    else word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? piece);
  }
  if (word !== undefined) words.push(word);
  return words;
}
