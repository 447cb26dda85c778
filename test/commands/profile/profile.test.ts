import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exit } from '../../../src/exit-codes.js';
import { converse } from '../../support/converse.js';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';

const baseUrl = 'https://api.example.com/v1';

/** Creates a home folder with the profiles work (active) and other. */
async function twoProfiles(): Promise<string> {
  const home = temporaryFolder();
  for (const [name, org] of [
    ['work', 'org_1'],
    ['other', 'org_2'],
  ]) {
    const line = `auth login -p ${name} --base-url ${baseUrl} --org ${org} --key-stdin --no-check`;
    expect((await inProcess(line, { home, stdin: `canary-of-${name}` })).code).toBe(0);
  }
  return home;
}

const files = (home: string) =>
  ['config.json', 'credentials.json'].map(
    (name) =>
      JSON.parse(readFileSync(join(home, '.config', 'rosterctl', name), 'utf8')) as Record<
        string,
        unknown
      >,
  );
const active = async (home: string) =>
  (JSON.parse((await inProcess('profile list --json', { home })).stdout) as object[]).filter(
    (row) => (row as { active: boolean }).active,
  );

test('list and show print everything except the key', async () => {
  const home = await twoProfiles();
  const list = await rosterctl('profile list', { home });
  expect(list.stdout.split('\n')).toEqual([
    'name\torganization\tbaseUrl\tactive',
    `work\torg_1\t${baseUrl}\ttrue`,
    `other\torg_2\t${baseUrl}\tfalse`,
    '',
  ]);
  const show = await rosterctl('profile show --json', { home });
  expect(JSON.parse(show.stdout)).toEqual({
    name: 'work',
    organization: 'org_1',
    baseUrl,
    active: true,
    keyStored: true,
    settings: {},
  });
  expect(`${list.stdout}${show.stdout}`).not.toContain('canary');
});

test('profile show says what the built-in sandbox has', async () => {
  const shown = await inProcess('profile show sandbox --json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ organization: 'org_demo', keyStored: false });
});

test('control characters of an edited file reach no terminal', async () => {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const profiles = { 'wo\u001b[31mrk': { baseUrl, organization: 'or\u001b]0;title\u0007g' } };
  const text = JSON.stringify({ activeProfile: 'wo\u001b[31mrk', profiles });
  writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
  for (const line of ['profile show', 'profile list', 'auth status --offline', 'config list']) {
    const { stdout, stderr } = await inProcess(line, { home });
    expect(stdout, line).toContain('wo\\u001b[31mrk');
    for (const control of ['\u001b', '\u0007'])
      expect(stdout + stderr, line).not.toContain(control);
  }
  const { shown } = await converse(home, ['config', 'get', 'organization']);
  expect(shown).toBe('or\\u001b]0;title\\u0007g\r\n');
});

test('an empty list is an empty array', async () => {
  const ran = await inProcess('profile list --json');
  expect([ran.code, ran.stdout]).toEqual([0, '[]\n']);
});

test('use changes the active profile; the sandbox can be used, too', async () => {
  const home = await twoProfiles();
  expect((await rosterctl('profile use other', { home })).code).toBe(0);
  expect(await active(home)).toMatchObject([{ name: 'other' }]);
  expect((await inProcess('profile use sandbox', { home })).code).toBe(0);
  expect(await active(home)).toMatchObject([{ name: 'sandbox', organization: 'org_demo' }]);
});

test('use says that ROSTERCTL_PROFILE overrides the active profile', async () => {
  const home = await twoProfiles();
  const ran = await inProcess('profile use other', { home, env: { ROSTERCTL_PROFILE: 'work' } });
  expect(ran).toMatchObject({
    code: 0,
    stderr: 'ROSTERCTL_PROFILE=work is set and overrides the active profile.\n',
  });
  expect(await active(home)).toMatchObject([{ name: 'other' }]);
});

test('show without an active profile names the commands that list and choose one', async () => {
  const home = await twoProfiles();
  await inProcess('profile remove work --yes', { home });
  expect(await inProcess('profile show', { home })).toMatchObject({
    code: 2,
    stdout: '',
    stderr:
      'No profile is active.\nSee: rosterctl profile list\nChoose one: rosterctl profile use NAME\n',
  });
});

test('rename keeps the settings, the key and the active state', async () => {
  const home = await twoProfiles();
  await inProcess('config set output json', { home });
  expect((await rosterctl('profile rename work main', { home })).code).toBe(0);
  const [config, keys] = files(home);
  expect(config).toMatchObject({
    activeProfile: 'main',
    profiles: { main: { organization: 'org_1', output: 'json' } },
  });
  expect(Object.keys(keys ?? {})).toEqual(['main', 'other']);
});

test('rename to the same name changes nothing and says so', async () => {
  const ran = await inProcess('profile rename work work', { home: await twoProfiles() });
  expect([ran.code, ran.stdout]).toEqual([0, 'Profile work already has this name.\n']);
});

test('remove deletes the key as well and activates no other profile', async () => {
  const home = await twoProfiles();
  const ran = await rosterctl('profile remove work --yes', { home });
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('rosterctl profile use');
  const [config, keys] = files(home);
  expect([config?.['activeProfile'], Object.keys(keys ?? {})]).toEqual([undefined, ['other']]);
});

test('without the active profile, the one named default is active, and remove says so', async () => {
  const home = await twoProfiles();
  await inProcess('profile rename other default', { home });
  const ran = await inProcess('profile remove work --yes', { home });
  expect(ran.stderr).toBe('Profile default is now active.\n');
  expect(await active(home)).toMatchObject([{ name: 'default' }]);
});

describe('rejected, and nothing is changed', () => {
  test.each([
    ['profile remove work', /--yes/],
    ['profile remove wrok --yes', /Did you mean work\?/],
    ['profile remove sandbox --yes', /built in/],
    ['profile use wrok', /Did you mean work\?/],
    ['profile show wrok', /Did you mean work\?/],
    ['profile rename work other', /already/],
    ['profile rename work sandbox', /built in/],
    ['profile rename sandbox mine', /built in/],
    ['profile rename work ""', /cannot be empty/],
    ['-p wrok config set output json', /Did you mean work\?/],
  ])('%s', async (line, words) => {
    const home = await twoProfiles();
    const before = files(home);
    const ran = await inProcess(line, { home });
    expect([ran.code, ran.stdout]).toEqual([exit.usage, '']);
    expect(ran.stderr).toMatch(words);
    expect(files(home)).toEqual(before);
  });

  test.each([
    'profile remove work',
    'profile use other',
    'profile rename work main',
    'config set output json',
  ])('%s as a dry run shows the change', async (line) => {
    const home = await twoProfiles();
    const before = files(home);
    const ran = await inProcess(`${line} -n --json`, { home });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ dryRun: true, requests: [] });
    expect((JSON.parse(ran.stdout) as { changes: unknown[] }).changes.length).toBeGreaterThan(0);
    expect(files(home)).toEqual(before);
  });
});

test('remove leaves a profile that was logged in to another organization while it asked', async () => {
  const home = await twoProfiles();
  const again = async () => {
    const line = `auth login -p work --base-url ${baseUrl} --org org_3 --key-stdin --no-check`;
    await rosterctl(line, { home, stdin: 'canary-of-another' });
    return 'y\r';
  };
  const { shown, code } = await converse(home, ['profile', 'remove', 'work'], [[/y\/N/, again]]);
  expect([code, shown]).toEqual([exit.conflict, expect.stringContaining('changed while')]);
  expect(files(home)[1]).toMatchObject({ work: { organization: 'org_3' } });
});
