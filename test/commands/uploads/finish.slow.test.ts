import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { damageJournal, makeLegacy, runFolders, runsOf, until } from '../../bulk/user.js';
import { inProcess } from '../../support/in-process.js';
import {
  errorOf,
  rosterctl,
  type StartOptions,
  startLine,
  temporaryFolder,
} from '../../support/run.js';
import { key, type Reply, recordingService } from '../../support/service.js';
import { tcpService } from '../../support/tcp.js';
import { grantsOf } from './grants.js';

const execFileAsync = promisify(execFile);

interface Behaviour {
  /** The answer of step 1; by default a grant. */
  first?: Reply | undefined;
  /** The answer of step 3; by default it creates the document. */
  third?: ((made: number) => Reply | undefined) | undefined;
  put?: ((nth: number) => Reply | undefined) | undefined;
  /** What the list of documents answers instead. */
  list?: Reply | undefined;
}

/** A service that creates documents and a store that keeps bytes; both can be made to misbehave. */
async function service(behaviour: Behaviour = {}) {
  const documents: { id: string; name: string; fileKey: string }[] = [];
  let sent = 0;
  const store = await recordingService((request) =>
    request.method === 'PUT' ? (behaviour.put?.(++sent) ?? { status: 200 }) : { status: 404 },
  );
  const grant = grantsOf(store);
  const api = await recordingService((request): Reply => {
    const { method, url } = request;
    if (method === 'GET') return behaviour.list ?? { status: 200, json: { documents } };
    if (url === '/v1/uploads/document-file') return behaviour.first ?? grant();
    const refused = behaviour.third?.(documents.length);
    if (refused) return refused;
    const body = JSON.parse(request.body.toString()) as { name: string; fileKey: string };
    const made = { id: `doc_${documents.length + 1}`, ...body };
    documents.push(made);
    return { status: 201, json: { document: made } };
  });
  return { ...api, store, documents, behaviour };
}

type Service = Awaited<ReturnType<typeof service>>;

function deskWith(names: readonly string[]) {
  const home = temporaryFolder();
  for (const name of names) writeFileSync(join(home, name), `this is ${name}`);
  return { home, cwd: home };
}

/** The folder of the only run. */
function onlyRun({ home }: { readonly home: string }): string {
  const folders = runFolders(runsOf(home));
  expect(folders).toHaveLength(1);
  return folders[0] ?? '';
}

/** Moves the only run back to `open/` and returns its folder. */
function reopen(desk: { readonly home: string }): string {
  const folder = onlyRun(desk);
  const open = join(runsOf(desk.home), 'open', basename(folder));
  renameSync(folder, open);
  return open;
}

function puts({ store }: Service): number {
  return store.requests.filter(({ method }) => method === 'PUT').length;
}

function posts({ requests }: Service): string[] {
  return requests.filter(({ method }) => method === 'POST').map(({ url }) => url);
}

const forbidden: Reply = { status: 403, json: { error: 'forbidden' } };

/** Starts a command and waits until the service receives this request; `kill` is kill -9. */
async function runningUntil(
  api: Service,
  line: readonly string[],
  desk: StartOptions,
  seen: () => boolean,
): Promise<{ kill(): Promise<void> }> {
  const child = startLine(line, { ...desk, env: api.env });
  while (!seen() && !child.isOver()) await new Promise((resolve) => setTimeout(resolve, 2));
  return {
    async kill() {
      child.kill('SIGKILL');
      await child.ended;
    },
  };
}

async function killedWhen(...line: Parameters<typeof runningUntil>): Promise<void> {
  await (await runningUntil(...line)).kill();
}

