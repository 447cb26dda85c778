import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgress } from '../../src/bulk/run-progress.js';
import { application, cut, type Instead, keep } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { temporaryFolder } from '../support/run.js';

const football = {
  id: 'tag_1',
  game: 'Football',
  gamerTag: 'ilka',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
};

/** What a terminal shows of a line, without colour and cursor movement, line by line. */
async function screenOf(
  words: readonly string[],
  {
    statuses = ['pending', 'reviewing', 'pending'],
    instead,
    answers = [],
    columns = 100,
    env = {},
    talk = converseInside,
  }: {
    readonly statuses?: readonly string[];
    readonly instead?: Instead;
    readonly answers?: readonly (readonly [RegExp, string])[];
    readonly columns?: number;
    readonly env?: Record<string, string>;
    /** `converse` for a terminal of the system. */
    readonly talk?: typeof converse;
  } = {},
) {
  const all = statuses.map((status, index) =>
    application(`app_${index + 1}`, {
      status,
      name: ['Ilka Corvane', '東京 太郎', 'Wren Dorsk'][index % 3] ?? '',
      submittedAt: new Date(Date.now() - (index + 1) * 86_400_000).toISOString(),
      gamerTags: [football] as never,
    }),
  );
  const service = await keep(all, instead);
  const own = { ...service.env, NO_COLOR: '1', ...env };
  const { shown, code } = await talk(temporaryFolder(), words, answers, own, columns);
  // A progress line, which a slow machine draws more often, erases itself.
  // oxlint-disable-next-line no-control-regex
  const left = shown.replace(/[^\n]*\u001b\[[012]?K/g, '');
  // oxlint-disable-next-line no-control-regex
  const text = left.replace(/\u001b\[[?\d;]*[A-Za-z]/g, '').replaceAll('\r', '');
  return { code, lines: text.trimEnd().split('\n'), drawn: shown };
}

const setStatus = (line: string) => ['tryouts', 'set-status', ...line.split(' ')];

const head = (service: string) => new RegExp(` in org_7 \\(profile default, ${service}\\):$`);

test('a preview says how many of how many, in words of the filter, and names the newest first', async () => {
  const { lines, code } = await screenOf(
    setStatus('--status pending --game Football --limit 1 --to reviewing --yes'),
    { talk: converse },
  );
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^1 of 2 pending Football applications, newest first/);
  expect(lines[0]).toMatch(head('127\\.0\\.0\\.1:\\d+'));
  expect(lines[1]).toBe('  app_1  Ilka Corvane  1 d ago  pending → reviewing');
  expect(lines.at(-1)).toMatch(
    /^✔ Ilka Corvane \(app_1\): pending → reviewing\. {3}Undo: rosterctl runs undo [0-9a-f]{6}$/,
  );
});

test('a filter that has no simple words selects matching applications', async () => {
  const { lines } = await screenOf(setStatus('--where name~ilka --to rejected --dry-run'));
  expect(lines[0]).toMatch(/^1 matching application in org_7/);
});

test('a conversion of the newest says so between commas, and warns of flows once', async () => {
  const { lines } = await screenOf(
    ['tryouts', 'convert', '--status', 'pending', '--accept', '-L', '1', '--yes'],
    { columns: 200 },
  );
  expect(lines[0]).toMatch(/^1 of 2 pending applications, newest first, to convert, in org_7/);
  expect(lines.filter((line) => line.includes('Flows'))).toHaveLength(1);
});

test('warnings name the people, in the order of the rows, each kind on its own', async () => {
  const statuses = Array.from({ length: 14 }, (_, at) => (at % 2 ? 'accepted' : 'withdrawn'));
  const { lines } = await screenOf(setStatus('--all --to rejected -n'), { statuses, columns: 200 });
  const withdrawn = lines.filter((line) => line.includes('withdrawn by'));
  expect(withdrawn).toEqual([
    'Ilka Corvane (app_1) was withdrawn by the applicant.',
    'Wren Dorsk (app_3) was withdrawn by the applicant.',
    '東京 太郎 (app_5) was withdrawn by the applicant.',
    'Ilka Corvane (app_7) was withdrawn by the applicant.',
    'Wren Dorsk (app_9) was withdrawn by the applicant.',
    'Others were withdrawn by the applicant, too. A filter can leave them out: --not-status withdrawn',
  ]);
  const at = lines.indexOf(withdrawn[0] ?? '');
  expect(lines.slice(at, at + withdrawn.length)).toEqual(withdrawn);
});

test('a dry run leaves unchanged rows to the count, and -v lists them', async () => {
  const line = 'app_1 app_2 app_3 --to pending -n';
  const { lines } = await screenOf(setStatus(line));
  expect(lines.filter((each) => /^ {2}app_\d {2}/.test(each))).toEqual([
    expect.stringMatching(/^ {2}app_2 .* would change /),
  ]);
  expect(lines.at(-1)).toBe('2 unchanged, 1 would change, of 3. Nothing was sent.');
  const quiet = await screenOf(setStatus(`${line} -q`));
  expect(quiet.lines.filter((each) => each.includes('app_1'))).toEqual([]);
  const all = await screenOf(setStatus(`${line} -v`));
  expect(all.lines.filter((each) => /^ {2}app_\d {2}/.test(each))).toHaveLength(3);
});

test('the rows of a dry run stand under their head, and its warning below them', async () => {
  const { lines } = await screenOf(setStatus('app_1 app_2 app_9 --to rejected -n'), {
    columns: 80,
  });
  expect(lines.map((line) => line.trimEnd())).toEqual([
    expect.stringMatching(/^2 of 3 applications in org_7 \(profile default, .*\):$/),
    '  1 pending → rejected, 1 reviewing → rejected',
    '  app_1  Ilka Corvane  would change  pending → rejected',
    '  app_2  東京 太郎     would change  reviewing → rejected',
    expect.stringMatching(/^ {2}app_9 {16}failed /),
    "Status changes trigger your organization's Flows (automations). That cannot be",
    'undone.',
    '1 failed, 2 would change, of 3. Nothing was sent.',
  ]);
});

test('the counts of status changes add up to the rows: others keep their status', async () => {
  const words = 'tryouts update app_1 app_2 app_3 app_4 --status rejected --append-note Hi -n';
  const statuses = ['pending', 'reviewing', 'rejected', 'rejected'];
  const { lines } = await screenOf(words.split(' '), { statuses, columns: 200 });
  expect(lines[0]).toMatch(/^4 applications in org_7 /);
  expect(lines[1]).toBe('  1 pending → rejected, 1 reviewing → rejected, 2 keep their status');
});

test('a dry run of one record says what would change as the change itself does', async () => {
  const words = ['tryouts', 'update', 'app_1', '--status', 'rejected', '--note', 'Call', '-n'];
  const { lines } = await screenOf(words);
  expect(lines.slice(-3)).toEqual([
    'Would change Ilka Corvane (app_1)',
    '  pending → rejected',
    expect.stringMatching(/^ {2}note added: Call$/),
  ]);
});

test('a dry run of a create lists the fields of the record, without an arrow from nothing', async () => {
  const words =
    '-p sandbox players create --name Ann -F teamIds[]=team_0001 -F teamIds[]=team_0002 -n';
  const own = { NO_COLOR: '1' };
  const { printed } = await converse(temporaryFolder(), words.split(' '), [], own, 80);
  const lines = ['Would create', '  Name Ann', '  Teams team_0001, team_0002', ''];
  expect(printed).toContain(lines.join('\r\n'));
});

test('a body too wide for the terminal has a line for each field', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'a.txt'), 'text');
  const words = ['-p', 'sandbox', 'docs', 'upload', 'a.txt', '-n'];
  const { printed } = await converse(home, words, [], { NO_COLOR: '1' }, 80);
  const lines = printed.split('\r\n');
  expect(lines).toContain(
    '    {"organizationId":"org_demo","contentType":"text/plain","sizeBytes":4}',
  );
  expect(lines).toContain('      "contentType": "text/plain",');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test('a dry run says of a record that would be made only that it is new', async () => {
  const home = temporaryFolder();
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(home, name), name);
  const shown = async (line: string) =>
    (await converseInside(home, `-p sandbox ${line} -n`.split(' '), [], { NO_COLOR: '1' }, 40))
      .shown;
  expect(await shown('docs upload a.txt')).toContain('Would create\r\n  new document\r\n');
  expect(await shown('docs upload a.txt b.txt')).toContain('a.txt  would be uploaded\r\n');
  expect(await shown('tryouts convert app_0061 --accept')).toContain(
    'accepted\r\n  new player\r\n',
  );
  const assumed = '/players/player_0001  (assumed\r\n  route)\r\n';
  expect(await shown('players delete player_0001')).toContain(assumed);
});

