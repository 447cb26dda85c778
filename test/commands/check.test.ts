import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/resources/findings/find.js';
import { ruleCodes } from '../../src/resources/findings/rule.js';
import { forbidden, hostileTexts } from '../support/hostile.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import {
  type Lists,
  listService,
  type Reply,
  recordingService,
  refused,
  unknown,
} from '../support/service.js';
import { daysAgo } from '../support/times.js';
import { application, keep } from './tryouts/service.js';

/** An application of today, so that only what a test says about it is worth a finding. */
const fresh = (id: string, fields: Record<string, unknown> = {}) =>
  application(id, { submittedAt: daysAgo(1), name: `Name ${id}`, ...fields });

async function check(lists: Lists, flags = '', more: Readonly<Record<string, string>> = {}) {
  const service = await listService(lists);
  const env = { ...service.env, ...more };
  const ran = await inProcess(`check ${flags}`, { env, home: temporaryFolder() });
  return { ...ran, service };
}

const found = ({ stdout }: { readonly stdout: string }) =>
  (JSON.parse(stdout) as Finding[]).map(({ code, ids }) => `${code} ${ids.join(' ')}`);

const all = `--only ${ruleCodes.join(',')}`;
test('finds what the demo data hides, and nothing else', async () => {
  const home = temporaryFolder();
  const list = await rosterctl('-p sandbox tryouts list --json', { home });
  const applications = JSON.parse(list.stdout) as Record<string, string>[];
  const waiting = applications
    .filter(({ status, submittedAt = '' }) => status === 'pending' && submittedAt < daysAgo(14))
    .map(({ id, submittedAt }) => ({ id, submittedAt }))
    .toSorted((a, b) => (String(a.submittedAt) < String(b.submittedAt) ? -1 : 1));
  expect(waiting.length).toBeGreaterThan(8);
  const ran = await rosterctl(`-p sandbox check ${all} --json --exit-code`, { home });
  expect(ran).toMatchObject({ code: 12, stderr: '' });
  expect(found(ran)).toEqual([
    ...waiting.map(({ id }) => `waiting ${id}`),
    'accepted.unconverted app_0016',
    'accepted.unconverted app_0022',
    'duplicate.email app_0002 app_0041',
    'duplicate.discord app_0011 app_0050',
    'duplicate.name app_0002 app_0041',
    'duplicate.name app_0011 app_0050',
    'player.noTeam player_0027',
    'player.noTeam player_0030',
    'team.empty team_0005',
    'document.untagged doc_0012',
  ]);
});

test('reads each list once, sends nothing but GETs, and reads no list that no rule needs', async () => {
  const { service } = await check({ tryouts: [fresh('a')] }, all);
  const reads = service.requests.map(({ method, url }) => `${method} ${url.split('?')[0]}`);
  expect(reads.toSorted()).toEqual([
    'GET /v1/documents/org_7',
    'GET /v1/players/org_7',
    'GET /v1/teams/org_7',
    'GET /v1/tryout-applications',
  ]);
  const plain = await check({ tryouts: [fresh('a')] });
  expect(plain.service.requests).toHaveLength(1);
});

test('whatever a command that only reads tries to send, it is not sent', async () => {
  const service = await keep([application('app_1')]);
  const line = 'tryouts update app_1 --status accepted --json';
  const world = { env: service.env, home: temporaryFolder() };
  const ran = await inProcess(line, { ...world, asRead: true });
  expect([ran.code, errorOf(ran)['kind']]).toEqual([1, 'bug']);
  expect(service.requests.map(({ method }) => method)).not.toContain('PATCH');
});

