import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine, guard, unguard } from '../../src/data/csv.js';
import { readCsv } from '../../src/data/csv-reader.js';
import { RawNumber } from '../../src/data/json.js';
import { codePoint } from '../support/code-point.js';

const look = { delimiter: ',', raw: false } as const;

test('a line is RFC 4180: quotes doubled, CRLF at the end', () => {
  expect(csvLine(['a', 'b,c', 'say "x"', 'two\nlines', null, undefined, ' pad'], look)).toBe(
    'a,"b,c","say ""x""","two\nlines",,," pad"\r\n',
  );
});

test('the delimiter decides what is quoted', () => {
  expect(csvLine(['a;b', 'c,d'], { ...look, delimiter: ';' })).toBe('"a;b";c,d\r\n');
  expect(csvLine(['a\tb', 'c'], { ...look, delimiter: '\t' })).toBe('"a\tb"\tc\r\n');
});

test('numbers are not formulas, texts that look like one are guarded', () => {
  expect(csvLine([-5, new RawNumber('-12345678901234567890'), true, '-5'], look)).toBe(
    "-5,-12345678901234567890,true,'-5\r\n",
  );
  expect(csvLine(['-5'], { ...look, raw: true })).toBe('-5\r\n');
});

test('a NUL becomes visible, because it would cut the cell and no import could read the file', () => {
  const cells = ['a\0b', '\0=1', '=\0', '\u0001'];
  const line = csvLine(cells, look);
  expect(line).toBe("a\u2400b,\u2400=1,'=\u2400,\u0001\r\n");
  expect(readCsv(`a,b,c,d\r\n${line}`).map((row) => row.cells)).toEqual([
    ['a', 'b', 'c', 'd'],
    ['a\u2400b', '\u2400=1', "'=\u2400", '\u0001'],
  ]);
  expect(csvLine(cells, { ...look, raw: true })).toBe('a\0b,\0=1,=\0,\u0001\r\n');
});

describe('the guard', () => {
  test.each([
    '=1+1',
    '+1',
    '-1',
    '@x',
    '  =1',
    '\u00a0=1',
    '\r1',
    '\nx',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    "'=1",
    "'' =1",
  ])('%j gets a mark', (text) => {
    expect(guard(text)).toBe(`'${text}`);
  });

  test.each(['', 'Ann', "'quoted'", 'a=b', '1-2', "O'Neil", ' x'])('%j stays', (text) => {
    expect(guard(text)).toBe(text);
    expect(unguard(text)).toBe(text);
  });

  test.each(['<clear>', "'<clear>", ' <clear> ', '#N/A', '#REF!', 'Err:502', '1E+12', "''1,5E+17"])(
    'is put before %j, which an import would misread',
    (text) => {
      expect(guard(text)).toBe(`'${text}`);
      expect(unguard(guard(text))).toBe(text);
    },
  );

  test('guarded text round-trips exactly', () => {
    const nasty = fc.stringMatching(/^['"=+\-@ \t\r\n＝a,;(]*$/);
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string({ unit: codePoint })), (text) => {
        expect(unguard(guard(text))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['Ann;=1+1;x', "Ann;'=1+1;x"],
    ['Ann; @SUM(A1)', "Ann; '@SUM(A1)"],
    ['Ann\n=1+1', "Ann\n'=1+1"],
    ['Ann\t-cmd|0', "Ann\t'-cmd|0"],
    ["Ann;'=1+1", "Ann;''=1+1"],
    ['Ann,=1+1;x', "Ann,'=1+1;x"],
    ['Ann,@SUM(A1),-cmd|0', "Ann,'@SUM(A1),'-cmd|0"],
    ['Ann;"=1+1;x', `Ann;"'=1+1;x`],
    ['Ann,""+SUM(A1)', `Ann,""'+SUM(A1)`],
    ['\t=1', "'\t'=1"],
    [' \n@SUM(A1);', "' \n'@SUM(A1);"],
    ['Tel,+49 170, @ann (main), =x, 1,-2,3 (won)', 'Tel,+49 170, @ann (main), =x, 1,-2,3 (won)'],
    [
      'see you ;-) and\n- fast\n-- \nTel;+49 170;=> go',
      'see you ;-) and\n- fast\n-- \nTel;+49 170;=> go',
    ],
  ])('%j is %j: a spreadsheet may split it at another delimiter', (text, guarded) => {
    expect(guard(text)).toBe(guarded);
    expect(unguard(guarded)).toBe(text);
  });

  test('no guarded cell starts like a formula', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        expect(guard(text)).not.toMatch(/^\s*[=+\-@＝＋－＠\t\r\n]/);
      }),
    );
  });
});

test('an RFC 4180 reader reads what was written', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: codePoint }), { minLength: 1 }), (cells) => {
      const written = cells.map((cell) => cell.replaceAll('\0', '\u2400'));
      expect(readLine(csvLine(cells, look)).map(unguard)).toEqual(written);
    }),
  );
});

/** A simple reader of one record, written from RFC 4180. */
function readLine(line: string): string[] {
  const cells: string[] = [];
  let at = 0;
  while (at <= line.length - 2) {
    let cell = '';
    if (line[at] === '"') {
      for (at++; line[at] !== '"' || line[at + 1] === '"'; at++) {
        if (line[at] === '"') at++;
        cell += line[at];
      }
      at++;
    } else
      while (line[at] !== ',' && !(line[at] === '\r' && at === line.length - 2)) cell += line[at++];
    cells.push(cell);
    at++;
    if (at === line.length - 1) break;
  }
  return cells;
}
