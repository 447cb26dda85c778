import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { GuardError, OutputError } from '../../src/errors.js';
import { checkWritable, openAtomic, writeAtomically } from '../../src/files/atomic-write.js';
import { openSyncedLines } from '../../src/files/synced-lines.js';
import { sweepStaleTemps } from '../../src/files/temporary.js';
import { cannotWrite } from '../../src/files/writing.js';
import { until } from '../bulk/user.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, startLine, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

const home = temporaryFolder();
let count = 0;
const freshFolder = () => {
  const folder = join(home, `case-${++count}`);
  mkdirSync(folder);
  return folder;
};
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('a new file is complete and 0600 whatever the umask', async () => {
  const before = process.umask(0);
  try {
    const file = join(freshFolder(), 'new.json');
    await writeAtomically(file, '{}\n');
    expect(readFileSync(file, 'utf8')).toBe('{}\n');
    expect(modeOf(file)).toBe(0o600);
  } finally {
    process.umask(before);
  }
});

test('what is written after the end reaches no file that opened meanwhile', async () => {
  const folder = freshFolder();
  const bystander = join(folder, 'other.json');
  const file = await openAtomic(join(folder, 'new.json'));
  const lines = await openSyncedLines(join(folder, 'journal.jsonl'), {
    what: 'The journal',
    bytes: 0,
    isOurs: () => true,
  });
  await Promise.all([file.write('whole'), lines.append({ whole: true })]);
  await file.commit();
  await lines.close();
  // Gets the lowest free numbers, which are those of the two files.
  const others = [openSync(bystander, 'a'), openSync(bystander, 'a')];
  await expect(file.write('late')).rejects.toThrow(OutputError);
  await expect(lines.append({ late: true })).rejects.toThrow(OutputError);
  others.forEach(closeSync);
  expect(readFileSync(bystander, 'utf8')).toBe('');
});

test('a journal that was moved away, or whose file system was unmounted, was taken over by nobody', async () => {
  const path = join(freshFolder(), 'journal.jsonl');
  const what = 'The journal';
  const lines = await openSyncedLines(path, { what, bytes: 0, isOurs: () => existsSync(path) });
  await lines.append({ whole: true });
  renameSync(path, `${path}.moved`);
  await expect(lines.append({ late: true })).rejects.toThrow(/ was removed while /);
  await lines.close();
});

test('a journal that was removed is not written, although its lock is held', async () => {
  const path = join(freshFolder(), 'journal.jsonl');
  const lines = await openSyncedLines(path, { what: 'The journal', bytes: 0, isOurs: () => true });
  await lines.append({ whole: true });
  rmSync(path);
  await expect(lines.append({ late: true })).rejects.toThrow(/ was removed while /);
  await lines.close();
});

test('nothing is written to a journal behind what was refused', async () => {
  const path = join(freshFolder(), 'journal.jsonl');
  const waiting: Promise<unknown>[] = [];
  const isOurs = () => {
    if (waiting.length > 0) return true;
    waiting.push(lines.append({ next: true }).catch((error: unknown) => error));
    return false;
  };
  const lines = await openSyncedLines(path, { what: 'The journal', bytes: 0, isOurs });
  const refusal = await lines.append({ first: true }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(GuardError);
  expect(await Promise.all(waiting)).toEqual([refusal]);
  await lines.close();
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a file that Windows does not replace while it is open is not blamed on its folder', () => {
  const file = join(freshFolder(), 'teams.csv');
  const refusal = Object.assign(new Error('EPERM: rename'), { code: 'EPERM' });
  const hint = () => cannotWrite(file, refusal, true).hint;
  expect(hint()).toBe('Name a file in a folder that you can write to.');
  writeFileSync(file, 'name\r\n');
  expect(hint()).toBe('If another program has it open, close it there. Or name another file.');
  expect(cannotWrite(file, refusal, false).hint).toContain('a folder');
});

test.each([
  ['note.txt/list.csv', 'a part of the path is not a folder (ENOTDIR)', 'Name a file in a folder'],
  ['loop/list.csv', 'its links form a loop (ELOOP)', 'Name a file in a folder'],
  [`${'x'.repeat(300)}.csv`, 'the name is too long (ENAMETOOLONG)', 'Choose a shorter name.'],
])(
  'an --out that cannot be is refused with what to name instead: %.20s',
  async (out, why, hint) => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'note.txt'), '');
    symlinkSync('loop', join(cwd, 'loop'));
    for (const flag of ['', ' --dry-run']) {
      const ran = await inProcess(`-p sandbox teams list --out ${out}${flag}`, { home: cwd, cwd });
      expect([ran.code, ran.stdout]).toEqual([1, '']);
      expect(ran.stderr).toContain(`${out} cannot be written: ${why}.\n${hint}`);
    }
  },
);

