/** Reads the parts of a workbook around a sheet: which sheet is read, its shared strings, and its formats of numbers. */

import { firstOf } from '../data/text.js';
import { InputError } from '../errors.js';
import { type Archive, damagedArchive, openArchive, tooLarge } from './archive.js';
import { type NumberFormat, numberFormat, PackedTexts, unescaped } from './cell-text.js';
import { attributeOf, XmlError, type XmlHandler, XmlScanner } from './xml.js';

/** The needs of reading the cells of one sheet. */
export interface Workbook {
  /** The path of the sheet's part. */
  readonly sheet: string;
  readonly is1904: boolean;
  readonly strings: PackedTexts;
  /** The number format of each cell style. */
  readonly formats: readonly NumberFormat[];
  /** Scans a part. Throws InputError. */
  scan(path: string, handler: XmlHandler): AsyncGenerator<undefined>;
}

/**
 * Opens a workbook and chooses a sheet: the one named, else the first that is not hidden. Throws
 * InputError for anything that is not a plain .xlsx file: an old or encrypted workbook, one with
 * macros, another kind of archive, or a damaged one.
 */
export async function openWorkbook(
  file: Buffer,
  name: string,
  sheetName: string | undefined,
): Promise<Workbook> {
  const archive = openArchive(file, name);
  checkKind(archive, name);
  const scan = scanner(archive, name);
  const main = await officePart(scan, archive);
  if (main === undefined || !archive.has(main))
    throw new InputError(`${name} is not an .xlsx workbook.`, { hint: saveAsXlsx });
  const book = await readBook(scan, main);
  const relations = await readRelations(scan, archive, main);
  const sheets = book.sheets.filter(({ id }) => relations.get(id)?.type === 'worksheet');
  const sheet = chosenSheet(sheets, sheetName, name);
  const partOf = (type: string) =>
    [...relations.values()].find((relation) => relation.type === type)?.path;
  const stylesPart = partOf('styles');
  const stringsPart = partOf('sharedStrings');
  return {
    sheet: relations.get(sheet.id)?.path ?? '',
    is1904: book.is1904,
    formats: stylesPart === undefined ? [] : await readFormats(scan, stylesPart),
    strings:
      stringsPart === undefined ? new PackedTexts() : await readStrings(scan, stringsPart, name),
    scan,
  };
}

const saveAsXlsx = 'In your spreadsheet program, save it as .xlsx (Excel workbook) or as CSV.';

/** Throws InputError for the format of old workbooks, which is also that of encrypted ones. */
export function refuseOldWorkbook(file: Buffer, name: string): void {
  if (file.readUInt32BE(0) !== 0xd0cf11e0) return;
  if (file.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    throw new InputError(`${name} is protected with a password.`, {
      hint: 'Save it without a password.',
    });
  throw new InputError(`${name} is an old .xls workbook.`, { hint: saveAsXlsx });
}

type Scan = Workbook['scan'];

function scanner(archive: Archive, name: string): Scan {
  return async function* scan(path, handler) {
    const scanning = new XmlScanner(handler);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    try {
      for await (const chunk of archive.read(path)) {
        scanning.push(decoder.decode(chunk, { stream: true }));
        yield;
      }
      scanning.push(decoder.decode());
      scanning.end();
    } catch (error) {
      if (error instanceof InputError) throw error;
      if (error instanceof XmlError) throw damagedArchive(name, `in ${path} ${error.message}`);
      throw damagedArchive(name, `${path} is not UTF-8 text`);
    }
    yield;
  };
}

async function scanAll(scan: Scan, path: string, handler: XmlHandler): Promise<void> {
  for await (const _ of scan(path, handler));
}

function checkKind(archive: Archive, name: string): void {
  if (archive.names.some((entry) => /vbaProject\.bin$/i.test(entry)))
    throw new InputError(`${name} holds macros, and is not read.`, {
      hint: 'Save it as .xlsx, which holds none.',
    });
  const others: readonly (readonly [path: string, what: string])[] = [
    ['xl/workbook.bin', 'an .xlsb workbook'],
    ['content.xml', 'an OpenDocument (.ods) file'],
    ['Index/Document.iwa', 'a Numbers document'],
    ['word/document.xml', 'a text document'],
  ];
  const other = others.find(([path]) => archive.has(path));
  if (other) throw new InputError(`${name} is ${other[1]}.`, { hint: saveAsXlsx });
}

interface Relation {
  readonly type: string;
  readonly path: string;
}

/** Returns the path of the workbook's own part, which some programs do not call xl/workbook.xml. */
async function officePart(scan: Scan, archive: Archive): Promise<string | undefined> {
  const relations = await readRelations(scan, archive, '');
  return [...relations.values()].find(({ type }) => type === 'officeDocument')?.path;
}

/** Reads the relations of a part that lie in the archive; external ones are never followed. */
async function readRelations(
  scan: Scan,
  archive: Archive,
  part: string,
): Promise<ReadonlyMap<string, Relation>> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const path = `${folder}_rels/${part.slice(folder.length)}.rels`;
  const relations = new Map<string, Relation>();
  if (!archive.has(path)) return relations;
  await scanAll(scan, path, {
    open(name, attributes) {
      if (name !== 'Relationship' || attributeOf(attributes, 'TargetMode') === 'External') return;
      const target = attributeOf(attributes, 'Target') ?? '';
      relations.set(attributeOf(attributes, 'Id') ?? '', {
        type: (attributeOf(attributes, 'Type') ?? '').replace(/^.*\//, ''),
        path: target.startsWith('/') ? target.slice(1) : joined(folder, target),
      });
    },
  });
  return relations;
}

function joined(folder: string, target: string): string {
  const steps: string[] = [];
  for (const step of `${folder}${target}`.split('/'))
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(step);
  return steps.join('/');
}

interface SheetEntry {
  readonly name: string;
  readonly id: string;
  readonly isHidden: boolean;
}

async function readBook(scan: Scan, path: string) {
  const sheets: SheetEntry[] = [];
  let is1904 = false;
  await scanAll(scan, path, {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = saysYes(attributeOf(attributes, 'date1904'));
      if (name !== 'sheet') return;
      sheets.push({
        name: attributeOf(attributes, 'name') ?? '',
        id: attributeOf(attributes, 'id') ?? '',
        isHidden: (attributeOf(attributes, 'state') ?? 'visible') !== 'visible',
      });
    },
  });
  return { sheets, is1904 };
}

