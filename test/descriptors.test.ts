import { spawn, spawnSync } from 'node:child_process';
import { closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pty from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { bash } from './support/bash.js';
import { openWhenRead } from './support/pipe.js';
import {
  closed,
  freshEnvironment,
  launcher,
  startRosterctl,
  temporaryFolder,
} from './support/run.js';

// Files that a shell passes without a regular name; more of them are in the slow tests.

test('a folder as stdin is refused, not read as an empty file', () => {
  const lines = [
    'docs upload - --name x --content-type application/pdf',
    'teams create -F name=@-',
    'teams create --input -',
    'players update --ids - --set note=x --yes',
    'api /teams/team_0001 -X PATCH --input -',
  ];
  for (const line of lines)
    expect(bash(`rosterctl ${line} < /`)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'stdin is a folder, not a file.\nRedirect a file: < FILE\n',
    });
});

test('a process substitution whose reader has ended closes the list like any pipe', () => {
  expect(bash('rosterctl teams list -o ids --out >(true)')).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('an empty stdin is no body', () => {
  const { code, stderr } = bash('rosterctl api /teams/team_0001 -X PATCH --input - < /dev/null');
  expect([code, stderr]).toEqual([2, 'stdin is empty.\nWrite JSON or YAML: {"field": value}\n']);
});

test('waits for a named pipe as input, until a signal ends it', async () => {
  const home = temporaryFolder();
  spawnSync('mkfifo', [join(home, 'pipe')]);
  const line = '-p sandbox tryouts set-status --ids pipe --to reviewing --yes -o ids';
  const child = startRosterctl(line, { home });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = closed(child);
  // Opening the pipe in the shell blocks until it is read.
  spawnSync('bash', ['-c', 'echo app_0020 > pipe'], { cwd: home });
  expect([await ended, stdout]).toEqual([0, 'app_0020\n']);
  const waiting = [
    launcher,
    '-p',
    'sandbox',
    'tryouts',
    'update',
    'app_0020',
    '--note-file',
    'pipe',
  ];
  const stopped = spawn(process.execPath, waiting, { cwd: home, env: freshEnvironment(home) });
  const over = closed(stopped);
  const writer = await openWhenRead(join(home, 'pipe'));
  stopped.kill('SIGTERM');
  expect(await over).toBe(143);
  closeSync(writer);
});

test('a question continues after Ctrl-Z and fg', async () => {
  const home = temporaryFolder();
  writeFileSync(
    join(home, 'rc'),
    `PS1='ready> '\nrosterctl() { "${process.execPath}" "${launcher}" -p sandbox "$@"; }\n`,
  );
  const shell = pty.spawn('bash', ['--rcfile', join(home, 'rc'), '-i'], {
    env: { ...freshEnvironment(home), TERM: 'xterm' },
    cwd: home,
    cols: 100,
  });
  let shown = '';
  shell.onData((text) => (shown += text));
  const after = async (wanted: RegExp, typed: string) => {
    while (!wanted.test(shown)) await new Promise((resolve) => setTimeout(resolve, 20));
    shown = '';
    shell.write(typed);
  };
  await after(/ready> /, 'rosterctl players delete player_0001; echo "code $?"\r');
  await after(/\(y\/N\)/, '\u001a');
  await after(/Stopped[^]*ready> /, 'fg\r');
  await after(/Delete player[^]*\(y\/N\)/, 'n\r');
  await after(/Nothing was done[^]*ready> /, 'exit\r');
});
