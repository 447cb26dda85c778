import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { missingShell } from '../support/tab.js';
import { zsh } from '../support/zsh.js';

describe('a zsh with KSH_ARRAYS, where $name is only the first element of a list', () => {
  const missing = missingShell('zsh');

  beforeEach(({ skip }) => skip(missing !== undefined, missing));

  test('keeps its functions after --install', async () => {
    const home = temporaryFolder();
    await inProcess('completion zsh --install', { home });
    const { stdout, stderr } = zsh(home, '. ~/.zshrc; print -- ${_comps[rosterctl]} ${#fpath[@]}');
    expect(stderr).toBe('');
    const before = Number(zsh(home, 'print -- ${#fpath[@]}').stdout);
    expect(stdout).toBe(`_rosterctl ${before + 1}\n`);
  });

  test('takes the printed script', async () => {
    const home = temporaryFolder();
    const { stdout: script } = await rosterctl('completion zsh', { home });
    writeFileSync(join(home, 'script'), script);
    const line = 'autoload -Uz compinit; compinit -D; . ~/script; print -- ${_comps[rosterctl]}';
    expect(zsh(home, line)).toMatchObject({ stdout: '_rosterctl\n', stderr: '' });
  });
});

test('zsh does not ask at each start about a folder of others in its path', async ({ skip }) => {
  const missing = missingShell('zsh');
  skip(missing !== undefined, missing);
  const home = temporaryFolder();
  mkdirSync(join(home, 'homebrew'));
  chmodSync(join(home, 'homebrew'), 0o777);
  writeFileSync(join(home, 'homebrew', '_other'), '#compdef other\n');
  writeFileSync(join(home, '.zshrc'), 'fpath=(~/homebrew "${fpath[@]}")\n');
  await inProcess('completion zsh --install', { home });
  expect(zsh(home, '. ~/.zshrc; print -- ${_comps[rosterctl]}')).toMatchObject({
    stdout: '_rosterctl\n',
    stderr: '',
  });
});
