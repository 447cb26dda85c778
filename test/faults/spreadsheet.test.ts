import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { report, userOf } from '../bulk/user.js';
import { application, keep, written } from '../commands/tryouts/service.js';
import { convertByLibreOffice, hasLibreOffice } from '../support/libreoffice.js';
import { errorOf } from '../support/run.js';
import { payloads } from './support/payloads.js';

// Round-trips an export through a real spreadsheet: LibreOffice opens it and saves it as a
// person may, with any delimiter and encoding. Exactly the edited rows change.

const comma = 44;
const semicolon = 59;
const tab = 9;
const utf8 = 76;
const windows1252 = 1;
const utf16 = 65_535;

const notes = [
  null,
  'Good aim, quiet on comms; "IGL"',
  'Zweites Gespräch am Freitag – Größe 1,80 m',
  'two\nlines',
  '=SUM(A1)',
  "'quoted",
  '+49 170 1234567',
  '@ann',
  ' leading space',
  '日本語 🎮',
];
const edited = ['app_2', 'app_5', 'app_9'];

describe('LibreOffice', () => {
  beforeEach(({ skip }) =>
    skip(!hasLibreOffice, 'LibreOffice is not installed (apt-get install libreoffice-calc)'),
  );

  for (const [what, separator, charset, mark] of [
    ['comma, UTF-8', comma, utf8, ''],
    ['comma, UTF-8 with a byte order mark', comma, utf8, '\ufeff'],
    ['semicolon, UTF-8', semicolon, utf8, ''],
    ['semicolon, UTF-8 with a byte order mark', semicolon, utf8, '\ufeff'],
    ['tab, UTF-8', tab, utf8, ''],
    ['comma, UTF-16', comma, utf16, ''],
    ['semicolon, UTF-16', semicolon, utf16, ''],
    ['tab, UTF-16', tab, utf16, ''],
  ] as const)
    test(`saves as ${what}: exactly the edited rows change`, async () => {
      const service = await kept(notes);
      const user = userOf(service);
      const file = await editedExport(user);
      const saved = save(file, `${separator},34,${charset}`, mark);
      const ran = await user.run(`tryouts set-status --csv ${saved} --yes --json`);
      expect(ran).toMatchObject({ code: 0 });
      const changed = report(ran).results.filter(({ result }) => result === 'changed');
      expect(changed.map(({ id }) => id)).toEqual(edited);
      expect(report(ran).summary).toMatchObject({ total: notes.length, unchanged: 7 });
      expect(written(service)).toEqual(
        edited.map(() => ({ organizationId: 'org_7', status: 'rejected' })),
      );
    });

  for (const separator of [comma, semicolon, tab])
    test(`saves as Windows-1252 with separator ${separator}: refused with a message if it cannot be read, else correct`, async () => {
      const service = await kept(notes.slice(0, -1));
      const user = userOf(service);
      const saved = save(await editedExport(user), `${separator},34,${windows1252}`, '');
      const before = service.requests.length;
      const ran = await user.run(`tryouts set-status --csv ${saved} --yes --json`);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(errorOf(ran)['message']).toContain('not UTF-8 text');
      expect(errorOf(ran)['hint']).toContain('UTF-8');
      expect(service.requests).toHaveLength(before);
      const plain = await kept(Array.from({ length: 9 }, () => 'plain'));
      const other = userOf(plain);
      const same = save(await editedExport(other), `${separator},34,${windows1252}`, '');
      const read = await other.run(`tryouts set-status --csv ${same} --yes --json`);
      expect(report(read).summary).toMatchObject({ changed: 3, unchanged: 6 });
    });

  test('finds no formula in an export of hostile texts, and many in a raw one', async () => {
    const service = await keep(
      payloads.map((name, index) =>
        application(`app_${index}`, {
          name,
          internalNotes: name,
          formResponses: { [name]: name },
        }),
      ),
    );
    const user = userOf(service);
    const formulas = async (flags: string, separators: string) => {
      const file = join(user.home, `hostile${flags.length}.csv`);
      expect((await user.run(`tryouts list -o csv --out ${file} ${flags}`)).code).toBe(0);
      // Everything that could turn text into a formula is enabled.
      const input = `${separators},34,76,1,,0,false,true,false,false,false,0,true`;
      const text = readFileSync(
        convertByLibreOffice(file, 'fods', [`--infilter=CSV:${input}`]),
        'utf8',
      );
      expect(text).toContain('app_1');
      return [...text.matchAll(/table:formula="[^"]*"/g)].length;
    };
    // Not every program splits where we do; LibreOffice may split at all three.
    expect(await formulas('', `${comma}`)).toBe(0);
    expect(await formulas('', `${semicolon}`)).toBe(0);
    expect(await formulas('', `${comma}/${semicolon}/${tab}`)).toBe(0);
    expect(await formulas('--delimiter ;', `${comma}`)).toBe(0);
    expect(await formulas('--csv-raw', `${comma}`)).toBeGreaterThan(5);
  });
});

/** A service whose applications have these notes. */
function kept(texts: readonly (string | null)[]) {
  return keep(
    texts.map((internalNotes, index) => application(`app_${index + 1}`, { internalNotes })),
  );
}

/** An export in which the status of some rows was edited. */
async function editedExport(user: ReturnType<typeof userOf>): Promise<string> {
  const file = join(user.home, 'x.csv');
  expect((await user.run(`tryouts list -o csv --out ${file}`)).code).toBe(0);
  const text = readFileSync(file, 'utf8').replace(
    /^(app_\d+),(org_7),pending/gm,
    (line: string, id: string) => (edited.includes(id) ? `${id},org_7,rejected` : line),
  );
  writeFileSync(file, text);
  return file;
}

/** Opens a CSV of ours and saves it with other settings. */
function save(file: string, token: string, mark: string): string {
  const saved = convertByLibreOffice(
    file,
    `csv:Text - txt - csv (StarCalc):${token},1,,0,false,true`,
    ['--infilter=CSV:44,34,76,1'],
  );
  if (mark !== '') writeFileSync(saved, mark + readFileSync(saved, 'utf8'));
  return saved;
}