/** A store that answers the first PUTs before it has read the file, and accepts the later ones. */
function hastyStore(times: number, answer: string, sizeBytes: number) {
  return tcpService((socket, count) => {
    if (count <= times) {
      socket.once('data', () => {
        socket.write(answer);
        socket.pause();
        setTimeout(() => socket.destroy(), 200);
      });
      return;
    }
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes > sizeBytes) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
}

const early = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

test.each([
  ['and closes', early],
  ['and breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nstop'],
])(
  'a store that answers 200 before the entire file is sent %s has not stored it',
  async (_, answer) => {
    const sizeBytes = 30_000_000;
    for (const times of [1, 3]) {
      const store = await hastyStore(times, answer, sizeBytes);
      const uploadUrl = `${store.origin}/files/1?sig=canary`;
      const first = { status: 200, json: { key: 'files/1', fileRef: 'ref:files/1', uploadUrl } };
      const api = await service({ first });
      const desk = { env: { ...api.env, ROSTERCTL_RETRIES: '1' }, ...deskWith([]) };
      writeFileSync(join(desk.home, 'big.txt'), 'x'.repeat(sizeBytes));
      const ran = await rosterctl('docs upload big.txt --json', desk);
      expect([ran.code === 0, api.documents.length]).toEqual([times === 1, times === 1 ? 1 : 0]);
      expect(store.connections()).toBe(2);
    }
  },
);

function refusal(status: number, code: string): Reply {
  return { status, text: `<Error><Code>${code}</Code></Error>` };
}

test('an expired token (400 ExpiredToken) renews the URL, as a 403 does', async () => {
  const api = await service({
    put: (nth) => (nth === 1 ? refusal(400, 'ExpiredToken') : undefined),
  });
  const ran = await inProcess('docs upload a.txt --json', { env: api.env, ...deskWith(['a.txt']) });
  expect([ran.code, api.documents[0]?.fileKey, puts(api)]).toEqual([0, 'files/2', 2]);
});

test.each([
  ['RequestTimeTooSkewed', 'clocks'],
  ['QuotaExceeded', 'between the service and its file store'],
  ['UserSuspended', 'between the service and its file store'],
  ['EntityTooLarge', 'too large'],
])('403 %s is no expired URL: it is reported, and no new one is requested', async (code, hint) => {
  const api = await service({ put: () => refusal(403, code) });
  const ran = await inProcess('docs upload a.txt --json', { env: api.env, ...deskWith(['a.txt']) });
  expect([ran.code, errorOf(ran)]).toMatchObject([
    1,
    { code, hint: expect.stringContaining(hint) },
  ]);
  expect([puts(api), posts(api)]).toEqual([1, ['/v1/uploads/document-file']]);
});

test.each([
  [403, 'AuthenticationFailed'],
  [403, 'ExpiredRequest'],
  [403, 'Forbidden'],
])('%i %s may be an expired URL: a new one is requested', async (status, code) => {
  const api = await service({ put: (nth) => (nth === 1 ? refusal(status, code) : undefined) });
  const ran = await inProcess('docs upload a.txt --json', { env: api.env, ...deskWith(['a.txt']) });
  expect([ran.code, puts(api)]).toEqual([0, 2]);
});

test('without unfinished uploads the list is empty and finish --all sends nothing', async () => {
  const api = await service();
  const desk = deskWith([]);
  expect((await inProcess('uploads list --json', desk)).stdout).toBe('[]\n');
  const ran = await inProcess('uploads finish --all --json', { env: api.env, ...desk });
  expect([ran.code, JSON.parse(ran.stdout).summary.total]).toEqual([0, 0]);
  expect(ran.stderr).toContain('No upload is unfinished');
  expect(api.requests).toEqual([]);
});

test('a file whose document was refused is listed, and finished without a second PUT', async () => {
  const api = await service({ third: () => forbidden });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  const refused = await inProcess('docs upload a.txt --tag x --json', desk);
  expect(refused.code).toBe(7);
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect(left).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{6}\.1$/),
    path: 'a.txt',
    state: 'orphan',
    fileKey: 'files/1',
    startedAt: expect.any(String),
  });
  expect(refused.stderr).toContain(`rosterctl uploads finish ${left.id}`);
  delete api.behaviour.third;
  const look = await inProcess(`uploads finish ${left.id} -n --json`, desk);
  expect(JSON.parse(look.stdout).requests).toMatchObject([
    { method: 'POST', path: '/documents', body: { name: 'a.txt', tags: ['x'] } },
  ]);
  const done = await inProcess(`uploads finish ${left.id} --json`, desk);
  expect([done.code, JSON.parse(done.stdout).id]).toEqual([0, 'doc_1']);
  expect(puts(api)).toBe(1);
  expect(api.documents).toMatchObject([{ name: 'a.txt', fileKey: 'files/1', tags: ['x'] }]);
  expect((await inProcess('uploads list --json', desk)).stdout).toBe('[]\n');
  expect(readdirSync(join(runsOf(desk.home), 'open'))).toEqual([]);
});

for (const [how, words] of [
  ['uploads finish --all --json', 'a.txt'],
  ['docs upload a.txt --json', 'a.txt'],
  ['docs upload a.txt b.txt --json', 'a.txt b.txt'],
] as const) {
  test(`a document created by hand, as the refusal suggested, is not created again: ${how}`, async () => {
    const api = await service({ third: () => ({ status: 400, json: { error: 'badRequest' } }) });
    const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
    const refused = await inProcess(`docs upload ${words} --concurrency 1`, desk);
    delete api.behaviour.third;
    const [, byHand = ''] = /Finish it with: rosterctl (docs create .+)/.exec(refused.stderr) ?? [];
    expect((await inProcess(byHand, desk)).code).toBe(0);
    const ran = await inProcess(how, desk);
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, expectedOf(how)]);
    expect(api.documents.map(({ fileKey }) => fileKey)).toEqual(
      words.split(' ').map((_, index) => `files/${index + 1}`),
    );
    expect((await inProcess('uploads list --json', desk)).stdout).toBe('[]\n');
  });
}

test('a reference with a secret is not part of the command that finishes a refused upload', async () => {
  const api = await service({ third: () => ({ status: 400, json: { error: 'badRequest' } }) });
  const fileRef = 'https://files.example.com/a?alt=media&token=canary-reference';
  const uploadUrl = `${api.store.origin}/1?sig=canary`;
  api.behaviour.first = { status: 200, json: { key: 'files/1', fileRef, uploadUrl } };
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  const { stderr } = await inProcess('docs upload a.txt', desk);
  expect(stderr).not.toMatch(/canary|docs create/);
  const [, whole = ''] = /Finish it with: rosterctl (.+)/.exec(stderr) ?? [];
  delete api.behaviour.third;
  expect((await inProcess(whole, desk)).code).toBe(0);
  expect(api.documents).toMatchObject([{ fileKey: 'files/1', fileUrl: fileRef }]);
});

function expectedOf(how: string): object {
  if (how === 'docs upload a.txt --json') return { id: 'doc_1', fileKey: 'files/1' };
  return {
    results: [
      { result: 'changed', after: { id: 'doc_1' } },
      ...(how.includes('b.txt') ? [{ after: { id: 'doc_2' } }] : []),
    ],
  };
}

test('a stored file is finished even if the key may not list', async () => {
  const api = await service({ third: () => forbidden, list: forbidden });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  expect((await inProcess('docs upload a.txt', desk)).code).toBe(7);
  delete api.behaviour.third;
  expect((await inProcess('uploads finish --all', desk)).code).toBe(0);
  expect(api.documents).toHaveLength(1);
});

