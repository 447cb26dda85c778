import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, keep } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';
import { report, userOf } from './user.js';

const bodies = (service: Awaited<ReturnType<typeof keep>>) =>
  service.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }): unknown => JSON.parse(body.toString()));

/** The ids of a report, sorted. */
const idsIn = (ran: { stdout: string }) =>
  report(ran)
    .results.map(({ id }) => id)
    .toSorted();

/** A separate in-process sandbox for each test. */
function sandbox(start: typeof rosterctl = inProcess) {
  const home = temporaryFolder();
  return {
    home,
    run: (line: string, stdin = '') => start(`-p sandbox ${line}`, { home, stdin }),
    ids: async (line: string) =>
      (await start(`-p sandbox ${line} -o ids`, { home })).stdout.trim().split('\n'),
  };
}

describe('list filters select rows for writes', () => {
  test('players by --team', async () => {
    const { run, ids } = sandbox(rosterctl);
    const wanted = await ids('players list --team team_0001');
    expect(wanted.length).toBeGreaterThan(1);
    const updated = await run('players update --team team_0001 -F role=Coach --yes --json');
    expect(updated.code).toBe(0);
    expect(idsIn(updated)).toEqual(wanted.toSorted());
    const all = `--yes --expect ${wanted.length}`;
    const deleted = await run(`players delete --team team_0001 ${all} --json`);
    expect(report(deleted).summary).toMatchObject({ total: wanted.length, changed: wanted.length });
    expect((await run('players list --team team_0001 --json')).stdout).toBe('[]\n');
  });

  test.each([
    [
      'tryouts set-status --status pending --to rejected --game Valorantt',
      'No application is pending with game Valorantt. Did you mean Valorant? Games here: ',
    ],
    ['docs delete --tag contrac', 'No document has the tag contrac. Did you mean contract? Tags'],
  ])('%s says which there are, and changes nothing', async (line, says) => {
    const { run } = sandbox();
    const ran = await run(`${line} --yes --json`);
    expect([ran.code, report(ran).results]).toEqual([0, []]);
    expect(ran.stderr).toContain(says);
    expect(ran.stderr.match(/ here: /g)).toHaveLength(1);
    expect((await run(`${line} --yes -q`)).stderr).toBe('');
  });

  test('documents by --type and --tag; on an update --tag is the new value', async () => {
    const { run, ids } = sandbox();
    const images = await ids('docs list --type image/');
    const updated = await run('docs update --type image/ --tag picture --yes --json');
    expect(updated.code).toBe(0);
    expect(idsIn(updated)).toEqual(images.toSorted());
    expect(await ids('docs list --tag picture')).toEqual(images);
    const alone = await run('docs update --tag picture --yes --json');
    expect(alone).toMatchObject({ code: 2, stdout: '' });
    const deleted = await run('docs delete --tag picture --type image/png --yes --json');
    expect(deleted.code).toBe(0);
    expect((await ids('docs list --type image/png')).join('')).toBe('');
    const rest = (await ids("docs list --where 'tags=picture'")).filter(Boolean);
    expect(rest.length + report(deleted).results.length).toBe(images.length);
  });
});

describe('a CSV selects records to delete', () => {
  test('as an export reduced to some rows; records changed since are left alone', async () => {
    const { run, home } = sandbox();
    const file = join(home, 'players.csv');
    await run(`players list -o csv --out ${file}`);
    const [header = '', ...rows] = readFileSync(file, 'utf8').trimEnd().split('\r\n');
    const [first = '', second = '', third = ''] = rows;
    writeFileSync(file, [header, first, second, third].join('\r\n'));
    const [id = ''] = second.split(',');
    await run(`players update ${id} -F role=Sub --yes`);
    const ran = await run(`players delete --csv ${file} --yes --expect 3 --json`);
    expect(ran.code).toBe(8);
    expect(ran.stderr).toContain('Columns that are not sent: organizationId, ');
    expect(report(ran).results.map(({ result }) => result)).toEqual([
      'changed',
      'conflict',
      'changed',
    ]);
    expect((await run(`players get ${id}`)).code).toBe(0);
  });

  test('also documents; an unknown column is refused before any request', async () => {
    const { run, ids } = sandbox();
    const [first = ''] = await ids('docs list');
    const refused = await run('docs delete --csv - --yes --json', `id,keep\n${first},yes\n`);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(refused)['message']).toContain('"keep"');
    const ran = await run('docs delete --csv - --yes --json', `id;name\n${first};whatever\n`);
    expect(report(ran).results).toMatchObject([{ id: first, row: 2, result: 'changed' }]);
    expect(await ids('docs list')).not.toContain(first);
  });
});

