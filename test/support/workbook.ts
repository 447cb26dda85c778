import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

// Zip archives and small workbooks, built and taken apart by hand: nothing here is of the program's own.

/** What an entry of an archive says of itself, where it is not the truth. */
export interface EntryLies {
  readonly bytes?: number;
  readonly crc?: number;
  readonly flags?: number;
  readonly method?: number;
  /** The name in the header before the bytes. */
  readonly localName?: string;
}

export type Entry = readonly [name: string, content: string | Uint8Array, lies?: EntryLies];

/** What was packed before, because a test packs the same megabytes several times. */
const packedBefore = new WeakMap<Uint8Array, { readonly packed: Buffer; readonly crc: number }>();

function pack(bytes: Uint8Array) {
  const before = packedBefore.get(bytes);
  if (before) return before;
  const packed = { packed: deflateRawSync(bytes), crc: crc32(bytes) };
  packedBefore.set(bytes, packed);
  return packed;
}

/** Returns a zip archive. */
export function zip(entries: readonly Entry[], comment = ''): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content, lies = {}] of entries) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const { packed, crc } = pack(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(lies.flags ?? 0, 2);
    fields.writeUInt16LE(lies.method ?? 8, 4);
    fields.writeUInt32LE(lies.crc ?? crc, 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(lies.bytes ?? bytes.length, 18);
    const local = Buffer.from(lies.localName ?? name);
    fields.writeUInt16LE(local.length, 22);
    parts.push(Buffer.from('PK\u0003\u0004'), Buffer.from(fields), local, packed);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), fields, end, Buffer.from(name));
    offset += 4 + fields.length + local.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...parts, list, Buffer.from('PK\u0005\u0006'), end, Buffer.from(comment)]);
}

/** Returns the texts of a zip archive without surprises, by their names. */
export function unzip(file: Buffer): Map<string, string> {
  const texts = new Map<string, string>();
  let at = file.readUInt32LE(file.length - 6);
  for (let left = file.readUInt16LE(file.length - 12); left > 0; left -= 1) {
    const length = file.readUInt16LE(at + 28);
    const name = file.toString('utf8', at + 46, at + 46 + length);
    const offset = file.readUInt32LE(at + 42);
    const start = offset + 30 + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28);
    const packed = file.subarray(start, start + file.readUInt32LE(at + 20));
    texts.set(name, inflateRawSync(packed).toString());
    at += 46 + length + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return texts;
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Parts that replace, or add to, those of a plain workbook. */
export interface WorkbookParts {
  /** The inside of `sheetData`. */
  readonly rows?: string;
  /** The inside of `sst`. */
  readonly strings?: string;
  /** The inside of `cellXfs`. */
  readonly styles?: string;
  readonly formats?: string;
  /** The attributes of `workbookPr`. */
  readonly properties?: string;
  readonly more?: readonly Entry[];
  /** Takes parts out or changes them, as some program would. */
  readonly change?: (path: string, text: string) => string | undefined;
}

/** Returns the parts of a workbook with one sheet, `Sheet1`, as a spreadsheet program writes them. */
export function workbookParts(parts: WorkbookParts): readonly Entry[] {
  const relation = (id: number, kind: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${office}/${kind}" Target="${target}"/>`;
  const list: Entry[] = [
    [
      '[Content_Types].xml',
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    ],
    [
      '_rels/.rels',
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr ${parts.properties ?? ''}/><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation(1, 'worksheet', 'worksheets/sheet1.xml')}${relation(2, 'styles', 'styles.xml')}${relation(3, 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    ],
    [
      'xl/styles.xml',
      `<styleSheet xmlns="${main}"><numFmts>${parts.formats ?? ''}</numFmts><cellXfs>${parts.styles ?? '<xf numFmtId="0"/>'}</cellXfs></styleSheet>`,
    ],
    ['xl/sharedStrings.xml', `<sst xmlns="${main}">${parts.strings ?? ''}</sst>`],
    [
      'xl/worksheets/sheet1.xml',
      `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="${main}"><sheetData>${parts.rows ?? ''}</sheetData></worksheet>`,
    ],
    ...(parts.more ?? []),
  ];
  const { change } = parts;
  if (!change) return list;
  return list.flatMap(([path, text]): Entry[] => {
    const changed = change(path, text as string);
    return changed === undefined ? [] : [[path, changed]];
  });
}

/** Returns a workbook with one sheet. */
export function workbook(parts: WorkbookParts): Buffer {
  return zip(workbookParts(parts));
}

/** Returns rows of text cells, each with its text in it. */
export function textRows(rows: readonly (readonly string[])[]): string {
  return rows
    .map((cells, row) => {
      const inside = cells.map(
        (text, column) =>
          `<c r="${String.fromCharCode(65 + column)}${row + 1}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`,
      );
      return `<row r="${row + 1}">${inside.join('')}</row>`;
    })
    .join('');
}

/** Escapes text for XML. */
export function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\r', '_x000D_');
}
