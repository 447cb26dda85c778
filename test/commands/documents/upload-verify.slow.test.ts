import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../bulk/user.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, startLine, temporaryFolder } from '../../support/run.js';
import { type Reply, recordingService } from '../../support/service.js';
import { withUsage } from '../../support/usage.js';
import { grantsOf } from '../uploads/grants.js';

interface Behaviour {
  /** Other bytes come back. */
  spoils?: boolean;
  /** What a download answers instead. */
  download?: Reply | undefined;
  /** What a request for the bytes themselves answers instead. */
  bytes?: Reply | undefined;
  /** What the list of documents answers instead. */
  list?: Reply | undefined;
  /** The answers to the next requests that create a document are lost. */
  losses?: number;
}

const lost: Reply = (_, response) => void response.destroy();
const forbidden: Reply = { status: 403, json: { error: 'forbidden' } };

/** A service and a store that return what they received; both can be made to misbehave. */
async function service(behaviour: Behaviour = {}) {
  const stored = new Map<string, Buffer>();
  const documents: { id: string; name: string; fileKey: string }[] = [];
  const store = await recordingService(({ method, url, body }): Reply => {
    const name = url.split('?')[0] ?? '';
    if (method === 'PUT') stored.set(name, body);
    if (method === 'PUT') return { status: 200 };
    const bytes = Buffer.from(stored.get(name) ?? '');
    return (
      behaviour.bytes ??
      ((_, response) => void response.end(behaviour.spoils ? bytes.fill('z') : bytes))
    );
  });
  const grant = grantsOf(store);
  const api = await recordingService(({ method, url, body }): Reply => {
    const download = /^\/v1\/documents\/(doc_\d+)\/download$/.exec(url)?.[1];
    if (download) {
      const { fileKey } = documents.find(({ id }) => id === download) ?? { fileKey: '' };
      const link = { status: 200, json: { url: `${store.origin}/${fileKey}?sig=canary` } };
      return behaviour.download ?? link;
    }
    if (method === 'GET') return behaviour.list ?? { status: 200, json: { documents } };
    if (url === '/v1/uploads/document-file') return grant();
    const made = { id: `doc_${documents.length + 1}`, ...(JSON.parse(body.toString()) as object) };
    documents.push(made as (typeof documents)[number]);
    behaviour.losses = (behaviour.losses ?? 0) - 1;
    return behaviour.losses >= 0 ? lost : { status: 201, json: { document: made } };
  });
  const puts = () => store.requests.filter(({ method }) => method === 'PUT').length;
  return { ...api, store, documents, behaviour, puts };
}

function desk(env: object) {
  const home = temporaryFolder();
  for (const name of ['a.txt', 'b.txt', 'empty.txt'])
    writeFileSync(join(home, name), name === 'empty.txt' ? '' : `exactly this ${name}`);
  return { home, cwd: home, env: { ...env, ROSTERCTL_RETRIES: '0' } };
}

test('--verify downloads the file and compares it', async () => {
  const api = await service();
  const ran = await rosterctl('docs upload a.txt empty.txt --verify --json', desk(api.env));
  expect([ran.code, JSON.parse(ran.stdout).summary.changed]).toEqual([0, 2]);
  expect(api.store.requests.map(({ method }) => method).toSorted()).toEqual([
    'GET',
    'GET',
    'PUT',
    'PUT',
  ]);
});

test('--verify hashes a new file while it is sent, instead of reading it twice', async () => {
  const api = await service({ download: forbidden });
  const at = desk(api.env);
  writeFileSync(join(at.cwd, 'large.pdf'), Buffer.alloc(32 * 1024 * 1024, '%PDF-1.7\n'));
  const ran = await withUsage('docs upload large.pdf --verify --json', at);
  expect(errorOf(ran).code).toBe('notVerified');
  expect(ran.read).toBeGreaterThan(32);
  expect(ran.read).toBeLessThan(48);
});

test('Ctrl-C ends --verify while it hashes a file to compare it with a document', async () => {
  const sizeBytes = 512 * 1024 ** 3;
  const document = { id: 'doc_9', name: 'huge.pdf', contentType: 'application/pdf', sizeBytes };
  const api = await service({ list: { status: 200, json: { documents: [document] } } });
  const at = desk(api.env);
  writeFileSync(join(at.cwd, 'huge.pdf'), '%PDF-1.7\n');
  truncateSync(join(at.cwd, 'huge.pdf'), sizeBytes);
  const upload = startLine('docs upload huge.pdf --verify --json', at);
  await until(() => api.requests.length > 0);
  // Then it hashes for minutes.
  await new Promise((resolve) => setTimeout(resolve, 500));
  upload.kill('SIGINT');
  const ran = await upload.ended;
  expect([ran.code, errorOf(ran).code, api.puts()]).toEqual([130, 'cancelled', 0]);
});

