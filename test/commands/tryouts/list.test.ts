import { describe, expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl } from '../../support/run.js';
import { recordingService } from '../../support/service.js';
import { daysAgo } from '../../support/times.js';
import { application, keep, steps } from './service.js';

const tag = (game: string) => ({
  id: `tag_${game}`,
  game,
  gamerTag: 'Kite#DEMO',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
});

const service = await keep([
  application('app_old', {
    status: 'rejected',
    submittedAt: daysAgo(90),
    updatedAt: daysAgo(1),
    gamerTags: [tag('Chess')],
    internalNotes: 'Nervous',
  }),
  application('app_spring', {
    status: 'reviewing',
    submittedAt: '2026-03-15T23:30:00Z',
    updatedAt: '2026-03-15T23:30:00Z',
    formResponses: {
      'Rank (2.0)?': 'Gold',
      'a=b': 'yes',
      age: 17,
      roles: ['IGL', 'Flex'],
      Travels: true,
    },
  }),
  application('app_new', {
    submittedAt: daysAgo(1),
    updatedAt: daysAgo(1),
    gamerTags: [tag('Valorant'), tag('Chess')],
    internalNotes: '  ',
  }),
  application('app_player', {
    status: 'accepted',
    convertedPlayerId: 'player_9',
    submittedAt: daysAgo(20),
    updatedAt: daysAgo(20),
  }),
]);

const list = (flags: string) => inProcess(`tryouts list ${flags}`, { env: service.env });
const cut = expect.stringMatching(/^Showing (?:the first [23]|1) of 4 applications\.\n$/);
const idsOf = async (flags: string) => {
  const ran = await list(`${flags} -o ids`);
  expect(ran).toMatchObject({ code: 0, stderr: flags.includes('--limit') ? cut : '' });
  return ran.stdout.split('\n').filter((line) => line !== '');
};

test.each([
  ['', ['app_old', 'app_spring', 'app_new', 'app_player']],
  ['--status pending', ['app_new']],
  ['--status pending,rejected --status accepted', ['app_old', 'app_new', 'app_player']],
  ['--not-status pending,rejected', ['app_spring', 'app_player']],
  ['--game chess', ['app_old', 'app_new']],
  ['--game Valorant --game Go', ['app_new']],
  ["--form 'Rank (2.0)?=Gold'", ['app_spring']],
  ["--form 'a=b=yes'", ['app_spring']],
  ['--form Travels=Yes', ['app_spring']],
  ['--form Travels=true', ['app_spring']],
  ['--form Travels=no', []],
  ['--form age=17.0', ['app_spring']],
  ['--form roles=Flex', ['app_spring']],
  ['--form roles=Duelist', []],
  ['--since 7d', ['app_new']],
  ['--since 2026-03-16 --until 2026-03-16', []],
  ['--since 2026-03-15 --until 2026-03-15', ['app_spring']],
  ['--since 2026-03-15T23:30Z --until 2026-03-15T23:30Z', ['app_spring']],
  ['--older-than 60d --where updatedAt!=x --search nervous', ['app_old']],
  ['--older-than 0d', ['app_old', 'app_spring', 'app_new', 'app_player']],
  ['--updated-since 2d', ['app_old', 'app_new']],
  ['--converted', ['app_player']],
  ['--unconverted --status accepted', []],
  ['--with-notes', ['app_old']],
  ['--without-notes --not-status reviewing,accepted', ['app_new']],
  ["--where 'gamerTags.game=Valorant'", ['app_new']],
  ["--where 'internalNotes!=null' --where status=rejected", ['app_old']],
  ['--sort name --limit 2', ['app_new', 'app_old']],
  ['--sort submittedAt:desc --limit 1', ['app_new']],
])('the filters %s', async (flags, expected) => {
  expect(await idsOf(flags)).toEqual(expected);
});

