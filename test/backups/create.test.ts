import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../bulk/user.js';
import { sha256 } from '../support/document-store.js';
import { errorOf, startLine, temporaryFolder } from '../support/run.js';
import { unknown } from '../support/service.js';
import { answering, application, desk, filesBelow, paper, player } from './desk.js';

const json = (ran: { stdout: string }) => JSON.parse(ran.stdout);

test('a backup holds every record in order of the ids, each file once, and a manifest', async () => {
  const { create, folder, snapshots, read, records, documents } = await desk();
  documents.push(paper('doc_3', 'one', { name: 'copy.txt' }));
  const ran = await create();
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  const [name = ''] = snapshots();
  expect(ran.stdout).toBe(
    `3 applications, 2 players, 1 team, 3 documents\n${join(folder, name)}\n`,
  );
  const lines = (file: string) =>
    read(join(name, file))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  expect(lines('players.ndjson')).toEqual([player(1), player(2)]);
  expect(lines('tryouts.ndjson')).toEqual([application(1), application(2), application(3)]);
  expect(lines('teams.ndjson')).toEqual(records.teams);
  expect(lines('documents.ndjson').map(({ id }) => id)).toEqual(['doc_1', 'doc_2', 'doc_3']);
  const files = readdirSync(join(folder, 'files'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => file.length > 2).toSorted()).toEqual(
    ['one', 'two']
      .map((text) => sha256(Buffer.from(text)))
      .map((hash) => join(hash.slice(0, 2), hash))
      .toSorted(),
  );
  const manifest = JSON.parse(read(join(name, 'manifest.json')));
  expect(manifest).toMatchObject({
    schema: 1,
    name,
    organization: 'org_7',
    contract: '1.0.0',
    complete: true,
    missing: [],
    resources: [
      { resource: 'tryouts', records: 3 },
      { resource: 'players', records: 2 },
      { resource: 'teams', records: 1 },
      { resource: 'documents', records: 3 },
    ],
  });
  expect(read(join(name, 'documents.csv')).split('\r\n')[0]).toBe('path,name,tags,contentType');
});

test('files and folders are private', async () => {
  const { create, folder, snapshots } = await desk();
  await create();
  const [name = ''] = snapshots();
  for (const path of [folder, join(folder, name), join(folder, 'files')])
    expect([path, statSync(path).mode & 0o777]).toEqual([path, 0o700]);
  for (const path of filesBelow(folder))
    expect([path, statSync(path).mode & 0o777]).toEqual([path, 0o600]);
});

test('so are those of a backup that is not finished', async () => {
  const { create, folder, world } = await desk();
  world.special = answering('/v1/players', { status: 403, json: { error: 'forbidden' } });
  expect((await create()).code).toBe(8);
  const made = readdirSync(folder, { recursive: true, withFileTypes: true });
  expect(made.some(({ name }) => name === 'downloads')).toBe(true);
  for (const entry of made) {
    const path = join(entry.parentPath, entry.name);
    const mode = statSync(path).mode & 0o777;
    expect([path, mode]).toEqual([path, entry.isDirectory() ? 0o700 : 0o600]);
  }
});

test('numbers, unknown fields and long ids are kept as they came', async () => {
  const { create, records, snapshots, read, world } = await desk();
  world.special = answering('/v1/teams', {
    status: 200,
    headers: { 'content-type': 'application/json' },
    text: '{"teams":[{"id":"t","chat":1234567890123456789,"big":1e400,"__proto__":{"a":1}}]}',
  });
  records.players = [];
  expect((await create()).code).toBe(0);
  expect(read(join(snapshots()[0] ?? '', 'teams.ndjson'))).toBe(
    '{"id":"t","chat":1234567890123456789,"big":1e400,"__proto__":{"a":1}}\n',
  );
});

test('a second backup of unchanged data fetches and stores no file again', async () => {
  const { create, asked, sizes, snapshots } = await desk();
  await create();
  expect(asked()).toEqual(['doc_1', 'doc_2']);
  const before = sizes();
  const again = await create();
  expect(again.stdout).toContain('2 documents (2 unchanged files)');
  expect(asked()).toEqual([]);
  const added = [...sizes().keys()].filter((path) => !before.has(path));
  const [, second = ''] = snapshots();
  expect(added.every((path) => path.includes(second))).toBe(true);
});

