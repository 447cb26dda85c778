import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { errorOf } from '../support/run.js';
import { answering, application, desk, paper, player } from './desk.js';

const json = (ran: { stdout: string }) => JSON.parse(ran.stdout);

test('what differs is told by id, name and field', async () => {
  const { create, run, folder, snapshots, records, documents } = await desk();
  await create();
  records.players = [player(1, { role: 'Coach', tags: [{ game: 'x' }] }), player(3)];
  documents[0] = paper('doc_1', 'new', { updatedAt: '2026-02-02T00:00:00Z' });
  await create();
  const [a = '', b = ''] = snapshots().map((name) => join(folder, name));
  const ran = await run(`backup diff ${a} ${b} --json`);
  expect([ran.code, json(ran)]).toMatchObject([
    0,
    {
      schema: 1,
      compared: ['tryouts', 'players', 'teams', 'documents'],
      notCompared: [],
      differences: [
        {
          resource: 'players',
          id: 'player_1',
          name: 'Player 1',
          change: 'changed',
          changes: [
            { field: 'role', from: null, to: 'Coach' },
            { field: 'tags.0.game', from: null, to: 'x' },
          ],
        },
        { id: 'player_2', change: 'removed', changes: [] },
        { id: 'player_3', change: 'added', changes: [] },
        {
          id: 'doc_1',
          changes: [
            { field: 'updatedAt' },
            { field: 'file (sha256)', from: expect.any(String), to: expect.any(String) },
          ],
        },
      ],
    },
  ]);
  expect((await run(`backup diff ${b} live --json`)).stdout).toContain('"differences":[]');
  expect((await run(`backup diff ${a} ${b} -o ids`)).stdout).toBe(
    'player_1\nplayer_2\nplayer_3\ndoc_1\n',
  );
  const csv = await run(`backup diff ${a} ${b} -o csv`);
  expect(csv.stdout.split('\r\n').slice(0, 4)).toEqual([
    'resource,id,name,change,field,from,to',
    'players,player_1,Player 1,changed,role,,Coach',
    'players,player_1,Player 1,changed,tags.0.game,,x',
    'players,player_2,Player 2,removed,,,',
  ]);
});

test('a text that became a list with the same words differs, an absent field and null do not', async () => {
  const { create, run, folder, records } = await desk();
  const was = { role: 'Coach', team: { ids: '1;2', note: null }, captain: null };
  records.players = [player(1, was)];
  await create();
  const is = { role: ['Coach'], team: { ids: [1, 2] }, note: null, captain: { id: 'p2' } };
  records.players = [player(1, is)];
  const ran = await run(`backup diff ${folder} live --json`);
  expect(json(ran).differences).toMatchObject([
    {
      id: 'player_1',
      changes: [
        { field: 'role', from: 'Coach', to: '["Coach"]' },
        { field: 'team.ids', from: '1;2', to: '[1,2]' },
        { field: 'captain.id', from: null, to: 'p2' },
      ],
    },
  ]);
  const page = await run(`backup diff ${folder} live`, { ROSTERCTL_FORCE_TTY: '60' });
  expect(page.stdout).toContain('Role: Coach → ["Coach"]\n');
  expect((await run(`backup diff ${folder} live -o csv`)).stdout).toContain(
    ',role,Coach,"[""Coach""]"\r\n',
  );
});

test('two equal snapshots have no differences, and an unfinished one cannot be compared', async () => {
  const { create, run, folder, snapshots } = await desk();
  await create();
  await create();
  const [a = '', b = ''] = snapshots().map((name) => join(folder, name));
  const at100 = { ROSTERCTL_FORCE_TTY: '100' };
  expect(await run(`backup diff ${a} ${b}`, at100)).toMatchObject({
    code: 0,
    stdout: `${basename(a)} → ${basename(b)}\nNo differences.\n`,
  });
  renameSync(b, `${b}.partial`);
  const unfinished = await run(`backup diff ${a} ${b}.partial --json`);
  expect([unfinished.code, errorOf(unfinished)]).toMatchObject([
    2,
    {
      message: `${b}.partial is an unfinished backup.`,
      hint: 'To finish it, run the same backup create command again.',
    },
  ]);
});

