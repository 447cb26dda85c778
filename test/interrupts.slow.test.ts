import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pty from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { ids, several, until, userOf } from './bulk/user.js';
import { application, keep } from './commands/tryouts/service.js';
import { grantsOf } from './commands/uploads/grants.js';
import { converse, keepOpen } from './support/converse.js';
import { openWhenRead } from './support/pipe.js';
import {
  closed,
  errorOf,
  freshEnvironment,
  launcher,
  rosterctl,
  startLine,
  startRosterctl,
  temporaryFolder,
} from './support/run.js';
import { recordingService } from './support/service.js';

// A signal ends at once a command that waits for a person, a pipe or another process; the grace period
// of ten seconds is for requests in flight.

/** Below the ten seconds after which a command that continues after a signal is killed. */
const soon = 7_000;

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
  readonly ms: number;
}

/** Starts a command, sends the signal once `ready` resolves, and returns how it ended and after how long. */
async function interrupted(
  line: string,
  ready: (child: ChildProcess, stderr: () => string) => Promise<void>,
  signal: NodeJS.Signals = 'SIGINT',
  home = temporaryFolder(),
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = startRosterctl(line, { home, env });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = closed(child);
  await ready(child, () => stderr);
  const began = performance.now();
  child.kill(signal);
  const code = await ended;
  return { code, stderr, ms: performance.now() - began };
}

/** Fills stdin with more than a pipe holds, so that the write completes only once it is read. */
const isReading = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    child.stdin?.on('error', () => {});
    child.stdin?.write(`id\n${'app_0001\n'.repeat(150_000)}`, () => resolve());
  });

test.each([
  ['tryouts set-status --ids - --to rejected --yes', 'SIGINT', 130],
  ['tryouts set-status --csv - --to rejected --yes', 'SIGTERM', 143],
  ['api /teams --input -', 'SIGINT', 130],
] as const)('%s that waits for stdin ends at once by %s', async (words, signal, code) => {
  const ended = await interrupted(`-p sandbox ${words}`, isReading, signal);
  expect(ended).toMatchObject({
    code,
    stderr: expect.stringContaining('Stopped while reading stdin'),
  });
  expect(ended.ms).toBeLessThan(soon);
});

test.each([
  ['auth login --key-file pipe --base-url https://localhost/v1 --org org_7', {}],
  ['teams list', { ROSTERCTL_API_KEY_FILE: 'pipe' }],
])('%s that waits for the writer of a key file ends at once by SIGINT', async (line, env) => {
  const home = temporaryFolder();
  spawnSync('mkfifo', [join(home, 'pipe')]);
  const place = { ROSTERCTL_BASE_URL: 'https://localhost/v1', ROSTERCTL_ORG: 'org_7' };
  let writer: number | undefined;
  const isReadNow = async () => {
    writer = await openWhenRead(join(home, 'pipe'));
  };
  const ended = await interrupted(line, isReadNow, 'SIGINT', home, { ...place, ...env });
  closeSync(writer ?? -1);
  expect(ended).toMatchObject({ code: 130, stderr: expect.stringContaining('reading pipe') });
  expect(ended.ms).toBeLessThan(soon);
});

test.each(['doctor', 'auth status'])(
  '%s that is interrupted says nothing of a service that has not answered yet',
  async (line) => {
    const service = await recordingService(() => () => {});
    const child = startLine(line, { home: temporaryFolder(), env: service.env });
    await until(() => service.requests.length > 0);
    child.kill('SIGINT');
    expect(await child.ended).toEqual({ code: 130, stdout: '', stderr: 'Interrupted.\n' });
  },
);

const isAnswered = (_: unknown, stderr: () => string) => until(() => stderr().includes('-> 200'));

test('a result for a named pipe without a reader ends at once by SIGINT', async () => {
  const home = temporaryFolder();
  spawnSync('mkfifo', [join(home, 'pipe')]);
  const line = '-p sandbox tryouts get app_0001 --json --debug --out pipe';
  const ended = await interrupted(line, isAnswered, 'SIGINT', home);
  expect(ended.code).toBe(130);
  expect(ended.ms).toBeLessThan(soon);
});

test('--results for a named pipe without a reader ends by SIGINT, and the report is printed', async () => {
  const service = await keep(several(2));
  const home = temporaryFolder();
  spawnSync('mkfifo', [join(home, 'pipe')]);
  const line = 'tryouts set-status app_1 app_2 --to rejected --yes --json --results pipe';
  const child = startLine(line, { home, env: service.env });
  await until(() => service.requests.filter(({ method }) => method === 'PATCH').length === 2);
  await pause(1_000);
  const began = performance.now();
  child.kill('SIGINT');
  const { code, stdout } = await child.ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([130, { summary: { changed: 2 } }]);
  expect(performance.now() - began).toBeLessThan(soon);
});

