import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../src/data/csv.js';
import { csvReader, type Delimiter, readCsv } from '../../src/data/csv-reader.js';

const cells = (text: string) => readCsv(text).map((row) => row.cells);

describe('a CSV is read', () => {
  test.each([
    [
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r1,2\r',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      '\ufeffid;name\r\nx;"a;b"\r\n',
      [
        ['id', 'name'],
        ['x', 'a;b'],
      ],
    ],
    [
      'id\tname\nx\t"say ""hi"""\n',
      [
        ['id', 'name'],
        ['x', 'say "hi"'],
      ],
    ],
    [
      'id,note\n1,"two\r\nlines"\n\n2,\n',
      [
        ['id', 'note'],
        ['1', 'two\r\nlines'],
        ['2', ''],
      ],
    ],
    ['"a,b;c"\tx\n', [['a,b;c', 'x']]],
    ['""\n', [['']]],
    ['', []],
  ])('%j', (text, wanted) => {
    expect(cells(text)).toEqual(wanted);
  });

  test('with the first line of each record', () => {
    const rows = readCsv('id,note\r\n1,"a\nb\r\nc"\r\n\r\n2,x\r\n');
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 6]);
  });

  test('up to an error, which is thrown after the records before it', () => {
    for (const mistake of ['x"y\n', 'a\0b\n', '"a"b\n']) {
      const reader = csvReader();
      const read: string[] = [];
      const reading = () => {
        for (const row of reader.push(`id\n1\n2\n${mistake}3\n`)) read.push(...row.cells);
      };
      expect(reading).toThrow(/^Line 4: /);
      expect(read).toEqual(['id', '1', '2']);
    }
  });

  test.each([
    ['id\n"open\nstill', /Line 2: a quote is opened and never closed/],
    ['id\na"b\n', /Line 2: a quote stands inside/],
    ['id\n"a"b\n', /Line 2: text follows the closing quote/],
    ['id\nx\ny\0\n', /Line 3: there is a NUL/],
  ])('but not %j', (text, message) => {
    expect(() => readCsv(text)).toThrow(message);
  });
});

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '\n', '\r', ' ', 'é', '=') }),
  fc.string().filter((text) => !text.includes('\0')),
);
const table = fc.integer({ min: 2, max: 4 }).chain((width) =>
  fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
    minLength: 1,
    maxLength: 6,
  }),
);

test('our own output round-trips, with every delimiter, cut anywhere', () => {
  fc.assert(
    fc.property(
      table,
      fc.constantFrom<Delimiter>(',', ';', '\t'),
      fc.array(fc.nat({ max: 400 }), { maxLength: 5 }),
      (rows, delimiter, cuts) => {
        const text = rows.map((row) => csvLine(row, { delimiter, raw: true })).join('');
        const reader = csvReader(delimiter);
        const places = [...new Set(cuts.filter((at) => at < text.length))].toSorted(
          (a, b) => a - b,
        );
        const parts = [0, ...places].map((at, index) => text.slice(at, places[index] ?? undefined));
        const read = [...parts.flatMap((part) => [...reader.push(part)]), ...reader.end()];
        expect(read.map((row) => row.cells)).toEqual(rows);
        const lines = read.map(({ line }) => line);
        expect(lines).toEqual(lines.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: 500 },
  );
});

test('the delimiter of a first line is found', () => {
  for (const delimiter of [',', ';', '\t'] as const)
    expect(cells(`id${delimiter}name${delimiter}note\n1${delimiter}2${delimiter}3\n`)).toHaveLength(
      2,
    );
});