test('live as the first of the two is answered with the right order, not with a backup to make', async () => {
  const { run } = await desk();
  const ran = await run('backup diff live papers --json');
  expect([ran.code, errorOf(ran)]).toMatchObject([
    2,
    {
      message: 'live can only be the second of the two.',
      hint: 'rosterctl backup diff papers live',
    },
  ]);
});

test('a snapshot of a newer version is not read', async () => {
  const { create, run, folder, snapshots } = await desk();
  await create();
  const [name = ''] = snapshots();
  const manifest = join(folder, name, 'manifest.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"schema": 1', '"schema": 2'));
  const ran = await run(`backup show ${join(folder, name)} player_1 --json`);
  expect([ran.code, errorOf(ran)]).toMatchObject([
    2,
    { message: `${manifest} was made by a newer version of rosterctl.`, hint: 'Update rosterctl.' },
  ]);
});

test('a dry run counts what --csv would hold, and writes nothing', async () => {
  const { create, run, folder, home } = await desk();
  await create();
  const ran = await run(`backup diff ${folder} live --csv ${join(home, 'back.csv')} -n`);
  expect([ran.code, ran.stderr]).toEqual([0, `Would write 0 applications to ${home}/back.csv.\n`]);
  expect(existsSync(join(home, 'back.csv'))).toBe(false);
});

test('a person reads it by resource', async () => {
  const { create, run, folder, records } = await desk();
  await create();
  records.players = [player(1, { role: 'Coach', updatedAt: '2026-11-20T10:00:00Z' }), player(3)];
  const ran = await run(`backup diff ${folder} live`, { ROSTERCTL_FORCE_TTY: '60' });
  expect(ran.stdout.split('\n').slice(1)).toEqual([
    '',
    'Players: 1 changed, 1 added, 1 removed',
    '~ Player 1 (player_1)',
    '    Role: - → Coach',
    '- Player 2 (player_2)',
    '+ Player 3 (player_3)',
    '',
  ]);
});

test('times are read as a person reads them', async () => {
  const { create, run, folder, records } = await desk();
  records.players = [player(1, { joinedAt: '2026-11-20T10:00:00Z' })];
  await create();
  records.players = [player(1, { joinedAt: '2026-11-21T11:30:00Z' })];
  const ran = await run(`backup diff ${folder} live`, { ROSTERCTL_FORCE_TTY: '80' });
  expect(ran.stdout).toContain('at: 20 Nov 2026, 10:00 UTC → 21 Nov 2026, 11:30 UTC\n');
});

/** A list of one player, with a number beyond those of JavaScript. */
const playerIn = (chat: string) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  text: `{"players":[{"id":"p","chat":${chat}}],"total":1}`,
});

test('absent and null are the same, and numbers are compared exactly', async () => {
  const { create, run, folder, records, world } = await desk();
  records.teams = [{ id: 'team_1', logo: null }];
  world.special = answering('/v1/players', playerIn('9007199254740993'));
  await create();
  records.teams = [{ id: 'team_1' }];
  expect(json(await run(`backup diff ${folder} live --json`)).differences).toEqual([]);
  world.special = answering('/v1/players', playerIn('9007199254740992'));
  expect(json(await run(`backup diff ${folder} live --json`)).differences).toHaveLength(1);
});

test('an unknown field is refused, also while nothing differs', async () => {
  const { create, run, folder } = await desk();
  await create();
  for (const flags of ['--fields nope', '--fields nope --json', '--template {nope}']) {
    const ran = await run(`backup diff ${folder} live ${flags}`);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
  }
  expect(await run(`backup diff ${folder} live --fields Name,id -o csv`)).toMatchObject({
    code: 0,
    stdout: 'name,id\r\n',
  });
});

