import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { converse } from '../../support/converse.js';
import {
  type DocumentStoreOptions,
  documentStore,
  fileReply,
  sha256,
  stored,
} from '../../support/document-store.js';
import { hostile, odd } from '../../support/file-names.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, startLine, temporaryFolder } from '../../support/run.js';
import { key, type Reply, recordingService } from '../../support/service.js';

const files = (count: number, length = 100) =>
  Array.from({ length: count }, (_, index) => {
    const id = `doc_${String(index + 1).padStart(4, '0')}`;
    return stored(id, randomBytes(length), { tags: index % 2 ? ['odd'] : ['even'] });
  });

async function place(options: DocumentStoreOptions) {
  const api = await documentStore(options);
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'out'));
  return {
    api,
    cwd,
    out: join(cwd, 'out'),
    there: () =>
      readdirSync(join(cwd, 'out'))
        .filter((name) => name !== '.rosterctl-downloads.json')
        .toSorted(),
    run: (line: string, stdin = '') =>
      inProcess(`docs download -D out ${line}`, { env: api.env, home: cwd, cwd, stdin }),
    start: (line: string) =>
      rosterctl(`docs download -D out ${line}`, { env: api.env, home: cwd, cwd }),
  };
}

const called = (id: string, name: string) => stored(id, Buffer.from(id), { name });

const json = (value: unknown): Reply => ({ status: 200, json: value });

const listCalls = (requests: readonly { readonly url: string }[]) =>
  requests.filter(({ url }) => url === '/v1/documents/org_7').length;

// --- selection ---

test('a thousand documents are downloaded completely from one list, and a second run fetches nothing', async () => {
  const documents = files(1000);
  const here = await place({ documents });
  const ran = await here.start('--all -o ndjson');
  // On a slow machine a progress line is printed every ten seconds.
  const told = ran.stderr.replace(/^[\d,]+ of 1,000 files, .*\n/gm, '');
  expect([ran.code, told]).toEqual([0, '']);
  const rows = ran.stdout.trimEnd().split('\n');
  expect(rows.map((row) => (JSON.parse(row) as { id: string }).id)).toEqual(
    documents.map(({ record }) => record.id),
  );
  for (const { record, bytes } of documents)
    expect(sha256(readFileSync(join(here.out, `${record.id}.txt`)))).toBe(sha256(bytes));
  expect(here.there()).toHaveLength(1000);
  expect(listCalls(here.api.requests)).toBe(1);
  expect(here.api.store.requests).toHaveLength(1000);
  expect(JSON.stringify(here.api.store.requests)).not.toContain(key);
  const again = await here.start('--all --skip-existing --json');
  expect([again.code, (JSON.parse(again.stdout) as unknown[]).length]).toEqual([0, 1000]);
  expect(here.api.store.requests).toHaveLength(1000);
});

test.each([
  ['--tag even', ['doc_0001', 'doc_0003']],
  ['--search doc_0002', ['doc_0002']],
  ['--where id=doc_0003', ['doc_0003']],
  ['--type text/ --limit 2', ['doc_0001', 'doc_0002']],
  ['--since 2026-03-01', ['doc_0004']],
  ['--ids -', ['doc_0004', 'doc_0002']],
  ['doc_0003 doc_0001', ['doc_0003', 'doc_0001']],
])('%s selects, and the rows are an array in that order', async (flags, ids) => {
  const documents = files(4).map((file, index) => ({
    ...file,
    record: {
      ...file.record,
      createdAt: index < 3 ? '2026-01-01T00:00:00Z' : '2026-04-01T00:00:00Z',
    },
  }));
  const here = await place({ documents });
  const ran = await here.run(`${flags} --json`, 'doc_0004\ndoc_0002\n');
  expect(ran).toMatchObject({ code: 0 });
  expect(JSON.parse(ran.stdout)).toEqual(
    ids.map((id) => ({ id, path: join('out', `${id}.txt`), bytes: 100 })),
  );
  expect(listCalls(here.api.requests)).toBe(1);
});

test('one id from a file is a list of one', async () => {
  const here = await place({ documents: files(1) });
  const ran = await here.run('--ids - --json', 'doc_0001\n');
  expect(JSON.parse(ran.stdout)).toHaveLength(1);
});

