/** The screen of a review as lines: the head, the card or what covers it, and the keys; no line wider than the screen. */
import type { Canvas } from '../cli/views.js';
import { groupedNumber, plural } from '../data/text.js';
import { filledLines, type Piece } from '../terminal/layout.js';
import { singleLine } from '../terminal/safe-text.js';
import { displayWidth, truncate, wrap } from '../terminal/width.js';
import { type Mode, type Review, tallyOf } from './state.js';

/** The content of a screen, and how much of the card it has room for. */
export interface Frame {
  readonly lines: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
  /** How many lines the card has, and how many of them fit; none on a screen that is too small. */
  readonly length: number;
  readonly room: number;
}

/** The screen that a frame is made for. */
export interface FrameStyle extends Pick<Canvas, 'columns' | 'paint' | 'isUtf8'> {
  readonly rows: number;
  /** Which applications are reviewed, in which order. */
  readonly title: string;
}

/** Smaller, a card cannot be read. */
const minColumns = 20;
const minRows = 6;
/** With fewer rows, the keys get one line. */
const comfortableRows = 12;

/** Returns the screen of a review; `card`: the lines of the card on it. */
export function frameOf(state: Review, card: readonly string[], style: FrameStyle): Frame {
  const { columns, rows } = style;
  if (columns < minColumns || rows < minRows) {
    const lines = wrap('Make this window larger. q keeps what you decided.', Math.max(2, columns));
    const fitting = lines.slice(0, Math.max(1, rows)).map((line) => truncate(line, columns));
    return { lines: fitting, length: card.length, room: 0 };
  }
  const head = [headLine(state, style), ...messageLines(state.message, style)];
  const { lines: foot, cursor } = footLines(state.mode, style);
  const cover = coverLines(state.mode, style);
  const room = Math.max(1, rows - head.length - 1 - foot.length);
  const body = cover ?? card;
  const scroll = cover ? 0 : Math.min(state.scroll, Math.max(0, card.length - room));
  const shown = body.slice(scroll, scroll + room);
  const below = body.length - scroll - room;
  const blank = Array.from({ length: room - shown.length }, () => '');
  const lines = [...head, ...shown, ...blank, moreLine(below, style), ...foot];
  return {
    lines,
    cursor: cursor === undefined ? undefined : { row: rows - foot.length, column: cursor },
    length: card.length,
    room,
  };
}

// --- head ---

/** `7 of 40 · pending Valorant, oldest first        3 shortlisted  2 rejected`, or as much as fits. */
function headLine(state: Review, { columns, title, paint, isUtf8 }: FrameStyle): string {
  const place = `${groupedNumber(state.index + 1)} of ${groupedNumber(state.cards.length)}`;
  const long = title === '' ? place : `${place}${isUtf8 ? ' · ' : ' - '}${title}`;
  const tally = tallyOf(state).join('  ');
  const count = `${groupedNumber(state.decisions.queued.size)} decided`;
  const candidates = [
    [long, tally],
    [long, count],
    [place, tally],
    [place, count],
  ] as const;
  for (const [left, right] of candidates) {
    const gap = columns - displayWidth(left) - displayWidth(right);
    if (gap >= 2) return paint.bold(left) + ' '.repeat(gap) + right;
  }
  return paint.bold(truncate(place, columns));
}

const maxMessageLines = 2;

/** The rule below the head with what the last key did in it, or lines of their own where it does not fit. */
function messageLines(message: string, { columns, isUtf8, paint }: FrameStyle): readonly string[] {
  const text = singleLine(message);
  const width = displayWidth(text);
  if (text === '') return [rule(columns, isUtf8, paint)];
  const free = columns - width - 4;
  if (free >= 2) return [`${rule(2, isUtf8, paint)} ${text} ${rule(free, isUtf8, paint)}`];
  const all = wrap(text, columns);
  const last = all.slice(maxMessageLines - 1).join(' ');
  return [...all.slice(0, maxMessageLines - 1), truncate(last, columns)].filter(
    (line) => line !== '',
  );
}

function rule(width: number, isUtf8: boolean, paint: FrameStyle['paint']): string {
  return paint.dim((isUtf8 ? '─' : '-').repeat(width));
}

