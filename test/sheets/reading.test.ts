import { describe, expect, test } from 'vitest';
import { fileRows } from '../../src/bulk/file-rows.js';
import { changesBy, imported, marks } from '../bulk/random-records.js';
import { textRows, type WorkbookParts, workbook, workbookParts, zip } from '../support/workbook.js';

// Workbooks as Excel, LibreOffice, Google Sheets, Numbers and libraries write them.

async function rowsOf(file: Buffer, options: { sheet?: string; takeFormulas?: boolean } = {}) {
  const notes: string[] = [];
  const chunks = (async function* () {
    // In small pieces, as a pipe may bring them.
    for (let at = 0; at < file.length; at += 999) yield file.subarray(at, at + 999);
  })();
  const rows: (readonly [number, readonly string[]])[] = [];
  /** The rows with a cell that is not text. */
  const marked: number[] = [];
  const note = (line: string) => notes.push(line);
  for await (const some of fileRows(chunks, { name: 'x.xlsx', note, ...options }))
    for (const { line, cells, marks: kinds } of some) {
      rows.push([line, cells]);
      if (kinds?.size) marked.push(line);
    }
  return { rows, notes, marked };
}

const read = async (parts: WorkbookParts) => (await rowsOf(workbook(parts))).rows;
const cell = (type: string, inside: string) => `<row r="1"><c r="A1" ${type}>${inside}</c></row>`;

describe('a cell is read as it is shown:', () => {
  test.each([
    ['a shared string', 't="s"', '<v>1</v>', 'Ann'],
    ['an empty cell that calls itself a shared string', 't="s"', '', undefined],
    ['a shared rich text', 't="s"', '<v>2</v>', 'bold and plain'],
    ['a Japanese name, without how it is pronounced', 't="s"', '<v>3</v>', '東京'],
    ['an inline string', 't="inlineStr"', '<is><t> a </t></is>', ' a '],
    ['inline rich text', 't="inlineStr"', '<is><r><t>a</t></r><r><t>b</t></r></is>', 'ab'],
    ['a text without a formula', 't="str"', '<v>a&amp;b</v>', 'a&b'],
    ['entities and CDATA', 't="str"', '<v>&#65;&#x1F3AE;<![CDATA[<b>]]></v>', 'A🎮<b>'],
    ['an escaped control character', 't="str"', '<v>a_x0001_b_x005F_x0001_</v>', 'a\u0001b_x0001_'],
    ['an escaped line end', 't="str"', '<v>a_x000D_\nb</v>', 'a\r\nb'],
    ['a whole number', '', '<v>42</v>', '42'],
    ['a number as Excel writes it', '', '<v>7.4999999999999997E-2</v>', '0.075'],
    ['a truth value', 't="b"', '<v>1</v>', 'true'],
    ['a truth value of LibreOffice', 't="b"', '<f aca="false">FALSE()</f><v>0</v>', 'false'],
    ['one in a cell of text', 't="n" s="4"', '<f aca="false">TRUE()</f><v>1</v>', 'true'],
    ['a date', 's="1"', '<v>46082</v>', '2026-03-01'],
    ['a date and time', 's="2"', '<v>46082.416666666664</v>', '2026-03-01T10:00:00.000Z'],
    ['an ISO date', 't="d"', '<v>2026-03-01</v>', '2026-03-01'],
    ['a number with a literal d in its format', 's="3"', '<v>5</v>', '5'],
    ['a number in a cell of text', 's="4"', '<v>1002</v>', '1002'],
    ['a number with an exponent', 's="5"', '<v>46082</v>', '46082'],
    ['a time in Japanese', 's="6"', '<v>46082</v>', '2026-03-01'],
    ['a number that its format fills with zeros', 's="7"', '<v>1067</v>', '01067'],
    ['a fraction in such a format', 's="7"', '<v>1.5</v>', '1.5'],
    ['the first day that all calendars have', 's="1"', '<v>61</v>', '1900-03-01'],
    ['the number of a day before it', 's="1"', '<v>60</v>', '60'],
    ['the last day', 's="1"', '<v>2958465</v>', '9999-12-31'],
    ['a number beyond it', 's="1"', '<v>2958466</v>', '2958466'],
    ['a day in Chinese', 's="8"', '<v>46082</v>', '2026-03-01'],
    ['a time in minutes', 's="9"', '<v>46082</v>', '2026-03-01'],
    ['a number that is positive', 's="10"', '<v>5000</v>', '5000'],
    ['nothing', 's="1"', '', undefined],
  ])('%s', async (_, type, inside, expected) => {
    const rows = await read({
      rows: cell(type, inside),
      strings:
        '<si><t>x</t></si><si><t>Ann</t></si><si><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> and plain</t></r></si><si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></si>',
      formats:
        '<numFmt numFmtId="170" formatCode="[$-409]d\\ mmm\\ yyyy\\ hh:mm"/><numFmt numFmtId="171" formatCode="0&quot;d&quot;"/><numFmt numFmtId="172" formatCode="[$-407]00000"/><numFmt numFmtId="173" formatCode="0;d"/>',
      styles:
        '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171" applyNumberFormat="1"/><xf numFmtId="49"/><xf numFmtId="48"/><xf numFmtId="50"/><xf numFmtId="172"/><xf numFmtId="30"/><xf numFmtId="45"/><xf numFmtId="173"/>',
    });
    expect(rows).toEqual(expected === undefined ? [] : [[1, [expected]]]);
  });

  test('a long text whose letters take several bytes', async () => {
    const long = '東京'.repeat(15_000);
    const rows = cell('t="s"', '<v>0</v>');
    expect(await read({ rows, strings: `<si><t>${long}</t></si>` })).toEqual([[1, [long]]]);
  });

  test('a date of the calendar that begins in 1904', async () => {
    const rows = cell('s="1"', '<v>44620</v>');
    const styles = '<xf numFmtId="0"/><xf numFmtId="22"/>';
    expect(await read({ rows, styles, properties: 'date1904="1"' })).toEqual([[1, ['2026-03-01']]]);
    const first = cell('s="1"', '<v>1</v>');
    expect(await read({ rows: first, styles, properties: 'date1904="true"' })).toEqual([
      [1, ['1904-01-02']],
    ]);
  });
});

