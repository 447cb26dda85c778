import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Stats } from '../../src/resources/tryout-tally.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService, type Service } from '../support/service.js';
import { daysAgo } from '../support/times.js';
import { type Application, application, keep } from './tryouts/service.js';

/** Applications with these fields, submitted `days` ago. */
const some = (count: number, days: number, fields: Record<string, unknown> = {}): Application[] =>
  Array.from({ length: count }, (_, index) =>
    application(`app_${days}_${index}`, {
      submittedAt: daysAgo(days),
      updatedAt: daysAgo(0),
      ...fields,
    }),
  );

const tags = (...games: string[]) =>
  games.map((game) => ({
    id: `tag_${game}`,
    game,
    gamerTag: `Nilo#${game}`,
    createdAt: daysAgo(50),
    updatedAt: daysAgo(50),
  }));

const club = [
  ...some(9, 3, { formResponses: { 'Main role': 'Duelist' }, gamerTags: tags('Valorant') }),
  ...some(8, 20, {
    status: 'reviewing',
    formResponses: { 'Main role': 'Sentinel' },
    gamerTags: tags('Valorant', 'Chess'),
  }),
  ...some(6, 40, { status: 'accepted', convertedPlayerId: 'player_1', formResponses: {} }),
];
const service = await keep(club);

async function report(line: string, { env }: Pick<Service, 'env'> = service) {
  const folder = temporaryFolder();
  const words = line.replaceAll('AT/', `${folder}/`);
  const ran = await inProcess(`report ${words}`, { env, home: temporaryFolder() });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { ...ran, folder, read };
}

/** The rows of the tables of a Markdown page: `By status: pending 9`. */
function rowsIn(markdown: string): readonly string[] {
  let title = '';
  return markdown.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) title = line.slice(3);
    const [, label, count] = /^\| (.*) \| ([\d,]+) \| [^|]* \|$/.exec(line) ?? [];
    return label === undefined || count === undefined ? [] : [`${title}: ${label} ${count}`];
  });
}

