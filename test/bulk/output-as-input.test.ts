import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, keep, written } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';
import { textRows, workbook } from '../support/workbook.js';
import { inProcessAtHome, type Run, report, userOf } from './user.js';

// What one command prints goes into the next one.

/** A service with these players, which keeps none of the changes. */
async function withPlayers(
  players: readonly Record<string, unknown>[],
  run: Run = inProcessAtHome,
) {
  const service = await recordingService(({ url, method }) => {
    const player = players.find(({ id }) => url.endsWith(`/${String(id)}`));
    if (method !== 'GET') return { status: 200, json: player };
    if (player) return { status: 200, json: player };
    return url.endsWith('/org_7')
      ? { status: 200, json: players }
      : { status: 404, json: { error: 'notFound' } };
  });
  return { service, user: userOf(service, run) };
}

describe('what --results and a report add to the rows is never sent', () => {
  const players = [
    { id: 'pl_1', name: 'Ann', shirt: 'S' },
    { id: 'pl_2', name: 'Bo', shirt: 'M' },
  ];

  test.each(['update --csv', 'update --ignore-columns --csv', 'import --key id'])(
    'players %s',
    async (command) => {
      const { service, user } = await withPlayers(players);
      writeFileSync(join(user.home, 'in.csv'), 'id,shirt\npl_1,S\npl_2,M\n');
      await user.run('players update --csv in.csv --results out.csv --yes');
      expect(readFileSync(join(user.home, 'out.csv'), 'utf8')).toContain('pl_1,S,unchanged,,');
      const again = await user.run(`players ${command} out.csv --yes --json`);
      expect([again.code, report(again).summary]).toMatchObject([0, { unchanged: 2 }]);
      if (command.startsWith('update'))
        expect(again.stderr).toContain('Columns that are not sent: result, error_code, message.');
      expect(written(service)).toEqual([]);
    },
  );

  test.each(['-o csv', ''])('players update --csv of a report, %s', async (format) => {
    const { service, user } = await withPlayers(players);
    const { stdout } = await user.run(`players update pl_1 pl_2 -F name=Bo -n ${format}`);
    const cells = stdout.split('\n').filter((line) => !line.includes('"'));
    const again = await user.run('players update --csv - --yes --json', cells.join('\n'));
    expect([again.code, report(again).summary]).toMatchObject([0, { changed: 0 }]);
    expect(again.stderr).toContain('Columns that are not sent: row, result,');
    expect(written(service)).toEqual([]);
  });

  test('players update --csv of the plan that plan show prints', async () => {
    const { service, user } = await withPlayers(players);
    await user.run('players update pl_1 pl_2 -F shirt=L --plan plan.json');
    const { stdout } = await user.run('plan show plan.json -o csv');
    expect(stdout).toContain('1,pl_1,Ann,S,L');
    const again = await user.run('players update --csv - --yes --json', stdout);
    expect([again.code, report(again).summary]).toMatchObject([0, { unchanged: 2 }]);
    expect(written(service)).toEqual([]);
  });

  test('and they are no unknown columns of applications', async () => {
    const user = userOf(await keep([application('app_1'), application('app_2')]));
    await user.run('tryouts set-status app_1 nope --to rejected --yes --results out.csv');
    const again = await user.run('tryouts set-status --csv out.csv --to rejected --yes --json');
    expect(report(again).summary).toMatchObject({ unchanged: 1, failed: 1 });
  });

  test('a field of the records may have the name of one of them', async () => {
    const { service, user } = await withPlayers([{ id: 'pl_1', name: 'Ann', result: 'won' }]);
    await user.run('players update --csv - --yes', 'id,result\npl_1,lost\n');
    expect(written(service)).toEqual([{ result: 'lost' }]);
  });
});

describe('a table in a pipe as --csv', () => {
  const notes = 'first line\nsecond\tline, C:\\new';
  const table = async () => {
    const service = await keep([application('app_1', { internalNotes: notes })]);
    const user = userOf(service, inProcess);
    const { stdout } = await user.run('tryouts list --fields id,internalNotes');
    expect(stdout).toContain('first line\\nsecond\\tline, C:\\\\new\n');
    return { service, user, stdout };
  };

  test('changes nothing where nothing was edited', async () => {
    const { service, user, stdout } = await table();
    const ran = await user.run('tryouts update --csv - --yes --json', stdout);
    expect([ran.code, report(ran).summary]).toMatchObject([0, { unchanged: 1 }]);
    expect(written(service)).toEqual([]);
    const player = { id: 'pl_1', name: 'Ann', bio: notes };
    const { service: players, user: other } = await withPlayers([player]);
    const bios = (await other.run('players list --fields id,bio')).stdout;
    await other.run('players update --csv - --yes', bios);
    expect(written(players)).toEqual([]);
  });

  test('does not replace line breaks where a cell was edited', async () => {
    const { service, user, stdout } = await table();
    const edited = stdout.replace('C:', 'D:');
    const ran = await user.run('tryouts update --csv - --yes', edited);
    expect([ran.code, written(service)]).toEqual([2, []]);
    expect(ran.stderr).toContain(
      'Line 2: internalNotes holds \\n or \\t where the record has a line break or a tab.\nA table in a pipe is written like that. Export with -o csv instead.\n',
    );
    const player = { id: 'pl_1', name: 'Ann', bio: notes };
    const { service: players, user: other } = await withPlayers([player]);
    const bios = (await other.run('players list --fields id,bio')).stdout.replace('C:', 'D:');
    const refused = await other.run('players update --csv - --yes', bios);
    expect([refused.code, written(players)]).toEqual([2, []]);
    expect(refused.stderr).toContain('Line 2: bio holds \\n or \\t');
  });

  test('a new text may hold a backslash', async () => {
    const { service, user } = await table();
    const csv = 'id,internalNotes\napp_1,see C:\\new\\team\n';
    expect((await user.run('tryouts update --csv - --yes', csv)).code).toBe(0);
    expect(written(service)).toHaveLength(1);
  });

  test('with quotes is refused with the formats to use', async () => {
    const user = userOf(await keep([application('app_1', { name: 'Ann "Ace"' })]), inProcess);
    const { stdout } = await user.run('tryouts list --fields id,name');
    const ran = await user.run('tryouts set-status --ids - --to rejected --yes', stdout);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('If rosterctl wrote this table into a pipe, add -o csv there');
  });
});

