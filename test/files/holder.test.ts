import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { GuardError } from '../../src/errors.js';
import {
  askPs,
  describeSelf,
  holderState,
  isSameProcess,
  type MachineFacts,
  parseHolder,
  type ThisProcess,
} from '../../src/files/holder.js';
import { acquireLock, lockHolder } from '../../src/files/lock.js';
import { isAlive } from '../support/alive.js';
import { bundleChild } from '../support/child.js';
import { closed, temporaryFolder } from '../support/run.js';

const bootedAt = Date.parse('2026-03-01T08:00:00Z');
const linux: MachineFacts = {
  host: 'vm',
  machine: 'm1',
  boot: 'b1',
  namespace: 'pid:[1]',
  bootedAt,
  processInfo: (pid) =>
    ({ 10: { state: 'S', started: '500' }, 12: { state: 'Z', started: '500' } })[pid],
  beganAt: () => undefined,
};
const mac: MachineFacts = {
  host: 'vm',
  bootedAt,
  processInfo: () => undefined,
  beganAt: () => undefined,
};
const self: ThisProcess = { pid: 20, isAlive: (pid) => pid !== 11, facts: linux };
const holder = {
  pid: 10,
  host: 'vm',
  machine: 'm1',
  boot: 'b1',
  namespace: 'pid:[1]',
  started: '500',
  at: bootedAt + 1,
};
const { machine: _, ...withoutMachine } = holder;

test.each([
  ['same boot and namespace, pid and start are its own', {}, 'runs'],
  ['same boot and namespace, another process has its pid', { started: '499' }, 'gone'],
  ['same boot and namespace, no process has its pid', { pid: 11 }, 'gone'],
  ['same boot, another namespace: a container may be alive', { namespace: 'pid:[2]' }, 'unsure'],
  ['same boot, another namespace, whatever its pid', { namespace: 'pid:[2]', pid: 11 }, 'unsure'],
  ['same boot and namespace, another host name: it was renamed', { host: 'new' }, 'runs'],
  ['same machine and host, another boot', { boot: 'b0' }, 'gone'],
  ['same machine and host, another boot and namespace', { boot: 'b0', namespace: 'x' }, 'gone'],
  ['same machine id, another host: a cloned image', { boot: 'b0', host: 'clone' }, 'unsure'],
  ['same host, another machine id', { boot: 'b0', machine: 'm2' }, 'unsure'],
  ['another machine altogether', { boot: 'b9', machine: 'm2', host: 'far' }, 'unsure'],
  ['same machine and host, and no word of its boot', { boot: undefined }, 'unsure'],
  ['same boot and namespace, and no word of when it started', { started: undefined }, 'runs'],
  ['same boot and namespace, it has ended and was not reaped', { pid: 12 }, 'gone'],
  ['same boot and namespace, its pid exists, and /proc hides it', { pid: 13 }, 'runs'],
])('on Linux: %s', (_case, more, state) => {
  expect(holderState({ ...holder, ...more }, self)).toBe(state);
});

test('without a machine id, another boot proves nothing', () => {
  const { machine: __, ...bare } = linux;
  const other = { ...withoutMachine, boot: 'b0' };
  expect(holderState(other, { ...self, facts: bare })).toBe('unsure');
  expect(holderState(other, self)).toBe('unsure');
});

test('a system that does not tell which processes are visible proves nothing', () => {
  const { namespace: _own, ...facts } = linux;
  const { namespace: _held, ...other } = holder;
  expect(holderState(other, { ...self, facts })).toBe('unsure');
});

test.each([
  ['taken more than 60 s before the boot', { at: bootedAt - 60_001 }, 'gone'],
  [
    'acquired just before the boot, its pid exists: clocks are adjusted',
    { at: bootedAt - 60_000 },
    'unsure',
  ],
  ['taken since the boot, its pid exists, maybe as another process', {}, 'unsure'],
  ['taken since the boot, its pid does not exist', { pid: 11 }, 'gone'],
  ['of another host, however old', { host: 'far', at: 0, pid: 11 }, 'unsure'],
])('without /proc: %s', (_case, more, state) => {
  const by = { pid: 10, host: 'vm', at: bootedAt + 1, ...more };
  expect(holderState(by, { ...self, facts: mac })).toBe(state);
});

