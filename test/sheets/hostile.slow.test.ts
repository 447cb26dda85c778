import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.js';
import { type Entry, workbook, zip } from '../support/workbook.js';
import { bomb, parts, plain, read, replaced, rows, sheet, strings } from './harmful.js';

describe('refused before it is unpacked:', () => {
  test.each([
    ['shared strings of 65 MiB', replaced(strings, () => bomb)],
    ['styles of 65 MiB', replaced('xl/styles.xml', () => bomb)],
    ['relations of 65 MiB', replaced('_rels/.rels', () => bomb)],
    ['a file of 65 MiB', Buffer.concat([plain, bomb])],
  ])('%s', async (_, file) => {
    await expect(read(file)).rejects.toThrow('x.xlsx takes more than 64 MiB when it is unpacked.');
  });

  test('two parts that take more than 64 MiB together', async () => {
    const half = `<a>${`<a b="${' '.repeat(1014)}"/>`.repeat(33 * 1024)}</a>`;
    const both = zip(
      parts.map(([name, text]) => [name, name === strings || name === sheet ? half : text]),
    );
    await expect(read(both)).rejects.toThrow('takes more than 64 MiB');
  });
});

const repeated = (text: string) => text.repeat(Math.floor(1_000_000 / text.length));
const inTag = (attributes: string) =>
  replaced(sheet, (text) => text.replace('<row', `<cols ${attributes}></cols><row ${attributes}`));
const styled = (format: string) =>
  workbook({
    rows,
    formats: `<numFmt numFmtId="170" formatCode="${format}"/>`,
    styles: '<xf numFmtId="170"/>',
  });

describe('read at once, not in minutes:', () => {
  test.each([
    ['a long attribute without a value', inTag(repeated('a'))],
    ['many attributes without a value', inTag(repeated('a '))],
    ['a name and blanks', inTag(`a${repeated(' ')}`)],
    ['values without a blank between', inTag(repeated('a=""'))],
    ['quotes and names', inTag(`${repeated("'a")}'`)],
    ['a number format of opening brackets', styled(repeated('['))],
    ['a number format of colours that do not end', styled(repeated('[red'))],
    ['a number format of quotes', styled(repeated('&quot;a'))],
  ])(
    '%s',
    async (_, file) => {
      await read(file).catch((error: unknown) => expect(error).toBeInstanceOf(InputError));
    },
    20_000,
  );
});

test('a column beyond XFD is refused, also of a million columns', async () => {
  for (const place of ['XFE1', 'BDWGN1', 'ZZZZZZZZ1'])
    await expect(
      read(workbook({ rows: `<row r="1"><c r="${place}" t="str"><v>x</v></c></row>` })),
    ).rejects.toThrow('beyond the last column of a sheet, XFD');
  const many = `<row>${'<c t="b"><v>1</v></c>'.repeat(1_000_000)}</row>`;
  await expect(read(workbook({ rows: many }))).rejects.toThrow('beyond the last column');
});

test('more than 2,000 files in one archive are refused', async () => {
  const more = Array.from({ length: 2001 }, (_, index): Entry => [`xl/${index}.xml`, '']);
  await expect(read(zip([...parts, ...more]))).rejects.toThrow('x.xlsx holds 2,008 files');
});
