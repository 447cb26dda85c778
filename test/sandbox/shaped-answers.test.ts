import { expect, test } from 'vitest';
import { call, http, shaped, short, start, wire } from './client.js';

const team = { organizationId: 'org_demo', name: 'Kestrels' };
const patch = { name: 'Kestrels' };
const convert = 'POST /tryout-applications/app_0050/convert-to-player';
const inOrg = { organizationId: 'org_demo' };

const writes: readonly (readonly [
  line: string,
  body: unknown,
  shapes: string[],
  answer: string,
])[] = [
  ['POST /teams', team, [], '201 {"id":"team_0007"}'],
  ['POST /teams', team, ['create=wrapped'], '201 {"team":{"id":"team_0007"}}'],
  ['POST /teams', team, ['create=data'], '201 {"data":{"id":"team_0007"}}'],
  ['POST /teams', team, ['create=id'], '201 {"id":"team_0007"}'],
  ['POST /teams', team, ['create=empty'], '201'],
  ['POST /teams', team, ['create=success'], '200 {"success":true}'],
  [
    'POST /teams',
    team,
    ['create=201', 'create.headers={"Location":"/v1/teams/$id"}'],
    '201 -> /v1/teams/team_00',
  ],
  ['POST /teams', team, ['create=303 /v1/teams/$id'], '303 -> /v1/teams/team_00'],
  ['POST /teams', team, ['create=200 {"error":"no"}', 'create.effect=none'], '200 {"error":"no"}'],
  ['PATCH /teams/team_0001', patch, [], '200 {"id":"team_0001"}'],
  ['PATCH /teams/team_0001', patch, ['update=empty'], '204'],
  [
    'PATCH /teams/team_0001',
    patch,
    ['update.teams={"before":"$old","after":"$record"}'],
    '200 {"before":{"id":"team_0001"},"after":{"id":"team_0001"}}',
  ],
  ['DELETE /teams/team_0001', undefined, [], '204'],
  ['DELETE /teams/team_0001', undefined, ['delete=200-empty'], '200'],
  ['DELETE /teams/team_0001', undefined, ['delete=success'], '200 {"success":true}'],
  ['DELETE /teams/team_0001', undefined, ['delete=record'], '200 {"id":"team_0001"}'],
  ['DELETE /teams/team_0001', undefined, ['delete=accepted'], '202'],
  [
    'DELETE /teams/team_0001',
    undefined,
    ['delete={"deleted":"$id"}'],
    '200 {"deleted":"team_0001"}',
  ],
  [convert, inOrg, [], '201 {"player":{"id":"player_0032"},"application":{"id":"app_0050"}}'],
  [convert, inOrg, ['convert=record'], '201 {"id":"player_0032"}'],
  [convert, inOrg, ['convert=application'], '201 {"id":"app_0050"}'],
  [convert, inOrg, ['convert=id'], '201 {"playerId":"player_0032"}'],
  [
    'POST /tryout-applications/50/convert-to-player',
    inOrg,
    ['convert=id', 'ids=number'],
    '201 {"playerId":32}',
  ],
  [convert, inOrg, ['convert=empty'], '204'],
  ['GET /teams/org_demo/team_0001', undefined, ['get=data'], '200 {"data":{"id":"team_0001"}}'],
  [
    'GET /documents/doc_0001/download',
    undefined,
    ['download={"u":"$url","p":"$path","id":"$id"}'],
    '200 {"u":"URL","p":"PATH","id":"doc_0001"}',
  ],
  [
    'GET /documents/doc_0001/download',
    undefined,
    ['download=downloadUrl'],
    '200 {"downloadUrl":"URL","expiresAt":"2026-03-01T12:05:00.000Z"}',
  ],
  [
    'GET /documents/doc_0001/download',
    undefined,
    ['download=nested'],
    '200 {"data":{"signedUrl":"URL"}}',
  ],
  [
    'GET /documents/doc_0001/download',
    undefined,
    ['download=redirect'],
    '302 -> http://127.0.0.1:',
  ],
  [
    'GET /documents/doc_0001/preview',
    undefined,
    ['download=redirect'],
    '200 {"url":"URL","expiresAt":"2026-03-01T12:05:00.000Z"}',
  ],
  [
    'GET /teams/org_demo/x',
    undefined,
    ['error=message'],
    '404 {"message":"there is no such record: x"}',
  ],
  [
    'GET /teams/org_demo/x',
    undefined,
    ['error=list'],
    '404 {"errors":[{"code":"notFound","message":"there is no such record: x"}]}',
  ],
  [
    'GET /teams/org_demo/x',
    undefined,
    ['error=problem'],
    '404 application/problem+json: {"type":"about:blank","title":"notFound","status":404,"detail":"there is no such record: x"}',
  ],
  [
    'GET /teams/org_demo/x',
    undefined,
    ['error=text'],
    '404 text/plain: there is no such record: x',
  ],
  [
    'GET /teams/org_demo/x',
    undefined,
    ['error=html'],
    '404 text/html: <!doctype html><title>404</title><h1>there is no such record: x</h1>',
  ],
  ['GET /teams/org_demo/x', undefined, ['error.404=410 {"msg":"$code"}'], '410 {"msg":"notFound"}'],
  [
    'GET /teams/org_demo/x',
    undefined,
    ['error.409=text'],
    '404 {"error":"notFound","message":"there is no such record: x"}',
  ],
];

