import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from './bulk/user.js';
import { application, cut, keep, steps } from './commands/tryouts/service.js';
import { converse } from './support/converse.js';
import { inProcess } from './support/in-process.js';
import { rosterctl, startLine, temporaryFolder } from './support/run.js';
import { organization, recordingService } from './support/service.js';

const connection = { baseUrl: 'https://api.example.com/v1', organization };
const stored = { key: 'sk_1', origin: 'https://api.example.com', organization };

/** A home folder with this text as config.json, and the keys of two profiles. */
function homeWith(text: string, keys: object = { default: stored, second: stored }): string {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
  writeFileSync(join(folder, 'credentials.json'), JSON.stringify(keys), { mode: 0o600 });
  return home;
}

const club = JSON.stringify({ profiles: { default: connection, second: connection } });

test('rosterctl alone after a login says where you are and what to type', async () => {
  const ran = await rosterctl('', { home: homeWith(club) });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(
    new RegExp(`^rosterctl [\\d.]+ · profile default · ${organization}\n\nList +rosterctl tryouts`),
  );
});

test('rosterctl alone names an interrupted run and the line that resumes it, for its profile only', async () => {
  const ids = ['app_1', 'app_2', 'app_3'];
  const service = await keep(
    ids.map((id) => application(id)),
    (_, step) => (step === 'PATCH app_2' ? () => {} : undefined),
  );
  const home = homeWith(club);
  const line = `tryouts set-status ${ids.join(' ')} --to reviewing --yes --concurrency 1`;
  const stopped = startLine(line, { env: service.env, home });
  await until(() => steps(service).includes('PATCH app_2'));
  stopped.kill('SIGTERM');
  expect((await stopped.ended).code).toBe(143);
  const sent = service.requests.length;
  const { stdout } = await rosterctl('', { home });
  expect(stdout).toMatch(
    /Unfinished {2}run ([0-9a-f]{6}): 2 of 3 rows left +rosterctl runs resume \1\n/,
  );
  const narrow = await converse(home, [], [], {}, 40);
  expect(narrow.shown).toMatch(/2 of 3 rows left\r\n {12}rosterctl runs resume [0-9a-f]{6}\r\n/);
  const lines = narrow.shown.replaceAll('\r', '').split('\n');
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^rosterctl [\d.]+ · profile default ·$/),
    organization,
  ]);
  expect(lines.filter((each) => each.length > 40)).toEqual([]);
  const other = await inProcess('', { home, env: { ROSTERCTL_PROFILE: 'second' } });
  expect(other.stdout).toContain('profile second');
  expect(other.stdout).not.toContain('Unfinished');
  expect(service.requests.length).toBe(sent);
});

test('a renamed profile still has its unfinished run', async () => {
  const ids = ['app_1', 'app_2'];
  const { env } = await keep(
    ids.map((id) => application(id)),
    (_, step) => (step === 'PATCH app_2' ? { status: 401 } : undefined),
  );
  const home = homeWith(club);
  const line = `tryouts set-status ${ids.join(' ')} --to reviewing --yes --concurrency 1`;
  expect((await inProcess(line, { env, home })).code).toBe(4);
  await inProcess('profile rename default main', { home });
  const named = { home, env: { ...env, ROSTERCTL_PROFILE: 'main' } };
  const page = await inProcess('', named);
  expect(page.stdout).toMatch(/^Unfinished {2}run [0-9a-f]{6}: 1 of 2 rows left/m);
  const checks = JSON.parse((await inProcess('doctor --json', named)).stdout) as object[];
  expect(checks).toContainEqual(
    expect.objectContaining({
      check: 'runs',
      hint: expect.stringMatching(/^Resume: rosterctl runs resume [0-9a-f]{6}$/m) as string,
    }),
  );
  const another = { home, env: { ...env, ROSTERCTL_PROFILE: 'second' } };
  const elsewhere = { ...another.env, ROSTERCTL_BASE_URL: connection.baseUrl };
  expect((await inProcess('', { ...another, env: elsewhere })).stdout).not.toContain('Unfinished');
});

test('a create with an unknown outcome is not sent again after its profile was renamed', async () => {
  const service = await recordingService((request) =>
    request.method === 'POST' ? cut : { status: 200, json: [] },
  );
  const home = homeWith(club);
  const create = async (profile: string) => {
    const env = { ...service.env, ROSTERCTL_SETTLE: '0s', ROSTERCTL_PROFILE: profile };
    const ran = await inProcess('players create --name Ann', { home, env });
    return [ran.code, service.requests.filter(({ method }) => method === 'POST').length];
  };
  expect(await create('default')).toEqual([10, 1]);
  // The line of another profile is another one.
  expect(await create('second')).toEqual([10, 2]);
  await inProcess('profile rename default main', { home });
  expect(await create('main')).toEqual([10, 2]);
});

