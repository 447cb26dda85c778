import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../src/config/cache.js';
import { resolvePaths } from '../../../src/config/paths.js';
import { exit } from '../../../src/exit-codes.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';

const baseUrl = 'http://127.0.0.1:9/v1';

async function homeWithLogin(...names: readonly string[]): Promise<string> {
  const home = temporaryFolder();
  for (const name of names) {
    const line = `auth login -p ${name} --base-url ${baseUrl} --org org_1 --key-stdin --no-check`;
    expect((await rosterctl(line, { home, stdin: `canary-of-${name}` })).code).toBe(0);
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
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { profile: 'work', removed: true }]);
  expect(keysIn(home)).toEqual(['other']);
  const show = await rosterctl('profile show work --json', { home });
  expect(JSON.parse(show.stdout)).toMatchObject({
    baseUrl,
    organization: 'org_1',
    keyStored: false,
  });
});

test('takes the cache of that organization along, and leaves that of others', async () => {
  const home = await homeWithLogin('work');
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: undefined });
  const mine = cacheFolder(paths, 'http://127.0.0.1:9', 'org_1') ?? '';
  const others = cacheFolder(paths, 'http://127.0.0.1:9', 'org_2') ?? '';
  for (const folder of [mine, others]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ids'), '');
  }
  await rosterctl('auth logout', { home });
  expect([existsSync(mine), existsSync(others)]).toEqual([false, true]);
});

test('a dry run removes nothing and says what it would', async () => {
  const home = await homeWithLogin('work');
  const ran = await rosterctl('auth logout -n --json', { home });
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
  await rosterctl('auth logout', { home });
  const ran = await rosterctl('auth logout --json', { home });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { profile: 'work', removed: false }]);
});

test('a profile that is not stored is a usage error with the nearest one', async () => {
  const ran = await rosterctl('auth logout --profile wrok', { home: await homeWithLogin('work') });
  expect(ran.code).toBe(exit.usage);
  expect(ran.stderr).toContain('Did you mean work?');
});

test('a key that stays in the environment is pointed out', async () => {
  const env = { ROSTERCTL_API_KEY: 'environment-canary' };
  const ran = await rosterctl('auth logout', { home: await homeWithLogin('work'), env });
  expect(ran.stderr).toContain('ROSTERCTL_API_KEY is still set');
  expect(ran.stderr).not.toContain('canary');
});