test('a list that may be incomplete is refused unless that is allowed', async () => {
  const documents = files(2);
  const here = await place({
    documents,
    api: ({ url }) =>
      url === '/v1/documents/org_7'
        ? { status: 200, json: { documents: documents.map(({ record }) => record), total: 9 } }
        : undefined,
  });
  const refused = await here.run('--all --json');
  expect([refused.code, refused.stdout, here.there()]).toEqual([11, '', []]);
  expect(errorOf(refused)).toMatchObject({ code: 'incomplete' });
  expect(here.api.store.requests).toEqual([]);
  expect((await here.run('--all --allow-partial')).code).toBe(0);
  expect(here.there()).toHaveLength(2);
});

test.each([
  '',
  '--all --tag a',
  'doc_0001 --all',
  'doc_0001 --ids x',
  'doc_0001 doc_0001',
  '--limit 3',
  'doc_0001 --skip-existing --overwrite',
])('"%s" exits 2 before any request', async (line) => {
  const here = await place({ documents: files(1) });
  const ran = await here.run(`${line} --json`);
  expect([ran.code, ran.stdout, here.api.requests]).toEqual([2, '', []]);
});

test.each(['--all', '--ids -', 'doc_0001 doc_0002'])('-O with %s exits 2', async (line) => {
  const api = await documentStore({ documents: files(1) });
  for (const file of ['x', '-']) {
    const ran = await inProcess(`docs download ${line} -O ${file}`, { env: api.env });
    expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
  }
});

// --- names ---

test('hostile names stay in the folder, odd harmless ones are kept, none is lost', async () => {
  const names = [...hostile.map(([name]) => name), ...odd];
  const documents = names.map((name, index) =>
    stored(`doc_${index}`, Buffer.from(name), {
      name,
      contentType: 'application/octet-stream',
      sizeBytes: Buffer.byteLength(name),
    }),
  );
  const here = await place({ documents });
  const before = readdirSync(here.cwd).toSorted();
  const ran = await here.run('--all --json');
  expect(ran).toMatchObject({ code: 0 });
  const rows = JSON.parse(ran.stdout) as { id: string; path: string }[];
  expect(rows).toHaveLength(52);
  expect(here.there()).toHaveLength(52);
  expect(
    readdirSync(here.cwd)
      .filter((name) => !name.startsWith('.'))
      .toSorted(),
  ).toEqual(before.filter((name) => !name.startsWith('.')));
  const nameOf = new Map(documents.map(({ record: { id } }, index) => [id, names[index]]));
  rows.forEach(({ id, path }) => {
    expect(path).toBe(join('out', path.slice('out/'.length)));
    expect(path.slice('out/'.length)).not.toContain('/');
    expect(readFileSync(join(here.cwd, path)).toString()).toBe(
      Buffer.from(nameOf.get(id) ?? '').toString(),
    );
  });
  for (const name of odd) expect(here.there()).toContain(name);
});

test('names that a file system considers equal become different files, in any order', async () => {
  const documents = [
    called('a', 'Rules.txt'),
    called('b', 'RULES.txt'),
    called('c', 'e\u0301quipe.txt'),
    called('d', '\u00e9quipe.txt'),
    called('e', 'Rules-a.txt'),
    called('f', 'other'),
  ];
  const named = async (order: typeof documents) => {
    const here = await place({ documents: order });
    const ran = await here.run('--all --json');
    expect(ran).toMatchObject({ code: 0 });
    const rows = JSON.parse(ran.stdout) as { id: string; path: string }[];
    for (const { id, path } of rows) expect(readFileSync(join(here.cwd, path), 'utf8')).toBe(id);
    const keys = rows.map(({ path }) => path.normalize('NFC').toLowerCase());
    expect(new Set(keys).size).toBe(documents.length);
    return Object.fromEntries(rows.map(({ id, path }) => [id, path]));
  };
  expect(await named(documents)).toEqual(await named(documents.toReversed()));
});

// --- existing files ---

test('existing files are refused before a document is requested', async () => {
  const here = await place({ documents: files(3) });
  writeFileSync(join(here.out, 'doc_0002.txt'), 'mine');
  const ran = await here.run('--all --json');
  expect([ran.code, ran.stdout]).toEqual([11, '']);
  expect(ran.stderr).toContain('doc_0002.txt');
  expect(here.api.requests).toHaveLength(1);
  expect(here.there()).toEqual(['doc_0002.txt']);
});

