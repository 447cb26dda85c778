import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rosterctl, temporaryFolder } from '../support/run.js';

test('lists fill the completion cache, also with --limit', async () => {
  const home = temporaryFolder();
  const ids = () => rosterctl('__complete id:teams -- -p sandbox teams get', { home });
  expect((await ids()).stdout).toBe('');
  await rosterctl('-p sandbox teams list --limit 2 -o ids', { home });
  expect((await ids()).stdout.split('\n').slice(0, 2)).toEqual([
    'team_0001\tFalkenmoor Vanguard',
    'team_0002\tLanternfish',
  ]);
  await rosterctl('-p sandbox teams list', { home });
  expect((await ids()).stdout.trimEnd().split('\n').length).toBe(6);
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