test('a file is fetched again if its record was changed, if it is gone, and with --recheck', async () => {
  const { create, asked, documents, folder } = await desk();
  await create();
  asked();
  documents[0] = paper('doc_1', 'new', { updatedAt: '2026-02-02T00:00:00Z' });
  expect(json(await create('--json')).files).toMatchObject({ total: 2, unchanged: 1 });
  expect(asked()).toEqual(['doc_1']);
  const fileOf = (text: string) => join(folder, 'x', sharedPath(text));
  writeFileSync(fileOf('two'), '');
  rmSync(fileOf('new'));
  expect((await create()).code).toBe(0);
  expect(asked()).toEqual(['doc_1', 'doc_2']);
  expect((await create('--recheck')).code).toBe(0);
  expect(asked()).toEqual(['doc_1', 'doc_2']);
});

test('where records have no time, a file is kept if the record is the same, and the snapshot says so', async () => {
  const { create, asked, run, folder, snapshots, read, documents } = await desk([
    paper('doc_1', 'one', { updatedAt: undefined }),
  ]);
  await create();
  asked();
  await create();
  expect(asked()).toEqual([]);
  const manifest = JSON.parse(read(join(snapshots()[1] ?? '', 'manifest.json')));
  expect(manifest.files.documents).toMatchObject([{ how: 'assumed' }]);
  expect((await run(`backup verify ${folder}`)).stdout).toContain(
    '1 file assumed unchanged when it was made',
  );
  documents[0] = paper('doc_1', 'one', { updatedAt: undefined, name: 'other.txt' });
  await create();
  expect(asked()).toEqual(['doc_1']);
});

test('--only and --no-files leave the rest out', async () => {
  const { create, snapshots, folder, asked } = await desk();
  expect(json(await create('--only players,docs --no-files --json'))).toMatchObject({
    records: { players: 2, documents: 2 },
    files: null,
  });
  expect(asked()).toEqual([]);
  expect(readdirSync(join(folder, snapshots()[0] ?? '')).toSorted()).toEqual([
    'documents.ndjson',
    'manifest.json',
    'players.ndjson',
  ]);
  expect((await create('--only playrs')).code).toBe(2);
});

test('a dry run reads nothing and writes nothing', async () => {
  const { create, api, home } = await desk();
  const ran = await create('--dry-run --json');
  expect([ran.code, api.requests.length, readdirSync(home)]).toEqual([0, 0, []]);
  expect(json(ran).requests).toHaveLength(4);
});

