import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { listBackup } from '../../src/backups/layout.js';
import { verifySnapshots } from '../../src/backups/verify.js';
import { desk, filesBelow, paper } from './desk.js';

const unheard = new AbortController().signal;

async function problemsIn(folder: string) {
  const { snapshots } = await listBackup(folder);
  const { problems } = await verifySnapshots(snapshots, unheard, () => {});
  return problems;
}

test('each changed byte of each file is found', { timeout: 300_000 }, async () => {
  const { create, folder } = await desk([paper('doc_1', 'one'), paper('doc_2', 'two')]);
  await create();
  const files = filesBelow(folder);
  expect(files).toHaveLength(8);
  expect(await problemsIn(folder)).toEqual([]);
  for (const file of files) {
    const bytes = readFileSync(file);
    // In place: a file that is cut and written anew thousands of times keeps the disk busy.
    const descriptor = openSync(file, 'r+');
    const put = (byte: number, at: number) => writeSync(descriptor, Buffer.of(byte), 0, 1, at);
    for (const [at, byte] of bytes.entries()) {
      put(byte ^ (1 << (at % 8)), at);
      const found = await problemsIn(folder);
      expect([file, at, found.length > 0]).toEqual([file, at, true]);
      put(byte, at);
    }
    closeSync(descriptor);
    expect(readFileSync(file)).toEqual(bytes);
  }
  expect(await problemsIn(folder)).toEqual([]);
});

