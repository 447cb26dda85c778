import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Key, KeyReader } from '../../src/terminal/keys.js';

const esc = '\u001b';

/** The keys of these reads, one after the other without a pause. */
function keysOf(...reads: readonly (string | Uint8Array)[]): readonly Key[] {
  const reader = new KeyReader();
  return reads.flatMap((read) => reader.push(Buffer.from(read as string), 0));
}

test.each<readonly [string, readonly Key[]]>([
  ['s', ['s']],
  ['S', ['S']],
  ['é', ['é']],
  ['😀', ['😀']],
  [' ', [' ']],
  ['\r', ['enter']],
  ['\u007f', ['backspace']],
  ['\u0003', ['interrupt']],
  ['\u001a', ['suspend']],
  [`${esc}[A`, ['up']],
  [`${esc}OA`, ['up']],
  [`${esc}${esc}[A`, ['up']],
  [`${esc}[B`, ['down']],
  [`${esc}[C`, ['right']],
  [`${esc}[D`, ['left']],
  [`${esc}[5~`, ['pageUp']],
  [`${esc}[6~`, ['pageDown']],
  [`${esc}[H`, ['home']],
  [`${esc}[4~`, ['end']],
  [`${esc}OM`, ['enter']],
  // Keys that mean nothing here, and what a terminal says by itself.
  [`${esc}s`, []],
  [`${esc}[1;5A`, []],
  [`${esc}[115;5u`, []],
  [`${esc}[3~`, []],
  [`${esc}[[A`, []],
  [`${esc}Oa`, []],
  [`${esc}[Msras`, ['s']],
  [`${esc}[<0;3;4M`, []],
  [`${esc}[?64;1;2c`, []],
  [`${esc}]11;rgb:ffff/aaaa/rrrr\u0007`, []],
  [`${esc}P1$r0 q${esc}\\s`, ['s']],
  [`${esc}]0;r${esc}r\u0007s`, ['s']],
  ['\u009bA', ['up']],
  ['\u0001', []],
  [`${esc}[200~reject\r\nw${esc}[201~`, ['paste', 'paste']],
  [`${esc}[200~a${esc}[31mr${esc}[201~s`, ['paste', 'paste', 's']],
])('%j means %j, in one read and in reads of one byte', (text, keys) => {
  expect(keysOf(text)).toEqual(keys);
  expect(keysOf(...Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)))).toEqual(keys);
});

test('a sequence means the same however its bytes are spread over reads', () => {
  const pieces = fc.constantFrom(
    's',
    'r',
    `${esc}[A`,
    `${esc}OB`,
    `${esc}[5~`,
    `${esc}x`,
    'é',
    `${esc}[200~rs\r${esc}[201~`,
  );
  fc.assert(
    fc.property(fc.array(pieces), fc.array(fc.nat(40)), (all, cuts) => {
      const bytes = Buffer.from(all.join(''));
      const ends = [...new Set(cuts)].filter((at) => at < bytes.length).toSorted((a, b) => a - b);
      const reads = [...ends, bytes.length].map((end, index) =>
        bytes.subarray(ends[index - 1] ?? 0, end),
      );
      expect(keysOf(...reads)).toEqual(keysOf(bytes));
    }),
  );
});

test('no bytes at all make the reader fail, and Ctrl-C alone always gets through', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), (reads) => {
      const reader = new KeyReader();
      for (const read of reads) reader.push(read, 0);
      // Half a character may still wait for its other half.
      reader.push(Buffer.from('\u0003'), 0);
      expect(reader.push(Buffer.from('\u0003'), 0)).toEqual(['interrupt']);
    }),
  );
});

test('ESC alone is the key Escape after a wait; its sequence, if it comes late, is still no letter', () => {
  const reader = new KeyReader();
  expect(reader.push(Buffer.from(esc), 0)).toEqual([]);
  expect(reader.mayBeEscape).toBe(true);
  expect(reader.endWait()).toEqual(['escape']);
  expect(reader.mayBeEscape).toBe(false);
  expect(reader.push(Buffer.from('['), 5_000)).toEqual([]);
  expect(reader.push(Buffer.from('A'), 6_000)).toEqual(['up']);
  expect(reader.push(Buffer.from('s'), 6_001)).toEqual(['s']);
});

test('what begins like a string without end, as Alt-] does, ends at the first read after a pause', () => {
  const reader = new KeyReader();
  expect(reader.push(Buffer.from(`${esc}]11;`), 0)).toEqual([]);
  expect(reader.push(Buffer.from('rgb:rr'), 900)).toEqual([]);
  expect(reader.push(Buffer.from('s'), 2_000)).toEqual([]);
  expect(reader.push(Buffer.from('s'), 2_001)).toEqual(['s']);
});

test.each<readonly [number, readonly Key[]]>([
  [900, []],
  [1_100, ['s']],
])('a letter %i ms after Escape, which may be Alt and the letter, is %j', (ms, keys) => {
  const reader = new KeyReader();
  reader.push(Buffer.from(esc), 5_000);
  reader.endWait();
  expect(reader.push(Buffer.from('s'), 5_000 + ms)).toEqual(keys);
});

test('what a paste held is there once, after the read that ended it', () => {
  const reader = new KeyReader();
  reader.push(Buffer.from(`${esc}[200~one `), 0);
  expect(reader.takePasted()).toBe('');
  reader.push(Buffer.from(`two\rthree${esc}[201~s`), 0);
  expect(reader.takePasted()).toBe('one two\rthree');
  expect(reader.takePasted()).toBe('');
});
