import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

test.each([
  ['docs delete doc_0001 doc_0002', '2 documents to delete', 'Delete 2 documents?'],
  ['tryouts convert app_0061 app_0062', '2 applications to convert', 'Convert 2 applications?'],
  [
    'tryouts set-status app_0061 app_0062 --to rejected',
    '2 applications',
    'Change 2 applications?',
  ],
])('%s previews %s, and asks: %s', async (line, head, question) => {
  const words = ['-p', 'sandbox', ...line.split(' ')];
  const asked = new RegExp(question.replace('?', '\\?'));
  const { shown, code } = await converse(temporaryFolder(), words, [[asked, 'n\r']]);
  expect(shown).toContain(`${head} in org_demo (profile sandbox):`);
  expect(shown).toContain('Nothing was done.');
  expect(code).toBe(130);
});

test('a command that changes one thing asks as well, and does it only after y', async () => {
  const home = temporaryFolder();
  const asked = async (line: string, question: RegExp, key: string) => {
    const { shown, code } = await converseInside(home, line.split(' '), [[question, key]], plain);
    return [code, shown.includes('Nothing was done.')];
  };
  const remove = '-p sandbox api teams/team_0001 -X DELETE';
  const gone = /Send DELETE \/teams\/team_0001\? This cannot be undone\./;
  expect(await asked(remove, gone, '\r')).toEqual([130, true]);
  expect((await rosterctl('-p sandbox teams get team_0001', { home })).code).toBe(0);
  expect(await asked(remove, gone, 'y\r')).toEqual([0, false]);
  expect((await rosterctl('-p sandbox teams get team_0001', { home })).code).toBe(5);
  await rosterctl('-p sandbox players update player_0001 --name Mira', { home });
  const run = /Delete run [^?]+ and everything needed to resume or undo it\?/;
  const { stdout: name } = await rosterctl('-p sandbox runs list --all -o ids', { home });
  const prune = `-p sandbox runs prune ${name.trim()}`;
  expect(await asked(prune, run, 'n\r')).toEqual([130, true]);
  expect(await asked(prune, run, 'y\r')).toEqual([0, false]);
});

/** Without colour, so that a mark stands beside its text. */
const plain = { NO_COLOR: '1' };

const applications = (count: number) =>
  Array.from({ length: count }, (_, index) => `app_${String(index + 20).padStart(4, '0')}`);

const rowsIn = (shown: string) => new Set(shown.match(/app_\d{4}(?= {2}\S.* → )/g));

test('the preview lists up to seven rows, or the first five of more, and l lists all before the answer', async () => {
  const line = (count: number, to = 'pending') => [
    'tryouts',
    'set-status',
    ...applications(count),
    '--to',
    to,
  ];
  const home = temporaryFolder();
  await inProcess(['-p', 'sandbox', ...line(8, 'reviewing'), '--yes'], { home });
  const ask = (count: number, keys: [RegExp, string][]) =>
    converseInside(home, ['-p', 'sandbox', ...line(count)], keys, plain);
  const seven = await ask(7, [[/\(y\/N\)/, 'n\r']]);
  expect(rowsIn(seven.shown)).toEqual(new Set(applications(7)));
  const some = await ask(8, [[/\(y\/N\/l\)/, '\r']]);
  expect([some.code, rowsIn(some.shown).size]).toEqual([130, 5]);
  expect(some.shown).toContain('… 3 more (l lists all)');
  const listed = await ask(8, [
    [/\(y\/N\/l\)/, 'L\r'],
    [/app_0027 {2}[^]*\(y\/N\/l\)/, 'y\r'],
  ]);
  expect(rowsIn(listed.shown)).toEqual(new Set(applications(8)));
  expect(listed.shown).toMatch(/✔ 8 changed\. Run [0-9a-f]{6}\./);
});

test('an answer that a question does not offer is asked for again', async () => {
  const line = ['-p', 'sandbox', 'tryouts', 'set-status', ...applications(8), '--to', 'pending'];
  for (const own of [plain, { ...plain, ROSTERCTL_PROMPTS: 'plain' }]) {
    const home = temporaryFolder();
    // Plain questions read what the terminal makes of the keys.
    const talk = own === plain ? converseInside : converse;
    await inProcess([...line.slice(0, -1), 'reviewing', '--yes'], { home });
    const some = await talk(
      home,
      line,
      [
        [/\(y\/N\/l\)/, 'ja\r'],
        [/Answer y, n or l\./, 'y\r'],
      ],
      own,
    );
    expect([some.code, some.shown]).toEqual([0, expect.stringContaining('8 changed')]);
    const two = await talk(
      home,
      [...line.slice(0, 6), '--to', 'rejected'],
      [
        [/\(y\/N\)/, 'ja\r'],
        [/Answer y or n\./, 'no\r'],
      ],
      own,
    );
    expect([two.code, two.shown]).toEqual([130, expect.stringContaining('Nothing was done.')]);
  }
});

