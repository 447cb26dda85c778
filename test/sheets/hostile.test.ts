import { describe, expect, test } from 'vitest';
import { zip } from '../support/workbook.js';
import { bomb, parts, plain, read, replaced, rows, sheet } from './harmful.js';

// Files that are damaged, made to harm, or of another kind: each is refused with its reason. What is large is in the slow tests.

test('the plain workbook of these tests is read', async () => {
  expect(await read(plain)).toBe(2);
  expect(await read(zip(parts, 'a comment'))).toBe(2);
});

describe('refused before it is unpacked:', () => {
  test.each([['a sheet of 65 MiB', replaced(sheet, () => bomb)]])('%s', async (_, file) => {
    await expect(read(file)).rejects.toThrow('x.xlsx takes more than 64 MiB when it is unpacked.');
  });
});

test('a part that is larger than it says stops at what it says', async () => {
  const file = replaced(sheet, () => bomb, { bytes: 1000 });
  await expect(read(file)).rejects.toThrow(`damaged: ${sheet} is longer than it says.`);
});

describe('refused as damaged:', () => {
  test.each([
    ['a file that is cut off', plain.subarray(0, plain.length - 30), 'the end is missing'],
    [
      'a file without its beginning',
      Buffer.concat([plain.subarray(0, 50), plain.subarray(90)]),
      'incomplete',
    ],
    [
      'a file with bytes behind its end',
      Buffer.concat([plain, Buffer.from('xx')]),
      'the end is missing',
    ],
    ['a wrong checksum', replaced(sheet, (text) => text, { crc: 7 }), 'not what was written'],
    [
      'a part that is shorter than it says',
      replaced(sheet, (text) => text, { bytes: 9999 }),
      'not what was written',
    ],
    [
      'a part under another name',
      replaced(sheet, (text) => text, { localName: 'xl/worksheets/sheet2.xml' }),
      'is missing',
    ],
    ['a part in another packing', replaced(sheet, (text) => text, { method: 12 }), 'do not use'],
    ['a part twice', zip([...parts, [sheet, rows]]), `it holds ${sheet} twice`],
    [
      'a part twice, in other letters',
      zip([...parts, ['XL\\Worksheets\\SHEET1.xml', rows]]),
      'twice',
    ],
    [
      'no end of the sheet',
      replaced(sheet, (text) => text.replace('</sheetData></worksheet>', '')),
      'it ends too early',
    ],
    [
      'crossing tags',
      replaced(sheet, (text) => text.replace('</c></row>', '</row></c>')),
      'closes nothing',
    ],
    [
      'a document type',
      replaced(sheet, (text) => `<!DOCTYPE x>${text}`),
      'holds a document type or entities',
    ],
    [
      'declared entities',
      replaced(sheet, (text) =>
        text.replace(
          '<worksheet',
          '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet',
        ),
      ),
      'holds a document type',
    ],
    ['an entity', replaced(sheet, (text) => text.replace('p1', '&a;')), 'it holds the entity &a;'],
    [
      'a NUL by its number',
      replaced(sheet, (text) => text.replace('p1', '&#0;')),
      'it holds the entity &#0;',
    ],
    [
      '100,000 elements in each other',
      replaced(sheet, () => '<a>'.repeat(100_000)),
      'nested too deeply',
    ],
    [
      'a text of 2 MiB',
      replaced(sheet, (text) => text.replace('p1', 'x'.repeat(2_097_152))),
      'longer than 1 MiB',
    ],
    [
      'bytes that are not UTF-8',
      zip(
        parts.map(([name, text]) => [
          name,
          name === sheet ? Buffer.from(text as string, 'latin1').fill(0xff, 60, 70) : text,
        ]),
      ),
      'is not UTF-8 text',
    ],
    [
      'a cell twice',
      replaced(sheet, (text) => text.replace('<c r="A2"', '<c r="A2"/><c r="A2"')),
      'the cell A2 appears twice',
    ],
    [
      'a cell of another row',
      replaced(sheet, (text) => text.replace('r="A2"', 'r="A9"')),
      'the cell A9 is in row 2',
    ],
    [
      'rows out of order',
      replaced(sheet, (text) => text.replace('row r="2"', 'row r="1"')),
      'row 1 follows row 1',
    ],
    [
      'a shared string that is not there',
      replaced(sheet, (text) =>
        text
          .replace('<row r="2">', '<row r="2"><c r="A2" t="s"><v>7</v></c></row><row r="3">')
          .replace('r="A2" t="i', 'r="A3" t="i'),
      ),
      'has no text',
    ],
    [
      'a number that is none',
      replaced(sheet, (text) =>
        text.replace('t="inlineStr"><is><t xml:space="preserve">p1</t></is>', '><v>1,5</v>'),
      ),
      'holds the number 1,5',
    ],
  ])('%s', async (_, file, reason) => {
    await expect(read(file)).rejects.toThrow(
      new RegExp(`^x\\.xlsx is cut off or damaged: .*${reason.replaceAll(/[()]/g, '.')}`),
    );
  });
});

test('a zip64 archive is refused', async () => {
  const file = Buffer.from(plain);
  file.writeUInt32LE(0xffffffff, file.length - 6);
  await expect(read(file)).rejects.toThrow('x.xlsx is a zip64 archive');
});

test('nothing outside of the file is followed', async () => {
  const file = zip(
    parts.map(([name, text]) => [
      name,
      name.endsWith('workbook.xml.rels')
        ? (text as string).replace(
            'Target="worksheets/sheet1.xml"',
            'Target="file:///etc/passwd" TargetMode="External"',
          )
        : text,
    ]),
  );
  await expect(read(file)).rejects.toThrow('x.xlsx has no sheet.');
});

const old = (inside: string) =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from(inside, 'utf16le')]);

describe('another kind of file is called by its name:', () => {
  test.each([
    ['an old workbook', old('Workbook'), 'x.xlsx is an old .xls workbook.'],
    ['an encrypted workbook', old('EncryptedPackage'), 'x.xlsx is protected with a password.'],
    [
      'an encrypted archive',
      zip([['a', 'b', { flags: 1 }]]),
      'x.xlsx is protected with a password.',
    ],
    [
      'macros',
      zip([...parts, ['xl/vbaProject.bin', 'x']]),
      'x.xlsx holds macros, and is not read.',
    ],
    ['a binary workbook', zip([['xl/workbook.bin', 'x']]), 'x.xlsx is an .xlsb workbook.'],
    [
      'OpenDocument',
      zip([
        ['mimetype', 'x'],
        ['content.xml', '<a/>'],
      ]),
      'x.xlsx is an OpenDocument (.ods) file.',
    ],
    ['Numbers', zip([['Index/Document.iwa', 'x']]), 'x.xlsx is a Numbers document.'],
    ['Word', zip([['word/document.xml', '<a/>']]), 'x.xlsx is a text document.'],
    ['some archive', zip([['a.txt', 'x']]), 'x.xlsx is not an .xlsx workbook.'],
    ['a CSV', Buffer.from('id,name\np1,Ann\n'), 'x.xlsx is named like a workbook but is not one.'],
  ])('%s', async (_, file, message) => {
    await expect(read(file)).rejects.toThrow(message);
  });
});

test('--sheet beside a CSV is refused', async () => {
  await expect(read(Buffer.from('id\np1\n'), 'x.csv', 'A')).rejects.toThrow(
    'x.csv is not a workbook: --sheet is for .xlsx files.',
  );
});
