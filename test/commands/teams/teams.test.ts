import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import {
  errorOf,
  rosterctl,
  startLine,
  startRosterctl,
  temporaryFolder,
} from '../../support/run.js';
import { type Recorded, type Reply, recordingService } from '../../support/service.js';

const foxes = {
  id: 'team_1',
  organizationId: 'org_7',
  name: 'Foxes',
  social: { web: 'a', mail: 'b' },
  tags: ['x'],
  captainDiscordId: '9000000000000000001',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
};

/** A service with one team; `special` answers first. */
function service(special: (request: Recorded) => Reply | undefined = () => undefined) {
  const missing = { status: 404, json: { error: 'notFound' } };
  let team: typeof foxes | undefined = foxes;
  const changed = ({ body }: Recorded): Reply => {
    const { organizationId: _, ...fields } = JSON.parse(body.toString()) as Partial<typeof foxes>;
    team = { ...(team ?? foxes), ...fields };
    return { status: 200, json: team };
  };
  return recordingService((request) => {
    const usual: Record<string, () => Reply> = {
      'GET /v1/teams/org_7': () => ({ status: 200, json: { teams: team ? [team] : [] } }),
      'GET /v1/teams/org_7/team_1': () => (team ? { status: 200, json: team } : missing),
      'POST /v1/teams': () => ({ status: 201, json: foxes }),
      'PATCH /v1/teams/team_1': () => changed(request),
      'PUT /v1/teams/team_1': () => changed(request),
      'PUT /v1/teams/org_7/team_1': () => changed(request),
      'DELETE /v1/teams/team_1': () => {
        team = undefined;
        return { status: 204 };
      },
    };
    return special(request) ?? usual[`${request.method} ${request.url}`]?.() ?? missing;
  });
}

function wire(requests: readonly Recorded[]): unknown[] {
  return requests.map(({ method, url, body }) =>
    body.length > 0 ? [`${method} ${url}`, JSON.parse(body.toString())] : [`${method} ${url}`],
  );
}

test('several ids print those found, report the missing one and exit 5', async () => {
  const { env } = await service();
  const ran = await rosterctl('teams get team_1 team_9 --json', { env });
  expect(ran.code).toBe(5);
  expect(JSON.parse(ran.stdout)).toEqual([foxes]);
  expect(ran.stderr).toContain('team_9');
});

test('several ids report the one whose response was another record, print the others and exit 1', async () => {
  const api = await recordingService(({ url }) => {
    const id = url.split('/').at(-1) ?? '';
    if (id === 'team_9') return { status: 404, json: { error: 'notFound' } };
    return { status: 200, json: { ...foxes, id: id === 'team_2' ? 'team_3' : id } };
  });
  const ran = await inProcess('teams get team_1 team_2 team_9 team_4 --json', { env: api.env });
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stdout)).toEqual([foxes, { ...foxes, id: 'team_4' }]);
  const said = 'The service answered with another record for the team team_2.';
  expect(ran.stderr.split('\n').slice(0, 2)).toEqual([said, 'The team team_9 was not found.']);
  expect(errorOf(ran)).toMatchObject({ code: 'otherRecord', message: said, exitCode: 1 });
});

test.each([
  [
    'null',
    200,
    'null',
    'The answer to GET /teams/{organizationId}/{teamId} (200) contains no record',
  ],
  ['an empty answer', 200, '', 'The answer from ORIGIN is empty.'],
  ['204', 204, '', 'The answer from ORIGIN is empty.'],
])(
  'a service that answers with %s instead of 404 may have no such record',
  async (_, status, text, says) => {
    const api = await recordingService(({ url }) =>
      url.endsWith('team_1') ? { status: 200, json: foxes } : { status, text },
    );
    const one = await inProcess('teams get team_9 --json', { env: api.env });
    expect([one.code, one.stdout]).toEqual([1, '']);
    const { message, hint } = errorOf(one);
    expect(message).toContain(says.replace('ORIGIN', api.origin));
    expect(message).toMatch(/ There may be no team team_9\.$/);
    expect(hint).toBe('See: rosterctl teams list');
    const two = await inProcess('teams get team_9 team_1 --json', { env: api.env });
    expect([two.code, JSON.parse(two.stdout)]).toEqual([1, [foxes]]);
    expect(two.stderr).toContain('There may be no team team_9.\n');
    const change = await inProcess('teams update team_9 --name B --yes --json', { env: api.env });
    expect([change.code, errorOf(change).hint]).toEqual([1, 'See: rosterctl teams list']);
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  },
);