test('writes one page as HTML and as Markdown, readable by their owner only', async () => {
  const { code, stdout, stderr, folder, read } = await report(
    '--html AT/a.html --md AT/a.md --json',
  );
  expect([code, stderr]).toEqual([0, '']);
  const files = [join(folder, 'a.html'), join(folder, 'a.md')];
  expect(JSON.parse(stdout)).toEqual({
    schema: 1,
    organization: 'org_7',
    total: 23,
    exact: false,
    files,
  });
  expect(readdirSync(folder)).toEqual(['a.html', 'a.md']);
  for (const path of files) expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(read('a.html')).toMatch(/^<!doctype html>\n[^]*<\/html>\n$/);
  expect(read('a.md')).toMatch(/^# Tryout applications\n/);
});

test('has the numbers of tryouts stats', async () => {
  const { read } = await report("--md AT/a.md --by 'Main role'");
  const ran = await inProcess("tryouts stats --json --by 'Main role'", {
    env: service.env,
    home: temporaryFolder(),
  });
  const stats = JSON.parse(ran.stdout) as Stats;
  const rows = rowsIn(read('a.md'));
  for (const [status, count] of Object.entries(stats.byStatus))
    expect(rows).toContain(`By status: ${status} ${count}`);
  for (const [game, count] of Object.entries(stats.byGame))
    expect(rows).toContain(`By game: ${game} ${count}`);
  for (const [role, count] of Object.entries(stats.by?.['formResponses.Main role'] ?? {}))
    expect(rows).toContain(`Main role: ${role === '' ? '\\(none\\)' : role} ${count}`);
  expect(rows).toContain(`Funnel: Became players ${stats.converted}`);
  const weeks = rows
    .filter((row) => row.startsWith('By week'))
    .map((row) => Number(row.split(' ').at(-1)));
  expect(weeks.filter((count) => count > 0)).toEqual(stats.byWeek.map(({ count }) => count));
});

test('draws a field once, however it is named, and the status no second time', async () => {
  const fields = ["'Main role'", "'formResponses.Main role'", 'status', 'Status'];
  const { read } = await report(`--md AT/a.md ${fields.map((field) => `--by ${field}`).join(' ')}`);
  const titles = read('a.md').match(/(?<=^## ).*(?:role|status)/gim);
  expect(titles).toEqual(['By status', 'Main role']);
});

test('names no person, not even one that a filter names', async () => {
  const { read } = await report(
    "--html AT/a.html --md AT/a.md --search Applicant --where 'name!=Nilo Tsukiyo' --form 'Main role=Duelist' --exact",
  );
  for (const name of ['a.html', 'a.md'])
    expect(read(name)).not.toMatch(/Applicant |Nilo|app_|@example|player_1/);
  expect(read('a.md')).toContain(
    'Filters: a certain answer to Main role; a condition on name; a text search.',
  );
});

test('says in its foot what was counted', async () => {
  const { read } = await report(
    '--md AT/a.md --status pending,reviewing --game Valorant --since 2020-01-02 --older-than 2d --unconverted',
  );
  expect(read('a.md')).toContain(
    'Counted: 17 matching applications of org\\_7, from the complete list.',
  );
  expect(read('a.md')).toContain(
    'Filters: status pending, reviewing; game Valorant; submitted since 2 Jan 2020; submitted more than 2 days ago; not yet a player.',
  );
  const { read: other } = await report(
    '--md AT/b.md --not-status accepted --until 2030-01-02 --updated-since 2020-01-02 --converted --without-notes',
  );
  expect(other('b.md')).toContain(
    'Filters: status not accepted; submitted until 2 Jan 2030; changed since 2 Jan 2020; already a player; without internal notes.',
  );
  expect(read('a.md')).toMatch(/As of \d+ \w{3} \d{4}, \d\d:\d\d \w+\. Made with rosterctl /);
});

test('a game that nobody plays is named, with those that are played', async () => {
  const { code, stderr } = await report('--md AT/a.md --game Valorent');
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(
      'No application has game Valorent. Did you mean Valorant? Games here: Chess, Valorant.\n',
    ),
  ]);
});

describe('small groups', () => {
  test('fewer than five applications are not counted at all', async () => {
    const { code, stdout, read } = await report('--html AT/a.html --json', await keep(some(4, 1)));
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { total: null }]);
    expect(read('a.html')).toContain('Fewer than five applications of org_7');
    expect(read('a.html')).not.toMatch(/<table|<svg|\b4 applications/);
  });

  test('--exact shows them, and the page says so', async () => {
    const few = await keep(some(4, 1));
    const { read, code } = await report('--md AT/a.md --html AT/a.html --exact', few);
    expect(code).toBe(0);
    expect(rowsIn(read('a.md'))).toContain('By status: pending 4');
    expect(read('a.html')).toContain('Do not publish it.');
  });
});

test('without applications writes a page that says so', async () => {
  const { code, read } = await report('--html AT/a.html --md AT/a.md', await keep([]));
  expect(code).toBe(0);
  expect(read('a.md')).toContain('There are no applications of org\\_7.');
  expect(read('a.html')).not.toMatch(/<table|<svg/);
});

