import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';
import { recordingService } from '../../support/service.js';

const ann = { id: 'player_1', name: 'Ann', teamId: 'team_1' };
const bea = { id: 'player_2', name: 'Bea', teamIds: ['team_2', 'team_1'] };
const cleo = { id: 'player_3', name: 'Cleo', teams: [{ id: 'team_1', name: 'Foxes' }] };
const dora = { id: 'player_4', name: 'Dora', teamId: null };
const all = [ann, bea, cleo, dora];

function service(players: readonly object[] = all) {
  const deleted = new Set<string>();
  return recordingService(({ method, url }) => {
    const id = url.split('/').at(-1);
    const one = all.find((player) => player.id === id && !deleted.has(player.id));
    if (url === '/v1/players/org_7') return { status: 200, json: players };
    if (method === 'DELETE' && one) deleted.add(one.id);
    if (method === 'DELETE' && one) return { status: 200, json: { success: true } };
    return one ? { status: 200, json: one } : { status: 404, json: { error: 'notFound' } };
  });
}

test('--team finds players by any field that names their team', async () => {
  const { env } = await service();
  const ran = await rosterctl('players list --team team_1 -o ids', { env });
  expect(ran.stdout).toBe('player_1\nplayer_2\nplayer_3\n');
});

test('a table of the players of a team that was named shows names of teams, not ids', async () => {
  const line = '-p sandbox players list --team name:Lanternfish -L 1';
  const { stdout } = await inProcess(line, { env: { ROSTERCTL_FORCE_TTY: '80' } });
  expect(stdout).toContain('  Lanternfish  ');
  expect(stdout).not.toContain('team_0002');
});

test('a dry run with --team caches no names', async () => {
  const home = temporaryFolder();
  const line = '-p sandbox players update --team name:Lanternfish -F role=Sub';
  const ran = await inProcess(`${line} -n`, { home, env: { ROSTERCTL_FORCE_TTY: '80' } });
  expect(ran.code).toBe(0);
  expect(existsSync(join(home, '.cache'))).toBe(false);
});

test.each([
  ['player_0001', 'Nimbus Kite (player_0001) has no field "teamId". Did you mean teamIds?'],
  [
    '--where id=player_0001',
    'Nimbus Kite (player_0001) has no field "teamId". Did you mean teamIds?',
  ],
  ['player_0001 player_0002', 'None of these players has a field "teamId". Did you mean teamIds?'],
])(
  'a field that %s lacks is sent as typed, and the similar one is named before',
  async (ids, says) => {
    const home = temporaryFolder();
    const run = (more: string) =>
      inProcess(`-p sandbox players update ${ids} -F teamId=team_0002 ${more}`, { home });
    const dry = await run('--dry-run');
    expect(dry.stderr).toContain(`${says} It is sent as typed.\n`);
    expect(dry.stdout).toContain('team_0002');
    expect((await run('--yes --quiet')).stderr).toBe('');
    // Now they have it.
    expect((await run('--yes')).stderr).not.toContain('Did you mean');
  },
);

test('a field that is like no other is sent without a word', async () => {
  const line = '-p sandbox players update player_0001 -F nickname=Kit --yes';
  expect((await inProcess(line)).stderr).not.toContain('nickname');
});

test('--team is an error if no player has a field for teams', async () => {
  const nameless = await service([{ id: 'player_1', name: 'Ann' }]);
  const ran = await inProcess('players list --team team_1', { env: nameless.env });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("--where 'FIELD=VALUE'");
});

test('a player is deleted after confirmation, and the question names the player', async () => {
  const api = await service();
  const asked = await rosterctl('players delete player_1', { env: api.env });
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain('Delete player "Ann" (player_1)?');
  expect(asked.stderr).toContain('--yes');
  const done = await rosterctl('players delete player_1 --yes --json', { env: api.env });
  expect([done.code, done.stdout]).toEqual([0, '{"id":"player_1","deleted":true}\n']);
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'DELETE', 'GET']);
});

test('deleting a missing player exits 5', async () => {
  const { env, requests } = await service();
  const ran = await inProcess('players delete player_9 --yes', { env });
  expect(ran.code).toBe(5);
  expect(requests).toHaveLength(1);
});

test('deleting several players shows a preview that names them, then a report', async () => {
  const { env } = await service();
  const ran = await inProcess('players delete player_1 player_2 --yes --expect 2 --json', { env });
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('Ann');
  expect(ran.stderr).toContain('Bea');
  expect(JSON.parse(ran.stdout)).toMatchObject({
    action: 'players.delete',
    summary: { total: 2, changed: 2 },
  });
});

