import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openAtomic } from '../../../src/files/atomic-write.js';
import {
  type DocumentStoreOptions,
  documentStore,
  fileReply,
  partsOf,
  sha256,
  stored,
  tagOf,
} from '../../support/document-store.js';
import { errorOf, rosterctl, startLine, temporaryFolder } from '../../support/run.js';
import { key } from '../../support/service.js';

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
    partial: join(cwd, 'doc_1.txt.partial'),
    marker: join(cwd, 'doc_1.txt.partial.json'),
    run: (flags = '') =>
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
    const ran = await here.run();
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
  const ran = await rosterctl('docs download doc_1', { env: api.env, home: cwd, cwd });
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
  const ran = await rosterctl('docs download doc_1', { env: api.env, home: cwd, cwd });
  expect([ran.code, readdirSync(cwd)]).toEqual([1, []]);
  expect(ran.stderr).toContain(`The file has 1,000 bytes, but the record says 300,000.`);
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

test('a partial download is private, holds no secret, and the next run fetches the rest', async () => {
  const here = await place({ store: cutOnce(123_456) });
  const first = await here.run('--retries 0');
  expect([first.code, first.stdout]).toEqual([9, '']);
  expect(first.stderr).toContain('123,456 bytes stay in doc_1.txt.partial');
  expect(readdirSync(here.cwd)).toEqual(['doc_1.txt.partial', 'doc_1.txt.partial.json']);
  for (const path of [here.partial, here.marker]) expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(here.marker, 'utf8')).not.toMatch(new RegExp(`canary|${key}`));
  const second = await here.run('--retries 0');
  expect(JSON.parse(second.stdout)).toEqual({ id: 'doc_1', path: 'doc_1.txt', bytes: size });
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  expect(partsOf(here.api.store.requests)).toEqual([0, 123_456]);
  expect(readdirSync(here.cwd)).toEqual(['doc_1.txt']);
});

const untoldAndCut: DocumentStoreOptions['store'] = (request, { bytes }, time) =>
  fileReply(request, bytes, { untold: true, ...(time === 1 && { cutAfter: 5000 }) });

test('a download from a store without versions resumes if the record has not changed', async () => {
  const bytes = randomBytes(size);
  const documents = [stored('doc_1', bytes, { updatedAt: '2026-01-01T00:00:00.000Z' })];
  const api = await documentStore({ documents, store: untoldAndCut });
  const cwd = temporaryFolder();
  const run = () => rosterctl('docs download doc_1 --retries 0', { env: api.env, home: cwd, cwd });
  expect((await run()).stderr).toContain('run the same command again to continue');
  expect((await run()).code).toBe(0);
  expect(sha256(readFileSync(join(cwd, 'doc_1.txt')))).toBe(sha256(bytes));
  expect(api.store.requests[1]?.headers).toMatchObject({ range: 'bytes=5000-' });
  expect(api.store.requests[1]?.headers).not.toHaveProperty('if-range');
});

test.each(['', '-O copy'])(
  'if neither store nor record has a version, two files of one size are not mixed: %s',
  async (flags) => {
    const [before, after] = [randomBytes(size), randomBytes(size)];
    const documents = [stored('doc_1', before)];
    const api = await documentStore({ documents, store: untoldAndCut });
    const cwd = temporaryFolder();
    const line = `docs download doc_1 --retries 0 ${flags}`;
    const first = await rosterctl(line, { env: api.env, home: cwd, cwd });
    expect([first.code, first.stderr]).toEqual([9, expect.not.stringContaining('goes on')]);
    documents[0] = stored('doc_1', after);
    expect((await rosterctl(line, { env: api.env, home: cwd, cwd })).code).toBe(0);
    expect(readdirSync(cwd)).toContain(flags === '' ? 'doc_1.txt' : 'copy');
    const file = join(cwd, flags === '' ? 'doc_1.txt' : 'copy');
    expect([sha256(readFileSync(file)), api.asked()]).toEqual([sha256(after), ['doc_1', 'doc_1']]);
  },
);