describe('the rules', () => {
  const ahead = new Date(Date.now() + 7_300_000).toISOString();
  const inHalfAnHour = new Date(Date.now() + 1_800_000).toISOString();
  const cells: readonly [string, Lists, readonly string[]][] = [
    [
      'waiting: pending for 14 days, the oldest first',
      {
        tryouts: [
          fresh('a', { submittedAt: daysAgo(13.9) }),
          fresh('b', { submittedAt: daysAgo(14.1) }),
          fresh('c', { submittedAt: daysAgo(90) }),
          fresh('d', { submittedAt: daysAgo(90), status: 'reviewing' }),
          fresh('e', { submittedAt: 'long ago' }),
        ],
      },
      ['waiting c', 'waiting b'],
    ],
    [
      'accepted.unconverted: no player by any field',
      {
        tryouts: [
          fresh('a', { status: 'accepted' }),
          fresh('b', { status: 'accepted', convertedPlayerId: 'p1' }),
          fresh('c', { status: 'accepted', convertedPlayer: { id: 'p2', name: 'C' } }),
        ],
      },
      ['accepted.unconverted a'],
    ],
    [
      'duplicate.email: in any case, within one form, decided ones too',
      {
        tryouts: [
          fresh('a', { formId: 'f1', email: 'Kite@example.com', status: 'withdrawn' }),
          fresh('b', { formId: 'f2', email: 'kite@example.com' }),
          fresh('c', { formId: 'f1', email: ' KITE@example.com', submittedAt: daysAgo(9) }),
        ],
      },
      ['duplicate.email c a'],
    ],
    [
      'duplicate.email: where no form is shown, only what is not decided',
      {
        tryouts: [
          fresh('a', { email: 'x@example.com', status: 'rejected' }),
          fresh('b', { email: 'x@example.com', status: 'reviewing' }),
          fresh('c', { email: 'y@example.com', form_id: null }),
          fresh('d', { email: 'y@example.com', status: 'shortlisted' }),
        ],
      },
      ['duplicate.email c d'],
    ],
    [
      'duplicate.discord: by id, and by name where there is no id',
      {
        tryouts: [
          fresh('a', { discordUserId: '9000', discordUsername: 'kite' }),
          fresh('b', { discordUserId: '9000', discordUsername: null }),
          fresh('c', { discordUserId: '9001', discordUsername: 'kite' }),
          fresh('d', { discordUserId: null, discordUsername: 'Ember' }),
          fresh('e', { discordUsername: 'ember' }),
          fresh('f', { discordUserId: '', discordUsername: '' }),
          fresh('g', { discordUserId: '', discordUsername: '' }),
        ],
      },
      ['duplicate.discord a b', 'duplicate.discord d e'],
    ],
    [
      'time.future: more than an hour',
      {
        tryouts: [
          fresh('a', { updatedAt: ahead }),
          fresh('b', { updatedAt: inHalfAnHour }),
          fresh('c', { submittedAt: ahead, createdAt: ahead }),
        ],
      },
      ['time.future a', 'time.future c'],
    ],
    [
      'status.unknown: none of the six',
      { tryouts: [fresh('a', { status: 'waitlisted' }), fresh('b', { status: null })] },
      ['status.unknown a', 'status.unknown b'],
    ],
    [
      'duplicate.name and duplicate.tag, of one game',
      {
        tryouts: [
          fresh('a', { name: 'Zoe\u0308', gamerTags: [tag('Valorant', 'Kite#1')] }),
          fresh('b', { name: 'Zoë', gamerTags: [tag('Chess', 'Kite#1')] }),
          fresh('c', { gamerTags: [tag('Valorant', 'kite#1'), tag('Valorant', 'KITE#1')] }),
        ],
      },
      ['duplicate.name a b', 'duplicate.tag a c'],
    ],
    [
      'converted.notAccepted',
      { tryouts: [fresh('a', { status: 'rejected', convertedPlayerId: 'p1' })] },
      ['converted.notAccepted a'],
    ],
    [
      'player.noTeam and team.empty, by id or by name',
      {
        players: [
          { id: 'p1', name: 'One', teamIds: ['t1'] },
          { id: 'p2', name: 'Two', teamIds: [] },
          { id: 'p3', name: 'Three', team: 'Paper Lions' },
        ],
        teams: [
          { id: 't1', name: 'Foxes' },
          { id: 't2', name: 'Paper Lions' },
          { id: 't3', name: 'Wolves' },
        ],
      },
      ['player.noTeam p2', 'team.empty t3'],
    ],
    [
      'team.empty: every team of an organization without players',
      { teams: [{ id: 't1', name: 'Foxes' }] },
      ['team.empty t1'],
    ],
    [
      'document.untagged: no tag in whatever form',
      {
        documents: [
          { id: 'd1', name: 'a.pdf', tags: [] },
          { id: 'd2', name: 'b.pdf', tags: 'legal' },
          { id: 'd3', name: 'c.pdf' },
        ],
      },
      ['document.untagged d1', 'document.untagged d3'],
    ],
  ];

  test.each(cells)('%s', async (_, lists, expected) => {
    const ran = await check(lists, `${all} --json`);
    expect(found(ran)).toEqual(expected);
    expect(ran.code).toBe(0);
  });
});

