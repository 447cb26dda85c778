import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reviewCard } from '../../src/review/cards.js';
import { type FrameStyle, frameOf } from '../../src/review/frame.js';
import type { Review } from '../../src/review/state.js';
import { createPaint, withoutColor } from '../../src/terminal/paint.js';
import { displayWidth } from '../../src/terminal/width.js';
import { codePoint } from '../support/code-point.js';
import { forbidden } from '../support/hostile.js';
import { atKeys, cardOf, cards } from './user.js';

const context = { settings: { time: 'relative', verbose: false } } as const;
const now = new Date('2026-11-22T12:00:00Z');

function styleOf(columns: number, rows: number, isUtf8 = true): FrameStyle {
  return {
    columns,
    rows,
    isUtf8,
    paint: createPaint(true),
    title: 'pending Valorant, oldest first',
  };
}

/** The screen of a review, as a terminal of this size shows it. */
function screenOf(state: Review, columns: number, rows: number, isUtf8 = true): readonly string[] {
  const style = styleOf(columns, rows, isUtf8);
  const card = state.cards[state.index];
  if (!card) throw new Error('no card');
  const everyone = { records: state.cards.map(({ record }) => record) };
  const loaded = { everyone, changes: new Map() };
  const queued = state.decisions.queued.get(card.id);
  const lines = reviewCard(context, card, queued, loaded)({ ...style, now, isTerminal: true });
  return frameOf(state, lines, style).lines.map(withoutColor);
}

const nimbus = cardOf(7, {
  name: 'Nimbus Kolmarden',
  email: 'nimbus@example.com',
  submittedAt: '2026-11-03T12:00:00Z',
  gamerTags: [{ game: 'Valorant', gamerTag: 'NimbusVole#DEMO' }],
  formResponses: {
    'Peak rank': 'Immortal 1',
    'Why us?': 'I like the way you review games. '.repeat(8),
  },
});

describe('the screen', () => {
  test('shows place, filter and counts, the card, and the keys', () => {
    const person = atKeys([nimbus, ...cards(39)]);
    person.type('s', 'left');
    const screen = screenOf(person.state(), 92, 24);
    expect(screen[0]).toMatch(/^1 of 40 · pending Valorant, oldest first +1 shortlisted$/);
    expect(screen[2]).toMatch(/^Nimbus Kolmarden +pending → shortlisted · 19 d ago$/);
    expect(screen.join('\n')).toContain('Games  Valorant  NimbusVole#DEMO');
    expect(screen.slice(-2)).toEqual([
      's shortlist  r reject  a accept  e reviewing  n note  ⏎ next  ← back  ↑↓ scroll  o link',
      '/ search  u undo  w send  q keep  ? help',
    ]);
  });

  test('says what the last key did beside a rule, or in two lines where it does not fit', () => {
    const state = atKeys([nimbus, ...cards(39)]).state();
    expect(screenOf(state, 40, 15)[1]).toMatch(/^─{40}$/);
    const said = (text: string) => screenOf({ ...state, message: text }, 40, 15).slice(1, 4);
    expect(said('Nothing was opened.')[0]).toBe('── Nothing was opened. ─────────────────');
    const [first, second, third] = said(
      'Nimbus Kolmarden: shortlisted. 1 decided, u undoes. That was the last one: w sends, q keeps.',
    );
    expect(first).toBe('Nimbus Kolmarden: shortlisted. 1');
    expect(second).toBe('decided, u undoes. That was the last on…');
    expect(third).toMatch(/^Nimbus Kolmarden/);
  });

  test('of 40 columns and 15 lines shows the same in fewer words, and how much is below', () => {
    const person = atKeys([nimbus, ...cards(39)]);
    const screen = screenOf(person.type('s', 'left', 'right', 'left'), 40, 15);
    expect(screen[0]).toBe('1 of 40                    1 shortlisted');
    expect(screen.at(-3)).toMatch(/^── \d+ more lines ↓ ─+$/);
    const ofLines = (count: number) =>
      withoutColor(
        frameOf(person.state(), Array(count).fill('x'), styleOf(40, 15)).lines[12] ?? '',
      );
    expect([10, 11].map(ofLines)).toEqual(['─'.repeat(40), `── 1 more line ↓ ${'─'.repeat(23)}`]);
    expect(screen.slice(-2)).toEqual([
      's r a e decide  n note  ⏎ next  u undo',
      'w send  q keep  ? help',
    ]);
  });

  test('in a locale without UTF-8 has no signs of its own but ASCII', () => {
    const person = atKeys([nimbus]);
    // oxlint-disable-next-line no-control-regex
    for (const key of ['right', 's', '?', 'x', 'n'])
      expect(screenOf(person.type(key), 60, 15, false).join('')).toMatch(/^[ -~]*$/);
  });

  test('shows the end of a note that is longer than the line, and the cursor behind it', () => {
    const person = atKeys([nimbus]);
    person.read(['n']);
    const state = person.read(Array.from(`${'日本'.repeat(40)}end`));
    const frame = frameOf(state, [], styleOf(40, 15));
    expect(frame.lines.at(-1)).toMatch(/^Note: [日本]+end$/);
    expect(frame.cursor).toEqual({ row: 14, column: displayWidth(frame.lines.at(-1) ?? '') });
  });

  test('says how to end a note or a search, while there is room beside it', () => {
    const person = atKeys([nimbus]);
    expect(screenOf(person.type('n'), 40, 15).at(-1)).toMatch(/^Note: +⏎ keep {2}Esc cancel$/);
    const noted = screenOf(person.read(Array.from('Call on Friday')), 40, 15);
    expect(noted.at(-1)).toBe('Note: Call on Friday  ⏎ keep  Esc cancel');
    expect(screenOf(person.type('!'), 40, 15).at(-1)).toBe('Note: Call on Friday!');
    const search = screenOf(person.type('escape', '/'), 40, 15, false);
    expect(search.at(-1)).toMatch(/^Search: +Enter find {2}Esc cancel$/);
  });

  test('shows the whole address before and after the question', () => {
    const url = `https://example.com/${'path/'.repeat(30)}`;
    const person = atKeys([cardOf(1, { formResponses: { VOD: url } })]);
    const screen = screenOf(person.type('o'), 40, 15);
    expect(screen.join('')).toContain(url);
    expect(screen).toContain('example.com');
    expect(screen.at(-1)).toBe('Open it? [y/N]');
    const two = atKeys([cardOf(1, { formResponses: { VOD: `${url} https://b.example` } })]);
    expect(screenOf(two.type('o'), 40, 15).at(-1)).toBe('Open it? [y/N]  o next (1 of 2)');
  });
});

