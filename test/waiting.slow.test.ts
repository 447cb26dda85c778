import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { several } from './bulk/user.js';
import { keep } from './commands/tryouts/service.js';
import { converse, inShell } from './support/converse.js';
import { rosterctl, temporaryFolder } from './support/run.js';
import {
  organization,
  type Recorded,
  type Reply,
  recordingService,
  storeSecret,
} from './support/service.js';

// What a user sees while waiting for the service.

const slowMs = 900;

/** A response that is late enough for the waiting line. */
function late(json: unknown, isDue: Promise<unknown> = pause(slowMs)): Reply {
  return (_, response) => {
    response.setHeader('content-type', 'application/json');
    void isDue.then(() => response.end(JSON.stringify(json)));
  };
}

const team = { id: 'team_1', organizationId: organization, name: 'Kestrels', slug: 'kestrels' };
const teamAt = ({ url }: Recorded) => (url.endsWith('/team_1') ? team : [team]);

/** A service that answers only once a terminal shows the waiting line: `shown` is for its conversation. */
async function patient(
  jsonOf: (request: Recorded) => unknown = teamAt,
  line: RegExp = /Waiting for/,
) {
  let answerAll: (() => void) | undefined;
  const isShown = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  const service = await recordingService((request) => late(jsonOf(request), isShown));
  const answer = async () => {
    answerAll?.();
    return '';
  };
  return { ...service, shown: [line, answer] as const };
}

/** The screen text that remains after all erased lines. */
function left(shown: string): string {
  return (
    shown
      // oxlint-disable-next-line no-control-regex
      .replace(/\u001b\[\?\d+[hl]/g, '')
      .split('\n')
      // oxlint-disable-next-line no-control-regex
      .map((line) => line.replace(/^[^]*\u001b\[[0-2]?K/, ''))
      .join('\n')
      // oxlint-disable-next-line no-control-regex
      .replace(/\u001b\[[\d;]*[A-Za-z]/g, '')
  );
}

test.each([['teams get team_1'], ['teams list'], ['auth status'], ['teams list -o ndjson']])(
  '%s shows what it waits for, and erases that before the result',
  async (line) => {
    const service = await patient();
    const { shown, code } = await converse(
      temporaryFolder(),
      line.split(' '),
      [service.shown],
      service.env,
    );
    const host = new URL(service.origin).host;
    expect(code).toBe(0);
    expect(shown).toContain(`Waiting for ${host}`);
    expect(left(shown)).not.toContain('Waiting');
    expect(left(shown)).toMatch(/Kestrels|accepted by the service/);
    // The cursor is shown again.
    expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.lastIndexOf('\u001b[?25l'));
  },
);

test('a slow upload shows its destination', async () => {
  const store = await patient(() => ({}), /Sending to/);
  const home = temporaryFolder();
  writeFileSync(join(home, 'a.pdf'), '%PDF-1.7\n');
  const line = ['uploads', 'put', `${store.origin}/bucket/a?signature=${storeSecret}`, 'a.pdf'];
  const { shown, code } = await converse(home, line, [store.shown], store.env);
  expect(code).toBe(0);
  expect(shown).toContain(`Sending to ${new URL(store.origin).host}`);
  expect(left(shown)).not.toContain('Sending');
  expect(shown).not.toContain(storeSecret);
});

test('a fast read shows no waiting line, nor does a slow one with --quiet or in a log', async () => {
  const fast = await keep(several(2));
  const quick = () => converse(temporaryFolder(), ['tryouts', 'list'], [], fast.env);
  // On a busy machine one may be slow.
  for (let times = 1; (await quick()).shown.includes('Waiting'); times += 1)
    expect(times).toBeLessThan(5);
  const service = await recordingService((request) => late(teamAt(request)));
  const quiet = await converse(temporaryFolder(), ['teams', 'list', '--quiet'], [], service.env);
  expect(quiet.shown).not.toContain('Waiting');
  const logged = await rosterctl('teams list', { env: service.env });
  expect([logged.code, logged.stderr]).toEqual([0, '']);
});

test('no waiting line is shown above a prompt', async () => {
  const service = await patient();
  const line = ['teams', 'delete', 'team_1'];
  const { shown } = await converse(
    temporaryFolder(),
    line,
    [service.shown, [/Type .*Kestrels|Kestrels.*:/, '\u0003']],
    service.env,
  );
  expect(shown).toContain('Waiting for');
  expect(shown.slice(shown.lastIndexOf('Waiting for'))).toContain('Kestrels');
  expect(left(shown)).not.toContain('Waiting');
});

test('a note about a wait is printed above the line, and Ctrl-C erases the line', async () => {
  const service = await recordingService(() => ({ status: 429, headers: { 'retry-after': '30' } }));
  const { shown, code } = await converse(
    temporaryFolder(),
    ['teams', 'list'],
    [[/trying again in 3\d s\.[^]*Waiting for/, '\u0003']],
    service.env,
  );
  expect(code).toBe(130);
  const lines = left(shown).trim().split('\r\n');
  expect(lines.map((each) => each.trim())).toEqual([
    expect.stringMatching(/^The service asks you to wait; trying again in 3\d s\.$/),
    'Interrupted.',
  ]);
});

test('Ctrl-Z next to the line leaves the shell its own line, and fg continues waiting', async () => {
  const service = await patient();
  const { shown } = await inShell(
    temporaryFolder(),
    [
      [/shell> /, 'rosterctl teams list\r'],
      [/Waiting for/, '\u001a'],
      [/Stopped[^]*shell> /, 'fg\r'],
      service.shown,
      [/Kestrels[^]*shell> /, 'exit\r'],
    ],
    service.env,
  );
  expect(left(shown.slice(0, shown.indexOf('Stopped')))).not.toContain('Waiting');
});