test.each(writes)('%s %j with %j', async (line, body, shapes, answer) => {
  const sandbox = await shaped(short, ...shapes);
  expect(wire(await call(sandbox, line, body))).toBe(answer);
});

test('a download that is the file itself, and one by a relative URL of the same server', async () => {
  const whole = await shaped('download=bytes');
  const direct = await call(whole, 'GET /documents/doc_0001/download');
  expect([direct.status, direct.headers['content-type']]).toEqual([200, 'application/pdf']);
  const relative = await shaped('download={"href":"$path"}');
  const { json } = await call(relative, 'GET /documents/doc_0001/download');
  const file = await http('GET', new URL(String(json['href']), relative.baseUrl).href);
  expect(file.bytes.equals(direct.bytes)).toBe(true);
});

test('an effect is apart from the answer', async () => {
  const none = await shaped('create.effect=none', 'update.effect=none', 'delete.effect=none');
  expect((await call(none, 'POST /teams', team)).status).toBe(201);
  expect((await call(none, 'PATCH /teams/team_0001', patch)).json['name']).toBe('Kestrels');
  expect((await call(none, 'DELETE /teams/team_0002')).status).toBe(204);
  const books = none.tables().records.teams;
  expect([...books.keys()]).toHaveLength(6);
  expect(books.get('team_0001')?.['name']).toBe('Falkenmoor Vanguard');

  const soft = await shaped('delete.effect=soft');
  expect((await call(soft, 'DELETE /teams/team_0001')).status).toBe(204);
  const { json } = await call(soft, 'GET /teams/org_demo/team_0001');
  expect(json['deletedAt']).toBe(start.toISOString());

  const done = await shaped('create=500 {"error":"no"}');
  expect((await call(done, 'POST /teams', team)).status).toBe(500);
  expect(done.tables().records.teams.has('team_0007')).toBe(true);
});

test('a late write is seen by the second read', async () => {
  const sandbox = await shaped('create.effect=late', 'list={"n":"$total"}');
  await call(sandbox, 'POST /teams', team);
  expect((await call(sandbox, 'POST /teams', team)).json['id']).toBe('team_0008');
  expect((await call(sandbox, 'GET /teams/org_demo')).text).toBe('{"n":6}');
  expect((await call(sandbox, 'GET /teams/org_demo')).text).toBe('{"n":8}');
});

test('an update may replace the whole record', async () => {
  const sandbox = await shaped('update.method=PUT-replace');
  expect((await call(sandbox, 'PATCH /teams/team_0001', patch)).headers['allow']).toBe(
    'GET, PUT, DELETE',
  );
  const { json } = await call(sandbox, 'PUT /teams/team_0001', patch);
  expect(Object.keys(json).toSorted()).toEqual([
    'createdAt',
    'id',
    'name',
    'organizationId',
    'updatedAt',
  ]);
  const merging = await shaped('update.method=PUT-merge');
  expect((await call(merging, 'PUT /teams/team_0001', patch)).json['game']).toBe('Valorant');
});

