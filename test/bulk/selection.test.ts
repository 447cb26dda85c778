import { describe, expect, test } from 'vitest';
import { type CsvInput, selectCsv, selectFromText } from '../../src/bulk/selection.js';
import { csvLine } from '../../src/data/csv.js';
import type { ColumnRules } from '../../src/data/csv-columns.js';
import { idKey } from '../../src/data/references.js';

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
  ignoreUnknownColumns: false,
  raw: false,
  keepsCells: false,
  resource: 'tryouts',
  key: idKey,
  organizationId: 'org_7',
  signal: new AbortController().signal,
  ...changes,
});

const csv = (text: string | Uint8Array, changes: Partial<CsvInput> = {}) =>
  selectCsv(
    (async function* () {
      yield typeof text === 'string' ? Buffer.from(text) : text;
    })(),
    input(changes),
  );

describe('a CSV has values for each row', () => {
  test('a blank cell leaves a field, <clear> empties it, formulas lose their guard', async () => {
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

  test('rows of another organization are wrong lines, also in JSON and NDJSON', async () => {
    const rows = 'id,organizationId\na,org_8\nb,\nc,org_7\nd,org_9\n';
    await expect(csv(rows)).rejects.toThrow(/Line 2: organizationId holds "org_8"[^]*Line 5/);
    const ownGuarded = "id,organizationId\na,'-org\n";
    expect((await csv(ownGuarded, { organizationId: '-org' })).rows).toHaveLength(1);
    const one = '{"id":"a","organizationId":"org_8"}';
    await expect(selectFromText(one, input())).rejects.toThrow('Line 1: organizationId holds');
    await expect(selectFromText(`[${one}]`, input())).rejects.toThrow('Element 1: organizationId');
  });

  test.each(['<clear>', '#N/A', '1.23457E+17'])(
    'a note %s in an export stays that note',
    async (note) => {
      const line = csvLine(['a', note], { delimiter: ',', raw: false });
      expect((await csv(`id,internalNotes\n${line}`)).rows).toMatchObject([
        { own: { internalNotes: note } },
      ]);
    },
  );

  test('in UTF-16 is read as in UTF-8', async () => {
    const text = Buffer.from('\ufeffid,status\nä,accepted\n', 'utf16le');
    expect((await csv(text)).rows).toMatchObject([{ id: 'ä' }]);
  });

  test('--map and --ignore-columns accept any header', async () => {
    const { rows } = await csv('Bewerber,Rang\nx,1\n', {
      map: [['Bewerber', 'id']],
      ignoreUnknownColumns: true,
    });
    expect(rows).toMatchObject([{ id: 'x' }]);
  });

  test.each([
    ['id,status\na,x\nb,x\na,y\n', /a is given twice, on lines 2 and 4/],
    ['id,notes\na,x\n', /Unknown column "notes". Did you mean note\?/],
    ['id,statu\na,x\n', /Unknown column "statu". Did you mean status/],
    ['name,status\nx,y\n', /no column "id"/],
    ['id|status\nx|y\n', /no column "id". It has: id\|status\.$/],
    ['id,note,internalNotes\na,b,c\n', /Columns 2 and 3 are both internalNotes/],
    ['id,status\na,#N/A\n', /Line 2: status holds the spreadsheet error #N\/A/],
    ['id,status\na,#REF!\n', /Line 2: status holds the spreadsheet error/],
    ['id,status\na,<clear>\n', /Line 2: status cannot be cleared/],
    ['id,note,status\n\na,"x\ny",x\nc,,#N/A\n', /^Line 5 \(row 4\): status holds the spreadsheet/],
    ['id,note\na,"x\r\ny\n"\nc,d,e\n', /^Line 5 \(row 3\) has 3 cells/],
    ['id,status\na,x,z\n', /Line 2 has 3 cells, but the header has 2/],
    ['id,status\n,x\n', /Line 2: the id is empty/],
    ['id,status\n..,x\n', /Line 2: ".." is not an id/],
    ['id,status\norg_7,x\n', /organization's id/],
    ['id,status\n"a,x\n', /never closed/],
    ['', /is empty/],
  ])('%j is refused', async (text, message) => {
    await expect(csv(text)).rejects.toThrow(message);
  });

  test('all invalid lines are listed with their reasons; from the 21st on they are counted', async () => {
    const line = 'a,#N/A\n';
    const reason = 'status holds the spreadsheet error #N/A.';
    await expect(csv(`id,status\n${line}b,accepted\n..,x\n`)).rejects.toMatchObject({
      message: expect.stringContaining(
        `2 lines cannot be used.\nLine 2: ${reason}\nLine 4: ".." is not an id`,
      ),
      hint: expect.stringContaining('Fix the cell'),
    });
    const many = Array.from({ length: 23 }, (_, index) => `a${index},#N/A\n`).join('');
    const error: unknown = await csv(`id,status\n${many}`).catch((thrown: unknown) => thrown);
    const lines = (error as Error).message.split('\n');
    expect(lines).toHaveLength(22);
    expect([lines[0], lines[20], lines[21]]).toEqual([
      '23 lines cannot be used.',
      `Line 21: ${reason}`,
      'And 3 more lines.',
    ]);
  });

  test('a parse error is listed after the invalid lines before it', async () => {
    await expect(csv('id,status\na,#N/A\nb,x\nc,x"y\nd,x\n')).rejects.toThrow(
      /^2 lines cannot be used\.\nLine 2: status .*\nLine 4: a quote inside/,
    );
  });

  test('invalid UTF-8 is refused, and no encoding is guessed', async () => {
    await expect(csv(Buffer.from([0x69, 0x64, 0x0a, 0xe4, 0x0a]))).rejects.toThrow(/is not UTF-8/);
  });

  test('more than 200,000 rows are refused, not counting empty lines', async () => {
    const most = Array.from({ length: 200_000 }, (_, index) => `id_${index}\n`).join('');
    expect((await csv(`id,status\n${most}\n,\n`)).rows).toHaveLength(200_000);
    await expect(csv(`id\n${most}one_more\n`)).rejects.toThrow(/more than 200,000 rows/);
  });
});

describe('ids can come', () => {
  test.each([
    ['one a line', 'a\n\nb\r\n c \n', ['a', 'b', ' c ']],
    ['with lines that hold only blanks', 'a\n \t\nb\n ', ['a', 'b']],
    ['with the line ends of an old Mac', 'a\rb\r', ['a', 'b']],
    ['with a byte order mark of their own', '\ufeffa\nb\n', ['a', 'b']],
    ['as NDJSON', '{"id":"a"}\n{"id":"b","x":1}\n{"type":"summary"}\n', ['a', 'b']],
    ['as jq writes ids without -r', '\n"a"\n"b \\u00e9"\r\n', ['a', 'b é']],
    ['with a quote', '"a\nb"c"\n', ['"a', 'b"c"']],
    ['as CSV with a quoted header', '"id"\n"a"\n', ['a']],
    ['as a JSON array of records', '[{"id":"a"},{"id":"b"}]', ['a', 'b']],
    ['as a JSON array of ids', '["a","b"]', ['a', 'b']],
    ['as CSV with an id column', 'name;id\nAnn;a\nBob;b\n', ['a', 'b']],
    ['as CSV made for Excel', 'sep=;\r\nname;id\r\nAnn;a\r\n', ['a']],
    ['as CSV below empty lines', '\n\r\nname;id\nAnn;a\n', ['a']],
    ['as CSV with an empty line below sep=', 'sep=;\r\n\r\nname;id\r\nAnn;a\r\n', ['a']],
    ['as nothing', '\n', []],
  ])('%s', async (_, text, wanted) => {
    expect((await selectFromText(text, input())).rows.map(({ id }) => id)).toEqual(wanted);
  });

  test.each(['["\\ud800"]', '{"id":"a\\udc00"}\n'])(
    'half a character in an id is refused, not replaced: %s',
    async (text) => {
      await expect(selectFromText(text, input())).rejects.toThrow(
        'Line 1: an id must be well-formed',
      );
    },
  );

  test('but not twice', async () => {
    await expect(selectFromText('a\nb\na\n', input())).rejects.toThrow(
      /a is given twice, on lines 1 and 3/,
    );
  });
});