test.each([
  ['NDJSON', (ids: readonly number[]) => ids.map((id) => `{"id":${id}}\n`).join('')],
  ['a JSON array', (ids: readonly number[]) => JSON.stringify(ids)],
])('%s may name records by ids that are numbers, as a service sends them', async (_, write) => {
  const players = new Map([1, 2, 3].map((id) => [String(id), { id, role: 'IGL' }]));
  const service = await recordingService(({ method, url, body }) => {
    const player = players.get(url.split('/').at(-1) ?? '');
    if (player && method === 'PATCH') Object.assign(player, JSON.parse(body.toString()));
    return player ? { status: 200, json: player } : { status: 404, json: { error: 'notFound' } };
  });
  const line = 'players update --ids - -F role=sub --yes -o ids -q';
  const home = temporaryFolder();
  const ran = await rosterctl(line, { env: service.env, home, stdin: write([1, 3]) });
  expect([ran.code, ran.stdout]).toEqual([0, '1\n3\n']);
  expect([...players.values()].map(({ role }) => role)).toEqual(['sub', 'IGL', 'sub']);
});

const refusedSources: readonly (readonly [line: string, stdin: string, says: string])[] = [
  ['tryouts set-status app_0001 --key email --to accepted', '', '--key needs --csv.\n'],
  ['docs delete --csv - --key email', 'email\na@b.org\n', '--key email does not find documents. '],
  [
    'docs delete --ids -',
    'tag:legal\n',
    'Line 1: documents are found by id or name:, not by tag:.',
  ],
  ['docs delete --ids -', '[{"id":"doc_0001"},', 'stdin is not valid JSON: '],
  [
    'docs update --csv - --map Titel=name',
    'id,Name\ndoc_0001,x\n',
    '--map "Titel": the file has no such column.\nIt has: id, Name.',
  ],
];

test.each(refusedSources)('%s with %j is refused', async (line, stdin, says) => {
  const ran = await sandbox().run(`${line} --yes`, stdin);
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(ran.stderr).toContain(says);
});

test('a column without a head and without cells is none', async () => {
  const { run } = sandbox();
  const ran = await run('docs update --csv - --yes --json', 'id,name,\ndoc_0001,Rules,\n');
  expect(report(ran).results).toMatchObject([{ id: 'doc_0001', after: { name: 'Rules' } }]);
});

test('a report of more than a thousand rows is one JSON value', async () => {
  const ids = Array.from({ length: 2_001 }, (_, index) => `none_${index}`);
  const ran = await sandbox().run('players delete --ids - -n --json', ids.join('\n'));
  expect(report(ran).results.map(({ id }) => id)).toEqual(ids);
});

test('an unknown column type is refused before any request', async () => {
  const { run } = sandbox();
  const ran = await run('players update --csv - --yes --json', 'id,age:number\np1,5\n');
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(errorOf(ran)).toMatchObject({ hint: 'Did you mean age:int?' });
});

test('a column named like a property of every object is a field like any other', async () => {
  const { run, ids } = sandbox();
  const [id = ''] = await ids('players list');
  const ran = await run('players update --csv - --dry-run --json', `id,age:constructor\n${id},5\n`);
  expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('type')]);
  expect(report(ran).results).toMatchObject([{ after: { 'age:constructor': '5' } }]);
});

test('a JSON cell keeps every digit of its numbers', async () => {
  const service = await recordingService(({ body }) => ({
    status: 200,
    text: body.length > 0 ? `{"id":"p1",${body.toString().slice(1)}` : '{"id":"p1","name":"Ann"}',
  }));
  const cells = 'id,chat:json\np1,12345678901234567890\n';
  const ran = await userOf(service, inProcess).run('players update --csv - --yes --json', cells);
  expect([ran.code, ran.stdout]).toEqual([
    0,
    expect.stringContaining('"after":{"chat":12345678901234567890}'),
  ]);
  expect(service.requests.at(-1)?.body.toString()).toBe('{"chat":12345678901234567890}');
});

describe('tryouts convert --csv', () => {
  test('respects if_status and updatedAt, and sends the fields of each row', async () => {
    const service = await keep([
      application('app_1'),
      application('app_2', { status: 'accepted' }),
      application('app_3', { status: 'accepted', updatedAt: '2026-04-01T10:00:00Z' }),
      application('app_4', { status: 'accepted' }),
    ]);
    const ran = await userOf(service, inProcess).run(
      'tryouts convert --csv - --yes --json',
      'id,if_status,updatedAt,teamId,number:int\n' +
        'app_1,accepted,,team_1,1\n' +
        'app_2,accepted,2026-03-01T10:00:00Z,team_1,7\n' +
        'app_3,accepted,2026-03-01T10:00:00Z,team_1,8\n' +
        'app_4,,,,\n',
    );
    expect(ran.code).toBe(8);
    expect(report(ran).results.map(({ result }) => result)).toEqual([
      'skipped',
      'changed',
      'conflict',
      'changed',
    ]);
    expect(bodies(service)).toEqual([
      { organizationId: 'org_7', teamId: 'team_1', number: 7 },
      { organizationId: 'org_7' },
    ]);
  });

  test('of an export sends nothing but the conversion, whatever the service adds to its records', async () => {
    const service = await keep([application('app_1', { legacyRank: 'A' }), application('app_2')]);
    const user = userOf(service);
    const file = join(user.home, 'x.csv');
    await user.run(`tryouts list -o csv --out ${file}`);
    const ran = await user.run(`tryouts convert --csv ${file} --yes --json`);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('legacyRank');
    expect(bodies(service)).toEqual([{ organizationId: 'org_7' }, { organizationId: 'org_7' }]);
  });

  test('detects a misspelled column', async () => {
    const service = await keep([application('app_1')]);
    const ran = await userOf(service, inProcess).run(
      'tryouts convert --csv - --yes --json',
      'id,if_statuss\napp_1,accepted\n',
    );
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('if_status');
  });
});