test('--plan for a named pipe without a reader ends by SIGINT', async () => {
  const home = temporaryFolder();
  spawnSync('mkfifo', [join(home, 'pipe')]);
  const line = '-p sandbox tryouts set-status app_0020 app_0021 --to rejected --plan pipe';
  const ended = await interrupted(line, () => pause(3_000), 'SIGINT', home);
  expect([ended.code, ended.stderr]).toEqual([130, expect.stringContaining('Interrupted.')]);
  expect(ended.ms).toBeLessThan(soon);
});

test('backup diff --csv for a named pipe without a reader ends by SIGINT', async () => {
  const home = temporaryFolder();
  spawnSync('mkfifo', [join(home, 'pipe')]);
  await rosterctl('-p sandbox backup create backups', { home, cwd: home });
  const line = '-p sandbox backup diff backups live --csv pipe';
  const ended = await interrupted(line, () => pause(3_000), 'SIGINT', home);
  expect([ended.code, ended.stderr]).toEqual([130, 'Interrupted.\n']);
  expect(ended.ms).toBeLessThan(soon);
});

test('a result for a named pipe whose reader has stopped reading ends at once by SIGTERM', async () => {
  const home = temporaryFolder();
  const pipe = join(home, 'pipe');
  spawnSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const hasBegun = () => until(() => fillsPipe(reader));
  // It is longer than what a pipe holds.
  const ended = await interrupted('commands --json --out pipe', hasBegun, 'SIGTERM', home);
  closeSync(reader);
  expect([ended.code, errorOf(ended)['code']]).toEqual([143, 'cancelled']);
  expect(ended.ms).toBeLessThan(soon);
});

/** Takes one byte from a pipe, if there is one. */
function fillsPipe(reader: number): boolean {
  try {
    return readSync(reader, Buffer.alloc(1)) > 0;
  } catch {
    return false;
  }
}

test('a wait for the lock names its holder, and ends by SIGINT without reporting a bug', async () => {
  const service = await keep(several(3), (_, step) =>
    step.startsWith('PATCH') ? () => {} : undefined,
  );
  const user = userOf(service);
  const line = `tryouts set-status ${ids(3).join(' ')} --to rejected --yes --json`;
  const holder = user.start(line);
  await until(() => service.requests.some(({ method }) => method === 'PATCH'));
  const second = user.start(`${line} --wait-lock 5m`);
  let stderr = '';
  second.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = closed(second);
  await until(() => stderr.includes('Waiting for it.'));
  second.kill('SIGINT');
  expect(await ended).toBe(130);
  holder.kill('SIGKILL');
  expect(stderr).toMatch(new RegExp(`process ${holder.pid} on .*Waiting for it`));
  expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    error: { kind: 'cancelled', exitCode: 130 },
  });
});

test('SIGTERM ends a prompt at once', async () => {
  const home = temporaryFolder();
  const line = [launcher, '-p', 'sandbox', 'players', 'delete', 'player_0001'];
  const env = { ...freshEnvironment(home), TERM: 'xterm' };
  const terminal = pty.spawn(process.execPath, line, { env, cwd: home, cols: 80 });
  keepOpen(terminal);
  let shown = '';
  let began = 0;
  terminal.onData((text) => {
    shown += text;
    if (began > 0 || !shown.includes('(y/N)')) return;
    began = performance.now();
    process.kill(terminal.pid, 'SIGTERM');
  });
  const code = await new Promise((resolve) => {
    terminal.onExit(({ exitCode }) => resolve(exitCode));
  });
  expect([code, shown]).toEqual([143, expect.stringContaining('Nothing was done.')]);
  expect(performance.now() - began).toBeLessThan(soon);
});

