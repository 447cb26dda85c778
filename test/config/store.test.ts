import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolvePaths } from '../../src/config/paths.js';
import { withLogin, withoutProfile, withRenamed, withSetting } from '../../src/config/profiles.js';
import { openConfigStore } from '../../src/config/store.js';
import { ConfigError } from '../../src/errors.js';
import { temporaryFolder } from '../support/run.js';

const home = temporaryFolder();
const self = { pid: process.pid, isAlive: () => true };
const uid = process.getuid?.();
const onlyRoot = 'only root can give a file to another user';
const place = { baseUrl: 'https://a.example/v1', organization: 'org_1' };
const key = { key: 'canary-key-1234', origin: 'https://a.example', organization: 'org_1' };
let count = 0;

function freshFolder(): string {
  return join(home, `case-${++count}`);
}

function open(folder: string | undefined) {
  const env = folder === undefined ? {} : { ROSTERCTL_CONFIG_DIR: folder };
  return openConfigStore(resolvePaths({ env, platform: 'linux', uid }), { self });
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('an empty store reads as empty and creates nothing', () => {
  const folder = freshFolder();
  const store = open(folder);
  expect([store.profiles(), store.keys().size, store.config().activeProfile]).toEqual([
    [],
    0,
    undefined,
  ]);
  expect(existsSync(folder)).toBe(false);
});

test('without a home folder reading works and storing is refused', async () => {
  const store = open(undefined);
  expect(store.profiles()).toEqual([]);
  expect(() => store.configFile).toThrow(ConfigError);
  await expect(store.update((now) => now)).rejects.toMatchObject({
    hint: expect.stringContaining('ROSTERCTL_CONFIG_DIR'),
  });
});

test('a login is stored, private whatever the umask, and read back by another process', async () => {
  const folder = freshFolder();
  const before = process.umask(0);
  try {
    await open(folder).update((now) => withLogin(now, 'work', place, key));
  } finally {
    process.umask(before);
  }
  expect(modeOf(folder)).toBe(0o700);
  for (const name of readdirSync(folder))
    expect([name, modeOf(join(folder, name))]).toEqual([name, 0o600]);
  const other = open(folder);
  expect(other.profiles()).toEqual([{ name: 'work', ...place, active: true }]);
  expect(other.keys().get('work')).toEqual(key);
  expect(readFileSync(other.configFile, 'utf8')).not.toContain('canary');
});

test('names with dots and names that are special in JavaScript are ordinary names', async () => {
  const folder = freshFolder();
  for (const name of ['a.b', '__proto__', 'constructor'])
    await open(folder).update((now) => withLogin(now, name, place, { ...key, key: `of-${name}` }));
  const store = open(folder);
  expect(store.profiles().map(({ name }) => name)).toEqual(['a.b', '__proto__', 'constructor']);
  expect(store.keys().get('__proto__')?.key).toBe('of-__proto__');
  expect(store.keys().get('toString')).toBeUndefined();
});

test('a second login keeps the settings of the profile and the active profile', async () => {
  const store = open(freshFolder());
  await store.update((now) => withLogin(now, 'work', place, key));
  await store.update((now) => withSetting(now, 'work', 'output', 'json'));
  await store.update((now) => withLogin(now, 'other', place, key));
  await store.update((now) => withLogin(now, 'work', { ...place, organization: 'org_2' }, key));
  expect(store.config().profiles.get('work')).toMatchObject({
    organization: 'org_2',
    settings: new Map([['output', 'json']]),
  });
  expect(store.profiles().map(({ name, active }) => [name, active])).toEqual([
    ['work', true],
    ['other', false],
  ]);
});

test('renaming and removing also apply to the key and the active profile', async () => {
  const store = open(freshFolder());
  await store.update((now) => withLogin(now, 'default', place, key));
  await store.update((now) => withRenamed(now, 'default', 'work'));
  expect([store.config().activeProfile, [...store.keys().keys()]]).toEqual(['work', ['work']]);
  await store.update((now) => withoutProfile(now, 'work'));
  expect([store.config().activeProfile, store.keys().size, store.profiles()]).toEqual([
    undefined,
    0,
    [],
  ]);
});

test('unknown keys of a newer version are kept', async () => {
  const folder = freshFolder();
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ future: { a: 1 }, profiles: { work: { ...place, later: 'x' } } }),
  );
  const store = open(folder);
  await store.update((now) => withSetting(now, undefined, 'output', 'csv'));
  expect(JSON.parse(readFileSync(store.configFile, 'utf8'))).toEqual({
    defaults: { output: 'csv' },
    profiles: { work: { ...place, later: 'x' } },
    future: { a: 1 },
  });
});

