import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  type DocumentStoreOptions,
  documentStore,
  fileReply,
  partsOf,
  sha256,
  stored,
  tagOf,
} from '../../support/document-store.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, launcher, rosterctl, startLine, temporaryFolder } from '../../support/run.js';

const size = 300_000;

function newFile(length = size) {
  const bytes = randomBytes(length);
  return { bytes, document: stored('doc_1', bytes) };
}

/** One document, a working folder, and the command that downloads the document there. */
async function place(
  options: Omit<DocumentStoreOptions, 'documents'> & { readonly bytes?: Buffer } = {},
) {
  const bytes = options.bytes ?? newFile().bytes;
  const api = await documentStore({ ...options, documents: [stored('doc_1', bytes)] });
  const home = temporaryFolder();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  return {
    api,
    bytes,
    cwd,
    file: join(cwd, 'doc_1.txt'),
    run: (flags = '') =>
      inProcess(`docs download doc_1 --json ${flags}`, { env: api.env, home, cwd }),
    start: (flags = '') =>
      rosterctl(`docs download doc_1 --json ${flags}`, { env: api.env, home, cwd }),
  };
}

/** A store that cuts off the first answer after this many bytes. */
const cutOnce = (cutAfter: number): DocumentStoreOptions['store'] => {
  return (request, { bytes }, time) =>
    time === 1 ? fileReply(request, bytes, { cutAfter }) : undefined;
};

// --- within one run ---

test.each([0, 1, 65_536, 150_000, size - 1])(
  'a download continues after a connection lost at %i bytes, and the file is complete',
  async (cutAfter) => {
    const here = await place({ store: cutOnce(cutAfter) });
    const ran = await here.start();
    expect(ran).toMatchObject({ code: 0 });
    expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
    expect(partsOf(here.api.store.requests)).toEqual([0, cutAfter]);
    expect(readdirSync(here.cwd)).toEqual(['doc_1.txt']);
  },
);

test('a request whose connection is lost before the answer starts is repeated', async () => {
  const here = await place({
    store: (_, __, time) => (time === 1 ? (_r, response) => response.destroy() : undefined),
  });
  const ran = await here.run();
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
});

test('the rest is requested with the version of the first part', async () => {
  const here = await place({ store: cutOnce(1000) });
  await here.run();
  const [, second] = here.api.store.requests;
  expect(second?.headers).toMatchObject({ range: 'bytes=1000-', 'if-range': tagOf(here.bytes) });
});

test.each([
  ['is continued if it is a second old', 1000, [0, 5000]],
  [
    'starts over within the second in which it was stored, since it may have been replaced',
    0,
    [0, 0],
  ],
])('a file that has a date and no ETag %s', async (_, ageMs, parts) => {
  const now = Date.now();
  const headers = {
    'last-modified': new Date(now).toUTCString(),
    date: new Date(now + ageMs).toUTCString(),
  };
  const replaced = newFile().bytes;
  const here = await place({
    store(request, { bytes }, time) {
      const present = ageMs === 0 && time === 1 ? replaced : bytes;
      // The store compares the date, which is the same for both.
      const { 'if-range': __, ...asked } = request.headers;
      const cut = time === 1 ? { cutAfter: 5000 } : {};
      return fileReply({ ...request, headers: asked }, present, { untold: true, headers, ...cut });
    },
  });
  const ran = await here.run();
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
  expect(partsOf(here.api.store.requests)).toEqual(parts);
});

test('a download that makes progress does not run out of attempts', async () => {
  const here = await place({
    store: (request, { bytes }, time) =>
      time <= 5 ? fileReply(request, bytes, { cutAfter: 50_000 }) : undefined,
  });
  const ran = await here.run('--retries 1');
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
  expect(here.api.store.requests).toHaveLength(6);
});

test('a download without progress ends after its attempts', async () => {
  const here = await place({
    store: (request, { bytes }) => fileReply(request, bytes, { cutAfter: 5000, ranges: false }),
  });
  const ran = await here.run('--retries 2');
  expect([ran.code, ran.stdout]).toEqual([9, '']);
  expect(here.api.store.requests).toHaveLength(3);
});

test('a store without range support sends the entire file again, and no parts are mixed', async () => {
  const here = await place({
    store: (request, { bytes }, time) =>
      fileReply(request, bytes, { ranges: false, ...(time === 1 && { cutAfter: 9000 }) }),
  });
  const ran = await here.run();
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
});