// Node aborts at its end where the terminal of its start is gone, and a core dump would hold the key.
test.each([
  ['a question', 'players delete player_0001', /\(y\/N\)/],
  ['a list to choose from', 'tryouts get', /type to search/],
  ['a review', 'tryouts review', /q keep/],
  ['a question for a key', 'auth login --base-url http://127.0.0.1:9/v1 --org org_1', /API key/],
])('closing the terminal at %s ends it by SIGHUP', async (_, words, asked) => {
  const home = temporaryFolder();
  const ended = join(home, 'ended');
  const profile = words.startsWith('auth') ? '' : '-p sandbox';
  const script = `trap : HUP; "$0" "$1" ${profile} ${words}; echo "$?" > "$2"`;
  const line = ['-c', script, process.execPath, launcher, ended];
  const env = { ...freshEnvironment(home), TERM: 'xterm' };
  const terminal = pty.spawn('/bin/sh', line, { env, cwd: home, cols: 80 });
  let shown = '';
  terminal.onData((text) => (shown += text));
  await until(() => asked.test(shown));
  // Closes our side of the terminal, as its window does.
  (terminal as unknown as { destroy(): void }).destroy();
  await until(() => existsSync(ended) && readFileSync(ended, 'utf8').endsWith('\n'));
  expect(readFileSync(ended, 'utf8')).toBe('129\n');
});

test('Ctrl-C in a pager goes to the pager', async () => {
  const home = temporaryFolder();
  const pager = join(home, 'pager');
  // Not a shell: a signal that arrives just before its `read` waits for the next key.
  const script = `#!${process.execPath}
process.on('SIGINT', () => console.log('HEARD'));
process.stdin.on('end', () => console.log('READY')).pipe(process.stdout);
require('node:fs').createReadStream('/dev/tty').on('data', (line) => {
  if (String(line) === 'q\\n') process.exit();
});
`;
  writeFileSync(pager, script);
  chmodSync(pager, 0o755);
  const line = ['-p', 'sandbox', 'tryouts', 'list'];
  const keys = [
    [/READY/, '\u0003'],
    [/HEARD/, '\u0003'],
    [/HEARD/, 'q\r'],
  ] as const;
  const { code, shown } = await converse(home, line, keys, { ROSTERCTL_PAGER: pager });
  expect(code).toBe(0);
  expect(shown.match(/HEARD/g)).toHaveLength(2);
});

test('the end of --max-time ends the pager too', async () => {
  const home = temporaryFolder();
  const pager = join(home, 'pager');
  const script = `#!${process.execPath}
process.on('SIGTERM', () => {
  console.log('ENDED');
  process.exit(15);
});
console.log('READY');
setTimeout(() => {}, 60_000);
`;
  writeFileSync(pager, script);
  chmodSync(pager, 0o755);
  const line = ['-p', 'sandbox', 'tryouts', 'list', '--max-time', '4s'];
  const { code, shown } = await converse(home, line, [], { ROSTERCTL_PAGER: pager });
  expect(code).toBe(143);
  expect(shown).toMatch(/READY[^]*ENDED/);
  expect(shown).not.toContain('app_');
});

const readsSecond = ({ pid }: ChildProcess) =>
  until(() => spawnSync('ls', ['-l', `/proc/${pid}/fd`]).stdout.includes('b.png'));

test('a slow inspection of files ends at once by SIGINT, with nothing sent', async () => {
  const home = temporaryFolder();
  for (const name of ['a.png', 'b.png']) {
    writeFileSync(join(home, name), Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
    // Takes minutes to read and no space on the disk.
    truncateSync(join(home, name), 100 * 1024 ** 3);
  }
  const line = '-p sandbox docs upload a.png b.png --yes';
  const ended = await interrupted(line, readsSecond, 'SIGINT', home);
  expect(ended).toMatchObject({ code: 130, stderr: expect.stringContaining('nothing was sent') });
  expect(ended.ms).toBeLessThan(soon);
});

/** A list without end; `isHeldBack` once none of it was read for a while. */
async function endlessList() {
  const list = { written: 0 };
  const service = await recordingService(() => (_, response) => {
    response.setHeader('content-type', 'application/json');
    const pump = async () => {
      response.write(`[${JSON.stringify(application('app_0'))}`);
      while (!response.destroyed)
        if (!response.write(`,${JSON.stringify(application(`app_${++list.written}`))}`))
          await once(response, 'drain');
    };
    pump().catch(() => undefined);
  });
  let previous = -1;
  const isHeldBack = async () => {
    while (list.written === 0 || previous !== list.written) {
      previous = list.written;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  return { ...service, isHeldBack };
}

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a list whose reader has stalled ends by %s', async (signal, code) => {
  const list = await endlessList();
  const child = userOf(list).start('tryouts list -o ndjson');
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // Stdout has no reader, so it never closes.
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await list.isHeldBack();
  const began = performance.now();
  child.kill(signal);
  expect(await ended).toBe(code);
  expect(performance.now() - began).toBeLessThan(soon);
  expect(stderr).toContain('Interrupted.');
});

test('a short result for a pipe that is full already ends at once by SIGTERM', async () => {
  const home = temporaryFolder();
  const pipe = join(home, 'pipe');
  spawnSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(filler, Buffer.alloc(64 * 1024));
  }).toThrow('EAGAIN');
  const stdout = openSync(pipe, constants.O_WRONLY);
  const line = [launcher, '-p', 'sandbox', 'tryouts', 'list', '-o', 'ids', '--debug'];
  const child = spawn(process.execPath, line, {
    env: freshEnvironment(home),
    stdio: ['ignore', stdout, 'pipe'],
  });
  const ended = closed(child);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await until(() => stderr.includes('-> 200'));
  await pause(500);
  const began = performance.now();
  child.kill('SIGTERM');
  expect(await ended).toBe(143);
  expect(performance.now() - began).toBeLessThan(soon);
  for (const each of [reader, filler, stdout]) closeSync(each);
});

