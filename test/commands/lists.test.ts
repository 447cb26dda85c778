import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mondayOf } from '../../src/data/dates.js';
import { shortDay } from '../../src/data/time.js';
import { displayWidth } from '../../src/terminal/width.js';
import { converseInside } from '../support/converse-inside.js';
import { hostileTexts } from '../support/hostile.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';
import { application, keep } from './tryouts/service.js';

interface Terminal {
  readonly inTerminal: (
    words: readonly string[],
    options: { home: string; columns?: number; rows?: number; env?: Record<string, string> },
  ) => Promise<{ code: number; text: string }>;
  readonly afterErasing: (text: string) => string;
}
const script = new URL('../../build/terminal.mjs', import.meta.url).href;
const { inTerminal, afterErasing } = (await import(script)) as Terminal;

const daysAgo = (count: number) => new Date(Date.now() - count * 86_400_000 - 60_000).toISOString();
const tag = (game: string) => ({ id: game, game, gamerTag: 'x', createdAt: '', updatedAt: '' });
const applications = [
  application('app_1', { name: 'Ann', submittedAt: daysAgo(56), gamerTags: [tag('Go')] as never }),
  application('app_2', {
    name: 'Bea',
    submittedAt: daysAgo(3),
    gamerTags: [tag('Chess'), tag('')] as never,
  }),
  application('app_3', { name: 'Cyd', submittedAt: daysAgo(5), status: 'rejected' }),
];
const service = await keep(applications);
const home = temporaryFolder();

const onTerminal = async (
  line: string,
  more: { columns?: number; rows?: number; env?: Record<string, string> } = {},
) => {
  const env = { ...service.env, NO_COLOR: '1', ...more.env };
  const { code, text } = await inTerminal(line.split(' '), { home, ...more, env });
  expect(code).toBe(0);
  // A busy machine also shows, and erases, what it is waiting for.
  return afterErasing(text);
};

/** The same in this process, for what is not longer than the screen. */
const shownInside = async (
  line: string,
  { columns = 80, env }: { columns?: number; env?: Record<string, string> } = {},
) => {
  const own = { ...service.env, NO_COLOR: '1', ...env };
  const { code, printed } = await converseInside(home, line.split(' '), [], own, columns);
  expect(code).toBe(0);
  return printed.replaceAll('\r\n', '\n');
};

const thisWeek = (now: Date) =>
  `since ${shortDay(new Date(`${mondayOf(now)}T00:00`), now)} until ${shortDay(now, now)}`;

const told = async (line: string) => inProcess(line, { env: service.env });