test('a URL that expires midway is renewed, and only the rest is fetched', async () => {
  const here = await place({
    store: (request, { bytes }, time) => {
      if (time === 1) return fileReply(request, bytes, { cutAfter: 7000 });
      return time === 2 ? { status: 403, text: 'Request has expired' } : undefined;
    },
  });
  const ran = await here.run();
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
  expect(partsOf(here.api.store.requests)).toEqual([0, 7000, 7000]);
  expect(here.api.requests.filter(({ url }) => url.endsWith('/download'))).toHaveLength(2);
});

test('a rest that arrives in pieces is requested piece by piece', async () => {
  const here = await place({
    store: (request, { bytes }, time) => {
      if (time === 1) return fileReply(request, bytes, { cutAfter: 1000 });
      if (time !== 2) return undefined;
      return {
        status: 206,
        text: bytes.subarray(1000, 1001).toString('latin1'),
        headers: { 'content-range': `bytes 1000-1000/${bytes.length}`, etag: tagOf(bytes) },
      };
    },
    bytes: Buffer.from('x'.repeat(5000)),
  });
  const ran = await here.run();
  expect([ran.code, readFileSync(here.file, 'utf8')]).toEqual([0, 'x'.repeat(5000)]);
  expect(partsOf(here.api.store.requests)).toEqual([0, 1000, 1001]);
});

test('a part that ends early, of a size that nobody says, is not taken for the whole rest', async () => {
  const bytes = randomBytes(size);
  const { sizeBytes: _, ...record } = stored('doc_1', bytes).record;
  const api = await documentStore({
    documents: [{ record: { ...record, id: 'doc_1' }, bytes }],
    store: (_request, _file, time) => (_r, response) => {
      if (time === 2) {
        response
          .writeHead(206, { 'content-range': `bytes 1000-4999/*`, etag: tagOf(bytes) })
          .end(bytes.subarray(1000, 5000));
        return;
      }
      // Chunked, so that no header says the size.
      response.writeHead(200, { etag: tagOf(bytes) }).write(bytes.subarray(0, 1000), () => {
        if (time === 1) response.destroy();
        else response.end(bytes.subarray(1000));
      });
    },
  });
  const cwd = temporaryFolder();
  const ran = await inProcess('docs download doc_1', { env: api.env, home: cwd, cwd });
  expect(ran.code).toBe(0);
  expect(sha256(readFileSync(join(cwd, 'doc_1.txt')))).toBe(sha256(bytes));
  expect(partsOf(api.store.requests)).toEqual([0, 1000, 0]);
});

test.each<[string, Record<string, string>]>([
  ['no validator', {}],
  ['a weak tag', { etag: 'W/"1"' }],
])('the parts of a file with %s are not put together', async (_, headers) => {
  const here = await place({
    store: (request, { bytes }, time) =>
      fileReply(request, bytes, { untold: true, headers, ...(time === 1 && { cutAfter: 5000 }) }),
  });
  expect((await here.run()).code).toBe(0);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  expect(partsOf(here.api.store.requests)).toEqual([0, 0]);
});

test('a size that the record holds as text is checked', async () => {
  const bytes = randomBytes(size);
  const documents = [stored('doc_1', bytes, { sizeBytes: String(size) })];
  const api = await documentStore({
    documents,
    store: () => (_, response) => {
      response.writeHead(200, { connection: 'close' }).end(bytes.subarray(0, 1000));
    },
  });
  const cwd = temporaryFolder();
  const ran = await inProcess('docs download doc_1', { env: api.env, home: cwd, cwd });
  expect([ran.code, readdirSync(cwd)]).toEqual([1, []]);
  expect(ran.stderr).toContain(`The file has 1,000 bytes, but the record says 300,000.`);
});

/** A store whose first answer has no length and ends with its connection, after so many bytes. */
const closing = (cutAfter: number | undefined, headers = {}): DocumentStoreOptions['store'] => {
  return (request, { bytes }, time) => {
    if (time > 1) return fileReply(request, bytes);
    return (_, response) => {
      response.shouldKeepAlive = false;
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { connection: 'close', ...headers });
      response.end(bytes.subarray(0, cutAfter));
    };
  };
};

