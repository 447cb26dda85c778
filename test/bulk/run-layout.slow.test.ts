import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { GuardError } from '../../src/errors.js';
import { describeSelf } from '../../src/files/holder.js';
import { sealLine, unsealLine } from '../../src/files/synced-lines.js';
import { findRun } from '../../src/runs/find-run.js';
import { type RunHead, writePlan } from '../../src/runs/plan.js';
import {
  isSingleRun,
  markNewest,
  markRetried,
  newRunName,
  retriedBy,
  runStore,
  startOf,
} from '../../src/runs/store.js';
import { keep, written } from '../commands/tryouts/service.js';
import { isAlive } from '../support/alive.js';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf, startLine, temporaryFolder } from '../support/run.js';
import { organization } from '../support/service.js';
import {
  fast,
  ids,
  makeLegacy,
  report,
  runFolders,
  runsOf,
  several,
  until,
  userInside,
  userOf,
} from './user.js';

const line = (count: number, more = '--yes') =>
  `tryouts set-status ${ids(count).join(' ')} --to rejected ${more}`;

/** A run of two rows written by the test, ended or not. */
function scriptedRun(runs: string, place: string, run: string, more: object = {}) {
  const folder = join(runs, place, run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const head = {
    format: 1,
    version: '0.1.0',
    run,
    action: 'tryouts.set-status',
    profile: 'default',
    organization,
    service: 'http://127.0.0.1:9/v1',
    resource: 'tryouts',
    input: run,
    rows: 1,
    startedAt: startOf(run).toISOString(),
    ...more,
  };
  const records = [
    { kind: 'job' as const, ...head },
    { kind: 'result' as const, row: 1, id: 'app_1', result: 'changed' },
    { kind: 'end' as const, summary: { total: 1, changed: 1 } },
  ];
  const text = records.map((entry, at) =>
    sealLine({ seq: at + 1, t: startOf(run).getTime(), ...entry }),
  );
  writeFileSync(join(folder, 'journal.jsonl'), text.join(''));
  return folder;
}

const minute = 60_000;
/** Names of runs that started a minute apart, the last an hour ago. */
const manyNames = (count: number, single = false) =>
  Array.from({ length: count }, (_, at) =>
    newRunName(new Date(Date.now() - (count - at) * minute - 60 * minute), { single }),
  );

const namesIn = ({ stdout }: { readonly stdout: string }) =>
  (JSON.parse(stdout) as { run: string }[]).map(({ run }) => run);

describe('the name of a run', () => {
  test('sorts by time, marks a single write, and ends in its short id', () => {
    const now = new Date('2026-03-01T10:15:00.123Z');
    const bulk = newRunName(now);
    const single = newRunName(now, { single: true });
    expect(bulk).toMatch(/^20260301T101500123-[0-9a-f]{6}$/);
    expect(single).toMatch(/^20260301T101500123-1-[0-9a-f]{6}$/);
    expect([isSingleRun(bulk), isSingleRun(single)]).toEqual([false, true]);
    // Its id may start with a 1, too.
    expect(isSingleRun('20260301T101500123-1abcde')).toBe(false);
    expect([startOf(bulk), startOf(single)]).toEqual([now, now]);
    const later = newRunName(new Date(now.getTime() + 1), { single: true });
    expect([later, single].toSorted()).toEqual([single, later]);
  });

  test('may be typed as its last six characters if they are unambiguous', async () => {
    const dir = temporaryFolder();
    const store = runStore(dir);
    scriptedRun(store.dir, 'ended', '20260301T101500123-3fa9c2');
    scriptedRun(store.dir, 'open', '20260301T101500124-1-3fa9c2');
    scriptedRun(store.dir, 'ended', '20260301T101500125-aaaaaa');
    expect((await findRun(store, 'aaaaaa')).head.run).toBe('20260301T101500125-aaaaaa');
    const error: unknown = await findRun(store, '3fa9c2').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GuardError);
    expect((error as Error).message).toContain(
      '20260301T101500123-3fa9c2, 20260301T101500124-1-3fa9c2',
    );
    await expect(findRun(store, '../ended')).rejects.toThrow('Unknown run');
  });

  test('last is the run that was begun last, also if the clock was days ahead before', async () => {
    const store = runStore(temporaryFolder());
    for (const run of ['20260301T101500123-3fa9c2', '20260304T101500123-aaaaaa'])
      scriptedRun(store.dir, 'ended', run);
    const last = async () => (await findRun(store, 'last', { matches: () => true })).head.run;
    markNewest(store, '20260304T101500123-aaaaaa');
    expect(await last()).toBe('20260304T101500123-aaaaaa');
    markNewest(store, '20260301T101500123-3fa9c2');
    expect(await last()).toBe('20260301T101500123-3fa9c2');
  });
});

