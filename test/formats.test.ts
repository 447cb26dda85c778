import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inProcess } from './support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

describe('a format that does not fit the result', () => {
  test.each([
    ['config set retries 2', 'config get retries'],
    ['profile use sandbox', 'profile list'],
  ])('%s -o ids makes the change, notes the missing ids and exits 0', async (line) => {
    const home = temporaryFolder();
    const base = '--base-url http://127.0.0.1:9/v1 --org o --key-stdin --no-check';
    await inProcess(`auth login --profile sandbox2 ${base}`, { home, stdin: 'key-of-ours' });
    const ran = await inProcess(`${line.replace('sandbox', 'sandbox2')} -o ids`, { home });
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toContain('This result has no ids.');
  });

  test('a stored key is not reported as a usage error', async () => {
    const line = 'auth login --base-url http://127.0.0.1:9/v1 --org o --key-stdin --no-check';
    for (const how of ['-o ids', '--fields nonsense']) {
      const ran = await inProcess(`${line} ${how}`, { stdin: 'key-of-ours' });
      expect(ran.code).toBe(0);
    }
  });

  test('a read without ids is a usage error', async () => {
    expect(await inProcess('doctor -o ids')).toMatchObject({ code: 2 });
  });
});

test('a record without an id does not affect the others, and is no success', async () => {
  const teams = [
    { id: 'team_1', name: 'A' },
    { name: 'B' },
    { id: '', name: '' },
    { id: '', name: 'D' },
    { id: 'team_3' },
  ];
  const service = await recordingService(() => ({ status: 200, json: teams }));
  const ran = await rosterctl('teams list -o ids', { env: service.env });
  expect(ran).toMatchObject({ code: 1, stdout: 'team_1\nteam_3\n' });
  expect(ran.stderr).toContain('3 records have no id and cannot be printed.');
  const all = await inProcess('teams list --json', { env: service.env });
  expect(JSON.parse(all.stdout)).toEqual(teams);
});

describe('a number that a double would print otherwise', () => {
  const body = '[{"id":9000000000000000001,"levels":[1.5,2.0,3,4]},{"id":12,"levels":[1,2,3,4]}]';
  const read = async (line: string, env = {}) => {
    const service = await recordingService(() => ({ status: 200, text: body }));
    const ran = await inProcess(`${line} -q`, { env: { ...service.env, ...env } });
    return [ran.code, ran.stdout];
  };

  test('is an id like any other for api -o ids', async () => {
    expect(await read('api things -o ids')).toEqual([0, '9000000000000000001\n12\n']);
  });

  test('is an element like any other in a line of --template and in a table', async () => {
    expect(await read('teams list --template {levels}')).toEqual([
      0,
      '1.5, 2.0, 3, 4\n1, 2, 3, 4\n',
    ]);
    const table = await read('teams list --fields levels', { ROSTERCTL_FORCE_TTY: '80' });
    expect(table).toEqual([0, 'Levels\n1, 2, 3, 4\n1.5, 2.0, 3, 4\n']);
  });
});

test('-o ids with an unknown field of --fields is a usage error, as in every format', async () => {
  const unknown = await inProcess('-p sandbox docs list -o ids --fields zork --limit 2');
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('Unknown field "zork".');
  const known = await inProcess('-p sandbox docs list -o ids --fields name --limit 2');
  expect(known).toMatchObject({ code: 0, stdout: 'doc_0006\ndoc_0003\n' });
});

test('-o ids of a result that is no list refuses an unknown field, too', async () => {
  const home = temporaryFolder();
  await inProcess('-p sandbox backup create kept --no-files', { home, cwd: home });
  for (const [line, id] of [
    ['check', 'app_0002'],
    ['person app_0064', 'app_0064'],
    ['backup diff kept live', ''],
  ] as const) {
    const unknown = await inProcess(`-p sandbox ${line} -o ids --fields zork`, { home, cwd: home });
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain('Unknown field "zork".');
    const plain = await inProcess(`-p sandbox ${line} -o ids`, { home, cwd: home });
    expect([plain.code, plain.stdout]).toEqual([0, expect.stringContaining(id)]);
  }
  const known = await inProcess('-p sandbox check -o ids --fields code', { home });
  expect([known.code, known.stdout]).toEqual([0, expect.stringContaining('app_0002\n')]);
});