test('-q prints nothing when all is well', async () => {
  const { create } = await desk();
  expect(await create('-q')).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('a folder that holds something else, or the backup of another organization, is refused', async () => {
  const { create, run, folder, home, api } = await desk();
  const other = join(home, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'letter.txt'), 'x');
  const refused = await run(`backup create ${other} --json`);
  expect([refused.code, errorOf(refused)['message']]).toEqual([
    2,
    `${other} is not a backup: it holds letter.txt.`,
  ]);
  await create();
  api.requests.length = 0;
  const strange = await run(`backup create ${folder} --json`, { ROSTERCTL_ORG: 'org_8' });
  expect([strange.code, api.requests.length]).toEqual([2, 0]);
  expect(errorOf(strange)['message']).toContain('holds a backup of organization org_7');
  expect((await run(`backup create ${folder} -n`, { ROSTERCTL_ORG: 'org_8' })).code).toBe(2);
});

test('an unfinished backup of another organization is refused, and stays as it is', async () => {
  const { create, run, folder, snapshots, world, asked } = await desk();
  world.special = answering('/v1/teams', { status: 403 });
  await create();
  const other = await run(`backup create ${folder} --json`, { ROSTERCTL_ORG: 'org_8' });
  expect([other.code, errorOf(other)['message']]).toEqual([
    2,
    expect.stringContaining('holds a backup of organization org_7'),
  ]);
  world.special = undefined;
  asked();
  expect((await create()).code).toBe(0);
  expect([snapshots().length, asked()]).toEqual([1, []]);
});

test('no backup is suggested for a folder that holds something else', async () => {
  const { run, home } = await desk();
  const other = join(home, 'other');
  mkdirSync(other);
  expect(await run(`backup verify ${other}`)).toMatchObject({
    code: 2,
    stderr: `No finished backup was found in ${other}.\nMake one: rosterctl backup create ${other}\n`,
  });
  writeFileSync(join(other, 'letter.txt'), 'x');
  expect(await run(`backup verify ${other}`)).toMatchObject({
    code: 2,
    stderr: `No finished backup was found in ${other}.\nIt holds letter.txt. To make a backup, choose a new or empty folder.\n`,
  });
});

test('a record without an id is refused, because nothing could name it', async () => {
  const { create, records } = await desk();
  records.applications = [{ ...application(1), id: null }];
  const refused = await create('--json');
  expect([refused.code, errorOf(refused)['message']]).toEqual([
    11,
    'The list of applications holds an application without an id.',
  ]);
});

test('a list that may be incomplete is refused, and kept only as incomplete', async () => {
  const { create, world, snapshots, run, folder } = await desk();
  await create();
  world.special = answering('/v1/players', {
    status: 200,
    json: { players: [player(1)], total: 2 },
  });
  const refused = await create('--json');
  expect([refused.code, errorOf(refused)['code']]).toEqual([11, 'incomplete']);
  expect(snapshots().filter((name) => !name.endsWith('.partial'))).toHaveLength(1);
  const kept = await create('--allow-partial --json');
  expect([kept.code, json(kept)]).toMatchObject([8, { complete: false, records: { players: 1 } }]);
  expect(kept.stderr).toContain('Missing: players. The list may be incomplete');
  expect(snapshots().filter((name) => name.endsWith('.incomplete'))).toHaveLength(1);
  const verified = await run(`backup verify ${folder}`);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('ok, incomplete')]);
});

test('an answer without a list is no empty list where there were records', async () => {
  const { create, world } = await desk();
  world.special = answering('/v1/teams', { status: 204 });
  // The first time nobody knows better.
  expect((await create()).code).toBe(0);
  world.special = undefined;
  expect((await create()).code).toBe(0);
  world.special = answering('/v1/teams', { status: 204 });
  expect((await create()).code).toBe(11);
});

test('an area that the key may not read is missing: exit 8', async () => {
  const { create, world, snapshots } = await desk();
  world.special = answering('/v1/teams', { status: 403, json: { error: 'forbidden' } });
  const ran = await create('--json');
  expect([ran.code, json(ran)]).toMatchObject([
    8,
    { snapshot: null, complete: false, missing: [{ resource: 'teams', id: null }] },
  ]);
  expect(snapshots()).toEqual([expect.stringMatching(/Z\.partial$/)]);
  expect((await create('--allow-partial')).code).toBe(8);
  expect(snapshots()).toEqual([expect.stringMatching(/Z\.incomplete$/)]);
  // What nobody asked for is not missing.
  expect((await create('--only players')).code).toBe(0);
  expect((await create('--only teams')).code).toBe(7);
});

test('a backup without what the key may not read says how to leave that out', async () => {
  const { create, world } = await desk();
  world.special = answering('/v1/teams', { status: 403, json: { error: 'forbidden' } });
  expect(errorOf(await create('--json'))).toMatchObject({
    message: 'No backup was kept: this key cannot read teams.',
    hint: expect.stringMatching(/^Leave them out: --only tryouts,players,documents\n/),
  });
  world.special = (request) =>
    request.url.startsWith('/v1/tryout')
      ? undefined
      : { status: 403, json: { error: 'forbidden' } };
  expect(errorOf(await create('--json'))).toMatchObject({
    message: 'No backup was kept: this key cannot read players, teams and documents.',
  });
});

