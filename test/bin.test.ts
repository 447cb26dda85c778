import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from './support/run.js';

const root = join(dirname(launcher), '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};

test.each(['--version', '-V', '-V teams', '-p x --version'])('%s is the version', async (line) => {
  const ran = await rosterctl(line);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, `${version}\n`, '']);
});

test('it runs through a link, as npm installs it', () => {
  const folder = temporaryFolder();
  const link = join(folder, 'rosterctl');
  symlinkSync(launcher, link);
  const ran = spawnSync(link, ['-p', 'sandbox', 'teams', 'list', '-o', 'ids', '--limit', '1'], {
    env: freshEnvironment(folder),
    encoding: 'utf8',
  });
  expect([ran.status, ran.stdout]).toEqual([0, 'team_0001\n']);
});

test('without a build it says what to do', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  const ran = spawnSync(process.execPath, [join(folder, 'bin', 'rosterctl'), 'teams', 'list'], {
    encoding: 'utf8',
  });
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([
    1,
    '',
    'rosterctl is not built yet. Run: npm run build\n',
  ]);
});

test('alone it shows a short start page', async () => {
  const ran = await rosterctl('');
  expect(ran.code).toBe(0);
  expect(ran.stdout.split('\n').length).toBeLessThanOrEqual(15);
  expect(ran.stdout).toContain('rosterctl -p sandbox tryouts list');
});
