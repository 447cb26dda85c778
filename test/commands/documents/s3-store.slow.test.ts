import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UploadContentType } from '../../../src/api/schemas.js';
import { demoDocuments, readPaper } from '../../../src/sandbox/demo/documents.js';
import { http } from '../../sandbox/client.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { s3Service } from '../../support/s3-service.js';
import { expectNoKeyIn, s3Store } from '../../support/s3-store.js';

// Transfers with a store that checks signatures, under URLs signed by the AWS library.
const store = await s3Store();
afterAll(() => store.close());

const sha256 = (bytes: Buffer | undefined) =>
  createHash('sha256')
    .update(bytes ?? 'nothing')
    .digest('hex');

/** A folder of files, which is the working directory of the program. */
function folderOf(files: ReadonlyMap<string, Buffer>) {
  const home = temporaryFolder('s3-files');
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  for (const [name, bytes] of files) writeFileSync(join(cwd, name), bytes);
  return { home, cwd };
}

function filesIn(dir: string): Map<string, string> {
  return new Map(readdirSync(dir).map((name) => [name, sha256(readFileSync(join(dir, name)))]));
}

const hashesOf = (files: ReadonlyMap<string, Buffer>) =>
  new Map([...files].map(([name, bytes]) => [name, sha256(bytes)]));

test('each of the ten content types is sent as announced, and comes back complete', async () => {
  const service = await s3Service(store);
  const files = new Map<string, Buffer>();
  const types = new Map<string, string>();
  for (const document of demoDocuments) {
    const { name, contentType } = document;
    if ([...types.values()].includes(contentType)) continue;
    files.set(name, readPaper(document));
    types.set(name, contentType);
  }
  expect([...types.values()].toSorted()).toEqual([...UploadContentType.options].toSorted());
  const { home, cwd } = folderOf(files);
  const before = store.puts().length;
  const ran = await rosterctl(['docs', 'upload', ...files.keys(), '--json'], {
    env: service.env,
    home,
    cwd,
  });
  expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  const byName = new Map(service.documents.map((each) => [each['name'], each]));
  expect(new Set(byName.keys())).toEqual(new Set(files.keys()));
  const puts = store.puts().slice(before);
  expect(puts.map(({ status }) => status)).toEqual(puts.map(() => 200));
  expect(puts).toHaveLength(files.size);
  for (const [name, bytes] of files) {
    const record = byName.get(name);
    expect(record).toMatchObject({ contentType: types.get(name), sizeBytes: bytes.length });
    const fileKey = String(record?.['fileKey']);
    expect(sha256(store.read(fileKey))).toBe(sha256(bytes));
    const put = puts.find(({ url }) =>
      decodeURIComponent(url.split('?')[0] ?? '').endsWith(`/${fileKey}`),
    );
    expect(put?.headers).toMatchObject({
      'content-type': types.get(name),
      'content-length': String(bytes.length),
    });
  }
  const ids = service.documents.map((each) => String(each['id']));
  const down = await rosterctl(['docs', 'download', ...ids, '-D', 'back', '--json'], {
    env: service.env,
    home,
    cwd,
  });
  expect({ code: down.code, stderr: down.stderr }).toMatchObject({ code: 0 });
  expect(filesIn(join(cwd, 'back'))).toEqual(hashesOf(files));
});

const KiB = 1024;
const MiB = 1024 * KiB;