test('--no-header omits the header of tables and csv, and -L is --limit', async () => {
  const teams = ['a', 'b', 'c'].map((name) => ({ id: `team_${name}`, name }));
  const { env } = await recordingService(() => ({ status: 200, json: teams }));
  const shown = async (line: string, own: Record<string, string> = {}) =>
    (await inProcess(line, { env: { ...env, ...own } })).stdout;
  expect(await shown('teams list -L 2 --no-header')).toBe('team_a\ta\nteam_b\tb\n');
  expect(await shown('teams list -o csv --no-header -L 1')).toBe('team_a,a\r\n');
  expect(await shown('teams list -L1 -o csv --no-header --bom')).toBe('\ufeffteam_a,a\r\n');
  expect(await shown('teams list --limit=1')).toBe('id\tname\nteam_a\ta\n');
  const none = await recordingService(() => ({ status: 200, json: [] }));
  expect((await inProcess('teams list --no-header', { env: none.env })).stdout).toBe('');
});

test('one missing id prints nothing on stdout', async () => {
  const { env } = await service();
  const ran = await inProcess('teams get team_9 --json', { env });
  expect([ran.code, ran.stdout]).toEqual([5, '']);
  expect(errorOf(ran)).toMatchObject({ code: 'notFound', status: 404, exitCode: 5 });
});

test('an update sends only fields that differ, and a nested field keeps its siblings', async () => {
  const api = await service();
  const ran = await rosterctl(
    'teams update team_1 --name Foxes -F social.web=c -F tags[]=x -F size=5 -f code=07',
    { env: api.env },
  );
  expect(ran.code).toBe(0);
  expect(wire(api.requests)).toEqual([
    ['GET /v1/teams/org_7/team_1'],
    ['PATCH /v1/teams/team_1', { social: { web: 'c', mail: 'b' }, size: 5, code: '07' }],
    ['GET /v1/teams/org_7/team_1'],
  ]);
});

test('an update that changes nothing sends nothing', async () => {
  const api = await service();
  const ran = await inProcess(`teams update team_1 --name Foxes -F 'tags=["x"]' --json`, {
    env: api.env,
  });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual(foxes);
  expect(wire(api.requests)).toEqual([['GET /v1/teams/org_7/team_1']]);
  expect(ran.stderr).toContain('nothing was sent');
});

test('a dry run of an update prints the request and old and new, and sends no write', async () => {
  const api = await service();
  const ran = await inProcess('teams update team_1 --name Hens -n --json', { env: api.env });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual({
    schema: 1,
    dryRun: true,
    requests: [
      { method: 'PATCH', path: '/teams/team_1', basis: 'assumed', body: { name: 'Hens' } },
    ],
    changes: [{ id: 'team_1', field: 'name', from: 'Foxes', to: 'Hens' }],
  });
  expect(api.requests.map(({ method }) => method)).toEqual(['GET']);
});

test('--route replaces the assumed route for one request', async () => {
  const api = await service();
  const line = ['teams', 'update', 'team_1', '--name', 'Hens', '--route'];
  const ran = await inProcess([...line, 'PUT /teams/{organizationId}/{id}'], { env: api.env });
  expect(ran.code).toBe(0);
  expect(wire(api.requests)[1]).toEqual(['PUT /v1/teams/org_7/team_1', { name: 'Hens' }]);
  const sent = api.requests.map(({ method, url }) => `${method} ${url}`);
  // What a PUT replaced is compared with a read.
  const read = 'GET /v1/teams/org_7/team_1';
  expect(sent).toEqual([read, 'PUT /v1/teams/org_7/team_1', read, read]);
  const elsewhere = ['--name', 'Geese', '--route', 'PUT https://elsewhere.example.com/{id}'];
  const bad = await inProcess(['teams', 'update', 'team_1', ...elsewhere], {
    env: api.env,
  });
  expect(bad.code).toBe(2);
  expect(api.requests).toHaveLength(sent.length);
});

