import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/data/json.js';
import { call, newSandbox, start, verdict } from './client.js';

const organizationId = 'org_demo';

test('a team is created with its unknown fields, changed by merging, and deleted', async () => {
  const sandbox = await newSandbox();
  const body = {
    organizationId,
    id: 'team_mine',
    name: 'Foxes',
    motto: { en: 'run' },
    createdAt: 'x',
  };
  const created = await call(sandbox, 'POST /teams', body);
  expect(created.status).toBe(201);
  expect(created.json).toEqual({
    id: 'team_0007',
    organizationId,
    name: 'Foxes',
    motto: { en: 'run' },
    legacyRef: 'NEW-team_0007',
    createdAt: start.toISOString(),
    updatedAt: start.toISOString(),
  });
  sandbox.clock.now = new Date(start.getTime() + 1000);
  const changed = await call(sandbox, 'PATCH /teams/team_0007', { name: 'Vixens', motto: null });
  expect(changed.status).toBe(200);
  expect(changed.json).toEqual({
    ...created.json,
    name: 'Vixens',
    motto: null,
    updatedAt: '2026-03-01T12:00:01.000Z',
  });
  expect((await call(sandbox, 'GET /teams/org_demo/team_0007')).json).toEqual(changed.json);
  const deleted = await call(sandbox, 'DELETE /teams/team_0007');
  expect([deleted.status, deleted.bytes.length]).toEqual([204, 0]);
  expect(verdict(await call(sandbox, 'DELETE /teams/team_0007'))).toBe('404 notFound');
  expect((await call(sandbox, 'POST /teams', body)).json['id']).toBe('team_0008');
});

test.each([
  ['POST /teams', { organizationId }],
  ['POST /teams', { organizationId, name: '' }],
  ['POST /players', { organizationId, name: 7 }],
  ['POST /players', { organizationId, name: 'X', teamIds: ['team_77'] }],
  ['POST /players', { organizationId, name: 'X', teamId: 'team_77' }],
  ['POST /players', { organizationId, name: 'X', teamId: 5 }],
  ['PATCH /teams/team_0001', {}],
  ['PATCH /teams/team_0001', { name: null }],
  ['PATCH /documents/doc_0001', { tags: 'legal' }],
  ['PATCH /documents/doc_0001', { fileKey: 'documents/org_demo/other.pdf' }],
  ['PATCH /documents/doc_0001', { sizeBytes: 1 }],
] as const)('%s with %j is invalid', async (line, body) => {
  const sandbox = await newSandbox();
  expect(verdict(await call(sandbox, line, body))).toBe('400 invalidRequest');
});

test('a deleted team leaves its players without it', async () => {
  const sandbox = await newSandbox();
  const teamsOf = async (id: string) =>
    (await call(sandbox, `GET /players/org_demo/${id}`)).json['teamIds'];
  const list = (await call(sandbox, 'GET /players/org_demo')).json['players'] as JsonObject[];
  const both = String(list.find(({ teamIds }) => (teamIds as unknown[]).length === 2)?.['id']);
  expect(await teamsOf(both)).toEqual(['team_0004', 'team_0006']);
  expect((await call(sandbox, 'DELETE /teams/team_0004')).status).toBe(204);
  expect(await teamsOf(both)).toEqual(['team_0006']);
});

test('a name like a prototype field is a field like any other', async () => {
  const sandbox = await newSandbox();
  const { apiKey, baseUrl } = sandbox;
  const { http } = await import('./client.js');
  const answer = await http('PATCH', `${baseUrl}/teams/team_0001`, {
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{"__proto__":{"polluted":true},"constructor":1}',
  });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('"__proto__":{"polluted":true}');
  expect('polluted' in {}).toBe(false);
});
