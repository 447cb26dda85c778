import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { report, userOf } from '../../bulk/user.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { recordingService } from '../../support/service.js';
import { application, keep, written } from './service.js';

async function at(home: string, name: string, text: string): Promise<void> {
  writeFileSync(join(home, name), text);
}

test.each([
  ['update', 'note', '--note "For all"', 'The column note is not used: --note sets'],
  ['update', 'internalNotes', '--clear-note', 'The column internalNotes is not used: --clear-note'],
  ['set-status', 'Note', '--append-note x', 'The column Note is not used: --append-note sets'],
  ['set-status', 'status', '--to rejected', 'The column status is not used: --to sets it'],
  ['update', 'status', '--status rejected', 'The column status is not used: --status sets'],
])('tryouts %s with a column %s and %s notes that the column is not used', async (...of) => {
  const [verb, column, flags, told] = of;
  const user = userOf(await keep([application('app_1', { internalNotes: 'old' })]), inProcess);
  await at(user.home, 'rows.csv', `id,${column}\napp_1,shortlisted\n`);
  const ran = await user.run(`tryouts ${verb} --csv ${user.home}/rows.csv ${flags} -n`);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(told);
});

test('a field that -F or --name sets for every player is reported if the CSV has it too', async () => {
  const home = temporaryFolder();
  await at(home, 'rows.csv', 'id,role,name,shirt:int\nplayer_0001,coach,Zed,7\n');
  const line = '-p sandbox players update --csv rows.csv -F role=captain --name Kit -n --json';
  const ran = await rosterctl(line, { home });
  expect(ran.stderr).toContain('The column role is not used: -F sets it for every row.');
  expect(ran.stderr).toContain('The column name is not used: --name sets it for every row.');
  expect(report(ran).results[0]).toMatchObject({
    after: { role: 'captain', name: 'Kit', shirt: 7 },
  });
});

test.each(['role,role ', 'role,role:text', 'role:text, role'])(
  'two columns for one field (%s) are refused before anything is read',
  async (columns) => {
    const service = await keep([]);
    const user = userOf(service, inProcess);
    await at(user.home, 'rows.csv', `id,${columns}\np1,coach,captain\n`);
    const ran = await user.run(`players update --csv ${user.home}/rows.csv -n`);
    expect(ran.stderr).toContain('Columns 2 and 3 are both role.');
    expect([ran.code, service.requests]).toEqual([2, []]);
  },
);

/** The dry run of an update of players whose fields hold texts of digits. */
async function updateZip(column: string, ...cells: string[]) {
  const players = [
    { id: 'p1', name: 'Ann', zip: '01067' },
    { id: 'p2', name: 'Bo', zip: '7.50' },
    { id: 'p3', name: 'Cy', zip: '123456789012345678' },
    { id: 'p4', name: 'Di', zip: '7' },
  ];
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: players.find(({ id }) => url.endsWith(`/${id}`)) ?? { players },
  }));
  const user = userOf(service, inProcess);
  const rows = cells.map((cell, index) => `p${index + 1},${cell}\n`);
  await at(user.home, 'rows.csv', `id,${column}\n${rows.join('')}`);
  return user.run(`players update --csv ${user.home}/rows.csv -n --json`);
}

describe('a text of digits in a CSV that a spreadsheet saved', () => {
  test('is not shortened', async () => {
    const ran = await updateZip('zip', '1067', '7.5', '123456789012345000', '7');
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(errorOf(ran)['message']).toBe(
      [
        '3 lines cannot be used.',
        'Line 2: zip holds "1067", which is what spreadsheets make of 01067.',
        'Line 3: zip holds "7.5", which is what spreadsheets make of 7.50.',
        'Line 4: zip holds "123456789012345000", which is what spreadsheets make of 123456789012345678.',
      ].join('\n'),
    );
  });

  test('is set where the column says that it is text, and where digits differ', async () => {
    expect(report(await updateZip('zip:text', '1067')).results).toMatchObject([
      { after: { zip: '1067' } },
    ]);
    expect(
      report(await updateZip('zip', '1068', '7.51', '123456789012345670', '07')).summary,
    ).toMatchObject({ wouldChange: 4 });
  });
});

/** The dry run of an update of a player with one cell of a CSV. */
async function updateCell(field: string, json: string, cell: string) {
  const service = await recordingService(({ url }) => ({
    status: 200,
    text: url.endsWith('/p1') ? `{"id":"p1","name":"Ann","${field}":${json}}` : '{"players":[]}',
  }));
  const user = userOf(service, inProcess);
  await at(user.home, 'rows.csv', `id,${field}\np1,${cell}\n`);
  return user.run(`players update --csv ${user.home}/rows.csv -n --json`);
}

