import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { runOnce, setStage } from './stage.js';

// A kill leaves everything that was written; a power cut leaves what was synced. Nothing here cuts the power:
// strace shows what was synced by when, and lets syncs fail.

const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

describe('by system calls:', () => {
  beforeEach(({ skip }) => skip(!trace, 'strace is not installed or may not trace'));

  test('a disk that fails to sync a folder, for every n, stops a create before it is sent', {
    timeout: 300_000,
  }, async () => {
    const stage = await setStage(1, () => 'through');
    let refused = 0;
    for (let at = 1; ; at++) {
      const home = temporaryFolder();
      const line = ['teams', 'create', '--name', `Blue ${at}`, '--json'];
      const file = join(temporaryFolder(), 'trace');
      const words = ['-f', '--seccomp-bpf', '-qq', '-y', '-o', file, '-e', 'trace=fsync'];
      const fault = ['-e', `inject=fsync:error=EIO:when=${at}`];
      stage.relay.clear();
      const program = [process.execPath, launcher];
      const first = await runOnce(['strace', ...words, ...fault, ...program, ...line], {
        home,
        env: { ...stage.env, UV_THREADPOOL_SIZE: '1' },
      });
      const [failed] = readFileSync(file, 'utf8').match(/.*INJECTED.*/) ?? [];
      if (failed === undefined) break;
      const sent = stage.relay.arrivals.length;
      // After the request, only the mark that its report was printed is synced.
      if (sent === 0) {
        expect([failed, first.code]).toEqual([failed, 1]);
        refused += 1;
      } else expect(failed).toMatch(/told|\/\d{8}T\d{9}-1-[0-9a-f]{6}>/);
      if (first.code === 0) continue;
      const again = await inProcess(line, { home, env: stage.env });
      expect([failed, again.code, stage.relay.arrivals.length]).toEqual([failed, 0, 1]);
    }
    // The folder of runs, those above it, the plan, and the folder of the run.
    expect(refused).toBeGreaterThan(5);
  });

  test.each([
    'auth login -p new --base-url https://api.example.com/v1 --org org_3 --key-stdin --no-check',
    'config set time iso',
    'profile rename work main',
    'auth logout',
  ])('%s ends after the name of the last file it wrote is on disk', async (line) => {
    const home = temporaryFolder();
    const login =
      'auth login -p work --base-url https://api.example.com/v1 --org org_1 --key-stdin --no-check';
    expect((await rosterctl(login, { home, stdin: 'canary' })).code).toBe(0);
    const { ran, calls } = traced(line, home);
    expect(ran.status).toBe(0);
    const renamed = calls.findLastIndex((call) =>
      /^rename\(.*(config|credentials)\.json/.test(call),
    );
    expect(renamed).toBeGreaterThan(0);
    const folder = join(home, '.config', 'rosterctl');
    for (const parent of [folder, join(home, '.config'), home])
      expect(calls.slice(renamed)).toContainEqual(expect.stringMatching(syncOf(parent)));
  });

  test('new rows are on disk before the cursor counts them as printed', async () => {
    const home = temporaryFolder();
    const file = join(home, 'new.txt');
    const list = '-p sandbox tryouts list --since-last bot --initial all -o ids';
    const { ran, calls } = traced(list, home, { stdout: file });
    expect(ran.status).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('app_0001\n');
    const synced = calls.findIndex((call) => syncOf(file).test(call));
    const counted = calls.findIndex((call) => /^rename\(.*tryouts\.bot\.json"/.test(call));
    expect(synced).toBeGreaterThan(0);
    expect(counted).toBeGreaterThan(synced);
    const state = join(home, '.local', 'state', 'rosterctl');
    for (const parent of [join(state, 'cursors'), state, home])
      expect(calls.slice(counted)).toContainEqual(expect.stringMatching(syncOf(parent)));
  });

  test('new rows that the disk did not keep are printed again', async () => {
    const home = temporaryFolder();
    const file = join(home, 'new.txt');
    const list = '-p sandbox tryouts list --since-last bot --initial all -o ids';
    const fault = ['-P', file, '-e', 'inject=fsync:error=EIO'];
    const { ran } = traced(list, home, { stdout: file, fault });
    expect([ran.status, ran.stderr]).toEqual([
      1,
      expect.stringContaining('The output cannot be written: the device reports an error (EIO).'),
    ]);
    const again = await rosterctl(list, { home });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('app_0001\n')]);
  });

  test('what was uploaded is remembered on disk before its report counts as printed', () => {
    const home = temporaryFolder();
    const file = join(home, 'a.txt');
    writeFileSync(file, 'a');
    const { ran, calls } = traced(`-p sandbox docs upload ${file}`, home);
    expect(ran.status).toBe(0);
    const state = join(home, '.local', 'state', 'rosterctl', 'uploads');
    const memory = calls.findIndex((call) => syncOf(join(state, '[0-9a-f]{16}.jsonl')).test(call));
    const folder = calls.findIndex((call) => syncOf(state).test(call));
    const told = calls.findIndex((call) => /^rename\(.*\/told"/.test(call));
    expect(folder).toBeGreaterThan(0);
    const parent = join(home, '.local', 'state', 'rosterctl');
    expect(calls.slice(folder, memory)).toContainEqual(expect.stringMatching(syncOf(parent)));
    expect(memory).toBeGreaterThan(folder);
    expect(told).toBeGreaterThan(memory);
  });

  test('the names of the new folders of a download are on disk before it is reported', () => {
    const home = temporaryFolder();
    const folder = join(home, 'club', 'papers');
    const { ran, calls } = traced(`-p sandbox docs download doc_0001 -D ${folder}`, home);
    expect(ran.status).toBe(0);
    for (const parent of [folder, join(home, 'club'), home])
      expect(calls).toContainEqual(expect.stringMatching(syncOf(parent)));
  });

  test('the names of the new folders of a backup are on disk before it is reported', () => {
    const home = temporaryFolder();
    const folder = join(home, 'club', 'backups');
    const { ran, calls } = traced(`-p sandbox backup create ${folder} --no-files`, home);
    expect(ran.status).toBe(0);
    for (const parent of [folder, join(home, 'club'), home])
      expect(calls).toContainEqual(expect.stringMatching(syncOf(parent)));
  });
});

/** The pattern of a successful sync of a path. */
const syncOf = (path: string) => new RegExp(`^f(data)?sync\\(\\d+<[^>]*${escaped(path)}>\\).* = 0`);

/** Only the last folders, because the temporary folder may be a link. */
const escaped = (path: string) => `/${basename(dirname(path))}/${basename(path)}`;

/** Runs a command under strace; returns its renames and syncs in order. */
function traced(
  line: string,
  home: string,
  { stdout, fault = [] }: { readonly stdout?: string; readonly fault?: readonly string[] } = {},
): { readonly ran: SpawnSyncReturns<string>; readonly calls: readonly string[] } {
  const log = join(temporaryFolder(), 'trace');
  const words = ['-f', '-qq', '-y', '-o', log, '-e', 'trace=rename,fsync,fdatasync', ...fault];
  const out = stdout === undefined ? undefined : openSync(stdout, 'w');
  const ran = spawnSync('strace', [...words, process.execPath, launcher, ...line.split(' ')], {
    env: { ...freshEnvironment(home), UV_THREADPOOL_SIZE: '1' },
    input: 'canary-of-new',
    stdio: ['pipe', out ?? 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  if (out !== undefined) closeSync(out);
  const calls = readFileSync(log, 'utf8').split('\n');
  return { ran, calls: calls.map((call) => call.replace(/^\d+ +/, '')) };
}
