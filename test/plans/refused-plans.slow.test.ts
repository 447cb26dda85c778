/** Plans that ask, that cannot be made, and that somebody forged. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { report, several, userInside, userOf } from '../bulk/user.js';
import { application, keep } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { key, organization } from '../support/service.js';
import { forge, planIn, planned, reject, writes } from './two-admins.js';

const isHostile = (letter: string) => '\u001b\u009b\u202e\r'.includes(letter);

describe('it asks as the change itself would', () => {
  test('without a terminal it needs --yes, and above --max-changes more', async () => {
    const { service, ben } = await planned({ user: userOf });
    expect((await ben.run('plan apply p.json')).code).toBe(2);
    expect((await ben.run('plan apply p.json --yes --expect 2')).code).toBe(11);
    expect((await ben.run('plan apply p.json --yes --max-changes 2')).code).toBe(11);
    expect(writes(service)).toEqual([]);
  });

  test('a plan that deletes several needs their number', async () => {
    const home = temporaryFolder();
    const run = (line: string) => rosterctl(`-p sandbox ${line}`, { home });
    await run('players delete player_0001 player_0002 --plan p.json');
    expect((await run('plan apply p.json --yes')).code).toBe(2);
    expect((await run('plan apply p.json --yes --expect 3')).code).toBe(11);
    expect((await run('plan apply p.json --yes --expect 2')).code).toBe(0);
  });
});

/** Runs a line that makes no plan p.json and sends nothing. */
async function refused(line: string) {
  const service = await keep(several(3));
  const anna = userInside(service);
  const ran = await anna.run(line);
  expect(existsSync(join(anna.home, 'p.json'))).toBe(false);
  expect(writes(service)).toEqual([]);
  return ran;
}

const signedNote = application('app_1', {
  internalNotes: 'See https://x.example/a?X-Amz-Signature=abc',
});

describe('what cannot be planned is refused, and leaves no file', () => {
  test.each([
    [`${reject} --expires 2h`, '--expires needs --plan FILE.'],
    [`${reject} --plan -`, '--plan needs a file'],
    [`${reject} --plan p.xlsx`, '--plan cannot write .xlsx files'],
    [`${reject} --plan p.json --results r.csv`, '--results and --plan cannot be given together'],
    [`${reject} --plan p.json --restart`, '--restart and --plan cannot be given together'],
    [`${reject} --plan p.json --fail-fast`, '--fail-fast and --plan cannot be given together'],
    [`${reject} --append-note ${key} --plan p.json`, 'The plan would hold the API key'],
    [
      `${reject} --append-note https://x.example/a?X-Amz-Signature=abc --plan p.json`,
      'The plan would hold a signed URL',
    ],
  ])('%s', async (line, message) => {
    const ran = await refused(line);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('a line to append to a note that holds a signed URL', async () => {
    const anna = userInside(await keep([signedNote]));
    const ran = await anna.run(
      'tryouts set-status app_1 --to rejected --append-note a --plan p.json',
    );
    expect([ran.code, ran.stderr]).toEqual([
      2,
      expect.stringContaining('The plan would hold a signed URL'),
    ]);
    expect(existsSync(join(anna.home, 'p.json'))).toBe(false);
  });

  test('a row that would fail', async () => {
    const ran = await refused('tryouts set-status app_1 app_99 --to rejected --plan p.json --json');
    expect(ran.code).toBe(8);
    expect(ran.stderr).toContain('No plan was written: 1 row cannot be changed.');
    expect(report(ran).results).toMatchObject([{ result: 'would_change' }, { result: 'failed' }]);
  });

  test('a row that cannot be read for now', async () => {
    const service = await keep(several(2), (_, step) =>
      step === 'GET app_2' ? { status: 503, json: { error: 'unavailable' } } : undefined,
    );
    const anna = userInside(service);
    const ran = await anna.run('tryouts set-status app_1 app_2 --to rejected --plan p.json');
    expect([ran.code, ran.stderr]).toEqual([
      9,
      expect.stringContaining('1 row could not be read. Run the same command again.'),
    ]);
    expect(existsSync(join(anna.home, 'p.json'))).toBe(false);
  });

  test('more changes than --max-changes, or another number than --expect', async () => {
    expect((await refused(`${reject} --plan p.json --max-changes 2`)).code).toBe(11);
    expect((await refused(`${reject} --plan p.json --expect 2`)).code).toBe(11);
  });

  test('a file from stdin', async () => {
    const home = temporaryFolder();
    const ran = await inProcess('-p sandbox docs upload - --name a.txt --plan p.json', {
      home,
      stdin: 'hello',
    });
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('stdin cannot be planned')]);
    expect(existsSync(join(home, 'p.json'))).toBe(false);
  });
});

test('a plan holds the hash of a value with a signed URL, and every other value itself', async () => {
  const anna = userInside(await keep([signedNote]));
  await anna.run('tryouts set-status app_1 --to rejected --note Called --plan p.json');
  expect(planIn(join(anna.home, 'p.json')).rows).toMatchObject([
    {
      changes: [
        { field: 'status', from: 'pending', to: 'rejected' },
        { field: 'internalNotes', from: expect.stringMatching(/^sha256:/), to: 'Called' },
      ],
    },
  ]);
});