test('while the list fails, no document is created for a stored file', async () => {
  const api = await service({ third: () => forbidden, list: { status: 503, json: {} } });
  const desk = { env: { ...api.env, ROSTERCTL_RETRIES: '0' }, ...deskWith(['a.txt']) };
  const line = 'docs upload a.txt --if-exists duplicate';
  expect((await inProcess(line, desk)).code).toBe(7);
  delete api.behaviour.third;
  expect((await inProcess(line, desk)).code).toBe(9);
  delete api.behaviour.list;
  expect((await inProcess(line, desk)).code).toBe(0);
  expect([puts(api), api.documents.length]).toEqual([1, 1]);
});

test('the same command again creates the document of a stored file without a second PUT', async () => {
  const api = await service({ third: () => forbidden });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  expect((await inProcess('docs upload a.txt', desk)).code).toBe(7);
  delete api.behaviour.third;
  const ran = await inProcess('docs upload a.txt --json', desk);
  expect([ran.code, JSON.parse(ran.stdout).id, puts(api)]).toEqual([0, 'doc_1', 1]);
});

test('a 400 of step 3 leaves an orphan; after uploads forget, which sends nothing, an upload starts over', async () => {
  const api = await service({ third: () => ({ status: 400, json: { error: 'badRequest' } }) });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  expect((await inProcess('docs upload a.txt', desk)).code).toBe(3);
  const list = () => inProcess('uploads list --json', desk);
  const [left] = JSON.parse((await list()).stdout);
  expect(left.state).toBe('orphan');
  const before = api.requests.length;
  const dry = await inProcess(`uploads forget ${left.id} -n --json`, desk);
  expect(JSON.parse(dry.stdout).changes).toEqual([
    { id: left.id, field: 'state', from: 'orphan', to: 'forgotten' },
  ]);
  const gone = await inProcess(`uploads forget ${left.id}`, desk);
  expect([gone.code, gone.stdout]).toEqual([
    0,
    `${left.id} was discarded; its bytes may still be in the store under files/1.\n`,
  ]);
  expect([(await list()).stdout, api.requests.length]).toEqual(['[]\n', before]);
  delete api.behaviour.third;
  expect((await inProcess('docs upload a.txt', desk)).code).toBe(0);
  expect(puts(api)).toBe(2);
});

test('an upload that broke off starts over after uploads forget', async () => {
  const api = await service({ put: () => ({ status: 503 }) });
  const desk = { env: { ...api.env, ROSTERCTL_RETRIES: '0' }, ...deskWith(['a.txt', 'b.txt']) };
  expect((await inProcess('docs upload a.txt b.txt', desk)).code).toBe(9);
  for (const { id } of JSON.parse((await inProcess('uploads list --json', desk)).stdout))
    expect((await inProcess(`uploads forget ${id}`, desk)).code).toBe(0);
  const runs = JSON.parse((await inProcess('runs list --json', desk)).stdout);
  expect(runs).toMatchObject([{ state: 'finished', summary: { failed: 2 } }]);
  delete api.behaviour.put;
  expect((await inProcess('docs upload a.txt b.txt', desk)).code).toBe(0);
  expect(api.documents).toHaveLength(2);
});

test('an upload starts over after uploads forget although each attempt was killed', async () => {
  const api = await service({ put: () => ({ status: 503 }) });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
  const line = ['docs', 'upload', 'a.txt', 'b.txt', '--concurrency', '1'];
  for (const _ of [1, 2]) {
    const before = puts(api);
    await killedWhen(api, line, desk, () => puts(api) > before);
    const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
    expect((await inProcess(`uploads forget ${left.id}`, desk)).code).toBe(0);
  }
  delete api.behaviour.put;
  expect((await inProcess(line, desk)).code).toBe(0);
  expect(api.documents).toHaveLength(2);
});

test.each(['--all', 'ID'])(
  'a file that was refused before is no failure of uploads finish %s',
  async (which) => {
    const api = await service({
      put: (nth) => (nth === 1 ? { status: 400 } : undefined),
      third: () => ({ status: 400, json: { error: 'badRequest' } }),
    });
    const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
    expect((await inProcess('docs upload a.txt b.txt --concurrency 1', desk)).code).toBe(8);
    const [{ id }] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
    delete api.behaviour.third;
    const ran = await inProcess(`uploads finish ${which.replace('ID', id)} --json`, desk);
    expect([ran.code, api.documents.map(({ name }) => name)]).toEqual([0, ['b.txt']]);
    expect(ran.stderr).not.toContain('"error"');
  },
);

test('uploads forget names the keys of all attempts', async () => {
  const api = await service({ put: () => ({ status: 503 }) });
  const desk = { env: { ...api.env, ROSTERCTL_RETRIES: '0' }, ...deskWith(['a.txt']) };
  for (const _ of [1, 2, 3]) expect((await inProcess('docs upload a.txt', desk)).code).toBe(9);
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  const gone = await inProcess(`uploads forget ${left.id}`, desk);
  expect(gone.stderr).toContain('may have left bytes in the store under files/1, files/2.');
  expect(gone.stdout).toContain('under files/3.');
});

