import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, keep, steps, written } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl } from '../support/run.js';
import { recordingService } from '../support/service.js';
import { ids, inProcessAtHome, report, runFolders, several, userOf } from './user.js';

// A run's files are read back exactly as written, and hold no notes.

test('cells that an export guarded appear unchanged in --results', async () => {
  const notes = '- first point';
  const service = await keep([application('-k2', { internalNotes: notes })], (_, step) =>
    step.startsWith('PATCH') ? { status: 400, json: { error: 'validation' } } : undefined,
  );
  const user = userOf(service);
  const edited = (await user.run('tryouts list -o csv')).stdout.replace('pending', 'rejected');
  writeFileSync(join(user.home, 'in.csv'), edited);
  const line = 'tryouts set-status --csv in.csv --results out.csv --yes --json';
  expect((await user.run(line)).code).toBe(8);
  const [, before = ''] = edited.split('\r\n');
  const [, after = ''] = readFileSync(join(user.home, 'out.csv'), 'utf8').split('\r\n');
  expect(before).toContain("'- first point");
  expect(after.startsWith(`${before},failed,`)).toBe(true);
});

describe('--results has the input columns as they stood', () => {
  const input = [
    'id,status,note',
    'app_1,,<clear>',
    "app_2,,'<clear>",
    "app_3,,'=2+2",
    "app_4,,'hello",
    "app_5,,''=x",
  ];

  test('and the file can be sent again', async () => {
    const service = await keep(several(5));
    for (const app of service.kept.values())
      service.kept.set(app.id, { ...app, internalNotes: 'old' });
    const user = userOf(service, inProcessAtHome);
    writeFileSync(join(user.home, 'in.csv'), `${input.join('\n')}\n`);
    expect(await user.run('tryouts update --csv in.csv --results out.csv --yes')).toMatchObject({
      code: 0,
    });
    const [head, ...lines] = readFileSync(join(user.home, 'out.csv'), 'utf8').split('\r\n');
    expect(head).toBe(`${input[0]},result,error_code,message`);
    expect(lines.slice(0, -1)).toEqual(input.slice(1).map((line) => `${line},changed,,`));
    const notes = [...service.kept.values()].map(({ internalNotes }) => internalNotes);
    expect(notes).toEqual([null, '<clear>', '=2+2', "'hello", "'=x"]);
    const again = 'tryouts update --csv out.csv --ignore-columns --yes --json';
    expect(report(await user.run(again)).summary).toMatchObject({ changed: 0, unchanged: 5 });
  });

  test('but for a formula, which gets its guard', async () => {
    const service = await keep(several(1));
    const user = userOf(service, inProcessAtHome);
    writeFileSync(join(user.home, 'in.csv'), 'id,note\napp_1,=1+1\n');
    await user.run('tryouts update --csv in.csv --results out.csv --yes');
    expect(readFileSync(join(user.home, 'out.csv'), 'utf8')).toContain("\r\napp_1,'=1+1,changed,,");
    await user.run('tryouts update --csv in.csv --results raw.csv --csv-raw --yes');
    expect(readFileSync(join(user.home, 'raw.csv'), 'utf8')).toContain('\r\napp_1,=1+1,unchanged');
  });
});

test.each([
  ['ID', ''],
  ['Applicant', '--map Applicant=id'],
])('--results adds no second id to an id column called %s', async (name, flags) => {
  const user = userOf(await keep(several(1)), inProcessAtHome);
  writeFileSync(join(user.home, 'in.csv'), `${name},status\napp_1,rejected\n`);
  const line = (file: string) => `tryouts set-status --csv ${file} ${flags} --yes --json`;
  await user.run(`${line('in.csv')} --results out.csv`);
  expect(readFileSync(join(user.home, 'out.csv'), 'utf8')).toBe(
    `${name},status,result,error_code,message\r\napp_1,rejected,changed,,\r\n`,
  );
  const again = await user.run(`${line('out.csv')} --ignore-columns`);
  expect(report(again).summary).toMatchObject({ unchanged: 1 });
});

