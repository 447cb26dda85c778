import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { type Reply, recordingService } from '../../support/service.js';
import { grantsOf } from '../uploads/grants.js';

/** A service that creates documents and a store for their files; `isSilent`: it answers without a record. */
async function service(isSilent = false, stored: Reply = { status: 200 }) {
  const documents: { id: string; name: string; fileKey: string }[] = [];
  const store = await recordingService(() => stored);
  const grant = grantsOf(store);
  const api = await recordingService(({ method, url, body }): Reply => {
    if (method === 'GET' && isSilent) return { status: 403, json: { error: 'forbidden' } };
    if (method === 'GET') return { status: 200, json: { documents } };
    if (url === '/v1/uploads/document-file') return grant();
    const made = { id: `doc_${documents.length + 1}`, ...(JSON.parse(body.toString()) as object) };
    documents.push(made as (typeof documents)[number]);
    if (isSilent) return { status: 201 };
    return { status: 201, json: { document: made } };
  });
  return { ...api, store, documents };
}

function desk(files: Readonly<Record<string, string>>) {
  const home = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(home, name, '..'), { recursive: true });
    writeFileSync(join(home, name), content);
  }
  return { home, cwd: home };
}

test('-r uploads all files below a folder except hidden ones and links, each under its own name', async () => {
  const api = await service();
  const at = desk({
    'in/b.txt': 'b',
    'in/deep/a.txt': 'aa',
    'in/.hidden.txt': 'x',
    'in/.git/c.txt': 'x',
    'out.txt': 'secret',
  });
  symlinkSync('../out.txt', join(at.home, 'in', 'link.txt'));
  const ran = await rosterctl('docs upload -r in --json', { env: api.env, ...at });
  expect(ran.code).toBe(0);
  expect(api.documents.map(({ name }) => name).toSorted()).toEqual(['a.txt', 'b.txt']);
  expect(JSON.parse(ran.stdout).results.map(({ id }: { id: string }) => id)).toEqual([
    'in/b.txt',
    'in/deep/a.txt',
  ]);
});

test('files one after another go to the store over one connection', async () => {
  // With realistic latency: an answer that arrives before the end of its file ends the connection.
  const api = await service(false, (_, response) => setTimeout(() => response.end(), 50));
  const at = desk({ 'a.txt': 'a', 'b.txt': 'bb', 'c.txt': 'ccc' });
  const line = 'docs upload a.txt b.txt c.txt --concurrency 1';
  expect(await inProcess(line, { env: api.env, ...at })).toMatchObject({ code: 0 });
  const ports = api.store.requests.map(({ port }) => port);
  expect(ports).toEqual([ports[0], ports[0], ports[0]]);
});

test('a pattern that the shell did not expand is expanded, and prints a report even for one file', async () => {
  const api = await service();
  const at = desk({ 'one.txt': '1', 'two.png': 'x', '[odd].txt': 'odd' });
  const ran = await inProcess(['docs', 'upload', 'o*.txt', '--json'], { env: api.env, ...at });
  expect([ran.code, JSON.parse(ran.stdout).summary.changed]).toEqual([0, 1]);
  // A file with exactly this name takes precedence over the pattern.
  const odd = await inProcess(['docs', 'upload', '[odd].txt', 'o*.txt', '--json'], {
    env: api.env,
    ...at,
  });
  expect(JSON.parse(odd.stdout).results.map(({ id }: { id: string }) => id)).toEqual([
    '[odd].txt',
    'one.txt',
  ]);
});

test('a special file matched by a pattern fails like one named directly', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({ 'g/a.txt': 'a', 'g/in/b.txt': 'b' }) };
  symlinkSync('nowhere', join(at.home, 'g/broken.txt'));
  symlinkSync('loop.txt', join(at.home, 'g/in/loop.txt'));
  execFileSync('mkfifo', [join(at.home, 'g/pipe.txt')]);
  const names = ['g/a.txt', 'g/broken.txt', 'g/in/b.txt', 'g/in/loop.txt', 'g/pipe.txt'];
  for (const words of [names, ['g/**/*.txt']]) {
    const ran = await inProcess(
      ['docs', 'upload', ...words, '--if-exists', 'duplicate', '--json'],
      at,
    );
    const { results } = JSON.parse(ran.stdout);
    expect(ran.code).toBe(8);
    expect(results.map(({ id, result }: Record<string, string>) => [id, result])).toEqual(
      names.map((name) => [name, /[ab]\.txt$/.test(name) ? 'changed' : 'failed']),
    );
  }
});

