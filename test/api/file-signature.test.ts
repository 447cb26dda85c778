import { expect, test } from 'vitest';
import { extensionsOf, typeByName, UploadContentType } from '../../src/api/schemas.js';
import { demoDocuments, readPaper } from '../../src/sandbox/demo/documents.js';
import { typeByContent } from '../../src/uploads/content-type.js';

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

test('every allowed content type has an extension that maps back to it', () => {
  for (const type of UploadContentType.options) {
    expect(extensionsOf(type).length).toBeGreaterThan(0);
    for (const extension of extensionsOf(type)) expect(typeByName(`x.${extension}`)).toBe(type);
  }
});

test.each([
  ['a.PDF', 'application/pdf'],
  ['a.tar.txt', 'text/plain'],
  ['dir.pdf/a', undefined],
  ['pdf', undefined],
  ['a.exe', undefined],
  ['a.', undefined],
])('the name %s means %s', (name, type) => {
  expect(typeByName(name)).toBe(type);
});

test('the demo documents cover all ten types and each is detected by its bytes', async () => {
  const seen = new Set<string>();
  for (const document of demoDocuments) {
    const { name, contentType } = document;
    expect([name, await typeOf(readPaper(document))]).toEqual([name, contentType]);
    seen.add(contentType);
  }
  expect([...seen].toSorted()).toEqual([...UploadContentType.options].toSorted());
});

test.each([
  ['text with umlauts', Buffer.from('grüße 🦊\n'), 'text/plain'],
  ['text with a byte order mark', Buffer.from('\ufeffhello'), 'text/plain'],
  ['text of many parts whose letters are cut', Buffer.from('ü'.repeat(300_001)), 'text/plain'],
  ['a program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0]), undefined],
  ['Latin-1', Buffer.from('gr\u00fc\u00dfe', 'latin1'), undefined],
  ['text that ends in half a letter', Buffer.from([0x61, 0xc3]), undefined],
  ['text with a NUL', Buffer.from('a\0b'), undefined],
  ['nothing', Buffer.alloc(0), undefined],
  ['a PNG cut after its signature', Buffer.from('89504e470d0a1a0a', 'hex'), 'image/png'],
  ['the beginning of a ZIP', Buffer.from('504b030400000000', 'hex'), undefined],
  ['an empty compound file', Buffer.from('d0cf11e0a1b11ae1', 'hex'), undefined],
  ['a RIFF that is a sound', Buffer.from('RIFF\x10\0\0\0WAVEfmt '), undefined],
])('%s', async (_, bytes, type) => {
  expect(await typeOf(bytes)).toBe(type);
});

test('a compound file with a circular sector chain is handled', async () => {
  const doc = demoDocuments.find(({ contentType }) => contentType === 'application/msword');
  const bytes = doc ? readPaper(doc) : Buffer.alloc(0);
  const table = bytes.readUInt32LE(76);
  const directory = bytes.readUInt32LE(48);
  bytes.writeUInt32LE(directory, (table + 1) * 512 + directory * 4);
  expect(await typeOf(bytes)).toBe('application/msword');
});

test('a word file that was renamed to a spreadsheet is still a word file', async () => {
  const doc = demoDocuments.find(({ contentType }) => contentType === word);
  expect(await typeOf(doc ? readPaper(doc) : Buffer.alloc(0))).toBe(word);
});

function typeOf(bytes: Buffer) {
  return typeByContent({
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  });
}
