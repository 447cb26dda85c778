import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dispositionName, nameKey, safeFileName, withId } from '../../src/data/file-names.js';
import { codePoint } from '../support/code-point.js';
import { hostile, odd } from '../support/file-names.js';

test('there are 40 hostile names', () => {
  expect(hostile).toHaveLength(40);
});

test.each(hostile)('%j becomes harmless', (name, safe) => {
  expect(safeFileName(name)).toBe(safe);
});

test.each(odd)('%j is odd and harmless, and kept', (name) => {
  expect(safeFileName(name)).toBe(name);
});

test('a name without an extension of its content type gets one', () => {
  expect(safeFileName('Player contract', ['pdf'])).toBe('Player contract.pdf');
  expect(safeFileName('Rules v1.2', ['txt'])).toBe('Rules v1.2.txt');
  expect(safeFileName('photo.JPEG', ['jpg', 'jpeg'])).toBe('photo.JPEG');
});

test('a long name is shortened to 200 bytes, between characters, and keeps its extension', () => {
  const short = safeFileName(`${'ü🦊'.repeat(200)}.pdf`) ?? '';
  expect(Buffer.byteLength(short)).toBeLessThanOrEqual(200);
  expect(short).toMatch(/^(ü🦊)+ü?\.pdf$/u);
});

test('whatever the text, the name stays in its folder', () => {
  const pieces = fc.oneof(
    fc.constantFrom('..', '/', '\\', '.', '\0', ':', '~', '-', 'con', ' ', '\u202e', '.pdf'),
    fc.string({ unit: codePoint }),
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const name = safeFileName(parts.join(''), ['pdf']);
      if (name === undefined) return;
      expect(name).not.toMatch(/[/\\\p{Cc}\p{Cf}:]/u);
      expect(name).not.toMatch(/^[.~-]|[. ]$/);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
      expect(name.isWellFormed()).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['attachment; filename="a b.pdf"', 'a b.pdf'],
  ['attachment; filename=plain.pdf', 'plain.pdf'],
  ['attachment; filename="a\\"b.pdf"', 'a"b.pdf'],
  ["attachment; filename=x.pdf; filename*=UTF-8''%C3%BCber%20uns.pdf", 'über uns.pdf'],
  ["attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", '../../etc/passwd'],
  ['attachment; filename*=UTF-8\'\'%ZZ; filename="fallback.pdf"', 'fallback.pdf'],
  ['inline', undefined],
  [undefined, undefined],
])('the header %j names %j', (header, name) => {
  expect(dispositionName(header)).toBe(name);
});

test('a safe suffix goes before the extension, and the name stays short enough', () => {
  expect(withId('Rules.txt', 'doc_1')).toBe('Rules-doc_1.txt');
  expect(withId('Rules', 'doc_1')).toBe('Rules-doc_1');
  expect(withId('Rules.txt', '../x')).toMatch(/^Rules-[0-9a-f]{12}\.txt$/);
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 300 }), fc.string(), (text, id) => {
      const name = safeFileName(text, ['txt']);
      if (name === undefined) return;
      const longer = withId(name, id);
      expect(Buffer.byteLength(longer)).toBeLessThanOrEqual(200);
      expect(safeFileName(longer)).toBe(longer);
    }),
  );
});

test.each([
  ['Rules.TXT', 'rules.txt'],
  ['e\u0301quipe.pdf', '\u00e9quipe.pdf'],
  ['STRASSE.pdf', 'stra\u00dfe.pdf'],
])('%j and %j may be the same file', (one, other) => {
  expect(nameKey(one)).toBe(nameKey(other));
});