test('a file that is given up waits for its last write', async () => {
  const folder = freshFolder();
  const file = await openAtomic(join(folder, 'new.json'));
  const large = file.write(Buffer.alloc(64 * 1024 * 1024));
  await Promise.all([file.discard(), large]);
  expect(readdirSync(folder)).toEqual([]);
});

test('an existing file keeps its mode and is replaced, not written into', async () => {
  const file = join(freshFolder(), 'report.csv');
  writeFileSync(file, 'old');
  chmodSync(file, 0o644);
  const { ino } = statSync(file);
  await writeAtomically(file, 'new');
  expect([readFileSync(file, 'utf8'), modeOf(file)]).toEqual(['new', 0o644]);
  expect(statSync(file).ino).not.toBe(ino);
});

test('an existing file keeps its group and its owner, so that whoever reads it still can', async ({
  skip,
}) => {
  const own = process.getgid?.();
  const group = process.getuid?.() === 0 ? 65_534 : process.getgroups?.().find((id) => id !== own);
  skip(group === undefined, 'this user is in no second group');
  const owner = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0);
  const cwd = freshFolder();
  for (const [name, line] of [
    ['teams.json', 'teams list --out teams.json'],
    ['page.html', 'report --html page.html'],
    ['contract.pdf', 'docs download doc_0001 -O contract.pdf --overwrite'],
    ['Player contract Nimbus Kite.pdf', 'docs download doc_0001 --overwrite'],
  ] as const) {
    const file = join(cwd, name);
    writeFileSync(file, 'old');
    chmodSync(file, 0o640);
    chownSync(file, owner, group ?? 0);
    const ran = await inProcess(`-p sandbox ${line}`, { home, cwd });
    expect([ran.code, readFileSync(file, 'utf8') === 'old']).toEqual([0, false]);
    const { uid, gid } = statSync(file);
    expect([name, modeOf(file), uid, gid]).toEqual([name, 0o640, owner, group]);
  }
});

test('the old file stays until the commit, and a discard leaves nothing', async () => {
  const folder = freshFolder();
  const file = join(folder, 'list.json');
  writeFileSync(file, 'old');
  const made = await openAtomic(file);
  await made.write('half of the n');
  expect(readFileSync(file, 'utf8')).toBe('old');
  await made.discard();
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['list.json']);
});

test('chunks arrive in order, bytes and text', async () => {
  const file = join(freshFolder(), 'chunks');
  const made = await openAtomic(file);
  for (const chunk of ['ä', new Uint8Array([0, 255]), '\n']) await made.write(chunk);
  await made.commit();
  await made.discard();
  expect([...readFileSync(file)]).toEqual([0xc3, 0xa4, 0, 255, 10]);
});

test('exactly one of two writers of a new name wins, and replaces nothing', async () => {
  const folder = freshFolder();
  const file = join(folder, 'download.pdf');
  const words = ['first', 'second'];
  const placed = await Promise.allSettled(
    words.map((word) => writeAtomically(file, word, { isNew: true })),
  );
  const winner = placed.findIndex(({ status }) => status === 'fulfilled');
  expect(placed[1 - winner]).toMatchObject({ reason: { exitName: 'guarded', code: 'exists' } });
  expect(readFileSync(file, 'utf8')).toBe(words[winner]);
  expect(readdirSync(folder)).toEqual(['download.pdf']);
});