test('a finding names who it is about, and the command that shows or settles it', async () => {
  const tryouts = [
    fresh("a'1", { name: 'Kite', email: 'k@example.com', formId: 7, status: 'accepted' }),
    fresh('b', { name: 'Kit', email: 'K@example.com', formId: 7 }),
  ];
  const service = await listService({ tryouts });
  const line = `check --json --base-url ${service.baseUrl}`;
  const ran = await inProcess(line, { env: service.env, home: temporaryFolder() });
  const there = `rosterctl --base-url ${service.baseUrl} tryouts`;
  expect(JSON.parse(ran.stdout)).toEqual([
    {
      code: 'accepted.unconverted',
      ids: ["a'1"],
      detail: 'Kite is accepted but not a player yet',
      look: `${there} get 'a'\\''1'`,
      fix: `${there} convert 'a'\\''1'`,
    },
    {
      code: 'duplicate.email',
      ids: ["a'1", 'b'],
      detail: "k@example.com, 7: Kite (a'1, accepted), Kit (b, pending)",
      look: `${there} get 'a'\\''1' b`,
      fix: null,
    },
  ]);
});

test('a time in the future is named by its label, and written as people write it', async () => {
  const year = new Date().getFullYear() + 2;
  const ran = await check(
    { tryouts: [fresh('a', { name: 'Kite', submittedAt: `${year}-03-02T10:05:00Z` })] },
    '--only time.future --json',
  );
  expect(JSON.parse(ran.stdout)).toMatchObject([
    { detail: expect.stringMatching(`^Kite: submitted \\d Mar ${year}, \\d\\d:05 .*\\(in \\d+ `) },
  ]);
});

describe('what cannot be checked', () => {
  const players = [{ id: 'p1', name: 'One' }];
  const teams = [{ id: 't1', name: 'Foxes' }];

  test('a rule on a field that no record has is reported as not run', async () => {
    const documents = [{ id: 'd1', name: 'a.pdf' }];
    const ran = await check({ players, teams, documents }, `${all} --json -q`);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      0,
      '[]\n',
      'player.noTeam, team.empty skipped: no field teamIds.\ndocument.untagged skipped: no field tags.\n',
    ]);
  });

  test('a list that the key may not read skips its rules and says so, and fails with --strict', async () => {
    const lists = { players: refused, teams, tryouts: [fresh('a', { status: 'odd' })] };
    const only = '--only team.empty,status.unknown --json -q';
    const ran = await check(lists, only);
    expect([ran.code, found(ran), ran.stderr]).toEqual([
      0,
      ['status.unknown a'],
      'team.empty skipped: this key cannot read players (403).\n',
    ]);
    const strict = await check({ ...lists, tryouts: [fresh('a')] }, `${only} --strict`);
    expect([strict.code, found(strict)]).toEqual([7, []]);
    expect(errorOf(strict)).toMatchObject({ code: 'forbidden', exitCode: 7 });
  });

  test('a list that the key may not read is none without findings', async () => {
    const lists = { players: refused, teams, tryouts: [fresh('a')] };
    const ran = await check(lists, '--only team.empty,status.unknown', {
      ROSTERCTL_FORCE_TTY: '80',
    });
    expect([ran.code, ran.stdout]).toEqual([0, 'No findings in 1 team, 1 application.\n']);
  });

  test.each([404, 405, 501])(
    'a list that the service answers with %i does the same',
    async (status) => {
      const lists = { players: { status }, teams, tryouts: [fresh('a', { status: 'odd' })] };
      const only = '--only team.empty,status.unknown --json -q';
      const ran = await check(lists, only);
      expect([ran.code, found(ran), ran.stderr]).toEqual([
        0,
        ['status.unknown a'],
        `team.empty skipped: this service has no list of players (${status}).\n`,
      ]);
      const strict = await check({ ...lists, tryouts: [fresh('a')] }, `${only} --strict`);
      expect(errorOf(strict)).toMatchObject({
        status,
        path: '/players/{organizationId}',
        hint: 'Other lists were read, so the service does not have this one.',
      });
    },
  );

  test('a check of which no list is there doubts the address', async () => {
    const ran = await check({ tryouts: unknown }, '--json');
    expect([ran.code, ran.stdout]).toEqual([5, '']);
    expect(errorOf(ran)['hint']).toContain('Are the base URL and the organization id right?');
  });

  test('a status that is null or empty is none', async () => {
    const tryouts = [null, '', 7].map((status) => ({ ...fresh('a'), id: `${status}`, status }));
    const ran = await check({ tryouts }, '--only status.unknown --template {detail} -q');
    const words = ran.stdout.split('\n').map((line) => line.replace(/^.* has the status /, ''));
    expect(words.toSorted()).toEqual(['', '"7"', '(none)', '(none)']);
  });

  test('a check of which no rule could run is no success', async () => {
    const ran = await check({ tryouts: refused }, '--json');
    expect([ran.code, ran.stdout]).toEqual([7, '[]\n']);
    const plan: Reply = { status: 403, json: { error: 'featureNotAvailable' } };
    expect(await check({ tryouts: plan }, '--json')).toMatchObject({ code: 7, stdout: '' });
  });

  test('a list that may be incomplete skips its rules', async () => {
    const cut = {
      status: 200,
      json: { applications: [fresh('a', { status: 'odd' })], total: 9 },
    };
    const ran = await check(
      { tryouts: cut, players: [{ ...players[0], teamIds: ['t1'] }] },
      '--only status.unknown,player.noTeam --json',
    );
    expect([ran.code, ran.stdout]).toEqual([0, '[]\n']);
    expect(ran.stderr).toMatch(
      /^status\.unknown skipped: the list of applications may be incomplete/m,
    );
    const alone = await check({ tryouts: cut }, '--json');
    expect([alone.code, errorOf(alone)['code']]).toEqual([11, 'incomplete']);
  });
});

