import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exit } from '../../../src/exit-codes.js';
import { completeInProcess, inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';

const folderOf = (home: string) => join(home, '.config', 'rosterctl');
const fileOf = (home: string) => join(folderOf(home), 'config.json');
const stored = (home: string): unknown => JSON.parse(readFileSync(fileOf(home), 'utf8'));

/** Creates a home folder with this config.json. */
function homeWith(config: unknown): string {
  const home = temporaryFolder();
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  writeFileSync(fileOf(home), text, { mode: 0o600 });
  return home;
}

test('set without a profile changes the defaults, with one that profile', async () => {
  const home = temporaryFolder();
  await rosterctl('config set output json', { home });
  expect(stored(home)).toMatchObject({ defaults: { output: 'json' }, profiles: {} });
  const other = homeWith({ activeProfile: 'work', profiles: { work: {}, main: {} } });
  await inProcess('config set output csv', { home: other });
  await rosterctl('-p main config set timeout 10s', { home: other });
  expect(stored(other)).toMatchObject({
    profiles: { work: { output: 'csv' }, main: { timeout: '10s' } },
  });
});

test('set says what overrides the setting, and which key is used in spite of it', async () => {
  const home = temporaryFolder();
  const login = 'auth login --base-url https://a.example/v1 --org org_1 --key-stdin --no-check';
  await inProcess(login, { home, stdin: 'a-key' });
  const set = (line: string) =>
    inProcess(`config set ${line}`, { home, env: { ROSTERCTL_TIME: 'iso' } });
  expect(await set('time local')).toMatchObject({
    stdout: 'time = local (profile default)\n',
    stderr: 'ROSTERCTL_TIME is set in the environment and overrides it.\n',
  });
  expect(await set('key.command ""')).toMatchObject({
    code: exit.usage,
    stderr: 'key.command: The command is empty.\n',
  });
  expect((await set('key.command "pass show x"')).stderr).toMatch(
    /^The stored key is used until it is removed: rosterctl auth logout$/m,
  );
});

test('get prints the value alone, and with --json where it came from', async () => {
  const home = homeWith({ defaults: { output: 'ids' } });
  const plain = await rosterctl('config get output -o table', { home });
  expect(plain.stdout).toBe('ids\n');
  const json = await inProcess('config get output --json', { home });
  expect(JSON.parse(json.stdout)).toEqual({
    key: 'output',
    value: 'ids',
    origin: 'defaults',
  });
  const unset = await inProcess('config get columns.teams -o table', { home });
  expect([unset.code, unset.stdout]).toEqual([0, '']);
});

test('get prints the value also with a stored output of ids, and nothing if it is not set', async () => {
  const home = homeWith({ defaults: { output: 'ids', timeout: '10s' } });
  const ran = async (line: string) => {
    const { code, stdout, stderr } = await inProcess(line, { home });
    return { code, stdout, stderr };
  };
  expect(await ran('config get output')).toEqual({ code: 0, stdout: 'ids\n', stderr: '' });
  expect(await ran('config get timeout')).toEqual({ code: 0, stdout: '10s\n', stderr: '' });
  expect(await ran('config get columns.teams')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('list tells each setting and its origin, and never a key', async () => {
  const home = homeWith({
    activeProfile: 'work',
    defaults: { retries: 5 },
    profiles: { work: { baseUrl: 'https://a.example/v1', organization: 'org_1', time: 'iso' } },
  });
  const env = { ROSTERCTL_TIMEOUT: '7s', ROSTERCTL_API_KEY: 'environment-canary' };
  const ran = await rosterctl('config list --json --show-origin', { home, env });
  expect(ran.code).toBe(0);
  expect(ran.stdout).not.toContain('canary');
  const rows = JSON.parse(ran.stdout) as { key: string; value: unknown; origin: string }[];
  const at = `(${fileOf(home)})`;
  expect(rows).toEqual(
    expect.arrayContaining([
      { key: 'profile', value: 'work', origin: `active profile ${at}` },
      { key: 'organization', value: 'org_1', origin: `profile work ${at}` },
      { key: 'time', value: 'iso', origin: `profile work ${at}` },
      { key: 'retries', value: '5', origin: `defaults ${at}` },
      { key: 'timeout', value: '7s', origin: 'environment ROSTERCTL_TIMEOUT' },
      { key: 'concurrency', value: '4', origin: 'default' },
    ]),
  );
});

test('unset removes a setting, also one that this version does not know', async () => {
  const home = homeWith({ defaults: { output: 'json', later: 'x' } });
  for (const key of ['output', 'later'])
    expect((await rosterctl(`config unset ${key}`, { home })).code).toBe(0);
  expect(stored(home)).toEqual({ defaults: {}, profiles: {} });
});

test('path prints the file alone', async () => {
  const home = temporaryFolder();
  expect((await rosterctl('config path', { home })).stdout).toBe(`${fileOf(home)}\n`);
  const named = await inProcess('config path', { home, env: { ROSTERCTL_CONFIG_DIR: '/r/c' } });
  expect(named.stdout).toBe('/r/c/config.json\n');
});

describe('rejected, and nothing is stored', () => {
  test.each([
    ['config set ouput json', /Did you mean output\?/],
    ['config set output jsn', /Did you mean json\?/],
    ['config set timeout 30', /no unit/],
    ['config set lists.tryouts.query nonsense', /"nonsense" is not a query\.\nWrite include=/],
    ['config set concurrency 257', /1 to 256/],
    ['config set endpoints.players.update "PUT https://evil.example/{id}"', /is not a route/],
    ['config set endpoints.players.delete "DELETE /players"', /\{id\}/],
    ['config set baseUrl https://a.example/v1', /auth login/],
    ['config set key.command "pass show x"', /belongs to one profile/],
    ['config get ouput', /Did you mean output\?/],
    ['config unset ouput', /Did you mean output\?/],
  ])('%s', async (line, words) => {
    const home = temporaryFolder();
    const ran = await inProcess(line, { home });
    expect([ran.code, ran.stdout]).toEqual([exit.usage, '']);
    expect(ran.stderr).toMatch(words);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('a broken configuration', () => {
  test('an invalid value stops other commands with a hint to fix it by config', async () => {
    const home = homeWith({ defaults: { output: 'jsn' } });
    const stopped = await inProcess('-p sandbox teams list', { home });
    expect(stopped.code).toBe(exit.usage);
    expect(stopped.stderr).toContain(fileOf(home));
    expect(stopped.stderr).toContain('rosterctl -p sandbox config set output');
    expect((await inProcess('config set output csv', { home })).code).toBe(0);
    const mended = await inProcess('config get output --json', { home });
    expect(JSON.parse(mended.stdout)).toMatchObject({ value: 'csv' });
  });

  test.each([
    ['empty', ''],
    ['cut off', '{"profiles": {'],
    ['a list', '[]'],
    ['null', 'null'],
  ])('%s: exit 2 with the path and a fix, no stack, never cleared', async (_, text) => {
    const home = homeWith(text);
    for (const line of ['teams list', 'config list', 'config set output json', 'profile list']) {
      const ran = await inProcess(line, { home });
      expect([line, ran.code, ran.stdout]).toEqual([line, exit.usage, '']);
      expect(ran.stderr).toContain(fileOf(home));
      expect(ran.stderr).not.toMatch(/^\s+at /m);
    }
    expect(readFileSync(fileOf(home), 'utf8')).toBe(text);
  });
});

test('nothing is read from the current folder', async () => {
  const cwd = temporaryFolder();
  for (const name of ['config.json', '.rosterctl.json', '.env', 'credentials.json'])
    writeFileSync(
      join(cwd, name),
      JSON.stringify({ defaults: { output: 'ids' }, ROSTERCTL_OUTPUT: 'ids' }),
    );
  for (const home of [temporaryFolder(), ''])
    expect((await rosterctl('config get output', { cwd, env: { HOME: home } })).stdout).toBe(
      'table\n',
    );
});

test.each(['0', '99999', '0.0'])('the error for a rate of %s names valid rates', async (rate) => {
  const ran = await inProcess(`config set rate ${rate}`);
  expect(ran.code).toBe(exit.usage);
  expect(ran.stderr).toContain('Write 5/s, 90/m or none.');
});

test('an unsupported spreadsheet format is rejected before any request', async () => {
  for (const words of [
    'teams list --out squad.xlsm',
    'teams list --out squad.numbers',
    'tryouts set-status app_0001 --to accepted --yes --results squad.ods',
  ]) {
    const ran = await inProcess(`-p sandbox ${words}`);
    expect([ran.code, ran.stdout]).toEqual([exit.usage, '']);
    expect(ran.stderr).toContain('Use .csv');
  }
});

test('a column that resembles a documented field is set with a note, any other is set silently', async () => {
  const home = temporaryFolder();
  const ran = await inProcess('config set columns.tryouts id,nmae,shoeSize', { home });
  expect([ran.code, ran.stderr]).toEqual([
    0,
    'No documented field is called nmae; did you mean name?\n',
  ]);
  expect(stored(home)).toMatchObject({ defaults: { 'columns.tryouts': 'id,nmae,shoeSize' } });
});

test('columns by their labels are set silently', async () => {
  const home = temporaryFolder();
  const ran = await inProcess(['config', 'set', 'columns.tryouts', 'id, Name,submitted'], { home });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
});

test('unset of a setting that belongs to one profile never shows that of the defaults', async () => {
  const profiles = { work: {} };
  const home = homeWith({ activeProfile: 'work', defaults: { 'key.command': 'x' }, profiles });
  const ran = await inProcess('config unset key.command', { home });
  expect(ran.stderr).toContain('key.command has no effect in the defaults');
  expect(ran.stderr).not.toContain('still');
});

test('unset of a profile names the defaults, which still set it', async () => {
  const profiles = { work: { timeout: '5s' } };
  const home = homeWith({ activeProfile: 'work', defaults: { timeout: '9s' }, profiles });
  const note = `timeout is still 9s in the defaults of all profiles: ${fileOf(home)}\n`;
  for (const removed of ['is no longer', 'was not']) {
    const ran = await inProcess('config unset timeout', { home });
    expect(ran).toMatchObject({
      code: 0,
      stdout: `timeout ${removed} set (profile work).\n`,
      stderr: note,
    });
  }
  expect((await inProcess('config get timeout', { home })).stdout).toBe('9s\n');
});

test('unset reports whether a setting was removed', async () => {
  const home = homeWith({ activeProfile: 'b', profiles: { b: { timeout: '5s' } } });
  const first = await inProcess('config unset timeout -o table', { home });
  expect(first.stdout).toContain('timeout is no longer set (profile b).');
  const again = await inProcess('config unset timeout', { home });
  expect(again.stdout).toContain('timeout was not set (profile b).');
});

test('the sandbox leaves no empty profile and is offered once', async () => {
  const home = temporaryFolder();
  await inProcess('-p sandbox config set timeout 5s', { home });
  const offered = () => completeInProcess(['-p', ''], { home });
  expect(offered().match(/^sandbox\t/gm)).toHaveLength(1);
  await inProcess('-p sandbox config unset timeout', { home });
  expect(stored(home)).toMatchObject({ profiles: {} });
  expect(offered().match(/^sandbox\t/gm)).toHaveLength(1);
});

test('list and get show the connection of the sandbox, not that of the environment', async () => {
  const env = { ROSTERCTL_BASE_URL: 'https://api.example.com/v1', ROSTERCTL_ORG: 'org_7' };
  const ran = await inProcess('-p sandbox config list --json', { env });
  expect(JSON.parse(ran.stdout)).toEqual(
    expect.arrayContaining([
      { key: 'baseUrl', value: null, origin: 'built in' },
      { key: 'organization', value: 'org_demo', origin: 'built in' },
    ]),
  );
  const one = await inProcess('-p sandbox config get organization', { env });
  expect(one.stdout).toBe('org_demo\n');
});