const refuses = () => recordingService(() => ({ status: 429, headers: { 'retry-after': '30' } }));
/** A service that says nothing more once its list was read, which is right before the run begins. */
const falls = () => {
  let isListed = false;
  return keep(several(9), (_, step) => {
    if (isListed) return () => {};
    isListed = step === 'LIST';
    return undefined;
  });
};
const run = ['tryouts', 'set-status', ...ids(9), '--to', 'rejected', '--yes'];
const lastRead = /GET \/v1\/tryout-applications .* ms/;

test.each([
  ['a read', ['teams', 'list'], /trying again in 3\d s/, refuses, 'Interrupted.'],
  ['a run', [...run, '--debug'], lastRead, falls, '(Stopping: |error: 9 not sent)'],
  ['a sandbox', ['sandbox', 'start', '--port', '0'], /Stop it with Ctrl-C\.\r\n/, refuses, ''],
] as const)(
  'the output after the ^C of %s begins on its own line',
  async (_, line, ready, serve, message) => {
    const service = await serve();
    // No spinner, which would clear the line, and marks in ASCII.
    const own = { ...service.env, TERM: 'dumb' };
    const { shown } = await converse(temporaryFolder(), line, [[ready, '\u0003']], own);
    expect(shown).toMatch(new RegExp(`\\^C\r\n${message}`));
  },
);

test('a ^C next to a progress line is cleared with it', async () => {
  const service = await keep(several(9));
  const keys = [[/\d of 9, /, '\u0003']] as const;
  const { shown } = await converse(temporaryFolder(), [...run, '--rate', '5/s'], keys, service.env);
  // oxlint-disable-next-line no-control-regex
  expect(shown).toMatch(/\d of 9, [^\r\n]*\^C[^\r\n]*\u001b\[[0-2]?K/);
  expect(shown).not.toContain('^C\r\n');
});

test('two quick Ctrl-C in a write quit with a word on what may have happened', async () => {
  const silent = await recordingService(({ method }) =>
    method === 'GET' ? { status: 200, json: application('app_1') } : () => {},
  );
  const line = ['tryouts', 'update', 'app_1', '--status', 'rejected', '--yes'];
  const keys = [
    [/0 of 1/, '\u0003'],
    // Drawn again twice, so the program has run: two signals before that reach it as one.
    [/\^C[^]*0 of 1[^]*0 of 1/, '\u0003'],
  ] as const;
  const { code, shown } = await converse(temporaryFolder(), line, keys, silent.env);
  expect({ code, shown }).toMatchObject({ code: 130 });
  expect(shown.replace(/\s+/g, ' ')).toContain(
    'Quit before all answers arrived: requests already sent may have taken effect. Check with: rosterctl runs resume last',
  );
});

test('the first Ctrl-C in a write says what it waits for, the second quits, and the run can be checked', async () => {
  const silent = await recordingService(({ method }) =>
    method === 'GET' ? { status: 200, json: application('app_1') } : () => {},
  );
  const home = temporaryFolder();
  const line = ['tryouts', 'update', 'app_1', '--status', 'rejected', '--yes'];
  const keys = [
    [/0 of 1/, '\u0003'],
    // The whole sentence: the kernel drops what a terminal has not read yet when ^C is typed.
    [/then check\s+with: rosterctl runs resume last/, '\u0003'],
  ] as const;
  const { code, shown } = await converse(home, line, keys, silent.env);
  expect({ code, shown }).toMatchObject({ code: 130 });
  expect(shown).toContain('rosterctl runs resume last');
  const listed = await rosterctl('runs list --json', { env: silent.env, home });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ action: 'tryouts.update' }]);
});

