import { describe, expect, test } from 'vitest';
import { localDay } from '../../../src/data/dates.js';
import { longDay } from '../../../src/data/time.js';
import { statsLines } from '../../../src/resources/stats-page.js';
import type { Stats } from '../../../src/resources/tryout-tally.js';
import { createPaint } from '../../../src/terminal/paint.js';
import { displayWidth } from '../../../src/terminal/width.js';
import { forbidden, hostileTexts } from '../../support/hostile.js';
import { inProcess } from '../../support/in-process.js';
import { rosterctl } from '../../support/run.js';
import { recordingService } from '../../support/service.js';
import { daysAgo } from '../../support/times.js';
import { application, keep } from './service.js';

const player = (id: string, status: string) =>
  application(id, { status, convertedPlayerId: `player_${id}` });
const tag = (game: string) => ({ id: `tag_${game}`, game, gamerTag: 'Kite#DEMO' });
const service = await keep([
  application('app_old', {
    status: 'rejected',
    submittedAt: daysAgo(90),
    gamerTags: [tag('Chess')],
  }),
  application('app_spring', { status: 'reviewing', submittedAt: '2026-03-15T23:30:00Z' }),
  application('app_new', {
    submittedAt: daysAgo(1.5),
    gamerTags: [tag('Valorant'), tag('Chess'), tag('=1+1')],
  }),
  application('app_player', {
    status: 'accepted',
    convertedPlayerId: 'player_9',
    submittedAt: daysAgo(20),
  }),
]);

const stats = (flags: string) => inProcess(`tryouts stats ${flags}`, { env: service.env });

const noStatuses = {
  pending: 0,
  reviewing: 0,
  shortlisted: 0,
  accepted: 0,
  rejected: 0,
  withdrawn: 0,
};

describe('as JSON', () => {
  test('count the filtered applications', async () => {
    const all = await rosterctl('tryouts stats --json', { env: service.env });
    expect(JSON.parse(all.stdout)).toMatchObject({
      schema: 1,
      total: 4,
      byStatus: { ...noStatuses, pending: 1, reviewing: 1, accepted: 1, rejected: 1 },
      byGame: { Chess: 2, Valorant: 1, '=1+1': 1 },
      converted: 1,
    });
    const day = await stats('--since 2026-03-15 --until 2026-03-15 --json');
    expect(JSON.parse(day.stdout)).toEqual({
      schema: 1,
      total: 1,
      byStatus: { ...noStatuses, reviewing: 1 },
      byGame: {},
      byWeek: [{ week: '2026-03-09', count: 1 }],
      converted: 0,
    });
  });

  test('have no week that has not begun', async () => {
    const ahead = await keep([
      application('app_1', { submittedAt: daysAgo(0) }),
      application('app_2', { submittedAt: daysAgo(-15) }),
    ]);
    const { stdout } = await inProcess('tryouts stats --json', { env: ahead.env });
    const { total, byWeek } = JSON.parse(stdout) as { total: number; byWeek: { week: string }[] };
    expect([total, byWeek.length]).toEqual([2, 1]);
    expect(Date.parse(byWeek[0]?.week ?? '')).toBeLessThanOrEqual(Date.now());
  });
});

test('as CSV are one line per count, with its share of all applications', async () => {
  const { stdout } = await stats('-o csv --until 2026-03-15');
  expect(stdout.replaceAll('\r', '')).toBe(
    [
      'section,label,count,share',
      'total,,1,1',
      'status,pending,0,0',
      'status,reviewing,1,1',
      'status,shortlisted,0,0',
      'status,accepted,0,0',
      'status,rejected,0,0',
      'status,withdrawn,0,0',
      'week,2026-03-09,1,1',
      'converted,,0,0',
      '',
    ].join('\n'),
  );
  const all = (await stats('-o csv')).stdout;
  expect(all).toContain('status,pending,1,0.25');
  expect(all).toContain("game,'=1+1,1,0.25");
});

