import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

test('no generated file is stale', () => {
  const env = { ...process.env };
  delete env['NODE_EXTRA_CA_CERTS'];
  const checked = spawnSync(process.execPath, ['build/generate.mjs', '--check'], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  const stale = checked.stdout.split('\n').filter((line) => line !== '');
  expect(stale, `stale: ${stale.join(', ')}. Run: npm run generate`).toEqual([]);
  expect({ code: checked.status, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' });
});

test('links in the documents resolve', () => {
  const dead = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/reference.md',
    'docs/scripts.md',
    'docs/limits.md',
  ].flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)]
      .map(([, target = '']) => (page.startsWith('docs/') ? `docs/${target}` : target))
      .filter((target) => !existsSync(`${root}${target.replace(/#.*/, '')}`)),
  );
  expect(dead).toEqual([]);
});

test('the man pages have every command once, are all installed and lint clean', ({ skip }) => {
  const pages = readdirSync(`${root}man`).map((name) => `man/${name}`);
  const { man } = JSON.parse(read('package.json')) as { man: readonly string[] };
  expect(man.toSorted()).toEqual(pages.toSorted());
  const { commands } = JSON.parse(read('dist/table.json')) as {
    commands: readonly { words: readonly string[] }[];
  };
  const sections = pages.flatMap((page) =>
    [...read(page).matchAll(/^\.SS (.*)$/gm)].map(([, name]) => name),
  );
  expect(sections).toHaveLength(commands.length);
  expect(new Set(sections)).toEqual(new Set(commands.map(({ words }) => words.join(' '))));
  const linted = spawnSync('mandoc', ['-T', 'lint', ...pages], { cwd: root });
  if (linted.error) skip('mandoc is not installed (apt-get install mandoc)');
  expect(linted.stdout.toString()).toBe('');
});

test('the OpenAPI document has the version of the contract', () => {
  const { openapi, info } = JSON.parse(read('docs/openapi.json')) as {
    openapi: string;
    info: { version: string };
  };
  expect(openapi).toMatch(/^3\.1/);
  expect(info.version).toBe('1.0.0');
});

test('the contributing guide stays short, its glossary aside', () => {
  const prose = read('CONTRIBUTING.md').replace(/^## Glossary\n.*?(?=^## )/ms, '');
  expect(prose.split('\n').length).toBeLessThanOrEqual(100);
});