test('-o ids of a report leaves out what has no record yet, or none that the service named', async () => {
  const home = temporaryFolder();
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(home, name), name);
  const upload = '-p sandbox docs upload a.txt b.txt -n -o ids';
  expect(await inProcess(upload, { home, cwd: home })).toMatchObject({ code: 0, stdout: '' });
  const stdin = 'email,name\nnew@example.org,New\n';
  const imported = '-p sandbox players import - --key email -n -o ids';
  expect(await inProcess(imported, { home, stdin })).toMatchObject({ code: 0, stdout: '' });
  const { env } = await recordingService(() => ({ status: 201, json: {} }));
  expect((await inProcess('players create --name New', { home, env })).code).toBe(0);
  const shown = await inProcess('runs show last -o ids', { home, env });
  expect(shown).toMatchObject({ code: 0, stdout: '' });
});

describe('a dry run of one record shows of it what the change would', () => {
  test.each([
    [
      'tryouts update app_0064 --status reviewing --fields id,status -o csv',
      'id,status\r\napp_0064,reviewing\r\n',
    ],
    [
      'tryouts update app_0064 --status reviewing --json --fields status',
      '{"status":"reviewing"}\n',
    ],
    ["tryouts update app_0064 --status pending --template '{id} {status}'", 'app_0064 pending\n'],
    ['tryouts update app_0064 --status reviewing -o ids', 'app_0064\n'],
    ['tryouts update app_0064 --status reviewing --json --fields dryRun', '{"dryRun":true}\n'],
    ['tryouts convert app_0064 -o ids', 'app_0064\n'],
    ['players delete player_0001 -o ids', 'player_0001\n'],
    ["players create --name New --template '{name}'", 'New\n'],
    ['players create --name New -o ids', ''],
    ["docs upload a.txt --template '{name}'", 'a.txt\n'],
    ['docs upload a.txt -o ids', ''],
  ])('%s', async (line, stdout) => {
    const home = temporaryFolder();
    writeFileSync(join(home, 'a.txt'), 'text');
    const ran = await inProcess(`-p sandbox ${line} -n`, { home, cwd: home });
    expect(ran).toMatchObject({ code: 0, stdout });
    if (line.includes('reviewing') && !line.includes('dryRun'))
      expect(ran.stderr).toContain('Would send PATCH /tryout-applications/app_0064\n');
  });

  test('an unknown field is a usage error', async () => {
    const ran = await inProcess(
      '-p sandbox teams update team_0001 --name A -n --fields nope --json',
    );
    expect([ran.code, errorOf(ran)['message']]).toEqual([2, 'Unknown field "nope".']);
  });
});

test('csv has the documented fields first, also those that no record has', async () => {
  const service = await recordingService(() => ({
    status: 200,
    json: [
      { zeal: 1, id: 'app_1', aim: 2, status: 'pending', gamerTags: [{ game: 'Chess' }] },
      { id: 'app_2', name: 'Ann' },
    ],
  }));
  const { stdout } = await inProcess('tryouts list -o csv', { env: service.env });
  const [header = ''] = stdout.split('\r\n');
  const empty = await recordingService(() => ({ status: 200, json: [] }));
  const documented = (await inProcess('tryouts list -o csv', { env: empty.env })).stdout.trimEnd();
  expect(header).toBe(`${documented.replace('gamerTags', 'gamerTags.0.game')},zeal,aim`);
  expect(header).toMatch(/^id,organizationId,/);
});