/** A service whose lists change, and lines typed at it by one person. */
async function person(lists: { tryouts?: unknown; players?: unknown }) {
  const { env } = await recordingService(({ url }) => {
    const list = url.includes('/players/') ? lists.players : lists.tryouts;
    return Array.isArray(list) ? { status: 200, json: list } : (list as Reply);
  });
  const home = temporaryFolder();
  const told = async (flags = '') => {
    const ran = await inProcess(`check --since-last mail --json -q ${flags}`, { env, home });
    return [ran.code, ...found(ran)];
  };
  return { env, home, told };
}
const odd = (id: string) => fresh(id, { status: 'odd' });

// All at one moment, so that the ids decide the order.
const submittedAt = new Date().toISOString();
const same = (id: string) => fresh(id, { email: 'kite@example.com', formId: 'f', submittedAt });

/** Two applications with the same tags. */
const share = (...tags: string[]) =>
  ['a', 'b'].map((id) =>
    fresh(id, { formId: 'f', gamerTags: tags.map((own) => tag('Chess', own)) }),
  );

describe('--since-last', () => {
  test('tells each finding once, and again when it was settled and came back', async () => {
    const lists = { tryouts: [odd('a')] };
    const { told, env, home } = await person(lists);
    expect(await told()).toEqual([0]);
    lists.tryouts = [odd('a'), odd('b')];
    expect(await told('--exit-code')).toEqual([12, 'status.unknown b']);
    expect(await told('--exit-code')).toEqual([0]);
    lists.tryouts = [fresh('a'), odd('b')];
    expect(await told()).toEqual([0]);
    lists.tryouts = [odd('a'), odd('b')];
    expect(await told()).toEqual([0, 'status.unknown a']);
    const at80 = { ...env, ROSTERCTL_FORCE_TTY: '80' };
    const shown = await inProcess('check --since-last mail', { env: at80, home });
    expect(shown.stdout).toBe('No new findings in 2 applications.\n');
    const first = await inProcess('check --since-last other', { env: at80, home });
    expect(first.stdout).toBe('');
    expect(first.stderr).toContain('First use of the cursor other: 2 findings recorded');
  });

  test('a person who applies a third time is a new finding', async () => {
    const lists = { tryouts: [same('a'), same('b')] };
    const { told } = await person(lists);
    expect(await told('--initial all')).toEqual([0, 'duplicate.email a b']);
    lists.tryouts = [same('c'), same('b'), same('a')];
    expect(await told()).toEqual([0, 'duplicate.email a b c']);
  });

  test('each of several tags that two applications share is a finding of its own', async () => {
    const lists = { tryouts: share('Kite#1', 'Zoe#1') };
    const { told } = await person(lists);
    const only = '--only duplicate.tag';
    const each = ['duplicate.tag a b'];
    expect(await told(`${only} --initial all`)).toEqual([0, ...each, ...each]);
    lists.tryouts = share('New#1', 'Kite#1', 'Zoe#1');
    expect(await told(only)).toEqual([0, ...each]);
    expect(await told(only)).toEqual([0]);
  });

  test('a rule that could not run forgets nothing', async () => {
    const only = '--only player.noTeam,status.unknown';
    const players = ['p1', 'p2'].map((id) => ({ id, name: id, teamIds: [] }));
    const lists: { tryouts: unknown; players: unknown } = { tryouts: [odd('a')], players };
    const { told } = await person(lists);
    expect(await told(`${only} --initial all`)).toEqual([
      ...[0, 'status.unknown a', 'player.noTeam p1', 'player.noTeam p2'],
    ]);
    lists.players = refused;
    lists.tryouts = [odd('a'), odd('b')];
    expect(await told(only)).toEqual([0, 'status.unknown b']);
    lists.players = [...players, { id: 'p3', name: 'p3', teamIds: [] }];
    expect(await told(only)).toEqual([0, 'player.noTeam p3']);
  });

  test('a check that failed is not recorded, and its findings come again', async () => {
    const only = '--only player.noTeam,converted.notAccepted';
    const lists: { tryouts: unknown; players: unknown } = { tryouts: [], players: [] };
    const { told } = await person(lists);
    expect(await told(only)).toEqual([0]);
    lists.players = refused;
    lists.tryouts = [fresh('a', { convertedPlayerId: 'p' })];
    expect(await told(`${only} --strict`)).toEqual([7, 'converted.notAccepted a']);
    expect(await told(`${only} --strict`)).toEqual([7, 'converted.notAccepted a']);
    lists.players = [];
    expect(await told(only)).toEqual([0, 'converted.notAccepted a']);
    expect(await told(only)).toEqual([0]);
  });

  test('--peek keeps what it printed until cursors commit', async () => {
    const lists = { tryouts: [odd('a')] };
    const { told, env, home } = await person(lists);
    expect(await told('--initial all --peek')).toEqual([0, 'status.unknown a']);
    expect(await told('--initial all --peek')).toEqual([0, 'status.unknown a']);
    expect((await inProcess('cursors commit mail -q', { env, home })).code).toBe(0);
    expect(await told()).toEqual([0]);
  });
});

