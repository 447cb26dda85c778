import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exit } from '../../../src/exit-codes.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, splitWords, temporaryFolder } from '../../support/run.js';
import { key, type Recorded, type Reply, recordingService } from '../../support/service.js';
import { grantsOf } from '../uploads/grants.js';

const rules = {
  id: 'doc_1',
  organizationId: 'org_7',
  name: 'Rules',
  contentType: 'text/plain',
  sizeBytes: 5,
  tags: ['a', 'b'],
};
const photo = { ...rules, id: 'doc_2', name: '../../photo', contentType: 'image/png', tags: [] };

interface Special {
  readonly api?: (request: Recorded) => Reply | undefined;
  readonly store?: (request: Recorded) => Reply | undefined;
}

/** A service with two documents, and a store that accepts and returns five bytes. */
async function service({ api: special, store: ofStore }: Special = {}) {
  const store = await recordingService(
    (request) =>
      ofStore?.(request) ??
      (request.method === 'PUT'
        ? { status: 200 }
        : {
            status: 200,
            text: 'hello',
            headers: {
              'content-type': 'text/plain',
              'content-disposition': 'attachment; filename="stored.txt"',
            },
          }),
  );
  const link = { url: `${store.origin}/get/1?sig=canary`, expiresAt: '2030-01-01T00:00:00.000Z' };
  let changed: object = rules;
  const api = await recordingService((request) => {
    if (request.method === 'PATCH') changed = { ...rules, ...JSON.parse(request.body.toString()) };
    const usual: Record<string, Reply> = {
      'GET /v1/documents/org_7': { status: 200, json: { documents: [changed, photo] } },
      'GET /v1/documents/doc_1/download': { status: 200, json: link },
      'GET /v1/documents/doc_2/download': { status: 200, json: link },
      'GET /v1/documents/doc_1/preview': { status: 200, json: link },
      'POST /v1/uploads/document-file': {
        status: 200,
        json: {
          key: "documents/org_7/it's.txt",
          fileRef: 'ref 1',
          uploadUrl: `${store.origin}/put/1?sig=canary`,
        },
      },
      'POST /v1/documents': { status: 201, json: { document: rules } },
      'PATCH /v1/documents/doc_1': { status: 200, json: changed },
      'DELETE /v1/documents/doc_1': { status: 204 },
    };
    return (
      special?.(request) ??
      usual[`${request.method} ${request.url}`] ?? { status: 404, json: { error: 'notFound' } }
    );
  });
  return { ...api, store };
}

function lines(requests: readonly Recorded[]): string[] {
  return requests.map(({ method, url }) => `${method} ${url}`);
}

function folderWith(files: Record<string, string | Buffer>): string {
  const home = temporaryFolder();
  mkdirSync(join(home, 'work'));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(home, 'work', name), content);
  return home;
}

const at = (home: string) => ({ home, cwd: join(home, 'work') });

// --- reading ---

