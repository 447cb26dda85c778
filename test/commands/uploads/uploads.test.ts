import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { key, recordingService } from '../../support/service.js';
import { desk } from '../../support/upload-desk.js';

const grant = {
  key: 'documents/org_7/1.txt',
  fileRef: 'ref:1',
  uploadUrl: 'https://s.example.com/1?sig=x',
};

test('create prints the answer of the service', async () => {
  const api = await recordingService(() => ({ status: 200, json: grant }));
  const line = 'uploads create --content-type text/plain --size-bytes 5 --json';
  const ran = await rosterctl(line, { env: api.env });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, grant]);
});

test('put sends the file to the URL on stdin, without the key, and prints status and bytes', async () => {
  const api = await recordingService(() => ({ status: 500 }));
  const store = await recordingService(() => ({ status: 201 }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const ran = await rosterctl('uploads put - rules.txt --json', {
    env: api.env,
    home,
    stdin: `${store.origin}/put/1?sig=canary\n`,
  });
  expect([ran.code, ran.stdout]).toEqual([0, '{"status":201,"bytes":5}\n']);
  expect(store.requests.map(({ method, url, body }) => [method, url, body.toString()])).toEqual([
    ['PUT', '/put/1?sig=canary', 'hello'],
  ]);
  expect(JSON.stringify(store.requests[0]?.headers)).not.toContain(key);
  expect(api.requests).toEqual([]);
});

test('put accepts the output of create, as JSON and as piped lines', async () => {
  const store = await recordingService(() => ({ status: 200 }));
  const answer = { ...grant, uploadUrl: `${store.origin}/put/1?sig=canary` };
  const api = await recordingService(() => ({ status: 200, json: answer }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const create = 'uploads create --content-type text/plain --size-bytes 5';
  for (const format of ['', '--json', '--json --fields uploadUrl', '--fields uploadUrl']) {
    const { stdout } = await inProcess(`${create} ${format}`, { env: api.env, home });
    const ran = await inProcess('uploads put - rules.txt', {
      env: api.env,
      home,
      cwd: home,
      stdin: stdout,
    });
    expect([format, ran.code, ran.stderr]).toEqual([format, 0, '']);
  }
  expect(store.requests.map(({ url }) => url)).toEqual(Array(4).fill('/put/1?sig=canary'));
});

test.each(['', '--json'])('put sends the headers that create %s prints', async (format) => {
  const store = await recordingService(() => ({ status: 200 }));
  const headers = { 'x-amz-acl': 'private', 'content-disposition': 'attachment; filename="a\\b"' };
  const answer = { ...grant, uploadUrl: `${store.origin}/put/1`, headers };
  const api = await recordingService(() => ({ status: 200, json: answer }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const create = `uploads create --content-type text/plain --size-bytes 5 ${format}`;
  const { stdout: stdin } = await inProcess(create, { env: api.env, home });
  const ran = await inProcess('uploads put - rules.txt', { env: api.env, home, cwd: home, stdin });
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
  expect(store.requests[0]?.headers).toMatchObject(headers);
});

test.each([
  ['{"uploadUrl":7,"x":"sig=canary"}', 'holds no uploadUrl'],
  ['{"uploadUrl":"https://s.example.com/?sig=canary"', 'neither a URL nor complete JSON'],
  ['', 'stdin is empty'],
])('put reports what is wrong with stdin %j without repeating it', async (stdin, message) => {
  const api = await recordingService(() => ({ status: 500 }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const ran = await inProcess('uploads put - rules.txt', { env: api.env, home, cwd: home, stdin });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(message);
  expect(ran.stderr).not.toContain('canary');
});

test('a dry run of put shows where it would go without the secret part of the URL', async () => {
  const api = await recordingService(() => ({ status: 500 }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const ran = await inProcess(
    "uploads put 'https://s.example.com/put/1?sig=canary' rules.txt -n --json",
    {
      env: api.env,
      home,
      cwd: home,
    },
  );
  expect(JSON.parse(ran.stdout)).toMatchObject({
    requests: [{ method: 'PUT', path: 'https://s.example.com/put/1', basis: 'stated' }],
  });
  expect(ran.stdout + ran.stderr).not.toContain('canary');
});

test.each(['nonsense?sig=canary', 'ftp://s.example.com/?sig=canary', 'https://[?sig=canary'])(
  '%s is not an upload URL, and the message does not repeat it',
  async (url) => {
    const api = await recordingService(() => ({ status: 500 }));
    const home = temporaryFolder();
    writeFileSync(join(home, 'rules.txt'), 'hello');
    const ran = await inProcess(['uploads', 'put', url, 'rules.txt'], {
      env: api.env,
      home,
      cwd: home,
    });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).not.toContain('canary');
  },
);

test('a forbidden URL exits 2 if typed by the user, and 1 if it comes from step 1', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const env = {
    ROSTERCTL_BASE_URL: 'https://203.0.113.1/v1',
    ROSTERCTL_ORG: 'org_7',
    ROSTERCTL_API_KEY: key,
  };
  for (const url of [
    'https://10.1.2.3/put/1?sig=canary',
    'https://169.254.169.254/latest?sig=canary',
    'http://s.example.com/put/1?sig=canary',
    'https://me:secret-canary@s.example.com/put/1',
  ]) {
    for (const flag of ['--json', '-n']) {
      const typed = await inProcess(['uploads', 'put', url, 'rules.txt', flag], {
        env,
        home,
        cwd: home,
      });
      expect([url, typed.code, typed.stdout]).toEqual([url, 2, '']);
      expect(typed.stderr).toContain('rosterctl does not open this URL: it ');
      expect(typed.stderr).not.toContain('canary');
    }
    const piped = await inProcess('uploads put - rules.txt --json', {
      env,
      home,
      cwd: home,
      stdin: url,
    });
    expect([url, piped.code, errorOf(piped)['code']]).toEqual([url, 1, 'unsafeUrl']);
  }
});

test('a key that another file has is never written to: a new one is asked for', async () => {
  const { upload, documents, store, view } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
  let first: number | undefined;
  view.key = () => {
    first ??= Date.now();
    return Date.now() - first < 1000 ? 'files/1' : 'files/2';
  };
  const ran = await upload('a.txt b.txt --concurrency 1');
  expect([ran.code, documents.map(({ fileKey }) => fileKey)]).toEqual([0, ['files/1', 'files/2']]);
  expect(store.requests.map(({ body }) => body.toString())).toEqual(['one', 'two']);
});

test.each(['', ' --if-exists duplicate'])(
  'a file whose key is always that of another file is not sent%s',
  async (flag) => {
    const { upload, run, documents, store, view } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
    view.key = () => 'files/1';
    const both = JSON.parse((await upload(`a.txt b.txt --concurrency 1${flag}`)).stdout);
    expect(both.results).toMatchObject([
      { result: 'changed' },
      {
        result: 'failed',
        error: { code: 'keyInUse', message: expect.stringContaining('a.txt, files/1') },
      },
    ]);
    expect([documents.length, store.requests.length]).toEqual([1, 1]);
    expect(JSON.parse((await run('uploads list')).stdout)).toEqual([]);
  },
);

test('a file that changes while the store answers is not recorded as a document', async () => {
  const { upload, documents, view, write } = await desk({ 'a.txt': 'one' });
  view.put = () => {
    write('a.txt', 'changed');
    return { status: 200 };
  };
  const ran = await upload('a.txt');
  expect([ran.code, errorOf(ran).message, documents]).toEqual([
    2,
    expect.stringContaining('a.txt changed during the upload; no document was created.'),
    [],
  ]);
});