test('--verify fails if other bytes come back, names the document and leaves nothing to finish', async () => {
  const api = await service({ spoils: true });
  const at = desk(api.env);
  const ran = await inProcess('docs upload a.txt --verify --json', at);
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(errorOf(ran)).toMatchObject({
    code: 'notVerified',
    hint: expect.stringContaining('delete'),
  });
  expect(errorOf(ran).message).toMatch(/doc_1.* does not hold/);
  expect(ran.stderr).not.toContain('docs create');
  expect((await inProcess('uploads list --json', at)).stdout).toBe('[]\n');
});

test('a document with a lost answer is verified too: one file, several, or finished later', async () => {
  const one = await service({ spoils: true, losses: 1 });
  const single = await inProcess('docs upload a.txt --verify --json', desk(one.env));
  expect([single.code, errorOf(single).code]).toEqual([1, 'notVerified']);
  const two = await service({ spoils: true, losses: 1 });
  const line = 'docs upload a.txt b.txt --verify --concurrency 1 --json';
  const several = await inProcess(line, desk(two.env));
  expect([several.code, JSON.parse(several.stdout).summary]).toMatchObject([8, { failed: 2 }]);
  for (const finish of ['uploads finish --all --json', 'docs upload a.txt --verify --json']) {
    const api = await service({ spoils: true, losses: 1, list: forbidden });
    const at = desk(api.env);
    expect((await inProcess('docs upload a.txt --verify', at)).code).toBe(10);
    delete api.behaviour.list;
    const ran = await inProcess(finish, at);
    expect(ran.code).toBe(finish.startsWith('docs') ? 1 : 8);
    expect(ran.stdout + ran.stderr).toContain('notVerified');
  }
});

test.each([
  ['403', 7, 'permission', forbidden],
  ['404', 5, 'notFound', { status: 404, json: { error: 'notFound' } }],
  ['503', 9, 'temporary', { status: 503, json: {} }],
] as const)(
  'a document that could not be read again (%s) was created but not verified: resuming only reads it',
  async (_, code, kind, download) => {
    const api = await service({ download });
    const at = desk(api.env);
    const line = 'docs upload a.txt --verify --json';
    const ran = await inProcess(line, at);
    expect(ran.code).toBe(code);
    expect(errorOf(ran)).toMatchObject({
      code: 'notVerified',
      kind,
      retryable: false,
      message: expect.stringContaining('doc_1 was created but not verified'),
    });
    expect(ran.stderr).not.toContain('delete');
    delete api.behaviour.download;
    expect([(await inProcess(line, at)).code, api.puts(), api.documents.length]).toEqual([0, 1, 1]);
    expect((await inProcess('uploads list --json', at)).stdout).toBe('[]\n');
  },
);

test('several files that could not be read again are not sent twice', async () => {
  const api = await service({ download: forbidden });
  const at = desk(api.env);
  const ran = await inProcess('docs upload a.txt b.txt --verify --json', at);
  const error = { code: 'notVerified', kind: 'permission' };
  expect([ran.code, JSON.parse(ran.stdout).results]).toMatchObject([
    10,
    [
      { result: 'unknown', error },
      { result: 'unknown', error },
    ],
  ]);
  expect((await inProcess('runs retry last --yes', at)).code).toBe(11);
  delete api.behaviour.download;
  const resumed = await inProcess('runs resume last --yes --json', at);
  expect([resumed.code, JSON.parse(resumed.stdout).summary.changed]).toEqual([0, 2]);
  expect([api.puts(), api.documents.length]).toEqual([2, 2]);
});

test('Ctrl-C while a document is read again reports that it was created', async () => {
  const api = await service({ bytes: () => {} });
  const at = desk(api.env);
  const child = startLine('docs upload a.txt --verify', { env: at.env, home: at.home });
  while (!api.store.requests.some(({ method }) => method === 'GET'))
    await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGINT');
  const { code, stderr } = await child.ended;
  expect([code, stderr]).toEqual([
    130,
    expect.stringContaining('doc_1 was created but not verified'),
  ]);
  delete api.behaviour.bytes;
  expect((await rosterctl('uploads finish --all', at)).code).toBe(0);
  expect([api.puts(), api.documents.length]).toEqual([1, 1]);
});