test('--skip-existing fetches missing files and reports one of another size', async () => {
  const documents = files(3);
  const here = await place({ documents });
  writeFileSync(join(here.out, 'doc_0002.txt'), 'mine');
  writeFileSync(join(here.out, 'doc_0003.txt'), documents[2]?.bytes ?? '');
  const ran = await here.run('--all --skip-existing --json');
  expect(ran.code).toBe(0);
  expect(ran.stderr.trimEnd().split('\n')).toEqual([
    'out/doc_0002.txt was left as it is, but it has 4 bytes and the document doc_0002 has 100.',
  ]);
  expect(JSON.parse(ran.stdout)).toMatchObject([{ bytes: 100 }, { bytes: 4 }, { bytes: 100 }]);
  expect(here.api.asked()).toEqual(['doc_0001']);
});

test('a terminal counts the files that were skipped, and shows sizes in binary units', async () => {
  const here = await place({ documents: files(3, 2048) });
  writeFileSync(join(here.out, 'doc_0002.txt'), 'x'.repeat(2048));
  const piped = await here.run('doc_0001 doc_0002 --skip-existing');
  expect(piped).toMatchObject({
    stdout:
      'out/doc_0001.txt  2048 bytes\nout/doc_0002.txt  2048 bytes  skipped (same name and size)\n',
    stderr: '1 downloaded, 1 skipped (same name and size).\n',
  });
  const line = ['docs', 'download', '-D', 'out', '--all', '--skip-existing'];
  const { code, shown } = await converse(here.cwd, line, [], here.api.env);
  expect([
    code,
    shown
      .split('\r\n')
      .slice(-3, -1)
      // oxlint-disable-next-line no-control-regex
      .map((row) => row.replace(/^.*(?:\r|\u001b\[[0-2]?[KG])/, '')),
  ]).toEqual([
    0,
    [
      'out/doc_0003.txt (2.0 KiB)',
      '1 downloaded, 1 skipped (unchanged), 1 skipped (same name and size)',
    ],
  ]);
});

test('a dry run names the files it would write and fetches nothing', async () => {
  const here = await place({ documents: files(3) });
  writeFileSync(join(here.out, 'doc_0002.txt'), 'mine');
  const ran = await here.run('--all --skip-existing -n --json');
  expect(JSON.parse(ran.stdout)).toMatchObject({
    dryRun: true,
    requests: [{ path: '/documents/doc_0001/download' }, { path: '/documents/doc_0003/download' }],
    changes: [{ to: join('out', 'doc_0001.txt') }, { to: join('out', 'doc_0003.txt') }],
  });
  expect([here.api.requests.length, here.there()]).toEqual([1, ['doc_0002.txt']]);
  expect((await here.run('--all -n')).code).toBe(11);
});

test('--url prints a URL for each document and fetches nothing', async () => {
  const api = await documentStore({ documents: files(2) });
  const plain = await inProcess('docs download --all --url', { env: api.env });
  const urls = ['doc_0001', 'doc_0002'].map(
    (id) => `${api.store.origin}/files/${id}?sig=canary-signature`,
  );
  expect(plain.stdout).toBe(`${urls.join('\n')}\n`);
  const rows = await inProcess('docs download --all --url --json', { env: api.env });
  expect(JSON.parse(rows.stdout)).toMatchObject([
    { id: 'doc_0001', url: urls[0], expiresAt: null },
    { id: 'doc_0002', url: urls[1], expiresAt: null },
  ]);
  expect(api.store.requests).toEqual([]);
});

// --- failures of some documents ---

const refusing =
  (status: number, error: string, ids: readonly string[]): DocumentStoreOptions['api'] =>
  ({ url }) =>
    ids.some((id) => url === `/v1/documents/${id}/download`)
      ? { status, json: { error } }
      : undefined;

describe('a document that fails does not stop the others', () => {
  test.each<[string, Omit<DocumentStoreOptions, 'documents'>, number, RegExp]>([
    ['missing', { api: refusing(404, 'notFound', ['doc_0002']) }, 5, /doc_0002 was not found/],
    [
      'forbidden',
      { api: refusing(403, 'forbidden', ['doc_0002']) },
      7,
      /refused to read document doc_0002/,
    ],
    ['refused', { api: refusing(400, 'invalidRequest', ['doc_0002']) }, 3, /doc_0002: .*invalid/],
    ['broken', { api: refusing(500, 'internal', ['doc_0002']) }, 9, /doc_0002: .*failed with 500/],
    [
      'refused by the store',
      { store: (_, { record }) => (record.id === 'doc_0002' ? { status: 404 } : undefined) },
      1,
      /doc_0002: The file store refused/,
    ],
    [
      'of another size',
      {
        store: (_, { record }) =>
          record.id === 'doc_0002' ? { status: 200, text: 'x' } : undefined,
      },
      1,
      /doc_0002: The file has 1 byte, /,
    ],
  ])('%s', async (_, options, code, words) => {
    const here = await place({ documents: files(4), ...options });
    const ran = await here.run('--all --json --retries 0 --concurrency 1');
    expect([ran.code, (JSON.parse(ran.stdout) as unknown[]).length]).toEqual([code, 3]);
    expect(ran.stderr).toMatch(words);
    expect(ran.stderr).toContain('3 of 4 documents done, 1 not.');
    expect(here.there()).toEqual(['doc_0001.txt', 'doc_0003.txt', 'doc_0004.txt']);
  });
});

test.each([
  ['a refused key', 401, 'invalidApiKey', 4],
  ['a plan without API access', 403, 'featureNotAvailable', 7],
  ['a forbidden first document', 403, 'forbidden', 7],
])(
  '%s ends the run, and the documents not started are reported',
  async (_, status, error, code) => {
    const documents = files(30);
    const here = await place({
      documents,
      api: refusing(
        status,
        error,
        documents.map(({ record }) => record.id),
      ),
    });
    const ran = await here.run('--all --json --concurrency 1');
    expect([ran.code, ran.stdout.trim()]).toEqual([code, '[]']);
    expect(ran.stderr).toContain('0 of 30 documents done, 30 not, 29 of them not started.');
    expect(here.api.requests).toHaveLength(2);
  },
);

test('a name that is too long for its folder does not stop the others, nor the next mirror', async () => {
  const documents = [called('doc_1', `${'long'.repeat(45)}.txt`), called('doc_2', 'short.txt')];
  const here = await place({ documents });
  // A path may have 4,095 bytes on Linux: this leaves room for our temporary names, and not for 184.
  const room = 4_095 - 120 - Buffer.byteLength(here.cwd);
  const deep = `${'d'.repeat(199)}/`.repeat(Math.floor(room / 200));
  const folder = join(here.cwd, deep, 'e'.repeat(room % 200 || 1));
  for (const line of [`--all -D ${folder}`, `--all --skip-existing -D ${folder}`]) {
    const ran = await inProcess(`docs download ${line} --concurrency 1 --json`, {
      env: here.api.env,
      home: here.cwd,
    });
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('the name is too long')]);
    expect(readdirSync(folder)).toContain('short.txt');
  }
});

