import { expect, test } from 'vitest';
import { call, http, newSandbox, shaped, verdict } from './client.js';

test('a missing key is unauthorized, a wrong one is invalidApiKey', async () => {
  const sandbox = await newSandbox();
  const url = `${sandbox.baseUrl}/teams/org_demo`;
  expect(verdict(await http('GET', url))).toBe('401 unauthorized');
  expect(verdict(await http('GET', url, { headers: { 'x-api-key': '' } }))).toBe(
    '401 unauthorized',
  );
  expect(verdict(await http('GET', url, { headers: { 'x-api-key': 'nope' } }))).toBe(
    '401 invalidApiKey',
  );
  const bearer = { authorization: `Bearer ${sandbox.apiKey}` };
  expect(verdict(await http('GET', url, { headers: bearer }))).toBe('401 unauthorized');
  expect(verdict(await http('GET', `${url}?x-api-key=${sandbox.apiKey}`))).toBe('401 unauthorized');
});

test('outside /v1 no key is accepted', async () => {
  const sandbox = await newSandbox();
  const { origin } = new URL(sandbox.baseUrl);
  const headers = { 'x-api-key': sandbox.apiKey };
  for (const path of ['/teams/org_demo', '/', '/v1', '/v2/teams/org_demo', '/tryout-applications'])
    expect(verdict(await http('GET', `${origin}${path}`, { headers }))).toBe('401 unauthorized');
  for (const path of ['/_sandbox/events', '/_sandbox/requests'])
    expect(verdict(await http('GET', `${origin}${path}`, { headers }))).toBe('401 unauthorized');
});

test('a plan without API access is featureNotAvailable on every path', async () => {
  const sandbox = await newSandbox();
  const key = sandbox.keys.no_plan;
  expect(verdict(await call(sandbox, 'GET /teams/org_demo', undefined, { key }))).toBe(
    '403 featureNotAvailable',
  );
});

test.each([
  ['read_only', 'GET /documents/org_demo', undefined, 200],
  ['read_only', 'GET /documents/doc_0001/download', undefined, 200],
  ['read_only', 'POST /teams', { organizationId: 'org_demo', name: 'X' }, 403],
  ['read_only', 'PATCH /teams/team_0001', { name: 'X' }, 403],
  ['read_only', 'DELETE /players/player_0001', undefined, 403],
  [
    'read_only',
    'PATCH /tryout-applications/app_0050',
    { organizationId: 'org_demo', status: 'accepted' },
    403,
  ],
  ['no_documents', 'GET /players/org_demo', undefined, 200],
  ['no_documents', 'GET /documents/org_demo', undefined, 403],
  ['no_documents', 'GET /documents/doc_0001/preview', undefined, 403],
  [
    'no_documents',
    'POST /uploads/document-file',
    { organizationId: 'org_demo', contentType: 'text/plain', sizeBytes: 1 },
    403,
  ],
  ['no_documents', 'POST /documents', { organizationId: 'org_demo' }, 403],
] as const)('the %s key on %s', async (name, line, body, status) => {
  const sandbox = await newSandbox();
  const answer = await call(sandbox, line, body, { key: sandbox.keys[name] });
  expect(answer.status).toBe(status);
  if (status === 403) expect(verdict(answer)).toBe('403 forbidden');
});

test('a key of another organization sees its own data and none of ours', async () => {
  const sandbox = await newSandbox();
  const other = { key: sandbox.keys.other_org };
  const list = await call(sandbox, 'GET /teams/org_other', undefined, other);
  expect(list.json).toEqual({ teams: [], total: 0 });
  expect(verdict(await call(sandbox, 'GET /teams/org_demo', undefined, other))).toBe(
    '403 forbidden',
  );
  expect(verdict(await call(sandbox, 'GET /teams/org_other/team_0001', undefined, other))).toBe(
    '404 notFound',
  );
  expect(verdict(await call(sandbox, 'PATCH /teams/team_0001', { name: 'X' }, other))).toBe(
    '404 notFound',
  );
  expect(verdict(await call(sandbox, 'GET /documents/doc_0001/download', undefined, other))).toBe(
    '404 notFound',
  );
});

test.each([
  ['GET /teams/org_nope', undefined, '403 forbidden'],
  ['GET /players/org_nope/player_0001', undefined, '403 forbidden'],
  ['GET /documents/org_nope', undefined, '403 forbidden'],
  ['GET /tryout-applications', undefined, '400 invalidRequest'],
  ['GET /tryout-applications?organizationId=', undefined, '400 invalidRequest'],
  ['GET /tryout-applications?organizationId=org_nope', undefined, '403 forbidden'],
  ['GET /tryout-applications/app_0001', undefined, '400 invalidRequest'],
  ['GET /tryout-applications/app_0001?organizationId=org_nope', undefined, '403 forbidden'],
  [
    'GET /tryout-applications?organizationId=org_demo&organizationId=org_nope',
    undefined,
    '400 invalidRequest',
  ],
  ['POST /teams', { name: 'X' }, '400 invalidRequest'],
  ['POST /teams', { name: 'X', organizationId: 'org_nope' }, '403 forbidden'],
  ['POST /teams', { name: 'X', organizationId: 7 }, '400 invalidRequest'],
  ['POST /teams?organizationId=org_demo', { name: 'X' }, '400 invalidRequest'],
  ['POST /players', { name: 'X' }, '400 invalidRequest'],
  ['POST /documents', { name: 'X' }, '400 invalidRequest'],
  [
    'POST /uploads/document-file',
    { contentType: 'text/plain', sizeBytes: 1 },
    '400 invalidRequest',
  ],
  ['PATCH /tryout-applications/app_0050', { status: 'accepted' }, '400 invalidRequest'],
  [
    'PATCH /tryout-applications/app_0050?organizationId=org_demo',
    { status: 'accepted' },
    '400 invalidRequest',
  ],
  [
    'PATCH /tryout-applications/app_0050',
    { organizationId: 'org_nope', status: 'accepted' },
    '403 forbidden',
  ],
  ['POST /tryout-applications/app_0016/convert-to-player', {}, '400 invalidRequest'],
  [
    'POST /tryout-applications/app_0016/convert-to-player',
    { organizationId: 'org_nope' },
    '403 forbidden',
  ],
  ['PATCH /teams/team_0001', { organizationId: 'org_nope', name: 'X' }, '403 forbidden'],
] as const)('%s with %j is %s', async (line, body, expected) => {
  const sandbox = await newSandbox();
  expect(verdict(await call(sandbox, line, body))).toBe(expected);
});

