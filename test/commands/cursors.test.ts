import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exit } from '../../src/exit-codes.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { application, keep } from './tryouts/service.js';

const minute = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

async function aClub() {
  const { kept, env, requests } = await keep([
    application('old', { submittedAt: ago(30 * 24 * 60 * minute) }),
  ]);
  const home = temporaryFolder();
  const run = (line: string, own: Readonly<Record<string, string>> = {}) =>
    inProcess(line, { env: { ...env, ...own }, home });
  const told = async (flags: string) =>
    (await run(`tryouts list -o ids -q --since-last ${flags}`)).stdout.split('\n').filter(Boolean);
  const apply = (id: string) => kept.set(id, application(id, { submittedAt: ago(minute) }));
  return { kept, requests, run, told, apply };
}

test('commit accepts exactly what the last peek printed', async () => {
  const { run, told, apply } = await aClub();
  await told('discord --peek');
  apply('a');
  expect(await told('discord --peek')).toEqual(['a']);
  expect(await told('discord --peek')).toEqual(['a']);
  apply('b');
  const shown = async () => JSON.parse((await run('cursors show discord --json')).stdout);
  expect(await shown()).toMatchObject({
    name: 'discord',
    resource: 'tryouts',
    filter: '',
    lastAt: null,
    records: 1,
    ids: ['old'],
    pending: ['a'],
  });
  expect(await run('cursors commit discord')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'Committed 1 row of discord.\n',
  });
  const { lastAt } = await shown();
  expect(await told('discord --peek')).toEqual(['b']);
  // A peek that was not delivered is no use.
  expect([typeof lastAt, (await shown()).lastAt]).toEqual(['string', lastAt]);
  expect(await run('cursors commit discord -q')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(await told('discord')).toEqual([]);
  expect(await run('cursors commit discord -q')).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('a peek with --limit and --changed leaves the rest; a use without --peek drops what was pending', async () => {
  const { kept, run, told, apply } = await aClub();
  await told('bot --changed status');
  apply('a');
  apply('b');
  expect(await told('bot --changed status --peek --limit 1')).toEqual(['a']);
  kept.set('a', application('a', { submittedAt: ago(minute), status: 'accepted' }));
  await run('cursors commit bot');
  // What was delivered was pending; that it changed since is news.
  expect(await told('bot --changed status')).toEqual(expect.arrayContaining(['a', 'b']));
  const { stdout } = await run('cursors commit bot --json');
  expect(JSON.parse(stdout)).toEqual({ name: 'bot', resource: 'tryouts', committed: 0 });
});

test('reset lets a name begin anew, with --at from that time on and also where the state was lost', async () => {
  const { run, told, apply, requests } = await aClub();
  await told('mail');
  apply('a');
  const before = requests.length;
  expect((await run('cursors reset mail')).stdout).toContain(
    'Reset mail. The next run records the current records',
  );
  expect(await told('mail --status pending')).toEqual([]);
  expect((await run('cursors reset mail --at 7d')).code).toBe(0);
  expect(JSON.parse((await run('cursors list --json')).stdout)).toEqual([
    { name: 'mail', resource: 'tryouts', records: 0, lastAt: null },
  ]);
  expect(await told('mail')).toEqual(['a']);
  expect(await told('mail')).toEqual([]);
  expect((await run('cursors reset lost --at 7d')).code).toBe(2);
  expect((await run('cursors reset tryouts/lost --at 7d')).code).toBe(0);
  expect(await told('lost')).toEqual(['a']);
  expect(requests.length - before).toBe(4);
});

test('reset of a list and a misspelt name suggests the nearest, and any other new name is said', async () => {
  const { run, told } = await aClub();
  await told('discord');
  const typo = await run('cursors reset tryouts/discrod --at 7d');
  expect(typo.code).toBe(2);
  expect(typo.stderr).toContain('Did you mean discord?');
  const lost = await run('cursors reset tryouts/mail --at 2026-11-01');
  expect(lost.stderr).toBe('No cursor tryouts/mail was found, so one was created.\n');
  expect(lost.stdout).toMatch(/newer than 1 Nov 2026, 00:00 \S+\.\n$/);
});

test('show wraps what is pending at a terminal, and says when the cursor was last used', async () => {
  const { run, told, apply } = await aClub();
  await told('discord');
  const ids = Array.from({ length: 12 }, (_, at) => `applicant_${at}`);
  for (const id of ids) apply(id);
  await told('discord --peek');
  const env = { ROSTERCTL_FORCE_TTY: '60' };
  const shown = (await run('cursors show discord', env)).stdout.split('\n');
  expect(shown.filter((line) => line.length > 60)).toEqual([]);
  for (const id of ids) expect(shown.join('\n')).toMatch(new RegExp(`${id}\\b`));
  expect(shown.find((line) => line.startsWith('Last'))).toMatch(
    /^Last used  \d+ \w+ 2\d{3}, \d\d:\d\d \S+ \(just now\)$/,
  );
});

test('reset --at beats --initial all, which a cron line always has', async () => {
  const { run, told, apply } = await aClub();
  apply('a');
  expect(await told('mail --initial all')).toEqual(['old', 'a']);
  await run('cursors reset mail --at 7d');
  expect(await told('mail --initial all')).toEqual(['a']);
});

test('TAB offers the names of a list, and with the list where two have one name', async () => {
  const { env } = await keep([]);
  const home = temporaryFolder();
  for (const name of ['tryouts/mail', 'teams/mail', 'tryouts/discord'])
    await inProcess(`cursors reset ${name} --at 1d`, { env, home });
  const offered = async (line: string) =>
    (await rosterctl(`__complete ${line}`, { env, home })).stdout.split('\n').slice(1, -1);
  expect(await offered('tryouts list --since-last d')).toEqual(['discord\ttryouts']);
  expect(await offered("teams list --since-last ''")).toEqual(['mail\tteams']);
  expect(await offered("cursors show ''")).toEqual([
    'teams/mail\tteams',
    'discord\ttryouts',
    'tryouts/mail\ttryouts',
  ]);
  expect(await offered("-p sandbox cursors show ''")).toEqual([]);
});

test('reset --at of a list without times is refused at its next use', async () => {
  const { kept, run } = await aClub();
  kept.set('old', application('old', { submittedAt: null }));
  await run('cursors reset tryouts/mail --at 7d');
  const ran = await run('tryouts list --since-last mail');
  expect([ran.code, ran.stdout]).toEqual([2, '']);
});

test('reset --at of a cursor of check is refused, since findings have no times', async () => {
  const { run } = await aClub();
  await run('check --since-last mail');
  const ran = await run('cursors reset mail --at 7d');
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(ran.stderr).toContain('Findings have no times, so --at cannot be used for check/mail.');
  expect((await run('cursors show check/mail --json')).stdout).toContain('"filter":""');
});

test('a dry run of commit and reset changes nothing', async () => {
  const { run, told, apply } = await aClub();
  await told('mail --peek');
  apply('a');
  await told('mail --peek');
  expect(JSON.parse((await run('cursors commit mail -n --json')).stdout)).toMatchObject({
    changes: [{ id: 'tryouts/mail', field: 'pending', from: ['a'], to: null }],
  });
  await run('cursors reset mail -n');
  expect(await told('mail')).toEqual(['a']);
});

test('a name of two lists is refused until the list is named; an unknown one suggests the nearest', async () => {
  const { run, told } = await aClub();
  await told('mail');
  await inTeams(run);
  const both = await run('cursors show mail');
  expect(both.code).toBe(11);
  expect(both.stderr).toContain('teams/mail or tryouts/mail');
  expect((await run('cursors show tryouts/mail')).code).toBe(0);
  const typo = await run('cursors commit mial');
  expect(typo.code).toBe(2);
  expect(typo.stderr).toContain('Did you mean mail?');
});

const inTeams = async (run: (line: string) => Promise<unknown>) => {
  await run('cursors reset teams/mail --at 1d');
};

test('list and show of an organization without cursors, and without a login', async () => {
  const { run } = await aClub();
  expect(await run('cursors list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
  const env = { ROSTERCTL_FORCE_TTY: '80' };
  const shown = await inProcess('-p sandbox cursors list', { env, home: temporaryFolder() });
  expect(shown.stderr).toBe(
    'No cursors yet. --since-last NAME makes one: rosterctl help cursors\n',
  );
  const alone = await inProcess('cursors list', { env: {}, home: temporaryFolder() });
  expect(alone.code).toBe(2);
  expect(alone.stderr).toContain('rosterctl auth login');
});

test('a folder of cursors that cannot be read is named and does not look empty', async () => {
  const home = temporaryFolder();
  const state = join(home, '.local', 'state', 'rosterctl');
  mkdirSync(state, { recursive: true });
  symlinkSync('cursors', join(state, 'cursors'));
  for (const line of ['list', 'show bot'])
    expect(await inProcess(`-p sandbox cursors ${line}`, { env: {}, home })).toMatchObject({
      code: exit.failed,
      stdout: '',
      stderr: expect.stringMatching(/The cursors in .* cannot be read: /),
    });
});

test('a base URL that is not one is named, not called a bug', async () => {
  const { run } = await aClub();
  for (const line of ['list', 'show bot', 'commit bot', 'reset bot'])
    expect(await run(`cursors ${line}`, { ROSTERCTL_BASE_URL: 'nonsense' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'The base URL is not a URL (environment ROSTERCTL_BASE_URL).',
      ),
    });
});