describe('applications without a readable time', async () => {
  const recent = { submittedAt: daysAgo(1) };
  const { env } = await keep([
    application('app_dated', recent),
    application('app_undated', { submittedAt: '' }),
    application('app_unread', { submittedAt: 'in spring' }),
    application('app_rejected', { submittedAt: 'in spring', status: 'rejected' }),
  ]);

  test.each([
    ['list --since 7d --status pending -o ids', 'app_dated\n'],
    ['list --since 7d --until yesterday --status pending -o ids', 'app_dated\n'],
    ['list --older-than 1h --without-notes --status pending -o ids -q', 'app_dated\n'],
    ['set-status --since 7d --status pending --to reviewing -n -q -o ids', 'app_dated\n'],
  ])('are counted on stderr: tryouts %s', async (line, stdout) => {
    const flag = line.includes('--since') ? '--since' : '--older-than';
    const ran = await inProcess(`tryouts ${line}`, { env });
    expect([ran.code, ran.stdout]).toEqual([0, stdout]);
    expect(ran.stderr).toBe(
      `2 applications without a readable submittedAt are left out by ${flag}.\n`,
    );
  });
});

test('prints a bare array of the records as the service sent them', async () => {
  const ran = await rosterctl('tryouts list --status rejected --json', { env: service.env });
  expect(JSON.parse(ran.stdout)).toEqual([service.kept.get('app_old')]);
  expect(JSON.parse((await list('--game Go --json')).stdout)).toEqual([]);
});

test('a time without a zone is read as local, with a note once', async () => {
  const times = ['2026-11-01T10:00:00', '2026-11-01 10:00:00.123', '2026-11-01T10:00:00+00:00'];
  const { env } = await recordingService(() => ({
    status: 200,
    json: times.map((submittedAt, n) => ({ ...application(`app_${n}`), submittedAt })),
  }));
  const line = 'tryouts list --since 2026-11-01T12:00Z -o ids';
  const ran = await rosterctl(line, { env: { ...env, TZ: 'America/New_York' } });
  expect([ran.code, ran.stdout]).toEqual([0, 'app_0\napp_1\n']);
  expect(ran.stderr).toBe(
    'GET /tryout-applications: submittedAt: a time without a time zone, read as local time (if it is UTC, set TZ=UTC)\n',
  );
});

test('a bare date is a day in local time, not in UTC', async () => {
  const env = { ...service.env, TZ: 'Asia/Tokyo' };
  const on = (day: string) =>
    rosterctl(`tryouts list --since ${day} --until ${day} -o ids`, { env });
  expect((await on('2026-03-16')).stdout).toBe('app_spring\n');
  expect((await on('2026-03-15')).stdout).toBe('');
});

test.each([
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  // The clocks skip the first hour of this day, and repeat that of the other one.
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
])('in %s, %s lasts from %s until %s', async (TZ, day, from, until) => {
  const times = [from, until].flatMap((time) => [
    new Date(Date.parse(time) - 1).toISOString(),
    time,
  ]);
  const { env } = await recordingService(() => ({
    status: 200,
    json: times.map((submittedAt, n) => ({ ...application(`app_${n}`), submittedAt })),
  }));
  const ran = (flags: string) => rosterctl(`tryouts list ${flags} -o ids`, { env: { ...env, TZ } });
  const [since, where] = await Promise.all([
    ran(`--since ${day} --until ${day}`),
    ran(`--where submittedAt>=${day} --where submittedAt<=${day}`),
  ]);
  expect([since.stdout, where.stdout]).toEqual(['app_1\napp_2\n', 'app_1\napp_2\n']);
});

const weekday = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toLocaleDateString('en', { weekday: 'long' });