test('a dry run shows a value that begins like the mark of a new record as it is', async () => {
  const line = '-p sandbox players update player_0001 -n -F';
  const words = [...line.split(' '), 'bio=(new here) hi'];
  const { shown } = await converseInside(temporaryFolder(), words, [], { NO_COLOR: '1' }, 80);
  expect(shown).toMatch(/Bio (-|\S+) (→|>) \(new here\) hi/);
});

test('an undo that is refused names the run by its short name', async () => {
  const home = temporaryFolder();
  const run = async (line: string) =>
    (await converseInside(home, `-p sandbox ${line}`.split(' '), [], { NO_COLOR: '1' })).shown;
  await run('tryouts convert app_0016 app_0022 --yes');
  expect(await run('runs undo last')).toMatch(/Run [0-9a-f]{6} converted 2 applications\./);
});

test('the keys of a list to choose from are whole words on a narrow terminal', async () => {
  const words = ['-p', 'sandbox', 'tryouts', 'get'];
  const answers = [[/Esc/, '\u001b']] as const;
  const { shown } = await converseInside(temporaryFolder(), words, answers, { NO_COLOR: '1' }, 40);
  expect(shown).toMatch(/64 in all, \d+ more: type to search,\s+Enter, Esc/);
});

test('an upload that failed is named once', async () => {
  const home = temporaryFolder();
  for (const name of ['a.png', 'b.png']) writeFileSync(join(home, name), 'no picture');
  const words = ['-p', 'sandbox', 'docs', 'upload', 'a.png', 'b.png'];
  const { shown } = await converseInside(home, words, [], { NO_COLOR: '1' }, 120);
  expect(shown).toContain('  a.png  failed  has the extension of image/png, but its content is');
});

