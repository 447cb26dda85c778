import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheFolder, resolvePaths } from '../../../src/config/paths.js';
import {
  cursorKeys,
  cursorPlace,
  ensureCursorFolder,
  writeCursor,
} from '../../../src/cursors/cursor-file.js';
import { exit } from '../../../src/exit-codes.js';
import { describeSelf } from '../../../src/files/holder.js';
import { sealLine } from '../../../src/files/synced-lines.js';
import { openQueue } from '../../../src/review/queue.js';
import { isAlive } from '../../support/alive.js';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';

const baseUrl = 'http://127.0.0.1:9/v1';

async function homeWithLogin(...names: readonly string[]): Promise<string> {
  const home = temporaryFolder();
  for (const name of names) {
    const line = `auth login -p ${name} --base-url ${baseUrl} --org org_1 --key-stdin --no-check`;
    expect((await inProcess(line, { home, stdin: `canary-of-${name}` })).code).toBe(0);
  }
  return home;
}

const keysIn = (home: string) =>
  Object.keys(
    JSON.parse(
      readFileSync(join(home, '.config', 'rosterctl', 'credentials.json'), 'utf8'),
    ) as object,
  );

test('removes the key of the profile and nothing else, without asking', async () => {
  const home = await homeWithLogin('work', 'other');
  const ran = await rosterctl('auth logout --json', { home });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([
    0,
    { profile: 'work', removed: true, runsRemoved: 0, beforeImagesRemoved: 0, cursorsRemoved: 0 },
  ]);
  expect(keysIn(home)).toEqual(['other']);
  const show = await rosterctl('profile show work --json', { home });
  expect(JSON.parse(show.stdout)).toMatchObject({
    baseUrl,
    organization: 'org_1',
    keyStored: false,
  });
});

test('removes the cache of that organization and keeps those of others', async () => {
  const home = await homeWithLogin('work');
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: undefined });
  const mine = cacheFolder(paths, 'http://127.0.0.1:9', 'org_1') ?? '';
  const others = cacheFolder(paths, 'http://127.0.0.1:9', 'org_2') ?? '';
  for (const folder of [mine, others]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ids'), '');
  }
  await inProcess('auth logout', { home });
  expect([existsSync(mine), existsSync(others)]).toEqual([false, true]);
});

test('a dry run removes nothing and prints what would be removed', async () => {
  const home = await homeWithLogin('work');
  const ran = await inProcess('auth logout -n --json', { home });
  expect(JSON.parse(ran.stdout)).toEqual({
    schema: 1,
    dryRun: true,
    requests: [],
    changes: [{ id: 'work', field: 'key', from: 'stored', to: null }],
  });
  expect(keysIn(home)).toEqual(['work']);
});

test('twice is no error', async () => {
  const home = await homeWithLogin('work');
  await inProcess('auth logout', { home });
  const ran = await inProcess('auth logout --json', { home });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([
    0,
    { profile: 'work', removed: false, runsRemoved: 0, beforeImagesRemoved: 0, cursorsRemoved: 0 },
  ]);
});

test('a profile that is not stored is a usage error with the nearest one', async () => {
  const ran = await inProcess('auth logout --profile wrok', { home: await homeWithLogin('work') });
  expect(ran.code).toBe(exit.usage);
  expect(ran.stderr).toContain('Did you mean work?');
});

test('notes a key that is still set in the environment', async () => {
  const env = { ROSTERCTL_API_KEY: 'environment-canary' };
  const ran = await inProcess('auth logout', { home: await homeWithLogin('work'), env });
  expect(ran.stderr).toContain('ROSTERCTL_API_KEY is still set');
  expect(ran.stderr).not.toContain('canary');
});

test('notes that the profile still has a command that prints a key', async () => {
  const home = await homeWithLogin('work');
  await inProcess("config set key.command 'echo command-canary'", { home });
  const ran = await inProcess('auth logout', { home });
  expect(ran.stderr).toBe('key.command of profile work is still set and is used.\n');
});

test('without a stored key needs no readable configuration', async () => {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), '{', { mode: 0o600 });
  const ran = await inProcess('auth logout', { home });
  expect([ran.code, ran.stdout]).toEqual([0, 'Profile default has no stored key.\n']);
});