test('a plan never replaces a file, which somebody may have reviewed', async () => {
  const { anna, service } = await planned();
  const asked = service.requests.length;
  const ran = await anna.run(`${reject} --plan p.json --json`);
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'exists']);
  expect(service.requests).toHaveLength(asked);
});

test('-n writes no plan, and -q says nothing', async () => {
  const service = await keep(several(3));
  const anna = userInside(service);
  const dry = await anna.run(`${reject} --plan p.json -n`);
  expect([dry.code, dry.stderr]).toEqual([
    0,
    expect.stringContaining('Without --dry-run the plan would be written to p.json.'),
  ]);
  expect(existsSync(join(anna.home, 'p.json'))).toBe(false);
  const quiet = await anna.run(`${reject} --plan p.json -q`);
  expect(quiet).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('rows without a change are counted and left out; a plan without any row is one', async () => {
  const service = await keep([application('app_1'), application('app_2', { status: 'rejected' })]);
  const anna = userInside(service);
  await anna.run('tryouts set-status app_1 app_2 --to rejected --plan p.json');
  expect(planIn(join(anna.home, 'p.json'))).toMatchObject({
    leftOut: { unchanged: 1, skipped: 0 },
    rows: [{ row: 1, id: 'app_1' }],
  });
  await anna.run('tryouts set-status app_2 --to rejected --plan q.json');
  const ran = await anna.run('plan apply q.json --yes --json');
  expect([ran.code, report(ran).results]).toEqual([0, []]);
});

test('guards are checked again', async () => {
  const { service, ben, plan } = await planned({
    line: `${reject} --if 'name~Applicant'`,
  });
  expect(plan['guards']).toMatchObject({ conditions: [{ field: 'name' }] });
  service.kept.set('app_2', application('app_2', { name: 'Somebody' }));
  const ran = await ben.run('plan apply p.json --yes --json');
  expect([ran.code, errorOf(ran)['message']]).toEqual([
    11,
    '1 of 3 records no longer matches the plan. Nothing was sent.',
  ]);
  expect(writes(service)).toEqual([]);
});

test('the plan of a conversion does not convert who was rejected since', async () => {
  const service = await keep(
    ['app_1', 'app_2'].map((id) => application(id, { status: 'accepted' })),
  );
  const user = userInside(service);
  await user.run('tryouts convert app_1 app_2 --plan p.json');
  service.kept.set('app_1', application('app_1', { status: 'rejected' }));
  const ran = await user.run('plan apply p.json --yes --json');
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'drift']);
  expect(writes(service)).toEqual([]);
  expect((await user.run('plan apply p.json --yes --allow-drift')).code).toBe(8);
  expect(writes(service)).toEqual(['CONVERT app_2']);
});

test('hostile text in a plan is harmless on the screen and in a spreadsheet', async () => {
  const { ben, file } = await planned();
  const evil = '\u001b[2J\u202egnp.exe\r\u009b31m=HYPERLINK("x")';
  forge(file, ({ rows }) => ({
    madeBy: { user: evil, host: evil },
    command: evil,
    version: evil,
    rows: rows.map((row) => ({
      ...row,
      name: evil,
      changes: [{ field: evil, from: evil, to: evil }],
    })),
  }));
  for (const flags of ['', '-o json', '-o csv', '-o ndjson']) {
    for (const width of [{}, { ROSTERCTL_FORCE_TTY: '40' }]) {
      const ran = await inProcess(`plan show p.json ${flags}`, {
        home: ben.home,
        cwd: ben.home,
        env: width,
      });
      expect(ran.code).toBe(0);
      const isData = flags === '-o csv';
      // CSV for a spreadsheet keeps the text, behind a quote where it would be a formula.
      if (!isData) expect(ran.stdout.split('').filter(isHostile)).toEqual([]);
    }
  }
  const ran = await ben.run('plan apply p.json --yes');
  expect(ran.code).toBe(11);
  expect(ran.stderr.split('').filter(isHostile)).toEqual([]);
});

test.each([
  ['constructor', 'tryouts'],
  ['__proto__', 'tryouts'],
  ['teams.delete', 'teams'],
  ['players.create', 'players'],
  ['tryouts.set-status', 'players'],
  ['runs.undo', 'constructor'],
])('a plan of %s for %s is refused', async (action, resource) => {
  const { service, ben, file } = await planned();
  forge(file, () => ({ action, resource }));
  const ran = await ben.run('plan apply p.json --yes');
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('makes a plan of')]);
  expect(writes(service)).toEqual([]);
});

test.each([
  [{}, 11],
  [{ note: 7 }, 11],
  [{ note: { kind: 'replace' } }, 11],
  [{ status: 7 }, 11],
])('a job that somebody forged (%j) sends nothing', async (job, code) => {
  const { service, ben, file } = await planned();
  forge(file, () => ({ job }));
  const ran = await ben.run('plan apply p.json --yes');
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({
    code,
    stderr: expect.not.stringMatching(/bug|TypeError/),
  });
  expect(writes(service)).toEqual([]);
});

test('the id of the organization is never that of a record', async () => {
  const { service, ben, file } = await planned();
  forge(file, ({ rows }) => ({ rows: [{ ...rows[0], id: organization }] }));
  expect((await ben.run('plan apply p.json --yes')).code).toBe(2);
  expect(writes(service)).toEqual([]);
});
