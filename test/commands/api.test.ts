import { expect, test } from 'vitest';
import { errorOf, rosterctl } from '../support/run.js';
import { type Recorded, type Reply, recordingService } from '../support/service.js';

function service(
  answer: (request: Recorded) => Reply = () => ({ status: 200, json: { ok: true } }),
) {
  return recordingService(answer);
}

const wire = ({ method, url, body }: Recorded) => [
  `${method} ${url}`,
  body.length > 0 ? (JSON.parse(body.toString()) as unknown) : undefined,
];

test.each([
  ['teams/{org}', 'GET /v1/teams/org_7', undefined],
  ['/teams/{org}', 'GET /v1/teams/org_7', undefined],
  ['things?x=1 --param y=2 --param z=a=b', 'GET /v1/things?x=1&y=2&z=a%3Db', undefined],
  ['things -X get -f a=07 -F b=1', 'GET /v1/things?b=1&a=07', undefined],
  ['things -F a=1 -f b=2', 'POST /v1/things', { a: 1, b: '2' }],
  ['things -X PUT -F tags[]=x', 'PUT /v1/things', { tags: ['x'] }],
  ['things --param org={org} --param x={org}s', 'GET /v1/things?org=org_7&x=%7Borg%7Ds', undefined],
  ['things -F a={org} -f b={org}', 'POST /v1/things', { a: 'org_7', b: 'org_7' }],
  ['things -X PATCH', 'PATCH /v1/things', undefined],
  ['things -X DELETE --yes', 'DELETE /v1/things', undefined],
])('api %s sends %s', async (line, head, body) => {
  const api = await service();
  const ran = await rosterctl(`api ${line} --json`, { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([0, '{"ok":true}\n']);
  expect(api.requests.map(wire)).toEqual([[head, body]]);
  expect(api.requests[0]?.headers['content-type']).toBe(body ? 'application/json' : undefined);
});

test('--input is the body, and flags override it', async () => {
  const api = await service();
  const input = '{"a":1,"b":[9000000000000000001]}';
  const ran = await rosterctl('api things --input - -F a=2', { env: api.env, stdin: input });
  expect(ran.code).toBe(0);
  expect(api.requests[0]?.body.toString()).toBe('{"a":2,"b":[9000000000000000001]}');
});

test.each([
  'https://elsewhere.example.com/v1/teams',
  '//elsewhere.example.com/teams',
  'teams/../../admin',
  'teams/%2e%2E/admin',
  'teams/{org}#x',
  'a\\b',
  "'a b'",
  'v1/teams/{org}',
  'things -X BREW',
  'things -X GET --input -',
  'things -X POST --paginate',
  'things -F organizationId=org_8',
])('api %s exits 2 without a request', async (line) => {
  const api = await service();
  const ran = await rosterctl(`api ${line}`, { env: api.env, stdin: '{}' });
  expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
});

test('only DELETE asks', async () => {
  const api = await service();
  const asked = await rosterctl('api things/1 -X DELETE', { env: api.env });
  expect([asked.code, api.requests]).toEqual([2, []]);
  expect(asked.stderr).toContain('Send DELETE /things/1?');
  const posted = await rosterctl('api things -X POST', { env: api.env });
  expect(posted.code).toBe(0);
});

test('a dry run prints any request except a GET, which it sends', async () => {
  const api = await service();
  const write = await rosterctl('api players/player_1 -X PATCH -F a=1 -n --json', { env: api.env });
  expect(JSON.parse(write.stdout)).toEqual({
    schema: 1,
    dryRun: true,
    requests: [{ method: 'PATCH', path: '/players/player_1', basis: 'assumed', body: { a: 1 } }],
    changes: [],
  });
  expect(api.requests).toEqual([]);
  const stated = await rosterctl('api teams -F name=X -n --json', { env: api.env });
  expect(JSON.parse(stated.stdout)).toMatchObject({ requests: [{ basis: 'stated' }] });
  const read = await rosterctl('api teams/{org} -n --json', { env: api.env });
  expect([read.stdout, api.requests.length]).toEqual(['{"ok":true}\n', 1]);
});

test('an error response is an error with the code of the service', async () => {
  const { env } = await service(() => ({ status: 409, json: { error: 'taken', message: 'no' } }));
  const ran = await rosterctl('api things -X POST --json', { env });
  expect([ran.code, ran.stdout]).toEqual([6, '']);
  expect(errorOf(ran)).toMatchObject({ code: 'taken', status: 409, method: 'POST' });
});

test('-i prints the status line and the headers before the body', async () => {
  const { env } = await service(() => ({ status: 201, json: [1], headers: { 'x-tail': 'yes' } }));
  const ran = await rosterctl('api things -i --json', { env });
  expect(ran.stdout).toMatch(/^HTTP\/1\.1 201 Created\n/);
  expect(ran.stdout).toContain('\nx-tail: yes\n');
  expect(ran.stdout.endsWith('\n\n[1]\n')).toBe(true);
});

test('a response that is not JSON passes through unchanged, and an empty one prints nothing', async () => {
  const text = await service(() => ({
    status: 200,
    text: 'a,b\n\u001b[1m',
    headers: { 'content-type': 'text/csv' },
  }));
  expect((await rosterctl('api things', { env: text.env })).stdout).toBe('a,b\n\u001b[1m');
  const empty = await service(() => ({ status: 204 }));
  expect(await rosterctl('api things -X POST --json', { env: empty.env })).toMatchObject({
    code: 0,
    stdout: '',
  });
});

test('--paginate follows the pages into one array', async () => {
  const api = await service(({ url }) => {
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? '1');
    return {
      status: 200,
      json: { things: [{ id: `t${page}` }], page, totalPages: 3 },
    };
  });
  const ran = await rosterctl('api things --param kind=a --paginate --json', { env: api.env });
  expect(JSON.parse(ran.stdout)).toEqual([{ id: 't1' }, { id: 't2' }, { id: 't3' }]);
  const asked = api.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('kind'));
  expect(asked).toEqual(['a', 'a', 'a']);
  const none = await service(() => ({ status: 200, json: { id: 't1' } }));
  const refused = await rosterctl('api things/t1 --paginate', { env: none.env });
  expect([refused.code, refused.stdout]).toEqual([2, '']);
});

