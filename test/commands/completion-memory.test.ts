import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completeInProcess, inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

test('lists fill the completion cache, also with --limit', async () => {
  const home = temporaryFolder();
  const ids = () => rosterctl(['__complete', '-p', 'sandbox', 'teams', 'get', ''], { home });
  expect((await ids()).stdout).toBe('');
  await rosterctl('-p sandbox teams list --limit 2 -o ids', { home });
  expect((await ids()).stdout.split('\n').slice(1, 3)).toEqual([
    'team_0001\tFalkenmoor Vanguard',
    'team_0002\tLanternfish',
  ]);
  await rosterctl('-p sandbox teams list', { home });
  expect((await ids()).stdout.trimEnd().split('\n').length).toBe(1 + 6);
});

test('lists teach the TAB games, questions, tags and types', async () => {
  const home = temporaryFolder();
  const offered = (...words: string[]) =>
    completeInProcess(['-p', 'sandbox', ...words, ''], { home })
      .split('\n')
      .slice(1, -1);
  await inProcess('-p sandbox tryouts list -o ids', { home });
  await inProcess('-p sandbox docs list -o ids', { home });
  expect(offered('tryouts', 'list', '--game')).toContain('Rocket League');
  expect(offered('report', '--game')).toContain('Rocket League');
  expect(offered('tryouts', 'set-status', '--form')).toContain('Main role=');
  expect(offered('docs', 'list', '--tag')).toContain('contract');
  expect(offered('docs', 'update', '--add-tag')).toContain('contract');
  expect(offered('docs', 'download', '--type')).toContain('image/png');
});

test('a TAB offers the runs of this machine, the newest first', async () => {
  const home = temporaryFolder();
  const names = () => completeInProcess(['runs', 'show', ''], { home }).split('\n').slice(1, -1);
  expect(names()).toEqual([]);
  await inProcess('-p sandbox tryouts set-status app_0005 app_0009 --to reviewing --yes', { home });
  await inProcess('-p sandbox tryouts update app_0005 --status pending --yes', { home });
  const found = names();
  expect(
    found.map((line) => line.replace(/^\d{8}T\d{9}(-1)?-[\da-f]{6}\t|, 2\d{3}-.*/g, '')),
  ).toEqual(['tryouts update, 1 record', 'tryouts set-status, 2 records']);
  const [run = ''] = found;
  const shown = await inProcess(['runs', 'show', run.replace(/\t.*/, '')], { home });
  expect(shown.code).toBe(0);
});

test('completion.cache off writes no cache', async () => {
  const home = temporaryFolder();
  await rosterctl('config set completion.cache off', { home });
  await rosterctl('-p sandbox teams list', { home });
  expect(
    readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes(join('.cache', 'rosterctl')),
    ),
  ).toEqual([]);
});
