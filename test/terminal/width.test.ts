import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { multiLine, singleLine } from '../../src/terminal/safe-text.js';
import { displayWidth, pad, truncate, wrap } from '../../src/terminal/width.js';
import { codePoint } from '../support/code-point.js';
import { hostileTexts } from '../support/hostile.js';

test.each([
  ['', 0],
  ['Ann', 3],
  ['Zoë', 3],
  ['Zoe\u0308', 3],
  ['日本', 4],
  // xterm, VTE and Alacritty draw each part; too narrow a measure would break the line.
  ['👩‍🚀', 4],
  ['👨‍👩‍👧‍👦', 8],
  ['👩🏽', 4],
  ['🇩🇪', 2],
  ['का', 2],
  // As a Mac names a file: every terminal joins the parts of a syllable.
  ['한글'.normalize('NFD'), 4],
])('%s takes %i columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns);
});

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 4, 'abc…'],
  ['ab cdef', 4, 'ab…'],
  ['日本語', 4, '日…'],
  ['한국어'.normalize('NFD'), 5, '한국…'.normalize('NFD')],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['👩‍🚀👩‍🚀', 5, '👩‍🚀…'],
  ['abcd\u0301efgh', 5, 'abcd\u0301…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
])('%s within %i columns is %s', (text, columns, cut) => {
  expect(truncate(text, columns)).toBe(cut);
});

const words = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 200 }),
  fc.constantFrom(...hostileTexts),
  fc
    .array(fc.constantFrom('日', 'é', 'e\u0301', '👩‍🚀', ' ', 'का', 'a', '\u0301'))
    .map((list) => list.join('')),
);

test('a truncated text fits the width, and is truncated only if necessary', () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 60 }), (text, columns) => {
      const safe = singleLine(text);
      const cut = truncate(safe, columns);
      expect(displayWidth(cut)).toBeLessThanOrEqual(columns);
      if (safe.length < 500 && displayWidth(safe) <= columns) expect(cut).toBe(safe);
    }),
    { numRuns: 500 },
  );
});

test('wrapped lines fit the width, and no letter is lost', () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 6, max: 60 }), (text, columns) => {
      const safe = multiLine(text).slice(0, 3000);
      const lines = wrap(safe, columns);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      expect(lines.join('').replaceAll(' ', '')).toBe(safe.replace(/[ \n]/g, ''));
    }),
    { numRuns: 300 },
  );
});

test('lines break at spaces if there are any', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  expect(wrap('', 4)).toEqual(['']);
});

test('a text of 100 kB wraps at once', () => {
  expect(wrap('é'.repeat(100_000), 80)).toHaveLength(1250);
});

test('padding counts columns', () => {
  expect(pad('日', 4)).toBe('日  ');
  expect(pad('abcdef', 4)).toBe('abcdef');
});
