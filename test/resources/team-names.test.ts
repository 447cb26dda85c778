import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { listService, recordingService } from '../support/service.js';

const team = { id: 'team_1', name: 'Lanternfish' };
const player = { id: 'p_1', name: 'Mira Kite', teamIds: ['team_1'] };
const lists = { teams: [team], players: [player] };

/** What a terminal shows, and the lists that were asked for. */
async function asked(line: string, options: { readonly home: string; readonly lists?: object }) {
  const service = await listService(options.lists ?? lists);
  const own = { ...service.env, NO_COLOR: '1' };
  const { shown } = await converseInside(options.home, line.split(' '), [], own);
  return { shown, paths: service.requests.map(({ url }) => url.split('/')[2]) };
}

test.each(['players list', 'person p_1'])('%s shows a person the names of teams', async (line) => {
  const home = temporaryFolder();
  const { shown, paths } = await asked(line, { home });
  expect(shown).toContain('Lanternfish');
  expect(paths.filter((path) => path === 'teams')).toHaveLength(1);
});

test('the teams are listed once for names, and then remembered', async () => {
  const home = temporaryFolder();
  const service = await listService(lists);
  const own = { ...service.env, NO_COLOR: '1' };
  await converse(home, ['players', 'list'], [], own);
  const before = service.requests.length;
  const { shown } = await converse(home, ['players', 'list'], [], own);
  expect(shown).toContain('Lanternfish');
  expect(service.requests.slice(before).map(({ url }) => url)).toEqual(['/v1/players/org_7']);
});

test('teams that a list has shown are not listed again for names, even if it may be incomplete', async () => {
  const home = temporaryFolder();
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: url.includes('/teams') ? { teams: [team], total: 9 } : { players: [player] },
  }));
  const own = { ...service.env, NO_COLOR: '1' };
  await converseInside(home, ['teams', 'list'], [], own);
  const before = service.requests.length;
  const { shown } = await converseInside(home, ['players', 'list'], [], own);
  expect(shown).toContain('Lanternfish');
  expect(service.requests.slice(before).map(({ url }) => url)).toEqual(['/v1/players/org_7']);
});

test('the teams are listed although some names were written here, which are remembered', async () => {
  const home = temporaryFolder();
  const say = async (line: string) =>
    (await converseInside(home, sandbox(line), [], { NO_COLOR: '1' }, 120)).shown;
  await say('teams update team_0001 --name Altair');
  const first = await say('players list');
  expect(first).toContain('Altair');
  expect(first).toContain('Lanternfish');
  await say('teams update team_0002 --name Kelp');
  expect(await say('players list')).not.toContain('Lanternfish');
  await say('teams create --name Reef');
  writeFileSync(join(home, 'teams.csv'), 'name\nFjord\n');
  await say(`teams import ${join(home, 'teams.csv')} --key name --yes`);
  const placed = await say(
    'players update player_0013 -F teamIds[]=team_0007 -F teamIds[]=team_0008',
  );
  expect(placed).toContain('+Reef (team_0007) +Fjord (team_0008)');
  await inProcess(sandbox('teams create --name Skerry'), { home, cwd: home });
  await say('players update player_0013 -F teamIds[]=team_0009');
  expect(await say('players list')).toContain('team_0009');
  await say('teams list');
  expect(await say('players list')).toContain('Skerry');
});

test('a pipe asks for no teams, nor does a list without them', async () => {
  const service = await listService(lists);
  for (const line of ['players list', 'players list --json', 'person p_1 --json'])
    await inProcess(line, { env: service.env });
  const forced = { ...service.env, ROSTERCTL_FORCE_TTY: '100' };
  expect((await inProcess('players list', { env: forced })).stdout).toContain('team_1');
  expect(service.requests.filter(({ url }) => url.includes('teams'))).toEqual([]);
  const bare = { players: [{ id: 'p_1', name: 'Mira Kite' }] };
  expect((await asked('players list', { home: temporaryFolder(), lists: bare })).paths).toEqual([
    'players',
  ]);
});

test('ids stay where the teams may not be read', async () => {
  const teams = { status: 403, json: { error: 'forbidden' } };
  const home = temporaryFolder();
  const { shown } = await asked('players list', { home, lists: { ...lists, teams } });
  expect(shown).toContain('team_1');
  expect(shown).not.toContain('forbidden');
});

test('a run names its record to a person who never listed it', async () => {
  const home = temporaryFolder();
  let kept = { ...player, role: 'Sub' };
  const service = await recordingService(({ method, body }) => {
    if (method === 'PATCH') kept = { ...kept, ...(JSON.parse(body.toString()) as object) };
    return { status: 200, json: kept };
  });
  const own = { ...service.env, NO_COLOR: '1' };
  await converseInside(home, ['players', 'update', 'p_1', '-F', 'role=Coach'], [], own);
  const { shown } = await converseInside(home, ['runs', 'list', '--all'], [], own, 40);
  expect(shown).toContain('players update: Mira');
});

