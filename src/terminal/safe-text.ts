/**
 * Sanitizes untrusted text for display: a record's values and keys, a service's message, a file name.
 * Characters that could control a terminal, or hide, reorder or fake a line, become visible escapes
 * such as `\u001b`. Our own colour is added afterwards, never before.
 */
import { lazy } from '../data/lazy.js';
import { unsafeCharacters } from '../data/text.js';

/** Sanitizes text inside a line of prose or a table cell: line ends and tabs become visible marks. */
export function singleLine(text: string): string {
  return isPlainText(text) ? text : sanitize(text, cellMarks);
}

/** Sanitizes text with several lines, for a detail view: line ends stay, tabs become spaces. */
export function multiLine(text: string): string {
  return isPlainText(text) ? text : sanitize(text.replace(/\r\n?/g, '\n'), lineMarks);
}

/** Sanitizes machine-readable data for a terminal: tabs, line ends and U+FFFD stay. */
export function rawLines(text: string): string {
  return isPlainText(text) ? text : sanitize(text.replaceAll('\r\n', '\n'), dataMarks);
}

/** Escapes text for a tab-separated cell: `\`, tab and line ends by a backslash, other controls as \uXXXX. */
export function tsvCell(text: string): string {
  if (isPlainText(text)) return jsonTsvCell(text);
  return jsonTsvCell(text)
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replace(unsafeCharacters, escaped);
}

/** Escapes JSON for a tab-separated cell: `printJson` has escaped unsafe characters, so only backslashes remain. */
export function jsonTsvCell(json: string): string {
  return json.includes('\\') ? json.replaceAll('\\', '\\\\') : json;
}

/**
 * True for letters of Latin, Greek and Cyrillic, dashes and quotes, which are most texts: they need no
 * escape, and take one column each.
 */
export function isPlainText(text: string): boolean {
  return plain.test(text);
}

const plain =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e]*$/;

/**
 * Joined emoji, keycaps, runs of combining marks and invisible characters, matched in this order so
 * that a joiner stays only where it joins emoji, at most four of them. Compiled when first needed,
 * because that takes a millisecond.
 */
const specialSource = [
  '(?<emoji>\\p{Extended_Pictographic}(?:\\ufe0f|\\p{Emoji_Modifier})?(?:\\u200d\\p{Extended_Pictographic}(?:\\ufe0f|\\p{Emoji_Modifier})?){0,3})',
  '(?<keycap>[0-9#*]\\ufe0f\\u20e3)',
  '(?<marks>(?:(?!\\p{Default_Ignorable_Code_Point})\\p{M})+)',
  '(?<hidden>[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\ufff9-\\uffff])',
].join('|');
const special = lazy(() => new RegExp(specialSource, 'gu'));

type Marks = Readonly<Record<string, string>>;
const cellMarks: Marks = { '\n': '⏎', '\r': '␍', '\t': '⇥' };
const lineMarks: Marks = { '\n': '\n', '\t': '  ' };
const dataMarks: Marks = { '\n': '\n', '\t': '\t', '\ufffd': '\ufffd' };

/** No language puts more marks on one letter; a taller stack would cover other lines. */
const maxMarks = 4;

function sanitize(text: string, marksFor: Marks): string {
  const oneLine = marksFor === cellMarks ? text.replaceAll('\r\n', '\n') : text;
  return oneLine.replace(special(), (match: string, ...rest: unknown[]) => {
    const { marks, hidden } = rest.at(-1) as { marks?: string; hidden?: string };
    if (hidden !== undefined) return marksFor[match] ?? escaped(match);
    if (marks === undefined) return match;
    // A mark needs a letter of its own, or it would land on the column before.
    const offset = rest.at(-3) as number;
    const hasNoBase = offset === 0 || /\s/.test(oneLine[offset - 1] ?? '');
    return (hasNoBase ? '\u25cc' : '') + truncateMarks(marks);
  });
}

function truncateMarks(marks: string): string {
  const points = Array.from(marks);
  return points.length <= maxMarks ? marks : `${points.slice(0, maxMarks).join('')}…`;
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  return point > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
