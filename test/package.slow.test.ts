import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { freshEnvironment, temporaryFolder } from './support/run.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const home = temporaryFolder('rosterctl-package');
const place = join(home, 'place');
const installed = join(place, 'node_modules', 'rosterctl');

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}
let packed: Packed;

beforeAll(() => {
  const stdout = run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', home],
    root,
  );
  packed = (JSON.parse(stdout) as readonly [Packed])[0];
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{"private":true}\n');
  const tarball = join(home, packed.filename);
  run(
    'npm',
    ['install', '--ignore-scripts', '--offline', '--no-audit', '--no-fund', tarball],
    place,
  );
});

test('the package contains the program and its documents, and nothing else', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: readonly string[];
  };
  const top = new Set(packed.files.map(({ path }) => path.split('/')[0]));
  const always = ['LICENSE', 'README.md', 'package.json'];
  expect(top).toEqual(new Set([...files.map((path) => path.split('/')[0]), ...always]));
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      'bin/rosterctl',
      'dist/main.cjs',
      'dist/settings.json',
      'dist/table.json',
      'man/rosterctl.1',
    ]),
  );
  expect(paths.filter((path) => /\.ts$|describe|\.test\.|\.map$/.test(path))).toEqual([]);
});

test('installs as one package of at most 2.2 MB, runs no script and brings its man pages', () => {
  expect(readdirSync(join(place, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'rosterctl',
  ]);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    readonly man: readonly string[];
    readonly scripts: Readonly<Record<string, string>>;
  };
  expect(manifest).not.toHaveProperty('dependencies');
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
    expect(manifest.scripts).not.toHaveProperty(name);
  for (const page of manifest.man)
    expect(readFileSync(join(installed, page), 'utf8')).toContain('.TH');
  expect(packed.unpackedSize).toBeLessThanOrEqual(2_200_000);
  const bytes = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(installed, name)))
    // What a folder takes is up to the file system.
    .filter((entry) => entry.isFile())
    .reduce((sum, { size }) => sum + size, 0);
  expect(bytes).toBeLessThanOrEqual(2_200_000);
});

test('brings the documents that its help names', () => {
  const program = join(installed, 'bin', 'rosterctl');
  const pages = [
    ['help', 'sandbox'],
    ['help', 'cursors'],
    ['sandbox', 'start', '--shape', 'x=y'],
  ];
  const named = pages.flatMap((words) => {
    const { stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      encoding: 'utf8',
      env: freshEnvironment(home),
    });
    return `${stdout}${stderr}`.match(/docs\/\w+\.md/g) ?? [];
  });
  expect(new Set(named)).toEqual(new Set(['docs/sandbox.md', 'docs/scripts.md']));
  for (const path of named) expect(readFileSync(join(installed, path), 'utf8')).toContain('# ');
});

test('bundled packages are listed with their licences', () => {
  const notices = readFileSync(join(installed, 'THIRD-PARTY-NOTICES.md'), 'utf8');
  for (const name of ['undici', 'zod', 'commander', 'cli-table3'])
    expect(notices).toMatch(new RegExp(`^## ${name} \\d`, 'm'));
  expect(notices).toContain('Permission is hereby granted');
});

test('the installed program runs', () => {
  const program = join(place, 'node_modules', '.bin', 'rosterctl');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(run(program, ['--version'], place)).toBe(`${version}\n`);
  const listed = run(program, ['-p', 'sandbox', 'tryouts', 'list', '--json'], place);
  expect(JSON.parse(listed)).toHaveLength(64);
  expect(run(program, ['-p', 'sandbox', 'docs', 'download', 'doc_0001', '-O', '-'], place)).toMatch(
    /^%PDF-/,
  );
  expect(run(program, ['help', 'exit-codes'], place)).toContain('not found');
});

/** Runs a program as a new user and returns its stdout. Any exit code except 0 fails the test with its output. */
function run(program: string, words: readonly string[], cwd: string): string {
  const env = freshEnvironment(home);
  env['PATH'] = [dirname(process.execPath), env['PATH']].join(delimiter);
  const ran = spawnSync(program, words, { cwd, env, encoding: 'utf8' });
  expect({ code: ran.status, stderr: ran.status === 0 ? '' : ran.stderr }).toEqual({
    code: 0,
    stderr: '',
  });
  return ran.stdout;
}