describe('a flag for a part of a field keeps what the CSV says of the rest', () => {
  const player = { id: 'p1', name: 'Ann', address: { city: 'Ulm', zip: '1', street: 'A' } };
  const paper = { id: 'd1', name: 'Rules', tags: ['old'] };
  const applicant = application('a1', { status: 'accepted' });
  const answers: Readonly<Record<string, unknown>> = {
    '/v1/players/org_7/p1': player,
    '/v1/documents/org_7': [paper],
    '/v1/tryout-applications/a1?organizationId=org_7': applicant,
  };
  test.each([
    [
      'players update',
      'id,address.zip\np1,99',
      '-F address.city=Bonn',
      { address: { city: 'Bonn', zip: '99', street: 'A' } },
    ],
    [
      'docs update',
      'id,tags\nd1,new;draft',
      '--add-tag signed',
      { tags: ['new', 'draft', 'signed'] },
    ],
    [
      'tryouts convert',
      'id,player.role\na1,IGL',
      '-F player.kind=x',
      { player: { role: 'IGL', kind: 'x' } },
    ],
  ])('%s', async (command, csv, flags, after) => {
    const service = await recordingService(({ url }) => ({
      status: answers[url] ? 200 : 404,
      json: answers[url] ?? { error: 'notFound' },
    }));
    const user = userOf(service, inProcessAtHome);
    writeFileSync(join(user.home, 'in.csv'), csv);
    const ran = await user.run(`${command} --csv in.csv ${flags} -n --json`);
    expect(report(ran).results).toMatchObject([{ after }]);
  });
});

test('a spreadsheet error in the id column sends nothing', async () => {
  const service = await keep(several(1));
  const user = userOf(service, inProcessAtHome);
  writeFileSync(join(user.home, 'in.csv'), 'id,status\n#REF!,rejected\napp_1,rejected\n');
  const ran = await user.run('tryouts set-status --csv in.csv --yes --json');
  expect([ran.code, steps(service)]).toEqual([2, []]);
  expect(errorOf(ran)['message']).toBe('Line 2: id holds the spreadsheet error #REF!.');
});

test('a record without an id in the list of a selection is refused', async () => {
  const service = await keep(several(2), (_, step) =>
    step === 'LIST'
      ? { status: 200, json: [application('app_1'), { ...application('x'), id: null }] }
      : undefined,
  );
  const ran = await userOf(service, inProcess).run(
    'tryouts set-status --all --to rejected --yes --json',
  );
  expect([ran.code, written(service)]).toEqual([11, []]);
  expect(errorOf(ran)['message']).toContain('has no id');
});

test('notes that --if compares with are not in the journal', async () => {
  const service = await keep(several(3));
  const user = userOf(service, inProcess);
  service.kept.set('app_3', application('app_3', { internalNotes: 'canary-of-a-note' }));
  const line = `tryouts set-status ${ids(3).join(' ')} --to rejected --yes --json`;
  const ran = await user.run(`${line} --if internalNotes=canary-of-a-note`);
  expect(report(ran).summary).toMatchObject({ changed: 1, skipped: 2 });
  const [folder = ''] = runFolders(user.runs);
  const files = readdirSync(folder);
  expect(files).toContain('journal.jsonl');
  for (const file of files)
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain('canary-of-a-note');
});

test('a note that the service repeats as the code of its refusal is not in the journal', async () => {
  const service = await keep(several(2), (_, step) =>
    step === 'PATCH app_1'
      ? { status: 400, json: { error: 'No room for canary-of-a-remark' } }
      : undefined,
  );
  const user = userOf(service, inProcess);
  const line =
    'tryouts set-status app_1 app_2 --to rejected --append-note canary-of-a-remark --yes';
  expect((await user.run(line)).code).toBe(8);
  const [folder = ''] = runFolders(user.runs);
  const journal = readFileSync(join(folder, 'journal.jsonl'), 'utf8');
  expect(journal).toContain('"result":"failed"');
  expect(journal).not.toContain('canary-of-a-remark');
});