test('every help line fits on the smallest screen', () => {
  const screen = screenOf(atKeys([nimbus]).type('?'), 40, 15);
  for (const key of ['s', 'r', 'a', 'e', 'n', 'o', 'u', 'w', 'q', '/'])
    expect(screen.slice(1).join('\n')).toMatch(new RegExp(`(^|\\s)${key} `, 'm'));
});

test('no record, no text and no size make a line too wide, too many lines, or a terminal obey', () => {
  const unit = fc.oneof(
    fc.constantFrom(
      '日本語',
      'שלום עולם',
      'مرحبا',
      '👩‍👩‍👧‍👦',
      '🇩🇪',
      'e\u0301\u0301\u0301\u0301\u0301\u0301',
      'हिन्दी',
      'ㅤ',
      'a'.repeat(99),
    ),
    fc.constantFrom(
      '\u001b[2J',
      '\u001b]0;x\u0007',
      '\u202e',
      '\u0000',
      '\r',
      '\n',
      '\t',
      '\u009b1m',
      '\u200b',
      ' ',
    ),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.string({ unit: codePoint, maxLength: 30 }),
  );
  const text = fc.array(unit, { maxLength: 8 }).map((all) => all.join(''));
  const record = fc.record({
    name: text,
    email: text,
    status: text,
    internalNotes: fc.option(text),
    formResponses: fc.dictionary(
      text,
      fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.integer()),
    ),
    gamerTags: fc.array(fc.record({ game: text, gamerTag: text }), { maxLength: 3 }),
    more: fc.jsonValue({ maxDepth: 2 }),
  });
  const keys = fc.array(
    fc.constantFrom('s', 'n', 'x', 'enter', ' ', 'down', '?', '/', 'o', 'u', 'left'),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(
      record,
      text,
      keys,
      fc.integer({ min: 20, max: 250 }),
      fc.integer({ min: 6, max: 60 }),
      (fields, name, typed, columns, rows) => {
        const person = atKeys([
          { ...cardOf(1, fields), name: withoutControls(name) },
          cardOf(2, { email: fields.email }),
        ]);
        const screen = screenOf(person.type(...typed), columns, rows);
        expect(screen.length).toBe(rows);
        for (const line of screen) {
          expect(displayWidth(line)).toBeLessThanOrEqual(columns);
          expect(line).not.toMatch(forbidden);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a window that is too small says so', () => {
  for (const [columns, rows] of [
    [10, 4],
    [1, 1],
    [19, 30],
    [80, 5],
  ] as const) {
    const screen = screenOf(atKeys([nimbus]).state(), columns, rows);
    expect(screen.length).toBeLessThanOrEqual(rows);
    for (const line of screen) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
  }
});

function withoutControls(text: string): string {
  return text.replace(/\p{C}|\p{Z}|\p{M}/gu, ' ');
}