test('an update with replace semantics sends the entire record', async () => {
  const api = await service();
  const home = temporaryFolder();
  for (const line of [
    ['config', 'set', 'endpoints.teams.update', 'PUT /teams/{id}'],
    ['config', 'set', 'endpoints.teams.update.semantics', 'replace'],
    ['config', 'set', 'readOnly.teams', 'captainDiscordId, tags'],
  ])
    expect(await inProcess(line, { home })).toMatchObject({ code: 0 });
  const ran = await inProcess('teams update team_1 --name Hens', { env: api.env, home });
  expect(ran.stderr).not.toContain('guess');
  expect(wire(api.requests)[1]).toEqual([
    'PUT /v1/teams/team_1',
    { name: 'Hens', social: foxes.social },
  ]);
});

test('a team that may not be read is not changed, and the hint names another way', async () => {
  const api = await service(({ method }) =>
    method === 'GET' ? { status: 403, json: { error: 'forbidden' } } : undefined,
  );
  const ran = await inProcess('teams update team_1 --name Hens --json', { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([7, '']);
  expect(api.requests.map(({ method }) => method)).toEqual(['GET']);
  expect(errorOf(ran)['hint']).toContain('rosterctl api /teams/team_1 -X PATCH');
});

test('an assumed route unknown to the service is not reported as a missing team', async () => {
  const api = await service(({ method }) =>
    method === 'PATCH' ? { status: 404, json: { error: 'notFound' } } : undefined,
  );
  const ran = await inProcess('teams update team_1 --name Hens --json', { env: api.env });
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe('');
  expect(errorOf(ran)).toMatchObject({ code: 'wrongRoute', status: 404 });
  expect(String(errorOf(ran)['hint'])).toContain('endpoints.teams.update');
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'PATCH', 'GET']);
});

test.each(['update org_7 --name X', 'delete org_7 --confirm X'])(
  'teams %s is rejected before any request, because the id is the organization',
  async (line) => {
    const api = await service();
    const ran = await inProcess(`teams ${line}`, { env: api.env });
    expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
  },
);

test.each([
  'teams create',
  'teams update team_1',
  "teams create --name ''",
  "teams create --name ' '",
  "teams update team_1 --name ''",
  "teams get ''",
  'teams get ..',
  'teams update team_1 -F name',
  'teams update team_1 -F a=1 -F a=2',
  'teams update team_1 --name X -F name=Y',
  'teams update team_1 -F organizationId=org_8',
  'teams update team_1 --input missing.json',
  'teams delete team_1 team_2',
])('%s exits 2 without a request', async (line) => {
  const api = await service();
  const ran = await inProcess(`${line} --json`, { env: api.env });
  expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
  expect(errorOf(ran)).toMatchObject({ exitCode: 2 });
});

test('a create prints the record as the documented read returns it', async () => {
  const api = await service(({ method }) =>
    method === 'POST' ? { status: 201, json: { team: { id: 'team_1' } } } : undefined,
  );
  const ran = await rosterctl('teams create --name Foxes --json', { env: api.env });
  expect(JSON.parse(ran.stdout)).toEqual(foxes);
});

test('a create that is answered with another record says which field differs', async () => {
  const api = await service();
  const ran = await inProcess('teams create --name Herons --json', { env: api.env });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, foxes]);
  expect(ran.stderr).toBe(
    'The team was created as team_1, but the service stored a different name.\n',
  );
});

test('a create names the field that the service does not show, as an update does', async () => {
  const api = await service();
  const ran = await inProcess('teams create --name Foxes -F nick=fx --json', { env: api.env });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, foxes]);
  expect(ran.stderr).toBe(
    'The service does not show nick, so it is not known whether it was stored.\n',
  );
});