test('uploads finish --all without an unfinished upload says so once', async () => {
  const words = ['-p', 'sandbox', 'uploads', 'finish', '--all'];
  const { shown } = await converseInside(temporaryFolder(), words, [], { NO_COLOR: '1' });
  expect(shown.trim()).toBe('✔ No upload is unfinished.');
});

test('names of wide letters keep the columns aligned', async () => {
  const { lines } = await screenOf(setStatus('app_1 app_2 --to rejected --yes'));
  expect(lines.slice(1, 4)).toEqual([
    '  1 pending → rejected, 1 reviewing → rejected',
    '  app_1  Ilka Corvane  1 d ago  pending → rejected',
    '  app_2  東京 太郎     2 d ago  reviewing → rejected',
  ]);
});

const refuseSecond: Instead = (_, step) =>
  step === 'PATCH app_2' ? { status: 400, json: { error: 'invalid' } } : undefined;

test('after a change of many only the rows that went wrong are listed, by name; -v lists all', async () => {
  const line = 'app_1 app_2 app_3 --to pending --yes';
  const { lines, code } = await screenOf(setStatus(line), {
    instead: refuseSecond,
    talk: converse,
  });
  expect(code).toBe(8);
  expect(lines.slice(-3)).toEqual(
    [
      '✘ 2 unchanged, 1 failed, of 3. Run 000000.',
      '  app_2  東京 太郎  failed  The service rejected the request: 400 (invalid).',
      'To try those again: rosterctl runs retry 000000',
    ].map((each) => expect.stringMatching(pattern(each))),
  );
  const slow = await screenOf(setStatus(`${line} --rate 90/m`), { instead: refuseSecond });
  expect(slow.lines.at(-1)).toMatch(/: rosterctl runs retry \w{6} --rate 90\/m$/);
  const all = await screenOf(setStatus(`${line} -v`), { instead: refuseSecond });
  const rows = all.lines.filter((each) => /^app_\d {2}/.test(each));
  expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
    ['app_1', 'Ilka Corvane', 'unchanged'],
    ['app_3', 'Wren Dorsk', 'unchanged'],
    ['app_2', '東京 太郎', 'failed'],
  ]);
});

test('lost answers that stop a run are said beside their rows only', async () => {
  const { lines, code } = await screenOf(setStatus('--status pending --to rejected --yes'), {
    columns: 200,
    statuses: Array.from({ length: 9 }, () => 'pending'),
    instead: (_, step) => (step.startsWith('PATCH') ? cut : undefined),
    env: { ROSTERCTL_CONCURRENCY: '1', ROSTERCTL_RETRIES: '0', ROSTERCTL_SETTLE: '10ms' },
  });
  expect(code).toBe(10);
  expect(lines.filter((line) => line.includes('not sent'))).not.toEqual([]);
  const lost = lines.filter((line) => line.includes('may have taken effect'));
  const beside = expect.stringMatching(/^ {2}app_\d .* unknown /) as string;
  expect(lost).toEqual(lost.map(() => beside));
  expect(lines.at(-1)).toMatch(/rosterctl runs resume/);
});

test('a refusal that stops a run is said once, and leads to another key', async () => {
  const { lines, code } = await screenOf(setStatus('app_1 app_2 app_3 --to rejected --yes'), {
    columns: 200,
    instead: (_, step) =>
      step.startsWith('PATCH')
        ? { status: 403, json: { error: 'forbidden', message: 'player only' } }
        : undefined,
  });
  expect(code).toBe(7);
  expect(lines.filter((line) => line.includes('player only'))).toHaveLength(1);
  expect(lines.at(-1)).toMatch(
    /^Stopped after 1 of 3\. With a key that may change applications: rosterctl runs resume \w{6}$/,
  );
});

/** A line to the letter, but for the name of a run. */
function pattern(line: string): RegExp {
  const literal = line.replaceAll(/[.()]/g, '\\$&').replaceAll('000000', '[0-9a-f]{6}');
  return new RegExp(`^${literal}$`);
}

