import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parseJson, RawNumber } from '../../src/data/json.js';
import { OutputError } from '../../src/errors.js';
import {
  beforeImagesIn,
  openBeforeImages,
  pruneBeforeImages,
  readBeforeImages,
} from '../../src/runs/before-images.js';
import { newRunName, runStore } from '../../src/runs/store.js';
import { bundleChild, killChildren, startChild } from '../support/child.js';
import { inProcess } from '../support/in-process.js';
import { temporaryFolder } from '../support/run.js';
import { key, recordingService } from '../support/service.js';
import { report, runFolders, userOf } from './user.js';

afterAll(killChildren);

const childSource = fileURLToPath(new URL('before-images-child.ts', import.meta.url));

const apiKey = 'sk_canary_1';
const options = { isKey: (text: string) => text.includes(apiKey), isOurs: () => true };

test('an absent field differs from null, and every value keeps its type', async () => {
  const folder = temporaryFolder();
  const images = openBeforeImages(folder, options);
  const before = {
    name: 'Ann',
    team: null,
    rank: undefined,
    chat: parseJson('12345678901234567890'),
    tags: ['a;b', ''],
    nested: { deep: { n: 1.5, no: false } },
    odd: '\u0000\ud800 \u2028',
  };
  await images.append({ row: 2, id: 'app_2', kind: 'fields', before, after: { name: 'Bo' } });
  await images.append({ row: 1, id: 'p_1', kind: 'record', before: { id: 'p_1' } });
  await images.close();
  expect(statSync(beforeImagesIn(folder)).mode & 0o777).toBe(0o600);
  const [first, second, ...more] = await readBeforeImages(folder);
  expect(more).toEqual([]);
  expect(first).toEqual({
    row: 1,
    id: 'p_1',
    kind: 'record',
    before: { id: 'p_1' },
    absent: [],
    withheld: [],
    shortened: [],
  });
  const { rank: _, ...kept } = before;
  expect(second).toMatchObject({ row: 2, kind: 'fields', before: kept, absent: ['rank'] });
  expect(second?.before?.['chat']).toEqual(new RawNumber('12345678901234567890'));
  expect(Object.hasOwn(second?.before ?? {}, 'rank')).toBe(false);
});

test('the API key is omitted and URLs lose their queries, at any depth, and the entry names such fields', async () => {
  const folder = temporaryFolder();
  const images = openBeforeImages(folder, options);
  await images.append({
    row: 1,
    id: 'x',
    kind: 'fields',
    before: {
      secret: [{ inner: apiKey }],
      near: `a note with ${apiKey} in it`,
      link: { url: 'https://files.example/a.pdf?sig=canary#x', plain: 'https://files.example/b' },
      text: 'why?',
    },
    after: { secret: 'other', link: 'https://files.example/c?sig=canary' },
  });
  await images.close();
  const text = readFileSync(beforeImagesIn(folder), 'utf8');
  expect(text).not.toContain('canary"');
  expect(text).not.toContain('sig=');
  const [image] = await readBeforeImages(folder);
  expect(image).toMatchObject({
    before: {
      link: { url: 'https://files.example/a.pdf', plain: 'https://files.example/b' },
      text: 'why?',
    },
    after: { secret: 'other', link: 'https://files.example/c' },
    withheld: ['secret', 'near'],
    shortened: ['link'],
  });
  expect(image?.before).not.toHaveProperty('secret');
});

test('the last line of each row and step counts, and a torn end is dropped, also before the next line is written', async () => {
  const folder = temporaryFolder();
  const first = openBeforeImages(folder, options);
  const entry = { row: 1, id: 'x', kind: 'fields' } as const;
  await Promise.all(['a', 'b'].map((name) => first.append({ ...entry, before: { name } })));
  await first.append({ ...entry, step: 'accept', before: { status: 'pending' } });
  await first.close();
  const path = beforeImagesIn(folder);
  appendFileSync(path, '{"row":1,"id":"x","kind":"fields","bef');
  const expected = [
    { row: 1, before: { name: 'b' } },
    { row: 1, step: 'accept', before: { status: 'pending' } },
  ];
  expect(await readBeforeImages(folder)).toMatchObject(expected);
  const again = openBeforeImages(folder, options);
  await again.append({ row: 2, id: 'y', kind: 'created', after: { id: 'new' } });
  await again.close();
  expect(await readBeforeImages(folder)).toMatchObject([...expected, { row: 2, id: 'y' }]);
  // A modified line in the middle is damage.
  writeFileSync(path, readFileSync(path, 'utf8').replace('"name":"a"', '"name":"c"'));
  await expect(readBeforeImages(folder)).rejects.toThrow(/damaged in line 1/);
});

