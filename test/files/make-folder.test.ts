import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/files/private.js';
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

test('a download into a file says that a file has that name', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const ran = await rosterctl(['-p', 'sandbox', 'docs', 'download', 'doc_0001', '-D', file]);
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr).toContain(`The folder ${file} cannot be created: a file has that name`);
});

test('a file system that refuses folders ends a download or a run with a message', async ({
  skip,
}) => {
  skip(!existsSync('/proc/self'), 'there is no /proc');
  expect(codeOf('/proc/rosterctl/below')).toBe('ENOENT');
  const download = await rosterctl('-p sandbox docs download doc_0001 -D /proc/rosterctl/below');
  expect(download).toMatchObject({ code: 1, stdout: '' });
  expect(download.stderr).toContain('The folder /proc/rosterctl/below cannot be created');
  expect(download.stderr).toContain('-D');
  const run = await rosterctl(
    '-p sandbox tryouts set-status app_0001 app_0002 --to rejected --yes',
    {
      env: { ROSTERCTL_STATE_DIR: '/proc/rosterctl/below' },
    },
  );
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('ROSTERCTL_STATE_DIR');
});