test('a list that the service does not have is missing too, unless it has none', async () => {
  const { create, world, snapshots } = await desk();
  world.special = answering('/v1/teams', unknown);
  const ran = await create('--json');
  expect([ran.code, json(ran).missing]).toEqual([
    8,
    [{ resource: 'teams', id: null, reason: 'this service has no list of teams (404)' }],
  ]);
  expect(ran.stderr).toContain('Missing: teams. This service has no list of teams (404)');
  expect(errorOf(ran)).toMatchObject({
    message: 'No backup was kept: this service has no list of teams.',
    hint: expect.stringMatching(/^Leave them out: --only tryouts,players,documents\n/),
  });
  expect((await create('--allow-partial')).code).toBe(8);
  expect(snapshots()).toEqual([expect.stringMatching(/Z\.incomplete$/)]);
  expect((await create('--only teams')).code).toBe(5);
  world.special = () => unknown;
  const none = await create('--json');
  expect([none.code, none.stdout]).toEqual([5, '']);
});

test('a file that the store does not have is missing, and named', async () => {
  const { create } = await desk(undefined, (_, { record }) =>
    record.id === 'doc_2' ? { status: 410 } : undefined,
  );
  const ran = await create('--json');
  expect([ran.code, json(ran).missing]).toMatchObject([
    8,
    [{ resource: 'documents', id: 'doc_2' }],
  ]);
  expect(ran.stderr).toContain('Missing: 1 document file (doc_2)');
});

test('a document that was deleted meanwhile is told, and is not in the backup', async () => {
  const { create, world, documents, read, snapshots } = await desk();
  world.special = ({ url }) => {
    if (url !== '/v1/documents/doc_2/download') return undefined;
    documents.splice(1);
    return { status: 404, json: { error: 'notFound' } };
  };
  const ran = await create();
  expect([ran.code, ran.stderr]).toEqual([
    0,
    'doc_2 was deleted during the backup, so it is left out.\n',
  ]);
  expect(ran.stdout).toContain('1 document\n');
  expect(read(join(snapshots()[0] ?? '', 'documents.ndjson'))).not.toContain('doc_2');
});

test('a document that is listed and has no file is missing', async () => {
  const { create, world } = await desk();
  world.special = answering('/v1/documents/doc_2/download', {
    status: 404,
    json: { error: 'notFound' },
  });
  const ran = await create('--json');
  expect([ran.code, json(ran).missing]).toMatchObject([8, [{ id: 'doc_2' }]]);
});

test('files that the key may not read are missing, and the records are kept with --allow-partial', async () => {
  const { create, world, snapshots, read } = await desk();
  const forbidden = { status: 403, json: { error: 'forbidden' } };
  world.special = ({ url }) => (url.endsWith('/download') ? forbidden : undefined);
  const ran = await create('--allow-partial --json');
  expect([ran.code, json(ran)]).toMatchObject([
    8,
    { complete: false, records: { documents: 2 }, missing: [{ id: 'doc_1' }, { id: 'doc_2' }] },
  ]);
  const [{ reason }] = json(ran).missing;
  expect(reason).toBe('The service refused to read document doc_1 (forbidden).');
  expect(read(join(snapshots()[0] ?? '', 'documents.ndjson')).split('\n')).toHaveLength(3);
});

test('a signed URL that has expired is asked for once more', async () => {
  const { create, api } = await desk([paper('doc_1', 'one')], (_, __, time) =>
    time === 1
      ? { status: 403, text: '<Code>AccessDenied</Code><Message>Request has expired</Message>' }
      : undefined,
  );
  expect((await create()).code).toBe(0);
  const asked = api.requests.filter(({ url }) => url.endsWith('/download'));
  expect(asked).toHaveLength(2);
});

test('a refused key ends the backup, and what was fetched is not fetched again', async () => {
  const papers = Array.from({ length: 6 }, (_, at) => paper(`doc_${at}`, `text ${at}`));
  const { create, world, asked, snapshots } = await desk(papers);
  world.special = answering('/v1/documents/doc_3/download', {
    status: 401,
    json: { error: 'unauthorized' },
  });
  expect((await create('--concurrency 1')).code).toBe(4);
  const first = asked();
  expect(first).toEqual(['doc_0', 'doc_1', 'doc_2']);
  world.special = undefined;
  const ran = await create('--concurrency 1');
  expect([ran.code, ran.stderr]).toEqual([0, 'Continuing the interrupted backup.\n']);
  expect(asked()).toEqual(['doc_3', 'doc_4', 'doc_5']);
  expect(snapshots()).toEqual([expect.stringMatching(/Z$/)]);
});

