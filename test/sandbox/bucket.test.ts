import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/data/json.js';
import { presign } from '../../src/sandbox/presign.js';
import { errorOf, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { startChild } from '../support/child.js';
import { expectNoKeyIn, s3Store } from '../support/s3-store.js';
import { storeSecret } from '../support/service.js';
import { call, http, newSandbox, scratch, type TestSandbox, verdict } from './client.js';

const store = await s3Store();
afterAll(() => store.close());

const organizationId = 'org_demo';
const file = Buffer.from('%PDF-1.4 a small file\n');
const contentType = 'application/pdf';
const announced = { organizationId, contentType, sizeBytes: file.length };

/** A sandbox on the store; the store judges by its own clock whether a URL still lives. */
async function onStore(more: { stateDir?: string; bucket?: typeof store.access } = {}) {
  const sandbox = await newSandbox({ bucket: store.access, ...more });
  sandbox.clock.now = new Date();
  return sandbox;
}

interface Granted {
  readonly key: string;
  readonly fileRef: string;
  readonly uploadUrl: string;
}

async function grant(sandbox: TestSandbox, more: JsonObject = {}): Promise<Granted> {
  const answer = await call(sandbox, 'POST /uploads/document-file', { ...announced, ...more });
  expect(answer.status).toBe(200);
  return answer.json as unknown as Granted;
}

const put = (url: string, body = file, type = contentType) =>
  http('PUT', url, { headers: { 'content-type': type, 'content-length': body.length }, body });

const record = (sandbox: TestSandbox, { key, fileRef }: Granted, more: JsonObject = {}) =>
  call(sandbox, 'POST /documents', {
    ...announced,
    name: 'Täst (1).pdf',
    fileKey: key,
    fileUrl: fileRef,
    tags: [],
    ...more,
  });

test('uploads go to the bucket and come back from it', async () => {
  const sandbox = await onStore();
  const granted = await grant(sandbox);
  expect(new URL(granted.uploadUrl).origin).toBe(store.access.endpoint);
  expect(granted.key).toMatch(/^documents\/org_demo\/[\w]+\.pdf$/);
  expect(granted.fileRef).toBe(`s3://${store.access.bucket}/${granted.key}`);
  expect((await put(granted.uploadUrl)).status).toBe(200);
  const created = await record(sandbox, granted);
  expect(created.status).toBe(201);
  const fileUrl = `private://sandbox-documents/${granted.key}`;
  expect(created.json).toMatchObject({ fileUrl, sizeBytes: file.length });
  for (const how of ['download', 'preview']) {
    const link = await call(sandbox, `GET /documents/${String(created.json['id'])}/${how}`);
    const url = String(link.json['url']);
    expect(new URL(url).origin).toBe(store.access.endpoint);
    expect(new URL(url).searchParams.get('response-content-disposition')).toBe(
      `${how === 'preview' ? 'inline' : 'attachment'}; filename="T_st _1_.pdf"`,
    );
    const down = await http('GET', url);
    expect([down.status, down.bytes.equals(file)]).toEqual([200, true]);
    expect(down.headers['content-type']).toBe(contentType);
  }
  expect(sandbox.fileRequests).toEqual([]);
});

test('the store refuses another type, another length and a URL that was changed', async () => {
  const sandbox = await onStore();
  const { key, uploadUrl } = await grant(sandbox);
  const wrong = [
    await put(uploadUrl, file, 'text/plain'),
    await put(uploadUrl, file.subarray(1)),
    await put(uploadUrl.replace('upload_', 'upload-')),
    await put(uploadUrl.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=9000')),
    await http('GET', uploadUrl),
    await put(uploadUrl.split('?')[0] ?? ''),
  ];
  expect(wrong.map(({ status }) => status)).toEqual(wrong.map(() => 403));
  expect(store.read(key)).toBeUndefined();
});

test('an upload URL ends when it says', async () => {
  const sandbox = await onStore();
  sandbox.clock.now = new Date(Date.now() - 16 * 60_000);
  const answer = await put((await grant(sandbox)).uploadUrl);
  expect([answer.status, /Request has expired/.test(answer.text)]).toEqual([403, true]);
  sandbox.clock.now = new Date(Date.now() - 14 * 60_000);
  expect((await put((await grant(sandbox)).uploadUrl)).status).toBe(200);
});

test('a document is made only of what lies in the bucket as it was announced', async () => {
  const sandbox = await onStore();
  const missing = await grant(sandbox);
  const early = await record(sandbox, missing);
  expect(verdict(early)).toBe('400 invalidRequest');
  expect(early.json['message']).toContain('not been uploaded yet');
  // Another program with the key pair of the bucket may write there what it likes.
  const foreign = await grant(sandbox);
  const headers = { 'content-type': 'text/plain', 'content-length': '5' };
  const url = presign(
    store.access,
    { method: 'PUT', key: foreign.key, headers },
    { at: new Date(), seconds: 60 },
  );
  expect((await put(url, Buffer.from('hello'), 'text/plain')).status).toBe(200);
  const other = await record(sandbox, foreign);
  expect(verdict(other)).toBe('400 invalidRequest');
  expect(other.json['message']).toContain('the store holds 5 bytes of text/plain');
  expect((await put(foreign.uploadUrl)).status).toBe(200);
  expect((await record(sandbox, foreign)).status).toBe(201);
  expect(verdict(await record(sandbox, foreign))).toBe('409 conflict');
});

test('no key is given twice, also after the sandbox began anew', async () => {
  const keys = await Promise.all(
    Array.from({ length: 3 }, async () => (await grant(await onStore())).key),
  );
  expect(new Set(keys).size).toBe(3);
});

test('demo files stay our own, and files of the bucket wait for a sandbox that knows it', async () => {
  const stateDir = scratch();
  const sandbox = await onStore({ stateDir });
  const demo = await call(sandbox, 'GET /documents/doc_0001/download');
  expect(new URL(String(demo.json['url'])).origin).toBe(sandbox.fileUrl);
  expect((await http('GET', String(demo.json['url']))).status).toBe(200);
  const [done, open] = [await grant(sandbox), await grant(sandbox)];
  await put(done.uploadUrl);
  await put(open.uploadUrl);
  const { id } = (await record(sandbox, done)).json;
  await sandbox.close();
  const without = await newSandbox({ stateDir });
  const link = await call(without, `GET /documents/${String(id)}/download`);
  expect(verdict(link)).toBe('404 notFound');
  expect(link.json['message']).toContain(`s3://${store.access.bucket}/`);
  expect(verdict(await record(without, open))).toBe('400 invalidRequest');
  const own = await grant(without);
  expect(new URL(own.uploadUrl).origin).toBe(without.fileUrl);
  await without.close();
  const again = await onStore({ stateDir });
  expect((await call(again, `GET /documents/${String(id)}/download`)).status).toBe(200);
  expect((await record(again, open)).status).toBe(201);
});

test('a store that does not answer, or not about this, is told and nothing is made', async () => {
  const gone = await s3Store();
  const stateDir = scratch();
  const sandbox = await onStore({ stateDir, bucket: gone.access });
  const granted = await grant(sandbox);
  await put(granted.uploadUrl);
  await gone.close();
  const unreached = await record(sandbox, granted);
  expect(verdict(unreached)).toBe('500 internalError');
  expect(unreached.json['message']).toMatch(/not reached/);
  await sandbox.close();
  const wrong = { ...store.access, secretAccessKey: 'another' };
  const refused = await onStore({ stateDir, bucket: wrong });
  const answer = await record(refused, granted);
  expect(verdict(answer)).toBe('500 internalError');
  expect(answer.json['message']).toMatch(/answered 403/);
  expect((await call(refused, `GET /documents/${organizationId}`)).text).not.toContain('Täst');
});

test('sandbox start --s3 serves the commands, and the secret key is nowhere', async () => {
  const home = temporaryFolder('sandbox-s3');
  const secret = join(home, 'store.json');
  writeFileSync(secret, JSON.stringify(store.access), { mode: 0o600 });
  const data = join(home, '.local/state/rosterctl');
  const child = startChild(launcher, [
    ...['sandbox', 'start', '--json', '--port', '0', '--data', data, '--s3', secret],
  ]);
  onTestFinished(() => child.kill('SIGKILL'));
  await child.says('\n');
  const { baseUrl, apiKey } = JSON.parse(child.stdout()) as Record<string, string>;
  const env = {
    ROSTERCTL_BASE_URL: baseUrl ?? '',
    ROSTERCTL_ORG: organizationId,
    ROSTERCTL_API_KEY: apiKey ?? '',
  };
  writeFileSync(join(home, 'Vertrag ü + 1 %.pdf'), file);
  const up = await rosterctl(['docs', 'upload', 'Vertrag ü + 1 %.pdf', '--json'], { env, home });
  expect({ code: up.code, stderr: up.stderr }).toEqual({ code: 0, stderr: '' });
  const { id, fileKey } = JSON.parse(up.stdout) as { id: string; fileKey: string };
  expect(store.read(fileKey)?.equals(file)).toBe(true);
  // The built-in profile finds the server of its own state.
  const down = await rosterctl(`-p sandbox docs download ${id} -O -`, { home });
  expect([down.code, down.stdout]).toEqual([0, file.toString()]);
  child.kill('SIGTERM');
  expect(await child.ended).toBe(0);
  const kept = readdirSync(data, { recursive: true, encoding: 'utf8' })
    .map((name) => join(data, name))
    .filter((path) => statSync(path).isFile());
  expect(kept.length).toBeGreaterThan(1);
  const texts = [child.stdout(), ...kept.map((path) => readFileSync(path, 'latin1'))];
  expect(texts.filter((text) => text.includes(storeSecret))).toEqual([]);
});

test.each([
  ['another user could read it', { ...store.access }, 0o640, /chmod 600/],
  ['a field is missing', { ...store.access, bucket: undefined }, 0o600, /bucket/],
  ['a field is unknown', { ...store.access, profile: 'x' }, 0o600, /profile/],
  ['no URL', { ...store.access, endpoint: 'store.example.com' }, 0o600, /endpoint/],
  ['a URL with a password', { ...store.access, endpoint: 'http://a:b@x' }, 0o600, /endpoint/],
  ['a bucket that is a path', { ...store.access, bucket: '../x' }, 0o600, /bucket/],
  ['no JSON', undefined, 0o600, /no JSON/],
])('a store file is refused: %s', async (_, content, mode, says) => {
  const home = temporaryFolder('sandbox-s3');
  const path = join(home, 'store.json');
  writeFileSync(path, content ? JSON.stringify(content) : `{"secretAccessKey": ${storeSecret}`);
  chmodSync(path, mode);
  const ran = await rosterctl('sandbox start --s3 store.json --json', { home });
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(`${String(errorOf(ran)['message'])} ${String(errorOf(ran)['hint'])}`).toMatch(says);
  expect(ran.stderr).not.toContain(storeSecret);
});

test('a store file that is not there is refused', async () => {
  const ran = await rosterctl('sandbox start --s3 store.json --json');
  expect(ran.code).toBe(2);
  expect(errorOf(ran)['message']).toMatch(/store\.json .*no such file/);
});

test('the store saw no key', () => expectNoKeyIn(store.requests));
