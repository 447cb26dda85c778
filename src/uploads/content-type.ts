/** Content types: finds which of the ten allowed types a file's bytes are. */

import type { UploadContentType } from '../api/schemas.js';
import type { ReadableFile } from './upload-source.js';

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Returns which of the ten allowed content types a file's bytes are; undefined if none, or if it is empty. */
export async function typeByContent(file: ReadableFile): Promise<UploadContentType | undefined> {
  const head = await file.read(0, 1024);
  if (head.length === 0) return undefined;
  if (begins(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png';
  if (begins(head, [0xff, 0xd8, 0xff])) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head.toString('latin1', 0, 6))) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(head.toString('latin1', 0, 12))) return 'image/webp';
  if (begins(head, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])) return typeOfCompound(file);
  if (begins(head, [0x50, 0x4b, 0x03, 0x04])) return typeOfZip(file);
  // PDF readers accept a late header, but a file that is entirely text is text even if it contains one.
  if (head.toString('latin1', 0, 5) === '%PDF-') return 'application/pdf';
  if (await isText(file)) return 'text/plain';
  return head.includes('%PDF-') ? 'application/pdf' : undefined;
}

function begins(bytes: Buffer, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

async function typeOfCompound(file: ReadableFile): Promise<UploadContentType | undefined> {
  const names = await compoundNames(file);
  if (names.includes('WordDocument')) return 'application/msword';
  if (names.includes('Workbook') || names.includes('Book')) return 'application/vnd.ms-excel';
  return undefined;
}

async function typeOfZip(file: ReadableFile): Promise<UploadContentType | undefined> {
  const names = (await zipDirectory(file)).toString('latin1');
  if (names.includes('word/document.xml')) return word;
  return /xl\/workbook\.(xml|bin)/.test(names) ? sheet : undefined;
}

const step = 256 * 1024;

/** True if the entire file is UTF-8 without NUL. */
async function isText(file: ReadableFile): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let offset = 0; offset < file.size; offset += step) {
    const bytes = await file.read(offset, step);
    if (bytes.includes(0)) return false;
    try {
      decoder.decode(bytes, { stream: offset + step < file.size });
    } catch {
      return false;
    }
  }
  return true;
}

// The old Office container (MS-CFB): a header, a table of sector chains, and a directory of named
// streams whose entries form a tree. Word and Excel differ by the streams at its root.

const noMore = 0xfffffff0;
const mostSectors = 4096;
const entrySize = 128;

/** The names of the streams and storages at the root of a compound file; empty if it is damaged. */
async function compoundNames(file: ReadableFile): Promise<readonly string[]> {
  const header = await file.read(0, 512);
  if (header.length < 512) return [];
  const shift = header.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return [];
  const size = 2 ** shift;
  const read: ReadSector = async (sector) =>
    sector < noMore ? file.read((sector + 1) * size, size) : Buffer.alloc(0);
  const tables = await tableSectors(header, read);
  const perTable = size / 4;
  const parts: Buffer[] = [];
  let sector = header.readUInt32LE(48);
  while (sector < noMore && parts.length < mostSectors) {
    const bytes = await read(sector);
    if (bytes.length === 0) break;
    parts.push(bytes);
    const table = await read(tables[Math.floor(sector / perTable)] ?? noMore);
    sector = numberAt(table, (sector % perTable) * 4);
  }
  return rootNames(Buffer.concat(parts));
}

/** Reads a sector; empty if there is none of that number. */
type ReadSector = (sector: number) => Promise<Buffer>;

/** The sectors of the table of chains: the first 109 are in the header, those of large files in a chain of lists. */
async function tableSectors(header: Buffer, read: ReadSector): Promise<readonly number[]> {
  const sectors = numbersIn(header.subarray(76));
  let list = header.readUInt32LE(68);
  for (let lists = 0; list < noMore && lists < mostSectors; lists += 1) {
    const numbers = numbersIn(await read(list));
    list = numbers.pop() ?? noMore;
    sectors.push(...numbers);
  }
  return sectors;
}

function numbersIn(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) =>
    bytes.readUInt32LE(index * 4),
  );
}

function numberAt(bytes: Buffer, at: number): number {
  return at + 4 <= bytes.length ? bytes.readUInt32LE(at) : noMore;
}

function rootNames(directory: Buffer): string[] {
  const names: string[] = [];
  const seen = new Set<number>();
  const waiting = [numberAt(directory, 76)];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const at = index * entrySize;
    if (index >= noMore || seen.has(index) || at + entrySize > directory.length) continue;
    seen.add(index);
    const length = Math.min(64, Math.max(0, directory.readUInt16LE(at + 64) - 2));
    names.push(directory.toString('utf16le', at, at + length));
    waiting.push(numberAt(directory, at + 68), numberAt(directory, at + 72));
  }
  return names;
}

const endRecord = 22;
const longestComment = 65_535;
const longestDirectory = 8 * 1024 * 1024;

/** A ZIP's central directory, which is at its end and names its files; empty if there is none. */
async function zipDirectory(file: ReadableFile): Promise<Buffer> {
  const tailSize = Math.min(file.size, endRecord + longestComment);
  const tail = await file.read(file.size - tailSize, tailSize);
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (at < 0 || at + endRecord > tail.length) return Buffer.alloc(0);
  const size = tail.readUInt32LE(at + 12);
  return file.read(tail.readUInt32LE(at + 16), Math.min(size, longestDirectory));
}