const asExcel = (path: string, text: string) =>
  path.endsWith('workbook.xml.rels')
    ? text.replaceAll('Target="', 'Target="/xl/')
    : path.endsWith('sheet1.xml')
      ? `\ufeff${text}`
      : text;

/** With a chart as its first sheet, and a named style. */
const withChart = (path: string, text: string) =>
  text
    .replace('<sheets>', '<sheets><sheet name="Chart1" sheetId="9" r:id="rId9"/>')
    .replace(
      '</Relationships>',
      path.includes('workbook')
        ? '<Relationship Id="rId9" Type="x/chartsheet" Target="chartsheets/sheet1.xml"/></Relationships>'
        : '</Relationships>',
    )
    .replace('<cellXfs>', '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>');

const asOpenXmlSdk = (path: string, text: string) =>
  path.startsWith('xl/') && !path.includes('rels')
    ? text
        .replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1x:')
        .replaceAll(' xmlns=', ' xmlns:x=')
        .replaceAll('r:id', 'rel:id')
    : text;

const withoutStrings = (path: string, text: string) =>
  /sharedStrings|styles/.test(path)
    ? undefined
    : text.replace(/<Relationship Id="rId[23]"[^>]*>/g, '');

describe('the rows of a file saved by', () => {
  const expected = [
    [1, ['id', 'age']],
    [2, ['p1', '7']],
  ];
  const strings = '<si><t>id</t></si><si><t>age</t></si><si><t>p1</t></si>';
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>7</v></c></row>';

  test('Excel, with absolute paths and a byte order mark', async () => {
    expect(await read({ rows, strings, change: asExcel })).toEqual(expected);
  });

  test('Excel, with a chart before the sheet, named styles, and how names are pronounced', async () => {
    const file = workbook({
      rows: `${rows}<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3" s="1"><v>46082</v></c></row><row r="4"><c r="B4" t="s"><v>2</v></c></row>`,
      strings: strings.replace('id</t>', 'id</t><rPh sb="0" eb="1"><t>ID</t></rPh>'),
      styles: '<xf numFmtId="0"/><xf numFmtId="14"/>',
      change: withChart,
    });
    const all = await rowsOf(file);
    expect(all.rows).toEqual([...expected, [3, ['p1', '2026-03-01']], [4, ['', 'p1']]]);
    expect(all.marked).toEqual([2, 3]);
  });

  test('LibreOffice, with long attributes, empty cells and comments', async () => {
    const long = rows
      .replaceAll('<row ', '<row customFormat="false" ht="15" hidden="false" ')
      .replace('</row>', '<c r="C1" s="1"/></row><!-- x > y -->');
    const { rows: read_, notes } = await rowsOf(workbook({ rows: long, strings }));
    expect([read_, notes]).toEqual([[[1, ['id', 'age', '']], expected[1]], []]);
  });

  test('Google Sheets, with a thousand empty rows', async () => {
    const empty = Array.from({ length: 998 }, (_, at) => `<row r="${at + 3}"><c s="1"/></row>`);
    expect(await read({ rows: rows + empty.join(''), strings })).toEqual(expected);
  });

  test('Numbers, with another main part and relative paths that climb', async () => {
    const file = zip(
      workbookParts({ rows, strings }).map(([path, text]) => {
        const renamed = path.replace('xl/workbook.xml', 'xl/book/main.xml');
        return [
          renamed.replace('xl/_rels/workbook.xml.rels', 'xl/book/_rels/main.xml.rels'),
          (text as string)
            .replace('xl/workbook.xml', 'xl/book/main.xml')
            .replaceAll(/Target="(worksheets|styles|shared)/g, 'Target="../$1'),
        ];
      }),
    );
    expect((await rowsOf(file)).rows).toEqual(expected);
  });

  test('the Open XML SDK, with a prefix on each element', async () => {
    expect(await read({ rows, strings, change: asOpenXmlSdk })).toEqual(expected);
  });

  test('a library that leaves out the places of cells and rows', async () => {
    expect(await read({ rows: rows.replaceAll(/ r="\w+"/g, ''), strings })).toEqual(expected);
  });

  test('a library without shared strings and styles', async () => {
    expect(
      await read({
        rows: textRows([
          ['id', 'age'],
          ['p1', '7'],
        ]),
        change: withoutStrings,
      }),
    ).toEqual(expected);
  });
});

describe('of several sheets', () => {
  const file = workbook({
    rows: textRows([['first']]),
    more: [
      [
        'xl/worksheets/sheet2.xml',
        `<worksheet><sheetData>${textRows([['second']])}</sheetData></worksheet>`,
      ],
    ],
    change: (path, text) =>
      path === 'xl/workbook.xml'
        ? text
            .replace('<sheet ', '<sheet state="hidden" ')
            .replace(
              '</sheets>',
              '<sheet name="Roster &amp; more" sheetId="2" r:id="rId9"/></sheets>',
            )
        : text.replace(
            '</Relationships>',
            path.includes('workbook')
              ? '<Relationship Id="rId9" Type="x/worksheet" Target="worksheets/sheet2.xml"/></Relationships>'
              : '</Relationships>',
          ),
  });

  test('the first that is not hidden is read', async () => {
    expect((await rowsOf(file)).rows).toEqual([[1, ['second']]]);
  });

  test('--sheet names one, whatever its case', async () => {
    expect((await rowsOf(file, { sheet: 'Sheet1' })).rows).toEqual([[1, ['first']]]);
    expect((await rowsOf(file, { sheet: 'roster & MORE' })).rows).toEqual([[1, ['second']]]);
  });

  test('a sheet that is not there is refused with the names of all', async () => {
    await expect(rowsOf(file, { sheet: 'Roster' })).rejects.toThrow(
      expect.objectContaining({
        message: 'x.xlsx has no sheet "Roster".',
        hint: 'It has: Sheet1, Roster & more.',
      }),
    );
  });
});

const player = {
  id: 'p1',
  ...marks,
  code: '0042',
  age: 17,
  active: true,
  word: 'TRUE',
  born: '2009-03-04',
  joinedAt: '2026-03-01T10:00:00Z',
  chat: '123456789012345678',
  none: null,
  codes: ['0042'],
  numbers: [7],
  sci: '12E4',
};
const dates = '<xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="170"/>';

/** A sheet whose second row is p1, with this cell below a head. */
function one(head: string, attributes: string, inside: string): Buffer {
  return workbook({
    styles: dates,
    formats: '<numFmt numFmtId="170" formatCode="0000"/>',
    rows: `<row r="1"><c t="str"><v>id</v></c><c t="str"><v>${head}</v></c></row><row r="7"><c t="str"><v>p1</v></c><c ${attributes}>${inside}</c></row>`,
  });
}

describe('a cell becomes a value of the type that the record has:', () => {
  test.each([
    ['code', '', '42', {}],
    ['code', 't="str"', '42', { code: '42' }],
    ['code', 's="2"', '42', {}],
    ['code', 's="2"', '43', { code: '0043' }],
    ['none', 's="2"', '5', { none: '0005' }],
    ['age', 's="2"', '17', { age: 17 }],
    ['age', 's="2"', '18', { age: 18 }],
    ['age:int', 's="2"', '0', { age: 0 }],
    ['numbers', 's="2"', '8', { numbers: [8] }],
    ['codes', 's="2"', '43', { codes: ['0043'] }],
    ['code', '', '43', { code: '43' }],
    ['codes', '', '42', {}],
    ['codes', '', '43', { codes: ['43'] }],
    ['sci', '', '120000', {}],
    ['age', '', '18', { age: 18 }],
    ['age', 't="str"', '18', { age: 18 }],
    ['active', 't="b"', '0', { active: false }],
    ['word', 't="b"', '1', {}],
    ['word', 't="b"', '0', { word: 'false' }],
    ['born', 's="1"', '39876', {}],
    ['born', 's="1"', '39877', { born: '2009-03-05' }],
    ['joinedAt', 's="1"', '46082.4166666667', {}],
    ['born', 't="d"', '2009-03-04T00:00:00', {}],
    ['born', 't="d"', '2009-03-05T00:00:00.000', { born: '2009-03-05' }],
    ['joinedAt', 't="d"', '2026-03-01T10:00:00', {}],
    ['chat', 't="str"', '123456789012345679', { chat: '123456789012345679' }],
    ['none', '', '5', { none: '5' }],
    ['code:text', 's="1"', '46083', { code: '2026-03-02' }],
    ['code', 't="str"', '3/4/2009', { code: '3/4/2009' }],
    ['born', 't="str"', '2010-03-04', { born: '2010-03-04' }],
    ['born', 't="str"', 'unknown', { born: 'unknown' }],
    ['born:text', 't="str"', '3/4/2009', { born: '3/4/2009' }],
    ['code', 't="str"', '&lt;clear>', { code: null }],
    ['code', 't="str"', "'&lt;clear>", { code: '<clear>' }],
    ['code', 't="str"', '=Sum(A1)', { code: '=Sum(A1)' }],
    ['code', 't="str"', '#N/A', { code: '#N/A' }],
  ])('%s, %s %s', async (head, attributes, value, expected) => {
    const [done] = await changesBy(one(head, attributes, `<v>${value}</v>`), [player]);
    expect(done?.wanted).toEqual(expected);
  });

  test.each([
    ['age', 't="str"', '<v>x</v>', 'B7: age holds "x", which is not a number.'],
    ['joinedAt', 's="1"', '<v>46083</v>', 'B7: joinedAt holds a date, not text.'],
    ['code', 's="1"', '<v>46083</v>', 'B7: code holds a date, not text.'],
    ['born', 't="str"', '<v>3/4/2009</v>', 'B7: born holds "3/4/2009", which is not a date like'],
    ['born', '', '<v>39876</v>', 'B7: born holds "39876", which is not a date like'],
    ['code', 's="1"', '<v>0.7708333333333334</v>', 'B7: code holds a date, not text.'],
    ['updatedAt', 's="1"', '<v>46083</v>', 'B7: updatedAt holds a date, not text.'],
    ['chat', '', '<v>1.2345678901234568E+17</v>', 'B7: chat holds a number of more than 15 digits'],
    ['code', 't="e"', '<v>#REF!</v>', 'B7: code holds the spreadsheet error #REF!.'],
    ['code', '', '<f>A1+1</f><v>5</v>', 'B7: code holds a formula.'],
    ['code', '', '<f t="shared" si="0"/><v>5</v>', 'B7: code holds a formula.'],
  ])('never %s, %s %s', async (head, attributes, inside, message) => {
    await expect(changesBy(one(head, attributes, inside), [player])).rejects.toThrow(message);
  });

  test('an id of more than 15 digits that became a number is refused with its cell', async () => {
    const file = workbook({
      rows: '<row r="1"><c t="str"><v>id</v></c></row><row r="2"><c><v>123456789012345680</v></c></row>',
    });
    await expect(imported(file)).rejects.toThrow('A2: id holds a number of more than 15 digits');
  });

  test('all problems are told at once, each with its cell', async () => {
    const file = workbook({
      rows: '<row r="1"><c t="str"><v>id</v></c><c t="str"><v>age:int</v></c></row><row r="2"><c t="str"><v>p1</v></c><c t="str"><v>x</v></c></row><row r="4"><c t="str"><v>p2</v></c><c><f>1</f></c></row><row r="5"><c t="str"><v>p1</v></c></row>',
    });
    await expect(imported(file)).rejects.toThrow(
      /B2: age .*\n.*B4: age holds a formula\.\nThe id p1 is given twice, in rows 2 and 5\./,
    );
  });
});

const single = (inside: string) => workbook({ rows: cell('', inside) });

describe('with --take-formulas', () => {
  test('a cell has the value that its formula showed', async () => {
    const { rows } = await rowsOf(single('<f>A1+1</f><v>5</v>'), { takeFormulas: true });
    expect(rows).toEqual([[1, ['5']]]);
    const text = workbook({ rows: cell('t="str"', '<f>A1</f><v>=x</v>') });
    expect((await rowsOf(text, { takeFormulas: true })).rows).toEqual([[1, ["'=x"]]]);
    const empty = workbook({ rows: cell('t="str"', '<f>""</f><v></v>') });
    expect((await rowsOf(empty, { takeFormulas: true })).rows).toEqual([]);
  });

  test('a formula that was never calculated is an error of its cell', async () => {
    const file = workbook({
      rows: '<row r="1"><c t="str"><v>id</v></c></row><row r="2"><c><f>A1</f></c></row>',
    });
    await expect(imported(file, false, { takeFormulas: true })).rejects.toThrow(
      'A2: id holds a formula that was never calculated.',
    );
  });
});

test('columns that are moved or hidden, sorted rows and removed ones change nothing', async () => {
  const all = ['p1', 'p2', 'p3'].map((id, at) => ({ id, ...marks, age: at, code: `0${at}` }));
  const head = ['code', 'updatedAt', 'id', 'createdAt', 'organizationId', 'age'];
  const line = (each: (typeof all)[number]) =>
    head.map((name) => String(each[name as keyof typeof each]));
  const rows = textRows([head, ...[all[2], all[0]].flatMap((each) => (each ? [line(each)] : []))]);
  const file = workbook({ rows: `<cols><col min="1" max="2" hidden="1"/></cols>${rows}` });
  const done = await changesBy(file, all);
  expect(done.map((each) => [each.record['id'], each.wanted])).toEqual([
    ['p3', {}],
    ['p1', {}],
  ]);
});

test('rows that a filter hides are read, and said', async () => {
  const rows = textRows([['id'], ['p1'], ['p2']]).replaceAll(
    /<row r="(\d)"/g,
    '<row r="$1" hidden="1"',
  );
  const { rows: found, notes } = await rowsOf(workbook({ rows }));
  expect(found).toHaveLength(3);
  expect(notes).toEqual([
    '2 rows are hidden in the sheet, by a filter or by hand, and are read too.',
  ]);
});

test.each([
  [
    'B2:B3',
    [
      'Merged cells, such as B2:B3, hold a value only in their first row; the other rows are read as blank.',
    ],
  ],
  ['A1:B1', []],
])('merged cells that hide values are said: %s', async (range, expected) => {
  const rows = textRows([['id', 'role'], ['p1', 'IGL'], ['p2']]);
  const after = `</sheetData><mergeCells count="1"><mergeCell ref="${range}"/></mergeCells>`;
  const change = (_: string, text: string) => text.replace('</sheetData>', after);
  const { rows: found, notes } = await rowsOf(workbook({ rows, change }));
  expect([found.length, notes]).toEqual([3, expected]);
});

test('a cell in a column without a head is named, an empty one passed over', async () => {
  expect(await imported(workbook({ rows: textRows([['id'], ['p1', ' ']]) }))).toHaveLength(1);
  await expect(imported(workbook({ rows: textRows([['id'], ['p1', 'x']]) }))).rejects.toThrow(
    'B2 is in a column without a header.',
  );
});