test('--exit-code is 12 if something differs, and -q is silent if nothing does', async () => {
  const { create, run, folder, records } = await desk();
  await create();
  expect(await run(`backup diff ${folder} live -q --exit-code`)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
  records.players = [];
  expect((await run(`backup diff ${folder} live --exit-code`)).code).toBe(12);
  expect((await run(`backup diff ${folder} live`)).code).toBe(0);
});

test('what only one of them holds is not compared, and told', async () => {
  const { create, run, folder, api } = await desk();
  await create('--only players --no-files');
  api.requests.length = 0;
  const ran = await run(`backup diff ${folder} live --json`);
  expect(json(ran)).toMatchObject({ compared: ['players'], differences: [] });
  expect(api.requests).toHaveLength(1);
  expect(ran.stderr).toContain('Not compared');
});

test('a list that an incomplete snapshot may lack records of is reported, also with -q', async () => {
  const { create, run, folder, snapshots, world } = await desk();
  await create();
  world.special = answering('/v1/players', {
    status: 200,
    json: { players: [player(1)], total: 2 },
  });
  await create('--allow-partial');
  const [whole = '', part = ''] = snapshots().map((name) => join(folder, name));
  const ran = await run(`backup diff ${whole} ${part} -q --json`);
  expect(json(ran).differences).toMatchObject([{ id: 'player_2', change: 'removed' }]);
  expect(ran.stderr).toBe(
    `Players in ${snapshots()[1]}: the list may be incomplete: the service reports 2 records but sent 1.\n`,
  );
  expect((await run(`backup diff ${part} ${whole} --json`)).stderr).toBe(ran.stderr);
});

test('another organization, a list that may be incomplete and a damaged backup are refused', async () => {
  const { create, run, folder, snapshots, world } = await desk();
  await create();
  const strange = await run(`backup diff ${folder} live --json`, { ROSTERCTL_ORG: 'org_8' });
  expect([strange.code, errorOf(strange)['code']]).toEqual([2, 'usage']);
  world.special = answering('/v1/players', { status: 200, json: { players: [], total: 2 } });
  expect((await run(`backup diff ${folder} live`)).code).toBe(11);
  writeFileSync(join(folder, snapshots()[0] ?? '', 'manifest.json'), '{}');
  expect((await run(`backup diff ${folder} live`)).code).toBe(2);
});

test('a snapshot with records cut off, or edited, is damaged, for show as well', async () => {
  const { create, run, folder, snapshots } = await desk();
  await create();
  const file = join(folder, snapshots()[0] ?? '', 'players.ndjson');
  const lines = readFileSync(file, 'utf8');
  for (const text of [lines.slice(0, lines.indexOf('\n') + 1), '', lines.replace('1', '3')]) {
    writeFileSync(file, text);
    const ran = await run(`backup diff ${folder} live --json`);
    expect([ran.code, ran.stdout, errorOf(ran)['message']]).toEqual([2, '', `${file} is damaged.`]);
    const shown = await run(`backup show ${folder} player_2`);
    expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining('is damaged')]);
  }
});

