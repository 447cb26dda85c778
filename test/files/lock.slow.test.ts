import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CancelledError, GuardError } from '../../src/errors.js';
import { describeSelf } from '../../src/files/holder.js';
import { acquireLock, lockHolder, withLock } from '../../src/files/lock.js';
import { isAlive } from '../support/alive.js';
import { bundleChild, killChildren, startChild } from '../support/child.js';

const self = { pid: process.pid, isAlive };
let script = '';

beforeAll(async () => {
  script = await bundleChild(fileURLToPath(new URL('lock-child.ts', import.meta.url)));
});
afterAll(killChildren);

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'rosterctl-lock-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'counter'), '0');
  writeFileSync(join(dir, 'journal'), '');
  return dir;
}

/**
 * Finds processes that entered before another had left, from the journal. A killed one may stay
 * inside.
 */
function overlaps(dir: string, killed: ReadonlySet<number> = new Set()): string[] {
  const found: string[] = [];
  let inside: number | undefined;
  for (const line of readFileSync(join(dir, 'journal'), 'utf8').trim().split('\n')) {
    const [word, pid] = [line.split(' ')[0], Number(line.split(' ')[1])];
    if (word === 'enter' && inside !== undefined && !killed.has(inside))
      found.push(`${pid} came in while ${inside} was inside`);
    if (word === 'leave' && inside !== pid) found.push(`${pid} left and ${inside} was inside`);
    inside = word === 'enter' ? pid : undefined;
  }
  return found;
}

const lockFiles = (dir: string) => readdirSync(dir).filter((name) => name.includes('.lock.'));

const refusal = async (attempt: Promise<unknown>): Promise<GuardError> => {
  const error = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof GuardError)) throw new Error('it was not refused');
  return error;
};

test('eight processes take turns and no increment is lost', async () => {
  const dir = scratch();
  const children = Array.from({ length: 8 }, () => startChild(script, ['count', dir, '100']));
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(Array(8).fill(0));
  expect(readFileSync(join(dir, 'counter'), 'utf8')).toBe('800');
  expect(overlaps(dir)).toEqual([]);
  expect(lockFiles(dir)).toEqual([]);
});

test('a release while too many files are open throws nothing, and follows', async () => {
  const dir = scratch();
  const line = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, script, 'exhaust', dir];
  expect((await promisify(execFile)('sh', line)).stdout).toBe('held on\n');
  expect(lockFiles(dir)).toEqual([]);
});

test.for(['EPERM (FAT)', 'ENOENT (a file system that counts no links)'])(
  'processes also take turns where a hard link is refused with %s',
  async (code, { skip }) => {
    const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
    skip(!trace, 'strace is not installed or may not trace');
    const dir = scratch();
    const fat = ['-f', '-o', '/dev/null', '-e', 'inject=chmod,fchmodat:error=EPERM'];
    const links = ['-e', `inject=link,linkat:error=${code.split(' ')[0]}`];
    const line = [...fat, ...links, process.execPath, script, 'count', dir, '50'];
    await Promise.all([1, 2, 3, 4].map(() => promisify(execFile)('strace', line)));
    expect(readFileSync(join(dir, 'counter'), 'utf8')).toBe('200');
    expect(overlaps(dir)).toEqual([]);
    expect(lockFiles(dir)).toEqual([]);
  },
);