describe('a file that ends with its connection, without a length,', () => {
  test.each([
    ['continued', '-O doc_1.txt', { etag: tagOf }, [0, 1000]],
    ['fetched again', '-O doc_1.txt', {}, [0, 0]],
    ['continued', '', { etag: tagOf }, [0, 1000]],
    ['fetched again', '', {}, [0, 0]],
  ])(
    'is %s if it is shorter than its record says: docs download %s',
    async (_, flags, { etag }: { etag?: typeof tagOf }, parts) => {
      const bytes = randomBytes(size);
      const here = await place({ bytes, store: closing(1000, etag && { etag: etag(bytes) }) });
      expect((await here.run(flags)).code).toBe(0);
      expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
      expect(partsOf(here.api.store.requests)).toEqual(parts);
    },
  );

  test('is refused if it is longer than its record says', async () => {
    const documents = [stored('doc_1', randomBytes(size), { sizeBytes: 1000 })];
    const api = await documentStore({ documents, store: closing(undefined) });
    const cwd = temporaryFolder();
    const ran = await inProcess('docs download doc_1 -O a.txt', { env: api.env, home: cwd, cwd });
    expect([ran.code, readdirSync(cwd)]).toEqual([1, []]);
    expect(ran.stderr).toContain('300,000 bytes, but the record says 1,000.');
  });

  test('is complete if it is as long as its record says', async () => {
    const here = await place({ store: closing(undefined) });
    const ran = await here.run('-O doc_1.txt');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  });

  test('is kept, with a note, if nothing says how long it is', async () => {
    const bytes = randomBytes(size);
    const documents = [stored('doc_1', bytes, { sizeBytes: undefined })];
    const api = await documentStore({ documents, store: closing(undefined) });
    const cwd = temporaryFolder();
    const ran = await inProcess('docs download doc_1 -O a.txt', { env: api.env, home: cwd, cwd });
    expect([ran.code, ran.stderr]).toEqual([
      0,
      'Neither the file store nor the list says how long the file of doc_1 is, so it may be incomplete.\n',
    ]);
  });
});

const range = (from: number, total: number) => ({
  'content-range': `bytes ${from}-${total - 1}/${total}`,
});

describe('a download restarts if the answer does not belong to the existing part', () => {
  const other = randomBytes(size);
  test.each<[string, DocumentStoreOptions['store']]>([
    [
      'another tag, in spite of If-Range',
      () => ({
        status: 206,
        text: 'y'.repeat(size - 1000),
        headers: { ...range(1000, size), etag: '"other"' },
      }),
    ],
    [
      'another beginning',
      () => ({
        status: 206,
        text: 'y'.repeat(size - 900),
        headers: range(900, size),
      }),
    ],
    ['no tag', () => ({ status: 206, text: 'y'.repeat(size - 1000), headers: range(1000, size) })],
    ['another total', () => ({ status: 206, text: 'y', headers: range(1000, 1001) })],
    ['no Content-Range', () => ({ status: 206, text: 'y'.repeat(size - 1000) })],
    ['416', () => ({ status: 416 })],
    ['another file, whole', (request) => fileReply(request, other)],
  ])('%s', async (name, second) => {
    const here = await place({
      store: (request, file, time) => {
        if (time === 1) return fileReply(request, file.bytes, { cutAfter: 1000 });
        return time === 2 ? second?.(request, file, time) : undefined;
      },
    });
    const ran = await here.run();
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const wanted = name === 'another file, whole' ? other : here.bytes;
    expect(sha256(readFileSync(here.file))).toBe(sha256(wanted));
  });
});

test('a download from a store that returns another file each time is given up', async () => {
  const here = await place({
    store: (request) => fileReply(request, randomBytes(size), { cutAfter: 1000 }),
  });
  const ran = await here.run('--retries 2');
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr).toContain('a different file');
  expect(readdirSync(here.cwd)).toEqual([]);
});

// --- over several runs ---

test('a download that breaks off leaves nothing, and the next run starts over', async () => {
  const here = await place({ store: cutOnce(123_456) });
  const first = await here.start('--retries 0');
  expect([first.code, first.stdout, readdirSync(here.cwd)]).toEqual([9, '', []]);
  expect((await here.start()).code).toBe(0);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  expect(partsOf(here.api.store.requests)).toEqual([0, 0]);
});