describe('for a person and for cron', () => {
  test('silent with -q when all is well, in every format but JSON', async () => {
    for (const flags of ['-q', '-q --exit-code', '-q -o ids', '-q --no-header -o csv'])
      expect(await check({ tryouts: [fresh('a')] }, flags)).toMatchObject({
        code: 0,
        stdout: '',
        stderr: '',
      });
  });

  test('a pipe gets a row per finding, a terminal the rules with names and commands', async () => {
    const tryouts = Array.from({ length: 7 }, (_, at) =>
      fresh(`app_${at}`, { submittedAt: daysAgo(30 - at), email: `${at % 6}@example.com` }),
    );
    const { env } = await listService({ tryouts });
    const piped = await inProcess('check --older-than 25d', { env, home: temporaryFolder() });
    expect(piped.stdout.split('\n').slice(0, 2)).toEqual([
      'code\tids\tdetail\tlook\tfix',
      'waiting\t["app_0"]\tName app_0 has waited for 30 d\trosterctl tryouts get app_0\t',
    ]);
    const at80 = { ...env, ROSTERCTL_FORCE_TTY: '80' };
    const shown = await inProcess('check --older-than 23d', { env: at80, home: temporaryFolder() });
    expect(shown.stdout.split('\n')).toEqual([
      'waiting          7 applications have waited for more than 23 days',
      ...[0, 1, 2, 3, 4].map((at) => `  app_${at}  Name app_${at} has waited for ${30 - at} d`),
      '  and 2 more (-v lists all)',
      '  See: rosterctl tryouts list --status pending --older-than 23d',
      'duplicate.email  1 e-mail address is on several applications for the same form,',
      '                 so changes may be refused (409)',
      '  0@example.com: Name app_0 (app_0, pending), Name app_6 (app_6, pending)',
      '    See: rosterctl tryouts get app_0 app_6',
      '',
    ]);
    const at40 = { ...env, ROSTERCTL_FORCE_TTY: '40' };
    const narrow = await inProcess('check --older-than 23d', {
      env: at40,
      home: temporaryFolder(),
    });
    expect(narrow.stdout).toContain(`
  See:
  rosterctl tryouts list \\
      --status pending \\
      --older-than 23d
`);
    const none = await inProcess('check --only status.unknown', {
      env: at80,
      home: temporaryFolder(),
    });
    expect(none.stdout).toBe('No findings in 7 applications.\n');
  });

  test('every rule has a heading, and the command of a rule lists what it found', async () => {
    const tryouts = [
      ...[1, 2].map((at) => fresh(`wait_${at}`, { submittedAt: daysAgo(40) })),
      ...[1, 2].map((at) => fresh(`join_${at}`, { status: 'accepted' })),
      ...[1, 2].map((at) => fresh(`odd_${at}`, { status: 'odd' })),
      ...[1, 2].map((at) => fresh(`late_${at}`, { submittedAt: daysAgo(-40) })),
      ...[1, 2].map((at) =>
        fresh(`made_${at}`, { status: 'rejected', convertedPlayerId: `p${at}` }),
      ),
      ...[1, 2].map((at) =>
        fresh(`twin_${at}`, {
          name: 'Twin',
          email: 'twin@example.com',
          discordUserId: '77',
          gamerTags: [{ game: 'x', gamerTag: 'Twin#1' }],
        }),
      ),
    ];
    const { env } = await listService({
      tryouts,
      players: [1, 2].map((at) => ({ id: `p${at}`, name: `P ${at}`, teamIds: [] })),
      teams: [{ id: 't1', name: 'Foxes' }],
      documents: [1, 2].map((at) => ({ id: `d${at}`, name: `${at}.pdf`, tags: [] })),
    });
    const home = temporaryFolder();
    const at200 = { ...env, ROSTERCTL_FORCE_TTY: '200' };
    const { stdout } = await inProcess(`check ${all}`, { env: at200, home });
    const heads = stdout.split('\n').filter((line) => /^\S/.test(line));
    expect(heads.map((line) => line.split(/ {2,}/))).toEqual([
      ['waiting', '2 applications have waited for more than 14 days'],
      ['accepted.unconverted', '2 accepted applications are not players yet'],
      [
        'duplicate.email',
        '1 e-mail address is on several applications for the same form, so changes may be refused (409)',
      ],
      [
        'duplicate.discord',
        '1 Discord user is on several applications for the same form, so changes may be refused (409)',
      ],
      ['time.future', '2 applications have a time in the future'],
      ['status.unknown', '2 applications have an unknown status'],
      ['duplicate.name', '1 name is on several applications for the same form'],
      ['duplicate.tag', '1 gamer tag is on several applications for the same form'],
      ['converted.notAccepted', '2 applications became players without being accepted'],
      ['player.noTeam', '2 players are in no team'],
      ['team.empty', '1 team has no players'],
      ['document.untagged', '2 documents have no tags'],
    ]);
    const listed: string[] = [];
    for (const [, line = ''] of stdout.matchAll(/^ {2}See: rosterctl (tryouts list .*)$/gm))
      listed.push(...(await inProcess(`${line} -o ids`, { env, home })).stdout.trim().split('\n'));
    expect(listed.toSorted()).toEqual([
      'join_1',
      'join_2',
      'made_1',
      'made_2',
      'odd_1',
      'odd_2',
      'wait_1',
      'wait_2',
    ]);
  });

  test('texts and ids of records are harmless', async () => {
    const ids = hostileTexts.map((text, at) => `${at}${text.slice(0, 200)}`);
    const tryouts = hostileTexts.map((text, at) =>
      fresh(`a${ids[at]}`, { name: text, email: text, status: text, submittedAt: daysAgo(40) }),
    );
    const documents = hostileTexts.map((text, at) => ({
      id: `d${at}${text}`,
      name: text,
      tags: [],
    }));
    const { env } = await listService({
      tryouts: [...tryouts, ...tryouts.map((each) => ({ ...each, id: `${each.id}x` }))],
      documents,
    });
    const at40 = { ...env, ROSTERCTL_FORCE_TTY: '40' };
    const { stdout } = await inProcess(`check ${all} -v`, { env: at40, home: temporaryFolder() });
    expect(stdout.length).toBeGreaterThan(1000);
    for (const line of stdout.split('\n'))
      expect(forbidden.exec(line.toWellFormed()), JSON.stringify(line)).toBeNull();
  });
});

function tag(game: string, gamerTag: string) {
  const at = daysAgo(1);
  return { id: `${game}${gamerTag}`, game, gamerTag, createdAt: at, updatedAt: at };
}
