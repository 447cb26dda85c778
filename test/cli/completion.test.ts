import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { complete } from '../../src/complete.js';
import { completionScript, completionScripts, shells } from '../../src/cli/completion/scripts.js';
import { completionCacheFile, rememberRecords } from '../../src/config/completion-cache.js';
import { choicesOf } from '../../src/config/choices.js';
import { settingKeys } from '../../src/config/keys.js';
import { resolvePaths } from '../../src/config/paths.js';
import type { PlainTable } from '../../src/data/plain-table.js';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { hostileTexts } from '../support/hostile.js';
import { missingShell } from '../support/tab.js';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const table = JSON.parse(readFileSync(`${dist}table.json`, 'utf8')) as PlainTable;

describe.each(shells)('the %s script', (shell) => {
  const script = completionScript(shell, table);

  test('knows every command and every flag', () => {
    const words = table.commands.flatMap(({ words: own, flags }) => [
      ...own,
      ...flags.map(({ word }) => word),
    ]);
    expect([...new Set(words)].filter((word) => !script.includes(word))).toEqual([]);
  });

  test('is what the command prints and the package contains', async () => {
    const ran = await rosterctl(`completion ${shell}`);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toBe(script);
    const names = { bash: 'rosterctl.bash', zsh: '_rosterctl', fish: 'rosterctl.fish' };
    const name = shell === 'powershell' ? 'rosterctl.ps1' : names[shell];
    expect(completionScripts(table)[name]).toBe(script);
  });

  test('is plain text without control characters', () => {
    expect(script).not.toMatch(/[^\P{Cc}\n]/u);
    expect(script.endsWith('\n')).toBe(true);
  });

  test('is parsed by its shell without an error', ({ skip }) => {
    const missing = shell === 'powershell' ? 'PowerShell is not looked for' : missingShell(shell);
    if (missing) skip(missing);
    const file = join(temporaryFolder(), 'script');
    writeFileSync(file, script);
    const read = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    expect({ code: read.status, stderr: read.stderr }).toEqual({ code: 0, stderr: '' });
  });
});