test('a dry run of a delete shows the request and the player', async () => {
  const { env, requests } = await service();
  const ran = await inProcess('players delete player_1 -n --json', { env });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    requests: [{ method: 'DELETE', path: '/players/player_1', basis: 'assumed' }],
    changes: [{ id: 'player_1', from: 'Ann', to: null }],
  });
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
});

test('a created player whose Location is malformed was created all the same', async () => {
  const { env, requests } = await recordingService(({ method }) =>
    method === 'POST'
      ? { status: 201, headers: { location: '/v1/players/100%' } }
      : { status: 404, json: { error: 'notFound' } },
  );
  const ran = await inProcess('players create --name Eve --json', { env });
  expect([ran.code, ran.stdout]).toEqual([0, '{"id":"100%"}\n']);
  expect(ran.stderr).toContain('The player was created, but it could not be read again');
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('a created player whose report was lost is printed whole by the same line', async () => {
  const home = temporaryFolder();
  const line = 'players create --name Zed -p sandbox --json';
  const lost = await rosterctl(line, { home, through: 'exec "$@" > /dev/full' });
  expect(lost.code).toBe(1);
  const again = await rosterctl(line, { home });
  const listed = await rosterctl("players list --where 'name=Zed' -p sandbox --json", { home });
  expect([JSON.parse(again.stdout)]).toEqual(JSON.parse(listed.stdout));
});

test('a created player whose report is still being printed is not that of another process', async () => {
  let made = 0;
  const { env } = await recordingService(({ method }) => {
    if (method === 'POST') made += 1;
    return method === 'POST'
      ? { status: 201, json: { id: `p${made}`, name: 'Zed' } }
      : { status: 404 };
  });
  const home = temporaryFolder();
  const line = 'players create --name Zed --json';
  // Its pipe is full, so that it cannot print anything until the other has ended.
  const done = join(home, 'done');
  const through = `{ head -c 65536 /dev/zero; exec "$@"; } | { while [ ! -e ${done} ]; do sleep 0.1; done; cat; }`;
  const slow = rosterctl(line, { home, env, through });
  const ended = join(home, '.local/state/rosterctl/runs/open');
  const journals = () =>
    existsSync(ended) ? readdirSync(ended).map((run) => join(ended, run, 'journal.jsonl')) : [];
  const hasEnded = () =>
    journals().some((path) => existsSync(path) && readFileSync(path, 'utf8').includes('"end"'));
  while (!hasEnded()) await new Promise((resolve) => setTimeout(resolve, 20));
  const second = await rosterctl(line, { home, env });
  expect([second.code, JSON.parse(second.stdout)]).toMatchObject([0, { id: 'p2' }]);
  writeFileSync(done, '');
  expect((await slow).stdout).toContain('"id":"p1"');
  expect(made).toBe(2);
});

test('a field that no list has shown is refused before a player is created', async () => {
  const home = temporaryFolder();
  const run = (line: string) => inProcess(`-p sandbox ${line}`, { home });
  await run('players list -q');
  const refused = await run('players create --name Zed --fields id,nope');
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('Unknown field "nope".');
  const listed = await run("players list --where 'name=Zed' -o ids");
  expect([listed.code, listed.stdout]).toEqual([0, '']);
  const made = await run(
    'players create --name Zed -F hobby=Chess --fields name,hobby,role --json',
  );
  expect(JSON.parse(made.stdout)).toEqual({ name: 'Zed', hobby: 'Chess', role: null });
});

test('what an error suggests is quoted if it has spaces', async () => {
  const players = [{ id: 'player_1', 'Full name': 'Ann', team: 'Paper Lions' }];
  const { env } = await recordingService(({ url }) => ({
    status: 200,
    json: url.includes('/teams/') ? { id: 'team 1', name: 'Paper Lions' } : players,
  }));
  for (const [line, says] of [
    ["--where 'Fulll name=Ann'", 'Did you mean "Full name"?'],
    ["--fields 'Fulll name'", 'Did you mean "Full name"?'],
    [
      "--team 'team 1'",
      "--team 'team 1': players hold the name of their team, not its id.\nFilter by the name: --where 'team=Paper Lions'\n",
    ],
  ] as const) {
    const ran = await inProcess(`players list ${line}`, { env });
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(says)]);
  }
});