test.each([
  ['cut at a line end', (plan: string) => plan.split('\n').slice(0, 4).join('\n')],
  ['edited', (plan: string) => plan.replace('rejected', 'accepted')],
])('a plan that was %s counts as damaged: none of it is executed', async (_, change) => {
  const service = await keep(several(6), (_request, step) =>
    step === 'PATCH app_2' ? { status: 401, json: { error: 'unauthorized' } } : undefined,
  );
  const user = userOf(service, inProcess);
  const line = `tryouts set-status ${ids(6).join(' ')} --to rejected --concurrency 1 --yes --json`;
  expect((await user.run(line)).code).toBe(4);
  const sent = service.requests.length;
  const [folder = ''] = runFolders(user.runs);
  const plan = join(folder, 'plan.jsonl');
  writeFileSync(plan, change(readFileSync(plan, 'utf8')));
  const again = await user.run(line);
  expect([again.code, service.requests.length]).toEqual([11, sent]);
  expect(errorOf(again)['message']).toContain('is damaged');
});

/** A CSV that was exported before the application was changed. */
function exportedWith(column: string, value: string): string {
  return `id,${column},updatedAt\napp_1,${value},2026-03-01T10:00:00Z\n`;
}

test('a row that changed since the export says what it is now and what the file says', async () => {
  const service = await keep([
    application('app_1', { status: 'rejected', updatedAt: '2026-04-01T10:00:00Z' }),
  ]);
  const line = 'tryouts set-status --csv - --yes --json';
  const ran = await userOf(service, inProcess).run(line, exportedWith('status', 'shortlisted'));
  expect(report(ran).results).toMatchObject([
    {
      result: 'conflict',
      error: { message: 'Changed since your export: now rejected, yours says shortlisted.' },
    },
  ]);
  const noted = await userOf(service, inProcess).run(
    'tryouts update --csv - --yes --json',
    exportedWith('note', 'Strong aim'),
  );
  expect(report(noted).results).toMatchObject([
    { result: 'conflict', error: { message: 'Changed since your export.' } },
  ]);
});

test.each([
  ['Excel', '11/28/2026 5:32'],
  ['a table of days', '2026-11-28'],
  ['MySQL', '2026-11-28 04:32:28'],
  ['R', '2026-11-28T04:32:28Z'],
  ['a workbook', '2026-11-28T04:32:29Z'],
])('a time that a program rewrote is not said to be a change: %s', async (_, updatedAt) => {
  const service = await keep([application('app_1', { updatedAt: '2026-11-28T04:32:28.507Z' })]);
  const file = `id,status,updatedAt\napp_1,rejected,${updatedAt}\n`;
  const line = 'tryouts set-status --csv - --yes --json';
  const ran = await userOf(service, inProcess).run(line, file);
  expect(report(ran).results).toMatchObject([
    {
      result: 'conflict',
      error: {
        message:
          'Cannot tell whether it changed since your export: a program rewrote updatedAt in your file. Leave that column as it was exported, or remove it.',
      },
    },
  ]);
  expect(written(service)).toEqual([]);
});

test.each([
  ['within one second', '2026-11-28T04:32:28.501Z', '2026-11-28T04:32:28.507Z'],
  ['one second later', '2026-11-28T04:32:27Z', '2026-11-28T04:32:28Z'],
])('a time of which no program took a part is said to be a change: %s', async (_, then, now) => {
  const service = await keep([application('app_1', { updatedAt: now })]);
  const file = `id,status,updatedAt\napp_1,rejected,${then}\n`;
  const line = 'tryouts set-status --csv - --yes --json';
  const ran = await userOf(service, inProcess).run(line, file);
  expect(report(ran).results[0]).toMatchObject({
    result: 'conflict',
    error: { message: 'Changed since your export: now pending, yours says rejected.' },
  });
});