test('a change made meanwhile by another process is not lost', async () => {
  const folder = freshFolder();
  const [one, two] = [open(folder), open(folder)];
  one.config();
  two.config();
  await one.update((now) => withSetting(now, undefined, 'output', 'json'));
  await two.update((now) => withSetting(now, undefined, 'time', 'iso'));
  expect(open(folder).config().defaults).toEqual(
    new Map([
      ['output', 'json'],
      ['time', 'iso'],
    ]),
  );
});

test('no concurrent change is lost', async () => {
  const folder = freshFolder();
  const names = Array.from({ length: 12 }, (_, index) => `profile-${index}`);
  await Promise.all(
    names.map((name) => open(folder).update((now) => withLogin(now, name, place, key))),
  );
  const store = open(folder);
  expect(
    store
      .profiles()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names.toSorted());
  expect([...store.keys().keys()].toSorted()).toEqual(names.toSorted());
});

test('a change that changes nothing writes nothing', async () => {
  const store = open(freshFolder());
  await store.update((now) => now);
  expect(existsSync(store.configFile)).toBe(false);
});

describe('a file that cannot be used', () => {
  test.each([
    ['is empty', ''],
    ['is cut off', '{"profiles": {"work": {"baseUrl": "canary'],
    ['is a list', '[]'],
    ['is null', 'null'],
    ['is text', '"canary"'],
    ['has profiles of a wrong type', '{"profiles": []}'],
    ['has a profile of a wrong type', '{"profiles": {"work": "canary"}}'],
    ['has a base URL of a wrong type', '{"profiles": {"work": {"baseUrl": 7}}}'],
    ['has an active profile of a wrong type', '{"activeProfile": true}'],
    ['has a nested setting', '{"defaults": {"endpoints": {"players": "canary"}}}'],
  ])('config.json that %s', (_, text) => expectRefusal('config.json', text));

  test.each([
    ['is cut off', '{"work": {"key": "canary'],
    ['is a list', '["canary"]'],
    ['has an entry of a wrong type', '{"work": "canary"}'],
    ['has a key that is bound to nothing', '{"work": {"key": "canary"}}'],
  ])('credentials.json that %s', (_, text) => expectRefusal('credentials.json', text));

  test('a folder in the place of the file', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'config.json'), { recursive: true });
    expect(() => open(folder).config()).toThrow(/config\.json cannot be read: it is a folder/);
  });

  test('a byte order mark is accepted for reading and writing', async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), '\uFEFF{"defaults": {"output": "ids"}}');
    const store = open(folder);
    expect(store.config().defaults.get('output')).toBe('ids');
    await store.update((now) => withSetting(now, undefined, 'time', 'iso'));
    expect(open(folder).config().defaults.size).toBe(2);
  });
});