test('after kill -9 without any version, the next run starts over', async () => {
  const [before, after] = [randomBytes(size), randomBytes(size)];
  const documents = [stored('doc_1', before)];
  const api = await documentStore({
    documents,
    store: (_, { bytes }, time) => {
      if (time > 1) return undefined;
      return (_request, response) => {
        response.writeHead(200, { 'content-length': size });
        response.write(bytes.subarray(0, 5000));
      };
    },
  });
  const cwd = temporaryFolder();
  const child = startLine('docs download doc_1', { env: api.env, home: cwd });
  const half = join(cwd, 'doc_1.txt.partial');
  while (!existsSync(half) || statSync(half).size < 5000) await wait(5);
  child.kill('SIGKILL');
  await child.ended;
  documents[0] = stored('doc_1', after);
  expect((await rosterctl('docs download doc_1', { env: api.env, home: cwd, cwd })).code).toBe(0);
  expect(sha256(readFileSync(join(cwd, 'doc_1.txt')))).toBe(sha256(after));
});

test.each([true, false])(
  'a partial file of a document that changed since is not resumed; the store has no version: %s',
  async (untold) => {
    const [before, after] = [randomBytes(size), randomBytes(size)];
    const documents = [stored('doc_1', before, { updatedAt: '2026-01-01T00:00:00.000Z' })];
    const api = await documentStore({
      documents,
      store: (request, { bytes }, time) =>
        fileReply(request, bytes, { untold, ...(time === 1 && { cutAfter: 5000 }) }),
    });
    const cwd = temporaryFolder();
    const line = 'docs download doc_1 --retries 0';
    expect((await rosterctl(line, { env: api.env, home: cwd, cwd })).code).toBe(9);
    documents[0] = stored('doc_1', after, { updatedAt: '2026-02-01T00:00:00.000Z' });
    expect((await rosterctl(line, { env: api.env, home: cwd, cwd })).code).toBe(0);
    expect(sha256(readFileSync(join(cwd, 'doc_1.txt')))).toBe(sha256(after));
    // A version from the store is decisive.
    expect(api.asked()).toEqual(['doc_1', untold ? 'doc_1' : 'doc_1 bytes=5000-']);
  },
);

test('after a kill between the last byte and the rename, one byte proves that the file is the same', async () => {
  const here = await place({ store: cutOnce(size - 1) });
  await here.run('--retries 0');
  writeFileSync(here.partial, here.bytes);
  const ran = await here.run();
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
  expect(partsOf(here.api.store.requests)).toEqual([0, size - 1]);
});

test('a partial file of another document is not resumed', async () => {
  const bytes = randomBytes(size);
  const other = randomBytes(size);
  const api = await documentStore({
    documents: [stored('doc_1', bytes), stored('doc_2', other)],
    store: cutOnce(1000),
  });
  const cwd = temporaryFolder();
  const at = { env: api.env, home: cwd, cwd };
  expect((await rosterctl('docs download doc_1 -O x --retries 0', at)).code).toBe(9);
  expect((await rosterctl('docs download doc_2 -O x', at)).code).toBe(0);
  expect(sha256(readFileSync(join(cwd, 'x')))).toBe(sha256(other));
  expect(api.asked()).toEqual(['doc_1', 'doc_2', 'doc_2 bytes=1000-']);
  expect(readdirSync(cwd).filter((name) => name.startsWith('x'))).toEqual(['x']);
});

test('a second hard link to the partial file is never written through', async () => {
  const here = await place({ store: cutOnce(1000) });
  await here.run('--retries 0');
  // The state after a kill between linking the file to its name and removing the old one.
  linkSync(here.partial, here.file);
  const before = readFileSync(here.file);
  const skipped = await here.run('--skip-existing');
  expect([skipped.code, readFileSync(here.file).equals(before)]).toEqual([0, true]);
  expect(skipped.stderr).toContain(`it has 1,000 bytes and the document doc_1 has 300,000`);
  expect(readdirSync(here.cwd)).toEqual(['doc_1.txt']);
});

