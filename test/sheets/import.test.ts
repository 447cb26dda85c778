import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { report } from '../bulk/user.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { textRows, type WorkbookParts, workbook } from '../support/workbook.js';

// `import` reads workbooks as it reads CSVs.

function sandbox(run: typeof rosterctl = inProcess) {
  const home = temporaryFolder();
  return {
    home,
    run: (line: string) => run(`-p sandbox ${line}`, { home, cwd: home }),
    save: (rows: string, more: WorkbookParts = {}) =>
      writeFileSync(join(home, 'x.xlsx'), workbook({ rows, ...more })),
  };
}

test.each(['players', 'teams'])(
  '%s import of an exported workbook changes nothing',
  async (noun) => {
    const { run } = sandbox();
    expect(await run(`${noun} list --out x.xlsx`)).toMatchObject({ code: 0 });
    const ran = await run(`${noun} import x.xlsx --key id --yes --json`);
    expect(ran).toMatchObject({ code: 0 });
    const { summary } = report(ran);
    expect(summary['unchanged']).toBe(summary['total']);
    expect(summary['total']).toBeGreaterThan(3);
  },
);

test('a workbook typed by hand creates players once', async () => {
  const { run, save } = sandbox(rosterctl);
  save(
    textRows([
      ['name', 'email', 'discordUserId'],
      ['=Mira', 'mira@example.org', '123456789012345678'],
      ['Ann', 'ann@example.org'],
    ]),
  );
  const made = await run('players import x.xlsx --key email --yes --json');
  expect(made).toMatchObject({ code: 0 });
  expect(report(made).summary).toMatchObject({ total: 2, changed: 2 });
  const again = await run('players import x.xlsx --key email --yes --json');
  expect(report(again).summary).toMatchObject({ total: 2, unchanged: 2 });
  const mira = await run("players list --where 'email=mira@example.org' --json");
  expect(JSON.parse(mira.stdout)).toMatchObject([
    { name: '=Mira', discordUserId: '123456789012345678' },
  ]);
});

test('a new player has the zeros that the format of a cell shows', async () => {
  const { run, save } = sandbox();
  save(
    `${textRows([['name', 'discordUserId']])}<row r="2"><c t="str"><v>Ann</v></c><c s="1"><v>1067</v></c></row>`,
    {
      formats: '<numFmt numFmtId="170" formatCode="00000"/>',
      styles: '<xf numFmtId="0"/><xf numFmtId="170"/>',
    },
  );
  const ran = await run('players import x.xlsx --key name --yes --json');
  expect(ran).toMatchObject({ code: 0 });
  const { stdout } = await run("players list --where 'name=Ann' --json");
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'Ann', discordUserId: '01067' }]);
});

test('--csv-raw is about CSVs: a formula of a workbook is still only text', async () => {
  const { run, save } = sandbox();
  save(textRows([['name'], ['=Mira']]));
  const ran = await run('players import x.xlsx --key name --csv-raw --yes --json');
  expect(ran).toMatchObject({ code: 0 });
  expect(JSON.parse((await run('players list --search Mira --json')).stdout)).toMatchObject([
    { name: '=Mira' },
  ]);
});

test('a new row with the e-mail of a player who is there is named as a row', async () => {
  const { run, save } = sandbox();
  const listed = await run('players list --limit 1 --json');
  const [{ email = '' } = {}] = JSON.parse(listed.stdout) as { email?: string }[];
  save(
    textRows([
      ['name', 'email'],
      ['Ann', email],
    ]),
  );
  const ran = await run('players import x.xlsx --key name -n');
  expect(ran.stderr).toContain('Ann (row 2) and the player');
});

test('what cannot be imported is told with its cell, all at once', async () => {
  const { run, save } = sandbox();
  save(
    `${textRows([
      ['name', 'email', 'discordUserId'],
      ['', 'ann@example.org', ''],
    ])}<row r="3"><c t="str"><f>A2</f><v>x</v></c><c t="str"><v>bob@example.org</v></c><c><v>123456789012345680</v></c></row><row r="4"><c t="str"><v>x</v></c></row>`,
  );
  const ran = await run('players import x.xlsx --key email --yes --json');
  expect(ran.code).toBe(2);
  const { message } = errorOf(ran) as { message: string };
  expect(message).toContain('A3: name holds a formula.');
  expect(message).toContain('C3: discordUserId holds a number of more than 15 digits');
  expect(message).toContain('B4: email is empty, but it is the key.');
  const taken = await run('players import x.xlsx --take-formulas --sheet Roster --key email -n');
  expect([taken.code, taken.stderr]).toEqual([
    2,
    expect.stringContaining('x.xlsx has no sheet "Roster".'),
  ]);
});
