import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeRecords } from '../../src/cli/lists/workbook.js';
import type { JsonObject } from '../../src/data/json.js';
import { XmlScanner } from '../../src/sheets/xml.js';
import { report, userOf } from '../bulk/user.js';
import { application, keep, written } from '../commands/tryouts/service.js';
import { collected } from '../support/collected.js';
import { inProcess } from '../support/in-process.js';
import { outputContext } from '../support/output-context.js';
import { errorOf, temporaryFolder } from '../support/run.js';
import { textRows, unzip, workbook, zip } from '../support/workbook.js';

// The parts of a workbook that `-o xlsx` writes, and the commands that write and read one.

function write(records: readonly JsonObject[], now = '2026-03-01T10:00:00Z') {
  return collected((sink) =>
    writeRecords(
      sink,
      records,
      { view: { resource: 'tryouts', columns: ['id', 'status'] } },
      {
        ...outputContext({ out: 'x.xlsx' }),
        now: () => new Date(now),
      },
    ),
  );
}

const sheetOf = (file: Buffer) => unzip(file).get('xl/worksheets/sheet1.xml') ?? '';
const stringsOf = (file: Buffer) =>
  [...(unzip(file).get('xl/sharedStrings.xml') ?? '').matchAll(/<t[^>]*>([^<]*)<\/t>/g)].map(
    ([, text]) => text,
  );
/** A cell with the text that it shares. */
function cellOf(file: Buffer, place: string): string {
  const cell = new RegExp(`<c r="${place}".*?</c>`).exec(sheetOf(file))?.[0] ?? '';
  return cell.replace(
    /t="s"><v>(\d+)/,
    (_, number: string) => `>${stringsOf(file)[Number(number)]}`,
  );
}

const ann = {
  id: '123456789012345678',
  organizationId: 'org_7',
  status: 'pending',
  name: '=Sum(A1)',
  code: '0042',
  note: 'a\u0001b\r\n<b> _x0041_',
  size: 1.85,
  isNew: true,
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00.123Z',
};