test('the columns of the CSV are unknown fields of every other format', async () => {
  expect((await stats('-o csv --fields label,count')).stdout).toMatch(/^label,count\r?\n,4\r?\n/);
  const json = await stats('--json --fields label');
  expect([json.code, json.stdout]).toEqual([2, '']);
  expect(json.stderr).toContain('Unknown field \\"label\\".');
  expect((await stats("--template '{label}'")).code).toBe(2);
});

describe('--by', async () => {
  const asked = await keep([
    application('app_1', {
      discordUsername: 'kite',
      formResponses: { 'Main role': 'Flex', age: 9, Agents: ['Omen', 'Sova', 'Omen'] },
    }),
    application('app_2', { formResponses: { 'Main role': 'Flex', age: 10, Agents: [] } }),
    application('app_3', { status: 'rejected', formResponses: { 'Main role': 'IGL', age: 21 } }),
    application('app_4', { formResponses: { 'Main role': '\u001b[31mred', age: null } }),
    application('app_5', { discordUsername: '', gamerTags: [tag('Valorant'), tag('Chess')] }),
  ]);
  const by = (flags: string) => inProcess(`tryouts stats ${flags}`, { env: asked.env });
  const countsOf = async (flags: string) =>
    (JSON.parse((await by(`${flags} --json`)).stdout) as Stats).by;

  test('counts a field, a dotted one, an answer, and several at once, with those without a value', async () => {
    expect(await countsOf("--by 'formResponses.Main role' --by status")).toEqual({
      'formResponses.Main role': { Flex: 2, IGL: 1, '\u001b[31mred': 1, '': 1 },
      status: { pending: 4, rejected: 1 },
    });
    expect(await countsOf('--by gamerTags.game --status pending')).toEqual({
      'gamerTags.game': { '': 3, Valorant: 1, Chess: 1 },
    });
    expect(await countsOf('--by formResponses.Agents')).toEqual({
      'formResponses.Agents': { '': 4, Omen: 1, Sova: 1 },
    });
  });

  test('takes a label of a field and a question alone, and prints the name of the API', async () => {
    expect(await countsOf('--by discord')).toEqual({ discordUsername: { '': 4, kite: 1 } });
    expect(await countsOf('--by age')).toEqual({
      'formResponses.age': { 9: 1, 10: 1, 21: 1, '': 2 },
    });
    expect(await countsOf('--by age --status rejected')).toEqual({
      'formResponses.age': { 21: 1 },
    });
  });

  test('has a section of its own in CSV, and bars for a person, numbers in their order', async () => {
    const csv = (await by("--by 'Main role' -o csv")).stdout;
    expect(csv).toContain('formResponses.Main role,Flex,2,0.4\r\n');
    expect(csv).toContain('formResponses.Main role,,1,0.2\r\n');
    const status = (await by('--by status -o csv')).stdout.split('\r\n');
    expect(status.filter((row) => row.startsWith('status,pending,'))).toHaveLength(1);
    const page = (await by("--by age --by status --by 'Main role'")).stdout;
    expect(page.match(/pending/g)).toHaveLength(1);
    const after = page.slice(page.indexOf('\nage\n'));
    expect(after.replaceAll(/[█░]+ +/g, '')).toBe(
      [
        '\nage',
        '  9       1   20 %',
        '  10      1   20 %',
        '  21      1   20 %',
        '  (none)  2   40 %',
        'Main role',
        '  Flex           2   40 %',
        '  \\u001b[31mred  1   20 %',
        '  IGL            1   20 %',
        '  (none)         1   20 %',
        '',
      ].join('\n'),
    );
  });

  test('refuses a field that no application has', async () => {
    const ran = await by('--by formResponses.Main_role');
    expect([ran.code, ran.stdout, ran.stderr.split('\n').at(-3)]).toEqual([
      2,
      '',
      'No record has a field "formResponses.Main_role". Did you mean "formResponses.Main role"?',
    ]);
  });

  test('names twelve values on a screen and counts the rest', async () => {
    const many = await keep(
      Array.from({ length: 30 }, (_, at) => application(`a_${at}`, { legacyRef: `A-${at}` })),
    );
    const env = { ...many.env, ROSTERCTL_FORCE_TTY: '60' };
    const { stdout } = await inProcess('tryouts stats --by legacyRef', { env });
    expect(stdout).toMatch(/^Legacy ref$/m);
    expect(stdout).toMatch(/^ {2}and 18 more values$/m);
  });
});