describe('a list on a terminal', () => {
  test.each([
    ['tryouts list', true],
    ['tryouts list --no-color', false],
  ])('%s is in colour: %s', async (line, isColored) => {
    const { printed } = await converseInside(home, line.split(' '), [], service.env);
    expect([printed.includes('app_2'), printed.includes('\u001b[')]).toEqual([true, isColored]);
  });

  test('has human heads, games as words, and a footer that counts what matters', async () => {
    expect(await onTerminal('tryouts list --status pending', { columns: 64 })).toBe(
      [
        'Id     Name  Status   Submitted  Games  E-mail',
        'app_2  Bea   pending  3 d ago    Chess  app_2@example.com',
        'app_1  Ann   pending  1 mo ago   Go     app_1@example.com',
        '2 pending, of 3 applications · oldest waits 56 d',
        '+3 fields: --fields',
        '',
      ].join('\n'),
    );
  });

  test('says in the footer that --limit cut it', async () => {
    const text = await shownInside('tryouts list -L 2', { columns: 100 });
    expect(text).toContain('\nfirst 2 of 3 applications · 2 pending · oldest waits 56 d · ');
    expect(text).not.toContain('Showing');
  });

  test('says in the footer how many match all filters, beside their status', async () => {
    const both = await shownInside('tryouts list --status pending --game Go', { columns: 100 });
    expect(both).toContain('\n1 pending matches, of 3 applications · oldest waits 56 d');
    const other = await shownInside(
      'tryouts list --search app_ --where name!=Ann --status pending',
    );
    expect(other).toContain('\n1 pending matches, of 3 applications');
    // Here the other filter leaves none out.
    const all = await shownInside('tryouts list --status rejected --since 10d', { columns: 100 });
    expect(all).toContain('\n1 rejected, of 3 applications');
  });

  test('says how long an undecided application waits, a pending one before others', async () => {
    const { env } = await keep([
      application('app_1', { status: 'rejected', submittedAt: daysAgo(90) }),
      application('app_2', { status: 'reviewing', submittedAt: daysAgo(40) }),
      application('app_3', { submittedAt: daysAgo(9) }),
    ]);
    const waits = async (flags: string) =>
      /oldest waits .*? d/.exec(await shownInside(`tryouts list ${flags}`, { columns: 100, env }));
    expect((await waits('-L 1'))?.[0]).toBe('oldest waits 9 d');
    expect((await waits('--not-status pending'))?.[0]).toBe('oldest waits 40 d');
    expect(await waits('--status rejected')).toBeNull();
  });

  test('calls applications by a status only if each of them has it', async () => {
    const { env } = await recordingService(() => ({
      status: 200,
      json: [application('app_1'), { ...application('app_2'), status: null }],
    }));
    const text = await shownInside('tryouts list --where id!=x', { columns: 100, env });
    expect(text).toContain('\n2 applications · 1 pending · ');
    const none = await shownInside('tryouts list --where id=app_2', { columns: 100, env });
    expect(none).toContain('\n1 of 2 applications · ');
  });

  test('says which days words such as monday mean', async () => {
    const started = new Date();
    const text = await shownInside('tryouts list --since monday --until today', { columns: 100 });
    const ended = new Date();
    const seen = text.match(/(?:since|until) \d.*?(?= · |\)|\n)/g);
    expect([[thisWeek(started)], [thisWeek(ended)]]).toContainEqual(seen);
    const empty = await shownInside('tryouts list --search zzz --updated-since yesterday');
    expect(empty).toMatch(
      /^No application matches these filters \(changed since \d+ \w+\)\. There/,
    );
    const dates = await shownInside('tryouts list --since 2000-01-01 --until 1d', { columns: 100 });
    expect(dates).not.toMatch(/since|until/);
  });

  test('groups the digits of a large count in the footer, as the statistics do', async () => {
    const many = Array.from({ length: 1200 }, (_, at) => ({ id: `doc_${at}`, name: `${at}` }));
    const { env } = await recordingService(() => ({ status: 200, json: many }));
    const text = await shownInside('docs list -L 1', { columns: 100, env });
    expect(text).toContain('\nfirst 1 of 1,200 documents');
    expect((await inProcess('docs list -L 1', { env })).stderr).toBe(
      'Showing 1 of 1,200 documents.\n',
    );
  });

  test('is no place for a workbook, which is refused before anything is sent', async () => {
    const { env, requests } = await recordingService(() => ({ status: 200, json: [] }));
    for (const line of ['teams list', 'teams create --name Foxes']) {
      const words = `${line} -o xlsx --out -`.split(' ');
      const ran = await inTerminal(words, { home, env: { ...env, NO_COLOR: '1' } });
      expect([ran.code, ran.text]).toEqual([2, expect.stringContaining('A workbook is not text')]);
    }
    expect(requests).toEqual([]);
  });

  test('that is empty says what to do', async () => {
    expect(await shownInside('tryouts list --game Fortnite', { columns: 100 })).toBe(
      'No application has game Fortnite. Games here: Chess, Go.\n',
    );
    expect(await shownInside('tryouts list --game Ches', { columns: 100 })).toBe(
      'No application has game Ches. Did you mean Chess? Games here: Chess, Go.\n',
    );
    expect(await shownInside('tryouts list --status accepted', { columns: 100 })).toBe(
      'No application is accepted. There are 2 pending, 1 rejected.\n',
    );
    const empty = await recordingService(() => ({ status: 200, json: [] }));
    expect(await shownInside('docs list', { env: empty.env })).toBe(
      'No documents yet. Upload one: rosterctl documents upload FILE\n',
    );
  });

  test('in a file is one line that says so, and how a workbook is sent back', async () => {
    const file = join(home, 'people');
    expect(await onTerminal(`tryouts list -L 2 --out ${file}.csv`, { columns: 200 })).toBe(
      `Showing the first 2 of 3 applications.\nWrote 2 applications to ${file}.csv.\n`,
    );
    expect(await shownInside(`tryouts list --out ${file}.xlsx`, { columns: 200 })).toBe(
      `Wrote 3 applications to ${file}.xlsx.\nTo send changes back: rosterctl tryouts update --csv ${file}.xlsx --dry-run\n`,
    );
    expect(await shownInside(`tryouts list --out ${file}.xlsx -q`)).toBe('');
    expect((await told(`tryouts list --out ${file}.csv`)).stderr).toBe('');
  });

  test('goes through the pager if it is longer than the screen, unless told otherwise', async () => {
    const env = { ROSTERCTL_PAGER: 'sed s/^/page:/' };
    const short = { rows: 3, env };
    expect(await onTerminal('tryouts list', short)).toMatch(/^(page:.*\n)+$/);
    expect(await onTerminal('tryouts list', { rows: 20, env })).not.toContain('page:');
    expect(await onTerminal('tryouts list --json', short)).toMatch(/^page:\[/);
    expect(await onTerminal('help bulk', short)).toMatch(/^(page:.*\n)+$/);
    expect(await onTerminal('tryouts list -h', short)).toMatch(/^(page:.*\n)+$/);
    for (const line of ['tryouts list -q', 'tryouts list -o ids', 'tryouts list --no-pager'])
      expect(await onTerminal(line, short)).not.toContain('page:');
    expect(await onTerminal('tryouts list', { rows: 3, env: { PAGER: '' } })).toContain('app_3');
  });

  test.each(['/nowhere/pager', 'false', "'"])(
    'is printed plainly, without a word, if the pager is %j',
    async (pager) => {
      const text = await onTerminal('tryouts list', { rows: 3, env: { ROSTERCTL_PAGER: pager } });
      expect(text).toMatch(/^Id .*\n(app_\d.*\n){3}.*3 applications/);
    },
  );

  test('keeps the LESS of the user, and its colours only with R', async () => {
    const env = { ROSTERCTL_PAGER: 'cat -v', NO_COLOR: '' };
    const colored = await onTerminal('tryouts list', { rows: 3, env });
    expect(colored).toContain('^[[1mId^[[22m');
    const plain = await onTerminal('tryouts list', { rows: 3, env: { ...env, LESS: 'FX' } });
    expect(plain).not.toContain('^[[');
  });
});