test('the bash script uses only features of bash 3.2', () => {
  const script = completionScript('bash', table);
  const newer = {
    'associative arrays': /(?:declare|local|typeset) -[a-zA-Z]*[An]/,
    'mapfile, readarray, coproc': /\b(?:mapfile|readarray|coproc)\b/,
    'upper and lower case': /\$\{\w+(?:\[[^\]]*\])?(?:,|\^)/,
    'joined redirections': /&>>|\|&|;;?&/,
    'negative subscripts': /\[-\d/,
    'process substitution, off in posix mode': /<\(/,
    'elements added to arrays': /\+=/,
    '-v, @Q and EPOCH': /\[\[ -v |@[QEPAa]\}|EPOCH/,
  };
  const code = script.replace(/'[^']*'/g, "''");
  expect(Object.entries(newer).filter(([, pattern]) => pattern.test(code))).toEqual([]);
  const calls = script
    .split('\n')
    .filter((line) => /^\s*compopt/.test(line.replace(/^.*\|\| /, '')));
  expect(calls.filter((line) => !line.includes('2>/dev/null'))).toEqual([]);
  expect(calls.length).toBeGreaterThan(0);
});

test('the table inside the PowerShell script can be read back', () => {
  const script = completionScript('powershell', table);
  const json = /@'\n(.*)\n'@/.exec(script)?.[1] ?? '';
  const { commands } = JSON.parse(json) as { commands: Record<string, unknown> };
  expect(Object.keys(commands)).toEqual(table.commands.map(({ words }) => words.join(' ')));
  // oxlint-disable-next-line no-control-regex
  expect(script).toMatch(/^[\u0000-\u007f]*$/);
});

const work = { baseUrl: 'https://api.example.com/v1', organization: 'org_1' };
const club = { baseUrl: 'https://api.example.com/v1', organization: 'org_2' };

async function homeWith(
  config: unknown,
  ids: Readonly<Record<string, readonly string[]>> = {},
): Promise<string> {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
  for (const [organizationId, known] of Object.entries(ids)) {
    const place = { profile: 'x', baseUrl: work.baseUrl, organizationId };
    const memory = rememberRecords(pathsOf(home), place, 'tryouts');
    for (const id of known) memory.see({ id, name: `Name of ${id}` });
    await memory.keep({ whole: true });
  }
  return home;
}

function pathsOf(home: string) {
  return resolvePaths({
    env: { HOME: home },
    platform: process.platform,
    uid: process.getuid?.(),
  });
}

async function ask(home: string, words: readonly string[], env: Record<string, string> = {}) {
  const ran = await rosterctl(['__complete', ...words], { home, env });
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
  return ran.stdout.split('\n').slice(0, -1);
}

const config = { activeProfile: 'work', defaults: {}, profiles: { work, club } };
const ids = { org_1: ['app_1', 'app_2'], org_2: ['club_app'] };

test('each word offered for a setting is a valid value of it', () => {
  const offered = [...settingKeys.values()].filter(({ name }) => choicesOf(name).length > 0);
  expect(offered.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['output', 'time', 'completion.cache', 'paging.mode']),
  );
  for (const key of offered)
    for (const word of choicesOf(key.name)) expect(() => key.parse(word)).not.toThrow();
  for (const key of ['endpoints.teams.update.org', 'endpoints.documents.delete.org'])
    expect(choicesOf(key)).toEqual(['none', 'body', 'query']);
  expect(choicesOf('timeout')).toEqual([]);
});

describe('__complete', () => {
  test('offers the values of the typed setting, none if any value is valid', async () => {
    const home = await homeWith(config);
    expect(await ask(home, ['configValue', '--', 'config', 'set', 'time'])).toEqual([
      'iso\t',
      'local\t',
      'relative\t',
    ]);
    expect(
      await ask(home, ['configValue', '--', '-p', 'club', 'config', 'set', 'paging.mode', '-n']),
    ).toContain('offset\t');
    expect(await ask(home, ['configValue', '--', 'config', 'set', 'timeout'])).toEqual([]);
  });

  test('offers the profiles with their organizations', async () => {
    expect(await ask(await homeWith(config), ['profile'])).toEqual([
      'work\torg_1 at api.example.com',
      'club\torg_2 at api.example.com',
      'sandbox\tthe built-in demo service',
    ]);
  });

  test.each([
    ['the active profile', [], {}, ['app_1', 'app_2']],
    ['-p NAME', ['-p', 'club', 'tryouts', 'get'], {}, ['club_app']],
    ['-pNAME', ['-pclub', 'tryouts', 'get'], {}, ['club_app']],
    ['--profile NAME', ['tryouts', 'get', '--profile', 'club'], {}, ['club_app']],
    ['--profile=NAME', ['tryouts', 'get', '--profile=club'], {}, ['club_app']],
    ['the last of several', ['-p', 'club', '-p', 'work'], {}, ['app_1', 'app_2']],
    ['no flag behind --', ['tryouts', 'get', '--', '-p', 'club'], {}, ['app_1', 'app_2']],
    ['ROSTERCTL_PROFILE', [], { ROSTERCTL_PROFILE: 'club' }, ['club_app']],
    [
      '-p over ROSTERCTL_PROFILE',
      ['-p', 'work'],
      { ROSTERCTL_PROFILE: 'club' },
      ['app_1', 'app_2'],
    ],
    ['--org', ['--org', 'org_2'], {}, ['club_app']],
    ['ROSTERCTL_ORG', [], { ROSTERCTL_ORG: 'org_2' }, ['club_app']],
    ['another service', ['--base-url', 'https://other.example.com/v1'], {}, []],
    ['an unknown profile', ['-p', 'nobody'], {}, []],
  ])('offers the cached ids of %s', async (_, typed, env, expected) => {
    const home = await homeWith(config, ids);
    const lines = await ask(home, ['id:tryouts', '--', ...typed], { ...env });
    expect(lines).toEqual(expected.map((id) => `${id}\tName of ${id}`));
  });

  test('omits ids that are on the line already', async () => {
    const home = await homeWith(config, ids);
    expect(await ask(home, ['id:tryouts', '--', 'tryouts', 'get', 'app_1'])).toEqual([
      'app_2\tName of app_2',
    ]);
  });

  test('offers nothing if the cache is turned off', async () => {
    const off = { ...config, defaults: { 'completion.cache': 'off' } };
    expect(await ask(await homeWith(off, ids), ['id:tryouts'])).toEqual([]);
  });

  test.each([
    ['no words', []],
    ['an unknown kind', ['nonsense']],
    ['a kind that is a property of every object', ['id:__proto__']],
    ['a resource that is not remembered', ['id:players']],
    ['a word that ends in the middle', ['id:tryouts', '--', '-p']],
  ])('offers nothing for %s, without an error', async (_, words) => {
    const lines = await ask(await homeWith(config, { org_1: [] }), words);
    expect(lines).toEqual([]);
  });

  test.each([
    ['no home folder', { HOME: '' }],
    ['a home that does not exist', { HOME: '/nonexistent' }],
    ['an empty cache folder name', { ROSTERCTL_CACHE_DIR: '/dev/null' }],
  ])('offers nothing in %s', async (_, env) => {
    expect(await ask(await homeWith(config, {}), ['id:tryouts'], env)).toEqual([]);
  });

  test.each([
    ['config.json', 'no JSON', 'profile', ['sandbox\tthe built-in demo service']],
    ['config.json', '{"profiles":[1]}', 'profile', ['sandbox\tthe built-in demo service']],
  ])('offers what it can if %s is broken: %s', async (_, text, kind, expected) => {
    expect(await ask(await homeWith(text), [kind])).toEqual(expected);
  });

  test('no hostile name reaches the terminal unsanitized, and no hostile id is offered', async () => {
    const home = await homeWith(config);
    const place = { profile: 'work', baseUrl: work.baseUrl, organizationId: 'org_1' };
    const memory = rememberRecords(pathsOf(home), place, 'tryouts');
    for (const [index, text] of hostileTexts.entries()) {
      memory.see({ id: `id_${index}`, name: text });
      memory.see({ id: `x${text}`, name: 'n' });
    }
    await memory.keep({ whole: true });
    const lines = await ask(home, ['id:tryouts']);
    expect(lines.filter((line) => line.startsWith('id_'))).toHaveLength(hostileTexts.length);
    for (const line of lines) {
      expect(line.split('\t')).toHaveLength(2);
      expect(line.replace('\t', '')).not.toMatch(
        /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u,
      );
    }
  });

  test('whatever the cache contains, each line is a word that can be typed and a safe text', async () => {
    const home = await homeWith(config, ids);
    const place = { profile: 'work', baseUrl: work.baseUrl, organizationId: 'org_1' };
    const file = completionCacheFile(pathsOf(home), place) ?? '';
    const any = fc.string({ unit: 'binary', maxLength: 80 });
    fc.assert(
      fc.property(fc.array(fc.tuple(any, any)), (pairs) => {
        const text = pairs.map((pair) => pair.join('\t')).join('\n');
        writeFileSync(file, JSON.stringify({ tryouts: { ids: text, fields: [text] } }));
        for (const kind of ['id:tryouts', 'field:tryouts']) {
          let written = '';
          const outside = {
            env: { HOME: home },
            platform: process.platform,
            uid: process.getuid?.(),
          };
          complete([kind], { ...outside, write: (lines) => (written += lines) });
          for (const line of written.split('\n').slice(0, -1)) {
            expect(line).toMatch(/^[^\t-][^\t]*\t[^\t]*$/u);
            expect(line.replace('\t', '')).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e]/u);
          }
        }
      }),
    );
  });

  test('a name takes at most 60 columns', async () => {
    const home = await homeWith(config);
    const place = { profile: 'work', baseUrl: work.baseUrl, organizationId: 'org_1' };
    const memory = rememberRecords(pathsOf(home), place, 'tryouts');
    memory.see({ id: 'a', name: 'n'.repeat(500) });
    await memory.keep({ whole: true });
    expect(await ask(home, ['id:tryouts'])).toEqual([`a\t${'n'.repeat(59)}…`]);
  });

  test('loads one file of ours, and nothing for the network', () => {
    const probe = `
      process.argv = [process.argv[0], ${JSON.stringify(launcher)}, '__complete', 'id:tryouts'];
      require(${JSON.stringify(launcher)});
      const files = Object.keys(require.cache).map((file) => file.split(/[\\\\/]/).slice(-2).join('/'));
      const modules = process.moduleLoadList.filter((name) => /NativeModule (net|tls|http|https|http2|dns|child_process|worker_threads)$/.test(name));
      console.log(JSON.stringify({ files, modules }));`;
    const home = temporaryFolder();
    const ran = spawnSync(process.execPath, ['-e', probe], {
      env: freshEnvironment(home),
      encoding: 'utf8',
    });
    const { files, modules } = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '') as {
      files: string[];
      modules: string[];
    };
    expect(files.toSorted()).toEqual(['bin/rosterctl', 'dist/complete.cjs']);
    expect(modules).toEqual([]);
  });

  test('a closed pipe is no error', () => {
    const home = temporaryFolder();
    const ran = spawnSync(
      'sh',
      ['-c', `'${process.execPath}' '${launcher}' __complete profile | true`],
      {
        env: freshEnvironment(home),
        encoding: 'utf8',
      },
    );
    expect(ran.stderr).toBe('');
  });

  test('a cache file that cannot be read is no error', async () => {
    const home = await homeWith(config, ids);
    chmodSync(join(home, '.cache', 'rosterctl'), 0o000);
    const lines = await ask(home, ['id:tryouts']);
    chmodSync(join(home, '.cache', 'rosterctl'), 0o700);
    // Root can read everything.
    if (process.getuid?.() !== 0) expect(lines).toEqual([]);
  });
});