test('a backup names the teams of a player by its own list', async () => {
  const home = temporaryFolder();
  const service = await listService(lists);
  const env = { ...service.env, NO_COLOR: '1' };
  await rosterctl('backup create kept --only teams,players', { home, env, cwd: home });
  const show = ['backup', 'show', 'kept', 'p_1'];
  expect((await converseInside(home, show, [], env)).shown).toContain('Lanternfish (team_1)');
  const piped = await rosterctl(`${show.join(' ')} --json`, { home, env, cwd: home });
  expect(JSON.parse(piped.stdout)).toEqual(player);
});

test('what changed since a backup names the teams to a person, and a pipe keeps their ids', async () => {
  const home = temporaryFolder();
  const at = { home, cwd: home };
  const kept = join(home, 'kept');
  await inProcess(sandbox(`backup create ${kept} --only teams,players`), at);
  const change = '-F teamIds[]=team_0001 -F teamIds[]=team_0002 --yes';
  await inProcess(sandbox(`players update player_0013 ${change}`), at);
  const diff = sandbox(`backup diff ${kept} live`);
  const { shown } = await converseInside(home, diff, [], { NO_COLOR: '1' }, 120);
  expect(shown).toContain(
    'Teams: Cobalt Herons (team_0003) → Falkenmoor Vanguard (team_0001), Lanternfish (team_0002)',
  );
  expect((await inProcess(diff, at)).stdout).toContain('team_0001;team_0002');
});

const sandbox = (line: string) => ['-p', 'sandbox', ...line.split(' ')];

test('a change of teams names them wherever a person reads it, and a pipe keeps their ids', async () => {
  const home = temporaryFolder();
  const say = async (line: string, answers: readonly (readonly [RegExp, string])[] = []) =>
    (await converseInside(home, sandbox(line), answers, { NO_COLOR: '1' }, 120)).shown;
  await say('teams list');
  const change = '-F teamIds[]=team_0002 -F role=IGL';
  const teams = 'Teams +Lanternfish (team_0002) -Cobalt Herons (team_0003)';
  const one = `players update player_0013 ${change}`;
  expect(await say(`${one} --dry-run`)).toContain(teams);
  const many = await say(`players update player_0013 player_0004 ${change}`, [
    [/Change 2 players\?/, 'y\r'],
  ]);
  expect(many).toContain(`Amaru Eastmere  ${teams}`);
  expect(await say('runs show last')).toContain(teams);
  const back = 'Teams +Cobalt Herons (team_0003) -Lanternfish (team_0002)';
  expect(await say('runs undo last --only player_0013')).toContain(back);
  const piped = await inProcess(sandbox(`${one} --json`), { home, cwd: home });
  expect(JSON.parse(piped.stdout)).toMatchObject({ teamIds: ['team_0002'] });
  const ids = await inProcess(sandbox('runs show last'), { home, cwd: home });
  expect(ids.stdout).not.toContain('Lanternfish');
});

test('the question of a conversion, the dry run of a create and a plan name teams to a person', async () => {
  const home = temporaryFolder();
  const say = async (line: string, answers: readonly (readonly [RegExp, string])[] = []) =>
    (await converseInside(home, sandbox(line), answers, { NO_COLOR: '1' }, 120)).shown;
  await say('teams list');
  const named = 'Lanternfish (team_0002)';
  const convert = 'tryouts convert app_0061 -F teamId=team_0002 -F role=IGL';
  expect(await say(convert, [[/to a player/, 'n\r']])).toContain(
    `to a player with teamId=${named}, role=IGL?`,
  );
  expect(await say('players create --name Zed -F teamIds[]=team_0002 -n')).toContain(
    `Teams ${named}`,
  );
  await say(`${convert} --plan ${join(home, 'p.json')}`);
  expect(await say(`plan show ${join(home, 'p.json')}`)).toContain(
    `convert to a player, Team ${named}, Role IGL`,
  );
  const { stdout } = await inProcess(sandbox('plan show p.json --json'), { home, cwd: home });
  expect(JSON.parse(stdout)).toMatchObject({ rows: [{ after: { teamId: 'team_0002' } }] });
});

test('the name that a conversion gives to the player is not remembered as that of the application', async () => {
  const home = temporaryFolder();
  const say = async (line: string) =>
    (await converseInside(home, sandbox(line), [], { NO_COLOR: '1' }, 120)).shown;
  await say('tryouts convert app_0022 -F name=Zed --yes');
  expect(await say('runs list --all')).toContain('tryouts convert: Maximiliana');
});
