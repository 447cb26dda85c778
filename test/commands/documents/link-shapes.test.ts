import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { type Recorded, type Reply, recordingService } from '../../support/service.js';

const bytes = 'the file';

/** A service that answers downloads and previews with a shape, and keeps files at its own address too. */
async function service(shape: (store: string, api: string) => unknown, status = 200) {
  const file = { status: 200, text: bytes, headers: { 'content-type': 'text/plain' } };
  const store = await recordingService(() => file);
  const api = await recordingService((request): Reply => {
    if (/^\/v1\/documents\/doc_1\/(?:download|preview)$/.test(request.url))
      return { status, json: shape(store.origin, api.origin) };
    if (request.url.startsWith('/files/')) return file;
    return request.url.startsWith('/v1/documents/')
      ? { status: 200, json: { documents: [{ id: 'doc_1', name: 'rules.txt', sizeBytes: 8 }] } }
      : { status: 404, json: { error: 'notFound' } };
  });
  return { ...api, store };
}

const keyed = (requests: readonly Recorded[]) =>
  requests.filter(({ headers }) => headers['x-api-key'] !== undefined).map(({ url }) => url);

async function saved(env: Record<string, string>, verb: string) {
  const home = temporaryFolder();
  const ran = await inProcess(`docs ${verb} doc_1 -O copy.txt`, { env, home, cwd: home });
  return ran.code === 0 ? readFileSync(join(home, 'copy.txt'), 'utf8') : ran.stderr;
}

test.each<[string, string, (store: string, api: string) => unknown]>([
  [
    'download',
    'its own word',
    (store) => ({ url: 'https://x.test/', downloadUrl: `${store}/d?s=1` }),
  ],
  [
    'preview',
    'its own word',
    (store) => ({ url: 'https://x.test/', previewUrl: `${store}/d?s=1` }),
  ],
  ['download', 'a list of one', (store) => ({ results: [{ url: `${store}/d?s=1` }] })],
  [
    'preview',
    'links beside one to itself',
    (store, api) => ({
      _links: { self: { href: `${api}/v1/documents/doc_1` }, preview: { href: `${store}/d?s=1` } },
    }),
  ],
  [
    'download',
    'an address of the API beside it',
    (store, api) => ({ url: `${api}/v1/documents/doc_1`, target: `${store}/d?s=1` }),
  ],
])('a %s finds its link as %s, and gives the key to the API only', async (verb, _, shape) => {
  const { env, store, requests } = await service(shape);
  const shown = await inProcess(`docs ${verb} doc_1 --url`, { env });
  expect([shown.code, shown.stdout]).toEqual([0, `${store.origin}/d?s=1\n`]);
  expect(await saved(env, verb)).toBe(bytes);
  expect(store.requests.map(({ url }) => url)).toEqual(['/d?s=1']);
  expect(keyed(store.requests)).toEqual([]);
  expect(requests.every(({ url }) => url.startsWith('/v1/documents/'))).toBe(true);
});

test.each(['files.0.path', 'files[0].path'])(
  'a relative URL at %s is read from the service without the key',
  async (path) => {
    const { env, origin, requests } = await service(() => ({
      files: [{ path: '/files/d?s=1' }, { path: '/files/other' }],
    }));
    const home = temporaryFolder();
    const at = { env, home, cwd: home };
    expect((await inProcess(`config set download.urlPath ${path}`, at)).code).toBe(0);
    const shown = await inProcess('docs download doc_1 --url', at);
    expect(shown.stdout).toBe(`${origin}/files/d?s=1\n`);
    expect((await inProcess('docs download doc_1 -O copy.txt', at)).code).toBe(0);
    expect(readFileSync(join(home, 'copy.txt'), 'utf8')).toBe(bytes);
    expect(requests.some(({ url }) => url.startsWith('/files/'))).toBe(true);
    expect(keyed(requests).every((url) => url.startsWith('/v1/'))).toBe(true);
  },
);

test('a configured path that leads nowhere is said, with the line that mends it', async () => {
  const { env, store } = await service((origin) => ({ url: `${origin}/d?s=1`, state: 'ready' }));
  const home = temporaryFolder();
  const at = { env, home, cwd: home };
  await inProcess('config set download.urlPath data.url', at);
  const ran = await inProcess('docs download doc_1 -O copy.txt', at);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain('No signed URL at "data.url" (download.urlPath)');
  expect(ran.stderr).toContain('The answer holds url, state.');
  expect(ran.stderr).toContain('rosterctl config set download.urlPath auto');
  expect(store.requests).toEqual([]);
  await inProcess('config set download.urlPath auto', at);
  expect((await inProcess('docs download doc_1 -O copy.txt', at)).code).toBe(0);
});