/** A store whose first answer stops after this many bytes and stays open, until it is cut. */
const holdOnce = (
  bytesFirst: number,
  cut = new AbortController(),
): DocumentStoreOptions['store'] => {
  return (request, { bytes }, time) =>
    time > 1
      ? undefined
      : (_, response) => {
          const headers = { 'content-length': bytes.length, etag: tagOf(bytes) };
          response.writeHead(200, headers).write(bytes.subarray(0, bytesFirst));
          cut.signal.addEventListener('abort', () => response.destroy());
        };
};

/** The temporary files of downloads in a folder. */
const tempsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.rosterctl-tmp'))
    .map((name) => join(folder, name));

const untilReceived = async (folder: string, bytes: number) => {
  while (!tempsIn(folder).some((path) => statSync(path).size >= bytes)) await wait(10);
};

test('kill -9 leaves a private file of another name, which a later run removes', async () => {
  const here = await place({ store: holdOnce(200_000) });
  const child = startLine('docs download doc_1', { env: here.api.env, home: here.cwd });
  await untilReceived(here.cwd, 200_000);
  child.kill('SIGKILL');
  await child.ended;
  expect(existsSync(here.file)).toBe(false);
  const [temp = ''] = tempsIn(here.cwd);
  expect(statSync(temp).mode & 0o777).toBe(0o600);
  expect((await here.run()).code).toBe(0);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  // Another process may still write to a file this young.
  expect(tempsIn(here.cwd)).toEqual([temp]);
  utimesSync(temp, new Date(0), new Date(0));
  expect((await here.run('-O doc_1.txt --skip-existing')).code).toBe(0);
  expect(tempsIn(here.cwd)).toEqual([]);
});

test.each(['', '-O x/doc_1.txt'])(
  'a file that appears during the download stays as it is %s',
  async (flags) => {
    const cut = new AbortController();
    const here = await place({ store: holdOnce(1000, cut) });
    mkdirSync(join(here.cwd, 'x'));
    const folder = flags === '' ? here.cwd : join(here.cwd, 'x');
    const child = startLine(`docs download doc_1 ${flags}`, { env: here.api.env, home: here.cwd });
    await untilReceived(folder, 1000);
    writeFileSync(join(folder, 'doc_1.txt'), 'mine');
    cut.abort();
    expect((await child.ended).code).toBe(11);
    expect(readFileSync(join(folder, 'doc_1.txt'), 'utf8')).toBe('mine');
    expect(tempsIn(folder)).toEqual([]);
  },
);

test('a link that appears during a download with --overwrite is replaced, not followed', async () => {
  const cut = new AbortController();
  const here = await place({ store: holdOnce(1000, cut) });
  const outside = join(temporaryFolder(), 'outside');
  writeFileSync(outside, 'mine');
  writeFileSync(here.file, 'old');
  const at = { env: here.api.env, home: here.cwd };
  const child = startLine('docs download doc_1 --overwrite', at);
  await untilReceived(here.cwd, 1000);
  rmSync(here.file);
  symlinkSync(outside, here.file);
  cut.abort();
  expect((await child.ended).code).toBe(0);
  expect(readFileSync(outside, 'utf8')).toBe('mine');
  expect(lstatSync(here.file).isFile()).toBe(true);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
});

test('of two processes that start at once exactly one wins, and nothing is left over', async () => {
  const here = await place();
  for (let round = 0; round < 5; round++) {
    rmSync(here.file, { force: true });
    const both = await Promise.all([here.start(), here.start()]);
    expect(both.map(({ code }) => code).toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 11]);
    expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
    expect(readdirSync(here.cwd)).toEqual(['doc_1.txt']);
  }
});