test('--csv sets applications back, with the status that they have now as a guard', async () => {
  const { create, run, folder, home, records } = await desk();
  records.applications = [
    application(1, { status: 'pending', internalNotes: '=call' }),
    application(2, { status: 'shortlisted', internalNotes: null }),
    application(3),
    application(4, { name: 'Gone' }),
    application(5, { internalNotes: '' }),
  ];
  await create();
  const none = await run(`backup diff ${folder} live --csv ${join(home, 'none.csv')}`);
  expect(none.stderr).toBe(`0 applications in ${join(home, 'none.csv')}.\n`);
  records.applications = [
    application(1, { status: 'rejected', internalNotes: 'x' }),
    application(2, { status: 'shortlisted', internalNotes: 'y' }),
    application(3),
    application(5, { internalNotes: 'z' }),
  ];
  const file = join(home, 'back.csv');
  const toStdout = await run(`backup diff ${folder} live --csv -`);
  expect([toStdout.code, toStdout.stdout]).toEqual([2, '']);
  expect(toStdout.stderr).toContain('--csv needs a file');
  const ran = await run(`backup diff ${folder} live --csv ${file}`);
  expect([ran.code, ran.stderr]).toEqual([
    0,
    `3 applications in ${file}. Preview them: rosterctl tryouts set-status --csv ${file} --dry-run\n`,
  ]);
  expect(readFileSync(file, 'utf8').split('\r\n')).toEqual([
    'id,name,status,if_status,internalNotes',
    "app_1,Applicant 1,pending,rejected,'=call",
    'app_2,Applicant 2,,shortlisted,<clear>',
    'app_5,Applicant 5,,pending,<clear>',
    '',
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('--csv has no guard for a status that if_status does not take', async () => {
  const { create, run, folder, home, records } = await desk();
  records.applications = [application(1, { status: 'parked', internalNotes: 'old' })];
  await create();
  records.applications = [application(1, { status: 'parked', internalNotes: 'new' })];
  const file = join(home, 'back.csv');
  await run(`backup diff ${folder} live --csv ${file}`);
  expect(readFileSync(file, 'utf8').split('\r\n')[1]).toBe('app_1,Applicant 1,,,old');
});

test('only a document has a file, also where ids are numbers that every resource counts itself', async () => {
  const { create, run, folder, records } = await desk([paper('1', 'one')]);
  records.teams = [{ id: '1', name: 'Lanternfish' }];
  records.players = [player(1, { id: '1' })];
  await create();
  const ran = await run(`backup show ${folder} 1 --json`);
  expect(json(ran)).toHaveLength(3);
  expect(ran.stderr.match(/The file of/g)).toHaveLength(1);
});

test('show prints a record as it was, by id or reference', async () => {
  const { home, create, run, folder, snapshots, records } = await desk();
  await create();
  records.players = [player(1, { name: 'Renamed' })];
  await create();
  const [first = ''] = snapshots();
  const show = (words: string) => run(`backup show ${words} --json`);
  expect(json(await show(`${folder} player_1`))).toMatchObject({ name: 'Renamed' });
  expect(json(await show(`${join(folder, first)} player_1`))).toEqual(player(1));
  expect(json(await show(`${folder} email:P1@EXAMPLE.org`))).toMatchObject({ id: 'player_1' });
  const document = await show(`${folder} name:doc_2.txt`);
  expect(json(document)).toMatchObject({ id: 'doc_2' });
  expect(document.stderr).toMatch(/The file of doc_2: .*\/files\/[0-9a-f]{2}\/[0-9a-f]{64}\n/);
  records.applications = [application(1, { email: 'p1@example.org' })];
  await create();
  expect(json(await show(`${folder} email:p1@example.org`))).toMatchObject([
    { id: 'app_1' },
    { id: 'player_1' },
  ]);
  const table = (await run(`backup show ${folder} email:p1@example.org`)).stdout.split('\n');
  expect(table.map((row) => row.split('\t')[0])).toEqual(['id', 'app_1', 'player_1', '']);
  expect(table[0]?.split('\t')).toEqual(expect.arrayContaining(['status', 'formResponses']));
  expect((await show(`${folder} player_9`)).code).toBe(5);
  for (const name of ['2020-01-01T000000Z', 'NOSUCH']) {
    const unknown = await show(`${join(folder, name)} player_1`);
    expect(unknown.code).toBe(2);
    expect(errorOf(unknown).hint).toContain(snapshots().toReversed().join(', '));
  }
  const line = ['backup', 'show', folder, 'email:p1@example.org'];
  const { shown } = await converse(home, line, [], { NO_COLOR: '1', ROSTERCTL_PAGER: 'cat' });
  expect(shown.replaceAll('\r', '')).toMatch(
    /^Application app_1 in [^]*[^\n]\n\nPlayer player_1 in [^]*[^\n]\n$/,
  );
  const elsewhere = await show(`${join(folder, 'NOSUCH', 'b')} player_1`);
  expect(errorOf(elsewhere).hint).toContain('backup create');
});