test('an unreadable folder stops a pattern that leads into it, as it stops -r', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({ 'g/a.txt': 'a' }) };
  // Its path is too long for the system, which stops root as well, unlike a mode.
  const dig =
    "for (let i = 0; i < 25; i++) { fs.mkdirSync('n'.repeat(200)); process.chdir('n'.repeat(200)); }";
  execFileSync(process.execPath, ['-e', dig], { cwd: join(at.home, 'g') });
  try {
    for (const words of [['-r', 'g'], ['g/**/*.txt']]) {
      const ran = await inProcess(['docs', 'upload', ...words, '--json'], at);
      expect([ran.code, errorOf(ran).message]).toEqual([
        2,
        expect.stringContaining('cannot be read'),
      ]);
    }
    expect(api.requests).toEqual([]);
    expect((await inProcess(['docs', 'upload', 'g/*.txt'], at)).code).toBe(0);
  } finally {
    execFileSync('rm', ['-rf', 'g'], { cwd: at.home });
  }
});

test('more concurrent files than the process may open end in an error that names the limit, and the rest follows', async () => {
  const api = await service();
  const names = Array.from({ length: 60 }, (_, index) => `${index + 1}.txt`);
  const at = desk(Object.fromEntries(names.map((name, size) => [name, 'x'.repeat(size)])));
  const words = ['docs', 'upload', ...names, '--concurrency', '64', '--json'];
  const through = 'ulimit -n 30 && exec "$@"';
  const ran = await rosterctl(words, { env: api.env, ...at, through });
  expect([ran.code, errorOf(ran).code]).toEqual([1, 'openFiles']);
  expect(ran.stderr).toContain('ulimit -n');
  const again = await inProcess(
    words.map((word) => (word === '64' ? '4' : word)),
    { env: api.env, ...at },
  );
  expect(again.code).toBe(0);
  expect(api.documents.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test('a link to a folder named with -r stands for the folder', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({ 'in/a.txt': 'a' }) };
  symlinkSync('in', join(at.home, 'link'));
  for (const path of ['link', 'link/']) {
    const ran = await inProcess(
      ['docs', 'upload', '-r', path, '--if-exists', 'duplicate', '-o', 'ids'],
      at,
    );
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/^doc_\d\n$/)]);
  }
  const ran = await inProcess('docs upload link', at);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('docs upload -r link')]);
});

test('a bad file is reported and does not stop the others; a file named twice is sent once', async () => {
  const api = await service();
  const at = desk({ 'a.txt': 'a', 'fake.pdf': 'no pdf' });
  const line = 'docs upload a.txt fake.pdf gone.txt ./a.txt --json';
  const ran = await inProcess(line, { env: api.env, ...at });
  expect(ran.code).toBe(8);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    summary: { total: 3, changed: 1, failed: 2 },
    results: [
      { row: 1, id: 'a.txt', result: 'changed', before: { id: null }, after: { id: 'doc_1' } },
      { row: 2, id: 'fake.pdf', result: 'failed', error: { exitCode: 2 } },
      { row: 3, id: 'gone.txt', result: 'failed', error: { exitCode: 2 } },
    ],
  });
  expect(ran.stderr).toContain('./a.txt is named twice');
  expect(api.store.requests).toHaveLength(1);
});

test('one file under two paths has the report of several paths', async () => {
  const api = await service();
  const ran = await inProcess('docs upload a.txt ./a.txt --json', {
    env: api.env,
    ...desk({ 'a.txt': 'a' }),
  });
  expect([ran.code, api.store.requests.length]).toEqual([0, 1]);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    summary: { total: 1, changed: 1 },
    results: [{ row: 1, id: 'a.txt', result: 'changed' }],
  });
});

test('two files with the same bytes are noted, and both are sent', async () => {
  const api = await service();
  const at = desk({ 'a.txt': 'same', 'b.txt': 'same', 'c.txt': 'else' });
  const ran = await inProcess('docs upload a.txt b.txt c.txt -o ids', { env: api.env, ...at });
  expect([ran.code, ran.stdout.trim().split('\n').toSorted()]).toEqual([
    0,
    ['doc_1', 'doc_2', 'doc_3'],
  ]);
  expect(ran.stderr).toContain('b.txt holds the same bytes as a.txt');
});

test('of many files with the same bytes five are named and the rest are counted', async () => {
  const api = await service();
  const names = Array.from({ length: 8 }, (_, index) => `${index}.txt`);
  const at = desk(Object.fromEntries(names.map((name) => [name, 'same'])));
  const ran = await inProcess(['docs', 'upload', ...names, '-o', 'ids'], { env: api.env, ...at });
  expect(ran.code).toBe(0);
  expect(ran.stderr.match(/holds the same bytes as/g)).toHaveLength(5);
  expect(ran.stderr).toContain('… and 2 more pairs.');
});

test('files with the same bytes are all uploaded, also after another process uploaded one', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `${index}.txt`);
  const at = desk({ ...Object.fromEntries(names.map((name) => [name, 'same'])), 'x.txt': 'else' });
  let puts = 0;
  const api = await service(false, (_, response) => {
    puts += 1;
    if (puts !== 3) response.end();
    else void upload('docs upload x.txt').finally(() => response.end());
  });
  const upload = (line: string) => rosterctl(line, { env: api.env, ...at });
  const ran = await upload(`docs upload ${names.join(' ')} --concurrency 1 --json`);
  expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { total: 6, changed: 6 } });
  expect(api.documents).toHaveLength(7);
});