/** True for the ways in which a workbook writes yes. */
export function saysYes(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

function chosenSheet(
  sheets: readonly SheetEntry[],
  wanted: string | undefined,
  name: string,
): SheetEntry {
  const first = sheets.find(({ isHidden }) => !isHidden) ?? sheets[0];
  if (!first) throw new InputError(`${name} has no sheet.`);
  if (wanted === undefined) return first;
  const found =
    sheets.find((sheet) => sheet.name === wanted) ??
    sheets.find((sheet) => sheet.name.toLowerCase() === wanted.toLowerCase());
  if (found) return found;
  throw new InputError(`${name} has no sheet "${wanted}".`, {
    hint: `It has: ${firstOf(sheets.map((sheet) => sheet.name))}.`,
  });
}

async function readFormats(scan: Scan, path: string): Promise<readonly NumberFormat[]> {
  const formats = new Map<number, string>();
  const styles: NumberFormat[] = [];
  let isCells = false;
  await scanAll(scan, path, {
    open(name, attributes) {
      const id = Number(attributeOf(attributes, 'numFmtId'));
      if (name === 'numFmt') formats.set(id, attributeOf(attributes, 'formatCode') ?? '');
      else if (name === 'cellXfs') isCells = true;
      else if (name === 'xf' && isCells) styles.push(numberFormat(id, formats.get(id)));
    },
    close(name) {
      if (name === 'cellXfs') isCells = false;
    },
  });
  return styles;
}

/** Each text is there once: a workbook with more of them takes more than 64 MiB in any case. */
const mostStrings = 1_000_000;

async function readStrings(scan: Scan, path: string, name: string): Promise<PackedTexts> {
  const strings = new PackedTexts();
  const rich = richText();
  await scanAll(scan, path, {
    open: (tag) => rich.open(tag),
    text: (text) => rich.text(text),
    close(tag) {
      rich.close(tag);
      if (tag === 'si' && (strings.length >= mostStrings || !strings.add(rich.take())))
        throw tooLarge(name);
    },
  });
  return strings;
}

/** Collects the text of `t` elements, plain or in rich runs, without phonetic readings of it. */
export function richText() {
  let parts: string[] = [];
  let isText = false;
  let phonetic = 0;
  return {
    open(name: string) {
      if (name === 'rPh') phonetic += 1;
      isText = name === 't' && phonetic === 0;
    },
    text(text: string) {
      if (isText) parts.push(text);
    },
    close(name: string) {
      if (name === 'rPh') phonetic -= 1;
      if (name === 't') isText = false;
    },
    /** Returns the text collected since the last call. */
    take(): string {
      const text = parts.length === 1 ? (parts[0] ?? '') : parts.join('');
      parts = [];
      return unescaped(text);
    },
  };
}