test('any change of the bytes is found, and named by its file', { timeout: 120_000 }, async () => {
  const { create, folder } = await desk();
  await create();
  const files = filesBelow(folder);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.nat(),
      fc.nat(),
      fc.uint8Array({ maxLength: 40 }),
      async (file, from, length, put) => {
        const bytes = readFileSync(file);
        const at = from % (bytes.length + 1);
        const end = Math.min(bytes.length, at + (length % 40));
        const changed = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(end)]);
        fc.pre(!changed.equals(bytes));
        writeFileSync(file, changed);
        try {
          const [first] = await problemsIn(folder);
          expect(basename(first?.path ?? '')).toBe(basename(file));
        } finally {
          writeFileSync(file, bytes);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('each missing file is found, and an edited record', async () => {
  const { create, folder, run } = await desk();
  await create();
  for (const file of filesBelow(folder)) {
    const bytes = readFileSync(file);
    unlinkSync(file);
    const ran = await run(`backup verify ${folder} --json`);
    expect([ran.code, JSON.parse(ran.stdout).problems]).toMatchObject([
      1,
      [{ path: expect.stringContaining(basename(file)) }],
    ]);
    writeFileSync(file, bytes);
  }
  const players = filesBelow(folder).find((file) => file.endsWith('players.ndjson')) ?? '';
  writeFileSync(players, readFileSync(players, 'utf8').replace('Player 1', 'Player 7'));
  const ran = await run(`backup verify ${folder}`);
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain('players.ndjson does not match its hash');
  expect(ran.stderr).toContain('1 file is damaged.');
  expect(ran.stderr).toContain('Damaged records cannot be fetched again');
  await run(`backup create ${folder} --recheck`);
  expect((await run(`backup verify ${folder}`)).code).toBe(1);
  renameSync(dirname(players), join(dirname(folder), 'damaged'));
  expect((await run(`backup verify ${folder}`)).code).toBe(0);
});

test.each([
  ['"schema": 2', 'was made by a newer version of rosterctl'],
  ['"schema": 0', 'is damaged'],
])(
  'a manifest with %s is named with its reason, and the others are verified',
  async (put, reason) => {
    const { create, folder, snapshots, run } = await desk();
    await create();
    await create();
    const [name = '', other = ''] = snapshots();
    const manifest = join(folder, name, 'manifest.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"schema": 1', put));
    const ran = await run(`backup verify ${folder}`);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain(`  ${name}/manifest.json ${reason}\n${other}`);
    rmSync(manifest);
    expect((await run(`backup verify ${folder}`)).stdout).toContain(
      `${name}/manifest.json is missing\n`,
    );
  },
);

test('a damaged file that two snapshots share is named in both and counted once', async () => {
  const { create, folder, snapshots, run } = await desk();
  await create();
  await create();
  const shared = filesBelow(join(folder, 'files'))[0] ?? '';
  writeFileSync(shared, `${readFileSync(shared, 'utf8')}x`);
  const ran = await run(`backup verify ${folder}`);
  expect(snapshots()).toHaveLength(2);
  expect(ran.stdout.match(/^ {2}files/gm)).toHaveLength(2);
  expect(ran.stderr).toContain('1 file is damaged.');
});

test('a pipe or a link to a device in place of a file is found, and not read', async () => {
  const { create, folder, snapshots, run } = await desk([paper('doc_1', '')]);
  await create();
  for (const file of filesBelow(folder)) {
    const bytes = readFileSync(file);
    for (const put of [
      () => execFileSync('mkfifo', [file]),
      () => symlinkSync('/dev/zero', file),
      () => mkdirSync(file),
    ]) {
      rmSync(file);
      put();
      const ran = await run(`backup verify ${folder} --json`);
      expect([ran.code, JSON.parse(ran.stdout).problems]).toMatchObject([
        1,
        [{ path: expect.stringContaining(basename(file)) }],
      ]);
      rmSync(file, { recursive: true });
      writeFileSync(file, bytes);
    }
  }
  const players = join(folder, snapshots()[0] ?? '', 'players.ndjson');
  rmSync(players);
  symlinkSync('/dev/zero', players);
  for (const line of [`show ${folder} player_1`, `diff ${folder} live`]) {
    const ran = await run(`backup ${line}`);
    expect([line, ran.code]).toEqual([line, 2]);
    expect(ran.stderr).toContain('players.ndjson is not a regular file');
  }
});

test('a folder under another name is found', async () => {
  const { create, folder, snapshots, run } = await desk();
  await create();
  const [name = ''] = snapshots();
  renameSync(join(folder, name), join(folder, '2020-01-01T000000Z'));
  expect((await run(`backup verify ${folder}`)).code).toBe(1);
  renameSync(join(folder, '2020-01-01T000000Z'), join(folder, `${name}.incomplete`));
  expect((await run(`backup verify ${folder}`)).code).toBe(1);
});

test('a snapshot that is removed while it is verified is not damaged', async () => {
  const { create, folder } = await desk([paper('doc_1', 'one')]);
  await create();
  await create();
  const { snapshots } = await listBackup(folder);
  const [first, second] = snapshots;
  rmSync(first?.path ?? '', { recursive: true });
  expect(await verifySnapshots(snapshots, unheard, () => {})).toMatchObject({
    snapshots: [{ name: second?.name, ok: true }],
    problems: [],
  });
  rmSync(second?.path ?? '', { recursive: true });
  await expect(verifySnapshots(snapshots, unheard, () => {})).rejects.toThrow(
    'The backup was removed while it was verified.',
  );
});

test('verify needs no service, and names one snapshot or all', async () => {
  const { create, folder, snapshots, run } = await desk();
  await create();
  await create();
  const [first = '', second = ''] = snapshots();
  rmSync(join(folder, first, 'teams.ndjson'));
  const nowhere = { ROSTERCTL_BASE_URL: '', ROSTERCTL_ORG: '', ROSTERCTL_API_KEY: '' };
  expect((await run(`backup verify ${folder}`, nowhere)).code).toBe(1);
  expect((await run(`backup verify ${join(folder, second)}`, nowhere)).code).toBe(0);
  expect((await run(`backup verify ${join(folder, '2020-01-01T000000Z')}`, nowhere)).code).toBe(2);
  expect((await run(`backup verify ${dirname(folder)}`, nowhere)).code).toBe(2);
  expect(await run(`backup verify ${join(folder, second)} -q`, nowhere)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
});
