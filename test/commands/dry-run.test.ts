import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

test('ROSTERCTL_DRY_RUN is reported also with -q, and nothing is sent', async () => {
  const home = temporaryFolder();
  const env = { ROSTERCTL_DRY_RUN: '1' };
  const update = '-p sandbox teams update team_0001 --name New -q';
  const ran = await rosterctl(update, { home, env });
  expect([ran.code, ran.stderr]).toEqual([0, 'ROSTERCTL_DRY_RUN is set: this is a dry run.\n']);
  const team = await inProcess('-p sandbox teams get team_0001 --json', { home });
  expect(JSON.parse(team.stdout).name).not.toBe('New');
});

test.each([
  ['report --html season.html', 'Would write\n  season.html\n'],
  ['person app_0001 --out nilo', 'Would write\n  nilo/person.json\n'],
  [
    'docs open doc_0001',
    'Would send\n  GET /documents/doc_0001/download\nWould write\n  (a private copy)\n',
  ],
  [
    'backup create nightly --only teams',
    'Would send\n  GET /teams/org_demo\nWould write\n  nightly\n',
  ],
])('a dry run of %s says what it would read and write', async (line, shown) => {
  const home = temporaryFolder();
  const ran = await inProcess(`-p sandbox ${line} -n`, { home, cwd: home });
  expect([ran.code, ran.stdout]).toEqual([0, shown]);
  expect(readdirSync(home).filter((name) => !name.startsWith('.'))).toEqual([]);
});

describe('--exit-code of a dry run of one record', () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'new.txt'), 'new');
  test.each([
    ['tryouts update app_0003 --status accepted', 12],
    ['teams update team_0001 --name New', 12],
    ['players delete player_0001', 12],
    ['docs upload new.txt', 12],
    ['tryouts convert app_0020 --accept', 12],
    ['tryouts set-status app_0003 --to withdrawn', 0],
  ])('%s: %i', async (line, code) => {
    const ran = await inProcess(`-p sandbox ${line} -n --exit-code`, { home, cwd: home });
    expect(ran.code).toBe(code);
  });
});

test('a dry run of one record exits as the change itself would, also where it prints a report', async () => {
  const home = temporaryFolder();
  const line = '-p sandbox tryouts set-status nope --to rejected --json';
  for (const words of [line, `${line} -n`]) {
    const ran = await inProcess(words, { home });
    expect([ran.code, errorOf(ran).code]).toEqual([5, 'notFound']);
    expect(JSON.parse(ran.stdout).summary).toMatchObject({ total: 1, failed: 1 });
  }
});

test('a template that names no field of the record is refused before the change', async () => {
  const home = temporaryFolder();
  const line = ['-p', 'sandbox', 'teams', 'update', 'team_0001', '--name', 'New'];
  const ran = await inProcess([...line, '--template', '{id} {name} {nope}.'], { home });
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('Unknown field "nope".');
  const shown = await inProcess('-p sandbox teams list --where name=New -o ids', { home });
  expect([shown.code, shown.stdout]).toEqual([0, '']);
});

test('a field that no deletion has is refused before anything is deleted', async () => {
  const home = temporaryFolder();
  const run = (line: string) => inProcess(`-p sandbox ${line}`, { home });
  const ran = await run('players delete player_0001 --yes --fields id,name');
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('Known fields: id, deleted');
  const deleted = await run('players delete player_0001 --yes --fields deleted,id --json');
  expect([deleted.code, deleted.stdout]).toEqual([0, '{"deleted":true,"id":"player_0001"}\n']);
});

test('a template that no report of changes can fill is refused before any request', async () => {
  const api = await recordingService(() => ({ status: 500 }));
  const line = ['tryouts', 'set-status', 'app_1', 'app_2', '--to', 'rejected', '--yes'];
  const ran = await inProcess([...line, '--template', '{nope}'], { env: api.env });
  expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
  expect(ran.stderr).toContain('Unknown field "nope".');
});

describe('a dry run of a download looks which documents exist', () => {
  const home = temporaryFolder();

  test.each(['download', 'preview', 'open', 'download -O nda.docx', 'download -D files'])(
    'docs %s of one that does not exist exits 5, as without -n',
    async (verb) => {
      const [word = '', ...flags] = verb.split(' ');
      const line = ['-p', 'sandbox', 'docs', word, 'nope', ...flags];
      const ran = await inProcess([...line, '-n'], { home, cwd: home });
      expect(ran).toMatchObject({ code: 5, stdout: '' });
      expect(ran.stderr).toContain('The document nope is not in the list of documents.\n');
      expect(await inProcess(line, { home, cwd: home })).toMatchObject({ code: 5, stdout: '' });
    },
  );

  test('of several, those that exist are planned, the missing ones named, and the exit code is 5', async () => {
    const ran = await inProcess('-p sandbox docs download nope doc_0001 -n --json', { home });
    expect(ran.code).toBe(5);
    expect(JSON.parse(ran.stdout).changes).toMatchObject([{ id: 'doc_0001', field: 'file' }]);
    expect(errorOf(ran)).toMatchObject({ code: 'notFound', exitCode: 5 });
  });

  test('at a terminal a word finds the document that the download itself takes', async () => {
    const { shown, code } = await converse(home, '-p sandbox docs download nda -n'.split(' '));
    expect(code).toBe(0);
    expect(shown).toMatch(/"nda" is doc_\d+ \(.*NDA.*\)\./);
    expect(shown).toMatch(/GET \/documents\/doc_\d+\/download/);
  });
});

test.each([
  [
    'tryouts list --status accepted',
    /^Would write \d+ applications to kept.csv. This is a dry run.$/,
  ],
  ['teams get team_0001', /^Would write kept.csv. This is a dry run.$/],
  ['api /teams/{org}', /^Would write kept.csv. This is a dry run.$/],
])('the dry run of %s leaves the file of --out as it is', async (line, said) => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'kept.csv'), 'mine');
  const ran = await inProcess(`-p sandbox ${line} --out kept.csv -n`, { home, cwd: home });
  expect([ran.code, ran.stdout, readFileSync(join(home, 'kept.csv'), 'utf8')]).toEqual([
    0,
    '',
    'mine',
  ]);
  expect(ran.stderr.trimEnd()).toMatch(said);
});

test('the report of a dry run goes to the file of --out', async () => {
  const home = temporaryFolder();
  const line = 'tryouts set-status app_0064 --to accepted -n --out would.json';
  await rosterctl(`-p sandbox ${line}`, { home, cwd: home });
  expect(JSON.parse(readFileSync(join(home, 'would.json'), 'utf8'))).toMatchObject({
    dryRun: true,
  });
});

test.each([
  ['sandbox start --json -n', {}],
  ['sandbox start --json', { ROSTERCTL_DRY_RUN: '1' }],
])('sandbox start has no dry run, and starts nothing: %s %j', async (line, env) => {
  const home = temporaryFolder();
  const ran = await rosterctl(line, { home, env });
  expect([ran.code, ran.stdout, errorOf(ran)['code']]).toEqual([2, '', 'usage']);
  expect(readdirSync(home)).toEqual([]);
});