test.each([
  ['id', '1.23457E+17,x'],
  ['discordUserId', 'player_0002,1.23457E+17'],
  ['discordUserId', 'player_0002,"1,23457E+17"'],
  ['discordUserId', 'player_0002,1E+11'],
])(
  'a long number that a spreadsheet shortened in %s is refused with its line number',
  async (column, row) => {
    const { run } = sandbox();
    const csv = `id,discordUserId\nplayer_0001,1e3\n${row}\n`;
    const ran = await run('players update --csv - --yes --json', csv);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)).toMatchObject({
      message: expect.stringContaining(`Line 3: ${column} holds`),
    });
    expect((await run('runs list --json')).stdout).toBe('[]\n');
  },
);

test('a CSV whose cells are all blank changes nothing; without a column to set it is refused', async () => {
  const { run } = sandbox();
  for (const line of ['tryouts set-status', 'tryouts update']) {
    const blank = await run(`${line} --csv - --yes --json`, 'id,status\napp_0003,\napp_0004,\n');
    expect([blank.code, report(blank).summary]).toMatchObject([0, { total: 2, unchanged: 2 }]);
    const bare = await run(`${line} --csv - --yes`, 'id,if_status\napp_0003,pending\n');
    expect(bare).toMatchObject({ code: 2, stdout: '' });
  }
});

test('with --csv-raw a text that looks like a shortened number stays text', async () => {
  const { run } = sandbox();
  const csv = 'id,discordUserId\nplayer_0001,1.23457E+17\n';
  const ran = await run('players update --csv - --csv-raw --yes --json', csv);
  expect(ran.code).toBe(0);
  expect(report(ran).results).toMatchObject([{ after: { discordUserId: '1.23457E+17' } }]);
});

test('notes that read like a mark or a spreadsheet error come back unchanged with --csv-raw', async () => {
  const { run } = sandbox();
  for (const [id, note] of [
    ['app_0003', '<clear>'],
    ['app_0004', '#N/A'],
  ])
    await run(`tryouts update ${id} --note ${note} --yes`);
  const csv = 'id,internalNotes\napp_0003,<clear>\napp_0004,#N/A\n';
  const same = await run('tryouts update --csv - --csv-raw --yes --json', csv);
  expect([same.code, report(same).summary]).toMatchObject([0, { unchanged: 2 }]);
  const cleared = await run(
    'tryouts update --csv - --csv-raw -n --json',
    csv.replace('#N/A', '<clear>'),
  );
  expect(report(cleared).results).toMatchObject([
    { result: 'unchanged' },
    { result: 'would_change', after: { internalNotes: null } },
  ]);
  const wrong = await run(
    'tryouts update --csv - --csv-raw -n --json',
    csv.replace('<clear>', '#REF!'),
  );
  expect([wrong.code, errorOf(wrong)]).toMatchObject([
    2,
    {
      message: 'Line 2: internalNotes holds the spreadsheet error #REF!.',
      hint: 'Fix the cell, or empty it to leave the field as it is; then save the CSV again.',
    },
  ]);
});

describe('a file that is not a CSV is refused while it is still arriving', () => {
  test.each([
    ['a long JSON array on one line', `[${'{"id":"app_1"},'.repeat(100_000)}`, 'longer than 1 MiB'],
    ['an image', 'GIF89a\u0001\u0000\u0001\u0000', 'Line 1: there is a NUL character'],
    [
      'a CSV with --sheet',
      'id,status\n',
      'is not a workbook',
      'tryouts set-status --csv - --sheet A',
    ],
    [
      'a JSON array of records',
      `[${'{"id":"a"},'.repeat(9)}`,
      'a JSON array',
      'players import - --key id',
    ],
  ])('%s', async (_, begun, sentence, words = 'tryouts set-status --csv - --to rejected') => {
    const service = await recordingService(() => ({ status: 200, json: [] }));
    const child = userOf(service).start(`${words} --yes`);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdin.on('error', () => {});
    child.stdin.write(begun);
    const code = await closed(child);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    expect(service.requests).toEqual([]);
  });
});