test('a document without an id answers to none, not even "undefined"', async () => {
  const api = await recordingService(() => ({ status: 200, json: [{ name: 'A' }, rules] }));
  for (const line of ['docs get undefined', 'docs delete undefined --yes']) {
    const ran = await inProcess(line, { env: api.env });
    expect([ran.code, ran.stdout]).toEqual([11, '']);
  }
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('get finds all ids with one list request', async () => {
  const api = await service();
  const ran = await rosterctl('docs get doc_2 doc_1 doc_9 --json', { env: api.env });
  expect(ran.code).toBe(5);
  expect(JSON.parse(ran.stdout)).toEqual([photo, rules]);
  expect(ran.stderr).toContain('doc_9');
  expect(lines(api.requests)).toEqual(['GET /v1/documents/org_7']);
  const one = await inProcess('docs get doc_9 --json', { env: api.env });
  expect([one.code, one.stdout]).toEqual([5, '']);
  expect(errorOf(one)).toMatchObject({ code: 'notFound', exitCode: 5 });
});

test('sizes sent as text are shown like numbers', async () => {
  const documents = [
    { id: 'doc_1', name: 'rules.pdf', sizeBytes: '81100' },
    { id: 'doc_2', name: 'map.png', sizeBytes: 2048 },
  ];
  const api = await recordingService(({ url }) => ({
    status: 200,
    json: url.includes('/doc_1') ? documents[0] : { documents },
  }));
  const env = { ...api.env, ROSTERCTL_FORCE_TTY: '100' };
  const list = await inProcess('docs list', { env });
  expect(list.stdout).toMatch(/2\.0 KiB.*\n.*79\.2 KiB/);
  const card = await inProcess('docs get doc_1 --fields id,sizeBytes', { env });
  expect(card.stdout).toContain('79.2 KiB (81,100 bytes)');
});

test('list filters by tags and by content type', async () => {
  const { env } = await service();
  const ids = async (line: string) => (await inProcess(`docs list -o ids ${line}`, { env })).stdout;
  expect(await ids('--tag a --tag b')).toBe('doc_1\n');
  expect(await ids('--type image/')).toBe('doc_2\n');
  expect(await ids("--type 'image/*'")).toBe('doc_2\n');
  expect(await ids('--type text/plain')).toBe('doc_1\n');
});

// --- update ---

test.each([
  ['--add-tag c --remove-tag a', ['b', 'c']],
  ['--tag z --tag z', ['z']],
  ["-F 'tags[]'", []],
])('docs update %s sends the whole new list of tags', async (flags, tags) => {
  const api = await service();
  const ran = await inProcess(`docs update doc_1 ${flags} --json`, { env: api.env });
  expect(ran.code).toBe(0);
  expect(JSON.parse(api.requests[1]?.body.toString() ?? '')).toEqual({ tags });
  expect(JSON.parse(ran.stdout)).toMatchObject({ tags });
});

test('existing tags are not sent again', async () => {
  const api = await service();
  const ran = await rosterctl('docs update doc_1 --add-tag a --remove-tag x', { env: api.env });
  expect(ran.code).toBe(0);
  expect(lines(api.requests)).toEqual(['GET /v1/documents/org_7']);
});

test('an update answered without a record prints the one from the list', async () => {
  const api = await service({
    api: ({ method }) => (method === 'PATCH' ? { status: 204 } : undefined),
  });
  const ran = await inProcess('docs update doc_1 --name House --json', { env: api.env });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual({ ...rules, name: 'House' });
  expect(lines(api.requests)).toHaveLength(3);
});

// --- upload ---

test('all files are checked before the first request', async () => {
  const api = await service();
  const home = folderWith({
    'ok.txt': 'hello',
    'fake.pdf': 'hello',
    'x.exe': 'MZ',
    'notes.md': '# hi',
  });
  mkdirSync(join(home, 'work', 'folder'));
  for (const [paths, words] of [
    ['missing.txt', 'missing.txt'],
    ['folder', '-r folder'],
    ['fake.pdf', 'text/plain'],
    ['x.exe', 'extension'],
    ['notes.md', '--content-type'],
    ["'*.png'", 'No file matches *.png'],
    ['ok.txt missing.txt --fail-fast', 'missing.txt'],
    ['ok.txt fake.pdf --fail-fast', 'text/plain'],
    ['ok.txt notes.md --name Two', '--name'],
    ['ok.txt --content-type image/svg+xml', '--content-type'],
    ['-', '--name'],
    ['- ok.txt --name A --content-type text/plain', 'stdin'],
  ] as const) {
    const ran = await inProcess(`docs upload ${paths} --json`, { env: api.env, ...at(home) });
    expect([paths, ran.code, ran.stdout]).toEqual([paths, 2, '']);
    expect(ran.stderr).toContain(words);
  }
  expect(api.requests).toEqual([]);
});

test('--content-type overrides the type of a file name', async () => {
  const api = await service();
  const home = folderWith({ 'notes.md': '# hi' });
  const ran = await inProcess('docs upload notes.md --content-type text/plain', {
    env: api.env,
    ...at(home),
  });
  expect(ran.code).toBe(0);
  expect(api.store.requests[0]?.headers['content-type']).toBe('text/plain');
});

test('a dry run inspects the file and shows three requests', async () => {
  const api = await service();
  const home = folderWith({ 'rules.txt': 'hello' });
  const ran = await inProcess('docs upload rules.txt --tag a -n --json', {
    env: api.env,
    ...at(home),
  });
  expect(JSON.parse(ran.stdout)).toEqual({
    schema: 1,
    dryRun: true,
    requests: [
      {
        method: 'POST',
        path: '/uploads/document-file',
        basis: 'stated',
        body: { organizationId: 'org_7', contentType: 'text/plain', sizeBytes: 5 },
      },
      { method: 'PUT', path: '(uploadUrl from step 1)', basis: 'stated' },
      {
        method: 'POST',
        path: '/documents',
        basis: 'stated',
        body: {
          organizationId: 'org_7',
          name: 'rules.txt',
          fileUrl: '(from step 1)',
          fileKey: '(from step 1)',
          contentType: 'text/plain',
          sizeBytes: 5,
          tags: ['a'],
        },
      },
    ],
    changes: [{ id: null, field: 'id', from: null, to: '(new document)' }],
  });
  expect(lines([...api.requests, ...api.store.requests])).toEqual(['GET /v1/documents/org_7']);
  expect((await inProcess('docs upload gone.txt -n', { env: api.env, ...at(home) })).code).toBe(2);
});

test('several files report their new ids without confirmation', async () => {
  let grant: (() => Reply) | undefined;
  const api = await service({
    api: ({ url }) => (url === '/v1/uploads/document-file' ? grant?.() : undefined),
  });
  grant = grantsOf(api.store);
  const home = folderWith({ 'a.txt': 'hello', 'b.txt': 'world' });
  const ran = await rosterctl('docs upload a.txt b.txt --json', { env: api.env, ...at(home) });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    action: 'documents.upload',
    summary: { total: 2, changed: 2 },
    results: [
      { row: 1, id: 'a.txt', result: 'changed', after: { id: 'doc_1' } },
      { row: 2, id: 'b.txt', result: 'changed', after: { id: 'doc_1' } },
    ],
  });
  const sent = api.store.requests.map(({ body }) => body.toString());
  expect(sent.toSorted()).toEqual(['hello', 'world']);
});