test.each([
  ['it began before the lock was acquired', -3_600_000, {}, 'runs'],
  ['it began a little later: clocks are adjusted', 60_000, {}, 'runs'],
  ['it began later: another process has the pid', 60_001, {}, 'gone'],
  ['it began before, but the pid is one of another host', -1, { host: 'far' }, 'unsure'],
  ['the holder did not say when it acquired the lock', -1, { at: undefined }, 'unsure'],
])(
  'without /proc, a process has the pid of the holder, and ps knows that %s',
  (_case, after, more, state) => {
    const at = bootedAt + 3_600_000;
    const facts = { ...mac, beganAt: () => at + after };
    expect(holderState({ pid: 10, host: 'vm', at, ...more }, { ...self, facts })).toBe(state);
  },
);

test('a lock file of version 0.1.0 is understood', () => {
  const text = JSON.stringify({ pid: 10, host: 'vm/pid:[1]', started: '500', boot: 'b1' });
  const old = parseHolder(text);
  expect(old).toEqual({ pid: 10, host: 'vm', namespace: 'pid:[1]', started: '500', boot: 'b1' });
  expect(holderState(old ?? holder, self)).toBe('runs');
  expect(parseHolder('{"pid":"10"}')).toBeUndefined();
  expect(parseHolder('{"pid":10,"ho')).toBeUndefined();
});

test('ps tells when a process began', ({ skip }) => {
  skip(!existsSync('/bin/ps'), 'there is no ps');
  const real: ThisProcess = { pid: process.pid, isAlive };
  describeSelf(real, undefined);
  const beganAt = real.facts?.beganAt(process.pid) ?? 0;
  expect(Math.abs(Date.now() - process.uptime() * 1000 - beganAt)).toBeLessThan(60_000);
  expect(real.facts?.beganAt(2 ** 22 + 1)).toBeUndefined();
});

test('ps tells when a process began that has run for hours or days', ({ skip }) => {
  skip(!existsSync('/bin/ps') || !existsSync('/proc/1/stat'), 'there is no ps, or no /proc');
  const [, seconds] = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  const ticks = readFileSync('/proc/1/stat', 'utf8').split(') ')[1]?.split(' ')[19];
  const began = (Number(seconds) + Number(ticks) / 100) * 1000;
  expect(Math.abs(began - (askPs(false)(1) ?? 0))).toBeLessThan(60_000);
});

test('ps is not asked on Windows, where /bin/ps is what any user put in the root of the drive', ({
  skip,
}) => {
  skip(!existsSync('/bin/ps'), 'there is no ps');
  expect(askPs(false)(process.pid)).toBeDefined();
  expect(askPs(true)(process.pid)).toBeUndefined();
});

test('this process is recognized, and runs', () => {
  const real = { pid: process.pid, isAlive };
  const own = describeSelf(real, 'testing');
  expect(holderState(own, real)).not.toBe('gone');
  expect(isSameProcess(own, describeSelf(real, 'more'))).toBe(true);
  expect(isSameProcess(own, { ...own, pid: own.pid + 1 })).toBe(false);
});

const canUnshare =
  spawnSync('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', 'true']).status === 0;

test('a holder in another process namespace is never ignored, and the hint says how to remove the lock', async ({
  skip,
}) => {
  skip(!canUnshare, 'unshare may make no process namespace');
  const dir = temporaryFolder();
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'journal'), '');
  const script = await bundleChild(fileURLToPath(new URL('lock-child.ts', import.meta.url)));
  const words = ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, script];
  const child = spawn('unshare', [...words, 'hold', dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const real = { pid: process.pid, isAlive };
  const inside = lockHolder(dir, 'test', real);
  // Its pid belongs to another namespace; here it is another process, or none.
  expect(inside?.pid).toBeLessThan(20);
  const isLocked = async () => {
    const error: unknown = await acquireLock(dir, 'test', { self: real, waitMs: 0 }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(GuardError);
    expect((error as GuardError).hint).toContain(`remove ${join(dir, 'test.lock.*')}`);
  };
  await isLocked();
  child.kill('SIGKILL');
  await closed(child);
  // From here it is impossible to tell that it is dead.
  await isLocked();
  expect(readFileSync(join(dir, 'journal'), 'utf8')).toContain('enter');
});
