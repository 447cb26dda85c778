import { once } from 'node:events';
import { lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bash } from './support/bash.js';
import { closed, launcher, rosterctl, startRosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

// Files that a shell passes without a regular name: its own outputs, anonymous pipes, devices.

test.each([
  ['the refusal of a request', 'api players -f nickname=Nim -o json', 3, '"invalidRequest"'],
  [
    'the answer to a request that changes something',
    'api players -f name=Nim -f organizationId={org}',
    1,
    'closed.\n',
  ],
  ['a missing record', 'players get player_0001 player_9999', 5, 'player_9999 was not found'],
  ['a finding', 'check --exit-code', 12, ''],
  ['the answer to a request that only reads', 'api players/{org}', 0, ''],
])('%s keeps its exit code where the reader of stdout has ended', (_, line, code, said) => {
  const script = `exec 3> >(true); wait $!; rosterctl ${line} >&3`;
  expect(bash(script)).toEqual({ code, stdout: '', stderr: expect.stringContaining(said) });
});

test('results whose reader has ended fail the command, and its report is printed', () => {
  const line = 'tryouts set-status app_0003 app_0004 --to shortlisted --yes -q -o ids';
  expect(bash(`rosterctl ${line} --results >(true)`)).toEqual({
    code: 1,
    stdout: 'app_0003\napp_0004\n',
    stderr: expect.stringContaining('cannot be written: nothing reads the pipe any more (EPIPE).'),
  });
});

describe('an output that is a socket, as under systemd,', () => {
  test.each(['/dev/stderr', '/proc/self/fd/2', '/dev/fd/2'])('is written as %s', async (name) => {
    const { code, stdout, stderr } = await rosterctl(`-p sandbox teams list -o ids --out ${name}`);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^team_0001\nteam_0002\n/);
  });

  test('takes the results of a run', async () => {
    const line = 'tryouts set-status app_0003 app_0004 --to shortlisted --yes -q -o ids';
    const ran = await rosterctl(`-p sandbox ${line} --results /dev/stderr`);
    expect([ran.code, ran.stdout]).toEqual([0, 'app_0003\napp_0004\n']);
    expect(ran.stderr).toContain('app_0004,changed');
  });

  test('is waited for while it is full', async () => {
    const json = Array.from({ length: 4_000 }, (_, n) => ({ id: `t${n}`, name: 'x'.repeat(500) }));
    const { env } = await recordingService(() => ({ status: 200, json }));
    // Whoever shares the socket may have made it one that does not block.
    const sharing = `"${process.execPath}" -e 'process.stderr; setTimeout(() => {}, 3e3)'`;
    const through = `${sharing} & sleep 0.5; exec "$@"`;
    const child = startRosterctl('teams list --json --out /dev/stderr', { env, through });
    const ended = closed(child);
    const parts: Buffer[] = [];
    await sleep(1_500);
    child.stderr.on('data', (part: Buffer) => parts.push(part));
    child.stdout.resume();
    expect(await ended).toBe(0);
    expect(JSON.parse(Buffer.concat(parts).toString())).toEqual(json);
  });

  test('of another process is refused, not waited for', async () => {
    const path = join(temporaryFolder(), 'socket');
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { code, stderr } = await rosterctl(['-p', 'sandbox', 'teams', 'list', '--out', path]);
    expect([code, stderr]).toEqual([1, `${path} cannot be written: it is a socket (ENXIO).\n`]);
  });
});

describe('a link to an output of the shell', () => {
  const home = temporaryFolder();
  symlinkSync('/proc/self/fd/1', join(home, 'out'));
  const isLink = () => lstatSync(join(home, 'out')).isSymbolicLink();

  test.each([
    ['--out', 'teams list -o ids --out out | head -1', 'team_0001\n'],
    ['--results', 'players delete player_0001 -n --results out --json >&2; echo over', 'over\n'],
    ['-O', 'docs download doc_0001 -O out --overwrite | head -c 4', '%PDF'],
  ])('%s writes to the pipe that it leads to, and keeps the link', (_, line, said) => {
    expect(bash(`rosterctl ${line}`, home)).toMatchObject({ code: 0, stdout: said });
    expect(isLink()).toBe(true);
  });

  test('gets the results of a run as well', () => {
    const ran = bash(
      'rosterctl tryouts set-status --ids <(echo app_0020) --to reviewing --yes --results out -o ids | cat',
      home,
    );
    expect(ran.stdout).toContain('app_0020,changed');
    expect(isLink()).toBe(true);
  });

  test('keeps earlier and later content of the file', () => {
    const script = '{ echo start; rosterctl teams list -o ids --limit 1 --out out; echo end; }';
    bash(`${script} > kept; ${script} >> kept`, home);
    expect(readFileSync(join(home, 'kept'), 'utf8')).toBe('start\nteam_0003\nend\n'.repeat(2));
  });

  test('may be a process substitution', () => {
    const ran = bash(
      'rosterctl teams list -o ids --out >(wc -l > lines); until [ -s lines ]; do sleep 0.1; done; cat lines',
      home,
    );
    expect(Number(ran.stdout)).toBe(6);
  });
});

test.each(['tryouts update app_0020 --note-file', 'players create --name x --input'])(
  '%s reads no more of an endless file than a field may hold',
  async (line) => {
    const ran = await rosterctl(`-p sandbox ${line} /dev/zero`);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('is larger than') });
  },
);

test('sandbox start ends if its line cannot be written', () => {
  const ran = bash(
    'timeout 90 bash -c \'"$0" "$1" sandbox start --json > /dev/full\' ' +
      `"${process.execPath}" "${launcher}"; echo $?`,
  );
  expect(ran.stdout).toBe('1\n');
});
