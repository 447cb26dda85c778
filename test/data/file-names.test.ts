import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dispositionName, safeFileName } from '../../src/data/file-names.js';

// What a hostile record name or header may hold, and the one plain name that comes of it.
const hostile: readonly (readonly [name: string, safe: string | undefined])[] = [
  ['../../etc/passwd', 'passwd'],
  ['..\\..\\boot.ini', 'boot.ini'],
  ['/etc/shadow', 'shadow'],
  ['C:\\Windows\\system.ini', 'system.ini'],
  ['C:evil.txt', 'C_evil.txt'],
  ['\\\\server\\share\\x.pdf', 'x.pdf'],
  ['a/../b.pdf', 'b.pdf'],
  ['a\\../b.pdf', 'b.pdf'],
  ['.', undefined],
  ['..', undefined],
  ['...', undefined],
  ['', undefined],
  ['   ', undefined],
  ['/', undefined],
  ['a/', undefined],
  ['\u0000', undefined],
  ['a\u0000.pdf', 'a.pdf'],
  ['a.pdf\u0000.exe', 'a.pdf.exe'],
  ['line\nbreak.pdf', 'linebreak.pdf'],
  ['\u001b[2Jclear.pdf', '[2Jclear.pdf'],
  ['\u009b31mred.pdf', '31mred.pdf'],
  ['contract\u202efdp.exe', 'contract_fdp.exe'],
  ['zero\u200bwidth.pdf', 'zero_width.pdf'],
  ['tag\u{e0041}s.pdf', 'tag_s.pdf'],
  ['-rf', '_rf'],
  ['--output=x', '_output=x'],
  ['~root', '_root'],
  ['~', undefined],
  ['.bashrc', '_bashrc'],
  ['.ssh', '_ssh'],
  ['CON', '_CON'],
  ['nul.txt', '_nul.txt'],
  ['COM1.pdf', '_COM1.pdf'],
  ['lpt\u00b9.txt', '_lpt\u00b9.txt'],
  ['aux .txt', '_aux .txt'],
  ['trailing.', 'trailing'],
  ['trailing. . ', 'trailing'],
  ['stream.txt:hidden', 'stream.txt_hidden'],
  ['pipe|star*.pdf', 'pipe_star_.pdf'],
  ['half\ud800surrogate.pdf', 'half_surrogate.pdf'],
];

test('there are forty hostile names', () => {
  expect(hostile).toHaveLength(40);
});

test.each(hostile)('%j becomes harmless', (name, safe) => {
  expect(safeFileName(name)).toBe(safe);
});

test.each([
  'Spielerverträge 2026.pdf',
  '日本語の契約.pdf',
  'عقد اللاعب.pdf',
  'a b  c.pdf',
  "don't panic.pdf",
  'report (1) [final].pdf',
  '100% done.txt',
  'a..b.pdf',
  'no extension',
  '🦊 foxes.png',
  'e\u0301quipe.pdf',
  'x;y&z$(id).pdf',
])('%j is odd and harmless, and kept', (name) => {
  expect(safeFileName(name)).toBe(name);
});

test('a name without an extension of its content type gets one', () => {
  expect(safeFileName('Player contract', ['pdf'])).toBe('Player contract.pdf');
  expect(safeFileName('Rules v1.2', ['txt'])).toBe('Rules v1.2.txt');
  expect(safeFileName('photo.JPEG', ['jpg', 'jpeg'])).toBe('photo.JPEG');
});

test('a long name is shortened to 200 bytes, its extension kept and no letter cut in half', () => {
  const short = safeFileName(`${'ü🦊'.repeat(200)}.pdf`) ?? '';
  expect(Buffer.byteLength(short)).toBeLessThanOrEqual(200);
  expect(short).toMatch(/^(ü🦊)+ü?\.pdf$/u);
});

test('whatever the text, the name stays in its folder', () => {
  const pieces = fc.oneof(
    fc.constantFrom('..', '/', '\\', '.', '\0', ':', '~', '-', 'con', ' ', '\u202e', '.pdf'),
    fc.string({ unit: 'binary' }),
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