test('stdin is uploaded with its exact length and leaves nothing behind', async () => {
  const api = await service();
  const home = folderWith({});
  const temp = join(home, 'temp');
  mkdirSync(temp);
  const ran = await rosterctl('docs upload - --name Rules --content-type text/plain', {
    env: { ...api.env, TMPDIR: temp },
    home,
    stdin: 'ü'.repeat(70_000),
  });
  expect(ran.code).toBe(0);
  expect(api.store.requests[0]?.headers['content-length']).toBe('140000');
  expect(api.store.requests[0]?.body.length).toBe(140_000);
  expect(readdirSync(temp)).toEqual([]);
});

test('stdin that cannot be kept names the folder and the reason', async () => {
  const api = await service();
  const env = { ...api.env, TMPDIR: '/nowhere' };
  const ran = await rosterctl('docs upload - --name a.txt', { env, stdin: 'x' });
  expect([ran.code, ran.stderr]).toEqual([
    2,
    'stdin cannot be kept in a temporary file in /nowhere: there is no such folder (ENOENT).\nSet TMPDIR to a folder with enough room.\n',
  ]);
});

test('the type of stdin is determined from --name and the bytes', async () => {
  const api = await service();
  const upload = (name: string, stdin: string) =>
    inProcess(`docs upload - --name ${name} --json`, { env: api.env, stdin });
  for (const [name, stdin] of [
    ['rules.txt', 'hello'],
    ['Guide', 'hello'],
    ['Contract', '%PDF-1.7 x'],
  ] as const)
    expect((await upload(name, stdin)).code).toBe(0);
  const sent = api.store.requests.map(({ headers, body }) => [
    headers['content-type'],
    body.toString(),
  ]);
  expect(sent).toEqual([
    ['text/plain', 'hello'],
    ['text/plain', 'hello'],
    ['application/pdf', '%PDF-1.7 x'],
  ]);
  const before = api.requests.length;
  for (const [name, stdin, says] of [
    ['photo.png', 'hello', 'has the extension of image/png, but its content is text/plain'],
    ['Photo', '\u0000\u0001\u0002', 'The type of the file from stdin is unknown.'],
  ] as const) {
    const ran = await upload(name, stdin);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(errorOf(ran)['hint']).toContain('--content-type');
  }
  expect(api.requests.length).toBe(before);
});