test('what is cut off does not come back, and the rest follows where it was cut', async () => {
  const file = join(freshFolder(), 'chunks');
  const made = await openAtomic(file);
  for (const [bytes, cut] of [
    [10, 4],
    [2 * 1024 * 1024, 1024 * 1024 + 5],
    [3, 7],
  ] as const) {
    await made.write(Buffer.alloc(bytes, String(bytes % 10)));
    await made.cutTo?.(cut);
  }
  await made.write('end');
  await made.commit();
  expect(readFileSync(file, 'utf8')).toBe('0000222end');
});

test('a link is followed to its file and stays a link', async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'real'), 'old');
  symlinkSync('real', join(folder, 'link'));
  await writeAtomically(join(folder, 'link'), 'new');
  expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
});

test('links to a file that is not there yet are followed and stay links', async () => {
  const folder = freshFolder();
  mkdirSync(join(folder, 'in'));
  symlinkSync('in/second', join(folder, 'first'));
  symlinkSync('../real', join(folder, 'in', 'second'));
  await writeAtomically(join(folder, 'first'), 'new');
  expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
  expect(readdirSync(folder).toSorted()).toEqual(['first', 'in', 'real']);
  expect(readFileSync(join(folder, 'first'), 'utf8')).toBe('new');
});

test.each([
  [
    'unmounted/list.csv',
    /unmounted\/list\.csv cannot be written: there is no such folder \(ENOENT\)/,
  ],
  ['list.csv', /list\.csv cannot be written: its links form a loop \(ELOOP\)/],
  [
    'missing/../list.csv',
    /missing\/\.\.\/list\.csv cannot be written: there is no such folder \(ENOENT\)/,
  ],
])('a link to %s is not replaced', async (target, words) => {
  const link = join(freshFolder(), 'list.csv');
  symlinkSync(target, link);
  for (const attempt of [checkWritable, writeAtomically])
    await expect(attempt(link, 'x')).rejects.toThrow(words);
  expect(readlinkSync(link)).toBe(target);
});

