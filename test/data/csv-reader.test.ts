import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../src/data/csv.js';
import { CsvReader, readCsv } from '../../src/data/csv-reader.js';

function readAll(chunks: readonly string[]) {
  const reader = new CsvReader();
  return [...chunks.flatMap((chunk) => [...reader.push(chunk)]), ...reader.end()];
}

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

  test.each([
    ['sep=;\r\nid;note\r\nx;"a,b,c"\r\n', ['id', 'note'], ['x', 'a,b,c']],
    ['\ufeff"sep=,"\nid,a;b;c\n1,2\n', ['id', 'a;b;c'], ['1', '2']],
    ['SEP=\t\rid\r1\r', ['id'], ['1']],
  ])('below a line that names the delimiter for Excel: %j', (text, head, row) => {
    const wanted = [
      { line: 2, cells: head },
      { line: 3, cells: row },
    ];
    expect(readCsv(text)).toEqual(wanted);
    expect(readAll(Array.from(text))).toEqual(wanted);
    expect(readCsv(text.split(/[\r\n]/, 1)[0] ?? '')).toEqual([]);
  });

  test.each([
    ['\r\n\r\nsep=;\r\nid;note\r\nx;"a,b,c"\r\n', 4, ['id', 'note'], ['x', 'a,b,c']],
    ['\ufeff\nsep=,\nid,a;b;c\n1,2', 3, ['id', 'a;b;c'], ['1', '2']],
    ['\n\nid;note\nx;y', 3, ['id', 'note'], ['x', 'y']],
  ])('below empty lines: %j', (text, line, head, row) => {
    const wanted = [
      { line, cells: head },
      { line: line + 1, cells: row },
    ];
    expect(readCsv(text)).toEqual(wanted);
    expect(readAll(Array.from(text))).toEqual(wanted);
  });

  test('up to an error, which is thrown after the records before it', () => {
    for (const mistake of ['x"y\n', 'a\0b\n', '"a"b\n']) {
      const reader = new CsvReader();
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
    ['id\na"b\n', /Line 2: a quote inside/],
    ['id\n"a"b\n', /Line 2: text follows the closing quote/],
    ['id\nx\ny\0\n', /Line 3: there is a NUL/],
    ['id\n"x"\0', /Line 2: there is a NUL/],
    ['\0', /Line 1: there is a NUL/],
    ['"\0i\0d\0"\0,\0"\0x\0"\0', /Line 1: there is a NUL/],
    ['id\n"open\0\n', /Line 2: there is a NUL/],
    ['[\n  {\n    "id": "app_1"\n  }\n]\n', 'This is JSON, not a CSV.'],
    ['{"id":"app_1","status":"accepted"}\n', 'This is JSON, not a CSV.'],
    ['\n[{"id":"app_1"}]', 'This is JSON, not a CSV.'],
    ['id\n\n"a\r\nb","c\r\n"x\n', /Line 5: text follows the closing quote/],
    ['id\r\n\r\n"a\r\nb",c"\n', /Line 4: a quote inside/],
    ['id\r\n\r\n"a\r\nb","\r\n\r\n', /Line 4: a quote is opened and never closed/],
    ['id\r\n"a\r\nb","\r\n\0"\r\n', /Line 4: there is a NUL/],
    ['id,name\r,status\nx,y\r,z\n', /^Line 1: a carriage return \(CR\) inside the line\.$/],
    ['id,name\n"a\n","y"\r,z\n', /^Line 3: a carriage return \(CR\) inside the line\.$/],
  ])('but not %j, in one chunk or letter by letter', (text, message) => {
    expect(() => readCsv(text)).toThrow(message);
    expect(() => readAll(text.split(''))).toThrow(message);
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
      fc.constantFrom(',', ';', '\t'),
      fc.array(fc.nat({ max: 400 }), { maxLength: 5 }),
      (rows, delimiter, cuts) => {
        const text = rows.map((row) => csvLine(row, { delimiter, raw: true })).join('');
        const places = [...new Set(cuts.filter((at) => at < text.length))].toSorted(
          (a, b) => a - b,
        );
        const parts = [0, ...places].map((at, index) => text.slice(at, places[index] ?? undefined));
        const read = readAll([`sep=${delimiter}\n`, ...parts]);
        expect(read.map((row) => row.cells)).toEqual(rows);
        const lines = read.map(({ line }) => line);
        expect(lines).toEqual(lines.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: 500 },
  );
});

test('records of any width are given as they are', () => {
  expect(cells('a,b\n1\n1,2,3\n\n,\n')).toEqual([['a', 'b'], ['1'], ['1', '2', '3'], ['', '']]);
});

test('a first line of more than 1 MiB is refused, in one chunk or in many', () => {
  const name = 'x'.repeat(1024);
  const many = Array.from({ length: 1025 }, () => name);
  expect(() => readAll(many)).toThrow(/longer than 1 MiB/);
  expect(() => readCsv(`${many.join('')}\n1\n`)).toThrow(/longer than 1 MiB/);
  expect(() => readAll(['"a\n', ...many])).toThrow(/longer than 1 MiB/);
  expect(readCsv(`${many.slice(1).join('')}\n1\n`)).toHaveLength(2);
});

test('the delimiter of a first line is found', () => {
  for (const delimiter of [',', ';', '\t'] as const)
    expect(cells(`id${delimiter}name${delimiter}note\n1${delimiter}2${delimiter}3\n`)).toEqual([
      ['id', 'name', 'note'],
      ['1', '2', '3'],
    ]);
});
