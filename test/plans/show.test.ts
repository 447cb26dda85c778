/** What `plan show` tells a person who has to agree to a plan. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

/** Plans a change of the sandbox, and returns the lines of its page at a terminal of 100 columns. */
async function shown(
  line: string,
  home = temporaryFolder(),
  run: typeof rosterctl = rosterctl,
): Promise<readonly string[]> {
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(home, name), name);
  writeFileSync(join(home, 'roster.csv'), 'name,email\nNew One,n1@example.org\n');
  const made = await run(`-p sandbox ${line} --plan p.json`, { home, cwd: home });
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('written to p.json')]);
  return page(home, run);
}

async function page(home: string, run: typeof rosterctl = rosterctl): Promise<readonly string[]> {
  const env = { ROSTERCTL_FORCE_TTY: '100' };
  const { stdout } = await run('-p sandbox plan show p.json', { home, cwd: home, env });
  return stdout.split('\n');
}

test.each([
  [
    'tryouts convert app_0061 -F teamId=team_0001',
    ['app_0061  Mirembe Dorsk  convert to a player, Team team_0001'],
  ],
  [
    'players delete player_0001 player_0002',
    ['player_0001  Nimbus Kite  delete', 'player_0002  Tarn Ember   delete'],
  ],
  [
    'docs upload a.txt b.txt --tag x --tag y',
    [
      'a.txt  upload as a.txt, tags x, y (text/plain, 5 B)',
      'b.txt  upload as b.txt, tags x, y (text/plain, 5 B)',
    ],
  ],
  [
    'players import roster.csv --key email',
    ['email:n1@example.org  new: Name New One, E-mail n1@example.org'],
  ],
  [
    "players update player_0001 -F role=IGL --route 'PUT /players/{id}'",
    ['Route        PUT /players/{id}', 'player_0001  Nimbus Kite  Role Duelist → IGL'],
  ],
])('%s', async (line, lines) => {
  expect(await shown(line, temporaryFolder(), inProcess)).toEqual(expect.arrayContaining(lines));
});

test('the guards of a plan, what it leaves out and adds, and the run that applied it', async () => {
  const home = temporaryFolder();
  const guards = "--if-status pending,reviewing --if 'name!=Zed'";
  const ids = 'app_0020 app_0021 app_0061';
  const change = `tryouts set-status ${ids} --to accepted --append-note good ${guards}`;
  expect(await shown(change, home)).toEqual(
    expect.arrayContaining([
      'Only if      the status is pending or reviewing, name!=Zed',
      'Left out     1 skipped',
      'Applied      not on this machine',
      expect.stringMatching(/^app_0020 .*pending → accepted, note added: \d{4}-\d\d-\d\d: good$/),
    ]),
  );
  expect((await rosterctl('-p sandbox plan apply p.json --yes', { home })).code).toBe(0);
  expect(await page(home)).toContainEqual(
    expect.stringMatching(/^Applied {6}by run \S+, .*: finished$/),
  );
});
