import { expect, test } from 'vitest';
import { keep } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { ids, several } from './user.js';

const count = 400;
const line = ['tryouts', 'set-status', ...ids(count), '--to', 'rejected', '--max-changes', '400'];

test('after Ctrl-C the last line on the screen is how to resume, not an unattempted row', async () => {
  const service = await keep(several(count));
  const { shown, code } = await converse(
    temporaryFolder(),
    // Slow enough to type Ctrl-C.
    [...line, '--rate', '50/s'],
    [
      [/Change 400 applications\?/, 'y\r'],
      [/\d+ of 400, /, '\u0003'],
    ],
    { ...service.env, NO_COLOR: '1' },
  );
  expect(code).toBe(130);
  // oxlint-disable-next-line no-control-regex
  const text = shown.replace(/\u001b\[[?\d;]*[A-Za-z]/g, '');
  const lines = text.trimEnd().split(/\r?\n/);
  expect(lines.at(-1)).toMatch(
    /^Stopped after \d+ of 400\. Run the same command again, or: rosterctl runs resume [0-9a-f]{6} --rate 50\/s$/,
  );
  expect(lines.at(-2)).toMatch(
    /✘ \d+ changed, \d+ not sent, of 400\. Run [0-9a-f]{6}\. {3}Undo: rosterctl runs undo [0-9a-f]{6}$/,
  );
});

test('a change that matches nothing says so with one full stop', async () => {
  const service = await keep(several(2));
  const words = ['tryouts', 'set-status', '--status', 'accepted', '--to', 'rejected'];
  const { printed, code } = await converseInside(temporaryFolder(), words, [], service.env);
  expect(code).toBe(0);
  expect(printed.trimEnd()).toMatch(/No application matches\. Nothing to do\.$/);
});

test('rows that all failed alike before anything was sent are followed by the next step', async () => {
  const service = await keep(several(2), (_, step) =>
    step.startsWith('GET app') ? { status: 500, json: { error: 'internal' } } : undefined,
  );
  const words = ['tryouts', 'set-status', 'app_1', 'app_2', '--to', 'rejected', '--yes'];
  const env = { ...service.env, NO_COLOR: '1' };
  const { printed, code } = await converseInside(
    temporaryFolder(),
    [...words, '--retries', '0'],
    [],
    env,
  );
  expect(code).toBe(9);
  expect(printed.replaceAll('\r', '').split('\n').slice(-5)).toEqual([
    '✘ 2 not sent.',
    '  app_1  not sent  The service failed with 500 (internal).',
    '  app_2  not sent  The service failed with 500 (internal).',
    'Run the same command again later.',
    '',
  ]);
});

test('a long row is wrapped at whole words, under its own text', async () => {
  const message = `The applicant ${'moved to another '.repeat(4)}organization.`;
  const service = await keep(several(2), (_, step) =>
    step === 'PATCH app_2'
      ? { status: 400, json: { error: { code: 'invalid', message } } }
      : undefined,
  );
  const words = ['tryouts', 'set-status', 'app_1', 'app_2', '--to', 'rejected', '--yes'];
  const env = { ...service.env, NO_COLOR: '1' };
  const run = (columns: number) => converseInside(temporaryFolder(), words, [], env, columns);
  const screen = async (columns: number) =>
    (await run(columns)).shown.replaceAll('\r', '').split('\n').slice(-14);
  expect(await screen(80)).toEqual(
    expect.arrayContaining([
      '  app_2  Applicant app_2  failed',
      '      The service rejected the request: 400 (invalid). The service says: The',
      '      applicant moved to another moved to another moved to another moved to',
    ]),
  );
  expect(await screen(40)).toEqual(
    expect.arrayContaining([
      '  app_2  Applicant app_2  failed',
      '      The service rejected the request:',
      '      400 (invalid). The service says:',
    ]),
  );
});

test('the progress line shows when the service asks to wait', async () => {
  let asked = false;
  const service = await keep(several(20), (_, step) => {
    if (asked || step !== 'PATCH app_9') return undefined;
    asked = true;
    return { status: 429, headers: { 'retry-after': '2' } };
  });
  const { shown, code } = await converse(
    temporaryFolder(),
    ['tryouts', 'set-status', ...ids(20), '--to', 'rejected', '--yes'],
    [],
    service.env,
  );
  expect(code).toBe(0);
  expect(shown).toMatch(/\d+ of 20, .* left; the service asks you to wait 2 s/);
});

test('in a pipe the error that ended the run comes first, and a program gets every row', async () => {
  const service = await keep(several(count), (_, step) =>
    step.startsWith('PATCH') ? { status: 403 } : undefined,
  );
  const at = { env: service.env };
  const words = [...line, '--yes'];
  const told = await rosterctl(words, at);
  expect(told.code).toBe(7);
  expect(told.stderr).toMatch(
    /Stopped: .*\nThe key may lack a permission, .*\nSee: rosterctl doctor\nRun \S+: 1 failed, 399 not sent, of 400\nStopped after 1 of 400\. /,
  );
  const { results } = JSON.parse((await rosterctl([...words, '--json'], at)).stdout) as {
    results: object[];
  };
  expect(results).toHaveLength(count);
});

test('with ids on stdin no prompt is possible: exits 2 and says what to add', async () => {
  const service = await keep(several(2));
  const { shown, code } = await converse(
    temporaryFolder(),
    ['tryouts', 'set-status', '--ids', '-', '--to', 'rejected'],
    [[/^/, 'app_1\rapp_2\r\u0004']],
    service.env,
  );
  expect(shown).toContain('This needs a confirmation, and stdin was already read.');
  expect(shown).toContain('add --yes');
  expect(code).toBe(2);
});