/** Writes a run of an organization, `ended` or unfinished; `more`: further facts about it. */
function scriptedRun(
  home: string,
  run: string,
  organization: string,
  ended: boolean,
  more: object = {},
): string {
  const folder = join(home, '.local/state/rosterctl/runs', ended ? 'ended' : 'open', run);
  mkdirSync(folder, { recursive: true });
  const head = {
    format: 1,
    version: '0.2.0',
    run,
    action: 'tryouts.update',
    profile: 'work',
    organization,
    service: baseUrl,
    resource: 'tryouts',
    input: run,
    rows: 2,
    startedAt: '2026-03-01T10:15:00.123Z',
    ...more,
  };
  const lines = [
    sealLine({ seq: 1, t: 1, kind: 'job', ...head }),
    sealLine({ seq: 2, t: 2, kind: 'result', row: 1, id: 'app_1', result: 'changed' }),
    ...(ended ? [sealLine({ seq: 3, t: 3, kind: 'end', summary: {} })] : []),
  ];
  writeFileSync(join(folder, 'journal.jsonl'), lines.join(''));
  writeFileSync(join(folder, 'undo.jsonl'), '');
  return folder;
}

test('removes finished runs and before-images of its organization, and names and keeps unfinished runs', async () => {
  const home = await homeWithLogin('work');
  const ended = scriptedRun(home, '20260301T101500123-aaaaaa', 'org_1', true);
  const single = scriptedRun(home, '20260301T101500123-1-bbbbbb', 'org_1', true);
  const open = scriptedRun(home, '20260301T101500123-cccccc', 'org_1', false);
  const other = scriptedRun(home, '20260301T101500123-dddddd', 'org_2', true);
  const would = await inProcess('auth logout -n --json', { home });
  expect(JSON.parse(would.stdout).changes).toHaveLength(1 + 2 + 3);
  const shown = (await inProcess('auth logout -n', { home })).stdout;
  for (const run of ['-aaaaaa', '-1-bbbbbb', '-cccccc'])
    expect(shown.match(new RegExp(`20260301T101500123${run}`, 'g'))).toHaveLength(1);
  expect(existsSync(ended)).toBe(true);
  const ran = await inProcess('auth logout --json', { home });
  expect(JSON.parse(ran.stdout)).toEqual({
    profile: 'work',
    removed: true,
    runsRemoved: 2,
    beforeImagesRemoved: 3,
    cursorsRemoved: 0,
  });
  expect(ran.stderr).toContain('1 unfinished run was kept: cccccc. To delete one: ');
  expect([ended, single, open, other].map((folder) => existsSync(folder))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(existsSync(join(open, 'undo.jsonl'))).toBe(false);
  expect(existsSync(join(open, 'journal.jsonl'))).toBe(true);
  expect(existsSync(join(other, 'undo.jsonl'))).toBe(true);
});

test('keeps the runs as long as another profile has a key for the organization', async () => {
  const home = await homeWithLogin('work', 'other');
  const ended = scriptedRun(home, '20260301T101500123-aaaaaa', 'org_1', true);
  await inProcess('auth logout -p work', { home });
  expect(existsSync(join(ended, 'undo.jsonl'))).toBe(true);
  await inProcess('auth logout -p other', { home });
  expect(existsSync(ended)).toBe(false);
});

test.each([
  ['a key for another organization', `--base-url ${baseUrl} --org org_2`, '', false],
  ['a key for another service', '--base-url http://127.0.0.1:8/v1 --org org_1', '', false],
  ['a command that prints one', `--base-url ${baseUrl} --org org_1`, 'echo x', true],
  ['one for another organization', `--base-url ${baseUrl} --org org_2`, 'echo x', false],
  ['one for another service', '--base-url http://127.0.0.1:8/v1 --org org_1', 'echo x', false],
])(
  'keeps the runs only for who can still reach them, where another profile has %s',
  async (_, place, command, isKept) => {
    const home = await homeWithLogin('work');
    const login = `auth login -p other ${place} --key-stdin --no-check`;
    await inProcess(login, { home, stdin: 'canary-of-other' });
    if (command !== '') {
      await inProcess('auth logout -p other', { home });
      await inProcess(`-p other config set key.command '${command}'`, { home });
    }
    const ended = scriptedRun(home, '20260301T101500123-aaaaaa', 'org_1', true);
    await inProcess('auth logout -p work', { home });
    expect([existsSync(ended), keysIn(home).includes('work')]).toEqual([isKept, false]);
  },
);

test('keeps the before-images of a run that a process is working on', async () => {
  const home = await homeWithLogin('work');
  const holder = describeSelf({ pid: process.ppid, isAlive }, undefined);
  const run = scriptedRun(home, '20260301T101500123-aaaaaa', 'org_1', false, { holder });
  await inProcess('auth logout', { home });
  expect(existsSync(join(run, 'undo.jsonl'))).toBe(true);
});

test('removes the cursors of its organization once no other profile has a key for it', async () => {
  const home = await homeWithLogin('work', 'other');
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const [mine, others] = await Promise.all(
    ['org_1', 'org_2'].map(async (organization) => {
      const folder = ensureCursorFolder(paths, cursorPlace(baseUrl, organization));
      const key = { name: 'mail', resource: 'tryouts', filter: '', changed: undefined };
      const rest = { seen: new Map(), pending: undefined, lastAt: undefined, since: undefined };
      await writeCursor(folder, { ...key, ...rest }, undefined);
      return folder;
    }),
  );
  const left = () => [mine, others].map((folder) => cursorKeys(folder).length);
  await inProcess('auth logout -p work', { home });
  expect(left()).toEqual([1, 1]);
  const ran = await inProcess('auth logout -p other', { home });
  expect(ran.stdout).toContain('Also removed: 1 cursor of --since-last.\n');
  expect(left()).toEqual([0, 1]);
});

test('an unsent review is named and kept', async () => {
  const home = await homeWithLogin('work');
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const head = { service: baseUrl, organization: 'org_1', profile: 'work' };
  const queue = await openQueue(paths, head, { self: { pid: process.pid, isAlive: () => true } });
  const queued = { name: 'Ann', seen: 'pending', decision: { status: 'accepted' } };
  await queue.append({ kind: 'decision', id: 'app_1', queued });
  await queue.close();
  const start = await inProcess('', { home });
  expect(start.stdout).toMatch(
    /Unfinished {2}review: 1 decision not sent +rosterctl tryouts review\n/,
  );
  const ran = await inProcess('auth logout', { home });
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(
    'A review with 1 unsent decision was kept. After the next login: rosterctl tryouts review --resume',
  );
  const again = await openQueue(paths, head, { self: { pid: process.pid, isAlive: () => true } });
  expect(again.present().queued.get('app_1')).toEqual(queued);
  await again.close();
});

test('removes the rest although a cursor cannot be removed, and prints what it removed', async () => {
  const home = await homeWithLogin('work');
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const cursors = ensureCursorFolder(paths, cursorPlace(baseUrl, 'org_1'));
  mkdirSync(join(cursors, 'tryouts.a.json', 'inner'), { recursive: true });
  writeFileSync(join(cursors, 'tryouts.b.json'), '{}');
  scriptedRun(home, '20260301T101500123-aaaaaa', 'org_1', false);
  const ran = await inProcess('auth logout --json', { home });
  expect(ran.stderr).toContain('The cursor a cannot be removed');
  expect(ran.stderr).toContain('1 unfinished run was kept');
  expect([ran.code, keysIn(home)]).toEqual([1, []]);
  expect(existsSync(join(cursors, 'tryouts.b.json'))).toBe(false);
  expect(JSON.parse(ran.stdout)).toMatchObject({ removed: true, cursorsRemoved: 1 });
});

test('a folder in place of before-images is removed, one in place of a cursor is named, and neither is a bug', async () => {
  const home = await homeWithLogin('work');
  const images = join(scriptedRun(home, '20260301T101500123-aaaaaa', 'org_1', false), 'undo.jsonl');
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const cursors = ensureCursorFolder(paths, cursorPlace(baseUrl, 'org_1'));
  rmSync(images);
  for (const file of [images, join(cursors, 'tryouts.mail.json')])
    mkdirSync(join(file, 'inner'), { recursive: true });
  const ran = await inProcess('auth logout', { home });
  expect(ran.stderr).toMatch(
    /^The cursor mail cannot be removed: it is a folder \(ERR_FS_EISDIR\)\.\n/,
  );
  expect([ran.code, existsSync(images), keysIn(home)]).toEqual([1, false, []]);
});

test.each(['runs', 'cursors'])(
  'removes the key although the %s cannot be listed, which it says',
  async (subject) => {
    const home = await homeWithLogin('work');
    const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
    const folders = {
      runs: join(home, '.local', 'state', 'rosterctl', 'runs', 'open'),
      cursors: ensureCursorFolder(paths, cursorPlace(baseUrl, 'org_1')),
    };
    const folder = folders[subject as keyof typeof folders];
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    symlinkSync(basename(folder), folder);
    const ran = await inProcess('auth logout', { home });
    expect(ran.stderr).toMatch(new RegExp(`^The ${subject} in .* cannot be read`));
    expect([ran.code, keysIn(home)]).toEqual([0, []]);
  },
);

test('removes the key although the base URL of another profile is not a URL', async () => {
  const home = await homeWithLogin('work');
  const file = join(home, '.config', 'rosterctl', 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { profiles: object };
  const edited = { baseUrl: 'nonsense', organization: 'org_1', 'key.command': 'x' };
  Object.assign(config.profiles, { edited });
  writeFileSync(file, JSON.stringify(config));
  expect((await inProcess('auth logout', { home })).code).toBe(0);
  expect(keysIn(home)).toEqual([]);
});