test('Ctrl-C exits 130 and leaves nothing', async () => {
  const here = await place({ store: holdOnce(1000) });
  const child = startLine('docs download doc_1', { env: here.api.env, home: here.cwd });
  await untilReceived(here.cwd, 1000);
  child.kill('SIGINT');
  const { code, stdout } = await child.ended;
  expect([code, stdout, existsSync(here.file), tempsIn(here.cwd)]).toEqual([130, '', false, []]);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  'after %s the last line is the error as JSON with the exit code %i',
  async (name, exit) => {
    const here = await place({ store: holdOnce(1000) });
    const child = startLine('docs download doc_1 --json', { env: here.api.env, home: here.cwd });
    await untilReceived(here.cwd, 1000);
    child.kill(name);
    const ended = await child.ended;
    expect([ended.code, ended.stdout, errorOf(ended)]).toMatchObject([
      exit,
      '',
      { exitCode: exit },
    ]);
  },
);

// --- file systems, links and folders at the target ---

const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

test('a file system without modes and hard links (FAT) takes a download, and no second one', async ({
  skip,
}) => {
  skip(!trace, 'strace is not installed or may not trace');
  const here = await place();
  const fat = ['-f', '-o', '/dev/null', '-e', 'inject=fchmod,link,linkat:error=EPERM'];
  const run = () =>
    promisify(execFile)(
      'strace',
      [...fat, process.execPath, launcher, 'docs', 'download', 'doc_1'],
      {
        cwd: here.cwd,
        env: { PATH: process.env['PATH'], HOME: here.cwd, ...here.api.env },
      },
    );
  await run();
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  expect(tempsIn(here.cwd)).toEqual([]);
  await expect(run()).rejects.toMatchObject({ code: 11 });
});

test('with --overwrite a link or a folder at the target is refused, and a file keeps its mode', async () => {
  const here = await place();
  const outside = join(temporaryFolder(), 'outside');
  symlinkSync(outside, here.file);
  expect((await here.run('--overwrite')).code).toBe(11);
  expect(existsSync(outside)).toBe(false);
  const folder = await place();
  mkdirSync(folder.file);
  for (const flags of ['--overwrite', '--skip-existing'])
    expect((await folder.run(flags)).code).toBe(11);
  const loose = await place();
  writeFileSync(loose.file, 'old', { mode: 0o644 });
  expect((await loose.run('--overwrite')).code).toBe(0);
  expect(statSync(loose.file).mode & 0o777).toBe(0o644);
});

// --- a pipe ---

test('a download waits for a reader of a named pipe, until a signal', async () => {
  const here = await place();
  const pipe = join(here.cwd, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const line = ['docs', 'download', 'doc_1', '-O', 'pipe', '--overwrite', '--json'];
  const waiting = startLine(line, { env: here.api.env, home: here.cwd });
  // Nothing tells that it waits, and before it has begun a signal would end it without its own code.
  await wait(3_000);
  waiting.kill('SIGINT');
  expect(await waiting.ended).toMatchObject({ code: 130 });
  const child = startLine(line, { env: here.api.env, home: here.cwd });
  await wait(300);
  // The store runs in this process, which must not block.
  const { stdout } = await promisify(execFile)('cat', [pipe], { encoding: 'buffer' });
  expect([(await child.ended).code, sha256(stdout)]).toEqual([0, sha256(here.bytes)]);
});

test('-O - resumes by Range into the same pipe', async () => {
  const here = await place({ store: cutOnce(1000), bytes: Buffer.from('0123456789'.repeat(500)) });
  const ran = await here.start('-O -');
  expect([ran.code, ran.stdout]).toEqual([0, '0123456789'.repeat(500)]);
  expect(partsOf(here.api.store.requests)).toEqual([0, 1000]);
});

test('-O - skips what it has written if the same file is sent again from the start', async () => {
  const here = await place({
    store: (request, { bytes }, time) =>
      fileReply(request, bytes, { ranges: false, ...(time === 1 && { cutAfter: 1234 }) }),
    bytes: Buffer.from('0123456789'.repeat(500)),
  });
  const ran = await here.start('-O -');
  expect([ran.code, ran.stdout]).toEqual([0, '0123456789'.repeat(500)]);
});

test.each([
  ['the store names no version', true],
  ['it is another file by now', false],
])('-O - that cannot be continued reports that the file is incomplete: %s', async (_, untold) => {
  const here = await place({
    store: (request, { bytes }, time) =>
      time === 1
        ? fileReply(request, bytes, { ranges: false, untold, cutAfter: 1000 })
        : fileReply(request, Buffer.alloc(5000, 'x'), { ranges: false, untold }),
    bytes: Buffer.from('0123456789'.repeat(500)),
  });
  const ran = await here.start('-O -');
  expect([ran.code, ran.stdout.length]).toEqual([9, 1000]);
  expect(errorOf(ran)).toMatchObject({ kind: 'network', exitCode: 9 });
  expect(ran.stderr).toContain('was interrupted after 1,000 of 5,000 bytes');
});

// --- checksums and encodings ---

const asS3 = (bytes: Buffer) => ({
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
  'x-amz-request-id': '1',
});

test('an MD5 from the store is checked over all bytes, including those before a lost connection', async () => {
  let spoilt = true;
  const here = await place({
    store: (request, { bytes }) => {
      const sent = Buffer.from(bytes);
      if (spoilt) sent[7] = (sent[7] ?? 0) ^ 1;
      const isFirst = request.headers.range === undefined;
      const from = { ...request, headers: { ...request.headers, 'if-range': undefined } };
      return fileReply(from, sent, {
        headers: asS3(bytes),
        ...(isFirst && { cutAfter: 200_000 }),
      });
    },
  });
  const wrong = await here.run();
  expect([wrong.code, wrong.stdout, readdirSync(here.cwd)]).toEqual([1, '', []]);
  expect(errorOf(wrong)).toMatchObject({ code: 'wrongHash' });
  spoilt = false;
  expect((await here.run()).code).toBe(0);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  expect(partsOf(here.api.store.requests)).toEqual([0, 200_000, 0, 200_000]);
});

test.each([
  ['a tag of parts', { etag: `"${'a'.repeat(32)}-2"` }],
  ['an object with a key of its own', { 'x-amz-server-side-encryption': 'aws:kms' }],
])('%s is not an MD5, and nothing is compared', async (_, headers) => {
  const here = await place({
    store: (request, { bytes }) =>
      fileReply(request, bytes, { headers: { ...asS3(Buffer.from('other')), ...headers } }),
  });
  expect((await here.run()).code).toBe(0);
});

test('a different MD5 in the ETag of any store is an error, and nothing is kept', async () => {
  const other = { etag: `"${createHash('md5').update('other').digest('hex')}"` };
  const here = await place({
    store: (request, { bytes }) => fileReply(request, bytes, { headers: other }),
  });
  const ran = await here.run();
  expect([ran.code, errorOf(ran).code, readdirSync(here.cwd)]).toEqual([1, 'wrongHash', []]);
});

test.each([undefined, size])(
  'a file sent in an encoding that was not requested is not kept; its record says %s bytes',
  async (sizeBytes) => {
    const bytes = randomBytes(size);
    const api = await documentStore({
      documents: [stored('doc_1', bytes, { sizeBytes })],
      store: (request) =>
        fileReply(request, gzipSync(bytes), { headers: { 'content-encoding': 'gzip' } }),
    });
    const cwd = temporaryFolder();
    for (const flags of ['--json', '-O - --json']) {
      const ran = await inProcess(`docs download doc_1 ${flags}`, { env: api.env, home: cwd, cwd });
      expect([ran.code, ran.stdout, errorOf(ran).code]).toEqual([1, '', 'protocol']);
      expect(errorOf(ran).message).toContain('content encoding that rosterctl did not ask for');
    }
    expect(readdirSync(cwd).filter((name) => name.startsWith('doc'))).toEqual([]);
  },
);

test('a file stored in an encoding, with that size in its record, is kept unchanged', async () => {
  for (const encoding of ['gzip', 'aws-chunked', 'identity']) {
    const here = await place({
      store: (request, { bytes }) =>
        fileReply(request, bytes, { headers: { 'content-encoding': encoding } }),
    });
    expect((await here.run()).code).toBe(0);
    expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  }
});

// --- sizes ---

test('a size that differs from the record is detected from the headers, before any byte is read', async () => {
  const bytes = randomBytes(size);
  const api = await documentStore({ documents: [stored('doc_1', bytes, { sizeBytes: 5 })] });
  const cwd = temporaryFolder();
  const ran = await inProcess('docs download doc_1 --json', { env: api.env, home: cwd, cwd });
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(errorOf(ran)).toMatchObject({ code: 'wrongSize' });
  expect(readdirSync(cwd).filter((name) => name.startsWith('doc'))).toEqual([]);
});

test('an empty file is complete', async () => {
  const here = await place({ bytes: Buffer.alloc(0) });
  expect((await here.run()).code).toBe(0);
  expect(statSync(here.file).size).toBe(0);
});