test('a service that stops answering ends the run after five documents, and the next run continues', async () => {
  const documents = files(12);
  let dead = true;
  const here = await place({
    documents,
    store: (_, { record }) =>
      dead && record.id > 'doc_0003' ? (_r, response) => response.destroy() : undefined,
  });
  const ran = await here.run('--all --json --concurrency 1 --retries 0');
  expect([ran.code, (JSON.parse(ran.stdout) as unknown[]).length]).toEqual([9, 3]);
  expect(ran.stderr).toContain('3 of 12 documents done, 9 not, 4 of them not started.');
  dead = false;
  const again = await here.run('--all --json --skip-existing');
  expect([again.code, here.there().length]).toEqual([0, 12]);
});

test('if some of several documents fail, the last line is the first error as JSON', async () => {
  const here = await place({ documents: files(2) });
  for (const format of ['--json', '-o ndjson']) {
    const ran = await here.run(`doc_0001 gone doc_0002 --overwrite ${format}`);
    expect([ran.code, errorOf(ran)]).toMatchObject([
      5,
      { exitCode: 5, message: expect.stringContaining('gone') },
    ]);
    expect(errorOf(ran).message).not.toContain('doc_0001');
  }
  const plain = await here.run('doc_0001 gone --overwrite');
  expect(plain.stderr).not.toContain('{"error"');
});