test('a filter for a game that nobody plays names the games there are in a pipe too, except with -q', async () => {
  expect(await told('tryouts list --game Fortnite -o ids')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'No application has game Fortnite. Games here: Chess, Go.\n',
  });
  expect((await told('tryouts list --game Fortnite -q')).stderr).toBe('');
  expect((await told('tryouts list --game Go --status rejected')).stderr).toBe('');
});

test('a tag that documents have in another case only is not silently an empty list', async () => {
  const { env } = await recordingService(() => ({
    status: 200,
    json: [{ id: 'doc_1', name: 'a', tags: ['Café'] }],
  }));
  const list = (word: string) => rosterctl(`docs list --tag ${word} -o ids`, { env });
  expect((await list('café')).stderr).toBe(
    'No document has the tag café. Did you mean Café? Tags here: Café.\n',
  );
  expect(await list('Cafe\u0301')).toMatchObject({ stdout: 'doc_1\n', stderr: '' });
});

test('an empty list of documents names only tags that no document has', async () => {
  const many = Array.from({ length: 250 }, (_, at) => `tag ${at}`);
  const { env } = await recordingService(() => ({
    status: 200,
    json: [
      { id: 'doc_1', name: 'a', contentType: 'image/gif', tags: many },
      { id: 'doc_2', name: 'b', contentType: 'image/gif', tags: ['legal'] },
    ],
  }));
  const list = async (...words: string[]) =>
    (await inProcess(['docs', 'list', '-o', 'ids', ...words], { env })).stderr;
  const both = ['--tag', 'legal', '--tag', 'tag 240'];
  for (const known of [both, [...both, '--type', 'png']]) expect(await list(...known)).toBe('');
  expect(await list('--tag', 'legal', '--tag', 'leagl')).toMatch(
    /^No document has the tag leagl\. Did you mean legal\? Tags here: /,
  );
  const aligned = await inProcess(['docs', 'list', ...both], {
    env: { ...env, ROSTERCTL_FORCE_TTY: '80' },
  });
  expect(aligned.stderr).toMatch(/^No document matches these filters\. Tags here: /);
});

test('a template beside another format is refused before any request', async () => {
  const before = service.requests.length;
  for (const beside of ['-o csv', '--json', '--fields id'])
    expect(
      (await inProcess(`tryouts list --template {id} ${beside}`, { env: service.env })).code,
    ).toBe(2);
  expect((await rosterctl('tryouts list --template {id', { env: service.env })).code).toBe(2);
  expect(service.requests.length).toBe(before);
});