test('--keep leaves the newest whole ones, and removes files that none of them names', async () => {
  const { create, documents, snapshots, sizes } = await desk();
  await create();
  documents[0] = paper('doc_1', 'new', { updatedAt: '2026-02-02T00:00:00Z' });
  await create();
  await create();
  const before = snapshots();
  const ran = await create('--keep 2 --json');
  expect(json(ran).removed).toEqual(before.slice(0, 2));
  expect(snapshots()).toHaveLength(2);
  const shared = [...sizes().keys()].filter((path) => path.includes('/files/'));
  expect(shared.map((path) => path.slice(-64)).toSorted()).toEqual(
    ['new', 'two'].map((text) => sha256(Buffer.from(text))).toSorted(),
  );
});

test('a dry run with --keep names the snapshots that would go, and removes none', async () => {
  const { create, snapshots } = await desk();
  await create();
  await create('--only players');
  await create();
  const before = snapshots();
  const { changes } = json(await create('--keep 2 -n --json'));
  expect(changes).toEqual([
    { id: null, field: 'snapshot', from: null, to: expect.any(String) },
    ...before.slice(0, 2).map((name) => ({ id: null, field: 'snapshot', from: name, to: null })),
  ]);
  expect(snapshots()).toEqual(before);
  await create('--keep 2');
  expect(snapshots().slice(0, -1)).toEqual(before.slice(2));
});

test.each(['--no-files', '--only players', '--only documents'])(
  'a dry run with --keep 1 %s names those that the same line removes without it',
  async (flags) => {
    const { create } = await desk();
    await create();
    await create('--no-files');
    const { changes } = json(await create(`--keep 1 ${flags} -n --json`));
    const { removed } = json(await create(`--keep 1 ${flags} --json`));
    expect(changes.slice(1).map(({ from }: { from: string }) => from)).toEqual(removed);
  },
);

test('a snapshot is reported where an old one cannot be removed', async () => {
  const { create, folder, snapshots, world } = await desk();
  await create();
  const [old = ''] = snapshots();
  world.special = () => {
    mkdirSync(join(folder, `${old}.removed`, 'in the way'), { recursive: true });
    return undefined;
  };
  const ran = await create('--keep 1 --json');
  const made = snapshots().at(-1) ?? '';
  expect(ran.code).toBe(1);
  expect(json(ran)).toMatchObject({ snapshot: join(folder, made), complete: true, removed: [] });
  expect(errorOf(ran).message).toContain(`${join(folder, old)} cannot be`);
  expect(errorOf(ran).hint).not.toContain('Earlier snapshots are unchanged');
});

test('--keep removes nothing among the files that no backup put there', async () => {
  const { create, folder, snapshots } = await desk();
  await create();
  const part = readdirSync(join(folder, 'files'))[0] ?? '';
  const elsewhere = temporaryFolder();
  const hash = '0'.repeat(64);
  const own = [
    join(folder, 'files', '2025', 'holiday.jpg'),
    join(folder, 'files', part, 'notes.txt'),
    join(folder, 'files', part, hash),
    join(elsewhere, hash),
  ];
  mkdirSync(join(folder, 'files', '2025'));
  symlinkSync(elsewhere, join(folder, 'files', '00'));
  for (const path of own) writeFileSync(path, 'mine');
  await create('--keep 1');
  expect(snapshots()).toHaveLength(1);
  expect(own.filter((path) => !existsSync(path))).toEqual([]);
});

test('a folder that holds files and no snapshot is not a backup', async () => {
  const { create, folder } = await desk();
  mkdirSync(join(folder, 'files'), { recursive: true });
  expect(await create()).toMatchObject({ code: 2, stderr: expect.stringContaining('holds files') });
});