test('a column that is probably misspelt is refused, and a new field needs a type', async () => {
  const player = { id: 'player_1', name: 'Ann', jersey: '4' };
  const service = await recordingService(({ method, url }) => {
    if (method !== 'GET') return { status: 200, json: { ...player, jersy: '5' } };
    return { status: 200, json: url.endsWith('/player_1') ? player : [player] };
  });
  const user = userOf(service, inProcess);
  const refused = await user.run('players update --csv - --yes', 'id,jersy\nplayer_1,5\n');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toBe(
    'No record has the field "jersy". Did you mean jersey?\nRename the column with --map jersy=jersey. If it is a new field, name its type: jersy:text\n',
  );
  expect(written(service)).toEqual([]);
  for (const header of ['shoes', 'jersy:text']) {
    const ran = await user.run('players update --csv - -n --json', `id,${header}\nplayer_1,5\n`);
    expect(report(ran).summary).toMatchObject({ wouldChange: 1 });
  }
});

test('a time that the service sends as a number guards an export like one in text', async () => {
  const player = { id: 'player_1', name: 'Ann', role: 'sub', updatedAt: 1_700_000_000_000 };
  let now = player;
  const service = await recordingService(({ method, url }) => {
    if (method !== 'GET') return { status: 204 };
    return { status: 200, json: url.endsWith('/player_1') ? now : [now] };
  });
  const user = userOf(service, inProcess);
  const exported = (await user.run('players list -o csv')).stdout;
  const edited = exported.replace('sub', 'captain');
  const respelt = edited.replace('1700000000000', '1700000000000.0');
  const same = await user.run('players update --csv - -n --json', respelt);
  expect(report(same).summary).toMatchObject({ wouldChange: 1, conflict: 0 });
  now = { ...player, role: 'coach', updatedAt: 1_700_000_999_000 };
  for (const line of [
    'players update --csv - --yes',
    'players delete --csv - --ignore-columns --yes --expect 1',
  ]) {
    const ran = await user.run(`${line} --json`, edited);
    expect(report(ran).results).toMatchObject([
      { result: 'conflict', error: { message: 'Changed since your export.' } },
    ]);
  }
  expect(written(service)).toEqual([]);
});

test('a record without the time of its last change is no conflict with an export that has one', async () => {
  const service = await keep([application('app_1', { updatedAt: undefined })]);
  const user = userOf(service, inProcess);
  const line = 'tryouts set-status --csv - --yes';
  expect((await user.run(line, exportedWith('status', 'rejected'))).code).toBe(0);
  expect(written(service)).toHaveLength(1);
});

/** A limit on the size of files stands for a full disk: they are created, and writing them fails. */
const limitedTo = (blocks: number) => `trap "" XFSZ; ulimit -f ${blocks}; exec "$@"`;

describe('where the state folder takes no more bytes', () => {
  test('a run that cannot be written down sends nothing and leaves nothing to be resumed', async () => {
    const service = await keep(several(1));
    const { home, runs, run } = userOf(service, inProcess);
    await run('tryouts set-status app_1 --to shortlisted');
    const limited = { home, env: service.env, through: limitedTo(1) };
    for (const line of ['players create --name Ann', 'tryouts set-status app_1 --to rejected'])
      expect(await rosterctl(line, limited)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('cannot be written'),
      });
    expect(written(service)).toHaveLength(1);
    expect(readdirSync(join(runs, 'open'))).toEqual([]);
  });

  test('a lock that cannot be written leaves no file', async () => {
    const service = await keep(several(1));
    const { home, runs, run } = userOf(service, inProcess);
    await run('tryouts set-status app_1 --to shortlisted');
    const limited = { home, env: service.env, through: limitedTo(0) };
    const ran = await rosterctl('tryouts set-status app_1 --to rejected', limited);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('cannot be undone later')]);
    expect(readdirSync(join(runs, '../locks/records'))).toEqual([]);
  });
});