test('an export of records whose fields have dots in their names comes back unchanged', async () => {
  const player = { id: 'pl_1', name: 'Ann', 'shirt.size': 'S' };
  const { service, user } = await withPlayers([player], rosterctl);
  const { stdout } = await user.run('players list -o csv');
  const ran = await user.run('players update --csv - --yes --json', stdout);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { unchanged: 1 }]);
  await user.run('players update --csv - --yes', stdout.replace(',S', ',M'));
  expect(written(service)).toEqual([{ 'shirt.size': 'M' }]);
});

test.each(['update --csv', 'import --key id'])(
  'players %s of an exported CSV that Excel saved as a workbook, where the marks before formulas are text',
  async (command) => {
    const { service, user } = await withPlayers([
      { id: 'pl_1', name: 'Ann', bio: '=1+1', tags: ['-5', '@x'] },
      { id: 'pl_2', name: 'Bo', bio: '- fast\r\n- late', tags: [] },
    ]);
    const { stdout } = await user.run('players list -o csv');
    expect(stdout).toContain("pl_1,Ann,'=1+1,'-5;@x");
    const rows = [
      ['id', 'name', 'bio', 'tags'],
      ['pl_1', 'Ann', "'=1+1", "'-5;@x"],
      ['pl_2', 'Bo', "'- fast\n- late", ''],
    ];
    writeFileSync(join(user.home, 'in.xlsx'), workbook({ rows: textRows(rows) }));
    const ran = await user.run(`players ${command} in.xlsx --yes --json`);
    expect([ran.code, report(ran).summary]).toMatchObject([0, { unchanged: 2 }]);
    expect(written(service)).toEqual([]);
  },
);

test('notes of an exported CSV that Excel saved as a workbook come back unchanged', async () => {
  const service = await keep([application('app_1', { internalNotes: '- fast' })]);
  const user = userOf(service);
  const rows = [
    ['id', 'internalNotes'],
    ['app_1', "'- fast"],
  ];
  writeFileSync(join(user.home, 'in.xlsx'), workbook({ rows: textRows(rows) }));
  const ran = await user.run('tryouts update --csv in.xlsx --yes --json');
  expect([ran.code, report(ran).summary]).toMatchObject([0, { unchanged: 1 }]);
  expect(written(service)).toEqual([]);
});

test.each(['update --csv', 'import --key id'])(
  'players %s of what PostgreSQL exports: t and f are true and false where the record has a boolean',
  async (command) => {
    const { service, user } = await withPlayers([
      { id: 'pl_1', paid: true, size: 't' },
      { id: 'pl_2', paid: true, size: 'f' },
    ]);
    const ran = await user.run(
      `players ${command} - -n --json`,
      'id,paid,size\npl_1,t,t\npl_2,f,f\n',
    );
    expect(report(ran).results).toMatchObject([
      { result: 'unchanged' },
      { result: 'would_change', before: { paid: true }, after: { paid: false } },
    ]);
    expect(written(service)).toEqual([]);
  },
);

test('a record on several lines, as jq prints it, is refused with the way to one line', async () => {
  const { service, user } = await withPlayers([{ id: 'pl_1', name: 'Ann' }], rosterctl);
  const printed = JSON.stringify({ id: 'pl_1', name: 'Ann' }, null, 2);
  const ran = await user.run('players update --ids - -F name=A --yes', printed);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([
    2,
    '',
    'Line 1 is not valid JSON.\nEach line holds one record, as list -o ndjson and jq -c write it.\n',
  ]);
  expect(service.requests).toEqual([]);
});

test('a workbook as --ids is not taken for text', async () => {
  const home = temporaryFolder();
  await inProcess('-p sandbox players list --out p.xlsx', { home, cwd: home });
  const ran = await inProcess('-p sandbox players update --ids p.xlsx -F name=A -n', {
    home,
    cwd: home,
  });
  expect([ran.code, ran.stderr]).toEqual([
    2,
    'p.xlsx holds a NUL character; this is not UTF-8 text.\nSave it as UTF-8.\n',
  ]);
});

test('csv of nothing, whose columns are not known, is empty', async () => {
  const ran = await inProcess('auth status --all -o csv', { home: temporaryFolder() });
  expect([ran.code, ran.stdout]).toEqual([0, '']);
});