test('one file without a document among several is finished alone, and doctor reports it', async () => {
  const api = await service({
    third: (made) => (made === 1 ? { status: 400, json: {} } : undefined),
  });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt', 'c.txt']) };
  const ran = await inProcess('docs upload a.txt b.txt c.txt --concurrency 1 --json', desk);
  expect(ran.code).toBe(8);
  expect(JSON.parse(ran.stdout).summary).toMatchObject({ changed: 1, failed: 2 });
  const left = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect(left.map(({ path, state }: Record<string, unknown>) => [path, state])).toEqual([
    ['b.txt', 'orphan'],
    ['c.txt', 'orphan'],
  ]);
  const told = await inProcess('doctor', desk);
  expect(told.stdout).toContain('2 uploads are unfinished');
  expect(told.stdout).toContain('Finish them: rosterctl uploads finish --all');
  const elsewhere = await inProcess('doctor -p sandbox', desk);
  expect(elsewhere.stdout).toContain('Finish them: rosterctl -p default uploads finish --all');
  await inProcess('config set undo.keep off', desk);
  expect((await inProcess('runs prune --older-than 0s --json', desk)).stdout).toContain('[]');
  delete api.behaviour.third;
  const done = await inProcess('uploads finish --all --json', desk);
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({
    action: 'uploads.finish',
    summary: { total: 2, changed: 2 },
    results: [
      { row: 1, id: left[0].id, after: { id: 'doc_2' } },
      { row: 2, id: left[1].id, after: { id: 'doc_3' } },
    ],
  });
  expect([puts(api), api.documents.length]).toEqual([3, 3]);
});

test('uploads that 0.1.0 left are listed, and neither doctor nor overview sends to a command that refuses them', async () => {
  const api = await service({ third: () => ({ status: 400, json: {} }) });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  await inProcess('docs upload a.txt', desk);
  makeLegacy(runsOf(desk.home), onlyRun(desk));
  const list = () => inProcess('uploads list --json', desk);
  // Before the first write of this version and after it.
  for (const line of ['teams list', 'docs update doc_9 --name x']) {
    await inProcess(line, desk);
    expect(JSON.parse((await list()).stdout)).toMatchObject([{ path: 'a.txt', state: 'orphan' }]);
    for (const page of ['doctor', 'overview', ''])
      expect((await inProcess(page, desk)).stdout).not.toContain('uploads finish');
    expect((await inProcess('doctor', desk)).stdout).toContain('with the version that wrote it');
    const refused = await inProcess('uploads finish --all --json', desk);
    expect([refused.code, puts(api)]).toEqual([11, 1]);
    expect(refused.stderr).toContain('run its command again');
  }
});

test('the same command after a run with orphans creates their documents and sends no file again', async () => {
  const api = await service({
    third: (made) => (made === 1 ? { status: 400, json: {} } : undefined),
  });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt', 'c.txt']) };
  const line = 'docs upload a.txt b.txt c.txt --concurrency 1 --results r.csv --json';
  expect((await inProcess(line, desk)).code).toBe(8);
  delete api.behaviour.third;
  const ran = await inProcess(line, desk);
  // The report includes the file that was done the first time.
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([0, { total: 3, changed: 3 }]);
  expect(readFileSync(join(desk.home, 'r.csv'), 'utf8').trim().split(/\r?\n/)).toEqual([
    'path,result,error_code,message,id',
    ...['a.txt', 'b.txt', 'c.txt'].map((name, at) => `${name},changed,,,doc_${at + 1}`),
  ]);
  expect([puts(api), api.documents.map(({ name }) => name)]).toEqual([
    3,
    ['a.txt', 'b.txt', 'c.txt'],
  ]);
  expect((await inProcess('uploads list --json', desk)).stdout).toBe('[]\n');
});

test('a stored upload from stdin is finished by its id, not by the same command', async () => {
  const api = await service({ third: () => ({ status: 409, json: { error: 'conflict' } }) });
  const desk = { env: api.env, ...deskWith(['a.txt']), stdin: 'piped' };
  const line = 'docs upload - --name A --content-type text/plain';
  const ran = await inProcess(line, desk);
  expect([ran.code, ran.stderr]).toEqual([6, expect.not.stringContaining('same line')]);
  const named = /Not finished\. Finish it with: rosterctl (uploads finish .+)/.exec(
    ran.stderr,
  )?.[1];
  delete api.behaviour.third;
  expect((await inProcess(named ?? '', { ...desk, stdin: '' })).code).toBe(0);
  expect([puts(api), api.documents.length]).toEqual([1, 1]);
});

test('a killed upload from stdin cannot be read again, and the error says so', async () => {
  const api = await service({ put: () => () => {} });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  const line = 'docs upload - --name A --content-type text/plain';
  const reading = { ...desk, through: 'exec "$@" < a.txt' };
  await killedWhen(api, line.split(' '), reading, () => puts(api) > 0);
  const ran = await inProcess('uploads finish --all --json', desk);
  expect(ran.code).toBe(8);
  expect(JSON.parse(ran.stdout).results[0].error.message).toContain('stdin cannot be read again');
});

test('killed after the PUT and before step 3: resuming sends only step 3', async () => {
  const api = await service();
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  // put_done is on disk before the next request, so the kill comes with that request.
  api.behaviour.third = () => ({ status: 503, json: {}, headers: { 'retry-after': '1' } });
  await killedWhen(api, ['docs', 'upload', 'a.txt'], desk, () =>
    posts(api).includes('/v1/documents'),
  );
  delete api.behaviour.third;
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect(left.state).toBe('doc_intent');
  const env = { ...api.env, ROSTERCTL_SETTLE: '0.1s' };
  const ran = await inProcess('docs upload a.txt --json', { ...desk, env });
  expect([ran.code, JSON.parse(ran.stdout).id]).toEqual([0, 'doc_1']);
  expect([puts(api), api.documents.length]).toEqual([1, 1]);
});