test('Ctrl-C leaves complete files, exits 130, and reports what was not done', async () => {
  const documents = files(20, 50_000);
  let open = true;
  const here = await place({
    documents,
    store: (request, { record, bytes }) =>
      open && record.id === 'doc_0003'
        ? (_, response) => {
            const { etag } = { etag: '"1"' };
            response.writeHead(200, { 'content-length': bytes.length, etag });
            response.write(bytes.subarray(0, 20_000));
          }
        : fileReply(request, bytes, { headers: { etag: '"1"' } }),
  });
  const line = ['docs', 'download', '--all', '-D', 'out', '--json', '--concurrency', '1'];
  const child = startLine(line, { env: here.api.env, home: here.cwd });
  const received = () =>
    readdirSync(here.out)
      .filter((name) => name.startsWith('.doc_0003.txt'))
      .map((name) => statSync(join(here.out, name)).size);
  while (!received().includes(20_000)) await wait(10);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await child.ended;
  expect([code, (JSON.parse(stdout) as unknown[]).length]).toEqual([130, 2]);
  expect(stderr).toContain('2 of 20 documents done, 18 not, 17 of them not started.');
  expect(errorOf({ stderr })).toMatchObject({ code: 'cancelled', exitCode: 130 });
  expect(here.there()).toEqual(['doc_0001.txt', 'doc_0002.txt']);
  open = false;
  expect((await here.run('--all --skip-existing')).code).toBe(0);
  for (const { record, bytes } of documents)
    expect(sha256(readFileSync(join(here.out, `${record.id}.txt`)))).toBe(sha256(bytes));
  expect(here.there()).toHaveLength(20);
});

test('a second mirror of a folder is refused, so that none forgets what the other downloaded', async () => {
  const documents = files(3);
  const cut = new AbortController();
  const here = await place({
    documents,
    store: (request, { record, bytes }) =>
      record.id === 'doc_0003' && !cut.signal.aborted
        ? (_, response) => {
            response.writeHead(200, { 'content-length': bytes.length, etag: '"1"' });
            response.write(bytes.subarray(0, 10));
            cut.signal.addEventListener('abort', () => response.destroy());
          }
        : fileReply(request, bytes, { headers: { etag: '"1"' } }),
  });
  // The first one makes the folder, and names it by a link.
  rmdirSync(here.out);
  symlinkSync(here.cwd, join(here.cwd, 'link'));
  const line = ['docs', 'download', '--all', '-D', 'link/out', '--skip-existing'];
  const first = startLine(line, { env: here.api.env, home: here.cwd });
  while (here.api.asked().length < 3) await wait(10);
  const second = await here.start('--all --skip-existing --json');
  expect([second.code, errorOf(second).code]).toEqual([11, 'locked']);
  expect(second.stderr).toContain('Another download to out is running.');
  expect(here.api.asked()).toHaveLength(3);
  // One that remembers nothing is not kept out.
  expect((await here.start('doc_0001 --overwrite')).code).toBe(0);
  cut.abort();
  expect((await first.ended).code).toBe(0);
  const remembered = JSON.parse(readFileSync(join(here.out, '.rosterctl-downloads.json'), 'utf8'));
  expect(remembered.files).toHaveLength(3);
  expect((await here.start('--all --skip-existing')).code).toBe(0);
});

test('a mirror that is refused or killed does not keep out the next', async () => {
  const here = await place({ documents: files(2) });
  mkdirSync(join(here.out, 'doc_0001.txt'));
  expect((await here.run('--all --skip-existing')).code).toBe(11);
  const child = startLine(['docs', 'download', '--all', '-D', 'out', '--skip-existing'], {
    env: here.api.env,
    home: here.cwd,
  });
  child.kill('SIGKILL');
  await child.ended;
  rmdirSync(join(here.out, 'doc_0001.txt'));
  expect((await here.run('--all --skip-existing')).code).toBe(0);
  const locks = join(here.cwd, '.local/state/rosterctl/mirrors');
  expect(readdirSync(locks)).toEqual([]);
});

test('--concurrency limits the documents in flight', async () => {
  let active = 0;
  let most = 0;
  const here = await place({
    documents: files(40),
    store:
      (request, { bytes }) =>
      (_, response) => {
        active += 1;
        most = Math.max(most, active);
        setTimeout(
          () => {
            active -= 1;
            const reply = fileReply(request, bytes);
            if (typeof reply === 'function') reply(request, response);
            // Long enough for all that may be sent at once, until they have been.
          },
          most < 16 ? 500 : 5,
        );
      },
  });
  // More than ten listeners on one signal are not a leak, so there is no warning.
  expect(await here.start('--all --concurrency 16')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^\d+ downloaded\.\n$/),
  });
  expect(most).toBe(16);
});

// --- shapes of the answer ---