test('rosterctl alone names what is unfinished where variables hold the connection', async () => {
  const ids = ['app_1', 'app_2'];
  const { env } = await keep(
    ids.map((id) => application(id)),
    (_, step) => (step === 'PATCH app_2' ? { status: 401 } : undefined),
  );
  const home = temporaryFolder();
  const line = `tryouts set-status ${ids.join(' ')} --to reviewing --yes --concurrency 1`;
  expect((await inProcess(line, { env, home })).code).toBe(4);
  const { stdout } = await inProcess('', { home, env });
  expect(stdout).toContain(`profile default · ${organization}\n`);
  expect(stdout).toMatch(/^Unfinished {2}run [0-9a-f]{6}: 1 of 2 rows left/m);
  const elsewhere = { ...env, ROSTERCTL_ORG: 'org_8' };
  expect((await inProcess('', { home, env: elsewhere })).stdout).not.toContain('Unfinished');
  const keyless = { ...env, ROSTERCTL_API_KEY: '' };
  expect((await inProcess('', { home, env: keyless })).stdout).toContain('rosterctl auth login');
});

test('a run whose end another run shares is named whole, so that the line works as it is', async () => {
  const ids = ['app_1', 'app_2', 'app_3'];
  let isStuck = true;
  const service = await keep(
    ids.map((id) => application(id)),
    (_, step) => (isStuck && step === 'PATCH app_2' ? () => {} : undefined),
  );
  const home = homeWith(club);
  const line = `tryouts set-status ${ids.join(' ')} --to reviewing --yes --concurrency 1`;
  const killed = startLine(line, { env: service.env, home });
  await until(() => steps(service).includes('PATCH app_2'));
  killed.kill('SIGKILL');
  await killed.ended;
  const runs = join(home, '.local', 'state', 'rosterctl', 'runs');
  const [run = ''] = readdirSync(join(runs, 'open'));
  mkdirSync(join(runs, 'ended', `20260101T000000000-${run.slice(-6)}`));
  const { stdout } = await rosterctl('', { home });
  const [, typed = ''] = /rosterctl (runs resume \S+)/.exec(stdout.replaceAll('\\\n', '')) ?? [];
  expect(typed).toBe(`runs resume ${run}`);
  const { stdout: checked } = await inProcess('doctor --json', { env: service.env, home });
  expect(checked).toContain(`runs resume ${run}`);
  isStuck = false;
  expect((await rosterctl(`${typed} --yes`, { env: service.env, home })).code).toBe(0);
});

test('rosterctl alone without a key offers to log in, and nothing that needs one', async () => {
  const home = homeWith(club, { default: stored });
  const second = await inProcess('-p second', { home });
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.stdout).toMatch(/^Log in +rosterctl auth login --profile second$/m);
  expect(second.stdout).not.toMatch(/^(List|Review)/m);
  const inPlace = await inProcess('-p second', { home, env: { ROSTERCTL_API_KEY: 'sk_2' } });
  expect(inPlace.stdout).toMatch(/^List/m);
  expect((await inProcess('auth logout', { home })).code).toBe(0);
  expect((await inProcess('', { home })).stdout).toMatch(/^Log in +rosterctl auth login$/m);
});

test('rosterctl alone offers the other profiles after the active one was removed', async () => {
  const home = homeWith(club);
  expect((await inProcess('profile remove default --yes', { home })).code).toBe(0);
  const { code, stdout } = await inProcess('', { home });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^rosterctl [\d.]+ · no profile is active\n/);
  expect(stdout).toMatch(/^Choose +rosterctl profile use NAME$/m);
  expect(stdout).not.toContain('auth login');
});

test.each([
  ['nothing is stored', '{}'],
  ['the active profile is gone', JSON.stringify({ activeProfile: 'gone' })],
])('rosterctl alone shows the page for newcomers if %s', async (_, text) => {
  const ran = await inProcess('', { home: homeWith(text) });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toContain('rosterctl auth login');
});

test('rosterctl alone says that the configuration is damaged, as every command does', async () => {
  const home = homeWith('{"profiles": ');
  const ran = await inProcess('', { home });
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toBe((await inProcess('profile list', { home })).stderr);
});

test('rosterctl -p NAME alone is about that profile, and so are the lines it shows', async () => {
  const home = homeWith(club);
  const second = await inProcess('-p second', { home });
  expect(second.stdout).toContain('profile second');
  expect(second.stdout).toContain('rosterctl -p second tryouts list --status pending');
  const sandbox = await inProcess('-p sandbox', { home: temporaryFolder() });
  expect(sandbox.stdout).toContain('profile sandbox · org_demo');
  const unknown = await inProcess('-p secnd', { home });
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('Unknown profile secnd. Did you mean second?');
});