test('a document whose id is unknown has none in any format', async () => {
  const api = await service(true);
  const at = { env: api.env, ...desk({ 'a.txt': 'a', 'b.txt': 'b' }) };
  const run = (format: string) => inProcess(`docs upload a.txt b.txt ${format}`, at);
  expect(await run('-o ids')).toMatchObject({ code: 0, stdout: '' });
  const { results } = JSON.parse((await run('--json')).stdout);
  expect(results).toMatchObject([{ after: { id: null } }, { after: { id: null } }]);
  for (const format of ['-o ndjson', '-o csv', '-o table'])
    expect(await run(format)).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('(new'),
    });
  expect(api.documents).toHaveLength(10);
});

test('--if-exists skip omits existing documents; error refuses all before the first byte', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({ 'a.txt': 'a', 'b.txt': 'b' }) };
  await inProcess('docs upload a.txt', at);
  const refused = await inProcess('docs upload a.txt b.txt --if-exists error --json', at);
  expect([refused.code, errorOf(refused).code, api.documents.length]).toEqual([11, 'exists', 1]);
  const ran = await inProcess('docs upload a.txt b.txt --if-exists skip --json', at);
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout).summary).toMatchObject({ changed: 1, skipped: 1 });
  expect(api.documents.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
});

test('more files than --max-changes are refused without a terminal', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({ 'a.txt': 'a', 'b.txt': 'b' }) };
  const sent = () => api.requests.filter(({ method }) => method !== 'GET');
  for (const flags of ['--max-changes 1', '--max-changes 1 --expect 2']) {
    const ran = await inProcess(`docs upload a.txt b.txt ${flags} --yes`, at);
    expect([ran.code, sent().length]).toEqual([11, 0]);
  }
  expect((await inProcess('docs upload a.txt b.txt --max-changes 2', at)).code).toBe(0);
});

test('runs retry inspects a file again that was refused before anything was sent', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({ 'a.txt': 'a', 'fake.pdf': 'no pdf' }) };
  expect((await inProcess('docs upload a.txt fake.pdf gone.txt', at)).code).toBe(8);
  const still = await inProcess('runs retry last --yes --json', at);
  expect([still.code, JSON.parse(still.stdout).summary]).toMatchObject([8, { failed: 2 }]);
  writeFileSync(join(at.home, 'fake.pdf'), '%PDF-1.4\n%%EOF\n');
  const elsewhere = { ...at, cwd: temporaryFolder() };
  const first = JSON.parse((await inProcess('runs list --json', at)).stdout)[0].run as string;
  const mended = await inProcess(`runs retry ${first} --yes --json`, elsewhere);
  expect(mended.code).toBe(8);
  expect(JSON.parse(mended.stdout).results).toMatchObject([
    { id: 'fake.pdf', result: 'changed', after: { id: 'doc_2' } },
    { id: 'gone.txt', result: 'failed' },
  ]);
  expect(api.documents.map(({ name }) => name)).toEqual(['a.txt', 'fake.pdf']);
});

test('of two files with one name and content --if-exists skip sends the first, error none, duplicate both', async () => {
  const files = { 'x/a.txt': 'one', 'y/a.txt': 'one', 'z/a.txt': 'two' };
  const line = 'docs upload -r x y z --json --if-exists';
  const api = await service();
  const at = { env: api.env, ...desk(files) };
  const refused = await inProcess(`${line} error`, at);
  expect([refused.code, errorOf(refused).code, api.documents.length]).toEqual([11, 'exists', 0]);
  expect(errorOf(refused).message).toBe(
    'y/a.txt would be a duplicate: same name and content as x/a.txt.',
  );
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  const skipped = await inProcess(`${line} skip`, at);
  expect(skipped.code).toBe(0);
  expect(JSON.parse(skipped.stdout).results).toMatchObject([
    { id: 'x/a.txt', result: 'changed' },
    {
      id: 'y/a.txt',
      result: 'skipped',
      error: { code: 'exists', message: expect.stringContaining('x/a.txt') },
    },
    { id: 'z/a.txt', result: 'changed' },
  ]);
  expect(api.documents.map(({ name }) => name)).toEqual(['a.txt', 'a.txt']);
  expect((await inProcess(`${line} duplicate`, at)).code).toBe(0);
  expect(api.documents).toHaveLength(5);
});

test('a single unreadable path exits 2 with and without -r', async () => {
  const api = await service();
  const at = { env: api.env, ...desk({}) };
  for (const line of ['docs upload gone.txt --json', 'docs upload -r gone.txt --json']) {
    const ran = await inProcess(line, at);
    expect([ran.code, ran.stdout, errorOf(ran).code]).toEqual([2, '', 'input']);
  }
  expect(api.requests).toHaveLength(0);
});
