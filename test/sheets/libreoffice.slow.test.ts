import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { report, userOf } from '../bulk/user.js';
import { application, keep } from '../commands/tryouts/service.js';
import { payloads } from '../faults/support/payloads.js';
import { convertByLibreOffice, hasLibreOffice } from '../support/libreoffice.js';
import { recordingService } from '../support/service.js';

// What a real spreadsheet program makes of our workbooks: LibreOffice opens them and saves them again.

const texts = [
  ...payloads,
  ...['0042', '123456789012345678', '1E5', '1/2', '2026-03-01', '10:30', 'TRUE', '50%', '1,5'],
  ...[
    ' lead',
    'trail ',
    'two  spaces',
    'tab\there',
    'two\nlines',
    'a\r\nb',
    "'quoted",
    '日本語 🎮',
  ],
  ...['_x0041_', 'a_x000D_b', '&lt;', '<b>&amp;</b>', ']]>', "'<clear>", '#N/A', 'é'],
];

const times = ['2026-03-01T10:00:00.123456Z', '1900-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'];
const mixed = [
  ...[...times, true, false, null, 5, -0.5, 0.1 + 0.2, 1e21, 1e-7, 999_999_999_999_999],
  ...[['0042'], ['true'], [1, 2], ['1', '2'], ['a;b', 'c'], ['[1]'], [true], [], [null, 1]],
  ...[{ a: 1 }, [{ a: [1, 2] }, { a: null }]],
];

describe('LibreOffice', () => {
  beforeEach(({ skip }) =>
    skip(!hasLibreOffice, 'LibreOffice is not installed (apt-get install libreoffice-calc)'),
  );

  test('opens a workbook of ours with its filter and drop-down, and finds no formula in it', async () => {
    const { file } = await exported();
    const text = readFileSync(convertByLibreOffice(file, 'fods'), 'utf8');
    expect(text).not.toContain('table:formula');
    expect(text).toContain('table:display-filter-buttons="true"');
    expect(text).toMatch(
      /table:content-validation [^>]*cell-content-is-in-list\(&quot;pending&quot;;&quot;reviewing&quot;/,
    );
    expect(text).toContain('office:date-value="2026-03-01T10:00:00"');
    expect(text).toContain('123456789012345678');
    expect(text).toContain('table:name="About"');
  });

  test('saves it so that each record comes back unchanged', async () => {
    const { file, user } = await exported();
    const saved = convertByLibreOffice(file, 'xlsx:Calc MS Excel 2007 XML');
    const ran = await user.run(`tryouts update --csv ${saved} --yes --json`);
    expect(ran).toMatchObject({ code: 0 });
    expect(report(ran).summary).toMatchObject({ total: texts.length, unchanged: texts.length });
  });

  test('gives back a column of values of every type unchanged', async () => {
    const players = mixed.map((value, index) => ({
      id: `p${index}`,
      name: 'Ann',
      value,
      joinedAt: times[index % times.length],
    }));
    const service = await recordingService(({ url }) => ({
      status: 200,
      json: players.find(({ id }) => url.endsWith(`/${id}`)) ?? { players, total: players.length },
    }));
    const user = userOf(service);
    const file = join(user.home, 'x.xlsx');
    expect(await user.run(`players list --out ${file}`)).toMatchObject({ code: 0 });
    expect(readFileSync(convertByLibreOffice(file, 'csv'), 'utf8')).toContain(',TRUE,');
    const saved = convertByLibreOffice(file, 'xlsx:Calc MS Excel 2007 XML');
    const ran = await user.run(`players update --csv ${saved} --yes --json`);
    expect(ran).toMatchObject({ code: 0 });
    expect(report(ran).summary).toMatchObject({ total: mixed.length, unchanged: mixed.length });
  });
});

/** A workbook of applications whose notes hold every text. */
async function exported() {
  const service = await keep(
    texts.map((text, index) =>
      application(`app_${index}`, {
        name: text,
        internalNotes: text,
        formResponses: { [text]: 1 },
      }),
    ),
  );
  const user = userOf(service);
  const file = join(user.home, 'x.xlsx');
  const ran = await user.run(`tryouts list --out ${file}`);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return { file, user };
}