test('killed during the transfer: the bytes are sent again, and the first key is reported', async () => {
  const api = await service({ put: () => () => {} });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  await killedWhen(api, ['docs', 'upload', 'a.txt'], desk, () => puts(api) > 0);
  delete api.behaviour.put;
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect([left.state, left.fileKey]).toEqual(['put_started', 'files/1']);
  const ran = await inProcess(`uploads finish ${left.id} --json`, desk);
  expect([ran.code, JSON.parse(ran.stdout).fileKey]).toEqual([0, 'files/2']);
  expect(ran.stderr).toContain('files/1');
  expect(ran.stderr).not.toContain('sig=');
});

test('Ctrl-C during the transfer of one file leaves an upload to finish', async () => {
  const api = await service({ put: () => () => {} });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  const child = startLine('docs upload a.txt', { env: api.env, home: desk.home });
  while (puts(api) === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  child.kill('SIGINT');
  const { code, stderr } = await child.ended;
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect([code, left.state, left.fileKey]).toEqual([130, 'put_started', 'files/1']);
  expect(stderr).toContain(`rosterctl uploads finish ${left.id}`);
  delete api.behaviour.put;
  const ran = await inProcess('docs upload a.txt --json', desk);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('files/1')]);
  expect((await inProcess('uploads list --json', desk)).stdout).toBe('[]\n');
});

test('a file that changed since its upload started is not finished as the same file', async () => {
  const api = await service({ put: () => () => {} });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  await killedWhen(api, ['docs', 'upload', 'a.txt'], desk, () => puts(api) > 0);
  delete api.behaviour.put;
  writeFileSync(join(desk.home, 'a.txt'), 'something else');
  const ran = await inProcess('uploads finish --all --json', desk);
  expect(ran.code).toBe(8);
  expect(JSON.parse(ran.stdout).results[0].error.message).toContain('changed since its upload');
  expect(api.documents).toEqual([]);
});

test('the journal holds no key and no signed URL', async () => {
  const api = await service({ third: () => forbidden });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  await inProcess('docs upload a.txt', desk);
  const runs = runsOf(desk.home);
  const kept = readdirSync(runs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(runs, name), 'utf8'))
    .join('');
  expect(kept).toContain('put_done');
  for (const secret of [key, 'canary', api.store.origin]) expect(kept).not.toContain(secret);
});

test('an upload of another organization is left alone and names its profile', async () => {
  const api = await service({ third: () => forbidden });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  await inProcess('docs upload a.txt', desk);
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  const env = { ...api.env, ROSTERCTL_ORG: 'org_8' };
  const one = await inProcess(`uploads finish ${left.id} --json`, { ...desk, env });
  expect([one.code, errorOf(one).message]).toEqual([2, expect.stringContaining('org_7')]);
  const all = await inProcess('uploads finish --all', { ...desk, env });
  expect([all.code, all.stderr]).toEqual([0, expect.stringContaining('1 upload of other')]);
  const unknown = await inProcess('uploads finish abcdef.1', desk);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('uploads list')]);
});

test('without a writable state folder nothing is uploaded', async () => {
  const api = await service();
  const desk = deskWith(['a.txt', 'b.txt']);
  const env = { ...api.env, ROSTERCTL_STATE_DIR: '/dev/null/none' };
  for (const files of ['a.txt', 'a.txt b.txt']) {
    const ran = await inProcess(`docs upload ${files} --json`, { ...desk, env });
    expect([ran.code, errorOf(ran).hint]).toEqual([2, expect.stringContaining('STATE_DIR')]);
  }
  expect([...api.requests, ...api.store.requests]).toEqual([]);
});

const lost: Reply = (_, response) => void response.destroy();

test('a step 3 with a lost answer stays unknown (10) if the key may not list, and is never reported as not created', async () => {
  for (const list of [forbidden, { status: 500 }, { status: 401 }]) {
    const api = await service({ third: () => lost, list });
    const desk = { env: { ...api.env, ROSTERCTL_RETRIES: '0' }, ...deskWith(['a.txt']) };
    for (const line of [
      'docs upload a.txt --if-exists duplicate --json',
      'uploads finish --all --json',
    ]) {
      const ran = await inProcess(line, desk);
      expect(ran.code).toBe(10);
      expect(ran.stderr).toContain('its document may have been created');
      expect(ran.stderr).not.toContain('no document records it');
    }
    const again = await inProcess('docs upload a.txt --if-exists duplicate --json', desk);
    expect([again.code, errorOf(again).code]).toEqual([10, 'unknownOutcome']);
    expect(posts(api).filter((url) => url === '/v1/documents')).toHaveLength(1);
  }
});

test('a stopped run of several files names the command that resumes all of them', async () => {
  const api = await service({
    third: (made) => (made === 1 ? { status: 401, json: { error: 'unauthorized' } } : undefined),
  });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt', 'c.txt']) };
  const ran = await inProcess('docs upload a.txt b.txt c.txt --concurrency 1', desk);
  const named = /or: rosterctl (.+)/.exec(ran.stderr)?.[1] ?? '';
  expect(named).toBe('uploads finish --all');
  delete api.behaviour.third;
  expect((await inProcess(named, desk)).code).toBe(0);
});

test('an upload finished by another process meanwhile is unchanged, and the others are finished', async () => {
  const held: (() => void)[] = [];
  const api = await service({ third: () => forbidden });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
  for (const name of ['a.txt', 'b.txt']) await inProcess(`docs upload ${name}`, desk);
  const left = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  delete api.behaviour.third;
  api.behaviour.third = () => {
    api.behaviour.third = undefined;
    return (request, response) => {
      held.push(() => {
        const { fileKey } = JSON.parse(request.body.toString()) as { fileKey: string };
        api.documents.push({ id: 'doc_held', name: 'a.txt', fileKey });
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ document: { id: 'doc_held', fileKey } }));
      });
    };
  };
  const first = rosterctl(`uploads finish ${left[0].id} --json`, desk);
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const before = api.requests.length;
  const all = startLine('uploads finish --all --wait-lock 20s --json', desk);
  await until(() => all.stderr().includes('Waiting for it.'));
  expect(api.requests.length).toBe(before);
  held[0]?.();
  expect((await first).code).toBe(0);
  const ran = await all.ended;
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout).results).toMatchObject([
    { id: left[0].id, result: 'unchanged' },
    { id: left[1].id, result: 'changed' },
  ]);
  expect(api.documents).toHaveLength(2);
  expect((await inProcess('uploads list --json', desk)).stdout).toBe('[]\n');
});