test('two files in one answer are not chosen between, until the path says which', async () => {
  const { env, store } = await service((origin) => ({
    files: [{ url: `${origin}/first` }, { url: `${origin}/second` }],
  }));
  const home = temporaryFolder();
  const at = { env, home, cwd: home };
  const ran = await rosterctl('docs download doc_1 --url --json', at);
  expect(ran.code).toBe(1);
  expect(errorOf(ran)).toMatchObject({ hint: expect.stringContaining('download.urlPath') });
  await rosterctl('config set download.urlPath files.1.url', at);
  const told = await rosterctl('docs download doc_1 --url', at);
  expect(told.stdout).toBe(`${store.origin}/second\n`);
});

test('a file that is not there yet is asked for again, after the wait that the service names', async () => {
  const store = await recordingService(() => ({ status: 200, text: bytes }));
  const later: Reply = {
    status: 202,
    json: { state: 'scanning' },
    headers: { 'retry-after': '1' },
  };
  let asked = 0;
  const api = await recordingService(({ url }): Reply => {
    if (!url.endsWith('/download')) return { status: 200, json: [{ id: 'doc_1', name: 'a.txt' }] };
    asked += 1;
    return asked === 1 ? later : { status: 202, json: { url: `${store.origin}/d?s=1` } };
  });
  const started = Date.now();
  expect(await saved(api.env, 'download')).toBe(bytes);
  expect(Date.now() - started).toBeGreaterThanOrEqual(1000);
  expect(asked).toBe(2);
  expect(keyed(store.requests)).toEqual([]);
});

test('a file that is still being made is said to be, to be tried later, and nothing is saved', async () => {
  const { env, requests } = await service(() => ({ state: 'scanning' }), 202);
  const home = temporaryFolder();
  const line = 'docs download doc_1 -O copy.txt --retries 1 --json';
  const ran = await rosterctl(line, { env, home, cwd: home });
  expect([ran.code, ran.stdout]).toEqual([9, '']);
  expect(errorOf(ran)).toMatchObject({
    code: 'notReady',
    hint: expect.stringContaining('not ready yet'),
    retryable: true,
  });
  expect(requests).toHaveLength(2);
  expect(existsSync(join(home, 'copy.txt'))).toBe(false);
});

test('an ETag of the service is not the MD5 of a file that it sends itself', async () => {
  const headers = { 'content-type': 'text/plain', etag: `"${'0'.repeat(32)}"` };
  const { env } = await recordingService(({ url }) =>
    url.endsWith('/download')
      ? { status: 200, text: bytes, headers }
      : { status: 200, json: { documents: [{ id: 'doc_1', name: 'rules.txt', sizeBytes: 8 }] } },
  );
  expect(await saved(env, 'download')).toBe(bytes);
});

test.each([
  ['shorter than its record says', 8, 1, 'has 3 bytes, but the record says 8'],
  ['of unknown length', undefined, 0, 'so it may be incomplete'],
])(
  'a file that the service sends itself, ends with its connection, and is %s',
  async (_, sizeBytes, code, says) => {
    const { env } = await recordingService(({ url }): Reply => {
      if (!url.endsWith('/download'))
        return { status: 200, json: [{ id: 'doc_1', name: 'rules.txt', sizeBytes }] };
      return (_request, response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { 'content-type': 'text/plain', connection: 'close' });
        response.end(bytes.slice(0, 3));
      };
    });
    const home = temporaryFolder();
    const ran = await inProcess('docs download doc_1 -O copy.txt', { env, home, cwd: home });
    expect([ran.code, existsSync(join(home, 'copy.txt'))]).toEqual([code, code === 0]);
    expect(ran.stderr).toContain(says);
  },
);

test('a preview that ends with its connection may be shorter than its document', async () => {
  const { env } = await recordingService(({ url }): Reply => {
    if (!url.endsWith('/preview'))
      return { status: 200, json: [{ id: 'doc_1', name: 'rules.txt', sizeBytes: 5000 }] };
    return (_request, response) => {
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { 'content-type': 'text/plain', connection: 'close' });
      response.end(bytes);
    };
  });
  const home = temporaryFolder();
  for (const line of ['docs preview doc_1 -O copy.txt', 'docs preview doc_1 -D previews'])
    expect(await inProcess(line, { env, home, cwd: home })).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, 'copy.txt'))).toEqual(Buffer.from(bytes));
});
