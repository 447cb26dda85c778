/**
 * The workbook figures (X1 to X3): how long it takes to refuse files that were made to harm, how much
 * memory that takes, and a list of 20,000 records as a workbook beside the same list as CSV.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

const mebibyte = 1024 * 1024;
const filled = (piece, mebibytes) =>
  piece.repeat(Math.floor((mebibytes * mebibyte) / piece.length));
const tag = `<x a="${' '.repeat(80)}"/>`;
const head = '<row r="1"><c r="A1" t="str"><v>id</v></c></row>';

/** Each kind of hostile workbook: the inside of its sheet and of its texts. */
const hostile = {
  'zip bomb of 400 MiB': () => [head + filled(tag, 400), ''],
  'million columns': () => [`<row>${filled('<c t="b"><v>1</v></c>', 20)}</row>`, ''],
  'millions of texts': () => [head, filled('<si><t>ab</t></si>', 62)],
  'entity after 60 MiB': () => [`${head}${filled(tag, 60)}&evil;`, ''],
  'document type': () => ['', '', '<!DOCTYPE worksheet>'],
};

/** Adds the rows of the result table for X1 to X3. */
export async function workbookFigures({ tool, home, compare, bound, peakOf, list }) {
  const bare = [process.execPath, '-e', '0'];
  for (const [name, make] of Object.entries(hostile)) {
    const file = join(home, 'hostile.xlsx');
    writeFileSync(file, workbook(...make()));
    const read = [...tool, '-p', 'sandbox', 'players', 'update', '--csv', file, '-n'];
    await compare(`X1 ${name}, refused`, read, bare, 'node -e 0', undefined, 3, {}, 2);
    bound(`X2 ${name}, peak`, await peakOf(read), 128);
  }
  const many = { ROSTERCTL_ORG: 'org_20000' };
  const file = join(home, 'list.xlsx');
  await compare('X3 20,000 as xlsx', list('xlsx', '--out', file), list('csv'), 'csv', 6, 3, many);
}

const relation = (id, kind, target) =>
  `<Relationship Id="rId${id}" Type="x/${kind}" Target="${target}"/>`;

function workbook(rows, texts, before = '') {
  return zip([
    [
      '_rels/.rels',
      `<Relationships>${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    ],
    [
      'xl/workbook.xml',
      '<workbook xmlns:r="x"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships>${relation(1, 'worksheet', 'sheet1.xml')}${relation(2, 'sharedStrings', 'texts.xml')}</Relationships>`,
    ],
    ['xl/texts.xml', `<sst>${texts}</sst>`],
    ['xl/sheet1.xml', `${before}<worksheet><sheetData>${rows}</sheetData></worksheet>`],
  ]);
}

function zip(entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [name, text] of entries) {
    const bytes = Buffer.from(text);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    parts.push(Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), fields, place, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06'), end]);
}
