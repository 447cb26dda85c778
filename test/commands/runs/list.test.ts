import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { userOf } from '../../bulk/user.js';
import { converse } from '../../support/converse.js';
import { converseInside } from '../../support/converse-inside.js';
import { withoutColor } from '../../support/hostile.js';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';
import { application, keep } from '../tryouts/service.js';

/** A user whose first run was interrupted, and replaced by the same command later. */
async function twoRuns() {
  let isDown = true;
  const all = ['app_1', 'app_2'].map((id) => application(id));
  const service = await keep(all, (_, step) =>
    isDown && step === 'PATCH app_2' ? { status: 401 } : undefined,
  );
  const user = userOf(service, inProcess);
  const line = 'tryouts set-status --status pending --to rejected --yes --concurrency 1';
  await user.run(line);
  isDown = false;
  service.kept.set('app_3', application('app_3'));
  await user.run(line);
  const shown = async (words: string) => {
    const own = { ...service.env, NO_COLOR: '1' };
    const { shown: text } = await converseInside(user.home, words.split(' '), [], own, 80);
    return text.replaceAll('\r', '').trimEnd().split('\n');
  };
  return { user, shown };
}

test('a person sees short names, every profile, and which run was replaced', async () => {
  const { user, shown } = await twoRuns();
  const listed = await user.run('runs list --json');
  const runs = JSON.parse(listed.stdout) as { run: string; state: string }[];
  expect(runs.map(({ state }) => state)).toEqual(['finished', 'finished']);
  const [first, second] = runs.map(({ run }) => run.slice(-6));
  const started = '(?:just now|\\d+ \\w+ ago)';
  expect(await shown('runs list')).toEqual(
    [
      'Run +State +Action +Started +Done +Profile',
      `${first} +replaced +tryouts set-status +${started} +1 +default`,
      `${second} +finished +tryouts set-status +${started} +2 +default`,
    ].map((line) => expect.stringMatching(new RegExp(`^${line}$`))),
  );
  // A typed field is printed as it is, and so is every row in a pipe.
  expect((await shown('runs list --fields run,state'))[1]).toMatch(/^\d{8}T\S+-\w{6} +finished$/);
  expect((await user.run('runs list')).stdout).toMatch(/^\d{8}T\S+-\w{6}\ttryouts.set-status\tf/m);
  const [head = ''] = (await user.run('runs list')).stdout.split('\n');
  expect(head.split('\t').slice(3)).toEqual(
    [
      'total',
      'changed',
      'failed',
      'startedAt',
      'profile',
      'conflict',
      'unknown',
      'notAttempted',
    ].map((name) => expect.stringMatching(new RegExp(`^(?:summary\\.)?${name}$`))),
  );
});

test('runs show says when a run started as a card does, and that it was replaced', async () => {
  const { user, shown } = await twoRuns();
  const [first] = JSON.parse((await user.run('runs list --json')).stdout) as { run: string }[];
  const text = (await shown(`runs show ${first?.run.slice(-6)}`)).join(' ');
  expect(text).toMatch(
    /^Run \w{6}: tryouts set-status in org_7 \(profile default\), started \d+ \w{3} \d{4}, \d\d:\d\d \S+, replaced /,
  );
});

test('a person reads which record a single change was of, as lists have named it', async () => {
  const { user, shown } = await twoRuns();
  expect(await shown('runs list')).toHaveLength(3);
  await user.run('tryouts list');
  await user.run('tryouts update app_3 --status reviewing');
  await user.run('tryouts set-status app_1 app_9 --to reviewing --yes');
  const listed = await shown('runs list --all');
  expect(listed[0]).toMatch(/^Run +State +Action +Started +Done +Failed$/);
  expect(listed.slice(3, 5)).toEqual([
    expect.stringMatching(/ tryouts update: Applicant app_3 .* 1 +0$/),
    expect.stringMatching(/ tryouts set-status .* 1 +1$/),
  ]);
  const run = listed[4]?.slice(0, 6);
  expect(await shown(`runs show ${run}`)).toContainEqual(
    expect.stringMatching(/^app_1 +Applicant app_1 +changed +rejected → reviewing$/),
  );
  // Without the cache it is the id.
  rmSync(join(user.home, '.cache'), { recursive: true });
  expect((await shown('runs list --all'))[3]).toMatch(/ tryouts update: app_3 /);
});

test('where only single changes were made, the empty list says so in one sentence', async () => {
  const service = await keep([application('app_1')]);
  const user = userOf(service);
  await user.run('tryouts update app_1 --status reviewing');
  const { shown, code } = await converse(user.home, ['runs', 'list'], [], service.env);
  expect([code, shown.trim()]).toEqual([
    0,
    'Nothing to list but 1 finished change of a single record. To list everything, add --all.',
  ]);
});

test('runs show lists the fields of a created record, without an old value that there was not', async () => {
  const home = temporaryFolder();
  const fields = "--name 'Mira Kite' -F role=coach -F teamIds[]=team_0002 -F teamIds[]=team_0001";
  await rosterctl(`-p sandbox players create ${fields}`, { home });
  const { shown } = await converseInside(
    home,
    ['-p', 'sandbox', 'runs', 'show', 'last'],
    [],
    {},
    120,
  );
  expect(withoutColor(shown)).toMatch(
    /player_\d+ .* created +Name Mira Kite, Role coach, Teams team_0002, team_0001\r\n/,
  );
});

test('runs show --failed -o ids prints the ids of the rows that went wrong', async () => {
  const all = ['app_1', 'app_2', 'app_3'].map((id) => application(id));
  const service = await keep(all, (_, step) =>
    step === 'PATCH app_2' ? { status: 409, json: { error: 'conflict' } } : undefined,
  );
  const { run } = userOf(service);
  await run('tryouts set-status app_1 app_2 app_3 --to rejected --yes');
  expect((await run('runs show last -o ids')).stdout).toBe('app_1\napp_3\n');
  expect((await run('runs show last --failed -o ids')).stdout).toBe('app_2\n');
});

test('runs resume without an unfinished run says so, and how the last run ended', async () => {
  const { shown } = await twoRuns();
  const lines = await shown('runs resume');
  expect(lines).toEqual([
    expect.stringMatching(/^No run is unfinished, so nothing was sent\. The last run is \w{6}:$/),
    '✔ 2 changed.',
  ]);
  expect(await shown('runs resume -v')).toHaveLength(4);
});
