import { spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BulkReport } from '../../src/runs/report.js';
import { inProcess } from '../support/in-process.js';
import { launcher, temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { fate, runOnce, type Stage, setStage, statuses } from './stage.js';

// Kills a run not at random moments but at each system call of a kind: strace kills the process at its
// n-th write, fdatasync and connect, for every n that occurs in a small run.

const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

const rows = 6;
/** One thread for all file operations, so that its calls can be counted. */
const threads = { UV_THREADPOOL_SIZE: '1' };

describe.concurrent('by system calls:', () => {
  beforeEach(({ skip }) => skip(!trace, 'strace is not installed or may not trace'));

  for (const call of ['fdatasync', 'connect', 'write'] as const)
    test(`killed at the n-th ${call}, for every n, no row is lost and no write repeated`, {
      timeout: 900_000,
    }, async () => {
      const random = seeded(7);
      let disturbs = false;
      const stage = await setStage(rows, () => (disturbs ? fate(random()) : 'through'));
      // The count in an undisturbed run, in the thread that makes most of them.
      const counted = await traced(stage, 'rejected', call);
      await stage.check('rejected', counted);
      disturbs = true;
      expect(counted.most).toBeGreaterThan(1);
      let killed = 0;
      for (let at = 1; at <= counted.most; at++) {
        const to = at % 2 === 0 ? 'rejected' : 'shortlisted';
        stage.relay.clear();
        const first = await traced(stage, to, call, at);
        if (first.code === null || first.code > 128) killed += 1;
        const done = first.code === 0 ? first : await toTheEnd(stage, to);
        await stage.check(to, done);
      }
      // The disturbed run may not make an early connect or write.
      expect(killed).toBeGreaterThan(counted.most / 2);
      console.info(`  killed at ${killed} of ${counted.most} ${call} calls`);
    });

  test('a disk that fails at the n-th fdatasync, for every n, stops the run before the next write', {
    timeout: 900_000,
  }, async () => {
    const stage = await setStage(rows, () => 'through');
    const counted = await traced(stage, 'rejected', 'fdatasync');
    await stage.check('rejected', counted);
    expect(counted.most).toBeGreaterThan(2);
    let refused = 0;
    for (let at = 1; at <= counted.most; at++) {
      const to = at % 2 === 0 ? 'rejected' : 'shortlisted';
      stage.relay.clear();
      const first = await traced(stage, to, 'fdatasync', at, 'error=EIO');
      // A run that has more lines to write at once syncs less often: it may not come to its last call.
      expect([at, first.code]).toEqual([at, first.injected ? 1 : 0]);
      if (first.injected) refused += 1;
      await stage.check(to, first.injected ? await toTheEnd(stage, to) : first);
    }
    expect(refused).toBeGreaterThan(counted.most / 2);
  });

  test('a create is sent once by the same command, whether the disk refused its intent or its result', async () => {
    const stage = await setStage(rows, () => 'through');
    const refused = { unsent: 0, sent: 0 };
    for (let at = 1; ; at++) {
      const line = ['teams', 'create', '--name', `Blue ${at}`, '--json'];
      stage.relay.clear();
      const first = await runOnce(
        [...failing('fdatasync', `error=EIO:when=${at}`), process.execPath, launcher, ...line],
        { home: stage.home, env: { ...stage.env, ...threads } },
      );
      if (first.code === 0 && stage.relay.arrivals.length === 1 && at > 5) break;
      if (first.code === 0) continue;
      expect([at, first.code]).toEqual([at, 1]);
      // Only the end of the run was refused: its record is printed all the same.
      if (first.stdout !== '')
        expect(JSON.parse(first.stdout)).toMatchObject({ name: `Blue ${at}` });
      const sent = stage.relay.arrivals.length;
      const again = await inProcess(line, stage);
      refused[sent === 0 ? 'unsent' : 'sent'] += 1;
      expect([at, stage.relay.arrivals.length]).toEqual([at, 1]);
      expect([at, again.code, JSON.parse(again.stdout)]).toMatchObject([
        at,
        0,
        { name: `Blue ${at}` },
      ]);
    }
    expect(refused.unsent).toBeGreaterThan(1);
    expect(refused.sent).toBeGreaterThan(0);
  });

  test('a create that is interrupted at the n-th fdatasync is shown with its row', async () => {
    const stage = await setStage(rows, () => 'through');
    const ends = { unsent: 0, sent: 0 };
    for (let at = 1; ends.sent === 0; at++) {
      stage.relay.clear();
      const interrupted = failing('fdatasync', `signal=INT:when=${at}`);
      const line = [process.execPath, launcher, 'teams', 'create', '--name', `Blue ${at}`];
      await runOnce([...interrupted, ...line], {
        home: stage.home,
        env: { ...stage.env, ...threads },
      });
      if (stage.relay.arrivals.length > 0) ends.sent += 1;
      const shown = await inProcess(['runs', 'resume', 'last', '--yes', '--json'], stage);
      if (shown.code === 5) continue;
      ends.unsent += 1;
      const { summary, results } = JSON.parse(shown.stdout) as BulkReport;
      expect([at, results.length]).toEqual([at, summary.total]);
    }
    expect(ends.unsent).toBeGreaterThan(1);
  });

  test('a create whose end the disk refuses says so, and is sent once by the same command', async () => {
    const stage = await setStage(rows, () => 'through');
    const file = join(temporaryFolder(), 'trace');
    const create = async (name: string, ...fault: readonly string[]) => {
      const words = ['-f', '-qq', '-s', '400', '-o', file, '-e', 'trace=write', ...fault];
      const line = [process.execPath, launcher, 'teams', 'create', '--name', name];
      const { home, env } = stage;
      const first = await runOnce(['strace', ...words, ...line], { home, env });
      return { first, line, lines: readFileSync(file, 'utf8').split('\n') };
    };
    let { lines } = await create('White');
    // A thread writes a little more or less often before the end: the next try goes by the last one.
    for (let count = 1, at = 0; count <= 20; count++) {
      at = writesUntilEnd(lines) ?? at + 1;
      expect(at).toBeGreaterThan(3);
      stage.relay.clear();
      const tried = await create(`Blue ${count}`, '-e', `inject=write:error=EIO:when=${at}`);
      const { first, line } = tried;
      lines = tried.lines;
      if (!lines.some((each) => isEnd(each) && each.includes('EIO'))) continue;
      expect([first.code, first.stdout]).toEqual([1, expect.stringContaining(`Blue ${count}`)]);
      expect(lines.join('\n')).toMatch(/write\(2, "The journal .* cannot be written: the device/);
      const again = await runOnce(line, stage);
      expect([again.code, again.stdout]).toEqual([0, first.stdout]);
      expect(stage.relay.arrivals).toHaveLength(1);
      return;
    }
    expect.fail('the end of no run was refused');
  });

  test('an undo of the last run is not undone by the same command, whatever the disk refused', async () => {
    const stage = await setStage(2, () => 'through');
    const undo = ['runs', 'undo', 'last', '--yes', '--json'];
    await inProcess(stage.line('reviewing'), stage);
    let unseen = 0;
    for (let at = 1; ; at++) {
      await inProcess(stage.line('rejected'), stage);
      stage.relay.clear();
      const first = await runOnce(
        [...failing('fdatasync', `error=EIO:when=${at}`), process.execPath, launcher, ...undo],
        { home: stage.home, env: { ...stage.env, ...threads } },
      );
      if (first.code === 0 && at > 5) break;
      const sent = stage.relay.arrivals.length;
      const again = first.code === 0 ? first : await inProcess(undo, stage);
      if (first.code !== 0 && sent === 2) unseen += 1;
      expect([at, again.code, stage.relay.arrivals.length]).toEqual([at, 0, 2]);
      const now = await statuses(stage.env, stage.ids);
      expect([at, Object.values(now)]).toEqual([at, ['reviewing', 'reviewing']]);
    }
    expect(unseen).toBeGreaterThan(0);
  });

  test('the intent of each write, and what stood there before, is on disk before it is sent', async () => {
    const stage = await setStage(rows, () => 'through');
    const file = join(temporaryFolder(), 'trace');
    const to = 'reviewing';
    const words = ['-f', '-qq', '-s', '4096', '-o', file, '-e', 'trace=write,writev,fdatasync'];
    // A slow disk: whoever does not wait for it is certain to send too early.
    const slow = ['-e', 'inject=fdatasync:delay_enter=20000'];
    const line = ['strace', ...words, ...slow, process.execPath, launcher, ...stage.line(to)];
    const done = await runOnce([...line, '--concurrency', '1'], {
      home: stage.home,
      env: { ...stage.env, ...threads },
    });
    expect(done.code).toBe(0);
    const files = syncedFiles();
    let patches = 0;
    for (const text of readFileSync(file, 'utf8').split('\n')) {
      files.follow(text);
      const id = /"PATCH \/v1\/tryout-applications\/(app_\d+)/.exec(text)?.[1];
      if (id === undefined) continue;
      patches += 1;
      const lines = files.onDisk().filter((each) => each.includes(`\\"id\\":\\"${id}\\"`));
      const has = (word: string) => lines.some((each) => each.includes(word));
      expect(has(`\\"kind\\":\\"intent\\"`), `${id} was sent before its intent was synced`).toBe(
        true,
      );
      expect(has(`\\"kind\\":\\"fields\\"`), `${id} was sent before what it held was synced`).toBe(
        true,
      );
    }
    expect(patches).toBeGreaterThan(1);
    expect(patches).toBe(stage.relay.arrivals.length);
  });

  test('no file is cut through a descriptor that appends, which Windows refuses', async () => {
    const home = temporaryFolder();
    const words = ['-p', 'sandbox', 'tryouts', 'set-status', 'app_0012', '--yes', '--to'];
    const write = [process.execPath, launcher, ...words];
    await runOnce([...write, 'reviewing'], { home, env: {} });
    const folder = join(home, '.local', 'state', 'rosterctl', 'sandbox');
    const log = readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '';
    appendFileSync(join(folder, log), '{"torn');
    const file = join(temporaryFolder(), 'trace');
    const strace = ['strace', '-f', '-qq', '-o', file, '-e', 'trace=openat,ftruncate'];
    const done = await runOnce([...strace, ...write, 'rejected'], { home, env: {} });
    expect(done.code).toBe(0);
    expect(readFileSync(join(folder, log), 'utf8')).not.toContain('{"torn');
    const appending = new Set<string>();
    const cut: boolean[] = [];
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [, flags, opened = ''] = /openat\(.*", ([A-Z_|]+).* = (\d+)$/.exec(line) ?? [];
      if (flags?.includes('O_APPEND')) appending.add(opened);
      else appending.delete(opened);
      const [, descriptor] = /ftruncate\((\d+)/.exec(line) ?? [];
      if (descriptor !== undefined) cut.push(appending.has(descriptor));
    }
    expect(cut.length).toBeGreaterThan(1);
    expect(cut).not.toContain(true);
  });

  test('the names of the files of a run are on disk before anything is sent', async () => {
    const stage = await setStage(rows, () => 'through');
    const file = join(temporaryFolder(), 'trace');
    const words = ['-f', '-qq', '-y', '-o', file, '-e', 'trace=openat,mkdir,write,writev,fsync'];
    const line = ['strace', ...words, process.execPath, launcher, ...stage.line('reviewing')];
    const done = await runOnce(line, { home: stage.home, env: stage.env });
    expect(done.code).toBe(0);
    const created = new Set<string>();
    const unsynced = new Set<string>();
    /** What a thread's current sync will cover. */
    const running = new Map<string, readonly string[]>();
    let patches = 0;
    for (const text of readFileSync(file, 'utf8').split('\n')) {
      const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(text) ?? [];
      const [, path] =
        /^mkdir\("([^"]*\/(?:rosterctl|runs|open|open\/[^"]*))"/.exec(rest) ??
        /^openat\([^"]*"([^"]*\/(?:journal|undo|plan)\.jsonl)", [^)]*O_CREAT/.exec(rest) ??
        [];
      if (path !== undefined) {
        created.add(basename(path));
        unsynced.add(path);
      }
      const [, folder] = /^fsync\(\d+<([^>]*)>/.exec(rest) ?? [];
      if (folder !== undefined)
        running.set(
          thread,
          [...unsynced].filter((each) => dirname(each) === folder),
        );
      if (/fsync.*= 0$/.test(rest))
        for (const each of running.get(thread) ?? []) unsynced.delete(each);
      if (!rest.includes('"PATCH /v1/')) continue;
      patches += 1;
      expect([...unsynced]).toEqual([]);
    }
    expect(patches).toBeGreaterThan(1);
    expect([...created]).toEqual(
      expect.arrayContaining([
        ...['runs', 'open', 'journal.jsonl', 'undo.jsonl'],
        expect.stringMatching(/^\d{8}T/),
      ]),
    );
  });
});

/** The lines of journals and before-images that a finished sync covers, according to a trace. */
function syncedFiles() {
  const written = new Map<string, string>();
  const synced = new Map<string, string>();
  /** What a thread's current sync will cover. */
  const running = new Map<string, { readonly descriptor: string; readonly text: string }>();
  return {
    follow(line: string) {
      const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
      const [, into, text = ''] = /^write\((\d+), "(\{.*)/.exec(rest) ?? [];
      if (into !== undefined) written.set(into, `${written.get(into) ?? ''}${text}`);
      const [, descriptor] = /^fdatasync\((\d+)/.exec(rest) ?? [];
      if (descriptor !== undefined)
        running.set(thread, { descriptor, text: written.get(descriptor) ?? '' });
      if (!/fdatasync.*= 0(?: \(DELAYED\))?$/.test(rest)) return;
      const ended = running.get(thread);
      if (ended) synced.set(ended.descriptor, ended.text);
    },
    onDisk: () => [...synced.values()].flatMap((text) => text.split('\\n')),
  };
}

/** True for a line of strace that writes the end record of a journal. */
const isEnd = (line: string) => line.includes(String.raw`\"kind\":\"end\"`);

/** How often the thread that wrote the end record had written by then; undefined if none was written. */
function writesUntilEnd(lines: readonly string[]): number | undefined {
  const [thread] = lines.find(isEnd)?.split(' ') ?? [];
  const before = lines.filter((line) => line.split(' ')[0] === thread).findIndex(isEnd);
  return before < 0 ? undefined : before + 1;
}

/** The words that run a program whose calls of a kind fail as told. */
function failing(call: string, fault: string, file = '/dev/null'): string[] {
  const words = ['-e', `trace=${call}`, '-e', `inject=${call}:${fault}`];
  // Stops at these calls alone, which costs less; strace 6.1 would then send no signal.
  const filter = fault.startsWith('error') ? ['--seccomp-bpf'] : [];
  return ['strace', '-f', ...filter, '-qq', '-o', file, ...words];
}

/** One run under strace; killed at the n-th call of its kind if `at` is given, or with another `fault`. */
async function traced(stage: Stage, to: string, call: string, at?: number, fault = 'signal=KILL') {
  const file = join(temporaryFolder(), 'trace');
  const strace =
    at === undefined
      ? ['strace', '-f', '-qq', '-o', file, '-e', `trace=${call}`]
      : failing(call, `${fault}:when=${at}`, file);
  const done = await runOnce([...strace, process.execPath, launcher, ...stage.line(to)], {
    home: stage.home,
    env: { ...stage.env, ...threads },
  });
  const lines = readFileSync(file, 'utf8');
  const calls = new Map<string, number>();
  for (const [, thread = ''] of lines.matchAll(new RegExp(`^(\\d+) +${call}\\(`, 'gm')))
    calls.set(thread, (calls.get(thread) ?? 0) + 1);
  return { ...done, most: Math.max(0, ...calls.values()), injected: lines.includes('(INJECTED)') };
}

async function toTheEnd(stage: Stage, to: string) {
  for (let count = 0; ; count++) {
    const done = await inProcess(stage.line(to), stage);
    // The answer to a verifying read may be lost as well: then the command is run again.
    if (done.code === 0 || count === 5) return done;
  }
}
