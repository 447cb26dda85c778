import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { converse } from './support/converse.js';
import { errorOf, freshEnvironment, launcher, rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

// test/sandbox/processes.test.ts makes two hundred of them, without the rest of the program.
test('forty writes, eight at a time and each by its own process, lose nothing', async () => {
  const home = temporaryFolder();
  const worker = async (number: number) => {
    for (let turn = 0; turn < 5; turn++) {
      const line =
        number % 2 === 0
          ? ['teams', 'create', '--name', `Team ${number}-${turn}`]
          : ['players', 'update', 'player_0001', '-F', `mark_${number}_${turn}=1`];
      const ran = await rosterctl(['-p', 'sandbox', ...line, '--json'], { home });
      expect({ line, code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
        line,
        code: 0,
        stderr: '',
      });
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => worker(number)));
  const teams = JSON.parse(
    (await rosterctl('-p sandbox teams list --json=name', { home })).stdout,
  ) as { name: string }[];
  const created = teams.map(({ name }) => name).filter((name) => name.startsWith('Team '));
  expect(new Set(created).size).toBe(20);
  expect(created.length).toBe(20);
  const player = JSON.parse(
    (await rosterctl('-p sandbox players get player_0001 --json', { home })).stdout,
  ) as object;
  expect(Object.keys(player).filter((name) => name.startsWith('mark_')).length).toBe(20);
});

test('-p sandbox ignores the connection of the environment', async () => {
  const service = await recordingService(() => ({ status: 200, json: [] }));
  const home = temporaryFolder();
  for (const line of [
    'tryouts list',
    'teams get team_0001',
    'tryouts update app_0020 --status reviewing',
    'docs download doc_0003 -O -',
  ]) {
    const ran = await rosterctl(`-p sandbox ${line}`, { home, env: service.env });
    expect(ran.code).toBe(0);
  }
  expect(
    (await rosterctl('teams list', { home, env: { ...service.env, ROSTERCTL_PROFILE: 'sandbox' } }))
      .code,
  ).toBe(0);
  expect(service.requests).toEqual([]);
});

test('--base-url and --org are rejected with the sandbox', async () => {
  for (const flag of ['--base-url https://roster.example.com/v1', '--org org_7']) {
    const ran = await rosterctl(`-p sandbox teams list ${flag} --json`);
    expect(ran.code).toBe(2);
    expect(ran.stdout).toBe('');
    expect(errorOf(ran)).toMatchObject({ kind: 'usage', exitCode: 2 });
  }
});

test('a signed URL from one command works in the next', async () => {
  const home = temporaryFolder();
  const { stdout } = await rosterctl('-p sandbox docs download doc_0003 --url', { home });
  const serving = rosterctl('-p sandbox api teams/{org}', { home });
  expect((await serving).code).toBe(0);
  const again = await rosterctl('-p sandbox docs download doc_0003 -O -', { home });
  expect(again.code).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\S+\n$/);
});

test('sandbox start serves other commands, keeps its data and ends with 0 on SIGTERM', async () => {
  const home = temporaryFolder();
  const server = spawn(process.execPath, [launcher, 'sandbox', 'start', '--json'], {
    env: freshEnvironment(home),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => server.on('exit', resolve));
  const line = await new Promise<string>((resolve) =>
    server.stdout.once('data', (data: Buffer) => resolve(data.toString())),
  );
  const ready = JSON.parse(line) as Record<string, unknown>;
  expect(Object.keys(ready)).toEqual(['baseUrl', 'organizationId', 'apiKey', 'fileUrl', 'pid']);
  expect(line.trimEnd()).not.toContain('\n');
  expect(ready['pid']).toBe(server.pid);
  const status = await rosterctl('-p sandbox auth status --json', { home });
  expect(JSON.parse(status.stdout)).toMatchObject({ baseUrl: ready['baseUrl'], check: 'ok' });
  const env = {
    ROSTERCTL_BASE_URL: String(ready['baseUrl']),
    ROSTERCTL_ORG: String(ready['organizationId']),
    ROSTERCTL_API_KEY: String(ready['apiKey']),
  };
  expect((await rosterctl('teams create --name Kept', { env })).code).toBe(0);
  const reset = await rosterctl('sandbox reset --json', { home });
  expect(reset.code).toBe(11);
  server.kill('SIGTERM');
  expect(await ended).toBe(0);
  const after = await rosterctl('-p sandbox teams list --search Kept --json=name', { home });
  expect(JSON.parse(after.stdout)).toEqual([{ name: 'Kept' }]);
  expect((await rosterctl('sandbox reset', { home })).code).toBe(0);
});

test('sandbox start --json reports on one line that it is ready, also in a terminal', async () => {
  const line = ['sandbox', 'start', '--json'];
  const { code, shown } = await converse(
    temporaryFolder(),
    line,
    [[/"pid".*\}/, '\u0003']],
    {},
    400,
  );
  expect([code, shown]).toEqual([0, expect.stringMatching(/^\{"baseUrl":.*,"pid":\d+\}\r\n/)]);
});
