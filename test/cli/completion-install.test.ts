import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shellFiles, withMarked, withoutMarked } from '../../src/cli/completion/install.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { missingShell } from '../support/tab.js';
import { zsh } from '../support/zsh.js';

const places = {
  bash: ['.local/share/bash-completion/completions/rosterctl', '.bashrc'],
  zsh: ['.local/share/rosterctl/zsh/_rosterctl', '.zshrc'],
  fish: ['.config/fish/completions/rosterctl.fish'],
  powershell: ['.local/share/rosterctl/rosterctl.ps1', '.config/powershell/profile.ps1'],
} as const;
const shells = Object.keys(places) as (keyof typeof places)[];

function filesIn(home: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    .toSorted();
}

describe.each(shells)('completion %s', (shell) => {
  const expected = [...places[shell]].toSorted();

  test('--install reports what it wrote, and the second time that nothing changed', async () => {
    const home = temporaryFolder();
    const first = await rosterctl(`completion ${shell} --install --json`, { home });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toEqual({
      shell,
      files: places[shell].map((path) => ({ path: join(home, path), done: 'written' })),
    });
    expect(filesIn(home)).toEqual(expected);
    const contents = expected.map((path) => readFileSync(join(home, path), 'utf8'));
    const second = await rosterctl(`completion ${shell} --install`, { home });
    expect(second.stdout.split('\n').slice(0, -1)).toEqual(
      places[shell].map((path) => `unchanged  ${join(home, path)}`),
    );
    expect(expected.map((path) => readFileSync(join(home, path), 'utf8'))).toEqual(contents);
  });

  test('--install -n writes nothing and names the files', async () => {
    const home = temporaryFolder();
    const shown = (await inProcess(`completion ${shell} --install -n`, { home })).stdout;
    for (const path of places[shell]) expect(shown.split(join(home, path))).toHaveLength(2);
    const ran = await inProcess(`completion ${shell} --install -n --json`, { home });
    const { dryRun, requests, changes } = JSON.parse(ran.stdout) as {
      dryRun: boolean;
      requests: unknown[];
      changes: { id: string }[];
    };
    expect({ dryRun, requests }).toEqual({ dryRun: true, requests: [] });
    expect(changes.map(({ id }) => id)).toEqual(places[shell].map((path) => join(home, path)));
    expect(filesIn(home)).toEqual([]);
  });

  test('--uninstall leaves the home as it was', async () => {
    const home = temporaryFolder();
    await inProcess(`completion ${shell} --install`, { home });
    const ran = await inProcess(`completion ${shell} --uninstall`, { home });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(filesIn(home)).toEqual([]);
    expect(existsSync(join(home, '.local/share/rosterctl'))).toBe(false);
    const again = await inProcess(`completion ${shell} --uninstall`, { home });
    expect(again).toMatchObject({ code: 0, stderr: '' });
  });

  test('an old script of ours is updated', async () => {
    const home = temporaryFolder();
    await inProcess(`completion ${shell} --install`, { home });
    const script = join(home, places[shell][0]);
    const text = readFileSync(script, 'utf8');
    writeFileSync(script, text.slice(0, 400));
    const ran = await inProcess(`completion ${shell} --install`, { home });
    expect(ran.stdout).toContain(`written    ${script}`);
    expect(readFileSync(script, 'utf8')).toBe(text);
  });

  test('a foreign script is neither replaced nor removed', async () => {
    const home = temporaryFolder();
    const script = join(home, places[shell][0]);
    mkdirSync(dirname(script), { recursive: true });
    writeFileSync(script, '# mine\n');
    for (const flag of ['--install', '--uninstall']) {
      const ran = await inProcess(`completion ${shell} ${flag} --json`, { home });
      expect(ran.code).toBe(11);
      expect(errorOf(ran)['message']).toContain('was not written by rosterctl');
    }
    expect(filesIn(home)).toEqual([places[shell][0]]);
    expect(readFileSync(script, 'utf8')).toBe('# mine\n');
  });
});