test.each(['', '--skip-existing'])(
  'a kill while the marker is written leaves nothing beside a complete file %s',
  async (flags) => {
    const here = await place({ store: cutOnce(1000) });
    await here.run('--retries 0');
    const made = await openAtomic(here.marker, { singleWriter: true });
    await made.write('{"schema"');
    expect(readdirSync(here.cwd)).toHaveLength(3);
    if (flags !== '') writeFileSync(here.file, here.bytes);
    expect((await here.run(flags)).code).toBe(0);
    expect(readdirSync(here.cwd)).toEqual(['doc_1.txt']);
    await made.discard();
  },
);

test('a torn marker costs only the bytes beside it', async () => {
  const here = await place({ store: cutOnce(1000) });
  await here.run('--retries 0');
  const text = readFileSync(here.marker, 'utf8');
  writeFileSync(here.marker, text.slice(0, 40));
  const ran = await here.run();
  expect([ran.code, sha256(readFileSync(here.file))]).toEqual([0, sha256(here.bytes)]);
  expect(partsOf(here.api.store.requests)).toEqual([0, 0]);
});

/** A store whose first answer stops after this many bytes and stays open. */
const holdOnce = (bytesFirst: number): DocumentStoreOptions['store'] => {
  return (request, { bytes }, time) =>
    time > 1
      ? undefined
      : (_, response) => {
          const headers = { 'content-length': bytes.length, etag: tagOf(bytes) };
          response.writeHead(200, headers).write(bytes.subarray(0, bytesFirst));
        };
};

const untilSize = async (path: string, bytes: number) => {
  while ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < bytes) await wait(10);
};

test('after kill -9 the next run completes the file and requests only the rest', async () => {
  const here = await place({ store: holdOnce(200_000) });
  const child = startLine('docs download doc_1', { env: here.api.env, home: here.cwd });
  await untilSize(here.partial, 200_000);
  child.kill('SIGKILL');
  await child.ended;
  expect(existsSync(here.file)).toBe(false);
  const ran = await here.run();
  expect(ran).toMatchObject({ code: 0 });
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
  expect(partsOf(here.api.store.requests)).toEqual([0, 200_000]);
  expect(readdirSync(here.cwd).filter((name) => name.startsWith('doc'))).toEqual(['doc_1.txt']);
});

test('while one process writes a file, another one is refused and touches nothing', async () => {
  const here = await place({ store: holdOnce(1000) });
  const child = startLine('docs download doc_1', { env: here.api.env, home: here.cwd });
  await untilSize(here.partial, 1000);
  const ran = await here.run();
  expect([ran.code, ran.stdout]).toEqual([11, '']);
  expect(errorOf(ran)).toMatchObject({ code: 'locked' });
  expect(here.api.store.requests).toHaveLength(1);
  child.kill('SIGKILL');
  await child.ended;
});

test('of two processes that start at once exactly one wins, and nothing is left over', async () => {
  const here = await place();
  for (let round = 0; round < 5; round++) {
    rmSync(here.file, { force: true });
    const both = await Promise.all([here.run(), here.run()]);
    expect(both.map(({ code }) => code).toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 11]);
    expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
    expect(readdirSync(here.cwd)).toEqual(['doc_1.txt']);
  }
});

test('Ctrl-C exits 130 and keeps the received bytes', async () => {
  const here = await place({ store: holdOnce(1000) });
  const child = startLine('docs download doc_1', { env: here.api.env, home: here.cwd });
  await untilSize(here.partial, 1000);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await child.ended;
  expect([code, stdout]).toEqual([130, '']);
  expect(stderr).toContain('1,000 bytes stay in doc_1.txt.partial');
  expect((await here.run()).code).toBe(0);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
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
    await untilSize(here.partial, 1000);
    child.kill(name);
    const ended = await child.ended;
    expect([ended.code, ended.stdout, errorOf(ended)]).toMatchObject([
      exit,
      '',
      { exitCode: exit },
    ]);
  },
);

// --- links and unrelated files in place of the partial file ---