test('the first entry creates the file', async () => {
  const folder = temporaryFolder();
  await openBeforeImages(folder, options).close();
  expect(readdirSync(folder)).toEqual([]);
  expect(await readBeforeImages(folder)).toEqual([]);
});

test('a failed write throws OutputError for its entry and all later ones', async () => {
  const folder = temporaryFolder();
  mkdirSync(beforeImagesIn(folder));
  const images = openBeforeImages(folder, options);
  for (const row of [1, 2]) {
    const error: unknown = await images
      .append({ row, id: 'x', kind: 'fields' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OutputError);
  }
  await images.close();
});

test('at a file size limit no entry is reported as on disk, and the torn end is dropped', async () => {
  const script = await bundleChild(childSource);
  const folder = temporaryFolder();
  const limited = 'trap "" XFSZ; ulimit -f 2; exec "$@"';
  const line = ['-c', limited, 'sh', process.execPath, script, folder, 'ends'];
  const ran = spawnSync('sh', line, { encoding: 'utf8' });
  expect([ran.status, ran.stdout]).toEqual([0, 'refused: output\n']);
  const kept = await readBeforeImages(folder);
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(100);
});

test('an entry reported as on disk survives kill -9, and entries share syncs', async ({ skip }) => {
  skip(spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0, 'strace may not trace');
  const script = await bundleChild(childSource);
  const folder = temporaryFolder();
  const child = startChild(script, [folder]);
  await child.says('100 on disk');
  child.kill('SIGKILL');
  await child.ended;
  expect(await readBeforeImages(folder)).toHaveLength(100);
  const other = temporaryFolder();
  const trace = join(other, 'trace');
  const line = ['-f', '-qq', '-o', trace, '-e', 'trace=fdatasync', process.execPath, script, other];
  execFileSync('strace', [...line, 'ends'], { stdio: 'ignore' });
  const syncs = readFileSync(trace, 'utf8').split('fdatasync(').length - 1;
  expect(syncs).toBeGreaterThan(0);
  expect(syncs).toBeLessThan(20);
});

const day = 86_400_000;

const free: Parameters<typeof pruneBeforeImages>[3] = { most: 50, isHeld: async () => false };

/** A store with runs of these ages in days, each with before-images of that age. */
function storeWith(now: Date, ages: readonly number[], place = 'ended') {
  const store = runStore(temporaryFolder());
  const runs = ages.map((age) => {
    const time = new Date(now.getTime() - age * day);
    const run = newRunName(time);
    const folder = join(store.dir, place, run);
    mkdirSync(folder, { recursive: true });
    writeFileSync(beforeImagesIn(folder), 'x');
    utimesSync(beforeImagesIn(folder), time, time);
    return run;
  });
  const left = () =>
    runs.filter((run) => existsSync(beforeImagesIn(join(store.dir, place, run)))).length;
  const prune = async (keepDays: number, at: Date, how = free) => {
    const before = left();
    await pruneBeforeImages(store, keepDays * day, at, how);
    return before - left();
  };
  return { store, runs, left, prune };
}

test('before-images older than undo.keep are removed, oldest first, at most 50 per command', async () => {
  const now = new Date();
  const { left, prune } = storeWith(
    now,
    [...Array(120).keys()].map((at) => 40 + at),
  );
  expect(await prune(30, now)).toBe(50);
  expect(left()).toBe(70);
  expect(await prune(30, now)).toBe(50);
  expect(await prune(30, now)).toBe(20);
  expect([left(), await prune(30, now)]).toEqual([0, 0]);
});

test('younger before-images stay until they are due, also those of runs that end later', async () => {
  const now = new Date();
  const { left, prune } = storeWith(now, [31, 20, 10]);
  expect(await prune(30, now)).toBe(1);
  const in11 = new Date(now.getTime() + 11 * day);
  expect(await prune(30, in11)).toBe(1);
  expect(left()).toBe(1);
  // A shorter setting takes effect immediately.
  expect(await prune(5, in11)).toBe(1);
  expect(left()).toBe(0);
});

test('before-images of a run in open/ that a process holds are kept', async () => {
  const now = new Date();
  const { runs, left, prune } = storeWith(now, [90, 80], 'open');
  const held = { most: 50, isHeld: async (run: string) => run === runs[0] };
  expect(await prune(30, now, held)).toBe(1);
  expect(left()).toBe(1);
  expect(await prune(30, now)).toBe(1);
});

test('before-images of a run that is continued while it is looked at are kept', async () => {
  const now = new Date();
  const { store, runs, prune } = storeWith(now, [90], 'open');
  const folder = join(store.dir, 'open', runs[0] ?? '');
  const images = openBeforeImages(folder, options);
  const isHeld = async () => {
    await images.append({ row: 1, id: 'app_1', kind: 'fields', before: { name: 'Ann' } });
    return false;
  };
  expect(await prune(30, now, { most: 50, isHeld })).toBe(0);
  expect(await readBeforeImages(folder)).toHaveLength(1);
  await images.close();
});

test('before-images of a resumed run are as old as their last line', async () => {
  const now = new Date();
  const { store, runs, prune } = storeWith(now, [90]);
  const path = beforeImagesIn(join(store.dir, 'ended', runs[0] ?? ''));
  utimesSync(path, now, now);
  expect(await prune(30, now)).toBe(0);
  expect(existsSync(path)).toBe(true);
});

test('a create whose image cannot be written is done, names its record, and is the last one sent', async () => {
  const made: object[] = [];
  const service = await recordingService(({ method, url, body }) => {
    const [, number] = /player_(\d)/.exec(url) ?? [];
    if (method === 'GET') return { status: 200, json: number ? made[Number(number) - 1] : made };
    // The request is on its way, so its run has a folder.
    const folder = runFolders(user.runs).at(-1) ?? '';
    mkdirSync(beforeImagesIn(folder), { recursive: true });
    made.push({ id: `player_${made.length + 1}`, ...(JSON.parse(body.toString()) as object) });
    return { status: 201, json: made.at(-1) };
  });
  const user = userOf(service);
  const one = await user.run('players create --name Ann --json -q');
  expect([one.code, JSON.parse(one.stdout)]).toMatchObject([0, { id: 'player_1' }]);
  expect(one.stderr).toContain('player_1 was created, but runs undo cannot delete it.');
  const line = 'players import - --key name --concurrency 1 --yes --json';
  const several = await user.run(line, 'name\nBea\nCleo\n');
  expect(several.code).toBe(1);
  expect(report(several).results).toMatchObject([
    { result: 'changed', after: { id: 'player_2' } },
    { result: 'not_attempted' },
  ]);
  expect(several.stderr).toContain('player_2 was created, but runs undo cannot delete it.');
  expect(made).toHaveLength(2);
  // Nothing was left to send, so nothing is to be repeated.
  const last = await user.run(line, 'name\nDora\n');
  expect([last.code, report(last).results]).toMatchObject([0, [{ result: 'changed' }]]);
  expect(last.stderr).toContain('player_3 was created, but runs undo cannot delete it.');
});

test('an undo says of a record whose id no answer named that it cannot know it', async () => {
  const service = await recordingService(({ method }) =>
    method === 'GET' ? { status: 200, json: [] } : { status: 200 },
  );
  const user = userOf(service);
  expect((await user.run('players create --name Ann')).code).toBe(0);
  const undone = await user.run('runs undo last --yes');
  expect(undone.code).toBe(11);
  expect(undone.stderr).toContain('(1 made without an answer that shows it)');
});

test.each([
  [`players create --name Ann -F code=${key}`, ''],
  [`players update player_1 -F 'code=is ${key}'`, ''],
  ['players import - --key name --yes', `name,code\nAnn,${key}\n`],
  [`players update p1 p2 -F role=Sub --if 'name!=${key}' --yes`, ''],
])('no run keeps the API key as a value: %s', async (line, input) => {
  const service = await recordingService(() => ({ status: 200, json: [] }));
  const user = userOf(service, inProcess);
  const ran = await user.run(line, input);
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(ran.stderr).toContain('A value of this command holds the API key');
  expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(runFolders(user.runs)).toEqual([]);
  expect((await user.run(`${line} -n`, input)).code).toBe(2);
});