describe('a workbook', () => {
  test('has well-formed parts that lead to each other, and nothing else', async () => {
    const parts = unzip(await write([ann]));
    expect([...parts.keys()]).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/workbook.xml',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/worksheets/sheet1.xml',
      'xl/worksheets/sheet2.xml',
      'xl/sharedStrings.xml',
    ]);
    const targets: string[] = [];
    for (const [path, text] of parts) {
      const scanner = new XmlScanner({
        open(_, attributes) {
          const [, target] = /(?:Target|PartName)="([^"]*)"/.exec(attributes) ?? [];
          if (target !== undefined)
            targets.push(target.replace(/^\/|^(?=\w+\/|st|sh)/, '').replace(/^xl\//, ''));
        },
        text() {},
        close() {},
      });
      scanner.push(text);
      scanner.end();
      expect(path.startsWith('xl/') ? text : '').not.toMatch(/External|<f[ >]|sheetProtection/);
    }
    for (const target of targets) expect([...parts.keys()]).toContain(`xl/${target}`);
  });

  test('holds text as text, so that no program changes it', async () => {
    const file = await write([ann]);
    const cell = (place: string) => cellOf(file, place);
    expect(cell('A2')).toBe('<c r="A2" s="3" >123456789012345678</v></c>');
    expect(cell('D2')).toBe('<c r="D2" s="1" >=Sum(A1)</v></c>');
    expect(cell('E2')).toBe('<c r="E2" s="1" >0042</v></c>');
    expect(cell('F2')).toBe('<c r="F2" s="1" >a_x0001_b_x000D_\n&lt;b&gt; _x005F_x0041_</v></c>');
    expect(cell('G2')).toBe('<c r="G2"><v>1.85</v></c>');
    expect(cell('H2')).toBe('<c r="H2" s="0" t="b"><v>1</v></c>');
    expect(cell('I2')).toMatch(/^<c r="I2" s="4"><v>46082\.4166666666\d+<\/v><\/c>$/);
    expect(cell('J2')).toBe('<c r="J2" s="3" >2026-03-01T10:00:00.123Z</v></c>');
    expect(unzip(file).get('xl/styles.xml')).toContain('<xf numFmtId="49" fontId="2" fillId="2"');
  });

  test.each([
    [123_456_789_012_345, '><v>123456789012345</v></c>'],
    [-0.012_345_678_901_234_5, '><v>-0.0123456789012345</v></c>'],
    [1_234_567_890_123_456, ' s="1" >1234567890123456</v></c>'],
    [0.1 + 0.2, ' s="1" >0.30000000000000004</v></c>'],
    [1e-7, ' s="1" >1e-7</v></c>'],
  ])('holds %s as a number only if every program keeps its digits', async (value, cell) => {
    expect(cellOf(await write([{ id: '1', value }]), 'B2')).toBe(`<c r="B2"${cell}`);
  });

  test('has frozen heads, a filter, widths, and a drop-down of the six statuses', async () => {
    const sheet = sheetOf(await write([ann, { ...ann, id: '2' }]));
    expect(sheet).toContain(
      '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>',
    );
    expect(sheet).toContain('<autoFilter ref="A1:J3"/>');
    expect(sheet).toContain('<col min="1" max="1" width="19" style="3" customWidth="1"/>');
    expect(sheet).toContain(
      'error="Choose one of: pending, reviewing, shortlisted, accepted, rejected, withdrawn" sqref="C2:C3"><formula1>"pending,reviewing,shortlisted,accepted,rejected,withdrawn"</formula1>',
    );
    const order = [
      'sheetViews',
      'cols',
      'sheetData',
      'autoFilter',
      'dataValidations',
      'ignoredErrors',
    ];
    const places = order.map((name) => sheet.indexOf(`<${name}`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test('of no records has the heads that are known', async () => {
    const file = await write([]);
    expect(cellOf(file, 'B1')).toContain('>status<');
    expect(sheetOf(file)).toContain('<autoFilter ref="A1:B1"/>');
  });

  test('of the same records is the same file', async () => {
    expect((await write([ann])).equals(await write([ann]))).toBe(true);
  });

  test('is refused for a text that no cell can hold, with the record and the field', async () => {
    await expect(write([{ ...ann, name: 'Ann', note: 'x'.repeat(32_768) }])).rejects.toThrow(
      'note of Ann has 32,768 characters; a cell holds at most 32,767.',
    );
    const wide = Object.fromEntries(Array.from({ length: 16_385 }, (_, at) => [`c${at}`, 1]));
    await expect(write([wide])).rejects.toThrow('A sheet has at most 16,384 columns');
  });
});

function sandbox() {
  const home = temporaryFolder();
  return { home, run: (line: string) => inProcess(`-p sandbox ${line}`, { home, cwd: home }) };
}

describe('the commands', () => {
  test.each(['teams', 'players', 'docs', 'tryouts'])(
    '%s list --out x.xlsx writes what update --csv takes back as unchanged',
    async (noun) => {
      const { home, run } = sandbox();
      expect(await run(`${noun} list --out x.xlsx --limit 5`)).toMatchObject({
        code: 0,
        stdout: '',
      });
      expect(readFileSync(join(home, 'x.xlsx')).subarray(0, 2).toString()).toBe('PK');
      const ran = await run(`${noun} update --csv x.xlsx --yes --expect 5 --json`);
      expect(ran).toMatchObject({ code: 0 });
      expect(report(ran).summary).toMatchObject({ total: 5, unchanged: 5 });
    },
  );

  test('-o xlsx without --out is refused, and so is another format in an .xlsx file', async () => {
    const { run } = sandbox();
    const bare = await run('tryouts list -o xlsx');
    expect([bare.code, bare.stderr]).toEqual([2, '-o xlsx needs a file.\nAdd --out FILE.xlsx\n']);
    const csv = await run('tryouts list -o csv --out x.xlsx');
    expect([csv.code, csv.stderr]).toEqual([
      2,
      expect.stringContaining('-o csv cannot be written to an .xlsx file.'),
    ]);
    expect((await run('config set output xlsx')).code).toBe(2);
  });

  test('the sheet About tells where the records are from and how to send them back', async () => {
    const { home, run } = sandbox();
    await run("tryouts list --status pending --out 'my list.xlsx' --fields id,status");
    const texts = stringsOf(readFileSync(join(home, 'my list.xlsx')));
    expect(texts).toContain('Organization');
    expect(texts).toContain('--status pending');
    expect(texts).toContain(
      "rosterctl tryouts list --status pending --profile sandbox --fields id,status --out 'my list.xlsx'",
    );
    expect(texts.join('\n')).toContain(
      "rosterctl -p sandbox tryouts update --csv 'my list.xlsx' --dry-run",
    );
  });

  test('an edited workbook changes what was edited, and --results tells each row', async () => {
    const service = await keep(['app_1', 'app_2', 'app_3'].map((id) => application(id)));
    const user = userOf(service);
    const file = join(user.home, 'x.xlsx');
    expect((await user.run(`tryouts list -o xlsx --out ${file}`)).code).toBe(0);
    const parts = unzip(readFileSync(file));
    const sheet = parts.get('xl/worksheets/sheet1.xml') ?? '';
    const edited = sheet.replace(
      /<c r="C3".*?<\/c>/,
      '<c r="C3" t="inlineStr"><is><t>rejected</t></is></c>',
    );
    expect(edited).not.toBe(sheet);
    parts.set('xl/worksheets/sheet1.xml', edited);
    writeFileSync(file, zip([...parts]));
    writeFileSync(join(user.home, '~$x.xlsx'), '');
    const ran = await user.run(
      `tryouts set-status --csv ${file} --yes --json --results ${join(user.home, 'r.csv')}`,
    );
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain(
      'x.xlsx is open in Excel. Changes that are not saved there are not read.',
    );
    expect(written(service)).toEqual([{ organizationId: 'org_7', status: 'rejected' }]);
    expect(readFileSync(join(user.home, 'r.csv'), 'utf8')).toMatch(/^app_2,.*rejected.*,changed,/m);
  });

  test('the lock file of an open workbook is called by its name', async () => {
    const { home, run } = sandbox();
    writeFileSync(join(home, '~$x.xlsx'), 'Ann');
    const ran = await run("tryouts set-status --to rejected --csv '~$x.xlsx' --json");
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      message: '~$x.xlsx only says that x.xlsx is open in a spreadsheet program.',
      hint: 'Close x.xlsx there, and read it: --csv x.xlsx',
    });
  });

  test('--sheet and --take-formulas belong to --csv', async () => {
    const { home, run } = sandbox();
    const bare = await run('players update --sheet A player_0001 -F name=x');
    expect([bare.code, bare.stderr]).toEqual([
      2,
      expect.stringContaining('--sheet needs --csv FILE.xlsx.'),
    ]);
    const rows = `${textRows([['id', 'note']])}<row r="2"><c t="str"><v>player_0001</v></c><c t="str"><f>"a"</f><v>a</v></c></row>`;
    writeFileSync(join(home, 'x.xlsx'), workbook({ rows }));
    const formulas = await run('players update --csv x.xlsx -n --json');
    expect(errorOf(formulas)).toMatchObject({
      message: 'B2: note holds a formula.',
      hint: 'To use the values that formulas show, add --take-formulas.',
    });
    const taken = await run('players update --csv x.xlsx --take-formulas --sheet sheet1 -n --json');
    expect([taken.code, report(taken).summary['wouldChange']]).toEqual([0, 1]);
  });
});