describe('for a person', () => {
  test('say who waits, who became a player, and what the filters leave', async () => {
    const { stdout } = await stats('--status pending,accepted');
    const [title, ...lines] = stdout.split('\n');
    expect(title).toMatch(/^Matching applications of org_7, .* 2 in all$/);
    expect(lines[0]).toMatch(/^ {2}pending {6}█+░+ {2}1 {3}50 % {3}oldest waits 1 d$/);
    expect(lines.join('\n')).toMatch(/accepted .* 50 % {3}1 became a player/);
    expect(lines.join('\n')).toMatch(/^Games {2}Valorant 1 · Chess 1 · =1\+1 1\n {7}\(an/m);
  });

  test('say of each status how many became players, which needs no acceptance', async () => {
    const all = [
      player('1', 'accepted'),
      application('2', { status: 'accepted' }),
      player('3', 'pending'),
      player('4', 'pending'),
      player('5', 'former'),
    ];
    const { stdout } = await inProcess('tryouts stats', { env: (await keep(all)).env });
    expect(stdout).toMatch(/^ {2}pending .*waits \d+ d, 2 became players$/m);
    expect(stdout).toMatch(/^ {2}accepted .* 1 became a player$/m);
    expect(stdout).toMatch(/^ {2}former .* 1 became a player$/m);
  });

  test('begin with the day of --since and end today, although the newest application is older', async () => {
    const { stdout } = await stats('--since 30d');
    expect(stdout).toMatch(
      new RegExp(
        `^Applications of org_7, \\d+ \\w+(?: \\d+)? – ${longDay(new Date())} .* 2 in all`,
      ),
    );
  });

  test.each([
    `--until ${localDay(new Date(Date.now() + 9 * 86_400_000))}`,
    '--since 30d --by status',
  ])('end today, and count all, with %s', async (flags) => {
    const { stdout } = await stats(flags);
    expect(stdout).toMatch(new RegExp(`^Applications of org_7, .* – ${longDay(new Date())} `));
  });

  test('draw in ASCII where the locale or the terminal knows nothing else', async () => {
    for (const env of [{ LANG: 'C' }, { TERM: 'dumb' }]) {
      const { stdout } = await rosterctl('tryouts stats', { env: { ...service.env, ...env } });
      // oxlint-disable-next-line no-control-regex
      expect(stdout).toMatch(/^[\u0000-\u007f]+$/);
      expect(stdout).toContain('#######......');
    }
  });

  test('count applications without a status as (none), in JSON ""', async () => {
    const odd = await recordingService(() => ({
      status: 200,
      json: [{ id: 'app_1' }, { id: 'app_2', status: { is: 'pending' } }],
    }));
    const counted = async (flags: string) =>
      (await inProcess(`tryouts stats ${flags}`, { env: odd.env })).stdout;
    expect(JSON.parse(await counted('--json')).byStatus).toEqual({
      ...noStatuses,
      '': 1,
      '{"is":"pending"}': 1,
    });
    expect(await counted('')).toMatch(/^ {2}\(none\) .* 1 {3}50 %$/m);
  });

  test('and a list whose fields hold an object with a key toString are no bug', async () => {
    const record = { id: 'app_1', status: { toString: 1 }, submittedAt: { toString: 1 } };
    const odd = await recordingService(({ url }) => ({
      status: 200,
      json: url.includes('app_1') ? record : [record, { id: 'app_2' }],
    }));
    for (const line of [
      'tryouts stats',
      'tryouts list --sort submittedAt',
      'tryouts set-status app_1 --to rejected --if-status pending -n',
    ]) {
      const { code, stderr } = await inProcess(line, { env: odd.env });
      expect({ line, code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.not.stringContaining('bug'),
      });
    }
  });

  test('of nothing say so', async () => {
    const empty = await recordingService(() => ({ status: 200, json: [] }));
    const ran = await inProcess('tryouts stats', { env: empty.env });
    expect(ran.stdout).toBe('Applications of org_7: none.\n');
    const filtered = await stats('--game Go');
    expect(filtered.stdout).toBe(
      'No application matches. To count all of them: rosterctl tryouts stats\n',
    );
    expect(filtered.stderr).toMatch(/^No application has game Go\. Games here: /m);
  });

  test('name the games of the season and count the rest', async () => {
    const many = await keep(
      Array.from({ length: 15 }, (_, at) => application(`a_${at}`, { gamerTags: [tag(`G${at}`)] })),
    );
    const { stdout } = await inProcess('tryouts stats', { env: many.env });
    expect(stdout).toContain('G11 1 · and 3 more');
    expect(stdout).not.toContain('G12');
  });
});

describe('the page', () => {
  const season = {
    schema: 1 as const,
    total: 1200,
    byStatus: {
      pending: 276,
      reviewing: 370,
      shortlisted: 171,
      accepted: 120,
      rejected: 262,
      withdrawn: 1,
    },
    byGame: { 'Overwatch 2': 634, 'Rocket League': 400, Valorant: 300, 星見: 2 },
    byWeek: [
      { week: '2026-08-31', count: 60 },
      { week: '2026-09-07', count: 180 },
      { week: '2026-09-28', count: 230 },
      { week: '2026-11-16', count: 12 },
    ],
    converted: 11,
  };
  const facts = {
    organization: 'org_demo',
    from: Date.parse('2026-09-01T00:00:00Z'),
    to: Date.parse('2026-11-22T09:00:00Z'),
    oldestPending: Date.parse('2026-09-27T08:00:00Z'),
    players: new Map([['accepted', 11]]),
    isFiltered: false,
    countAll: 'rosterctl tryouts stats',
  };
  const page = (columns: number, counts: Stats = season, { isUtf8 = true, color = false } = {}) =>
    statsLines(counts, facts, {
      now: new Date('2026-11-22T12:00:00Z'),
      columns,
      isTerminal: true,
      isUtf8,
      paint: createPaint(color),
    });

  test.each([40, 80, 120, 200])('at %i columns', (columns) => {
    expect(`\n${page(columns).join('\n')}\n`).toMatchSnapshot();
  });

  test('in colour, and in ASCII', () => {
    expect(`\n${page(80, season, { color: true }).join('\n')}\n`).toMatchSnapshot();
    expect(`\n${page(80, season, { isUtf8: false }).join('\n')}\n`).toMatchSnapshot();
  });

  test.each(hostileTexts.map((text, index) => [index + 1, text] as const))(
    'is harmless and fits any terminal with text %i as status and game',
    (_, text) => {
      const byStatus = { ...season.byStatus, [text]: 3 };
      const hostile = { ...season, byStatus, byGame: { [text]: 1, Valorant: 2 } };
      for (const columns of [40, 59, 80, 250])
        for (const line of page(columns, { ...hostile, by: { [text]: { [text]: 2, '': 1 } } })) {
          expect(displayWidth(line), line).toBeLessThanOrEqual(columns);
          expect(forbidden.exec(line.toWellFormed()), JSON.stringify(line)).toBeNull();
        }
    },
  );
});
