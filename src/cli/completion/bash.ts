/**
 * Completion for bash, which leaves the quoting to its completers: it cuts words at `=` and `:`, hands
 * them over with their quotes, and puts the answer on the line as it is.
 */
import type { Environment } from '../../data/environment.js';
import { displayWidth, pad, truncate, widestOf } from '../../terminal/width.js';
import { beginning, type Candidates, type Completion, typedPart } from './candidates.js';

/** A command line as bash describes it to `_rosterctl`. */
interface BashLine {
  /** The words after the program's name up to the cursor, the last one unfinished; no quotes. */
  readonly words: readonly string[];
  /** The text that readline replaces: the end of the last word. */
  readonly replaced: string;
  /** The last word before `replaced`, without quotes. */
  readonly start: string;
  /** The quote that is open before `replaced`. */
  readonly quote: '' | '"' | "'";
  /** True if the last word is a file to read or write: `> FILE`. */
  readonly isRedirected: boolean;
  /** True if the answer is only shown, or cut to the common prefix: then names may be added. */
  readonly isShown: boolean;
  /** The width of the screen; a script from before it was passed names none. */
  readonly columns: number;
}

/** Reads bash's line up to the cursor and its COMP_TYPE; undefined from another shell. */
export function readBashLine(env: Environment, replaced: string): BashLine | undefined {
  const { COMP_LINE: before, COMP_TYPE: type, COLUMNS: columns } = env;
  if (before === undefined) return undefined;
  const found = [...before.matchAll(shellWord)];
  const last = found.at(-1);
  const isInWord = last !== undefined && last.index + last[0].length === before.length;
  const raw = isInWord ? last[0] : '';
  const previous = found.at(isInWord ? -2 : -1)?.[0] ?? '';
  const head = raw.endsWith(replaced) ? raw.slice(0, raw.length - replaced.length) : raw;
  const typed = found.map(([word]) => unquote(word)).slice(1);
  return {
    words: isInWord ? typed : [...typed, ''],
    replaced,
    start: unquote(head),
    quote: head.endsWith('"') ? '"' : head.endsWith("'") ? "'" : '',
    isRedirected: redirection.test(raw) || lonelyRedirection.test(previous),
    isShown: shownTypes.includes(type ?? ''),
    columns: Number(columns) || Infinity,
  };
}

/** COMP_TYPE of TAB, and of the listings after it; the others put whole answers into the line. */
const shownTypes = ['9', '33', '63', '64'];

/** `>FILE`, `2>>FILE`, `<FILE`. */
const redirection = /^\d*[<>]/;
/** A redirection whose file is the next word. */
const lonelyRedirection = /^\d*(?:<|>>?|>[|&])$/;

/** A word with its quotes, of which the last may be open. */
const shellWord = /(?:\\[^]?|'[^']*'?|"(?:\\[^]|[^"\\])*"?|[^\s\\'"])+/g;

function unquote(raw: string): string {
  return raw.replace(
    /\\([^]?)|'([^']*)'?|"((?:\\[^]|[^"\\])*)"?/g,
    (_, escaped?: string, single?: string, double?: string) =>
      escaped ?? single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? '',
  );
}

/**
 * The answer for the script: what readline shall do (`:words`, `:closes` = close the quote and add a
 * space, `:files`, `:folders`), then the words as they are to be on the line.
 * `paths` lists files and folders, the latter with a slash: where a flag is part of the same word,
 * readline cannot.
 */
export function bashAnswer(
  { directive, kept, candidates }: Completion,
  line: BashLine,
  paths: (start: string, directive: 'files' | 'folders') => Candidates,
): string {
  const current = line.words.at(-1) ?? '';
  const value = current.slice(kept.length);
  if (directive !== 'files' && directive !== 'folders') {
    const closes = directive !== 'nospace' && line.quote !== '';
    const space = directive !== 'nospace' && line.quote === '' ? ' ' : '';
    if (directive === 'replace') {
      const words = replies(candidates, kept, line, space);
      // readline would put what all have in common in place of what is typed, which they do not share.
      const isChoice = line.isShown && candidates.includes('\n');
      return withDirective(
        closes ? ':closes' : ':words',
        isChoice ? `${words}\n${quotedFor(line.replaced, line.quote) ?? ''}` : words,
      );
    }
    const fitting = beginning(candidates, value);
    return withDirective(closes ? ':closes' : ':words', replies(fitting, kept, line, space));
  }
  if (kept === '' || !line.replaced.startsWith(kept)) return `:${directive}\n`;
  return withDirective(':words', replies(paths(value, directive), kept, line, ' '));
}

function withDirective(directive: string, lines: string): string {
  return lines === '' ? `${directive}\n` : `${directive}\n${lines}\n`;
}

/** Adds `space` after each word that is not a folder, and the description where there is a choice. */
function replies(candidates: Candidates, kept: string, line: BashLine, space: string): string {
  const hasNotes = line.isShown && candidates.includes('\n');
  const ended = endedWords(candidates, kept, line, space);
  return hasNotes ? withNotes(ended, line.columns) : ended.replace(/\t.*$/gm, '');
}

function endedWords(
  candidates: Candidates,
  kept: string,
  { start, quote }: BashLine,
  space: string,
): string {
  if (`${kept}${start}${quote}` === '' && !needsCare.test(candidates))
    return candidates.replace(/^[^\t\n]+/gm, `$&${space}`);
  return candidates
    .split('\n')
    .flatMap((candidate) => {
      const word = typedPart(candidate);
      const whole = kept + word;
      if (!whole.startsWith(start)) return [];
      const quoted = quotedFor(whole.slice(start.length), quote);
      if (quoted === undefined) return [];
      return [`${quoted}${word.endsWith('/') ? '' : space}${candidate.slice(word.length)}`];
    })
    .join('\n');
}

/** Puts the descriptions in one column, cut to the screen: readline would break them inside a word. */
function withNotes(ended: string, columns: number): string {
  const rows = ended.split('\n').map((row) => row.split('\t'));
  const column = Math.min(widestOf(rows.map(([word = '']) => word)), columns / 2);
  return rows
    .map(([word = '', text = '']) => {
      const padded = pad(word, column);
      const room = columns - displayWidth(padded) - 5;
      return text === '' || room < 4 ? word : `${padded}  (${truncate(text, room)})`;
    })
    .join('\n');
}

/** Matches where a word is not an id of plain characters: it has to be quoted, or is a folder. */
const needsCare = /(?:^|\n)[^\t\n]*[^\w.:=@%+,\t\n-]/;

/** The text as it is written after this quote; undefined where that cannot be written. */
function quotedFor(text: string, quote: BashLine['quote']): string | undefined {
  if (quote === "'") return text.replaceAll("'", String.raw`'\''`);
  // In double quotes bash replaces `!` and no backslash helps.
  if (quote === '"') return text.includes('!') ? undefined : text.replace(/["\\$`]/g, '\\$&');
  return text.replace(/[^\w./:=@%+,\u0080-\u{10ffff}-]/gu, '\\$&');
}