test.each([
  ['GET /teams/org_demo/team_9999', undefined],
  ['GET /players/org_demo/nobody', undefined],
  ['GET /documents/doc_9999/download', undefined],
  ['GET /tryout-applications/app_9999?organizationId=org_demo', undefined],
  ['PATCH /tryout-applications/app_9999', { organizationId: 'org_demo', status: 'accepted' }],
  ['POST /tryout-applications/app_9999/convert-to-player', { organizationId: 'org_demo' }],
  ['DELETE /teams/team_9999', undefined],
  ['DELETE /teams/org_demo', undefined],
  ['PATCH /documents/doc_9999', { name: 'X' }],
  ['GET /calendar/org_demo', undefined],
  ['GET /teams/org_demo/team_0001/players', undefined],
] as const)('%s is notFound', async (line, body) => {
  const sandbox = await newSandbox();
  expect(verdict(await call(sandbox, line, body))).toBe('404 notFound');
});

test.each([
  ['PUT /teams/team_0001', 'GET, PATCH, DELETE'],
  ['DELETE /tryout-applications/app_0001', 'GET, PATCH'],
  ['POST /teams/org_demo', 'GET, PATCH, DELETE'],
  ['GET /uploads/document-file', 'POST'],
  ['DELETE /documents/doc_0001/download', 'GET'],
])('%s is 405 with Allow: %s', async (line, allow) => {
  const sandbox = await newSandbox();
  const answer = await call(sandbox, line);
  expect(answer.status).toBe(405);
  expect(String(answer.headers['allow']).split(', ').toSorted()).toEqual(
    allow.split(', ').toSorted(),
  );
});

test.each([
  ['no JSON', 'application/json', '{"organizationId":'],
  ['a list', 'application/json', '[]'],
  ['null', 'application/json', 'null'],
  ['nothing', 'application/json', ''],
  ['half a character', 'application/json', Buffer.from([0x22, 0xc3, 0x22])],
  ['another type', 'text/plain', '{"organizationId":"org_demo","name":"X"}'],
  ['a form', 'application/x-www-form-urlencoded', 'name=X'],
])('a body that is %s is refused as invalidRequest', async (_, contentType, body) => {
  const sandbox = await newSandbox();
  const headers = { 'x-api-key': sandbox.apiKey, 'content-type': contentType };
  const answer = await http('POST', `${sandbox.baseUrl}/teams`, { headers, body });
  expect(verdict(answer)).toBe('400 invalidRequest');
});

test('a JSON body above 1 MiB is 413, one just below is taken', async () => {
  const sandbox = await newSandbox();
  const base = JSON.stringify({ organizationId: 'org_demo', name: 'X', blob: '' }).length;
  const sized = (length: number) => ({
    organizationId: 'org_demo',
    name: 'X',
    blob: 'x'.repeat(length - base),
  });
  expect((await call(sandbox, 'POST /teams', sized(1024 * 1024))).status).toBe(201);
  expect(verdict(await call(sandbox, 'POST /teams', sized(1024 * 1024 + 1)))).toBe(
    '413 payloadTooLarge',
  );
});

test('a JSON body that is nested too deeply is refused, and the records stay readable', async () => {
  const sandbox = await shaped();
  const headers = { 'x-api-key': sandbox.apiKey };
  const post = (levels: number) =>
    http('POST', `${sandbox.baseUrl}/teams`, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: `{"organizationId":"org_demo","name":"X","x":${'['.repeat(levels)}${']'.repeat(levels)}}`,
    });
  expect(verdict(await post(200_000))).toBe('400 invalidRequest');
  expect((await post(100)).status).toBe(201);
  const list = await http('GET', `${sandbox.baseUrl}/teams/org_demo`, { headers });
  expect([list.status, list.json['total']]).toEqual([200, 7]);
});

test('a page that points its own name at loopback is refused', async () => {
  const sandbox = await newSandbox();
  const headers = { 'x-api-key': sandbox.apiKey, host: 'evil.example.com' };
  expect(verdict(await http('GET', `${sandbox.baseUrl}/teams/org_demo`, { headers }))).toBe(
    '403 forbidden',
  );
  const local = { 'x-api-key': sandbox.apiKey, host: 'localhost:1234' };
  expect((await http('GET', `${sandbox.baseUrl}/teams/org_demo`, { headers: local })).status).toBe(
    200,
  );
});

test('an id is decoded once from the path', async () => {
  const sandbox = await newSandbox();
  expect((await call(sandbox, 'GET /teams/org_demo/team%5F0001')).json['id']).toBe('team_0001');
  expect(verdict(await call(sandbox, 'GET /teams/org_demo/%2e%2e'))).toBe('404 notFound');
  expect(verdict(await call(sandbox, 'GET /teams/org_demo/%ff'))).toBe('400 invalidRequest');
});