async function answering(reply: (origin: string) => Reply, more: Record<string, unknown> = {}) {
  const document = stored('doc_0001', Buffer.from('hello'), more);
  const target = await documentStore({ documents: [document] });
  const { origin } = target.store;
  const here = await place({
    documents: [document],
    api: ({ url }) => (url.endsWith('/download') ? reply(origin) : undefined),
  });
  return { ...here, target };
}

describe('the signed URL is found', () => {
  const path = '/files/doc_0001?sig=canary';
  test.each<[string, (origin: string) => Reply]>([
    ['as url', (origin) => json({ url: origin + path })],
    ['as downloadUrl', (origin) => json({ downloadUrl: origin + path })],
    ['as signed_url inside data', (origin) => json({ data: { signed_url: origin + path } })],
    ['beside a fileUrl', (origin) => json({ fileUrl: 'https://x.test/a', link: origin + path })],
    ['as a JSON string', (origin) => json(origin + path)],
    [
      'as bare text',
      (origin) => ({
        status: 200,
        text: `${origin}${path}\n`,
        headers: { 'content-type': 'text/plain' },
      }),
    ],
    ['as a Location', (origin) => ({ status: 302, headers: { location: origin + path } })],
    ['as a Location of 307', (origin) => ({ status: 307, headers: { location: origin + path } })],
  ])('%s', async (_, reply) => {
    const here = await answering(reply);
    expect(await here.run('doc_0001')).toMatchObject({ code: 0 });
    expect(readFileSync(join(here.out, 'doc_0001.txt'), 'utf8')).toBe('hello');
    expect(here.target.asked()).toEqual(['doc_0001']);
    expect(JSON.stringify(here.target.store.requests)).not.toContain(key);
  });

  test('or the answer holds the bytes themselves', async () => {
    const here = await answering(() => ({
      status: 200,
      text: 'hello',
      headers: { 'content-type': 'application/pdf' },
    }));
    expect(await here.run('doc_0001')).toMatchObject({ code: 0 });
    expect(readFileSync(join(here.out, 'doc_0001.txt'), 'utf8')).toBe('hello');
    expect(here.target.store.requests).toEqual([]);
    expect((await inProcess('docs download doc_0001 --url', { env: here.api.env })).code).toBe(1);
  });
});

test('fileUrl is never fetched or shown as a link', async () => {
  const trap = await recordingService(() => ({ status: 200, text: 'hello' }));
  const fileUrl = `${trap.origin}/files/doc_0001`;
  const here = await answering(() => ({ status: 200, json: { id: 'doc_0001', fileUrl } }), {
    fileUrl,
  });
  const ran = await here.run('doc_0001 --json');
  expect([ran.code, ran.stdout, here.there()]).toEqual([1, '', []]);
  const shown = await inProcess('docs download doc_0001 --url', { env: here.api.env });
  expect([shown.code, shown.stdout]).toEqual([1, '']);
  expect(trap.requests).toEqual([]);
});

test.each([
  ['three redirects', 3, 0],
  ['four redirects', 4, 1],
])('%s of the store: exit code', async (_, hops, code) => {
  const store = await recordingService(({ url }) => {
    const left = Number(url.slice(1));
    return left === 0
      ? { status: 200, text: 'hello' }
      : { status: 302, headers: { location: `/${left - 1}` } };
  });
  const here = await answering(() => ({ status: 200, json: { url: `${store.origin}/${hops}` } }));
  expect((await here.run('doc_0001')).code).toBe(code);
  expect(JSON.stringify(store.requests)).not.toContain(key);
});

test.each(['http://user:pass@127.0.0.1:9/x', 'file:///etc/passwd', 'ftp://127.0.0.1/x'])(
  'a redirect of the store to %s is not followed',
  async (location) => {
    const store = await recordingService(() => ({ status: 302, headers: { location } }));
    const here = await answering(() => ({ status: 200, json: { url: `${store.origin}/x` } }));
    const ran = await here.run('doc_0001 --json');
    expect([ran.code, ran.stdout, here.there()]).toEqual([1, '', []]);
  },
);

test('a document answered with 409 or 422 among successful ones is a failure', async () => {
  for (const [status, code] of [
    [409, 6],
    [422, 3],
  ] as const) {
    const here = await place({
      documents: files(3),
      api: ({ url }) =>
        url.includes('doc_0002/') ? { status, json: { error: 'odd' } } : undefined,
    });
    const ran = await here.run('--all --json');
    expect([ran.code, (JSON.parse(ran.stdout) as unknown[]).length]).toEqual([code, 2]);
  }
});
