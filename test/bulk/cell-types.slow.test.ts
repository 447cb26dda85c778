import { describe, expect, test } from 'vitest';
import { application, keep, written } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { startRosterctl, temporaryFolder } from '../support/run.js';
import { type Recorded, recordingService } from '../support/service.js';
import { report, userInside, userOf } from './user.js';

// How values other than text survive a spreadsheet and -F, as the service sees it.

const stamp = '2026-03-01T10:00:00Z';
const player = {
  id: 'p1',
  organizationId: 'org_7',
  name: 'Ann',
  age: 17,
  active: true,
  tags: ['legal', 'travel'],
  gamerTags: [
    { game: 'cs2', gamerTag: 'fx', verified: true },
    { game: 'chess', gamerTag: 'e4', verified: false },
  ],
  odd: '=1\u0000\ud800',
  createdAt: stamp,
  updatedAt: stamp,
};

/** A service with that player, which stores what it receives. */
async function onePlayer() {
  let kept: object = player;
  const service = await recordingService(({ method, url, body }: Recorded) => {
    if (method === 'PATCH') kept = { ...kept, ...(JSON.parse(body.toString()) as object) };
    return { status: 200, json: url.includes('/p1') ? kept : { players: [kept], total: 1 } };
  });
  return { service, user: userInside(service) };
}

describe('an exported player', () => {
  test('comes back unchanged, and nothing is sent', async () => {
    const { service, user } = await onePlayer();
    const { stdout } = await user.run('players list -o csv');
    const ran = await user.run('players update --csv - --yes --json', stdout);
    expect([ran.code, report(ran).summary]).toMatchObject([0, { total: 1, unchanged: 1 }]);
    expect(written(service)).toEqual([]);
  });

  test('comes back with only the changed cells, each with its type, sent as entire top-level fields', async () => {
    const { service, user } = await onePlayer();
    const { stdout } = await user.run('players list -o csv');
    const edited = stdout
      .replace(',17,', ',18,')
      .replace(',true,', ',FALSE,')
      .replace('legal;travel', 'legal;visa;photo')
      .replace(',e4,', ',d4,');
    const ran = await user.run('players update --csv - --yes --json', edited);
    expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 1 }]);
    expect(written(service)).toEqual([
      {
        age: 18,
        active: false,
        tags: ['legal', 'visa', 'photo'],
        gamerTags: [player.gamerTags[0], { ...player.gamerTags[1], gamerTag: 'd4' }],
      },
    ]);
  });
});

test.each([
  ['-F tags.0=x', { tags: ['x', 'travel'] }],
  ['-f tags.1=7', { tags: ['legal', '7'] }],
  [
    '-F gamerTags.1.verified=true',
    { gamerTags: [player.gamerTags[0], { ...player.gamerTags[1], verified: true }] },
  ],
])('players update %s changes that element of the existing list', async (flag, body) => {
  const { service, user } = await onePlayer();
  const ran = await user.run(`players update p1 ${flag} --yes --json`);
  expect(ran.code).toBe(0);
  expect(written(service)).toEqual([body]);
});

test.each([
  ['tags.2=x', 'There is no tags.2: tags has 2 elements.'],
  ['gamerTags.game=x', 'gamerTags is a list. Name an element, such as gamerTags.0.'],
  ['name.first=x', 'There is no name.first: name is neither an object nor a list.'],
])('players update -F %s is refused, and nothing is sent', async (word, sentence) => {
  const { service, user } = await onePlayer();
  const ran = await user.run(`players update p1 -F ${word} --yes`);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(sentence)]);
  expect(written(service)).toEqual([]);
});

test('an unedited note with a NUL is left unchanged', async () => {
  const service = await keep([
    application('app_1', { internalNotes: 'a\u0000b' }),
    application('app_2', { internalNotes: 'c' }),
  ]);
  const user = userInside(service);
  const { stdout } = await user.run('tryouts list -o csv');
  const ran = await user.run('tryouts update --csv - --yes --json', stdout.replace(',c,', ',d,'));
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 1, unchanged: 1 }]);
  expect(written(service)).toEqual([{ organizationId: 'org_7', internalNotes: 'd' }]);
});

test('every invalid line is listed on its own line before anything is sent', async () => {
  const service = await keep([application('app_1')]);
  const user = userInside(service);
  const rows = 'id,status\napp_1,acepted\napp_2,accepted\napp_3,#N/A\n';
  const ran = await user.run('tryouts set-status --csv - --yes', rows);
  expect([ran.code, service.requests]).toEqual([2, []]);
  const [first, second, third] = ran.stderr.split('\n');
  expect(first).toContain('2 lines cannot be used.');
  expect(second).toMatch(/^Line 2: status holds "acepted"/);
  expect(third).toMatch(/^Line 4: status holds the spreadsheet error #N\/A/);
});

describe('letters in another Unicode normalization are the same text', () => {
  const composed = 'Z\u00fcrich';
  const apart = 'Zu\u0308rich';
  const tag = { id: 't', game: apart, gamerTag: 'x', createdAt: stamp, updatedAt: stamp };

  test.each([
    ['--game', composed.toUpperCase()],
    ['--form', `${composed}=${composed}`],
    ['--search', composed],
    ['--where', `name=${composed}`],
  ])('in %s', async (flag, value) => {
    const other = application('app_2', { name: 'Bern' });
    const fields = { name: apart, gamerTags: [tag], formResponses: { [apart]: apart } };
    const service = await keep([application('app_1', fields), other]);
    const ran = await userInside(service).run(`tryouts list -o ids ${flag} ${value}`);
    expect([ran.code, ran.stdout]).toEqual([0, 'app_1\n']);
  });

  test('in --if', async () => {
    const service = await keep([application('app_1', { name: apart }), application('app_2')]);
    const line = `tryouts set-status app_1 app_2 --to reviewing --if name=${composed} --yes --json`;
    const ran = await userOf(service).run(line);
    expect(report(ran).summary).toMatchObject({ changed: 1, skipped: 1 });
  });

  test('in --tag of documents', async () => {
    const home = temporaryFolder();
    const run = (line: string) => inProcess(`-p sandbox ${line}`, { home });
    const [id = ''] = (await run('docs list -o ids')).stdout.split('\n');
    expect((await run(`docs update ${id} --tag ${apart} --yes`)).code).toBe(0);
    expect((await run(`docs list --tag ${composed} -o ids`)).stdout).toBe(`${id}\n`);
  });
});

test('a signal immediately stops writing a table of many columns', async () => {
  const wide = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`c${index}`, index]),
  );
  const many = Array.from({ length: 400 }, (_, index) => application(`app_${index}`, wide));
  const service = await keep(many);
  const home = temporaryFolder();
  const child = startRosterctl('tryouts list -o csv', { home, env: service.env });
  let size = 0;
  const ended = new Promise<[number | null, string]>((resolve) => {
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('close', (code) => resolve([code, stderr]));
  });
  child.stdout.once('data', () => child.kill('SIGINT'));
  child.stdout.on('data', (chunk: Buffer) => (size += chunk.length));
  const [code] = await ended;
  expect(code).toBe(130);
  expect(size).toBeLessThan(many.length * JSON.stringify(wide).length * 0.5);
});
