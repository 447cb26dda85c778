import { compoundNames } from './compound-file.js';
import type { ReadableFile } from '../api/file-store.js';
import type { UploadContentType } from '../api/schemas.js';
import { zipNames } from './zip-names.js';

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Which of the ten allowed content types a file's bytes are; undefined when none, or when it is empty. */
export async function typeByContent(file: ReadableFile): Promise<UploadContentType | undefined> {
  const head = await file.read(0, 1024);
  if (head.length === 0) return undefined;
  if (begins(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png';
  if (begins(head, [0xff, 0xd8, 0xff])) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head.toString('latin1', 0, 6))) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(head.toString('latin1', 0, 12))) return 'image/webp';
  if (begins(head, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])) return typeOfCompound(file);
  if (begins(head, [0x50, 0x4b, 0x03, 0x04])) return typeOfZip(file);
  // Readers accept a PDF whose header comes late, but not after text.
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
  const names = await zipNames(file);
  if (names.includes('word/document.xml')) return word;
  if (names.some((name) => /^xl\/workbook\.(xml|bin)$/.test(name))) return sheet;
  return undefined;
}

const step = 256 * 1024;

/** The whole file is UTF-8 without NUL. */
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