test('the store holds the exact file, at every size around a buffer boundary', async () => {
  const service = await s3Service(store);
  const sizes = [1, 64 * KiB - 1, 64 * KiB, 64 * KiB + 1, MiB - 1, MiB, MiB + 1, 30 * MiB + 4321];
  const files = new Map([0, ...sizes].map((size) => [`${size}.txt`, randomBytes(size)]));
  const { home, cwd } = folderOf(files);
  const options = { env: service.env, home, cwd };
  for (const [name, bytes] of files) {
    const ran = await inProcess(`docs upload ${name} --content-type text/plain --json`, options);
    expect({ name, code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
      name,
      code: 0,
      stderr: '',
    });
    const { fileKey, sizeBytes } = JSON.parse(ran.stdout) as { fileKey: string; sizeBytes: number };
    expect(sizeBytes).toBe(bytes.length);
    expect(store.puts().at(-1)?.headers['content-length']).toBe(String(bytes.length));
    expect([name, sha256(store.read(fileKey))]).toEqual([name, sha256(bytes)]);
  }
  const ids = service.documents.map((each) => String(each['id']));
  const down = await inProcess(['docs', 'download', ...ids, '-D', 'back'], options);
  expect({ code: down.code, stderr: down.stderr }).toMatchObject({ code: 0 });
  expect(filesIn(join(cwd, 'back'))).toEqual(hashesOf(files));
});

test('a name with spaces, umlauts, + and % survives upload and download', async () => {
  const service = await s3Service(store);
  const name = 'Müller & Söhne + 50 % (Kopie) %2F é.txt';
  const files = new Map([[name, Buffer.from('grüße\n')]]);
  const { home, cwd } = folderOf(files);
  const options = { env: service.env, home, cwd };
  const up = await inProcess(['docs', 'upload', name, '--json'], options);
  expect({ code: up.code, stderr: up.stderr }).toMatchObject({ code: 0 });
  expect(JSON.parse(up.stdout)).toMatchObject({ id: 'doc_1', name });
  for (const [verb, dir] of [
    ['download', 'back'],
    ['preview', 'shown'],
  ] as const) {
    const down = await inProcess(`docs ${verb} doc_1 -D ${dir} --json`, options);
    expect({ code: down.code, stderr: down.stderr }).toMatchObject({ code: 0 });
    expect(filesIn(join(cwd, dir))).toEqual(hashesOf(files));
  }
});

test('anyone with the printed link can read parts of the file', async () => {
  const service = await s3Service(store);
  const bytes = randomBytes(1000);
  const { home, cwd } = folderOf(new Map([['a.txt', bytes]]));
  const options = { env: service.env, home, cwd };
  const up = await inProcess('docs upload a.txt --content-type text/plain', options);
  expect({ code: up.code, stderr: up.stderr }).toMatchObject({ code: 0 });
  const link = await inProcess('docs download doc_1 --url', options);
  expect(link.code).toBe(0);
  const url = link.stdout.trim();
  const part = await http('GET', url, { headers: { range: 'bytes=100-199' } });
  expect(part.status).toBe(206);
  expect(part.bytes.equals(bytes.subarray(100, 200))).toBe(true);
  const beyond = await http('GET', url, { headers: { range: 'bytes=1000-' } });
  expect(beyond.status).toBe(416);
});

test('steps 1 and 2 alone: the URL is piped from one to the other', async () => {
  const service = await s3Service(store);
  const { home, cwd } = folderOf(new Map([['a.txt', Buffer.from('hello')]]));
  const options = { env: service.env, home, cwd };
  const grant = await rosterctl(
    'uploads create --content-type text/plain --size-bytes 5 --json',
    options,
  );
  const { key, uploadUrl } = JSON.parse(grant.stdout) as { key: string; uploadUrl: string };
  const put = await rosterctl('uploads put - a.txt --json', { ...options, stdin: uploadUrl });
  expect({ code: put.code, stderr: put.stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(put.stdout)).toEqual({ status: 200, bytes: 5 });
  expect(store.read(key)?.toString()).toBe('hello');
  const other = await rosterctl('uploads put - a.txt --content-type image/png --json', {
    ...options,
    stdin: uploadUrl,
  });
  expect(other.code).toBe(1);
  expect(errorOf(other)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch', exitCode: 1 });
});

test('no request to the store carried a key, and every upload said its length', () => {
  expect(store.puts().length).toBeGreaterThan(20);
  expectNoKeyIn(store.requests);
});
