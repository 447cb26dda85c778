/**
 * The one owner of making text from elsewhere harmless before a person sees it: a record's values
 * and keys, a service's sentence, a file name. What could drive a terminal, hide, reorder or fake a
 * line becomes a visible escape such as `\u001b`. Colour of ours is added after, never before.
 */
import { lazy } from '../data/lazy.js';

/** Text for one table cell: line ends and tabs become visible marks. */
export function cellText(text: string): string {
  return harmless.test(text) ? text : tame(text, cellMarks);
}

/** Text inside one line of prose: line ends and tabs become visible marks. */
export function singleLine(text: string): string {
  return harmless.test(text) ? text : tame(text, cellMarks);
}

/** Text that may have several lines, for a detail view: line ends stay, tabs become spaces. */
export function multiLine(text: string): string {
  return harmless.test(text) ? text : tame(text.replace(/\r\n?/g, '\n'), lineMarks);
}

/** Data for a machine that somebody looks at on a terminal: tabs, line ends and U+FFFD stay. */
export function rawLines(text: string): string {
  return harmless.test(text) ? text : tame(text.replaceAll('\r\n', '\n'), dataMarks);
}

/** Text for a machine's tab-separated cell: `\`, tab and line ends escaped, other controls as \uXXXX. */
export function tsvCell(text: string): string {
  if (harmless.test(text)) return jsonTsvCell(text);
  return jsonTsvCell(text)
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replace(
      // C0, DEL, C1, line and paragraph separators, bidirectional controls, lone surrogates.
      /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
      escaped,
    );
}

/** The same of a text in which `printJson` has escaped what is unsafe: its backslashes are left. */
export function jsonTsvCell(json: string): string {
  return json.includes('\\') ? json.replaceAll('\\', '\\\\') : json;
}

/** Letters of Latin, Greek and Cyrillic, dashes and quotes: most texts, nothing to do for them. */
const harmless =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e]*$/;

/**
 * Runs of combining marks, emoji that belong together, and what is invisible. The three are matched
 * in this order, so that a joiner stays only where it joins emoji, at most four of them. Made when
 * first needed, since that takes a millisecond.
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

/** More marks on one letter are a tower that covers other lines, in no language. */
const mostMarks = 4;

function tame(text: string, shown: Marks): string {
  const oneLine = shown === cellMarks ? text.replaceAll('\r\n', '\n') : text;
  return oneLine.replace(special(), (found: string, ...rest: unknown[]) => {
    const { marks, hidden } = rest.at(-1) as { marks?: string; hidden?: string };
    if (hidden !== undefined) return shown[found] ?? escaped(found);
    if (marks === undefined) return found;
    // A mark needs a letter of its own, or it would land on the column before.
    const offset = rest.at(-3) as number;
    const lonely = offset === 0 || /\s/.test(oneLine[offset - 1] ?? '');
    return (lonely ? '\u25cc' : '') + capped(marks);
  });
}

function capped(marks: string): string {
  const points = Array.from(marks);
  return points.length <= mostMarks ? marks : `${points.slice(0, mostMarks).join('')}…`;
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  return point > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