describe('a field that the contract does not name, of a list that a filter cuts', async () => {
  const two = [application('app_1', { name: 'Ann' }), { ...application('app_2'), rank: 'Gold' }];
  const { env } = await keep(two);
  const list = (line: string) => inProcess(`tryouts list ${line}`, { home, env });

  test.each([
    ['--search Ann --fields id,rank', 'id\trank\napp_1\t\n'],
    ['--sort id --limit 1 --fields id,rank -o csv', 'id,rank\r\napp_1,\r\n'],
    ['--search Ann --template {id}<{rank}>', 'app_1<>\n'],
    ['--search Nobody --fields rank --json', '[]\n'],
  ])('is known by a record that is not shown: %s', async (line, stdout) => {
    expect(await list(line)).toMatchObject({ code: 0, stdout });
  });

  test.each(['--search Nobody --fields id,rnak', '--search Nobody --template {rnak}'])(
    'is refused where no record has it, also if none is shown: %s',
    async (line) => {
      const ran = await list(line);
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toMatch(/^Unknown field "rnak"\. Did you mean rank\?\nKnown fields: id, /);
    },
  );
});

describe('with wide, right-to-left, hostile and empty values', async () => {
  const records = [...hostileTexts, '日本語 '.repeat(20), 'שלום עולם', '👩‍👩‍👧 🇩🇪', '', null].map(
    (text, index) => ({
      ...application(`app_${index}`),
      name: text,
      status: index % 2 ? 'pending' : text,
      email: text,
      internalNotes: text,
      gamerTags: [{ game: text, gamerTag: text }],
      tags: [text],
      sizeBytes: 1000,
      teamIds: [text],
      game: text,
    }),
  );
  const hostile = await recordingService(() => ({
    status: 200,
    json: { data: records, total: records.length },
  }));
  test.each([40, 80, 120, 200])('no line of a list is wider than %i columns', async (columns) => {
    for (const line of ['tryouts list', 'players list', 'teams list -v', 'docs list']) {
      const env = { ...hostile.env, ROSTERCTL_FORCE_TTY: String(columns) };
      const { code, stdout } = await inProcess(line, { env, home });
      expect(code).toBe(0);
      const table = stdout.split('\n').filter((each) => /^(?:Id|id|app_| *\d+ )/.test(each));
      expect(table.length).toBeGreaterThan(records.length);
      for (const each of table) expect(displayWidth(each)).toBeLessThanOrEqual(columns);
    }
  });
});

test('names the teams of players on a terminal, which reads them once', async () => {
  const players = [
    { id: 'p1', name: 'Ann', teamIds: ['t1', 't2'] },
    { id: 'p2', name: 'Bea', teamIds: [] },
  ];
  const roster = await recordingService(({ url }) => ({
    status: 200,
    json: url.includes('/teams') ? [{ id: 't1', name: 'Foxes' }] : players,
  }));
  const at = { env: roster.env, home: temporaryFolder() };
  const table = async (line: string, requests = 1) => {
    roster.requests.length = 0;
    const own = { ...at.env, NO_COLOR: '1' };
    const { shown } = await converseInside(at.home, line.split(' '), [], own, 60);
    const text = shown.replaceAll('\r\n', '\n');
    expect(roster.requests).toHaveLength(requests);
    return text.split('\n')[1]?.trimEnd();
  };
  expect(await table('players list --fields id,name,teamIds')).toBe('p1  Ann   t1, t2');
  expect(await table('players list', 2)).toBe('p1  Ann   Foxes, t2');
  expect(await table('players list')).toBe('p1  Ann   Foxes, t2');
  expect(await table('players list --fields name,teamIds')).toBe('Ann   t1, t2');
  for (const format of ['-o csv', '--json', '-o table'])
    expect((await inProcess(`players list ${format}`, at)).stdout).not.toContain('Foxes');
});

test('web addresses are the last columns of a table on a terminal', async () => {
  const teams = ['a', 'b'].map((id) => ({
    id,
    name: `Team ${id}`,
    logoUrl: id === 'a' ? null : 'https://example.com/b.png',
    region: 'EU',
    createdAt: daysAgo(3),
  }));
  const roster = await recordingService(() => ({ status: 200, json: teams }));
  const table = async (columns: number) => {
    const env = { ...roster.env, NO_COLOR: '1' };
    const { text } = await inTerminal(['teams', 'list'], { home, columns, env });
    return afterErasing(text).split('\n')[0]?.split(/ {2,}/);
  };
  expect(await table(80)).toEqual(['Id', 'Name', 'Region', 'Created', 'Logo']);
  expect(await table(35)).toEqual(['Id', 'Name', 'Region', 'Created']);
  // A pipe keeps the order of the fields.
  const { stdout } = await rosterctl('teams list -o csv', { env: roster.env });
  expect(stdout.split('\r\n')[0]).toBe('id,name,logoUrl,region,createdAt');
});
