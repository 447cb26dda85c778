import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupPage } from '../../src/cli/pages/backup-page.js';
import { newDesk } from '../resources/import/desk.js';

interface Difference {
  readonly resource: string;
  readonly id: string;
  readonly name: string;
  readonly change: string;
  readonly changes: readonly { readonly field: string }[];
}

test('what was destroyed comes back by the lines of the help, and only ids and applications differ', async () => {
  const desk = await newDesk();
  const done = async (line: string) => {
    const ran = await desk.run(line);
    expect([line, ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([line, 0, '']);
    return ran;
  };
  await done('backup create ~/b');
  const [name = ''] = readdirSync(join(desk.home, 'b')).filter((each) => each !== 'files');
  const snapshot = `~/b/${name}`;
  const before = {
    documents: [...desk.books('documents').values()].map(({ sizeBytes, tags }) => [
      sizeBytes,
      tags,
    ]),
  };
  await done('players delete --all --yes --expect 31 -q');
  await done('docs delete --all --yes --expect 14 -q');
  await done('tryouts set-status --status pending --to withdrawn --yes -q');
  await done('tryouts update app_0001 --note Gone --yes');
  await done(`players import ${snapshot}/players.ndjson --key email --yes`);
  await done(`docs upload --manifest ${snapshot}/documents.csv`);
  await done(`backup diff ${snapshot} live --csv ~/back.csv`);
  await done('tryouts set-status --csv ~/back.csv --yes');
  const { differences } = JSON.parse(
    (await done(`backup diff ${snapshot} live --json`)).stdout,
  ) as {
    differences: readonly Difference[];
  };
  const names = (resource: string, change: string) =>
    differences
      .filter((each) => each.resource === resource && each.change === change)
      .map((each) => each.name)
      .toSorted();
  // Each is there again under a new id.
  for (const resource of ['players', 'documents']) {
    expect(names(resource, 'changed')).toEqual([]);
    expect(names(resource, 'added')).toEqual(names(resource, 'removed'));
  }
  expect(names('players', 'added')).toHaveLength(31);
  expect(names('teams', 'changed')).toEqual([]);
  // Of applications, only what the service keeps itself.
  const fields = differences
    .filter(({ resource }) => resource === 'tryouts')
    .flatMap(({ changes }) => changes.map(({ field }) => field));
  expect([...new Set(fields)].toSorted()).toEqual([
    'convertedPlayer.id',
    'convertedPlayer.name',
    'updatedAt',
  ]);
  const after = [...desk.books('documents').values()].map(({ sizeBytes, tags }) => [
    sizeBytes,
    tags,
  ]);
  expect(after).toEqual(expect.arrayContaining(before.documents));
  // The files are those of the first backup: none is stored again.
  const files = () => readdirSync(join(desk.home, 'b', 'files'), { recursive: true }).length;
  const count = files();
  await done('backup create ~/b');
  expect(files()).toBe(count);
});

test('a document that is still there is not uploaded again, whatever spaces its name has', async () => {
  const desk = await newDesk();
  expect((await desk.run(`docs update doc_0001 --name ' Player contract '`)).code).toBe(0);
  await desk.run('backup create ~/b');
  const [name = ''] = readdirSync(join(desk.home, 'b')).filter((each) => each !== 'files');
  const ran = await desk.run(`docs upload --manifest ~/b/${name}/documents.csv`);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('14 skipped')]);
});

test('teams that are gone come back first, and players without them', async () => {
  const desk = await newDesk();
  await desk.run('backup create ~/b --no-files');
  const [name = ''] = readdirSync(join(desk.home, 'b'));
  const team = String(desk.books('teams').get('team_0001')?.['name']);
  expect((await desk.run(`teams delete team_0001 --confirm '${team}'`)).code).toBe(0);
  expect((await desk.run('players delete player_0001 --yes')).code).toBe(0);
  const teams = await desk.run(`teams import ~/b/${name}/teams.ndjson --key name --yes`);
  expect([teams.code, teams.stderr]).toEqual([0, expect.stringContaining('1 new')]);
  const refused = await desk.run(`players import ~/b/${name}/players.ndjson --key email --yes`);
  expect(refused.code).toBe(8);
  const [, flags] =
    /import the players with ([^,]+),/.exec(backupPage.replaceAll(/\s+/g, ' ')) ?? [];
  const players = await desk.report(
    `players import ~/b/${name}/players.ndjson --key email ${flags} --yes`,
  );
  expect(players.rows.filter(({ result }) => result === 'changed')).toMatchObject([
    { after: { name: 'Nimbus Kite', teamIds: [] } },
  ]);
});