test.each([
  [
    'tryouts set-status --search nobody --to pending',
    'row,id,result,before,after,error,step,retryable,ref',
  ],
  ['docs download --search nothing', 'id,path,bytes'],
  ['docs download --search nothing --url', 'id,url,expiresAt'],
])('csv without a row keeps its header: %s', async (line, header) => {
  const ran = await inProcess(`-p sandbox ${line} -o csv -q`);
  expect(ran).toMatchObject({ code: 0, stdout: `${header}\r\n`, stderr: '' });
});

test('a number is printed as the service sent it, and is no change where it means the same', async () => {
  const player = '{"id":"pl_1","name":"A","rating":1.50,"fee":7.0,"far":1e2}';
  const service = await recordingService(({ url }) => ({
    status: 200,
    text: url.endsWith('pl_1') ? player : `{"players":[${player}],"total":1.0}`,
    headers: { 'content-type': 'application/json' },
  }));
  const { env } = service;
  expect((await rosterctl('players list --json', { env })).stdout).toBe(`[${player}]\n`);
  expect((await inProcess('players list -o csv', { env })).stdout).toContain('pl_1,A,1.50,7.0,1e2');
  expect((await inProcess('players get pl_1 --json', { env })).stdout).toBe(`${player}\n`);
  const same = '-F rating=1.5 -F fee=7 -F far=100';
  const updated = await rosterctl(`players update pl_1 ${same} --json`, { env });
  expect(updated).toMatchObject({ code: 0, stdout: `${player}\n` });
  expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('api prints no truncated JSON, and passes other text through', async () => {
  const cutOff = { status: 200, text: '[{"id":"a"},{"id":' };
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const service = await recordingService(({ url }) =>
    url.includes('players')
      ? { ...cutOff, headers: json }
      : { ...cutOff, headers: { 'content-type': 'text/plain' } },
  );
  for (const format of ['--json', '-o ndjson', ''])
    expect(await inProcess(`api players/{org} ${format}`, { env: service.env })).toMatchObject({
      code: 1,
      stdout: '',
    });
  const text = await rosterctl('api teams/{org}', { env: service.env });
  expect(text).toMatchObject({ code: 0, stdout: cutOff.text });
});

test('errors are printed in the format of the profile', async () => {
  const service = await recordingService(() => ({ status: 404, json: { error: 'notFound' } }));
  const home = temporaryFolder();
  await inProcess('config set output json', { home });
  const ran = await rosterctl('tryouts get nope', { home, env: service.env });
  expect([ran.code, errorOf(ran)]).toMatchObject([5, { code: 'notFound' }]);
});

test.each([
  'tryouts lst',
  'tryouts list --stauts x',
  'tryouts list --timeout 5',
  'tryouts get --no-input',
])('an error in the command line is printed in the format of the profile: %s', async (line) => {
  const home = temporaryFolder();
  await inProcess('config set output json', { home });
  const ran = await inProcess(line, { home });
  expect([ran.code, ran.stdout, errorOf(ran)]).toMatchObject([2, '', { code: 'usage' }]);
  const text = await inProcess(`${line} -o table`, { home });
  expect([text.code, text.stderr.startsWith('{')]).toEqual([2, false]);
});

describe('api', () => {
  const service = recordingService(({ url }) =>
    url === '/v1/text'
      ? { status: 200, text: 'no JSON', headers: { 'content-type': 'text/plain' } }
      : { status: 200, json: { a: 1 } },
  );

  test.each([
    ['api json -i --json --out file', /^HTTP\/1\.1 200 OK\n[^]*\n\n\{"a":1\}\n$/],
    ['api text -i --out file', /^HTTP\/1\.1 200 OK\n[^]*\n\nno JSON$/],
    ['api text --out file', /^no JSON$/],
    ['api json -i -o csv --out file', /\n\na\r\n1\r\n$/],
  ])('%s writes the complete output to the file', async (line, whole) => {
    const home = temporaryFolder();
    const ran = await inProcess(line, { home, cwd: home, env: (await service).env });
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(home, 'file'), 'utf8')).toMatch(whole);
  });

  test('a delete with an ambiguous response is unknown and never sent again', async () => {
    let nth = 0;
    const gone = await recordingService(() =>
      ++nth === 1 ? { status: 503 } : { status: 404, json: { error: 'notFound' } },
    );
    const ran = await inProcess('api players/p2 -X DELETE -y --json', gone);
    expect(ran).toMatchObject({ code: 10, stdout: '' });
    expect(gone.requests).toHaveLength(1);
  });
});