describe('a cell that a spreadsheet rewrote when it opened and saved a CSV', () => {
  test.each([
    ['agreed', '"true"', 'TRUE'],
    ['agreed', '"False"', 'FALSE'],
    ['agreed', '["true"]', 'TRUE'],
    ['rating', '0.6666666666666666', '0.666666667'],
    ['rating', '0.30000000000000004', '0.3'],
    ['rating', '[-123.45678901234567]', '-123.456789'],
    ['account', '123456789012345678', '123456789012345000'],
  ])('is no edit: %s %s, %s', async (field, json, cell) => {
    const ran = await updateCell(field, json, cell);
    expect([ran.code, report(ran).summary]).toMatchObject([0, { unchanged: 1, wouldChange: 0 }]);
  });

  test.each([
    ['codes', '["0042"]', '42', 'codes holds "42", which is what spreadsheets make of 0042.'],
    ['code', '"7e2"', '7.00E+02', 'holds "7.00E+02", which is what spreadsheets make of 7e2.'],
    ['code', '"12E-4"', '1.20E-03', 'holds "1.20E-03", which is what spreadsheets make of 12E-4.'],
    ['code', '".50"', '0.5', 'code holds "0.5", which is what spreadsheets make of .50.'],
    ['code', '"-1234567890123456"', '-1234567890123450', 'spreadsheets make of -1234567890123456.'],
    ['seen', '"2026-03-01 10:00:00"', '3/1/2026 10:00', 'not a date like 2026-03-01 10:00:00.'],
    ['seen', '"2026-03-01T10:00"', '46082.41667', 'not a date like 2026-03-01T10:00.'],
  ])('is refused: %s %s, %s', async (field, json, cell, message) => {
    const ran = await updateCell(field, json, cell);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(errorOf(ran)['message']).toContain(message);
  });

  test.each([
    ['lat', '48.137154321', '48.137154', 48.137154],
    ['seen', '"2026-03-01 10:00 first trial"', '3.5', '3.5'],
    ['tags', '["a"," b"]', ' b;a', [' b', 'a']],
    ['agreed', '"true"', 'FALSE', 'FALSE'],
    ['agreed', '"TRUE"', 'true', 'true'],
    ['rating', '0.6666666666666666', '0.67', 0.67],
    ['rating', '12345.678', '12345.68', 12_345.68],
    ['account', '1234567890', '1234567900', 1_234_567_900],
    ['codes', '["0042","7"]', '0043;7', ['0043', '7']],
    ['seen', '"2026-03-01 10:00:00"', '2026-03-02 10:00:00', '2026-03-02 10:00:00'],
    ['tags', '["legal","travel"]', 'legal; visa ;', ['legal', 'visa']],
    ['tags', '["legal","travel"]', ';travel', ['travel']],
    ['tags', '["a"," b"]', 'x; b', ['x', ' b']],
    ['tags', '[1,"2"]', '2;x;1', ['2', 'x', 1]],
    ['tags', '["a","","c"]', 'a;; d', ['a', '', 'd']],
  ])('is an edit if it differs: %s %s, %s', async (field, json, cell, after) => {
    expect(report(await updateCell(field, json, cell)).results).toMatchObject([
      { after: { [field]: after } },
    ]);
  });
});

test('an unchanged row of an export with an unknown status blocks no other row', async () => {
  const service = await keep([
    application('app_1'),
    application('app_2', { status: 'parked' }),
    application('app_3', { status: 'parked' }),
  ]);
  const user = userOf(service);
  const { stdout } = await user.run('tryouts list -o csv');
  await at(user.home, 'export.csv', stdout.replace('pending', 'rejected'));
  const line = `tryouts set-status --csv ${user.home}/export.csv --yes --json`;
  const ran = await user.run(line);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 1, unchanged: 2 }]);
  expect(written(service)).toMatchObject([{ status: 'rejected' }]);
});

test('a status that the service writes in capitals is unchanged in its own export', async () => {
  const service = await keep([application('app_1'), application('app_2', { status: 'PENDING' })]);
  const user = userOf(service, inProcess);
  const { stdout } = await user.run('tryouts list -o csv');
  await at(user.home, 'export.csv', stdout.replace('pending', 'Rejected'));
  const ran = await user.run(`tryouts set-status --csv ${user.home}/export.csv --yes --json`);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 1, unchanged: 1 }]);
  expect(written(service)).toMatchObject([{ status: 'rejected' }]);
});

test('a typed unknown status is rejected and never sent', async () => {
  const service = await keep([application('app_1'), application('app_2', { status: 'parked' })]);
  const user = userOf(service, inProcess);
  const { stdout } = await user.run('tryouts list -o csv');
  await at(user.home, 'slip.csv', stdout.replace('pending', 'acepted'));
  const slip = await user.run(`tryouts set-status --csv ${user.home}/slip.csv --yes`);
  expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining('did you mean accepted?')]);
  await at(user.home, 'own.csv', 'id,status\napp_2,parked\n');
  const own = await user.run(`tryouts set-status --csv ${user.home}/own.csv --yes`);
  expect(own.code).toBe(2);
  await at(user.home, 'moved.csv', stdout.replace('pending', 'parked'));
  const moved = await user.run(`tryouts set-status --csv ${user.home}/moved.csv --yes --json`);
  expect([moved.code, report(moved).summary]).toMatchObject([8, { failed: 1, unchanged: 1 }]);
  expect(moved.stdout).toContain('\\"parked\\" is not a status. Use one of pending, ');
  expect(written(service)).toEqual([]);
});