test('a failing third step prints what is left over, and a command that a shell can run', async () => {
  const api = await service({
    api: ({ method, url }) =>
      method === 'POST' && url === '/v1/documents'
        ? { status: 403, json: { error: 'forbidden' } }
        : undefined,
  });
  const home = folderWith({ 'rules.txt': 'hello' });
  const ran = await inProcess("docs upload rules.txt --name 'Our rules' --tag a --json", {
    env: api.env,
    ...at(home),
  });
  expect([ran.code, ran.stdout]).toEqual([7, '']);
  expect(errorOf(ran)).toMatchObject({ code: 'forbidden' });
  expect(ran.stderr).toContain('5 bytes');
  const command = /rosterctl (docs create .*)$/m.exec(ran.stderr)?.[1] ?? '';
  expect(shellWords(command)).toEqual([
    'docs',
    'create',
    '--file-key',
    "documents/org_7/it's.txt",
    '--file-ref',
    'ref 1',
    '--content-type',
    'text/plain',
    '--size-bytes',
    '5',
    '--name',
    'Our rules',
    '--tag',
    'a',
  ]);
});

test('a download of a file that the store has lost says what to do', async () => {
  const text = '<Error><Code>NoSuchKey</Code></Error>';
  const { env } = await service({ store: () => ({ status: 404, text }) });
  const home = temporaryFolder();
  const one = await inProcess(`docs download doc_1 -D ${home} --json`, { env, home });
  expect([one.code, errorOf(one)['hint']]).toEqual([
    1,
    'The store does not have the file of this document. If you have it: rosterctl docs replace doc_1 FILE',
  ]);
  const two = await inProcess(`docs download doc_1 doc_2 -D ${home}`, { env, home });
  expect(two.stderr.split('\n').slice(-3)).toEqual([
    '0 of 2 documents done, 2 not.',
    'If you have a file that the store does not have: rosterctl docs replace ID FILE',
    '',
  ]);
});

test('a store that keeps refusing ends the upload with its code, and no document is created', async () => {
  const denied = '<Error><Code>AccessDenied</Code><Message>no</Message></Error>';
  const api = await service({ store: () => ({ status: 403, text: denied }) });
  const home = folderWith({ 'rules.txt': 'hello' });
  const ran = await inProcess('docs upload rules.txt --json', { env: api.env, ...at(home) });
  expect(ran.code).toBe(1);
  expect(errorOf(ran)).toMatchObject({ status: 403, code: 'AccessDenied' });
  expect(lines(api.requests)).toEqual([
    'GET /v1/documents/org_7',
    'POST /v1/uploads/document-file',
    'POST /v1/uploads/document-file',
    'POST /v1/uploads/document-file',
  ]);
});

test('a file with the name, type and size of a document is skipped, uploaded again or refused', async () => {
  const home = folderWith({ Rules: 'hello' });
  const ran = async (how: string) => {
    const api = await service();
    const { code } = await inProcess(`docs upload Rules --content-type text/plain ${how}`, {
      env: api.env,
      ...at(home),
    });
    return [code, lines(api.requests)];
  };
  const steps = ['POST /v1/uploads/document-file', 'POST /v1/documents'];
  expect(await ran('')).toEqual([0, ['GET /v1/documents/org_7']]);
  expect(await ran('--if-exists duplicate')).toEqual([0, steps]);
  expect(await ran('--if-exists skip')).toEqual([0, ['GET /v1/documents/org_7']]);
  expect(await ran('--if-exists error')).toEqual([11, ['GET /v1/documents/org_7']]);
});

test('--if-exists skip and error upload nothing if a possibly incomplete list lacks the name', async () => {
  const home = folderWith({ Rules: 'hello', More: 'more' });
  for (const how of ['skip', 'error'])
    for (const paths of ['Rules', 'Rules More']) {
      const api = await recordingService(() => ({
        status: 200,
        json: { documents: [], total: 1 },
      }));
      const line = `docs upload ${paths} --content-type text/plain --if-exists ${how} --json`;
      const ran = await inProcess(line, { env: api.env, ...at(home) });
      expect([ran.code, errorOf(ran).code]).toEqual([11, 'incomplete']);
      // Also where `uploads finish`, which has no such flag, says so.
      expect(errorOf(ran).hint).toContain('rosterctl docs upload FILE --if-exists duplicate');
      expect(lines(api.requests)).toEqual(['GET /v1/documents/org_7']);
    }
});

test('an upload answered without a record is completed from the list by its key', async () => {
  const api = await service({
    api: ({ method, url }) => {
      if (url === '/v1/documents') return { status: 204 };
      if (method === 'GET')
        return { status: 200, json: [{ ...rules, fileKey: "documents/org_7/it's.txt" }] };
      return undefined;
    },
  });
  const home = folderWith({ 'rules.txt': 'hello' });
  const ran = await inProcess('docs upload rules.txt --json', { env: api.env, ...at(home) });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ id: 'doc_1' });
});

