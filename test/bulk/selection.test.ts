import { csvLine } from '../../src/data/csv.js';
import { describe, expect, test } from 'vitest';
import type { ColumnRules } from '../../src/bulk/columns.js';
import { type CsvInput, selectCsv, selectFromText } from '../../src/bulk/selection.js';

const rules: ColumnRules = {
  columns: [
    { name: 'status', read: (cell) => cell },
    { name: 'internalNotes', aliases: ['note'], clears: true, read: (cell) => cell },
    { name: 'updatedAt', read: (cell) => cell },
  ],
  exported: ['organizationId', 'name', 'createdAt', 'formResponses'],
  open: false,
};

const input = (changes: Partial<CsvInput> = {}): CsvInput => ({
  name: 'x.csv',
  rules,
  map: [],
  ignoreStrangers: false,
  raw: false,
  keepsCells: false,
  organizationId: 'org_7',
  ...changes,
});

const csv = (text: string | Uint8Array, changes: Partial<CsvInput> = {}) =>
  selectCsv(
    (async function* () {
      yield typeof text === 'string' ? Buffer.from(text) : text;
    })(),
    input(changes),
  );

describe('a CSV gives rows of their own', () => {
  test('blank leaves, <clear> empties, formulas lose their guard', async () => {
    const { rows, note } = await csv(
      " ID ;Status;Note;name\r\na;accepted;;Ann\r\nb;;<clear>;Bob\r\n\r\nc; ;'=1+1;Cy\r\n",
    );
    expect(rows).toEqual([
      { row: 2, id: 'a', own: { status: 'accepted' } },
      { row: 3, id: 'b', own: { internalNotes: null } },
      { row: 5, id: 'c', own: { internalNotes: '=1+1' } },
    ]);
    expect(note).toContain('name');
  });

  test.each(['<clear>', '#N/A', '1.23457E+17'])(
    'a note %s in an export is that note',
    async (note) => {
      const line = csvLine(['a', note], { delimiter: ',', raw: false });
      expect((await csv(`id,internalNotes\n${line}`)).rows).toMatchObject([
        { own: { internalNotes: note } },
      ]);
    },
  );

  test('in UTF-16 as in UTF-8', async () => {
    const text = Buffer.from('\ufeffid,status\nä,accepted\n', 'utf16le');
    expect((await csv(text)).rows).toMatchObject([{ id: 'ä' }]);
  });

  test('--map and --ignore-columns take any header', async () => {
    const { rows } = await csv('Bewerber,Rang\nx,1\n', {
      map: [['Bewerber', 'id']],
      ignoreStrangers: true,
    });
    expect(rows).toMatchObject([{ id: 'x' }]);
  });

  test.each([
    ['id,status\na,x\nb,x\na,y\n', /a is given twice, on lines 2 and 4/],
    ['id,statu\na,x\n', /"statu" is not known. Did you mean status/],
    ['name,status\nx,y\n', /no column "id"/],
    ['id,note,internalNotes\na,b,c\n', /Columns 2 and 3 are both internalNotes/],
    ['id,status\na,#N/A\n', /Line 2: status holds the spreadsheet error #N\/A/],
    ['id,status\na,#REF!\n', /Line 2: status holds the spreadsheet error/],
    ['id,status\na,<clear>\n', /Line 2: status cannot be cleared/],
    ['id,status\na,x,z\n', /Line 2 has 3 cells, the header 2/],
    ['id,status\n,x\n', /Line 2: an id must not be empty/],
    ['id,status\n..,x\n', /Line 2: ".." is not an id/],
    ['id,status\norg_7,x\n', /organization's id/],
    ['id,status\n"a,x\n', /never closed/],
    ['', /is empty/],
  ])('%j is refused', async (text, message) => {
    await expect(csv(text)).rejects.toThrow(message);
  });

  test('all lines that are wrong are named at once', async () => {
    const line = 'a,#N/A\n';
    await expect(csv(`id,status\n${line}b,accepted\n..,x\n`)).rejects.toThrow(
      /^Line 2: status holds the spreadsheet error #N\/A\. 1 more line is wrong: 4\.$/,
    );
    await expect(csv(`id,status\n${line.repeat(9)}`)).rejects.toThrow(
      / 8 more lines are wrong: 3, 4, 5, 6, 7 and so on\.$/,
    );
    await expect(csv(`id,status\n${line}b,x,y,z\n`)).rejects.toMatchObject({
      hint: expect.stringContaining('Mend the cell'),
    });
  });

  test('what is no UTF-8 is refused and not guessed', async () => {
    await expect(csv(Buffer.from([0x69, 0x64, 0x0a, 0xe4, 0x0a]))).rejects.toThrow(/no UTF-8/);
  });

  test('more than 200,000 rows are refused, empty lines are none', async () => {
    const most = Array.from({ length: 200_000 }, (_, index) => `id_${index}\n`).join('');
    expect((await csv(`id,status\n${most}\n,\n`)).rows).toHaveLength(200_000);
    await expect(csv(`id\n${most}one_more\n`)).rejects.toThrow(/more than 200000 rows/);
  });
});

describe('ids come', () => {
  test.each([
    ['one a line', 'a\n\nb\r\n c \n', ['a', 'b', ' c ']],
    ['as NDJSON', '{"id":"a"}\n{"id":"b","x":1}\n{"type":"summary"}\n', ['a', 'b']],
    ['as a JSON array of records', '[{"id":"a"},{"id":"b"}]', ['a', 'b']],
    ['as a JSON array of ids', '["a","b"]', ['a', 'b']],
    ['as CSV with an id column', 'name;id\nAnn;a\nBob;b\n', ['a', 'b']],
    ['as nothing', '\n', []],
  ])('%s', (_, text, wanted) => {
    expect(selectFromText(text, input()).rows.map(({ id }) => id)).toEqual(wanted);
  });

  test('but none twice', () => {
    expect(() => selectFromText('a\nb\na\n', input())).toThrow(
      /a is given twice, on lines 1 and 3/,
    );
  });
});