test('405 for a stated route is not blamed on an assumption', async () => {
  const service = await recordingService(() => ({ status: 405, json: {} }));
  expect((await inProcess('players list', service)).stderr).not.toContain('guess');
  const guessed = await inProcess('players delete p1 --yes', {
    env: (
      await recordingService(({ method }) =>
        method === 'GET' ? { status: 200, json: { id: 'p1' } } : { status: 405, json: {} },
      )
    ).env,
  });
  expect(guessed.stderr).toContain('rosterctl assumes DELETE /players/{id}');
});

test('doctor reports an invalid setting on a line of its own', async () => {
  const home = temporaryFolder();
  await inProcess('config set retries 2', { home });
  const path = join(home, '.config/rosterctl/config.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"2"', '"many"'));
  const ran = await inProcess('doctor --json', { home });
  expect(ran.code).toBe(1);
  const checks = JSON.parse(ran.stdout) as { check: string; result: string; detail: string }[];
  expect(checks.find(({ check }) => check === 'config')).toMatchObject({
    result: 'fail',
    detail: expect.stringContaining('retries'),
  });
});

test('help accepts the aliases of a verb', async () => {
  const { stdout } = await inProcess('help documents list');
  expect(await inProcess('help docs ls')).toMatchObject({ code: 0, stdout });
});

test('bundled short flags may end in one with a value, also before the noun', async () => {
  const ran = await rosterctl('-qp sandbox teams list -o ids');
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('team_0001') });
});

test.each(['teams.yaml', 'teams.yml', 'teams.md'])(
  '--out %s, an unsupported format, is rejected before anything is sent',
  async (file) => {
    const service = await recordingService(() => ({ status: 200, json: [] }));
    const ran = await inProcess(`teams list --out ${file}`, { env: service.env });
    expect([ran.code, service.requests.length]).toEqual([2, 0]);
    expect(ran.stderr).toBe(
      `--out cannot write ${file.slice(5)} files.\nUse .csv, .xlsx, .json or .ndjson, or choose the format with -o.\n`,
    );
    const home = temporaryFolder();
    await inProcess(`teams list -o json --out ${file}`, { env: service.env, home, cwd: home });
    expect(readFileSync(join(home, file), 'utf8')).toBe('[]\n');
  },
);

test.each([
  ['-o', '--output: "roster card.PDF" is not a format.'],
  ['--out', '--out cannot write .pdf files.'],
])('%s with the name of a document is told how to save one', async (flag, message) => {
  const ran = await inProcess(['docs', 'download', 'doc_1', flag, 'roster card.PDF']);
  const hint = "To save a document: rosterctl documents download ID -O 'roster card.PDF'";
  expect(ran).toMatchObject({ code: 2, stdout: '', stderr: `${message}\n${hint}\n` });
});

test('--out rows.jsonl holds NDJSON', async () => {
  const service = await recordingService(() => ({ status: 200, json: [{ id: 'a' }, { id: 'b' }] }));
  const home = temporaryFolder();
  await inProcess('teams list --out rows.jsonl', { env: service.env, home, cwd: home });
  expect(readFileSync(join(home, 'rows.jsonl'), 'utf8')).toBe('{"id":"a"}\n{"id":"b"}\n');
});
