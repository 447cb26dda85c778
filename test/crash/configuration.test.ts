import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { freshEnvironment, launcher, temporaryFolder } from '../support/run.js';
import { startSandbox } from './stage.js';

// Kills a change of the configuration, which is in two files, at each system call that writes one of them.

const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const baseUrl = 'https://api.example.com/v1';

describe('by system calls:', () => {
  beforeEach(({ skip }) => skip(!trace, 'strace is not installed or may not trace'));

  test.each([
    ['profile rename work main', ['main', 'other']],
    ['profile remove work --yes', ['other']],
    [
      'auth login -p new --base-url URL --org org_3 --key-stdin --no-check',
      ['new', 'other', 'work'],
    ],
  ])('%s, killed anywhere, leaves each key with its profile', async (typed, names) => {
    const line = typed.replace('URL', baseUrl);
    const before = await twoProfiles();
    let kills = 0;
    for (const call of ['rename', 'fsync', 'unlink'])
      for (let at = 1; at <= 10; at++) {
        const home = join(temporaryFolder(), 'home');
        cpSync(before, home, { recursive: true });
        const { signal } = spawnSync('strace', killedAt(call, at, line), {
          env: { ...freshEnvironment(home), UV_THREADPOOL_SIZE: '1' },
          input: 'canary-of-new',
        });
        const status = await inProcess('auth status --all --offline', { home });
        // A profile that is being removed may have lost its key already.
        if (!typed.includes('remove')) expect([call, at, status.code]).toEqual([call, at, 0]);
        const again = await inProcess(line, { home, stdin: 'canary-of-new' });
        if (again.code !== 0) expect(again.stderr).toContain('Unknown profile work.');
        // The next change, whatever it is, removes what was left.
        expect((await inProcess('config set time iso', { home })).code).toBe(0);
        expect(namesIn(home)).toEqual([names, names]);
        if (signal === null) break;
        kills += 1;
      }
    expect(kills).toBeGreaterThan(3);
  });
});

test('a logout killed anywhere is finished by the same command', async ({ skip }) => {
  skip(!trace, 'strace is not installed or may not trace');
  const { baseUrl: url, organizationId, apiKey } = await startSandbox();
  const before = temporaryFolder();
  const login = `auth login --base-url ${url} --org ${organizationId} --key-stdin`;
  expect((await inProcess(login, { home: before, stdin: apiKey })).code).toBe(0);
  for (const line of ['tryouts update app_0012 --note x --yes', 'tryouts list --since-last mail'])
    expect((await inProcess(line, { home: before })).code).toBe(0);
  let kills = 0;
  for (const call of ['rename', 'unlink', 'rmdir'])
    for (let at = 1; at <= 10; at++) {
      const home = join(temporaryFolder(), 'home');
      cpSync(before, home, { recursive: true });
      const { signal } = spawnSync('strace', killedAt(call, at, 'auth logout'), {
        env: { ...freshEnvironment(home), UV_THREADPOOL_SIZE: '1' },
      });
      expect((await inProcess('auth logout', { home })).code).toBe(0);
      const state = join(home, '.local/state/rosterctl');
      const left = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /jsonl$|mail\.json$/.test(name),
      );
      expect([call, at, left, namesIn(home)[1]]).toEqual([call, at, [], []]);
      if (signal === null) break;
      kills += 1;
    }
  expect(kills).toBeGreaterThan(3);
});

test('a key file whose file system ignores modes is not called private', async ({ skip }) => {
  skip(!trace, 'strace is not installed or may not trace');
  const home = await twoProfiles();
  const file = join(home, '.config', 'rosterctl', 'credentials.json');
  chmodSync(file, 0o644);
  const words = ['-f', '-qq', '-o', '/dev/null', '-e', 'inject=chmod,fchmod,fchmodat:retval=0'];
  const line = [...words, process.execPath, launcher, 'auth', 'status', '--offline'];
  const ran = spawnSync('strace', line, { env: freshEnvironment(home), encoding: 'utf8' });
  expect([ran.status, statSync(file).mode & 0o777]).toEqual([0, 0o644]);
  expect(ran.stderr).toBe(`${file} can be read by other users, and its mode cannot be set.\n`);
});

/** The words for strace that kill a line at its n-th call of a kind. */
function killedAt(call: string, at: number, line: string): string[] {
  const words = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`];
  const fault = ['-e', `inject=${call}:signal=KILL:when=${at}`];
  return [...words, ...fault, process.execPath, launcher, ...line.split(' ')];
}

/** Creates a home folder with the profiles work (active) and other. */
async function twoProfiles(): Promise<string> {
  const home = temporaryFolder();
  for (const name of ['work', 'other']) {
    const line = `auth login -p ${name} --base-url ${baseUrl} --org org_1 --key-stdin --no-check`;
    expect((await inProcess(line, { home, stdin: `canary-of-${name}` })).code).toBe(0);
  }
  return home;
}

/** The names of the profiles, and of the keys; nothing else is left in the folder. */
function namesIn(home: string): string[][] {
  const folder = join(home, '.config', 'rosterctl');
  const read = (name: string) =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, object>;
  expect(readdirSync(folder).toSorted()).toEqual(['config.json', 'credentials.json']);
  return [read('config.json')['profiles'] ?? {}, read('credentials.json')].map((found) =>
    Object.keys(found).toSorted(),
  );
}