test.each(['before', 'while'] as const)(
  'a file that changes %s it is sent never becomes a document',
  async (moment) => {
    const home = folderWith({ 'rules.txt': 'hello' });
    const rewrite = () => {
      writeFileSync(join(home, 'work', 'rules.txt'), 'jello');
      return undefined;
    };
    const api = await service({
      api: ({ url }) =>
        moment === 'before' && url === '/v1/uploads/document-file' ? rewrite() : undefined,
      store: () => (moment === 'while' ? rewrite() : undefined),
    });
    const ran = await inProcess('docs upload rules.txt --json', { env: api.env, ...at(home) });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain('changed during');
    const first = ['GET /v1/documents/org_7', 'POST /v1/uploads/document-file'];
    expect(lines(api.requests)).toEqual(first);
  },
);

// --- download ---

test('a download is named after its record, private, complete, and fetched without the key', async () => {
  const api = await service();
  const home = folderWith({});
  const ran = await rosterctl('docs download doc_1 --json', { env: api.env, ...at(home) });
  expect(JSON.parse(ran.stdout)).toEqual({ id: 'doc_1', path: 'Rules.txt', bytes: 5 });
  const file = join(home, 'work', 'Rules.txt');
  expect(readFileSync(file, 'utf8')).toBe('hello');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(home, 'work'))).toEqual(['Rules.txt']);
  expect(JSON.stringify(api.store.requests)).not.toContain(key);
});

test('a download has the extension of its type, also of one with parameters', async () => {
  const contentType = 'Text/Plain; charset=utf-8';
  const api = await service({
    api: ({ url }) =>
      url === '/v1/documents/org_7'
        ? { status: 200, json: [{ ...rules, contentType }] }
        : undefined,
  });
  const ran = await inProcess('docs download doc_1 --json', {
    env: api.env,
    ...at(folderWith({})),
  });
  expect(JSON.parse(ran.stdout)).toMatchObject({ path: 'Rules.txt' });
});

test('a hostile name cannot leave the folder', async () => {
  const api = await service();
  const home = folderWith({});
  const ran = await inProcess('docs download doc_2 -D inner/deep --json', {
    env: api.env,
    ...at(home),
  });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ path: join('inner', 'deep', 'photo.png') });
  expect(readdirSync(join(home, 'work', 'inner', 'deep'))).toEqual(['photo.png']);
});

test.each([
  [403, 'a key that may not list', 'This key cannot list documents'],
  [404, 'a service without a list', 'This service has no list of documents (404)'],
])('after %i, %s still downloads, and the store names the file', async (status, _, why) => {
  const api = await service({
    api: ({ url }) =>
      url === '/v1/documents/org_7' ? { status, json: { error: 'none' } } : undefined,
  });
  const home = folderWith({});
  const ran = await inProcess('docs download doc_1 --json', { env: api.env, ...at(home) });
  expect([ran.code, ran.stderr]).toEqual([0, `${why}; the files are named by the store.\n`]);
  expect(JSON.parse(ran.stdout)).toMatchObject({ path: 'stored.txt' });
  const both = await inProcess('docs download doc_1 doc_2 -D two', { env: api.env, ...at(home) });
  expect([both.code, readdirSync(join(home, 'work', 'two'))]).toEqual([
    0,
    ['stored-doc_2.txt', 'stored.txt'],
  ]);
});

test('an existing file is refused before its URL is requested, skipped, or replaced', async () => {
  const api = await service();
  const home = folderWith({ 'Rules.txt': 'mine' });
  const file = join(home, 'work', 'Rules.txt');
  const refused = await inProcess('docs download doc_1', { env: api.env, ...at(home) });
  expect([refused.code, refused.stdout, readFileSync(file, 'utf8')]).toEqual([11, '', 'mine']);
  const skipped = await inProcess('docs download doc_1 --skip-existing', {
    env: api.env,
    ...at(home),
  });
  expect([skipped.code, readFileSync(file, 'utf8')]).toEqual([0, 'mine']);
  expect(new Set(lines(api.requests))).toEqual(new Set(['GET /v1/documents/org_7']));
  const replaced = await inProcess('docs download doc_1 --overwrite', {
    env: api.env,
    ...at(home),
  });
  expect([replaced.code, readFileSync(file, 'utf8')]).toEqual([0, 'hello']);
});

