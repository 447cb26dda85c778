import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from './support/run.js';

const root = join(dirname(launcher), '..');
const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  engines: { node: string };
};

test.each(['--version', '-V', '-V teams', '-p x --version'])(
  '%s prints the version',
  async (line) => {
    const ran = await rosterctl(line);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, `${version}\n`, '']);
  },
);

test('runs through a symbolic link, as npm installs it', () => {
  const folder = temporaryFolder();
  const link = join(folder, 'rosterctl');
  symlinkSync(launcher, link);
  const ran = spawnSync(link, ['-p', 'sandbox', 'teams', 'list', '-o', 'ids', '--limit', '1'], {
    env: freshEnvironment(folder),
    encoding: 'utf8',
  });
  expect([ran.status, ran.stdout]).toEqual([0, 'team_0003\n']);
});

test('rejects a Node older than the package requires and accepts the required one', () => {
  const [, major = 0, minor = 0] = (/^>=(\d+)\.(\d+)\.0$/.exec(engines.node) ?? []).map(Number);
  const folder = temporaryFolder();
  const preload = join(folder, 'node-version.cjs');
  const under = (node: string) => {
    writeFileSync(
      preload,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`,
    );
    const line = ['--require', preload, launcher, 'help', 'exit-codes'];
    return spawnSync(process.execPath, line, { env: freshEnvironment(folder), encoding: 'utf8' });
  };
  for (const old of [`${major}.${minor - 1}.9`, `${major - 1}.99.0`]) {
    const ran = under(old);
    expect([ran.status, ran.stderr]).toEqual([
      1,
      `rosterctl needs Node.js ${major}.${minor} or newer; this is ${old}.\n`,
    ]);
  }
  expect(under(`${major}.${minor}.0`).status).toBe(0);
  expect(under(`${major + 1}.0.0`).status).toBe(0);
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(
    `Node.js ${major}.${minor} or newer`,
  );
});

test('without a build, says what to do', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  mkdirSync(join(folder, 'src'));
  const ran = spawnSync(process.execPath, [join(folder, 'bin', 'rosterctl'), 'teams', 'list'], {
    encoding: 'utf8',
  });
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([
    1,
    '',
    'rosterctl is not built yet. Run: npm ci && npm run build\n',
  ]);
});

test('without arguments, shows a short start page', async () => {
  const ran = await rosterctl('');
  expect(ran.code).toBe(0);
  expect(ran.stdout.split('\n').length).toBeLessThanOrEqual(15);
  expect(ran.stdout).toContain('rosterctl -p sandbox tryouts list');
});