test('--paginate reads a page of 200,000 records', async () => {
  const json = Array.from({ length: 200_000 }, (_, index) => ({ id: index }));
  const api = await service(() => ({ status: 200, json }));
  const ran = await rosterctl('api things --paginate --json', { env: api.env });
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(JSON.parse(ran.stdout)).toHaveLength(200_000);
});

test('--paginate never follows to another origin', async () => {
  const elsewhere = await service(() => ({ status: 200, json: [{ id: 'stolen' }] }));
  const api = await service(() => ({
    status: 200,
    json: [{ id: 't1' }],
    headers: { link: `<${elsewhere.baseUrl}/things?page=2>; rel="next"` },
  }));
  const ran = await rosterctl('api things --paginate --json', { env: api.env });
  expect(JSON.parse(ran.stdout)).toEqual([{ id: 't1' }]);
  expect(ran.stderr).toContain('incomplete');
  expect(elsewhere.requests).toEqual([]);
});

test('--paginate never follows a link to another organization', async () => {
  const api = await service(() => ({
    status: 200,
    json: [{ id: 't1' }],
    headers: { link: '</v1/documents?organizationId=org_8&page=2>; rel="next"' },
  }));
  const ran = await rosterctl('api documents?organizationId={org} --paginate --json', {
    env: api.env,
  });
  expect([JSON.parse(ran.stdout), api.requests.length]).toEqual([[{ id: 't1' }], 1]);
  expect(ran.stderr).toContain('another organization');
});

test.each([
  ['teams/{orgg}', 'Did you mean {org}?'],
  ['teams/{id}', 'There is no placeholder {id}.'],
])('api %s is rejected because of the unknown placeholder', async (path, message) => {
  const api = await service();
  const ran = await rosterctl(['api', path], { env: api.env });
  expect([ran.code, api.requests]).toEqual([2, []]);
  expect(ran.stderr).toContain(message);
});

test('the hint of a 403 begins with a capital letter', async () => {
  const api = await service(() => ({ status: 403, json: { error: 'forbidden' } }));
  const ran = await rosterctl('teams list', { env: api.env });
  expect(ran.stderr).toMatch(/^The key may lack the permission/m);
});

test.each([
  ['documents', true],
  ['uploads/document-file', true],
  ['documents/doc_1/share', false],
])('a 403 for POST %s names the permission of the contract: %s', async (path, isNamed) => {
  const api = await service(() => ({ status: 403, json: { error: 'forbidden' } }));
  const ran = await rosterctl(`api ${path} -X POST`, { env: api.env });
  expect([ran.code, ran.stderr.includes('It needs the permission document:create.')]).toEqual([
    7,
    isNamed,
  ]);
});

test('api warns that there is no undo, in its dry run and before a delete', async () => {
  const api = await service();
  for (const line of ['api things -X PATCH -f a=b -n', 'api things/1 -X DELETE']) {
    const ran = await rosterctl(line, { env: api.env });
    expect(ran.stderr).toContain('no undo');
  }
  const read = await rosterctl('api things -n', { env: api.env });
  expect(read.stderr).not.toContain('no undo');
});