test('a process whose file was removed before it could write it does not hold the lock (FAT)', async ({
  skip,
}) => {
  const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
  skip(!trace, 'strace is not installed or may not trace');
  const dir = scratch();
  const file = join(dir, 'test.lock.1');
  const fat = ['-f', '-o', '/dev/null', '-P', file, '-e', 'inject=link,linkat:error=EPERM'];
  const slow = ['-e', 'inject=write,pwrite64:delay_enter=1500000'];
  const line = [...fat, ...slow, process.execPath, script, 'count', dir, '1'];
  const other = promisify(execFile)('strace', line);
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(statSync(file).size).toBe(0);
  // The first holder removes the empty file, and the second takes its number.
  (await acquireLock(dir, 'test', { self, waitMs: 0 })).release();
  const lock = await acquireLock(dir, 'test', { self, waitMs: 0 });
  expect(existsSync(file)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(readFileSync(join(dir, 'journal'), 'utf8')).toBe('');
  expect(lock.isOurs()).toBe(true);
  lock.release();
  await other;
  expect(readFileSync(join(dir, 'counter'), 'utf8')).toBe('1');
  expect(lockFiles(dir)).toEqual([]);
});

test('a killed holder does not block the lock, again and again', async () => {
  const dir = scratch();
  for (let round = 0; round < 5; round += 1) {
    const holder = startChild(script, ['hold', dir]);
    await holder.says('held');
    expect(lockHolder(dir, 'test', self)).toMatchObject({ pid: holder.pid, purpose: 'holding' });
    const error = await refusal(acquireLock(dir, 'test', { self, waitMs: 30 }));
    expect([error.code, error.message]).toEqual([
      'locked',
      expect.stringContaining(`process ${holder.pid} (holding)`),
    ]);
    holder.kill('SIGKILL');
    await holder.ended;
    expect(lockHolder(dir, 'test', self)).toBeUndefined();
    await withLock(dir, 'test', { self, waitMs: 0 }, () => {});
  }
});

test('two processes never hold the lock, whenever processes are killed', async () => {
  const dir = scratch();
  const killed = new Set<number>();
  const survivors = Array.from({ length: 2 }, () => startChild(script, ['count', dir, '150']));
  for (let round = 0; round < 50; round += 1) {
    const victim = startChild(script, ['count', dir, '100000']);
    // From before its first lock to the middle of its iterations.
    await new Promise((resolve) => setTimeout(resolve, 30 + (round % 25) * 3));
    victim.kill('SIGKILL');
    expect(await victim.ended).toBe('SIGKILL');
    killed.add(victim.pid);
  }
  expect(await Promise.all(survivors.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(overlaps(dir, killed)).toEqual([]);
  await withLock(dir, 'test', { self, waitMs: 0 }, () => {});
  expect(lockFiles(dir)).toEqual([]);
});

test('a process suspended with an old number finds the holder of a restarted lock, and waits', async () => {
  const dir = scratch();
  const holder = await acquireLock(dir, 'test', { self, waitMs: 0 });
  expect(readdirSync(dir)).toContain('test.lock.1');
  // The file of a process that died between its link and its second listing.
  const dead = { ...describeSelf(self, ''), pid: 999_999_999 };
  writeFileSync(join(dir, 'test.lock.6'), JSON.stringify(dead));
  const error = await refusal(acquireLock(dir, 'test', { self, waitMs: 30 }));
  expect(error.code).toBe('locked');
  expect(lockHolder(dir, 'test', self)).toMatchObject({ pid: process.pid });
  holder.release();
  (await acquireLock(dir, 'test', { self, waitMs: 0 })).release();
  expect(lockFiles(dir)).toEqual([]);
});

test('calls within one process also take turns', async () => {
  const dir = scratch();
  let inside = 0;
  const turns = Array.from({ length: 20 }, () =>
    withLock(dir, 'test', { self, waitMs: 30_000 }, async () => {
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
    }),
  );
  await Promise.all(turns);
});

test('a process that reuses the pid is not the holder', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux tells when a process started');
  const dir = scratch();
  const holder = describeSelf(self, undefined);
  const write = (more: object) =>
    writeFileSync(join(dir, 'test.lock.1'), JSON.stringify({ ...holder, ...more }));
  write({});
  expect((await refusal(acquireLock(dir, 'test', { self, waitMs: 0 }))).code).toBe('locked');
  write({ started: '1' });
  (await acquireLock(dir, 'test', { self, waitMs: 0 })).release();
});

test('a holder on another machine is never declared dead', async () => {
  const dir = scratch();
  const foreign = { pid: 1, host: 'elsewhere' };
  writeFileSync(join(dir, 'test.lock.7'), JSON.stringify(foreign));
  const error = await refusal(acquireLock(dir, 'test', { self, waitMs: 0 }));
  expect(error.message).toContain('elsewhere');
  expect(error.hint).toContain('test.lock.*');
});

test('a holder detects a takeover, and its release does not free the new holder', async () => {
  const dir = scratch();
  const first = await acquireLock(dir, 'test', { self, waitMs: 0 });
  expect(first.isOurs()).toBe(true);
  // A person removed the file, as the hint says, so the next one gets the same number.
  rmSync(join(dir, 'test.lock.1'));
  const next = await acquireLock(dir, 'test', { self, waitMs: 0, purpose: 'the next' });
  expect([first.isOurs(), next.isOurs()]).toEqual([false, true]);
  first.release();
  first.release();
  expect(lockHolder(dir, 'test', self)).toMatchObject({ purpose: 'the next' });
  expect(next.isOurs()).toBe(true);
});

test('a holder that another process takes for dead detects it at once', async () => {
  const dir = scratch();
  const dead = { pid: 999_999_999, isAlive: () => true };
  const first = await acquireLock(dir, 'test', { self: dead, waitMs: 0 });
  expect(first.isOurs()).toBe(true);
  const next = await acquireLock(dir, 'test', { self, waitMs: 0 });
  expect([first.isOurs(), next.isOurs()]).toEqual([false, true]);
  next.release();
  expect(lockFiles(dir)).toEqual([]);
});

test('a lock that was not released ends with its process', async () => {
  const dir = scratch();
  const atExit = new Set<() => void>();
  const lock = await acquireLock(dir, 'test', { self: { ...self, atExit }, waitMs: 0 });
  for (const end of atExit) end();
  expect([lock.isOurs(), lockFiles(dir), atExit.size]).toEqual([false, [], 0]);
});

test('an action that throws releases the lock, and a waiting caller can be aborted', async () => {
  const dir = scratch();
  const failing = withLock(dir, 'test', { self, waitMs: 0 }, () => {
    throw new Error('inside');
  });
  await expect(failing).rejects.toThrow('inside');
  const held = await acquireLock(dir, 'test', { self, waitMs: 0 });
  const stop = new AbortController();
  const waiting = acquireLock(dir, 'test', { self, waitMs: 60_000, signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toThrow();
  held.release();
});

test('a missing folder is created, a file in its place is an error', async () => {
  const dir = scratch();
  await withLock(join(dir, 'a', 'b'), 'test', { self, waitMs: 0 }, () => {});
  await expect(acquireLock(join(dir, 'counter'), 'test', { self, waitMs: 0 })).rejects.toThrow(
    'ENOTDIR',
  );
});

test('a signal ends the attempts for a lock whose files are not listed as they are named', async () => {
  const dir = scratch();
  // The next number has more digits than any that is listed.
  writeFileSync(join(dir, 'l.lock.999999999999999'), '');
  const signal = AbortSignal.timeout(100);
  await expect(acquireLock(dir, 'l', { self, waitMs: 0, signal })).rejects.toThrow(CancelledError);
});