test('--keep never removes the last good one, of each resource and of the files', async () => {
  const { create, snapshots, world, run, folder } = await desk();
  await create();
  const [whole = ''] = snapshots();
  world.special = answering('/v1/teams', { status: 403 });
  await create('--keep 1 --allow-partial');
  await create('--keep 1 --allow-partial');
  expect(snapshots()).toContain(whole);
  await create('--keep 1 --only players');
  await create('--keep 1 --only players');
  expect(snapshots().filter((name) => !name.endsWith('.incomplete'))).toHaveLength(2);
  expect(snapshots()).toContain(whole);
  expect((await run(`backup verify ${folder}`)).code).toBe(0);
});

test('an incomplete snapshot takes the place of no whole one', async () => {
  const { create, snapshots, world } = await desk();
  await create();
  await create();
  const before = snapshots();
  world.special = answering('/v1/teams', { status: 403 });
  expect(json(await create('--keep 1 --allow-partial --json')).removed).toEqual([]);
  world.special = undefined;
  expect(json(await create('--keep 2 --json')).removed).toEqual(before.slice(0, 1));
});

test('a damaged snapshot is reported, and no file is removed that it may need', async () => {
  const { create, snapshots, folder, documents, sizes } = await desk();
  await create();
  documents.splice(0, 1);
  writeFileSync(join(folder, snapshots()[0] ?? '', 'manifest.json'), '{}');
  const ran = await create('--keep 1');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('manifest.json is damaged.');
  expect(ran.stderr).toContain('No files were removed');
  expect([...sizes().keys()].filter((path) => path.includes('/files/'))).toHaveLength(2);
});

test('Ctrl-C while files are fetched leaves an unfinished backup, which the same command finishes', async () => {
  let isHeld = true;
  const { api, home, folder, create, snapshots, asked } = await desk(undefined, (_, file) =>
    isHeld && file.record.id === 'doc_2' ? () => undefined : undefined,
  );
  const line = `backup create ${folder} --concurrency 1`;
  const child = startLine(line, { env: api.env, home });
  await until(() => api.store.requests.length === 2);
  child.kill('SIGINT');
  expect((await child.ended).code).toBe(130);
  expect(child.stderr()).toContain('1 of 2 documents done, 1 not. Run the same command again');
  expect(snapshots()).toEqual([expect.stringMatching(/\.partial$/)]);
  isHeld = false;
  asked();
  expect((await create()).code).toBe(0);
  expect([snapshots().length, asked()]).toEqual([1, ['doc_2']]);
});

test('only one backup at a time', async () => {
  const { create, world } = await desk();
  let second: ReturnType<typeof create> | undefined;
  world.special = ({ url }) => {
    if (!url.startsWith('/v1/players') || second) return undefined;
    second = create('--json');
    return (_, response) => {
      void second?.then(() =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"players":[]}'),
      );
    };
  };
  expect((await create()).code).toBe(0);
  const refused = await second;
  expect([refused?.code, refused && errorOf(refused)['code']]).toEqual([11, 'locked']);
});

test('files of an incomplete snapshot are not fetched again, and a damaged journal only costs that', async () => {
  const { create, world, asked, folder, snapshots } = await desk();
  world.special = answering('/v1/teams', { status: 403 });
  await create('--allow-partial');
  asked();
  expect((await create('--allow-partial')).code).toBe(8);
  expect(asked()).toEqual([]);
  await create('--recheck');
  const partial = snapshots().find((name) => name.endsWith('.partial')) ?? '';
  writeFileSync(join(folder, partial, 'fetched.jsonl'), '{"torn\n{"torn"\n');
  world.special = undefined;
  expect(await create('-q')).toMatchObject({ code: 0, stderr: '' });
  expect(snapshots().some((name) => name.endsWith('.partial'))).toBe(false);
});

test('--recheck downloads again what an interrupted backup without it had downloaded', async () => {
  const { create, world, asked } = await desk();
  world.special = answering('/v1/teams', { status: 403 });
  await create();
  asked();
  await create('--recheck');
  expect(asked()).toEqual(['doc_1', 'doc_2']);
  world.special = undefined;
  const ran = await create('--recheck');
  expect([ran.code, ran.stderr, asked()]).toEqual([0, 'Continuing the interrupted backup.\n', []]);
});

