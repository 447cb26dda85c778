/** Errors on the screen: a mark, the lines below it indented, all wrapped at whole words. */
import { type Environment, isUtf8Locale } from '../../data/environment.js';
import { createPaint } from '../../terminal/paint.js';
import { singleLine } from '../../terminal/safe-text.js';
import { wrapWholeWords } from '../../terminal/whole-words.js';

/** The stream that an error is printed to. */
interface Screen {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
}

/**
 * Returns the lines of an error, made harmless: at a terminal with a mark (`✘`, or `error:` where
 * the locale is not UTF-8) and wrapped to its width; elsewhere as they are, for logs and mails. An
 * answer of No (`isCancelled`) is no error and gets no mark.
 */
export function renderFailure(
  lines: readonly string[],
  screen: Screen,
  env: Environment,
  isCancelled = false,
): readonly string[] {
  const safe = lines.map(singleLine);
  if (!screen.isTerminal) return safe;
  const wrap = (line: string) => wrapWholeWords(line, screen.columns);
  if (isCancelled) return safe.flatMap(wrap);
  const mark = isUtf8Locale(env) ? '✘' : 'error:';
  const [message = '', ...below] = safe;
  const indent = ' '.repeat(mark.length + 1);
  const [first = '', ...more] = wrap(indent + message);
  return [
    `${createPaint(screen.color).bad(mark)} ${first.slice(indent.length)}`,
    ...more,
    ...below.flatMap((line) => wrap(`  ${line}`)),
  ];
}