test.each(['doc_1.txt.partial', 'doc_1.txt.partial.json'])(
  'a symbolic link at %s is refused before anything is fetched',
  async (name) => {
    const here = await place();
    const outside = join(temporaryFolder(), 'outside');
    writeFileSync(outside, 'mine');
    symlinkSync(outside, join(here.cwd, name));
    for (const flags of ['', '--overwrite']) {
      const ran = await here.run(flags);
      expect([ran.code, ran.stdout]).toEqual([11, '']);
    }
    expect(readFileSync(outside, 'utf8')).toBe('mine');
    expect(here.api.store.requests).toEqual([]);
  },
);

test("a user's own file with that name is kept", async () => {
  const here = await place();
  writeFileSync(here.partial, 'mine');
  for (const flags of ['', '--overwrite', '-O doc_1.txt --overwrite'])
    expect((await here.run(flags)).code).toBe(11);
  expect(readFileSync(here.partial, 'utf8')).toBe('mine');
  expect(here.api.store.requests).toEqual([]);
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
  await wait(700);
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
  const ran = await here.run('-O -');
  expect([ran.code, ran.stdout]).toEqual([0, '0123456789'.repeat(500)]);
  expect(partsOf(here.api.store.requests)).toEqual([0, 1000]);
});

test('-O - skips what it has written if the same file is sent again from the start', async () => {
  const here = await place({
    store: (request, { bytes }, time) =>
      fileReply(request, bytes, { ranges: false, ...(time === 1 && { cutAfter: 1234 }) }),
    bytes: Buffer.from('0123456789'.repeat(500)),
  });
  const ran = await here.run('-O -');
  expect([ran.code, ran.stdout]).toEqual([0, '0123456789'.repeat(500)]);
});

test('-O - that cannot be continued reports that the file is incomplete', async () => {
  const here = await place({
    store: (request, { bytes }, time) =>
      fileReply(request, bytes, {
        ranges: false,
        untold: true,
        ...(time === 1 && { cutAfter: 1000 }),
      }),
    bytes: Buffer.from('0123456789'.repeat(500)),
  });
  const ran = await here.run('-O -');
  expect([ran.code, ran.stdout.length]).toEqual([9, 1000]);
  expect(errorOf(ran)).toMatchObject({ kind: 'network', exitCode: 9 });
  expect(ran.stderr).toContain('broke off after 1,000 of 5,000 bytes');
});

// --- checksums and encodings ---

const asS3 = (bytes: Buffer) => ({
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
  'x-amz-request-id': '1',
});

test('an MD5 from the store is checked over all bytes, including those of an earlier run', async () => {
  const here = await place({
    store: (request, { bytes }, time) =>
      fileReply({ ...request, headers: { ...request.headers, 'if-range': undefined } }, bytes, {
        headers: asS3(bytes),
        ...(time === 1 && { cutAfter: 200_000 }),
      }),
  });
  await here.run('--retries 0');
  const half = readFileSync(here.partial);
  half[7] = (half[7] ?? 0) ^ 1;
  writeFileSync(here.partial, half);
  const spoilt = await here.run();
  expect([spoilt.code, spoilt.stdout, readdirSync(here.cwd)]).toEqual([1, '', []]);
  expect(errorOf(spoilt)).toMatchObject({ code: 'wrongHash' });
  expect((await here.run()).code).toBe(0);
  expect(sha256(readFileSync(here.file))).toBe(sha256(here.bytes));
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
      const ran = await rosterctl(`docs download doc_1 ${flags}`, { env: api.env, home: cwd, cwd });
      expect([ran.code, ran.stdout, errorOf(ran).code]).toEqual([1, '', 'protocol']);
      expect(errorOf(ran).message).toContain('content-encoding that was not asked for');
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
  const ran = await rosterctl('docs download doc_1 --json', { env: api.env, home: cwd, cwd });
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(errorOf(ran)).toMatchObject({ code: 'wrongSize' });
  expect(readdirSync(cwd).filter((name) => name.startsWith('doc'))).toEqual([]);
});

test('an empty file is complete', async () => {
  const here = await place({ bytes: Buffer.alloc(0) });
  expect((await here.run()).code).toBe(0);
  expect(statSync(here.file).size).toBe(0);
});
