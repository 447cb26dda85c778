import { crc32 } from './checksums.js';

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org';

/** A real one-page PDF with these lines of ASCII text. */
export function pdf(lines: readonly string[]): Buffer {
  const shown = lines.map((line) => `(${line.replaceAll(/[\\()]/g, '\\$&')}) Tj T*`).join('\n');
  const text = `BT /F1 12 Tf 16 TL 72 770 Td\n${shown}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let body = '%PDF-1.4\n';
  const offsets: number[] = [];
  for (const [at, object] of objects.entries()) {
    offsets.push(body.length);
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  return Buffer.from(
    `${body}xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
    'latin1',
  );
}

/** A real Word document (docx) with these paragraphs. */
export function docx(paragraphs: readonly string[]): Buffer {
  const main = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  const text = paragraphs.map((line) => `<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`).join('');
  return zip({
    '[Content_Types].xml': contentTypes({ '/word/document.xml': main }),
    '_rels/.rels': relations('officeDocument', 'word/document.xml'),
    'word/document.xml': `${declaration}<w:document xmlns:w="${office}/wordprocessingml/2006/main"><w:body>${text}</w:body></w:document>`,
  });
}

/** A real Excel workbook (xlsx) with these rows of text. */
export function xlsx(rows: readonly (readonly string[])[]): Buffer {
  const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const main = `${office}/spreadsheetml/2006/main`;
  const cells = rows.map(
    (row) =>
      `<row>${row.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`,
  );
  return zip({
    '[Content_Types].xml': contentTypes({
      '/xl/workbook.xml': `${sheet}.sheet.main+xml`,
      '/xl/worksheets/sheet1.xml': `${sheet}.worksheet+xml`,
    }),
    '_rels/.rels': relations('officeDocument', 'xl/workbook.xml'),
    'xl/workbook.xml': `${declaration}<workbook xmlns="${main}" xmlns:r="${office}/officeDocument/2006/relationships"><sheets><sheet name="Budget" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/sheet1.xml': `${declaration}<worksheet xmlns="${main}"><sheetData>${cells.join('')}</sheetData></worksheet>`,
  });
}

/** An old Word file (doc): a compound file whose stream is named as Word names it. */
export function doc(text: string): Buffer {
  const content = Buffer.alloc(4096);
  // The magic number of a Word 97 file information block.
  content.set([0xec, 0xa5, 0xc1, 0x00]);
  content.write(text, 512, 'latin1');
  return compoundFile('WordDocument', content);
}

/** An old Excel file (xls): a compound file with a minimal BIFF8 stream. */
export function xls(): Buffer {
  const content = Buffer.alloc(4096);
  content.set([0x09, 0x08, 0x10, 0x00, 0x00, 0x06, 0x05, 0x00, 0xbb, 0x0d, 0xcc, 0x07]);
  content.set([0x0a, 0x00, 0x00, 0x00], 20);
  return compoundFile('Workbook', content);
}

function contentTypes(parts: Readonly<Record<string, string>>): string {
  const overrides = Object.entries(parts).map(
    ([name, type]) => `<Override PartName="${name}" ContentType="${type}"/>`,
  );
  return `${declaration}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`;
}

function relations(type: string, target: string): string {
  return `${declaration}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;
}

/** A ZIP whose entries are stored, not compressed. */
function zip(entries: Readonly<Record<string, string>>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(entries)) {
    const content = Buffer.from(text);
    // Version, flags, method, a fixed date (1 January 2026), checksum, sizes, name length.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(((2026 - 1980) << 9) | (1 << 5) | 1, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(content.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), content]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), facts, place, Buffer.from(name));
    files.push(local);
    offset += local.length;
  }
  const listing = Buffer.concat(directory);
  const count = Object.keys(entries).length;
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, listing, end]);
}

/** A compound file (version 3, sectors of 512 bytes): allocation table, directory, one stream. */
function compoundFile(streamName: string, content: Buffer): Buffer {
  const [free, endOfChain, tableSector] = [0xffffffff, 0xfffffffe, 0xfffffffd];
  const header = Buffer.alloc(512);
  header.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  for (const [at, value] of [
    [24, 0x3e],
    [26, 3],
    [28, 0xfffe],
    [30, 9],
    [32, 6],
  ] as const)
    header.writeUInt16LE(value, at);
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(4096, 56);
  header.writeUInt32LE(endOfChain, 60);
  header.writeUInt32LE(endOfChain, 68);
  header.writeUInt32LE(0, 76);
  for (let at = 80; at < 512; at += 4) header.writeUInt32LE(free, at);
  const sectors = content.length / 512;
  const table = Buffer.alloc(512, 0xff);
  table.writeUInt32LE(tableSector, 0);
  table.writeUInt32LE(endOfChain, 4);
  for (let at = 0; at < sectors; at += 1)
    table.writeUInt32LE(at === sectors - 1 ? endOfChain : at + 3, (at + 2) * 4);
  const directory = Buffer.concat([
    entry('Root Entry', 5, 1, endOfChain, 0),
    entry(streamName, 2, free, 2, content.length),
    entry('', 0, free, 0, 0),
    entry('', 0, free, 0, 0),
  ]);
  return Buffer.concat([header, table, directory, content]);
}

function entry(name: string, kind: number, child: number, start: number, size: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.write(name, 0, 'utf16le');
  bytes.writeUInt16LE(name === '' ? 0 : (name.length + 1) * 2, 64);
  bytes.set([kind, 1], 66);
  bytes.writeUInt32LE(0xffffffff, 68);
  bytes.writeUInt32LE(0xffffffff, 72);
  bytes.writeUInt32LE(child, 76);
  bytes.writeUInt32LE(start, 116);
  bytes.writeUInt32LE(size, 120);
  return bytes;
}
