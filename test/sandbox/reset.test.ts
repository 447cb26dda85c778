import { appendFileSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSandbox, resetSandbox } from '../../src/sandbox/embedded.js';
import { closed, rosterctl, startRosterctl, temporaryFolder } from '../support/run.js';
import { call, newSandbox, scratch, self, start } from './client.js';

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));

test('sandbox reset leaves nothing on disk of what was added', async () => {
  const home = temporaryFolder();
  const create = '-p sandbox players create --name Private -F email=private@club.example';
  expect((await rosterctl(create, { home })).code).toBe(0);
  const log = join(home, '.local/state/rosterctl/sandbox/log.jsonl');
  expect(readFileSync(log, 'utf8')).toContain('private@club.example');
  expect((await rosterctl('-p sandbox players list', { home })).code).toBe(0);
  const cached = () => filesIn(join(home, '.cache/rosterctl')).join();
  expect(cached()).toContain('private@club.example');
  expect((await rosterctl('sandbox reset', { home })).code).toBe(0);
  expect(cached()).not.toContain('rivate');
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

test('a log that was moved away is not written any more', async () => {
  const sandbox = await newSandbox();
  const body = { organizationId: 'org_demo', name: 'Kept' };
  expect((await call(sandbox, 'POST /teams', body)).json['id']).toBe('team_0007');
  const log = join(sandbox.stateDir, 'sandbox', 'log.jsonl');
  renameSync(log, `${log}.kept`);
  expect((await call(sandbox, 'GET /teams/org_demo')).json['total']).toBe(6);
  expect((await call(sandbox, 'POST /teams', body)).json['id']).toBe('team_0007');
  for (const file of [log, `${log}.kept`])
    expect(readFileSync(file, 'utf8').match(/Kept/g)).toHaveLength(1);
});

test('resets at the same time wait for each other', async () => {
  const home = temporaryFolder();
  const resets = Array.from({ length: 6 }, () => rosterctl('sandbox reset', { home }));
  for (const { code, stderr } of await Promise.all(resets)) expect([code, stderr]).toEqual([0, '']);
});

test('a folder of --data is not told to reset the sandbox of the user', async () => {
  const home = temporaryFolder();
  const server = startRosterctl('sandbox start --data ./lab --json', { home, cwd: home });
  const ready = await new Promise<string>((resolve) =>
    server.stdout.once('data', (line: Buffer) => resolve(line.toString())),
  );
  const body = { organizationId: 'org_demo', name: 'Lab' };
  expect((await call(JSON.parse(ready), 'POST /teams', body)).status).toBe(201);
  server.kill('SIGTERM');
  expect(await closed(server)).toBe(0);
  const line = 'sandbox start --data ./lab --seed-size large';
  expect(await rosterctl(line, { home, cwd: home })).toMatchObject({
    code: 11,
    stderr:
      'This sandbox holds changes to its small demo data.\nTo start over, remove lab/sandbox. Or keep the large set in another folder: --data DIR\n',
  });
  appendFileSync(join(home, 'lab/sandbox/log.jsonl'), 'garbage\n');
  expect(await rosterctl('sandbox start --data ./lab', { home, cwd: home })).toMatchObject({
    code: 11,
    stderr:
      'The sandbox log lab/sandbox/log.jsonl is damaged.\nTo start over, remove lab/sandbox.\n',
  });
});