test('runs retry does not send a stored file again: it is finished first', async () => {
  const api = await service({ third: () => ({ status: 400, json: {} }) });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
  expect((await inProcess('docs upload a.txt b.txt', desk)).code).toBe(8);
  delete api.behaviour.third;
  const before = api.requests.length;
  const ran = await inProcess('runs retry last --yes', desk);
  expect([ran.code, api.requests.length]).toEqual([11, before]);
  expect(ran.stderr).toContain('uploads finish --all');
  expect((await inProcess('uploads finish --all', desk)).code).toBe(0);
  expect([puts(api), api.documents.length]).toEqual([2, 2]);
});

test('runs retry sends the present content of a file that the service had refused', async () => {
  const api = await service({ first: { status: 413, json: { error: 'fileTooLarge' } } });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
  expect((await inProcess('docs upload a.txt b.txt', desk)).code).toBe(8);
  delete api.behaviour.first;
  writeFileSync(join(desk.home, 'a.txt'), 'short');
  const retried = await inProcess('runs retry last --yes --json --concurrency 1', desk);
  expect([retried.code, JSON.parse(retried.stdout).summary]).toMatchObject([0, { changed: 2 }]);
  expect(api.documents.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
  expect(api.store.requests.map(({ body }) => body.toString())).toEqual(['short', 'this is b.txt']);
});

test('after the last file of a killed run is finished by its id, the same command reports the others once, then uploads again', async () => {
  const api = await service({ third: (made) => (made === 1 ? () => {} : undefined) });
  const desk = deskWith(['a.txt', 'b.txt']);
  const line = 'docs upload a.txt b.txt --if-exists duplicate --concurrency 1 --json';
  const documentsAsked = () => posts(api).filter((url) => url === '/v1/documents').length;
  await killedWhen(api, line.split(' '), desk, () => documentsAsked() === 2);
  delete api.behaviour.third;
  const at = { env: { ...api.env, ROSTERCTL_SETTLE: '0.1s' }, ...desk };
  const [left] = JSON.parse((await inProcess('uploads list --json', at)).stdout);
  const done = await inProcess(`uploads finish ${left.id} --json`, at);
  expect([done.code, JSON.parse(done.stdout).id]).toEqual([0, 'doc_2']);
  const again = await inProcess(line, at);
  expect([again.code, JSON.parse(again.stdout).summary]).toMatchObject([0, { changed: 2 }]);
  expect(again.stderr).toContain('here is its result');
  expect([puts(api), api.documents.length]).toEqual([2, 2]);
  expect((await inProcess(line, at)).code).toBe(0);
  expect([puts(api), api.documents.length]).toEqual([4, 4]);
});

test('a run replaced by --restart is not reported by the same command', async () => {
  const api = await service({ put: (nth) => (nth === 2 ? () => {} : undefined) });
  const desk = deskWith(['a.txt', 'b.txt']);
  const line = 'docs upload a.txt b.txt --if-exists duplicate --concurrency 1 --json';
  await killedWhen(api, line.split(' '), desk, () => puts(api) === 2);
  const at = { env: { ...api.env, ROSTERCTL_SETTLE: '0.1s' }, ...desk };
  expect((await inProcess(`${line} --restart`, at)).code).toBe(0);
  const again = await inProcess(line, at);
  expect([again.code, JSON.parse(again.stdout).summary]).toMatchObject([0, { changed: 2 }]);
  expect(again.stderr).not.toContain('here is its result');
});

test('a stored file without a document is still listed, and finished, after --restart uploaded it anew', async () => {
  const api = await service({ third: () => () => {} });
  const desk = { ...deskWith(['a.txt', 'b.txt']), env: { ...api.env, ROSTERCTL_SETTLE: '0.1s' } };
  const line = 'docs upload a.txt b.txt --concurrency 1 --json';
  await killedWhen(api, line.split(' '), desk, () => posts(api).includes('/v1/documents'));
  delete api.behaviour.third;
  expect((await inProcess(`${line} --restart`, desk)).code).toBe(0);
  const listed = async () => JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect(await listed()).toMatchObject([{ path: 'a.txt', fileKey: 'files/1' }]);
  const finished = await inProcess('uploads finish --all --json', desk);
  expect([finished.code, JSON.parse(finished.stdout).results]).toMatchObject([
    0,
    [{ result: 'skipped', after: { id: 'doc_1' } }],
  ]);
  expect([await listed(), api.documents.length]).toEqual([[], 2]);
});

test('a run that was reported before it was finished is reported again if its end was not', async () => {
  const api = await service({
    third: (made) => (made === 1 ? { status: 401, json: { error: 'unauthorized' } } : undefined),
  });
  const desk = deskWith(['a.txt', 'b.txt', 'c.txt']);
  const line = 'docs upload a.txt b.txt c.txt --concurrency 1 --json';
  const at = { env: api.env, ...desk };
  expect((await inProcess(line, at)).code).toBe(4);
  const first = readFileSync(join(onlyRun(desk), 'told'));
  delete api.behaviour.third;
  expect((await inProcess(line, at)).code).toBe(0);
  expect(readFileSync(join(onlyRun(desk), 'told'))).not.toEqual(first);
  // The state after a kill between the end of the run and its report.
  writeFileSync(join(reopen(desk), 'told'), first);
  const again = await inProcess(line, at);
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('here is its result')]);
  expect(api.documents).toHaveLength(3);
});