/** Makes the journal in a run's folder one of another format. */
function asFormat(folder: string, format: number): void {
  const path = join(folder, 'journal.jsonl');
  const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const sealed = sealLine({ ...unsealLine(first), format });
  writeFileSync(path, sealed + rest.join('\n'));
}

/** An unfinished run of six rows, whose service stopped answering writes until it comes back. */
async function abandoned() {
  let away = true;
  const service = await keep(several(6), (_, step) =>
    away && step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const user = userInside(service);
  await user.run(line(6));
  const [folder = ''] = runFolders(user.runs);
  const comeBack = () => {
    away = false;
  };
  return { service, user, folder, comeBack };
}

describe('where runs are stored', () => {
  test('a run is in open/ until it ends and then in ended/, with nothing left over', async () => {
    const { user, folder, comeBack } = await abandoned();
    expect(folder).toContain('/open/');
    const first = JSON.parse(
      readFileSync(join(folder, 'journal.jsonl'), 'utf8').split('\n')[0] ?? '',
    ) as object;
    expect(first).toMatchObject({ kind: 'job', format: 1, version: expect.any(String) });
    comeBack();
    expect((await user.run(line(6))).code).toBe(0);
    expect(runFolders(user.runs)).toEqual([join(user.runs, 'ended', basename(folder))]);
  });

  test('a plan that fills the disk stops the run before anything is sent, and says what to do', async ({
    skip,
  }) => {
    const disk = 'mount -t tmpfs -o size=64k,mode=700 none "$ROSTERCTL_STATE_DIR"';
    const state = temporaryFolder();
    const mounting = { env: { ...process.env, ROSTERCTL_STATE_DIR: state } };
    const able = spawnSync('unshare', ['-m', 'sh', '-c', disk], mounting).status === 0;
    skip(!able, 'no file system can be mounted');
    const service = await keep(several(2_000));
    const file = join(temporaryFolder(), 'ids.txt');
    writeFileSync(file, ids(2_000).join('\n'));
    const ran = await startLine(
      `tryouts set-status --ids ${file} --to rejected --yes --max-changes 2000`,
      {
        home: temporaryFolder(),
        env: { ...service.env, ...fast, ROSTERCTL_STATE_DIR: state },
        through: `exec unshare -m sh -c '${disk} && exec "$0" "$@"' "$@"`,
      },
    ).ended;
    expect([ran.code, written(service)]).toEqual([1, []]);
    expect(ran.stderr).toMatch(
      /plan\.jsonl cannot be written: the disk is full.*\nNothing was sent\. Make room, or set ROSTERCTL_STATE_DIR/,
    );
  });

  test('a kill between the end record and the rename leaves a run that the next write moves', async ({
    skip,
  }) => {
    skip(spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0, 'strace may not trace');
    let plan = '';
    const service = await keep(several(4), (_, step) => {
      const [folder = ''] = runFolders(user.runs);
      if (step === 'PATCH app_1') plan = readFileSync(join(folder, 'plan.jsonl'), 'utf8');
      return undefined;
    });
    const user = userOf(service);
    // The rename from open/ to ended/ is the only rename of a folder with that name.
    const killed = await startLine(line(2), {
      home: user.home,
      env: { ...service.env, ...fast, UV_THREADPOOL_SIZE: '1' },
      through: `exec strace -f -qq -o ${user.home}/trace -e trace=rename,renameat2 -e inject=rename:signal=KILL:when=2 "$@"`,
    }).ended;
    expect(killed.code).not.toBe(0);
    const [folder = ''] = runFolders(user.runs);
    expect(readFileSync(join(user.home, 'trace'), 'utf8')).toMatch(/rename\(.*\/open\/.*\/ended\//);
    const journal = readFileSync(join(folder, 'journal.jsonl'), 'utf8');
    expect(journal).toContain('"kind":"end"');
    // The interrupted call may have been executed or not; both count as that moment.
    const left = join(user.runs, 'open', basename(folder));
    if (folder !== left) renameSync(folder, left);
    // Or the kill came before the plan was removed.
    writeFileSync(join(left, 'plan.jsonl'), plan);
    expect((await user.run('tryouts set-status app_3 app_4 --to accepted --yes')).code).toBe(0);
    expect(readdirSync(join(user.runs, 'open'))).toEqual([]);
    expect(existsSync(join(user.runs, 'ended', basename(folder), 'plan.jsonl'))).toBe(false);
  });

  test('a dry run of the same command does not continue a run that ended and was not moved', async () => {
    const service = await keep(several(2), (_, step) =>
      step === 'PATCH app_1' ? { status: 400, json: { error: 'badRequest' } } : undefined,
    );
    const user = userInside(service);
    await user.run(line(2));
    const [folder = ''] = runFolders(user.runs);
    // Its plan is still there, because its first row can be retried.
    expect(existsSync(join(folder, 'plan.jsonl'))).toBe(true);
    renameSync(folder, join(user.runs, 'open', basename(folder)));
    const dry = await user.run(line(2, '--json -n'));
    expect(report(dry).summary).toMatchObject({ wouldChange: 1, unchanged: 1 });
    expect(dry.stderr).not.toContain('This continues');
  });

  test('runs of 0.1.0 are listed and never continued; the ended ones move, the others stay', async () => {
    const { service, user, folder, comeBack } = await abandoned();
    const old = makeLegacy(user.runs, folder);
    const ended = scriptedRun(user.runs, '', '20260101T000000000-aaaaaa', { format: undefined });
    expect(JSON.parse((await user.run('runs list --json')).stdout)).toMatchObject([
      { run: basename(ended), state: 'finished' },
      { run: old, state: 'unfinished' },
    ]);
    comeBack();
    // A newer run that has ended hides nothing.
    expect((await user.run('tryouts set-status app_6 --to accepted')).code).toBe(0);
    for (const again of [line(6), 'runs resume last --yes']) {
      const refused = await user.run(`${again} --json`);
      expect(refused.code).toBe(11);
      expect(errorOf(refused)).toMatchObject({
        code: 'runFormat',
        hint: expect.stringMatching(/--restart.*runs prune/),
      });
    }
    // Only that version can resume it, and finds it nowhere else.
    expect(existsSync(join(user.runs, old))).toBe(true);
    expect(existsSync(join(user.runs, 'ended', basename(ended)))).toBe(true);
    for (const page of ['overview', ''])
      expect((await user.run(page)).stdout).not.toMatch(/Unfinished|runs resume/);
    const checked = (await user.run('doctor')).stdout;
    expect(checked).toMatch(/Resume it with the version that wrote it/);
    expect(checked).not.toContain('runs resume');
    const before = written(service).length;
    expect((await user.run(line(6, '--yes --restart'))).code).toBe(0);
    expect(written(service).length).toBe(before + 6);
    expect(readdirSync(join(user.runs, 'open'))).toEqual([]);
  });

  test('a run whose journal is of another format is neither resumed nor undone', async () => {
    const { service, user, folder, comeBack } = await abandoned();
    comeBack();
    expect((await user.run('tryouts set-status app_6 --to accepted')).code).toBe(0);
    for (const each of runFolders(user.runs)) asFormat(each, 99);
    const undone = runFolders(user.runs).find((each) => each !== folder) ?? '';
    const before = written(service).length;
    for (const refusedLine of [
      line(6),
      'runs resume last --yes',
      `runs undo ${basename(undone)} --yes`,
    ]) {
      const refused = await user.run(`${refusedLine} --json`);
      expect([refusedLine, refused.code, errorOf(refused)['code']]).toEqual([
        refusedLine,
        11,
        'runFormat',
      ]);
    }
    expect(written(service)).toHaveLength(before);
  });

  test('an unfinished run of another format is named by doctor, and not offered to be resumed', async () => {
    const { user, folder } = await abandoned();
    const run = basename(folder);
    asFormat(folder, 99);
    const checked = await user.run('doctor --json');
    const checks = (JSON.parse(checked.stdout) as { check: string }[]).filter(
      ({ check }) => check === 'runs',
    );
    expect(checks).toMatchObject([
      {
        result: 'warn',
        detail: expect.stringMatching(`^Run ${run} was written by version .*does not know.$`),
        hint: expect.stringContaining(`rosterctl runs prune ${run}`),
      },
      { result: 'pass', detail: 'no unfinished runs' },
    ]);
    expect(checked.stdout).not.toContain('runs resume');
    expect((await user.run('overview')).stdout).not.toContain('runs resume');
  });

  test('a run whose records only a newer version can read is kept by the next write, and by prune', async () => {
    const { service, user, folder, comeBack } = await abandoned();
    comeBack();
    const path = join(folder, 'journal.jsonl');
    const newer = readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((text) => {
        const { kind, ...rest } = unsealLine(text) ?? {};
        const isHead = kind === 'job';
        return sealLine(
          isHead ? { ...rest, kind, format: 99 } : { ...rest, kind: `new ${String(kind)}` },
        );
      });
    writeFileSync(path, newer.join(''));
    const before = written(service).length;
    expect((await user.run(line(6))).code).toBe(11);
    expect(written(service)).toHaveLength(before);
    expect((await user.run('tryouts set-status app_6 --to accepted')).code).toBe(0);
    expect((await user.run('runs prune --older-than 0d --yes')).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(newer.join(''));
    expect((await user.run(`runs prune ${basename(folder)} --yes`)).code).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  test('a run that sent nothing is removed by the next write, once its process is dead', async () => {
    const service = await keep(several(2));
    const user = userInside(service);
    const store = join(user.runs, 'open');
    const holder = describeSelf({ pid: process.pid, isAlive }, undefined);
    const bare = (run: string, more: object) => {
      const folder = scriptedRun(user.runs, 'open', run, {
        rows: 3,
        holder: { ...holder, ...more },
      });
      const path = join(folder, 'journal.jsonl');
      writeFileSync(path, readFileSync(path, 'utf8').split('\n').slice(0, 1).join('\n') + '\n');
    };
    bare('20260301T101500123-aaaaaa', { pid: 4_194_304 + 5 });
    bare('20260301T101500123-bbbbbb', {});
    bare('20260301T101500123-cccccc', { boot: 'of another machine', host: 'elsewhere' });
    mkdirSync(join(store, '20260301T101500123-dddddd'));
    // Between its plan and the first record of its journal: killed there, or a moment ago.
    const young = newRunName(new Date());
    for (const run of ['20260301T101500123-eeeeee', young]) {
      const planned = scriptedRun(user.runs, 'open', run);
      const [first = ''] = readFileSync(join(planned, 'journal.jsonl'), 'utf8').split('\n');
      const { kind: _kind, seq: _seq, t: _t, ...head } = unsealLine(first) ?? {};
      const rows = [{ row: 1, id: 'app_1' }];
      await writePlan(planned, { head: head as RunHead, job: { job: {}, guards: {} }, rows });
      rmSync(join(planned, 'journal.jsonl'));
    }
    expect((await user.run(line(2))).code).toBe(0);
    expect(readdirSync(store).toSorted()).toEqual([
      '20260301T101500123-bbbbbb',
      '20260301T101500123-cccccc',
      young,
    ]);
  });
});

test('old before-images of an unfinished run go, unless its process lives or it cannot be read', async () => {
  const user = userInside(await keep(several(2)));
  const holder = describeSelf({ pid: process.pid, isAlive }, undefined);
  const begun = (run: string, more: object, change = (text: string) => text) => {
    const folder = scriptedRun(user.runs, 'open', run, {
      rows: 3,
      holder: { ...holder, ...more },
    });
    const journal = join(folder, 'journal.jsonl');
    const [job = '', result = ''] = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(journal, change(`${job}\n${result}\n`));
    const images = join(folder, 'undo.jsonl');
    writeFileSync(images, '');
    utimesSync(images, startOf(run), startOf(run));
    return images;
  };
  const dead = begun('20250301T101500123-aaaaaa', { pid: 4_194_304 + 5 });
  const alive = begun('20250301T101500123-bbbbbb', {});
  const unreadable = begun('20250301T101500123-cccccc', { pid: 4_194_304 + 5 }, (text) =>
    text.replace('"seq":1', '"seq":7'),
  );
  expect((await user.run(line(2))).code).toBe(0);
  expect([dead, alive, unreadable].map((path) => existsSync(path))).toEqual([false, true, true]);
});

describe('with 5,000 ended runs', () => {
  beforeEach(({ skip }) =>
    skip(spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0, 'strace may not trace'),
  );

  test('a write opens nothing below ended/, and last and runs list open what they show', {
    timeout: 120_000,
  }, async () => {
    const service = await keep(several(2));
    const user = userInside(service);
    for (const run of manyNames(4_900, true)) scriptedRun(user.runs, 'ended', run);
    for (const run of manyNames(100)) scriptedRun(user.runs, 'ended', run);
    // Before-images that are too old are removed without opening their runs.
    const old = scriptedRun(user.runs, 'ended', '20250301T101500123-aaaaaa');
    writeFileSync(join(old, 'undo.jsonl'), '');
    utimesSync(join(old, 'undo.jsonl'), 0, 0);
    // All of them ended long ago.
    utimesSync(join(user.runs, 'ended'), 0, 0);
    const first = await opened(user.home, service.env, line(2));
    expect([first.code, first.below]).toEqual([0, []]);
    expect(readdirSync(old)).toEqual(['journal.jsonl']);
    // Later than a second after the first, in which reads may lag behind it. Which before-images are old
    // enough is determined once, not each time.
    utimesSync(join(user.runs, 'ended'), 0, 0);
    const second = await opened(user.home, service.env, line(2).replace('rejected', 'accepted'));
    expect([second.code, second.below, second.listed]).toEqual([0, [], 0]);
    const last = await opened(user.home, service.env, 'runs show last');
    expect(new Set(last.below).size).toBe(1);
    const list = await opened(user.home, service.env, 'runs list --json');
    expect(JSON.parse(list.stdout)).toHaveLength(50);
    expect(new Set(list.below).size).toBe(50);
    expect(list.stderr).toContain(
      'Not listed: 53 older runs and 4,900 finished changes of a single record.',
    );
    const all = await user.run('runs list --all --json');
    expect(JSON.parse(all.stdout)).toHaveLength(5_003);
    expect(namesIn(list)).toEqual(
      namesIn(all)
        .filter((run) => !isSingleRun(run))
        .slice(-50),
    );
    // A plan is applied by a run of many records that is at most a day older; only its head is read.
    await user.run('tryouts update app_1 --status rejected');
    await user.run('tryouts set-status app_1 --to shortlisted --plan p.json');
    const plan = await opened(user.home, service.env, 'plan show p.json');
    expect(plan.code).toBe(0);
    expect(plan.below).toHaveLength(102);
  });
});

/** Runs a command under strace; returns the runs below `ended/` with an opened file, and how often `ended` itself was opened. */
async function opened(home: string, env: Record<string, string>, words: string) {
  const trace = join(temporaryFolder(), 'trace');
  const ran = await startLine(words, {
    home,
    env: { ...env, ...fast },
    through: `exec strace -f -qq -s 400 -o ${trace} -e trace=open,openat "$@"`,
  }).ended;
  const text = readFileSync(trace, 'utf8');
  const below = [...text.matchAll(/open(?:at)?\([^"]*"[^"]*\/runs\/ended\/([^/"]+)/g)];
  const listed = [...text.matchAll(/open(?:at)?\([^"]*"[^"]*\/runs\/ended"/g)].length;
  return { ...ran, below: below.map(([, run]) => run), listed };
}

describe('runs prune RUN', () => {
  test('deletes an unfinished run after confirmation, but not while its process is alive', async () => {
    const held: (() => void)[] = [];
    const service = await keep(several(3), (_, step) =>
      step === 'PATCH app_2' ? () => void held.push(() => {}) : undefined,
    );
    const user = userInside(service);
    const child = user.start(line(3, '--yes --concurrency 1'));
    await until(() => held.length > 0);
    const [folder = ''] = runFolders(user.runs);
    const busy = await user.run(`runs prune ${folder.slice(-6)} --yes --json`);
    expect([busy.code, errorOf(busy)['code']]).toEqual([11, 'locked']);
    expect(errorOf(busy)['message']).toMatch(/^Run \S+ is still running\.$/);
    child.kill('SIGKILL');
    await closed(child);
    const journal = join(folder, 'journal.jsonl');
    const text = readFileSync(journal, 'utf8');
    const [first = '', ...rest] = text.split('\n');
    const job = unsealLine(first) ?? {};
    const inContainer = { ...(job['holder'] as object), namespace: 'pid:[1]' };
    writeFileSync(journal, sealLine({ ...job, holder: inContainer }) + rest.join('\n'));
    const unsure = await user.run(`runs prune ${folder.slice(-6)} --yes --json`);
    expect(unsure.code).toBe(11);
    expect(errorOf(unsure)['message']).toContain('may still be running');
    expect(errorOf(unsure)['hint']).toContain(folder);
    writeFileSync(journal, text);
    const unasked = await user.run(`runs prune ${folder.slice(-6)} --json`);
    expect([unasked.code, existsSync(folder)]).toEqual([2, true]);
    const gone = await user.run(`runs prune ${folder.slice(-6)} --yes --json`);
    expect(JSON.parse(gone.stdout)).toEqual({ removed: [basename(folder)] });
    expect(runFolders(user.runs)).toEqual([]);
    expect((await user.run('runs prune 3fa9c2 --yes')).code).toBe(2);
  });

  test('does not delete a run that was resumed while the question waited', async () => {
    const held: (() => void)[] = [];
    let isHolding = false;
    const service = await keep(several(3), (_, step) =>
      isHolding && step === 'PATCH app_2' ? () => void held.push(() => {}) : undefined,
    );
    const user = userOf(service);
    const killed = user.start(line(3, '--yes --concurrency 1'), { ROSTERCTL_RATE: '1/s' });
    await until(() => written(service).length > 0);
    killed.kill('SIGKILL');
    await closed(killed);
    isHolding = true;
    const [folder = ''] = runFolders(user.runs);
    let resumed: ReturnType<typeof user.start> | undefined;
    const answer = async () => {
      resumed = user.start('runs resume last --yes --concurrency 1');
      await until(() => held.length > 0);
      return 'y\r';
    };
    const words = ['runs', 'prune', folder.slice(-6)];
    const { code, shown } = await converse(user.home, words, [[/undo it\?/, answer]], service.env);
    expect([code, existsSync(folder)]).toEqual([11, true]);
    expect(shown).toContain('is still running');
    resumed?.kill('SIGKILL');
  });

  test('without a name keeps runs that can still be undone', async () => {
    const home = temporaryFolder();
    const runs = join(home, '.local/state/rosterctl/runs');
    const day = 24 * 60 * minute;
    const aged = (days: number) => newRunName(new Date(Date.now() - days * day));
    const [old, month, young] = [aged(100), aged(40), aged(1)];
    for (const run of [old, month, young]) scriptedRun(runs, 'ended', run);
    await inProcess('config set undo.keep 60d', { home });
    const pruned = await inProcess('runs prune --older-than 0d --json', { home });
    expect(JSON.parse(pruned.stdout)).toEqual({ removed: [old] });
    expect(pruned.stderr).toContain('younger than 60 days stay');
    await inProcess('config set undo.keep off', { home });
    const rest = await inProcess('runs prune --older-than 0d --json', { home });
    expect(JSON.parse(rest.stdout)).toEqual({ removed: [month, young] });
  });
});

/**
 * The `input` by which a later version finds the unfinished run of the same command. If one has to change,
 * raise `runFormat`, too: otherwise that version starts over, and creates a record a second time.
 */
const inputs = {
  'players create --name Ann -F role=coach': 'e5abf7c277e572fd',
  'players update player_0001 player_0002 -F role=Sub --if name!=x --yes': '48ea9f4f028b6523',
  'players delete player_0003 player_0004 --yes --expect 2': 'ef9ca5277863a756',
  'players import roster.csv --key email --yes': '781e0296500f0ae3',
  'tryouts set-status app_0040 app_0042 --to rejected --if-status pending --yes':
    '2602a81e252860bc',
  'tryouts set-status --status pending --sort name --limit 2 --to reviewing --yes':
    '0e84ae1a91289f67',
  'tryouts update --csv table.csv --yes': 'ab0f91f8db62ab01',
  'tryouts update email:soraya.brightwater@example.org --append-note Call': 'f50836fb25f8b5a3',
  'tryouts convert app_0016 app_0022 --accept --yes': 'be6230bbfac801ed',
  'docs update doc_0001 --add-tag legal': '1103d4914b8fa20c',
};

test('a later version recognises the same command line', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'roster.csv'), 'name,email\nAnn,ann@example.org\n');
  writeFileSync(join(home, 'table.csv'), 'id,status\napp_0045,withdrawn\n');
  const found: Record<string, unknown> = {};
  for (const each of Object.keys(inputs)) {
    expect([each, (await inProcess(`-p sandbox ${each}`, { home, cwd: home })).code]).toEqual([
      each,
      0,
    ]);
    const journal = join(runFolders(runsOf(home)).at(-1) ?? '', 'journal.jsonl');
    const [first = ''] = readFileSync(journal, 'utf8').split('\n');
    found[each] = String(unsealLine(first)?.['input']).slice(0, 16);
  }
  expect(found).toEqual(inputs);
});

test('a run records which run retried its rows', async () => {
  const store = runStore(temporaryFolder());
  const [first = '', second = ''] = manyNames(2);
  const folder = scriptedRun(store.dir, 'ended', first);
  expect(retriedBy(store, first)).toBeUndefined();
  await markRetried(store, first, second);
  expect(retriedBy(store, first)).toBe(second);
  expect(readdirSync(folder).toSorted()).toEqual(['journal.jsonl', 'retried']);
  // A torn file names no run.
  writeFileSync(join(folder, 'retried'), second.slice(0, 9));
  expect(retriedBy(store, first)).toBeUndefined();
});

test('runs list shows unfinished changes of a single record, and the rest with --all', async () => {
  const home = temporaryFolder();
  const runs = join(home, '.local/state/rosterctl/runs');
  const [ended = ''] = manyNames(1, true);
  scriptedRun(runs, 'ended', ended);
  const [moves = ''] = manyNames(1, true);
  scriptedRun(runs, 'open', moves);
  const [open = ''] = manyNames(1, true);
  scriptedRun(runs, 'open', open, { rows: 2 });
  const journal = join(runs, 'open', open, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  writeFileSync(journal, `${lines.slice(0, 2).join('\n')}\n`);
  const named = async (words: string) => {
    const { stdout } = await inProcess(words, { home });
    return (JSON.parse(stdout) as { run: string }[]).map(({ run }) => run);
  };
  expect(await named('runs list --json')).toEqual([open]);
  expect(await named('runs list --all --json')).toEqual([ended, moves, open].toSorted());
});