test('the start file keeps its text, its mode and its link', async () => {
  const home = temporaryFolder();
  const kept = join(home, 'dotfiles');
  writeFileSync(kept, 'alias a=b\n', { mode: 0o640 });
  symlinkSync(kept, join(home, '.bashrc'));
  await rosterctl('completion bash --install', { home });
  expect(lstatSync(join(home, '.bashrc')).isSymbolicLink()).toBe(true);
  expect(statSync(kept).mode & 0o777).toBe(0o640);
  expect(readFileSync(kept, 'utf8')).toMatch(/^alias a=b\n# >>> rosterctl completion >>>\n/);
  await rosterctl('completion bash --uninstall', { home });
  expect(readFileSync(kept, 'utf8')).toBe('alias a=b\n');
});

test('a named pipe in place of the start file is not waited for', async () => {
  const home = temporaryFolder();
  const file = join(home, '.bashrc');
  spawnSync('mkfifo', [file]);
  for (const flag of ['--install', '--uninstall']) {
    const { code, stderr } = await inProcess(`completion bash ${flag}`, { home });
    const sentence = `${file} cannot be read: it is not a regular file.`;
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  }
  expect(filesIn(home)).toEqual(['.bashrc']);
});

test('a start file that is not UTF-8 is left as it is, by --uninstall too', async () => {
  const home = temporaryFolder();
  const file = join(home, '.bashrc');
  const bytes = Buffer.from('# gr\u00fc\u00dfe\nalias a=b\n', 'latin1');
  writeFileSync(file, bytes);
  for (const flag of ['--install', '--uninstall']) {
    const { code, stderr } = await inProcess(`completion bash ${flag}`, { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${file} is not UTF-8 text`)]);
    expect(readFileSync(file)).toEqual(bytes);
  }
});

test('uses the folders of XDG_DATA_HOME, XDG_CONFIG_HOME and ZDOTDIR', async () => {
  const home = temporaryFolder();
  const env = {
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CONFIG_HOME: join(home, 'config'),
    ZDOTDIR: join(home, 'zdot'),
  };
  for (const shell of shells) await inProcess(`completion ${shell} --install`, { home, env });
  expect(filesIn(home)).toEqual([
    '.bashrc',
    'config/fish/completions/rosterctl.fish',
    'config/powershell/profile.ps1',
    'data/bash-completion/completions/rosterctl',
    'data/rosterctl/rosterctl.ps1',
    'data/rosterctl/zsh/_rosterctl',
    'zdot/.zshrc',
  ]);
  await inProcess('completion zsh --uninstall', { home, env });
  expect(existsSync(join(home, 'data/rosterctl/rosterctl.ps1'))).toBe(true);
});

test('the folder for zsh is not writable by the group, which zsh would reject', async () => {
  const home = temporaryFolder();
  await inProcess('completion zsh --install', { home });
  for (const folder of ['.local/share/rosterctl/zsh', '.local/share/rosterctl'])
    expect(statSync(join(home, folder)).mode & 0o777).toBe(0o755);
});

test('a zsh that reads the start file of bash says nothing', async ({ skip }) => {
  const missing = missingShell('zsh');
  skip(missing !== undefined, missing);
  const home = temporaryFolder();
  await inProcess('completion bash --install', { home });
  expect(zsh(home, '. ~/.bashrc; print done')).toMatchObject({ stdout: 'done\n', stderr: '' });
});

test('on macOS, the lines for bash go into the file that its login shells read', () => {
  const home = temporaryFolder();
  const fileNow = () =>
    shellFiles('bash', { env: { HOME: home }, platform: 'darwin' }).start?.file.slice(
      home.length + 1,
    );
  expect(fileNow()).toBe('.bash_profile');
  // A new .bash_profile would hide them.
  for (const name of ['.profile', '.bash_login', '.bash_profile']) {
    writeFileSync(join(home, name), '');
    expect(fileNow()).toBe(name);
  }
});

test('--install and --uninstall cannot be given together, and a shell must be named', async () => {
  expect((await inProcess('completion bash --install --uninstall')).code).toBe(2);
  expect((await inProcess('completion')).code).toBe(2);
  expect((await inProcess('completion zhs')).stderr).toContain('Did you mean zsh?');
});

test('without a home folder, says what to do', async () => {
  const ran = await rosterctl('completion bash --install', { env: { HOME: '' } });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('rosterctl completion SHELL');
});

test('on Windows, only PowerShell is supported', () => {
  const env = { LOCALAPPDATA: 'C:\\Users\\a\\AppData\\Local', USERPROFILE: 'C:\\Users\\a' };
  const machine = { env, platform: 'win32' } as const;
  expect(shellFiles('powershell', machine)).toMatchObject({
    script: 'C:\\Users\\a\\AppData\\Local\\rosterctl\\completion\\rosterctl.ps1',
    start: { file: 'C:\\Users\\a\\Documents\\PowerShell\\profile.ps1' },
  });
  expect(() => shellFiles('fish', machine)).toThrow(
    'does not know where fish keeps its completions on Windows',
  );
});

describe('marked lines', () => {
  const ours = ['one', 'two'];

  test.each([
    ['an empty file', ''],
    ['a file with a last line end', 'a\nb\n'],
    ['a file without one', 'a\nb'],
    ['a file of blank lines', '\n\n'],
    ['no file', undefined],
  ])('are removed from %s without a trace', (_, text) => {
    const marked = withMarked(text, ours);
    expect(marked).toContain('# >>> rosterctl completion');
    expect(withMarked(marked, ours)).toBe(marked);
    expect(withoutMarked(marked)).toBe(text);
  });

  test('are updated in place', () => {
    const text = `${withMarked('a\n', ours)}after\n`;
    const renewed = withMarked(text, ['three']);
    expect(renewed).toBe(
      'a\n# >>> rosterctl completion >>>\nthree\n# <<< rosterctl completion <<<\nafter\n',
    );
    expect(withoutMarked(renewed)).toBe('a\nafter\n');
  });

  test('of an earlier version are known by its mark', () => {
    const marked =
      '# >>> rosterctl completion (this file was made for it) >>>\none\n# <<< rosterctl completion <<<\n';
    expect(withoutMarked(marked)).toBeUndefined();
    expect(withMarked(marked, ours)).toBe(withMarked(undefined, ours));
  });

  test('a file that has changed meanwhile is kept', () => {
    const text = `before\n${withMarked(undefined, ours)}after\n`;
    expect(withoutMarked(text)).toBe('before\nafter\n');
  });

  test('an opening mark without a closing one is left alone', () => {
    expect(withoutMarked('# >>> rosterctl completion >>>\nall the rest\n')).toBe(
      '# >>> rosterctl completion >>>\nall the rest\n',
    );
  });
});