describe('modes and other users', () => {
  test('a loose credentials.json is set to 0600 at the first read, and reported once', async () => {
    const folder = freshFolder();
    const store = open(folder);
    await store.update((now) => withLogin(now, 'work', place, key));
    chmodSync(store.credentialsFile, 0o644);
    chmodSync(folder, 0o755);
    const later = open(folder);
    later.keys();
    expect(modeOf(store.credentialsFile)).toBe(0o600);
    const said = [`${store.credentialsFile} could be read by other users; its mode is now 0600.`];
    expect(later.warnings()).toEqual(said);
    await later.update((now) => withSetting(now, 'work', 'output', 'json'));
    expect([modeOf(folder), later.warnings()]).toEqual([0o700, said]);
    const next = open(folder);
    next.keys();
    expect(next.warnings()).toEqual([]);
  });

  test('a link in the place of a file is read and not written through', async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o700 });
    const target = join(home, `target-${count}`);
    writeFileSync(target, '{"defaults": {"output": "json"}}', { mode: 0o600 });
    symlinkSync(target, join(folder, 'config.json'));
    const store = open(folder);
    expect(store.config().defaults.get('output')).toBe('json');
    await expect(
      store.update((now) => withSetting(now, undefined, 'output', 'csv')),
    ).rejects.toThrow(/is a link/);
    expect(readFileSync(target, 'utf8')).toContain('json');
  });

  test('lock files do not pile up beside the configuration, and those of 0.1.0 are removed', async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o700 });
    for (const number of [7, 8, 9]) writeFileSync(join(folder, `config.lock.${number}`), '');
    const store = open(folder);
    for (const size of Array(20).keys())
      await store.update((now) => withSetting(now, undefined, 'paging.size', `${size + 1}`));
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('copies that a killed writer left are swept, other files are not', async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'credentials.json.tmp-0123456789abcdef'), 'canary');
    writeFileSync(join(folder, 'config.json.tmp-0123456789abcdef'), '');
    writeFileSync(join(folder, 'config.json.tmp-mine'), '');
    await open(folder).update((now) => withSetting(now, undefined, 'output', 'csv'));
    const left = readdirSync(folder).filter((name) => name.includes('.tmp-'));
    expect(left).toEqual(['config.json.tmp-mine']);
  });

  test('the temporary copies of conf have the names that the sweep expects', async () => {
    const { default: temp } = (await import(
      /* @vite-ignore */ new URL(
        '../../node_modules/atomically/dist/utils/temp.js',
        import.meta.url,
      ).href
    )) as {
      default: { create(path: string): string };
    };
    expect(temp.create('/c/credentials.json')).toMatch(/\/credentials\.json\.tmp-[0-9a-f]{16}$/);
  });
});

/** The error names the file and a fix, shows none of its content, and the file stays unchanged. */
async function expectRefusal(name: string, text: string): Promise<void> {
  const folder = freshFolder();
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, name);
  writeFileSync(file, text);
  const store = open(folder);
  const read = () => [store.config(), store.keys()];
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(file);
  expect(read).not.toThrow(/canary/);
  const changing = store.update((now) => withLogin(now, 'work', place, key));
  await expect(changing).rejects.toBeInstanceOf(ConfigError);
  await expect(changing).rejects.toMatchObject({ hint: expect.stringContaining('rosterctl') });
  expect(readFileSync(file, 'utf8')).toBe(text);
}

test('a folder of another user is neither written nor trusted', async ({ skip }) => {
  skip(uid !== 0, onlyRoot);
  const folder = freshFolder();
  await open(folder).update((now) => withLogin(now, 'work', place, key));
  for (const name of [...readdirSync(folder), '.']) chownSync(join(folder, name), 4242, 4242);
  expect(() => open(folder).keys()).toThrow(/belongs to another user/);
  await expect(
    open(folder).update((now) => withSetting(now, undefined, 'output', 'csv')),
  ).rejects.toThrow(/belongs to another user/);
});

test('another user can read none of it', async ({ skip }) => {
  skip(uid !== 0, onlyRoot);
  const folder = freshFolder();
  const before = process.umask(0);
  try {
    await open(folder).update((now) => withLogin(now, 'work', place, key));
  } finally {
    process.umask(before);
  }
  chmodSync(home, 0o755);
  const read = spawnSync('/bin/cat', [join(folder, 'credentials.json')], { uid: 4242, gid: 4242 });
  expect([read.status, read.stdout.toString()]).toEqual([1, '']);
  expect(read.stderr.toString()).toContain('Permission denied');
});