test('the preview of an import offers l only where it answers, and lists all rows in its own words', async () => {
  const home = temporaryFolder();
  const importing = (count: number, keys: [RegExp, string][]) => {
    const rows = Array.from({ length: count }, (_, at) => `New ${at},new${at}@example.org`);
    writeFileSync(join(home, 'roster.csv'), ['name,email', ...rows].join('\n'));
    const words = ['-p', 'sandbox', 'players', 'import', 'roster.csv', '--key', 'email'];
    return converseInside(home, words, keys, plain);
  };
  const six = await importing(6, [[/\(y\/N\)/, 'n\r']]);
  expect(six.shown).toMatch(/… 1 more\r?\n/);
  const eight = await importing(8, [
    [/… 3 more \(l lists all\)[^]*\(y\/N\/l\)/, 'l\r'],
    [/\+ New 7 <new7@example\.org>[^]*\(y\/N\/l\)/, 'n\r'],
  ]);
  expect(eight.code).toBe(130);
});

test('all rows of a preview are wrapped for the pager, too', async () => {
  const home = temporaryFolder();
  const rows = Array.from({ length: 60 }, (_, at) => `New ${at},new${at}@example.org`);
  const file = `${'the-roster-of-our-club-'.repeat(4)}.csv`;
  writeFileSync(join(home, file), ['name,email', ...rows].join('\n'));
  const words = ['-p', 'sandbox', 'players', 'import', file, '--key', 'email'];
  const { shown } = await converse(
    home,
    words,
    [
      [/\(y\/N\/l\)/, 'l\r'],
      [/New 59[^]*\(y\/N\/l\)/, 'n\r'],
    ],
    { ...plain, PAGER: 'sed s/^/|/' },
  );
  expect(shown).toMatch(/\|.*, by\r?\n\|email, to players of org_demo \(profile sandbox\):\r?\n/);
});

test('a conversion at a terminal names the applicant, not only the id', async () => {
  const words = ['-p', 'sandbox', 'tryouts', 'convert', 'app_0020', '--accept'];
  const { shown } = await converseInside(temporaryFolder(), words, [[/\(y\/N\)/, 'y\r']], plain);
  expect(shown).toMatch(/✔ [^:]+ \(app_0020\): .*converted to player_/);
});

test('a record that is already as asked is named once', async () => {
  const words = ['-p', 'sandbox', 'tryouts', 'update', 'app_0020', '--status'];
  const home = temporaryFolder();
  await inProcess([...words, 'rejected'], { home });
  const { printed, code } = await converseInside(home, [...words, 'rejected'], [], plain);
  expect(printed.trim()).toMatch(/^✔ \S.* \(app_0020\) is already rejected; nothing was sent\.$/);
  expect(code).toBe(0);
  const clear = ['-p', 'sandbox', 'tryouts', 'update', 'app_0020', '--clear-note'];
  await inProcess(clear, { home });
  const { stderr } = await inProcess(clear, { home });
  expect(stderr).toMatch(/^\S.* \(app_0020\) has no notes; nothing was sent\.\n$/);
});

test('a conversion and an undone note read as what they did', async () => {
  const home = temporaryFolder();
  const say = async (line: string) =>
    (
      await converseInside(home, ['-p', 'sandbox', ...line.split(' ')], [], {
        ...plain,
        PAGER: 'cat',
      })
    ).printed;
  await say('tryouts convert app_0061 --yes');
  expect(await say('tryouts get app_0061')).toMatch(/Here +.* converted to player_\d{4}/);
  await say('tryouts update app_0064 --append-note First --yes');
  await say('tryouts update app_0064 --append-note Strong --yes');
  const undone = await say('runs undo last --yes');
  expect(undone).toMatch(/\(app_0064\): note removed\./);
  expect(undone).toMatch(/^Of run [0-9a-f]{6}: 1 can be undone/m);
});