test('a narrow terminal gets whole words, and the undo command on a line of its own', async () => {
  const words = ['tryouts', 'update', 'app_1', '--status', 'rejected', '--append-note', 'Too late'];
  const { lines } = await screenOf(words, { columns: 40 });
  expect(lines).toEqual([
    '✔ Ilka Corvane (app_1): pending →',
    'rejected, note added.',
    expect.stringMatching(/^Undo: rosterctl runs undo [0-9a-f]{6}$/),
  ]);
});

test('marks and bars are ASCII where the locale is not UTF-8', async () => {
  const line = 'app_1 app_2 app_3 --to rejected --yes --rate 3/s';
  const { lines, drawn } = await screenOf(setStatus(line), {
    env: { LANG: 'C' },
    talk: converse,
  });
  expect(drawn).toMatch(/[#.]{28} {1,2}\d of 3/);
  expect(lines.at(-1)).toMatch(/^ok 3 changed\. Run/);
});

test('a change is told in ASCII where the locale is not UTF-8', async () => {
  const { lines } = await screenOf('tryouts update app_1 --status rejected'.split(' '), {
    env: { LANG: 'C' },
  });
  expect(lines[0]).toMatch(/^ok Ilka Corvane \(app_1\): pending > rejected/);
});

test('the answer to a question whose rows can be listed reads Yes, as to any other', async () => {
  const { lines } = await screenOf(setStatus('--all --to rejected'), {
    statuses: Array.from({ length: 9 }, () => 'pending'),
    answers: [[/Change 9 applications\? \(y\/N\/l\)/, 'y\r']],
  });
  expect(lines.filter((line) => line.includes('✔ Change'))).toEqual([
    expect.stringMatching(/✔ Change 9 applications\? Yes$/),
  ]);
});

test('Escape at the question is a no', async () => {
  const { code, lines } = await screenOf(setStatus('app_1 app_2 --to rejected'), {
    answers: [[/\(y\/N\)/, '\u001b']],
    talk: converse,
  });
  expect(code).toBe(130);
  expect(lines.at(-1)).toBe('Nothing was done.');
});

const limiter = { heldMs: 0, learnedRate: undefined };
const clock = () => performance.now();

test('progress has no rate and no time left before the first row is done or while it waits to check', () => {
  let done = 0;
  const run = {
    tasks: [
      { row: 1, id: 'a' },
      { row: 2, id: 'b' },
    ],
    session: {} as never,
    plan: { head: { action: 'players.delete' } },
  };
  let checkMs = 0;
  const times = { clock, checkMs: () => checkMs };
  const { text, share } = runProgress(run, () => done, limiter, times);
  expect([text(), share()]).toEqual(['0 of 2 deleted so far', 0]);
  done = 1;
  checkMs = 11_500;
  expect(text()).toBe('1 of 2; checking unanswered changes in 12 s');
  checkMs = 0;
  expect(text()).toMatch(/^1 of 2, [\d.]+\/s, \d+ s left$/);
  expect(share()).toBe(0.5);
});

test('progress has no rate and no time left while the service is silent', () => {
  let done = 1;
  let now = 0;
  const run = {
    tasks: Array.from({ length: 9 }, (_, at) => ({ row: at + 1, id: `app_${at}` })),
    session: {} as never,
    plan: { head: { action: 'players.delete' } },
  };
  const times = { clock: () => now, checkMs: () => 0 };
  const { text } = runProgress(run, () => done, limiter, times);
  now = 1000;
  expect(text()).toBe('1 of 9, 1.0/s, 8 s left');
  now = 8_999;
  expect(text()).toMatch(/left$/);
  now = 24_000;
  expect(text()).toBe('1 of 9, none in the last 23 s');
  done = 2;
  expect(text()).toBe('2 of 9, 0.1/s, 84 s left');
});

test('an upload has no rate before its first byte', () => {
  const bytes = { done: 0, of: () => 2048 };
  const run = {
    tasks: [{ row: 1, id: 'a' }],
    session: { transfer: { bytes } } as never,
    plan: { head: { action: 'docs.upload' } },
  };
  const { text, share } = runProgress(run, () => 0, limiter, { clock, checkMs: () => 0 });
  expect(text()).toBe('0 of 1 file, 0 B of 2.0 KiB');
  bytes.done = 1024;
  expect(text()).toMatch(/^0 of 1 file, 1\.0 KiB of 2\.0 KiB, .*\/s, \d+ s left$/);
  expect(share()).toBe(0.5);
  // Its bytes are sent; a bar, a rate or a time would say nothing of the wait for the document.
  bytes.done = 2048;
  expect([text(), share()]).toEqual(['0 of 1 file, 2.0 KiB sent', undefined]);
});
