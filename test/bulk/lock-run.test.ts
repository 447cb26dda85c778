import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GuardError, OutputError } from '../../src/errors.js';
import { sweepLocks } from '../../src/files/lock.js';
import { lockRecord, lockRun, recordLocks } from '../../src/runs/lock.js';
import { type RunStore, runStore } from '../../src/runs/store.js';
import { isAlive } from '../support/alive.js';
import { bundleChild, killChildren, startChild } from '../support/child.js';
import { temporaryFolder } from '../support/run.js';

const self = { pid: process.pid, isAlive };
const head = {
  service: 's',
  organization: 'o',
  resource: 'documents',
  run: '20260301T101500123-1-3fa9c2',
  startedAt: 'now',
};
const world = { self, signal: new AbortController().signal, note: () => {} };

let script = '';
beforeAll(async () => {
  script = await bundleChild(fileURLToPath(new URL('record-lock-child.ts', import.meta.url)));
});
afterAll(killChildren);

const refusal = (attempt: Promise<unknown>) => attempt.catch((reason: unknown) => reason);

function filesIn(store: RunStore): string[] {
  return existsSync(recordLocks(store)) ? readdirSync(recordLocks(store)) : [];
}

test('a lock that cannot be written is an error that names its folder, not a bug', async () => {
  const store = runStore(temporaryFolder());
  writeFileSync(store.locks, 'no folder');
  for (const taken of [lockRun(world, store, head), lockRecord(world, store, head, 'x', 0)]) {
    const error = await refusal(taken);
    expect(error).toBeInstanceOf(OutputError);
    expect((error as OutputError).message).toContain(store.locks);
  }
});

test('a record that another process writes is refused after the wait, naming the holder', async () => {
  const store = runStore(temporaryFolder());
  const child = startChild(script, [join(store.locks, '..'), 'hold', 'app_1']);
  await child.says('held');
  const notes: string[] = [];
  const noting = { ...world, note: (line: string) => void notes.push(line) };
  const error = await refusal(lockRecord(noting, store, head, 'app_1', 50));
  expect(error).toBeInstanceOf(GuardError);
  expect(error).toMatchObject({
    code: 'locked',
    message: expect.stringMatching(
      new RegExp(
        `^Another change of app_1 is running \\(run child, .*process ${child.pid} on host `,
      ),
    ),
    hint: expect.stringContaining('--wait-lock'),
  });
  expect(notes).toEqual([expect.stringContaining('Waiting for it.')]);
  // Other records, the same id elsewhere, and the resource itself are not locked.
  (await lockRecord(world, store, head, 'app_2', 0)).release();
  for (const other of [{ resource: 'teams' }, { organization: 'p' }])
    (await lockRecord(world, store, { ...head, ...other }, 'app_1', 0)).release();
  (await lockRun(world, store, head)).release();
  // A kill releases it immediately.
  const after = lockRecord(world, store, head, 'app_1', 10_000);
  child.kill('SIGKILL');
  (await after).release();
  expect(filesIn(store)).toEqual([]);
});

test('locking hundreds of records in turn from two processes leaves no file', async () => {
  const dir = temporaryFolder();
  const store = runStore(dir);
  const children = [1, 2].map(() => startChild(script, [dir, 'turns', '400']));
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(children.map((child) => child.stdout())).toEqual(['400 turns\n', '400 turns\n']);
  expect(filesIn(store)).toEqual([]);
});

test('locks of killed processes are swept by others, and held ones stay', async () => {
  const dir = temporaryFolder();
  const store = runStore(dir);
  for (const id of ['a', 'b', 'c']) {
    const child = startChild(script, [dir, 'hold', id]);
    await child.says('held');
    child.kill('SIGKILL');
    await child.ended;
  }
  const held = await lockRecord(world, store, head, 'd', 0);
  expect(filesIn(store)).toHaveLength(4);
  await sweepLocks(recordLocks(store), self, 2);
  expect(filesIn(store)).toHaveLength(2);
  await sweepLocks(recordLocks(store), self, 2);
  expect([filesIn(store).length, held.isOurs()]).toEqual([1, true]);
  held.release();
  expect(filesIn(store)).toEqual([]);
});
