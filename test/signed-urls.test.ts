import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fast, report, until, userOf } from './bulk/user.js';
import { inProcess } from './support/in-process.js';
import { closed } from './support/run.js';
import { organization, type Recorded, type Reply, recordingService } from './support/service.js';

// A service that signs the picture of each player anew for each answer, as those do that keep their
// pictures in a private store. Nobody has changed anything.

type Player = { readonly id: string; readonly name: string; readonly [field: string]: unknown };

async function signing(instead: (request: Recorded) => Reply | undefined = () => undefined) {
  const players = new Map(
    ['p1', 'p2', 'p3'].map((id): [string, Player] => [id, { id, name: `Player ${id}` }]),
  );
  let answers = 0;
  const signed = (player: Player) => {
    const query = `X-Amz-Date=20261127T000000Z&X-Amz-Signature=${++answers}`;
    return { avatarUrl: `https://pictures.example/${player.id}.png?${query}`, ...player };
  };
  const service = await recordingService((request) => {
    const reply = instead(request);
    if (reply) return reply;
    const { method, url, body } = request;
    if (url === `/v1/players/${organization}`)
      return {
        status: 200,
        json: { players: [...players.values()].map(signed), total: players.size },
      };
    const id = url.split('/').at(-1) ?? '';
    const player = players.get(id);
    if (!player) return { status: 404, json: { error: 'notFound', message: 'No such player.' } };
    if (method === 'DELETE') players.delete(id);
    if (method === 'PATCH')
      players.set(id, { ...player, ...(JSON.parse(body.toString()) as object) });
    return { status: 200, json: signed(players.get(id) ?? player) };
  });
  const { home, run: start, start: begin } = userOf(service);
  const env = { ...service.env, ...fast };
  const run = (line: string) => inProcess(line, { home, cwd: home, env });
  await run('config set paging.mode none');
  const writes = () => service.requests.filter(({ method }) => method !== 'GET');
  return { players, user: { home, run }, start, begin, writes };
}

test('a CSV that was exported changes only the edited cell', async () => {
  const { user, start, writes } = await signing();
  const file = join(user.home, 'x.csv');
  await start(`players list -o csv --out ${file}`);
  writeFileSync(file, readFileSync(file, 'utf8').replace('Player p2', 'Ann'));
  const ran = await start(`players update --csv ${file} --yes --json`);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 1, unchanged: 2 }]);
  expect(writes().map(({ body }): unknown => JSON.parse(body.toString()))).toMatchObject([
    { name: 'Ann' },
  ]);
});

test('an edited picture is sent, whether it is signed or not', async () => {
  const { user, players } = await signing();
  const file = join(user.home, 'x.csv');
  const own = 'https://pictures.example/new.png';
  writeFileSync(
    file,
    `id,avatarUrl\np1,${own}\np2,${own}?sig=1\np3,https://pictures.example/p3.png\n`,
  );
  expect(await user.run(`players update --csv ${file} --yes`)).toMatchObject({ code: 0 });
  expect([...players.values()].map(({ avatarUrl }) => avatarUrl)).toEqual([
    own,
    `${own}?sig=1`,
    'https://pictures.example/p3.png',
  ]);
});

test('an edited picture that a killed run has sent is reported as it was sent', async () => {
  let isSent = false;
  const { user, players, begin } = await signing(({ method, body, url }) => {
    if (method !== 'PATCH' || isSent) return undefined;
    const id = url.split('/').at(-1) ?? '';
    const sent = JSON.parse(body.toString()) as object;
    players.set(id, { ...(players.get(id) as Player), ...sent });
    isSent = true;
    return () => {};
  });
  const file = join(user.home, 'x.csv');
  const own = 'https://pictures.example/new.png';
  writeFileSync(file, `id,avatarUrl\np1,${own}\np2,${own}\n`);
  const child = begin(`players update --csv ${file} --yes --concurrency 1`);
  const ended = closed(child);
  await until(() => isSent);
  child.kill('SIGKILL');
  await ended;
  const resumed = await user.run('runs resume last --yes --json');
  expect(report(resumed).results).toMatchObject([
    { id: 'p1', result: 'changed', after: { avatarUrl: own } },
    { id: 'p2', result: 'changed', after: { avatarUrl: own } },
  ]);
});

test('another version of a signed picture is sent', async () => {
  const { user, players } = await signing();
  const file = join(user.home, 'x.csv');
  const other = 'https://pictures.example/p1.png?versionId=2&X-Amz-Signature=1';
  writeFileSync(file, `id,avatarUrl\np1,${other}\n`);
  expect(await user.run(`players update --csv ${file} --yes`)).toMatchObject({ code: 0 });
  expect(players.get('p1')?.avatarUrl).toBe(other);
});

test('a player is deleted although it is read again after a wait', async () => {
  let isFirst = true;
  const { user } = await signing(({ method }) => {
    if (method !== 'DELETE' || !isFirst) return undefined;
    isFirst = false;
    return { status: 429, headers: { 'retry-after': '3' }, json: { error: 'rateLimited' } };
  });
  const ran = await user.run('players delete p1 p2 --yes --expect 2 --retries 1 --json');
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 2 }]);
});

test('a planned deletion is applied, unless any field was changed since', async () => {
  const { user, players } = await signing();
  await user.run('players delete p1 p2 --plan p.json');
  await user.run('players delete p3 --plan q.json');
  players.set('p3', { id: 'p3', name: 'Player p3', role: 'captain' });
  expect((await user.run('plan apply q.json --yes')).code).toBe(11);
  expect((await user.run('plan apply p.json --yes --expect 2')).code).toBe(0);
  expect([...players.keys()]).toEqual(['p3']);
});

test('a backup differs in nothing, and nothing is new since the last list', async () => {
  const { user } = await signing();
  await user.run('backup create b --only players');
  const differences = await user.run('backup diff b live --json --exit-code');
  expect([differences.code, JSON.parse(differences.stdout)]).toMatchObject([
    0,
    { differences: [] },
  ]);
  const line = 'players list --since-last seen --changed avatarUrl -o ids';
  await user.run(line);
  expect((await user.run(line)).stdout).toBe('');
});