test('a link in place of an unfinished backup, or within one, is never followed', async () => {
  const { create, folder, snapshots, asked, world } = await desk();
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'mine'), 'mine');
  await create();
  symlinkSync(outside, join(folder, '2099-01-01T000000Z.partial'));
  expect((await create()).code).toBe(0);
  expect(readdirSync(outside)).toEqual(['mine']);
  world.special = answering('/v1/teams', { status: 403 });
  await create('--recheck');
  const partial = join(folder, snapshots().find((name) => /^20[^9].*partial$/.test(name)) ?? '');
  for (const name of ['downloads', 'players.ndjson', 'players.ndjson.unsorted', 'documents.csv']) {
    rmSync(join(partial, name), { recursive: true, force: true });
    symlinkSync(name === 'downloads' ? outside : join(outside, 'mine'), join(partial, name));
  }
  world.special = undefined;
  asked();
  expect((await create()).code).toBe(0);
  // The journal still holds.
  expect(asked()).toEqual([]);
  expect(readdirSync(outside)).toEqual(['mine']);
  expect(readFileSync(join(outside, 'mine'), 'utf8')).toBe('mine');
});

test('a journal that is no file costs fetching its files again', async () => {
  const { create, folder, snapshots, asked, world } = await desk();
  world.special = answering('/v1/teams', { status: 403 });
  await create();
  const journal = join(folder, snapshots()[0] ?? '', 'fetched.jsonl');
  rmSync(journal);
  execFileSync('mkfifo', [journal]);
  world.special = undefined;
  asked();
  expect((await create()).code).toBe(0);
  expect(asked()).toEqual(['doc_1', 'doc_2']);
});

function sharedPath(text: string): string {
  const hash = sha256(Buffer.from(text));
  return `../files/${hash.slice(0, 2)}/${hash}`;
}

test('what an upload would refuse is left out of documents.csv', async () => {
  const { create, read, snapshots } = await desk([
    paper('doc_1', 'one', { contentType: 'text/html', tags: [{}], name: '=1+1' }),
    paper('doc_2', 'two', { tags: ['a;b', 'c'] }),
    paper('doc_3', 'two', { name: 'doc_2.txt' }),
  ]);
  await create();
  const lines = read(join(snapshots()[0] ?? '', 'documents.csv')).split('\r\n');
  expect(lines.slice(1)).toEqual([
    `${sharedPath('one')},'=1+1,,`,
    `${sharedPath('two')},doc_2.txt,"[""a;b"",""c""]",text/plain`,
    '',
  ]);
});

test('a list that is cut in the middle is no backup', async () => {
  const { create, world, snapshots } = await desk();
  await create();
  world.special = ({ url }) => {
    if (!url.startsWith('/v1/players')) return undefined;
    return (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 });
      response.write('{"players":[{"id":"player_1"}', () => response.destroy());
    };
  };
  const ran = await create('--allow-partial --retries 0');
  expect(ran.code).toBe(9);
  expect(snapshots().filter((name) => !name.endsWith('.partial'))).toHaveLength(1);
});

test('documents.csv has the plain type and the tags of each document, in whatever form the service has them', async () => {
  const { create, read, snapshots } = await desk([
    paper('doc_1', 'one', { name: 'One', contentType: 'Text/Plain; charset=utf-8' }),
    paper('doc_2', 'two', { name: 'Two.txt', contentType: undefined }),
    paper('doc_3', 'three', {
      name: 'Three',
      contentType: 'text/x-other',
      tags: [{ id: 't1', name: 'legal' }],
    }),
  ]);
  await create();
  const lines = read(join(snapshots()[0] ?? '', 'documents.csv'))
    .trimEnd()
    .split('\r\n');
  const types = lines.slice(1).map((line) => line.split(',').slice(1));
  expect(types).toEqual([
    ['One', '', 'text/plain'],
    ['Two.txt', '', 'text/plain'],
    ['Three', 'legal', ''],
  ]);
});