const routes: readonly (readonly [shapes: string[], line: string, status: number])[] = [
  [['update.path=/{resource}/{organizationId}/{id}'], 'PATCH /teams/org_demo/team_0001', 200],
  [['update.path=/{resource}/{organizationId}/{id}'], 'PATCH /players/org_demo/player_0001', 200],
  [['update.path=/{resource}/{organizationId}/{id}'], 'PATCH /players/org_other/player_0001', 403],
  [['update.path=/{resource}/{organizationId}/{id}'], 'PATCH /teams/team_0001', 405],
  [['delete.path=/a/{id}'], 'DELETE /teams/team_0001', 405],
  [['delete.path=/a/{id}', 'error.405=404'], 'DELETE /teams/team_0001', 404],
  [
    ['update.path.teams=/teams?id={id}', 'update.method.teams=POST'],
    'POST /teams?id=team_0001',
    200,
  ],
  [
    ['update.path.teams=/teams?id={id}', 'update.method.teams=POST'],
    'POST /teams?id=team_0099',
    404,
  ],
  [['update.path.teams=/teams?id={id}'], 'PATCH /players/player_0001', 200],
  [
    ['delete.method=POST', 'delete.path=/{resource}/{id}/delete'],
    'POST /teams/team_0001/delete',
    204,
  ],
];

test.each(routes)('with %j, %s is answered with %i', async (shapes, line, status) => {
  const sandbox = await shaped(...shapes);
  const answer = await call(sandbox, line, line.startsWith('DELETE') ? undefined : patch);
  expect(answer.status).toBe(status);
});

test('ids are numbers in records, references, paths and bodies', async () => {
  const sandbox = await shaped('ids=number', 'ids.teams=number,teamId');
  const { json } = await call(sandbox, 'GET /teams/org_demo/1');
  expect(json).toMatchObject({ teamId: 1, name: 'Falkenmoor Vanguard' });
  expect(json).not.toHaveProperty('id');
  expect((await call(sandbox, 'GET /teams/org_demo/team_0001')).status).toBe(404);
  const player = { ...inOrg, name: 'Ilka', teamIds: [2] };
  expect((await call(sandbox, 'POST /players', player)).json).toMatchObject({
    id: 32,
    teamIds: [2],
  });
  expect(sandbox.tables().records.players.get('player_0032')?.['teamIds']).toEqual(['team_0002']);
  expect((await call(sandbox, 'POST /players', { ...player, teamIds: [77] })).status).toBe(400);
});

test.each([
  ['snake', 'display_name', 'created_at'],
  ['kebab', 'display-name', 'created-at'],
  ['pascal', 'DisplayName', 'CreatedAt'],
])('fields are in %s case, out and in', async (casing, display, created) => {
  const sandbox = await shaped(`casing=${casing}`);
  const { json } = await call(sandbox, 'PATCH /teams/team_0001', { [display]: 'K' });
  expect(json).toMatchObject({ [display]: 'K', [created]: expect.any(String) });
  expect(sandbox.tables().records.teams.get('team_0001')?.['displayName']).toBe('K');
});

test('the words of a form are not spelled anew', async () => {
  const sandbox = await shaped('casing=snake');
  const { json } = await call(sandbox, 'GET /tryout-applications/app_0001?organizationId=org_demo');
  const books = sandbox.tables().records.tryouts.get('app_0001');
  expect(json['form_responses']).toEqual(books?.['formResponses']);
});

test('a record may hold more than the books', async () => {
  const sandbox = await shaped(
    'record={"type":"$singular","...":"$record","founded":1999}',
    'record.players={"key":"$id","attributes":"$fields"}',
  );
  const { json } = await call(sandbox, 'GET /teams/org_demo/team_0001');
  expect(json).toMatchObject({ type: 'team', id: 'team_0001', founded: 1999 });
  const player = (await call(sandbox, 'GET /players/org_demo/player_0001')).json;
  expect(player).toMatchObject({ key: 'player_0001', attributes: { organizationId: 'org_demo' } });
});