test('a symbolic link at the target is refused, wherever it points', async () => {
  const api = await service();
  const home = folderWith({});
  symlinkSync(join(home, 'outside'), join(home, 'work', 'Rules.txt'));
  const ran = await inProcess('docs download doc_1', { env: api.env, ...at(home) });
  expect(ran.code).toBe(11);
  expect(readdirSync(home)).not.toContain('outside');
});

test('-O - writes the bytes and nothing else to stdout', async () => {
  const api = await service();
  const ran = await rosterctl('docs download doc_1 -O -', { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([0, 'hello']);
  expect(lines(api.requests)).toEqual(['GET /v1/documents/doc_1/download']);
});

test.each([
  ['--fields id', '--fields'],
  ['--out row.json', '--out'],
  ['--json=id', '--fields'],
  ['--template {id}', '--template'],
])(
  '-O - refuses %s before anything is requested, because there is no result to print',
  async (more, told) => {
    const api = await service();
    for (const verb of ['download', 'preview']) {
      const ran = await inProcess(`docs ${verb} doc_1 -O - ${more}`, { env: api.env });
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain(`${told} cannot be given with it`);
      expect(ran.stderr).toContain('-O FILE --json');
    }
    expect(api.requests).toEqual([]);
  },
);

test('-O - with --json writes the bytes and prints errors as JSON; a dry run prints its plan', async () => {
  const api = await service();
  const { env } = api;
  expect((await rosterctl('docs download doc_1 -O - --json', { env })).stdout).toBe('hello');
  const missing = await rosterctl('docs download doc_9 -O - --json', { env });
  expect([missing.stdout, errorOf(missing)]).toMatchObject(['', { kind: expect.any(String) }]);
  const plan = await rosterctl('docs download doc_1 -O - --json --dry-run', { env });
  expect(JSON.parse(plan.stdout)).toMatchObject({ dryRun: true, changes: [] });
});

test.each(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])(
  '-O %s is the same as -O -: no result row is mixed into the bytes',
  async (path) => {
    const { env } = await service();
    for (const flags of ['', '--overwrite', '--json', '-o ids']) {
      const ran = await rosterctl(`docs download doc_1 -O ${path} ${flags}`, { env });
      expect([ran.code, ran.stdout]).toEqual([0, 'hello']);
    }
    const refused = await rosterctl(`docs download doc_1 -O ${path} --out row.json`, { env });
    expect(refused.code).toBe(2);
  },
);

test('a file whose length differs from its record is not kept', async () => {
  const api = await service({
    store: ({ method }) => (method === 'GET' ? { status: 200, text: 'hell' } : undefined),
  });
  const home = folderWith({});
  const ran = await inProcess('docs download doc_1 --json', { env: api.env, ...at(home) });
  expect(ran.code).toBe(1);
  expect(errorOf(ran)).toMatchObject({ code: 'wrongSize' });
  expect(readdirSync(join(home, 'work'))).toEqual([]);
});

test('an expired signed URL is requested again', async () => {
  let gets = 0;
  const api = await service({
    store: () =>
      gets++ === 0 ? { status: 403, text: '<Error><Code>AccessDenied</Code></Error>' } : undefined,
  });
  const ran = await rosterctl('docs download doc_1 -O -', { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([0, 'hello']);
});

test('documents with the same name all get their ids appended, and a missing one is reported', async () => {
  const api = await service({
    api: ({ url }) =>
      url === '/v1/documents/org_7'
        ? { status: 200, json: [rules, { ...rules, id: 'doc_2' }] }
        : undefined,
  });
  const home = folderWith({});
  const ran = await inProcess('docs download doc_1 doc_2 doc_9 --json', {
    env: api.env,
    ...at(home),
  });
  expect(ran.code).toBe(5);
  expect(JSON.parse(ran.stdout)).toMatchObject([
    { path: 'Rules-doc_1.txt' },
    { path: 'Rules-doc_2.txt' },
  ]);
  expect(ran.stderr).toContain('doc_9');
});

test('a document that was only accepted, among documents that show no file keys, is unknown', async () => {
  const api = await service({
    api: ({ method, url }) =>
      method === 'POST' && url === '/v1/documents' ? { status: 202, json: {} } : undefined,
  });
  const line =
    'docs create --file-key k --file-ref r --content-type text/plain --size-bytes 5 --name Rules';
  const ran = await inProcess(line, { env: { ...api.env, ROSTERCTL_SETTLE: '0.1s' } });
  expect([ran.code, ran.stdout]).toEqual([10, '']);
  expect(ran.stderr).toContain('The service answered POST /documents with 202 and no record.');
});

test('a dry run names the files it would write', async () => {
  const api = await service();
  const home = folderWith({});
  const ran = await inProcess('docs download doc_1 -D out -n --json', {
    env: api.env,
    ...at(home),
  });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    dryRun: true,
    requests: [{ method: 'GET', path: '/documents/doc_1/download', basis: 'stated' }],
    changes: [{ id: 'doc_1', field: 'file', to: join('out', 'Rules.txt') }],
  });
  expect(readdirSync(join(home, 'work'))).toEqual([]);
  expect(api.store.requests).toEqual([]);
});

test('--url prints only the URL, with --json also its expiry, and fetches nothing', async () => {
  const api = await service();
  const url = `${api.store.origin}/get/1?sig=canary`;
  const plain = await rosterctl('docs preview doc_1 --url', { env: api.env });
  expect(plain.stdout).toBe(`${url}\n`);
  const json = await inProcess('docs preview doc_1 --url --json', { env: api.env });
  expect(JSON.parse(json.stdout)).toEqual({
    id: 'doc_1',
    url,
    expiresAt: '2030-01-01T00:00:00.000Z',
  });
  expect(api.store.requests).toEqual([]);
});

test('--url of several names no flag for files where one of them was refused', async () => {
  const refused = { status: 400, json: { error: 'no' } };
  const { env } = await recordingService(({ url }) =>
    url.includes('doc_2') ? refused : { status: 200, json: { url: 'https://store.example.com/1' } },
  );
  const { code, stderr } = await inProcess('docs download doc_1 doc_2 --url', { env });
  expect([code, stderr]).toEqual([3, expect.stringContaining('1 of 2 documents done, 1 not.')]);
  expect(stderr).not.toContain('--skip-existing');
});

test.each([
  'docs download doc_1 doc_2 -O x',
  'docs download doc_1 -O x -D y',
  'docs download doc_1 --overwrite --skip-existing',
  'docs download',
  'docs create --file-key k --file-ref r --content-type text/plain --size-bytes five',
  'docs create --file-key k --file-ref r --content-type text/html --size-bytes 5',
  'docs update doc_1 --tag a --add-tag b',
])('%s exits 2 without a request', async (line) => {
  const api = await service();
  const ran = await inProcess(`${line} --json`, { env: api.env });
  expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
});

/** The words of a command as a shell would read them, `'\\''` included. */
function shellWords(line: string): string[] {
  return splitWords(line.replaceAll(`'\\''`, `'"'"'`));
}

test('--type accepts the short names shown in tables, and refuses others', async () => {
  const list = '-p sandbox docs list';
  const short = await inProcess(`${list} --type pdf -o ids`);
  const long = await inProcess(`${list} --type application/pdf -o ids`);
  expect(short.stdout).toBe(long.stdout);
  expect(short.stdout).not.toBe('');
  for (const [typed, meant] of [
    ['pfd', 'pdf'],
    ['image', 'image/'],
  ]) {
    const ran = await inProcess(`${list} --type ${typed}`);
    expect([ran.code, ran.stdout]).toEqual([exit.usage, '']);
    expect(ran.stderr).toContain(`Did you mean ${meant}?`);
  }
});

test('a file of more bytes than upload.maxBytes is refused before a request, and others are sent', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'small.txt'), 'hello');
  writeFileSync(join(home, 'large.txt'), 'hello!');
  await inProcess('config set upload.maxBytes 5', { home });
  const upload = (files: string) =>
    inProcess(`docs upload ${files} -p sandbox --json --debug`, { home, cwd: home });
  const message = 'large.txt has 6 bytes, more than upload.maxBytes (5) allows.';
  const large = await upload('large.txt');
  expect([large.code, errorOf(large)]).toMatchObject([exit.usage, { message }]);
  expect(large.stderr).not.toContain('POST /uploads');
  const both = await upload('small.txt large.txt');
  expect([both.code, JSON.parse(both.stdout).results]).toMatchObject([
    8,
    [{ result: 'changed' }, { result: 'failed', error: { message } }],
  ]);
});