test('an update that the service answers but does not keep says so', async () => {
  const api = await service(({ method }) =>
    method === 'PATCH' ? { status: 200, json: { ...foxes, name: 'Herons' } } : undefined,
  );
  const ran = await inProcess('teams update team_1 --name Herons --json', { env: api.env });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, foxes]);
  expect(ran.stderr).toContain(
    'team_1: the service confirmed the change, but reading it again shows a different name.\n',
  );
});

test.each([
  [{ status: 202, json: { jobId: 'job_1' } }, 'POST /teams returned 202 and no record.'],
  [{ status: 207, json: { results: [] } }, 'POST /teams returned 207 and no record.'],
  [
    { status: 200, json: { status: 403, message: 'Not yours' } },
    'POST /teams returned 200 and an error code (Not yours).',
  ],
])('a create answered with %j is no success', async (reply, sentence) => {
  const api = await service(({ method }) => (method === 'POST' ? reply : undefined));
  const env = { ...api.env, ROSTERCTL_SETTLE: '0.1s' };
  const ran = await inProcess('teams create --name Herons', { env });
  expect([ran.code, ran.stdout]).toEqual([10, '']);
  expect(ran.stderr).toContain(sentence);
});

test('the status that a refusal repeats in its body is said once', async () => {
  const json = { type: 'about:blank', title: 'Bad', status: 400 };
  const api = await service(() => ({ status: 400, json }));
  const ran = await inProcess('teams get team_1', { env: api.env });
  expect(ran.stderr).toContain('The service rejected the request: 400.\n');
});

test('a create whose record cannot be read back succeeds nevertheless', async () => {
  const api = await service(({ method }) =>
    method === 'GET' ? { status: 403, json: { error: 'forbidden' } } : undefined,
  );
  const ran = await inProcess('teams create --name Foxes --json', { env: api.env });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual(foxes);
  expect(ran.stderr).toBe(
    'The team was created, but it could not be read again: The service refused to read team team_1 (forbidden).\n',
  );
});

test('a create that is answered with a record of another organization is not known to be done', async () => {
  const api = await service(({ method }) =>
    method === 'POST' ? { status: 201, json: { ...foxes, organizationId: 'org_8' } } : undefined,
  );
  const ran = await inProcess('teams create --name Foxes --json', { env: api.env });
  expect([ran.code, ran.stdout, errorOf(ran)['code']]).toEqual([10, '', 'unknownOutcome']);
});

test('a lost create is waited for once and not said to be checked, because no read can tell', async () => {
  const api = await service(({ method }) => (method === 'POST' ? { status: 500 } : undefined));
  const env = { ...api.env, ROSTERCTL_SETTLE: '2.2s' };
  const ran = await inProcess('teams create --name Foxes', { env });
  expect(ran.code).toBe(10);
  expect(ran.stderr).toMatch(
    /^Waiting [\d.]+ s, because the change may still take effect\.\nPOST \/teams failed/,
  );
  expect(ran.stderr).not.toContain('Checking');
  expect(api.requests.map(({ method }) => method)).toEqual(['POST']);
});

test('a lost create that a later command looked for is not waited for again', async () => {
  const api = await service(({ method }) => (method === 'POST' ? { status: 500 } : undefined));
  const at = { env: { ...api.env, ROSTERCTL_SETTLE: '2.2s' }, home: temporaryFolder() };
  const line = 'teams create --name Foxes';
  for (let times = 0; times < 2; times += 1) expect((await rosterctl(line, at)).code).toBe(10);
  const third = await rosterctl(line, at);
  expect(third.code).toBe(10);
  expect(third.stderr).not.toContain('Waiting');
});