describe('a mistake', () => {
  // Hours before midnight make no difference: the last day of such a name is as far from the other.
  const [today, yesterday] = [weekday(0), weekday(1)];
  test.each([
    ['--status acepted', 'accepted'],
    ['--not-status pendng', 'pending'],
    ['--where status', 'operator'],
    ["--where '=x'", 'field before'],
    ['--since soon', 'not a date'],
    ['--until 2026-02-30', 'not a date'],
    ['--older-than 60', 'no unit'],
    ['--updated-since ""', 'not a date'],
    ['--form question', 'question=answer'],
    ['--limit 0', 'whole number'],
    ['--sort name:up', 'name:asc'],
    ['--search ""', 'empty'],
    ['--game ""', 'empty'],
    ['--since 2026-03-16 --until 2026-03-15', '--since is later than --until'],
    ['--since 1d --until 2d', '--since is later than --until'],
    [`--since ${today} --until ${yesterday}`, 'Swap the two, or write dates.'],
    ['--converted --unconverted', 'together'],
    ['--with-notes --without-notes', 'together'],
    ['--statsu pending', '--status'],
  ])('%s is rejected before any request', async (flags, sentence) => {
    const before = service.requests.length;
    const ran = await list(`${flags} --json`);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(ran.stderr).toContain(sentence);
    expect(service.requests.length).toBe(before);
  });

  test.each(['--where', '--sort', '--form'])(
    'in a field name of %s suggests the nearest one and prints nothing',
    async (flag) => {
      const [word, near] = {
        '--where': ["'formResponses.agee!=1'", 'formResponses.age'],
        '--sort': ['nmae', 'name'],
        '--form': ["'agee=17'", 'Did you mean: --form age=17'],
      }[flag] ?? ['', ''];
      const ran = await list(`${flag} ${word} -o ndjson`);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(`${String(errorOf(ran)['message'])} ${String(errorOf(ran)['hint'])}`).toContain(near);
    },
  );

  test('in a comparison names the record', async () => {
    const ran = await list("--where 'name>7' --json");
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)['message']).toContain('name of app_old is "Applicant app_old"');
  });
});

test.each([
  [400, 'invalidRequest', 3],
  [401, 'invalidApiKey', 4],
  [403, 'forbidden', 7],
  [404, 'gone', 5],
])('a list response of %i ends with its exit code', async (status, error, code) => {
  const refusing = await recordingService(() => ({ status, json: { error } }));
  const ran = await inProcess('tryouts list --json', { env: refusing.env });
  expect(ran).toMatchObject({ code, stdout: '' });
  expect(errorOf(ran)).toMatchObject({ code: error, status, exitCode: code });
});

const get = (ids: string) => inProcess(`tryouts get ${ids} --json`, { env: service.env });

describe('get', () => {
  test('of one id prints the object', async () => {
    const { stdout } = await rosterctl('tryouts get app_new --json', { env: service.env });
    expect(JSON.parse(stdout)).toEqual(service.kept.get('app_new'));
  });

  test('of several prints those found in the requested order and reports the missing ones', async () => {
    const ran = await get('app_new nobody app_old');
    expect(ran.code).toBe(5);
    const found = JSON.parse(ran.stdout) as { id: string }[];
    expect(found.map(({ id }) => id)).toEqual(['app_new', 'app_old']);
    expect(ran.stderr).toContain('The application nobody was not found.');
  });

  test('of one that is missing prints nothing', async () => {
    const ran = await get('nobody');
    expect(ran).toMatchObject({ code: 5, stdout: '' });
    const hint = 'To search: rosterctl tryouts list --search nobody';
    expect(errorOf(ran)).toMatchObject({ status: 404, hint });
  });

  test.each(['.', '..', '', 'a\tb'])('rejects the id "%s" before any request', async (id) => {
    const before = service.requests.length;
    const ran = await inProcess(['tryouts', 'get', id, '--json'], { env: service.env });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(service.requests.length).toBe(before);
  });

  test('stops at any other error response', async () => {
    const refusing = await keep([application('app_1')], (_, step) =>
      step === 'GET app_2' ? { status: 403, json: { error: 'forbidden' } } : undefined,
    );
    const ran = await inProcess('tryouts get app_1 app_2 app_3 --json', { env: refusing.env });
    expect(ran).toMatchObject({ code: 7, stdout: '' });
    expect(steps(refusing)).toEqual(['GET app_1', 'GET app_2']);
  });
});

test.each([
  ["'status!=acepted'", 'No documented status is "acepted"; did you mean accepted?\n'],
  ["'status=done'", /^No documented status is "done"; there are pending, .*withdrawn\.\n$/],
  ["'status=accepted'", ''],
  ["'status=null'", ''],
  ["'name=acepted'", ''],
])('--where %s compares as typed and notes an unknown status', async (where, note) => {
  for (const command of ['tryouts list --json', 'tryouts stats --json']) {
    const ran = await inProcess(`${command} --where ${where}`, { env: service.env });
    expect(ran).toMatchObject({
      code: 0,
      stderr: typeof note === 'string' ? note : expect.stringMatching(note),
    });
  }
});
