import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from './support/converse.js';
import { inProcess } from './support/in-process.js';
import {
  closed,
  errorOf,
  heard,
  rosterctl,
  startRosterctl,
  temporaryFolder,
} from './support/run.js';
import { recordingService } from './support/service.js';

// test/sandbox/reopened.slow.test.ts makes two hundred of them, without the rest of the program.
test('forty writes, eight at a time and each by its own process, lose nothing', async () => {
  const home = temporaryFolder();
  const worker = async (number: number) => {
    for (let turn = 0; turn < 5; turn++) {
      const line =
        number % 2 === 0
          ? ['teams', 'create', '--name', `Team ${number}-${turn}`]
          : `players update player_0001 -F mark_${number}_${turn}=1 --wait-lock 2m`.split(' ');
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
    (await inProcess('-p sandbox teams list --json=name', { home })).stdout,
  ) as { name: string }[];
  const created = teams.map(({ name }) => name).filter((name) => name.startsWith('Team '));
  expect(new Set(created).size).toBe(20);
  expect(created.length).toBe(20);
  const player = JSON.parse(
    (await inProcess('-p sandbox players get player_0001 --json', { home })).stdout,
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
    const ran = await inProcess(`-p sandbox ${line}`, { home, env: service.env });
    expect(ran.code).toBe(0);
  }
  expect(
    (await inProcess('teams list', { home, env: { ...service.env, ROSTERCTL_PROFILE: 'sandbox' } }))
      .code,
  ).toBe(0);
  expect(service.requests).toEqual([]);
});

test('--base-url and --org are rejected with the sandbox', async () => {
  for (const flag of ['--base-url https://roster.example.com/v1', '--org org_7']) {
    const ran = await inProcess(`-p sandbox teams list ${flag} --json`);
    expect(ran.code).toBe(2);
    expect(ran.stdout).toBe('');
    expect(errorOf(ran)).toMatchObject({ kind: 'usage', exitCode: 2 });
  }
});

test.each([
  ['docs download doc_0003 --url'],
  ['docs preview doc_0003 --url -q'],
  ['uploads create --content-type text/plain --size-bytes 5 --json=uploadUrl'],
])('an embedded sandbox says that its signed URL ends with the command: %s', async (line) => {
  const ran = await inProcess(`-p sandbox ${line}`);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(/stops working when this command ends.*rosterctl sandbox start/s);
  const [url = ''] = /http:[^\s"]+/.exec(ran.stdout) ?? [];
  await expect(fetch(url)).rejects.toThrow();
});

test('several signed URLs are noted once', async () => {
  const ran = await inProcess('-p sandbox docs download doc_0001 doc_0002 doc_0003 --url');
  expect([ran.code, ran.stdout.split('\n').length]).toEqual([0, 4]);
  expect(ran.stderr.match(/sandbox start/g)).toHaveLength(1);
});

test('two commands in a pipe share the data, and a run is the same whatever the port', async () => {
  const home = temporaryFolder();
  const ids = await inProcess('-p sandbox tryouts list --status pending -L 3 -o ids', { home });
  expect(ids.stdout.trim().split('\n')).toHaveLength(3);
  const list = startRosterctl('-p sandbox tryouts list --status pending -L 3 -o ids', { home });
  const update = startRosterctl(
    '-p sandbox tryouts set-status --to reviewing --ids - --yes --json',
    { home },
  );
  list.stdout.pipe(update.stdin);
  const piped = await heard(update).ended;
  expect(piped.code).toBe(0);
  expect(JSON.parse(piped.stdout)).toMatchObject({ summary: { changed: 3 } });
  const undone = await inProcess('-p sandbox runs undo last --yes --json', { home });
  expect([undone.code, JSON.parse(undone.stdout)]).toMatchObject([0, { summary: { changed: 3 } }]);
});

test('a signed URL of a sandbox that runs works in the next command, without a note', async () => {
  const home = temporaryFolder();
  const server = startRosterctl('sandbox start --json', { home });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  const ran = await inProcess('-p sandbox docs download doc_0003 --url', { home });
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  const answer = await fetch(ran.stdout.trim());
  expect(answer.status).toBe(200);
  expect(
    Buffer.from(await answer.arrayBuffer())
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-');
  server.kill('SIGINT');
  expect(await closed(server)).toBe(0);
  await expect(fetch(ran.stdout.trim())).rejects.toThrow();
});

test('what a killed server leaves behind disturbs no command and no later server', async () => {
  const home = temporaryFolder();
  const file = join(home, '.local/state/rosterctl/sandbox/server.json');
  const server = startRosterctl('sandbox start --json', { home });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await inProcess('-p sandbox teams create --name Kept', { home })).code).toBe(0);
  server.kill('SIGKILL');
  await closed(server);
  const list = await inProcess('-p sandbox teams list --search Kept -o ids', { home });
  expect(list).toMatchObject({ code: 0, stdout: 'team_0007\n', stderr: '' });
  expect(existsSync(file)).toBe(false);
  expect((await inProcess('sandbox reset', { home })).code).toBe(0);
  const next = startRosterctl('sandbox start --json', { home });
  await new Promise((resolve) => next.stdout.once('data', resolve));
  next.kill('SIGTERM');
  expect(await closed(next)).toBe(0);
});

test('sandbox start serves other commands, keeps its data and ends with 0 on SIGTERM', async () => {
  const home = temporaryFolder();
  const server = startRosterctl('sandbox start --json', { home });
  const ended = closed(server);
  const line = await new Promise<string>((resolve) =>
    server.stdout.once('data', (data: Buffer) => resolve(data.toString())),
  );
  const ready = JSON.parse(line) as Record<string, unknown>;
  expect(Object.keys(ready)).toEqual(['baseUrl', 'organizationId', 'apiKey', 'fileUrl', 'pid']);
  expect(line.trimEnd()).not.toContain('\n');
  expect(ready['pid']).toBe(server.pid);
  const status = await inProcess('-p sandbox auth status --json', { home });
  expect(JSON.parse(status.stdout)).toMatchObject({ baseUrl: ready['baseUrl'], check: 'ok' });
  const env = {
    ROSTERCTL_BASE_URL: String(ready['baseUrl']),
    ROSTERCTL_ORG: String(ready['organizationId']),
    ROSTERCTL_API_KEY: String(ready['apiKey']),
  };
  expect((await inProcess('teams create --name Kept', { env })).code).toBe(0);
  const reset = await inProcess('sandbox reset --json', { home });
  expect(reset.code).toBe(11);
  server.kill('SIGTERM');
  expect(await ended).toBe(0);
  const after = await inProcess('-p sandbox teams list --search Kept --json=name', { home });
  expect(JSON.parse(after.stdout)).toEqual([{ name: 'Kept' }]);
  expect((await inProcess('sandbox reset', { home })).code).toBe(0);
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

test('sandbox start at a terminal of 80 columns breaks no word, and its login can be copied', async () => {
  const stop = [/Ctrl-C\./, '\u0003'] as const;
  const { code, shown } = await converse(temporaryFolder(), ['sandbox', 'start'], [stop], {}, 80);
  const lines = shown.split('\r\n');
  expect([code, lines.filter((line) => line.length > 80)]).toEqual([0, []]);
  expect(lines).toContain('Organization  org_demo');
  const login = lines.slice(lines.findIndex((line) => line.startsWith('  rosterctl'))).join('\n');
  expect(login.replace(/ \\\n +/g, ' ')).toMatch(
    /^ {2}rosterctl auth login --profile demo --base-url http:\/\/127\S+\/v1 --org org_demo\n/,
  );
});