test('a report waiting for its reader does not damage the run that another process resumes', async () => {
  const api = await service({
    third: (made) => (made === 1 ? { status: 401, json: { error: 'unauthorized' } } : undefined),
  });
  const desk = deskWith(['a.txt', 'b.txt', 'c.txt', 'd.txt']);
  execFileSync('mkfifo', [join(desk.home, 'pipe')]);
  const line = 'docs upload a.txt b.txt c.txt d.txt --concurrency 1 --json';
  const at = { env: api.env, ...desk };
  const waiting = rosterctl(`${line} --out pipe`, at);
  await expect.poll(() => posts(api).length, { timeout: 10_000 }).toBe(4);
  delete api.behaviour.third;
  const other = await rosterctl(`${line} --wait-lock 10s`, at);
  expect([other.code, JSON.parse(other.stdout).summary]).toMatchObject([0, { changed: 4 }]);
  // As if it had been killed before it printed its report.
  rmSync(join(reopen(desk), 'told'));
  const journal = readFileSync(join(onlyRun(desk), 'journal.jsonl'));
  const report = execFileAsync('cat', ['pipe'], { cwd: desk.cwd });
  expect((await waiting).code).toBe(4);
  expect(JSON.parse((await report).stdout).summary).toMatchObject({ changed: 1 });
  expect(readFileSync(join(onlyRun(desk), 'journal.jsonl'))).toEqual(journal);
  const again = await rosterctl(line, at);
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('here is its result')]);
  expect(api.documents).toHaveLength(4);
});

test('--if-exists skip resumes after a kill: no file is skipped because of its own document', async () => {
  const api = await service({ third: (made) => (made === 1 ? () => {} : undefined) });
  const desk = deskWith(['a.txt', 'b.txt']);
  mkdirSync(join(desk.home, 'y'));
  writeFileSync(join(desk.home, 'y/a.txt'), 'this is a.txt');
  const line = 'docs upload a.txt y/a.txt b.txt --if-exists skip --concurrency 1 --json';
  const documentsAsked = () => posts(api).filter((url) => url === '/v1/documents').length;
  await killedWhen(api, line.split(' '), desk, () => documentsAsked() === 2);
  delete api.behaviour.third;
  const ran = await inProcess(line, { env: { ...api.env, ROSTERCTL_SETTLE: '0.1s' }, ...desk });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout).results).toMatchObject([
    { id: 'a.txt', result: 'changed', after: { id: 'doc_1' } },
    { id: 'y/a.txt', result: 'skipped' },
    { id: 'b.txt', result: 'changed', after: { id: 'doc_2' } },
  ]);
  expect([puts(api), api.documents.length]).toEqual([2, 2]);
});

test('uploads of one file leave no lock, whether done, refused or forgotten', async () => {
  const api = await service();
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
  const folder = join(desk.home, '.local/state/rosterctl/locks');
  const locks = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect((await inProcess('docs upload a.txt', desk)).code).toBe(0);
  expect(locks()).toEqual([]);
  api.behaviour.third = () => forbidden;
  expect((await inProcess('docs upload b.txt', desk)).code).toBe(7);
  expect(locks()).toEqual([]);
  const [left] = JSON.parse((await inProcess('uploads list --json', desk)).stdout);
  expect((await inProcess(`uploads forget ${left.id}`, desk)).code).toBe(0);
  expect(locks()).toEqual([]);
});

test.each([
  ['one', ['a.txt']],
  ['several', ['a.txt', 'b.txt']],
])(
  'an upload of %s that another process is running is not listed as interrupted',
  async (_, names) => {
    const api = await service({ put: () => () => {} });
    const desk = { env: api.env, ...deskWith(names) };
    const line = ['docs', 'upload', ...names, '--yes'];
    const upload = await runningUntil(api, line, desk, () => puts(api) === names.length);
    const during = await inProcess('uploads list -o ids', desk);
    const checked = await inProcess('doctor', desk);
    await upload.kill();
    expect([during.code, during.stdout]).toEqual([0, '']);
    expect(checked.stdout).toContain('no unfinished runs');
    expect(checked.stdout).toContain('no unfinished uploads');
    expect(during.stderr).toContain(`${names.length} upload`);
    expect(during.stderr).toContain('another process');
    const after = await inProcess('uploads list -o ids', desk);
    expect(after.stdout.trim().split('\n')).toHaveLength(names.length);
    expect(after.stderr).toBe('');
  },
);

