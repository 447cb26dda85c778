import { expect, test } from 'vitest';
import { userOf } from '../../bulk/user.js';
import { converse } from '../../support/converse.js';
import { application, keep } from '../tryouts/service.js';

/** A user whose first run was interrupted, and replaced by the same command later. */
async function twoRuns() {
  let isDown = true;
  const all = ['app_1', 'app_2'].map((id) => application(id));
  const service = await keep(all, (_, step) =>
    isDown && step === 'PATCH app_2' ? { status: 401 } : undefined,
  );
  const user = userOf(service);
  const line = 'tryouts set-status --status pending --to rejected --yes --concurrency 1';
  await user.run(line);
  isDown = false;
  service.kept.set('app_3', application('app_3'));
  await user.run(line);
  const shown = async (words: string) => {
    const own = { ...service.env, NO_COLOR: '1' };
    const { shown: text } = await converse(user.home, words.split(' '), [], own, 80);
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
      'Run +State +Started +Done +Conflict +Failed +Profile +Action',
      `${first} +replaced +${started} +1 +0 +0 +default +tryouts\\.set-status`,
      `${second} +finished +${started} +2 +0 +0 +default +tryouts\\.set-status`,
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
  expect(text).toMatch(/^tryouts set-status, \d+ \w{3} \d{4}, \d\d:\d\d \S+, profile default, /);
  expect(text).toContain(': replaced');
});