describe('is refused with nothing written', () => {
  test('when the list may be incomplete', async () => {
    const doubtful = await recordingService(() => ({
      status: 200,
      json: { applications: some(9, 1), total: 40 },
    }));
    const { code, stderr, folder } = await report('--html AT/a.html --json', doubtful);
    expect([code, readdirSync(folder)]).toEqual([11, []]);
    expect(errorOf({ stderr })).toMatchObject({
      code: 'incomplete',
      message: /may be incomplete.*Nothing was written/,
    });
  });

  test.each([
    'name',
    'E-mail',
    '["email"]',
    'gamerTags',
    'gamerTags.gamerTag',
    'convertedPlayer.name',
    'formResponses',
  ])('for --by %s, which names people', async (field) => {
    const { code, stderr, folder } = await report(
      `--html AT/a.html --json --exact --by '${field}'`,
    );
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(errorOf({ stderr }).message).toMatch(/never names a person/);
  });

  test.each(['Parent', 'Full name'])('for answers that name people: %s', async (question) => {
    const named = await keep(
      some(6, 1, {
        name: 'Nilo Tsukiyo',
        formResponses: { Parent: 'mira@example.org', 'Full name': 'nilo tsukiyo' },
      }),
    );
    const { code, stderr } = await report(
      `--html AT/a.html --json --exact --by '${question}'`,
      named,
    );
    expect(code).toBe(2);
    expect(errorOf({ stderr })['message']).toMatch(/never names a person/);
  });

  test('for a time, which the page shows in weeks', async () => {
    const { code, stderr } = await report('--html AT/a.html --by submittedAt --json');
    expect([code, errorOf({ stderr }).message]).toEqual([2, expect.stringMatching(/in weeks/)]);
  });

  test('for a field with more than 20 values, unless --exact is given', async () => {
    const many = await keep(
      Array.from({ length: 21 }, (_, index) =>
        application(`app_${index}`, { formResponses: { Why: `because ${index}` } }),
      ),
    );
    const { code, stderr, folder } = await report('--html AT/a.html --by Why --json', many);
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(errorOf({ stderr })).toMatchObject({
      message: '"formResponses.Why" has 21 different values; a chart shows at most 20.',
    });
    const { read, code: exact } = await report('--md AT/a.md --by Why --exact', many);
    expect(exact).toBe(0);
    expect(rowsIn(read('a.md'))).toContain('Why: because 20 1');
  });

  test.each(['./a.html', 'link'])('for one file under both names, a.html and %s', async (md) => {
    const at = temporaryFolder();
    symlinkSync('a.html', join(at, 'link'));
    const { code, stderr } = await report(`--html ${at}/a.html --md ${at}/${md} --json`);
    expect([code, errorOf({ stderr }).message]).toEqual([2, '--html and --md name the same file.']);
  });

  test('where a file cannot be written, before anything is read', async () => {
    const asked = service.requests.length;
    const { code } = await report('--html AT/no/a.html');
    expect([code, service.requests.length]).toEqual([1, asked]);
  });
});

test('without a file says how to name one', async () => {
  const { code, stderr } = await rosterctl('-p sandbox report');
  expect([
    code,
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.trim()),
  ]).toEqual([
    2,
    [
      'Nothing to do. Add --html or --md.',
      'For example: rosterctl -p sandbox report --html season.html',
    ],
  ]);
});

test('replaces a file that is there, and keeps its mode', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'a.html');
  writeFileSync(path, 'old', { mode: 0o644 });
  const ran = await inProcess(`report --html ${path}`, {
    env: service.env,
    home: temporaryFolder(),
  });
  expect(ran.code).toBe(0);
  expect([readFileSync(path, 'utf8').slice(0, 9), statSync(path).mode & 0o777]).toEqual([
    '<!doctype',
    0o644,
  ]);
});

test('- writes the page to stdout and nothing else', async () => {
  const { code, stdout, folder, read } = await report('--html - --md AT/a.md --json');
  expect([code, readdirSync(folder)]).toEqual([0, ['a.md']]);
  expect(stdout).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
  expect(read('a.md')).toContain('# Tryout');
});

test.each(['--out a.json', '--fields total', '--template {total}'])(
  'a page on stdout leaves no result for %s',
  async (flag) => {
    const { code, stdout, stderr } = await report(`--md - ${flag}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      `--md - writes the page to stdout; ${flag.split(' ')[0]} cannot be given with it.`,
    );
  },
);

test('/dev/stdout is stdout, and -q says nothing of a file', async () => {
  const page = await rosterctl('report --html /dev/stdout', { env: service.env });
  expect([page.code, page.stdout.split('\n').at(-2)]).toEqual([0, '</html>']);
  const folder = temporaryFolder();
  const quiet = await rosterctl(`report --html ${join(folder, 'a.html')} -q`, { env: service.env });
  expect([quiet.code, quiet.stdout, quiet.stderr, readdirSync(folder)]).toEqual([
    ...[0, '', ''],
    ['a.html'],
  ]);
});

test('a dry run reads and says what it would write', async () => {
  const { code, stdout, folder } = await report('--html AT/a.html -n --json');
  expect([code, existsSync(join(folder, 'a.html'))]).toEqual([0, false]);
  expect(JSON.parse(stdout)).toMatchObject({
    dryRun: true,
    requests: [],
    changes: [{ field: 'file', to: join(folder, 'a.html') }],
  });
});