test.each(['app_1', 'app_1 app_2'])(
  'a change of %s that is ended at once leaves no lock, which would stay in another container or under another host name',
  async (changed) => {
    const silent = await keep(several(2), (_, step) =>
      step.startsWith('PATCH') ? () => {} : undefined,
    );
    const home = temporaryFolder();
    const locks = () =>
      readdirSync(join(home, '.local/state/rosterctl/locks'), {
        recursive: true,
        encoding: 'utf8',
      }).filter((name) => name.includes('.lock.'));
    const line = startLine(`tryouts set-status ${changed} --to rejected --yes`, {
      env: silent.env,
      home,
    });
    await until(() => silent.requests.some(({ method }) => method === 'PATCH'));
    expect(locks()).not.toEqual([]);
    // Two of one signal could reach it as one.
    line.kill('SIGTERM');
    line.kill('SIGINT');
    const { code, stderr } = await line.ended;
    expect([130, 143]).toContain(code);
    expect(stderr).toContain('Quit before all answers arrived:');
    expect(locks()).toEqual([]);
  },
);

test('a write that ends although it was interrupted shows its record, and says in JSON why it exits with 130', async () => {
  let isSent = false;
  const service = await recordingService(({ method }) => {
    if (method === 'GET') return { status: 200, json: application('app_1') };
    isSent = true;
    const done = JSON.stringify({ ...application('app_1'), status: 'rejected' });
    return (_, response) =>
      void setTimeout(
        () => response.writeHead(200, { 'content-type': 'application/json' }).end(done),
        400,
      );
  });
  const line = 'tryouts update app_1 --status rejected --json';
  const home = temporaryFolder();
  const ready = () => until(() => isSent);
  const { code, stderr } = await interrupted(line, ready, 'SIGINT', home, service.env);
  const hint = 'You do not need to run the command again.';
  expect([code, errorOf({ stderr })]).toMatchObject([
    130,
    { code: 'cancelled', hint, exitCode: 130 },
  ]);
});

test('a create that was answered is done, though a signal stops the read that would show its record', async () => {
  const made = { id: 'player_1', organizationId: 'org_7', name: 'Nova' };
  const service = await recordingService(({ method }) =>
    method === 'POST' ? { status: 201, json: made } : () => {},
  );
  const home = temporaryFolder();
  const ready = () => until(() => service.requests.some(({ method }) => method === 'GET'));
  const line = 'players create --name Nova --json';
  const { code, stderr } = await interrupted(line, ready, 'SIGTERM', home, service.env);
  expect([code, errorOf({ stderr })]).toMatchObject([143, { code: 'cancelled', exitCode: 143 }]);
  expect(stderr).toContain('The player was created, but it could not be read again');
  const listed = await rosterctl('runs list --all --json', { env: service.env, home });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ state: 'finished', summary: { changed: 1 } }]);
});

test('a delete that was answered is done, though a signal stops the read that would confirm it', async () => {
  let isDeleted = false;
  const there = { id: 'player_1', organizationId: 'org_7', name: 'Nova' };
  const service = await recordingService(({ method }) => {
    if (method === 'GET') return isDeleted ? () => {} : { status: 200, json: there };
    isDeleted = true;
    return { status: 204 };
  });
  const home = temporaryFolder();
  const ready = () => until(() => service.requests.length === 3);
  const line = 'players delete player_1 --yes --json';
  const { code, stderr } = await interrupted(line, ready, 'SIGTERM', home, service.env);
  expect([code, errorOf({ stderr })]).toMatchObject([143, { code: 'cancelled', exitCode: 143 }]);
  expect(stderr).toContain('player_1: done, but reading it again failed: Interrupted.');
});

test('an error in JSON is the last line, though an abandoned upload ends after it', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'a.txt'), 'hello');
  const store = await recordingService(() => ({ status: 200 }));
  const grant = grantsOf(store);
  const service = await recordingService(({ method, url }) => {
    if (method === 'GET') return { status: 200, json: { documents: [] } };
    return url.endsWith('/uploads/document-file') ? grant() : () => {};
  });
  const ready = () => until(() => service.requests.some(({ url }) => url === '/v1/documents'));
  const line = `docs upload ${join(home, 'a.txt')} --json`;
  const { code, stderr } = await interrupted(line, ready, 'SIGTERM', home, service.env);
  expect(code).toBe(143);
  expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    error: { exitCode: 143 },
  });
});
