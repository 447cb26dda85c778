import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSandbox, resetSandbox } from '../../src/sandbox/embedded.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { call, scratch, self, start } from './client.js';

test('sandbox reset leaves nothing on disk of what was added', async () => {
  const home = temporaryFolder();
  const create = '-p sandbox players create --name Private -F email=private@club.example';
  expect((await rosterctl(create, { home })).code).toBe(0);
  const log = join(home, '.local/state/rosterctl/sandbox/log.jsonl');
  expect(readFileSync(log, 'utf8')).toContain('private@club.example');
  expect((await rosterctl('sandbox reset', { home })).code).toBe(0);
  expect(readFileSync(log, 'utf8').trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^\{"seed":/),
  ]);
  expect(readdirSync(join(log, '..')).toSorted()).toEqual(['log.jsonl', 'settings.json']);
});

test('a command in the middle of its work sees each reset and loses no later change', async () => {
  const stateDir = scratch();
  const place = { stateDir, self, now: () => start };
  const open = await openSandbox(place);
  const sandbox = open as Parameters<typeof call>[0];
  for (let round = 0; round < 3; round += 1) {
    const body = { organizationId: 'org_demo', name: `Round ${round}` };
    expect((await call(sandbox, 'POST /teams', body)).json['id']).toBe('team_0007');
    await resetSandbox(place);
    expect((await call(sandbox, 'GET /teams/org_demo')).json['total']).toBe(6);
  }
  const body = { organizationId: 'org_demo', name: 'Last' };
  expect((await call(sandbox, 'POST /teams', body)).status).toBe(201);
  await open.close();
  const next = await openSandbox(place);
  const { json } = await call(next as typeof sandbox, 'GET /teams/org_demo/team_0007');
  expect(json['name']).toBe('Last');
  await next.close();
});

test('resets at the same time wait for each other', async () => {
  const home = temporaryFolder();
  const resets = Array.from({ length: 6 }, () => rosterctl('sandbox reset', { home }));
  for (const { code, stderr } of await Promise.all(resets)) expect([code, stderr]).toEqual([0, '']);
});