test('a device is written directly', async () => {
  await writeAtomically('/dev/null', 'gone');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('a file in /dev/shm is replaced like any other', async ({ skip }) => {
  skip(!existsSync('/dev/shm'), 'Only Linux has /dev/shm.');
  const file = `/dev/shm/rosterctl-${process.pid}`;
  onTestFinished(() => rmSync(file, { force: true }));
  await writeAtomically(file, 'old');
  await writeAtomically(file, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
});

test.each([
  ['a missing folder', (folder: string) => join(folder, 'no', 'file'), /no such folder/],
  ['a folder in its place', (folder: string) => folder, /is a folder/],
  ['too long a name', (folder: string) => join(folder, 'x'.repeat(300)), /name is too long/],
  ['a file for its folder', () => '/etc/passwd/file', /a part of the path is not a folder/],
])('%s is an output error that says so, known in advance', async (_, place, words) => {
  const folder = freshFolder();
  for (const attempt of [checkWritable, writeAtomically]) {
    const failed = attempt(place(folder), 'x');
    await expect(failed).rejects.toBeInstanceOf(OutputError);
    await expect(failed).rejects.toThrow(words);
  }
  expect(readdirSync(folder)).toEqual([]);
});

test('a file whose temporary file is gone does not miss its folder', async () => {
  const folder = freshFolder();
  const output = await openAtomic(join(folder, 'report.csv'));
  for (const temp of readdirSync(folder)) rmSync(join(folder, temp));
  const error = await output.commit().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    message: expect.stringContaining(
      'was removed in the meantime, or its file system does not allow the name',
    ),
    hint: 'Run the same command again, or name another file.',
  });
});

test('a full disk is reported, and the old file stays', async () => {
  await expect(writeAtomically('/dev/full', 'x'.repeat(10))).rejects.toThrow(/disk is full/);
});

test('the temporary file of a name that an encrypted file system takes has such a name, too', async () => {
  const folder = freshFolder();
  const output = await openAtomic(join(folder, `${'星'.repeat(46)}.csv`));
  const [temp = ''] = readdirSync(folder);
  await output.discard();
  expect(Buffer.byteLength(temp)).toBeLessThanOrEqual(143);
});

test('old temporary files are swept, young ones and those of others stay', async () => {
  const folder = freshFolder();
  const made = await openAtomic(join(folder, 'report.csv'));
  const [mine = ''] = readdirSync(folder);
  const old = mine.replace(/[0-9a-f]{16}/, '0123456789abcdef');
  writeFileSync(join(folder, old), '');
  writeFileSync(join(folder, 'tmp-of-another'), '');
  const now = new Date();
  const longAgo = new Date(now.getTime() - 2 * 3_600_000);
  for (const name of [old, 'tmp-of-another']) utimesSync(join(folder, name), longAgo, longAgo);
  await sweepStaleTemps(folder, now);
  expect(readdirSync(folder).toSorted()).toEqual([mine, 'tmp-of-another'].toSorted());
  await made.discard();
  expect(existsSync(join(folder, mine))).toBe(false);
});

test('sweeping a missing folder is not an error', async () => {
  await expect(sweepStaleTemps(join(home, 'none'), new Date())).resolves.toBeUndefined();
});

const teams = (name: string) => JSON.stringify([{ id: 'team_1', name }]);

const mac = { host: 'mac', bootedAt: 0, processInfo: () => undefined, beganAt: () => undefined };
const linux = { ...mac, boot: 'b1', namespace: 'pid:[1]' };

test.each([
  ['without /proc, those of its host', mac, { host: 'other' }],
  ['on Linux, those of its namespace', linux, { namespace: 'pid:[2]' }],
  ['on Linux, those of its boot', linux, { boot: 'b2' }],
])(
  'the next write to a file removes what processes that are gone left of it: %s',
  async (_, facts, others) => {
    const folder = freshFolder();
    const file = join(folder, 'teams.json');
    const by = (pid: number, more = {}) => ({
      self: {
        pid,
        isAlive: (other: number) => [11, 20].includes(other),
        facts: { ...facts, ...more },
      },
    });
    const left = async (pid: number, more?: object) => {
      const before = readdirSync(folder);
      await openAtomic(file, by(pid, more));
      return readdirSync(folder).filter((name) => !before.includes(name));
    };
    // An earlier process had the pid that writes now.
    for (const pid of [10, 20]) await left(pid);
    const kept = [...(await left(11)), ...(await left(10, others))];
    await writeAtomically(file, '[]', by(20));
    expect(readdirSync(folder).toSorted()).toEqual([...kept, 'teams.json'].toSorted());
    expect(kept).toHaveLength(2);
  },
);

test('where the system does not tell which processes are visible, a write removes nothing', async () => {
  const folder = freshFolder();
  const file = join(folder, 'teams.json');
  const facts = { ...linux, namespace: undefined };
  const self = { pid: 10, isAlive: () => false, facts };
  await openAtomic(file, { self });
  await writeAtomically(file, '[]', { self });
  expect(readdirSync(folder)).toHaveLength(2);
});

test('the next --out to a file removes what a killed process left of it, and nothing of a living one', async () => {
  const held: ServerResponse[] = [];
  let holds = true;
  const service = await recordingService(() => (_, response) => {
    response.setHeader('content-type', 'application/json');
    if (holds) held.push(response);
    else response.end(teams('Second'));
  });
  const folder = freshFolder();
  const at = { env: service.env, home: folder, cwd: folder };
  const line = 'teams list --out teams.json';
  const temps = () => readdirSync(folder).filter((name) => name.endsWith('.rosterctl-tmp'));
  const killed = startLine(line, at);
  await until(() => held.length === 1);
  killed.kill('SIGKILL');
  await killed.ended;
  const left = temps();
  expect(left).toHaveLength(1);
  const living = startLine(line, at);
  await until(() => held.length === 2);
  const own = temps();
  expect([own.length, own]).toEqual([1, expect.not.arrayContaining(left)]);
  holds = false;
  expect((await rosterctl(line, at)).code).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'teams.json'), 'utf8'))).toMatchObject([
    { name: 'Second' },
  ]);
  expect(temps()).toEqual(own);
  held[1]?.end(teams('First'));
  expect((await living.ended).code).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'teams.json'), 'utf8'))).toMatchObject([
    { name: 'First' },
  ]);
  expect(temps()).toEqual([]);
});
