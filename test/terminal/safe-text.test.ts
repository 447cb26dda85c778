import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { multiLine, rawLines, singleLine, tsvCell } from '../../src/terminal/safe-text.js';
import { codePoint } from '../support/code-point.js';
import { forbidden, hostileTexts } from '../support/hostile.js';

test('there are forty hostile texts', () => {
  expect(hostileTexts).toHaveLength(40);
});

describe.each(hostileTexts.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
  '%s',
  (_, text) => {
    test('is harmless in a cell, a line and a paragraph', () => {
      expect(singleLine(text)).not.toMatch(forbidden);
      expect(singleLine(text)).not.toMatch(/\n/);
      expect(multiLine(text)).not.toMatch(forbidden);
      expect(rawLines(text).replaceAll('\t', '')).not.toMatch(forbidden);
    });

    test('has no control character, line end or bidirectional control in a tab-separated cell', () => {
      expect(tsvCell(text)).not.toMatch(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u);
    });
  },
);

test.each([
  ['a\tb\r\nc\n', 'a\tb\nc\n'],
  ['a\rb\u001b[2J', 'a\\u000db\\u001b[2J'],
  ['\ufffd\u200b', '\ufffd\\u200b'],
])('of data, a terminal gets %j as %j', (data, shown) => {
  expect(rawLines(data)).toBe(shown);
});

test('any text is sanitized', () => {
  const pieces = fc.constantFrom(
    ...hostileTexts.filter((text) => text.length < 100),
    '👩‍🚀',
    '️',
    '‍',
    'é',
    '⃣',
    '1',
  );
  const texts = fc.oneof(
    fc.string({ unit: codePoint }),
    fc.array(pieces).map((list) => list.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(singleLine(text)).not.toMatch(forbidden);
      expect(singleLine(text)).not.toContain('\n');
      expect(multiLine(text)).not.toMatch(forbidden);
      expect(singleLine(text).isWellFormed()).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['Ann', 'Ann'],
  ['Zoë Müller', 'Zoë Müller'],
  ['日本語', '日本語'],
  ['नमस्ते', 'नमस्ते'],
  ['👩‍🚀', '👩‍🚀'],
  ['❤️', '❤️'],
  ['1️⃣', '1️⃣'],
  ['a\u200db', 'a\\u200db'],
  ['x\ufe0f', 'x\\ufe0f'],
  ['a\nb\tc\rd', 'a⏎b⇥c␍d'],
  ['a\r\nb', 'a⏎b'],
  ['\u001b[31m', '\\u001b[31m'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud83d', '\\ud83d'],
  ['\u0301x', '◌\u0301x'],
  [`e${'\u0301'.repeat(9)}!`, `e${'\u0301'.repeat(4)}…!`],
])('%j is shown as %j', (text, shown) => {
  expect(singleLine(text)).toBe(shown);
});

test('a chain of joined emoji is split into groups of four', () => {
  const chain = Array(10).fill('\u{1f469}').join('\u200d');
  expect(singleLine(chain).split('\\u200d')).toHaveLength(3);
});

test('a paragraph keeps only its line ends', () => {
  expect(multiLine('a\r\nb\rc\n\td\u001b')).toBe('a\nb\nc\n  d\\u001b');
});

test('a tab-separated cell can be read back', () => {
  expect(tsvCell('a\\b\tc\nd\re')).toBe('a\\\\b\\tc\\nd\\re');
  expect(tsvCell('C:\\dir')).toBe('C:\\\\dir');
});

test('100 kB of anything takes no noticeable time', () => {
  for (const unit of ['\u0301', '\u001b', '👩‍', 'é', '\ud800', '1️'])
    expect(singleLine(unit.repeat(100_000)).length).toBeGreaterThan(4);
});