test('an interrupted upload is listed even while another run holds the same lock', async () => {
  const api = await service({ put: () => () => {} });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt', 'c.txt', 'd.txt']) };
  const upload = (names: readonly string[], count: number) =>
    runningUntil(api, ['docs', 'upload', ...names], desk, () => puts(api) === count);
  await (await upload(['a.txt', 'b.txt'], 2)).kill();
  const other = await upload(['c.txt', 'd.txt'], 4);
  const ran = await inProcess('uploads list --json', desk);
  const refused = await inProcess('uploads finish --all --yes --json', desk);
  await other.kill();
  expect([refused.code, errorOf(refused)['code']]).toEqual([11, 'locked']);
  expect(errorOf(refused).message).toMatch(/^Another bulk change on documents is running/);
  const left = JSON.parse(ran.stdout) as { path: string }[];
  expect(left.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
  expect(ran.stderr).toContain('2 uploads');
});

for (const line of ['docs upload a.txt --json', 'docs upload a.txt b.txt --json'])
  test(`after a kill and with a damaged journal ${line} sends nothing unless --restart`, async () => {
    const api = await service({ third: () => () => {} });
    const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt', 'c.txt']) };
    const reached = () => posts(api).includes('/v1/documents');
    await killedWhen(api, line.split(' '), desk, reached);
    const runs = runsOf(desk.home);
    damageJournal(runs, 2);
    delete api.behaviour.third;
    const before = posts(api).length;
    for (const again of [line, 'docs upload ./a.txt --json', 'docs upload c.txt a.txt --json']) {
      const ran = await inProcess(again, desk);
      expect([ran.code, errorOf(ran)]).toMatchObject([
        11,
        {
          code: 'damaged',
          message: expect.stringContaining('line 2'),
          hint: expect.stringContaining('--restart'),
        },
      ]);
    }
    const all = await inProcess('uploads finish --all --json', desk);
    expect([all.code, all.stderr]).toEqual([11, expect.stringContaining('damaged in line 2')]);
    expect(all.stderr).not.toContain('No upload is unfinished');
    for (const list of ['uploads list', 'runs list'])
      expect((await inProcess(list, desk)).stderr).toContain('damaged in line 2');
    expect(posts(api)).toHaveLength(before);
    // Unrelated uploads proceed, here and in another organization.
    expect((await inProcess('docs upload c.txt --json', desk)).code).toBe(0);
    const other = await inProcess('docs upload a.txt --org org_other --json', desk);
    expect(other.code).toBe(0);
    const ran = await inProcess(`${line} --restart`, desk);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('is kept in')]);
    expect(runFolders(runs).filter((name) => name.endsWith('.damaged'))).toHaveLength(1);
    expect((await inProcess('uploads finish --all --json', desk)).code).toBe(0);
  });

const tagged = (etag: string, more = {}) => ({ status: 200, headers: { etag, ...more } });

test('bytes that the store reports with another MD5 get no document', async () => {
  const other = '0123456789abcdef0123456789abcdef';
  const api = await service({ put: () => tagged(`"${other}"`) });
  const desk = { env: api.env, ...deskWith(['a.txt']) };
  const ran = await inProcess('docs upload a.txt --json', desk);
  expect([ran.code, errorOf(ran).code, api.documents.length]).toEqual([1, 'wrongHash', 0]);
  const right = createHash('md5').update('this is a.txt').digest('hex');
  const kms = { 'x-amz-server-side-encryption': 'aws:kms' };
  const customer = { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' };
  for (const reply of [
    tagged(`"${right}"`),
    tagged(`"${other}-2"`),
    tagged(`W/"${other}"`),
    tagged(`"${other}"`, kms),
    tagged(`"${other}"`, customer),
  ]) {
    api.behaviour.put = () => reply;
    const line = 'docs upload a.txt --if-exists duplicate --json';
    expect((await inProcess(line, desk)).code).toBe(0);
  }
  expect(api.documents).toHaveLength(5);
});

test('a dry run of finish --all reports what would change', async () => {
  const api = await service({ third: () => ({ status: 400, json: {} }) });
  const desk = { env: api.env, ...deskWith(['a.txt', 'b.txt']) };
  expect((await inProcess('docs upload a.txt b.txt', desk)).code).toBe(8);
  const before = posts(api).length;
  const ran = await inProcess('uploads finish --all -n --json', desk);
  expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([
    0,
    {
      action: 'uploads.finish',
      dryRun: true,
      summary: { total: 2, wouldChange: 2 },
      results: [{ result: 'would_change', before: { id: null } }, { result: 'would_change' }],
    },
  ]);
  const piped = await inProcess('uploads finish --all -n', desk);
  expect([piped.code, piped.stderr]).toEqual([
    0,
    expect.stringMatching(/^This continues run .*: all 2 rows are left\.\n2 would be uploaded\n$/),
  ]);
  expect(posts(api)).toHaveLength(before);
});

test('a store that always answers 5xx stops the run after five files, and all can be sent later', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `${name}.txt`);
  const api = await service({ put: () => ({ status: 503 }) });
  const env = { ...api.env, ROSTERCTL_RETRIES: '0' };
  const desk = { env, ...deskWith(names) };
  const line = `docs upload ${names.join(' ')} --concurrency 1 --json`;
  const ran = await inProcess(line, desk);
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([
    9,
    { total: 8, failed: 0, notAttempted: 8 },
  ]);
  expect(puts(api)).toBe(5);
  delete api.behaviour.put;
  const again = await inProcess(line, desk);
  expect([again.code, JSON.parse(again.stdout).summary.changed]).toEqual([0, 8]);
  expect(api.documents).toHaveLength(8);
});

test('a damaged journal of uploads with unknown outcomes blocks them, even after their report was printed', async () => {
  const api = await service({ third: () => (_, response) => response.socket?.destroy() });
  const desk = { env: { ...api.env, ROSTERCTL_SETTLE: '0.2s' }, ...deskWith(['a.txt', 'b.txt']) };
  const line = 'docs upload a.txt b.txt --json';
  const first = await inProcess(line, desk);
  damageJournal(runsOf(desk.home), 2);
  delete api.behaviour.third;
  const again = await inProcess(line, desk);
  expect([first.code, again.code, errorOf(again)['code']]).toEqual([10, 11, 'damaged']);
  const all = await inProcess('uploads finish --all --json', desk);
  expect([all.code, errorOf(all)['exitCode']]).toEqual([11, 11]);
});