test('a create does not wait for another one whose answer is still out', async () => {
  const slowService = await recordingService(({ method, body }) => {
    if (method === 'GET') return { status: 200, json: { id: 'team_2', name: 'Owls' } };
    const { name } = JSON.parse(body.toString()) as { name: string };
    return name === 'Foxes' ? () => {} : { status: 201, json: { id: 'team_2', name } };
  });
  const home = temporaryFolder();
  const slow = startRosterctl('teams create --name Foxes', { env: slowService.env, home });
  while (!slowService.requests.some(({ method }) => method === 'POST'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  const { code, stderr } = await rosterctl('teams create --name Owls', {
    env: slowService.env,
    home,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  slow.kill('SIGKILL');
});

test('the same create typed twice at once waits for the first, which is named in words', async () => {
  const slowService = await recordingService(() => () => {});
  const home = temporaryFolder();
  const line = 'teams create --name Foxes';
  const slow = startRosterctl(line, { env: slowService.env, home });
  while (!slowService.requests.some(({ method }) => method === 'POST'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  const second = startLine(line, { env: slowService.env, home });
  while (second.stderr() === '') await new Promise((resolve) => setTimeout(resolve, 10));
  expect(second.stderr()).toMatch(/^The same command is running \(run .*\)\. Waiting for it\.$/m);
  second.kill('SIGKILL');
  slow.kill('SIGKILL');
});

test('a create whose response has no record notes it and exits 0', async () => {
  const api = await service(({ method }) => (method === 'POST' ? { status: 204 } : undefined));
  const ran = await inProcess('teams create --name Foxes', { env: api.env });
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('the service sent no record');
  expect(api.requests).toHaveLength(1);
});

test('a body comes from a file, flags override it, and fields set by the service are omitted', async () => {
  const api = await service();
  const home = temporaryFolder();
  writeFileSync(
    join(home, 'team.yaml'),
    [
      'id: team_0',
      'organizationId: org_7',
      'name: Old',
      'createdAt: 2020-01-01',
      'captainDiscordId: 9000000000000000001',
      'code: 07',
      'size: 5',
      '__proto__: { polluted: true }',
    ].join('\n'),
  );
  const ran = await inProcess('teams create --input team.yaml --name New', {
    env: api.env,
    home,
    cwd: home,
  });
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('id, createdAt');
  expect(api.requests[0]?.body.toString()).toBe(
    '{"organizationId":"org_7","name":"New","captainDiscordId":"9000000000000000001","code":"07","size":5,"__proto__":{"polluted":true}}',
  );
});

test('a body leaves out the id under its configured name and the fields configured as read-only', async () => {
  const api = await service();
  const home = temporaryFolder();
  const run = (line: string, stdin = '') => inProcess(line, { env: api.env, home, stdin });
  await run('config set ids.teams _id');
  await run('config set readOnly.teams rank');
  const body = '{"_id":"team_0","name":"New","rank":3,"createdAt":"2020-01-01"}';
  const ran = await run('teams create --input - --json', body);
  expect(ran.stderr).toContain('Not sent (set by the service): createdAt, rank, _id.');
  const [post] = api.requests.filter(({ method }) => method === 'POST');
  expect(post?.body.toString()).toBe('{"organizationId":"org_7","name":"New"}');
});

test('a body of another organization is rejected', async () => {
  const api = await service();
  const ran = await inProcess('teams create --input -', {
    env: api.env,
    stdin: '{"organizationId":"org_8","name":"X"}',
  });
  expect([ran.code, api.requests]).toEqual([2, []]);
  expect(ran.stderr).toContain('org_8');
});

test('a value comes from a file or from stdin as text, and -f takes @ literally', async () => {
  const api = await service();
  const home = temporaryFolder();
  writeFileSync(join(home, 'about.txt'), 'true\n');
  const ran = await rosterctl('teams create -F about=@about.txt -F note=@- -f tag=@nimbus', {
    env: api.env,
    home,
    stdin: '5',
  });
  expect(ran.code).toBe(0);
  expect(wire(api.requests)[0]).toEqual([
    'POST /v1/teams',
    { organizationId: 'org_7', about: 'true\n', note: '5', tag: '@nimbus' },
  ]);
});

test('a team is deleted only with its name: --yes is not enough, and another name is rejected', async () => {
  const api = await service();
  const yes = await inProcess('teams delete team_1 --yes', { env: api.env });
  expect(yes.code).toBe(2);
  expect(yes.stderr).toContain(
    'To delete a team in a script, give its name; --yes is not enough.\nAdd: --confirm Foxes\n',
  );
  const other = await inProcess('teams delete team_1 --confirm foxes', { env: api.env });
  expect(other.code).toBe(11);
  expect(other.stderr).toContain(
    '"foxes" is not the name of team_1. Nothing was deleted.\nSee its name: rosterctl teams get team_1 --fields name\n',
  );
  const dry = await rosterctl('teams delete team_1 --confirm foxes --dry-run', { env: api.env });
  expect(dry.code).toBe(0);
  expect(dry.stderr).toContain(
    '"foxes" is not the name of team_1. Without --dry-run, nothing would be deleted.\n',
  );
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  const right = await rosterctl('teams delete team_1 --confirm Foxes --json', { env: api.env });
  expect([right.code, right.stdout]).toEqual([0, '{"id":"team_1","deleted":true}\n']);
});

test('several teams are updated as a report, each row with old and new', async () => {
  const api = await service(({ method, url }) =>
    url.endsWith('team_2')
      ? method === 'GET'
        ? { status: 200, json: { ...foxes, id: 'team_2', active: true } }
        : undefined
      : undefined,
  );
  const line = 'teams update team_1 team_2 team_9 -F active=true --json';
  const refused = await inProcess(line, { env: api.env });
  expect(refused.code).toBe(2);
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  const ran = await inProcess(`${line} --yes`, { env: api.env });
  expect(ran.code).toBe(8);
  const report = JSON.parse(ran.stdout) as Record<string, unknown>;
  expect(report).toMatchObject({
    action: 'teams.update',
    summary: { total: 3, changed: 1, unchanged: 1, failed: 1 },
    results: [
      {
        row: 1,
        id: 'team_1',
        result: 'changed',
        before: { active: null },
        after: { active: true },
      },
      { row: 2, id: 'team_2', result: 'unchanged' },
      { row: 3, id: 'team_9', result: 'failed', error: { code: 'notFound', status: 404 } },
    ],
  });
});

test('where ids are numbers, the organization is known by its number, and a team may have the same one', async () => {
  let team = { id: 42, organizationId: 42, name: 'Foxes', game: 'cs2' };
  const api = await recordingService(({ method, url, body }) => {
    const at = `${method} ${url}`;
    if (at === 'GET /v1/teams/42') return { status: 200, json: [team] };
    if (at === 'GET /v1/teams/42/42') return { status: 200, json: team };
    if (at === 'GET /v1/teams/42/7') return { status: 200, json: { ...team, id: 7 } };
    if (method !== 'PATCH' && method !== 'POST') return { status: 404, json: { error: 'x' } };
    team = { ...team, ...(JSON.parse(body.toString()) as object), organizationId: 42 };
    return { status: 200, json: { ...team, id: 7 } };
  });
  const run = async (line: string, stdin = '') => {
    const ran = await inProcess(line, { env: { ...api.env, ROSTERCTL_ORG: '42' }, stdin });
    return { code: ran.code, stderr: ran.stderr, team: ran.stdout && JSON.parse(ran.stdout) };
  };
  expect(await run('teams list --json')).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('another organization'),
  });
  const foxes42 = { id: '42', organizationId: 42, name: 'Foxes', game: 'cs2' };
  expect(await run('teams get 42 --json')).toMatchObject({ code: 0, team: foxes42 });
  expect(await run('teams update 7 -F game=lol --json')).toMatchObject({
    code: 0,
    team: { id: '7', game: 'lol' },
  });
  const input = '{"organizationId":42,"name":"Owls"}';
  expect(await run('teams create --input - --json', input)).toMatchObject({
    code: 0,
    team: { id: '7', name: 'Owls' },
  });
  // Its delete could be that of everything the organization has.
  const refused = await run('teams update 42 -F game=lol');
  expect([refused.code, refused.team]).toEqual([2, '']);
});