function moreLine(below: number, { columns, isUtf8, paint }: FrameStyle): string {
  if (below <= 0) return rule(columns, isUtf8, paint);
  const text = `${plural(below, 'more line')}${isUtf8 ? ' ↓' : ', Space'}`;
  const free = columns - displayWidth(text) - 4;
  return `${rule(2, isUtf8, paint)} ${text} ${rule(Math.max(0, free), isUtf8, paint)}`;
}

// --- foot ---

/** The keys and what they do; the second list is for a narrow screen. */
function keyLists(isUtf8: boolean): readonly (readonly string[])[] {
  const [enter, back, scroll] = isUtf8 ? ['⏎', '←', '↑↓'] : ['Enter', 'Left', 'Up/Down'];
  return [
    [
      ...['s shortlist', 'r reject', 'a accept', 'e reviewing', 'n note', `${enter} next`],
      ...[`${back} back`, `${scroll} scroll`, 'o link', '/ search', 'u undo', 'w send'],
      ...['q keep', '? help'],
    ],
    ['s r a e decide', 'n note', `${enter} next`, 'u undo', 'w send', 'q keep', '? help'],
    ['s r a e', 'w send', 'q keep', '? help'],
    ['? help'],
  ];
}

function footLines(
  mode: Mode,
  style: FrameStyle,
): { readonly lines: readonly string[]; readonly cursor?: number } {
  const { columns, rows, isUtf8, paint } = style;
  switch (mode.kind) {
    case 'note':
      return inputLine('Note: ', mode.text, 'keep', style);
    case 'search':
      return inputLine('Search: ', mode.text, 'find', style);
    case 'link': {
      const more = mode.links.length > 1 ? `  o next (${mode.at + 1} of ${mode.links.length})` : '';
      return { lines: [truncate(`Open it? [y/N]${more}`, columns)] };
    }
    case 'help':
    case 'address':
      return { lines: [truncate('Press any key to go back to the card.', columns)] };
    case 'cards': {
      const most = rows < comfortableRows ? 1 : 2;
      const fitting = keyLists(isUtf8)
        .map((keys) => filledLines(keys.map(pieceOf), '  ', columns))
        .find((lines) => lines.length <= most);
      return { lines: (fitting ?? []).map(paint.dim) };
    }
    default:
      return mode;
  }
}

function pieceOf(text: string): Piece {
  return { text };
}

/**
 * A line of typed text, of which the end is shown where it is too long, and the keys that end it while
 * there is room.
 */
function inputLine(
  label: string,
  typed: string,
  action: string,
  { columns, isUtf8, paint }: FrameStyle,
) {
  const room = columns - label.length - 1;
  let text = singleLine(typed);
  while (displayWidth(text) > room) text = Array.from(text).slice(1).join('');
  const cursor = label.length + displayWidth(text);
  const keys = `${isUtf8 ? '⏎' : 'Enter'} ${action}  Esc cancel`;
  const gap = columns - cursor - displayWidth(keys);
  const hint = gap < 2 ? '' : ' '.repeat(gap) + paint.dim(keys);
  return { lines: [label + text + hint], cursor };
}

// --- what covers the card ---

function coverLines(mode: Mode, { columns, paint, isUtf8 }: FrameStyle) {
  switch (mode.kind) {
    case 'help':
      return helpLines(columns, isUtf8, paint);
    case 'link': {
      const link = mode.links[mode.at];
      return [
        'This link leads to:',
        ...wrap(link?.host ?? '', columns).map(paint.bold),
        '',
        ...wrap(link?.url ?? '', columns),
      ];
    }
    case 'address':
      return [
        ...wrap('No browser can be opened from here. The address is', columns),
        '',
        ...wrap(mode.url, columns),
      ];
    default:
      return undefined;
  }
}

function helpLines(columns: number, isUtf8: boolean, paint: FrameStyle['paint']) {
  const paragraph = (head: string, ...keys: readonly string[]) => [
    paint.bold(head),
    ...filledLines(keys.map(pieceOf), '   ', columns),
  ];
  const arrows = isUtf8 ? ['⏎ next', '← → card', '↑ ↓'] : ['Enter next', 'Left Right', 'Up Down'];
  return [
    ...paragraph('Decide', 's shortlist', 'r reject', 'a accept', 'e reviewing', 'u undo'),
    ...paragraph('Move', ...arrows, 'Space PgUp PgDn scroll', '/ search'),
    ...paragraph('More', 'n note', 'o open link', 'w send all', 'q keep and leave'),
    ...wrap('Nothing is sent until you press w, which shows every change and asks.', columns),
  ];
}
