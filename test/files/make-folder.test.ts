import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/files/private.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const codeOf = (folder: string) => {
  try {
    makeFolder(folder);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
  return 'made';
};

test('creates missing parents with the mode, and leaves existing ones unchanged', () => {
  const top = temporaryFolder();
  mkdirSync(join(top, 'a'), { mode: 0o755 });
  makeFolder(join(top, 'a/b/c'), 0o700);
  makeFolder(join(top, 'a/b/c'), 0o755);
  const modes = ['a', 'a/b', 'a/b/c'].map((each) => statSync(join(top, each)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o700, 0o700]);
});

test('a file in its place or above it is an error, and so is a dangling link', () => {
  const top = temporaryFolder();
  writeFileSync(join(top, 'file'), '');
  symlinkSync(join(top, 'nowhere/at/all'), join(top, 'link'));
  symlinkSync(top, join(top, 'here'));
  expect(codeOf(join(top, 'file'))).toBe('EEXIST');
  expect(codeOf(join(top, 'file/below'))).toBe('ENOTDIR');
  expect(codeOf(join(top, 'link'))).toBe('ENOENT');
  expect(codeOf(join(top, 'link/below'))).toBe('ENOENT');
  expect(codeOf(join(top, 'here/below'))).toBe('made');
});

test('a folder is made in the current one, also where the name of that is not UTF-8', async ({
  skip,
}) => {
  skip(process.platform !== 'linux', 'only Linux takes such a name');
  const home = temporaryFolder();
  const through = 'd=$(printf "x\\344"); mkdir -p "$d"; cd "$d"; exec "$@"';
  for (const line of ['docs download doc_0001 -D new/folder', 'backup create backup'])
    expect((await rosterctl(`-p sandbox ${line}`, { home, through })).code).toBe(0);
  const names = readdirSync(home, { encoding: 'latin1' }).filter((name) => name.startsWith('x'));
  expect(names).toEqual(['x\u00e4']);
});

test('a backup in such a folder is found again', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux takes such a name');
  const home = temporaryFolder();
  const through = 'd=$(printf "x\\344"); mkdir -p "$d"; cd "$d"; exec "$@"';
  const run = (line: string) => rosterctl(`-p sandbox ${line}`, { home, through });
  const made = await run('backup create all --no-files --json');
  const { snapshot } = JSON.parse(made.stdout) as { snapshot: string };
  for (const line of [
    'backup verify all',
    `backup verify ${snapshot}`,
    'backup diff all live',
    'backup show all app_0001',
  ])
    expect([line, (await run(line)).code]).toEqual([line, 0]);
});

test('a download into a file says that a file has that name', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const ran = await rosterctl(['-p', 'sandbox', 'docs', 'download', 'doc_0001', '-D', file]);
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr).toContain(`The folder ${file} cannot be created: a file has that name`);
});

test('a backup into a file system that refuses folders names the folder, as does one that cannot be recorded', async ({
  skip,
}) => {
  skip(!existsSync('/proc/self'), 'there is no /proc');
  const place = '/proc/rosterctl/below';
  const refused = await rosterctl(`-p sandbox backup create ${place} --no-files`);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /^The folder \/proc\/rosterctl\/below cannot be created: .*\nChoose a folder in a place that you can write to\.\n$/m,
  );
  const to = join(temporaryFolder(), 'backup');
  const made = await rosterctl(`-p sandbox backup create ${to} --no-files --json`, {
    env: { ROSTERCTL_STATE_DIR: place },
  });
  expect([made.code, JSON.parse(made.stdout)]).toMatchObject([0, { complete: true }]);
  expect(made.stderr).toContain(
    `Could not record the backup for overview: Cannot create the folder ${place}: `,
  );
});

test('an output on a full disk says what to do', async ({ skip }) => {
  skip(!existsSync('/dev/full'), 'there is no /dev/full');
  const ran = await rosterctl('-p sandbox teams list --out /dev/full');
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([
    1,
    '',
    '/dev/full cannot be written: the disk is full (ENOSPC).\nMake room, or name a file on another disk.\n',
  ]);
});

test.each([
  ['players create --name Ann', 'Nothing was sent. Set ROSTERCTL_STATE_DIR to a folder of your'],
  ['players list --since-last bot', 'Set ROSTERCTL_STATE_DIR to a folder of your own that you can'],
  ['config set output json', 'Set ROSTERCTL_CONFIG_DIR to a folder of your own that you can'],
])('%s in a folder that cannot be made names the variable to set', async (line, advice) => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'file'), '');
  const place = join(home, 'file', 'below');
  const env = { ROSTERCTL_STATE_DIR: place, ROSTERCTL_CONFIG_DIR: place };
  const ran = await inProcess(`-p sandbox ${line}`, { home, env });
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(ran.stderr).toContain(advice);
});

test('an upload or backup that cannot be recorded says which file cannot be written', async () => {
  const home = temporaryFolder();
  const state = join(home, 'state');
  mkdirSync(state, { mode: 0o700 });
  for (const name of ['uploads', 'backups']) writeFileSync(join(state, name), '');
  writeFileSync(join(home, 'a.txt'), 'a');
  const at = { home, cwd: home, env: { ROSTERCTL_STATE_DIR: state } };
  const uploaded = await inProcess('-p sandbox docs upload a.txt', at);
  expect(uploaded.code).toBe(0);
  expect(uploaded.stderr).toMatch(/Could not record the upload of doc_\d+: .*state\/uploads\b/);
  const made = await inProcess('-p sandbox backup create made --no-files', at);
  expect(made.code).toBe(0);
  expect(made.stderr).toMatch(/Could not record the backup for overview: .*state\/backups\b/);
});

test('a file system that refuses folders ends a download or a run with a message', async ({
  skip,
}) => {
  skip(!existsSync('/proc/self'), 'there is no /proc');
  expect(codeOf('/proc/rosterctl/below')).toBe('ENOENT');
  const download = await inProcess('-p sandbox docs download doc_0001 -D /proc/rosterctl/below');
  expect(download).toMatchObject({ code: 1, stdout: '' });
  expect(download.stderr).toContain('The folder /proc/rosterctl/below cannot be created');
  expect(download.stderr).toContain('-D');
  const run = await inProcess(
    '-p sandbox tryouts set-status app_0001 app_0002 --to rejected --yes',
    {
      env: { ROSTERCTL_STATE_DIR: '/proc/rosterctl/below' },
    },
  );
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('ROSTERCTL_STATE_DIR');
});
