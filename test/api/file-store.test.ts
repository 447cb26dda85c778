import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { UploadSource } from '../../src/api/store/file-store.js';
import { BugError, InputError, NetworkError, ProtocolError, StoreError } from '../../src/errors.js';
import { openUpload } from '../../src/uploads/upload-source.js';
import { temporaryFolder } from '../support/run.js';
import { key, type Reply, recordingService } from '../support/service.js';
import { tcpService } from '../support/tcp.js';
import { noWait, storeFor, thrownBy } from './wiring.js';

const folder = temporaryFolder('rosterctl-store');
const base = 'http://127.0.0.1:9/v1';
let files = 0;

function fileOf(bytes: Buffer | string): string {
  const path = join(folder, `file-${++files}`);
  writeFileSync(path, bytes);
  return path;
}

const source = async (path: string, contentType = 'application/pdf'): Promise<UploadSource> => {
  const file = openUpload(path);
  return { contentType, sizeBytes: file.sizeBytes, open: () => file.open() };
};

const given = (bytes: readonly string[], sizeBytes: number): UploadSource => ({
  contentType: 'text/plain',
  sizeBytes,
  async *open() {
    for (const part of bytes) yield Buffer.from(part);
  },
});

/** Returns how many descriptors of this process refer to the file. */
function timesOpen(path: string): number {
  const open = '/proc/self/fd';
  const links = readdirSync(open).map((descriptor) => {
    try {
      return readlinkSync(join(open, descriptor));
    } catch {
      // The descriptor that read the folder.
      return undefined;
    }
  });
  return links.filter((link) => link === path).length;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('PUT', () => {
  test.each([0, 1, 65_535, 1_048_575, 1_048_576, 1_048_577, 3_145_729, 9_000_001])(
    '%i bytes arrive exactly as on disk',
    async (size) => {
      const bytes = randomBytes(size);
      const service = await recordingService(() => ({ status: 200 }));
      const told: number[] = [];
      const file = await source(fileOf(bytes));
      const put = storeFor(base).put(`${service.origin}/d?sig=1`, {
        ...file,
        onProgress: (sent) => told.push(sent),
      });
      expect(await put).toEqual({ status: 200, bytes: size });
      const [request] = service.requests;
      expect(request?.body.length).toBe(size);
      expect(sha256(request?.body ?? Buffer.alloc(0))).toBe(sha256(bytes));
      expect(told.at(-1) ?? 0).toBe(size);
    },
  );

  test.each([0, 5])('with %i bytes it carries exactly these headers', async (size) => {
    const service = await recordingService(() => ({ status: 200 }));
    const file = given(size ? ['hello'] : [], size);
    await storeFor(base).put(`${service.origin}/d?sig=1`, file);
    expect(service.requests[0]).toMatchObject({ method: 'PUT', url: '/d?sig=1' });
    expect(service.requests[0]?.headers).toEqual({
      host: service.origin.slice('http://'.length),
      connection: 'keep-alive',
      'content-type': 'text/plain',
      'content-length': String(size),
    });
  });

  test('the extra headers of the upload grant are sent if they are allowed', async () => {
    const service = await recordingService(() => ({ status: 200 }));
    await storeFor(base).put(`${service.origin}/d`, given(['hello'], 5), {
      'x-amz-acl': 'private',
      'Content-Type': 'text/plain',
      'x-ms-blob-type': 'BlockBlob',
    });
    expect(service.requests[0]?.headers).toMatchObject({
      'x-amz-acl': 'private',
      'x-ms-blob-type': 'BlockBlob',
      'content-type': 'text/plain',
    });
  });

  test('a URL that Azure signed gets the type of the blob, without which Azure refuses it', async () => {
    const service = await recordingService(() => ({ status: 201 }));
    const signed = `${service.origin}/d?sv=2026-02-06&se=2026-11-26T02%3A00%3A00Z&sr=b&sp=cw&sig=x`;
    await storeFor(base).put(signed, given(['hello'], 5));
    await storeFor(base).put(signed, given(['hello'], 5), { 'X-Ms-Blob-Type': 'AppendBlob' });
    expect(service.requests.map(({ headers }) => headers['x-ms-blob-type'])).toEqual([
      'BlockBlob',
      'AppendBlob',
    ]);
  });

  test.each([
    { 'x-api-key': key },
    { authorization: 'Bearer x' },
    { cookie: 'a=b' },
    { host: 'elsewhere' },
    { 'transfer-encoding': 'chunked' },
    { 'x-amz-acl': 7 },
    { 'x-amz-acl': 'a\r\nx: y' },
  ])('%j stops the upload', async (headers) => {
    const service = await recordingService(() => ({ status: 200 }));
    const put = storeFor(base).put(`${service.origin}/d`, given(['hello'], 5), headers);
    expect(await thrownBy(put)).toBeInstanceOf(ProtocolError);
    expect(service.requests).toHaveLength(0);
  });

  test.each<[string, Reply, object]>([
    [
      'XML',
      {
        status: 403,
        text: '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
      },
      { status: 403, code: 'AccessDenied' },
    ],
    ['JSON', { status: 413, json: { error: 'EntityTooLarge' } }, { code: 'EntityTooLarge' }],
    ['text', { status: 400, text: 'bad\u001b[31m thing' }, { status: 400, code: 'store' }],
    [
      'a code alone',
      { status: 401, text: 'UserSuspended' },
      { code: 'UserSuspended', message: 'The file store refused the upload: 401 UserSuspended.' },
    ],
    ['a word', { status: 401, text: 'Unauthorized' }, { code: 'store' }],
    [
      'its status alone',
      { status: 404, text: '' },
      {
        message: 'The file store refused the upload: 404.',
        hint: expect.stringContaining('between the service and its file store'),
      },
    ],
    [
      'a text that is said to be HTML',
      {
        status: 413,
        text: '413 Error: Upload exceeds quota.',
        headers: { 'content-type': 'text/html; charset=UTF-8' },
      },
      {
        message: 'The file store refused the upload: 413 Error: Upload exceeds quota.',
        hint: expect.stringContaining('between the service and its file store'),
      },
    ],
    [
      'HTML',
      { status: 403, text: '<html>canary', headers: { 'content-type': 'text/html' } },
      { status: 403, code: 'store' },
    ],
    [
      'a hostile code',
      { status: 403, text: '<Error><Code>a\u0007b</Code></Error>' },
      { status: 403, code: 'store' },
    ],
  ])('a refusal in %s is reported by its status and its code', async (_, reply, expected) => {
    const service = await recordingService(() => reply);
    const put = storeFor(base, { retries: 3 }).put(`${service.origin}/d`, given(['hello'], 5));
    const error = await thrownBy(put);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject(expected);
    // oxlint-disable-next-line no-control-regex
    expect((error as Error).message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]|canary/);
    expect(service.requests).toHaveLength(1);
  });

  test('a redirect is not followed', async () => {
    const foreign = await recordingService(() => ({ status: 200 }));
    const location = `${foreign.origin}/d`;
    const service = await recordingService(() => ({ status: 307, headers: { location } }));
    const put = storeFor(base).put(`${service.origin}/d`, given(['hello'], 5));
    expect(await thrownBy(put)).toMatchObject({ name: 'StoreError', status: 307 });
    expect(foreign.requests).toHaveLength(0);
  });

  test('a refusal while the file is still being sent is reported by its status', async () => {
    const { origin } = await tcpService((socket) => {
      socket.once('data', () => {
        socket.write(
          'HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\nconnection: close\r\n\r\nstop',
        );
        socket.pause();
        setTimeout(() => socket.destroy(), 300);
      });
    });
    const file = await source(fileOf(randomBytes(30_000_000)));
    const error = await thrownBy(storeFor(base).put(`${origin}/d`, file));
    expect(error).toMatchObject({ name: 'StoreError', status: 403 });
  });

  test.each([
    [503, '<Error><Code>SlowDown</Code></Error>', 4],
    [400, '<Error><Code>RequestTimeout</Code></Error>', 4],
    [500, '', 4],
    [429, '', 4],
    [403, '<Error><Code>SignatureDoesNotMatch</Code></Error>', 1],
    [400, '<Error><Code>InvalidArgument</Code></Error>', 1],
  ])('after %i %s it is sent %i times, from the start', async (status, text, sent) => {
    const service = await recordingService(() => ({ status, text }));
    const store = storeFor(base, { retries: 3, sleep: noWait().sleep });
    await thrownBy(store.put(`${service.origin}/d`, given(['he', 'llo'], 5)));
    expect(service.requests.map(({ body }) => body.toString())).toEqual(
      Array.from({ length: sent }, () => 'hello'),
    );
  });

  test('a connection that breaks in the middle is retried', async () => {
    let count = 0;
    const bytes = randomBytes(4_000_000);
    const service = await recordingService(() => ({ status: 200 }));
    const { origin } = await tcpService((socket) => {
      if (++count === 1) socket.once('data', () => socket.resetAndDestroy());
      else relay(socket, service.origin);
    });
    const store = storeFor(base, { retries: 1, sleep: noWait().sleep });
    await store.put(`${origin}/d`, await source(fileOf(bytes)));
    expect(sha256(service.requests[0]?.body ?? Buffer.alloc(0))).toBe(sha256(bytes));
  });

  test('small files sent one after another use one connection, also where the store answers at once', async () => {
    const service = await recordingService(() => ({ status: 200 }));
    const store = storeFor(base);
    for (let sent = 0; sent < 50; sent++) {
      await store.put(`${service.origin}/d`, await source(fileOf(randomBytes(20_000))));
      // In an upload, calls to the service come between.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set(service.requests.map(({ port }) => port)).size).toBe(1);
    store.close();
  });

  test('a stalled transfer ends, a slow one does not', async () => {
    const stuck = await tcpService((socket) => socket.pause());
    const file = await source(fileOf(randomBytes(8_000_000)));
    const error = await thrownBy(storeFor(base, { stallMs: 1_500 }).put(`${stuck.origin}/d`, file));
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'timeout' });

    const crawling = await tcpService((socket) => {
      let seen = 0;
      const turn = setInterval(() => (socket.isPaused() ? socket.resume() : socket.pause()), 60);
      socket.on('close', () => clearInterval(turn));
      socket.on('data', (chunk) => {
        seen += chunk.length;
        if (seen >= 8_000_000) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    });
    const put = storeFor(base, { stallMs: 1_500 }).put(`${crawling.origin}/d`, file);
    expect(await put).toMatchObject({ status: 200 });
  });

  test('a slowly dripping response ends once everything was sent', async () => {
    const { origin } = await tcpService((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
      const drip = setInterval(() => socket.write('o'), 30);
      socket.on('close', () => clearInterval(drip));
      socket.on('error', () => {});
    });
    const store = storeFor(base, { stallMs: 200 });
    const error = await thrownBy(store.put(`${origin}/d`, given(['hello'], 5)));
    expect(error).toMatchObject({ name: 'NetworkError' });
  });

  test.each([
    ['longer', ['hello', 'more'], 5],
    ['shorter', ['hell'], 5],
    ['longer than nothing', ['x'], 0],
  ])('a source %s than promised is an input error', async (_, parts, size) => {
    let connections = 0;
    const { origin } = await tcpService(() => connections++);
    const store = storeFor(base, { retries: 3, sleep: noWait().sleep });
    const error = await thrownBy(store.put(`${origin}/d`, given(parts, size)));
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toContain('changed during the upload');
    expect(connections).toBe(1);
  });

  test('a dry run never uploads', async () => {
    const service = await recordingService(() => ({ status: 200 }));
    const put = storeFor(base, { readsOnly: true }).put(`${service.origin}/d`, given(['hello'], 5));
    expect(await thrownBy(put)).toBeInstanceOf(BugError);
    expect(service.requests).toHaveLength(0);
  });
});

describe('the file on disk', () => {
  const changes: readonly (readonly [string, (path: string) => void])[] = [
    ['grown', (path) => appendFileSync(path, 'x')],
    ['truncated', (path) => truncateSync(path, 10)],
    ['rewritten with the same size', (path) => writeFileSync(path, randomBytes(5_000_000))],
    [
      'replaced by another of the same size',
      (path) => {
        writeFileSync(`${path}.new`, randomBytes(5_000_000));
        renameSync(`${path}.new`, path);
      },
    ],
  ];
  test.each(changes)('%s while it is sent: an input error', async (_, change) => {
    const path = fileOf(randomBytes(5_000_000));
    const file = openUpload(path);
    const read = async () => {
      let count = 0;
      for await (const chunk of file.open()) if (chunk.length > 0 && ++count === 1) change(path);
    };
    const error = await thrownBy(read());
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toContain('changed during the upload');
  });

  test('a change between the check and the read is detected too', async () => {
    const path = fileOf('hello');
    const file = openUpload(path);
    writeFileSync(path, 'world');
    expect(await thrownBy(file.open()[Symbol.asyncIterator]().next())).toBeInstanceOf(InputError);
  });

  test('a file is the same where its file system numbers device and inode anew', () => {
    const path = fileOf('hello');
    const { size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    expect(openUpload(path).identity).toBe([size, mtimeNs, ctimeNs].join(':'));
  });

  test.each([
    ['a missing file', join(folder, 'none'), 'No such file'],
    ['a folder', folder, 'a folder'],
    ['a path through a file', join(fileOf('x'), 'below'), 'not a folder'],
  ])('%s is refused', async (_, path, words) => {
    const error = await thrownBy((async () => openUpload(path))());
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toContain(words);
  });

  test.each([2, 4])(
    'a file of exactly %i MiB is read to its end, and no further',
    async (mebibytes) => {
      const bytes = randomBytes(mebibytes * 1024 * 1024);
      const path = fileOf(bytes);
      for (let time = 0; time < 5; time++) {
        const parts: Uint8Array[] = [];
        // The sender keeps a chunk until the next comes, and by then the file may be closed.
        for await (const chunk of openUpload(path).open()) {
          parts.push(Buffer.from(chunk));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        expect(sha256(Buffer.concat(parts))).toBe(sha256(bytes));
        expect(timesOpen(path)).toBe(0);
      }
    },
  );

  test('a reader that stops early closes the file', async () => {
    const path = fileOf(randomBytes(5_000_000));
    const file = openUpload(path);
    for await (const _ of file.open()) {
      expect(timesOpen(path)).toBe(1);
      break;
    }
    expect(timesOpen(path)).toBe(0);
  });
});

const collect = async (bytes: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};

describe('GET', () => {
  test('the bytes arrive unchanged, and no headers of ours are sent', async () => {
    const bytes = randomBytes(2_000_001);
    const service = await recordingService(() => (_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
    });
    const { status, headers, bytes: got } = await storeFor(base).get(`${service.origin}/d?sig=1`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('image/png');
    expect(sha256(await collect(got))).toBe(sha256(bytes));
    expect(service.requests[0]?.headers).toEqual({
      host: service.origin.slice('http://'.length),
      connection: 'keep-alive',
    });
  });

  test('three redirects are followed, each with a new request, but not a fourth', async () => {
    const service = await recordingService(({ url }) => {
      const left = Number(url.slice(1));
      return left === 0
        ? { status: 200, text: 'file' }
        : { status: 302, headers: { location: `/${left - 1}` } };
    });
    const { bytes } = await storeFor(base).get(`${service.origin}/3`);
    expect((await collect(bytes)).toString()).toBe('file');
    expect(await thrownBy(storeFor(base).get(`${service.origin}/4`))).toBeInstanceOf(StoreError);
  });

  test('a redirect into a private network is refused', async () => {
    const service = await recordingService(() => ({
      status: 302,
      headers: { location: 'http://user:pass@127.0.0.1:9/x' },
    }));
    expect(await thrownBy(storeFor(base).get(`${service.origin}/d`))).toBeInstanceOf(ProtocolError);
  });

  test('an expired URL is a store error with its code', async () => {
    const text = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
    const service = await recordingService(() => ({ status: 403, text }));
    const error = await thrownBy(storeFor(base).get(`${service.origin}/d`));
    expect(error).toMatchObject({ name: 'StoreError', status: 403, code: 'AccessDenied' });
  });

  test.each([
    [403, 'UserSuspended', 'between the service and its file store'],
    [404, 'NoSuchBucket', 'between the service and its file store'],
    [404, 'NoSuchKey', 'does not have the file'],
    [413, 'QuotaExceeded', 'between the service and its file store'],
  ])('the hint of %i %s does not speak of an expired URL', async (status, code, hint) => {
    const text = `<Error><Code>${code}</Code></Error>`;
    const service = await recordingService(() => ({ status, text }));
    const error = await thrownBy(storeFor(base).get(`${service.origin}/d`));
    expect(error).toMatchObject({ status, code, hint: expect.stringContaining(hint) });
  });

  test('a refusal in JSON is a store error with its code and message', async () => {
    const service = await recordingService(() => ({
      status: 403,
      json: { code: 'SignatureDoesNotMatch', message: 'Not\u001b[2J signed' },
    }));
    const error = await thrownBy(storeFor(base).get(`${service.origin}/d`));
    expect(error).toMatchObject({ name: 'StoreError', code: 'SignatureDoesNotMatch' });
    expect((error as Error).message).toContain('signed');
    expect((error as Error).message).not.toContain('\u001b');
  });

  test('a redirect to something that is not a URL is an error', async () => {
    const service = await recordingService(() => ({
      status: 302,
      headers: { location: 'https://[files/x' },
    }));
    const error = await thrownBy(storeFor(base).get(`${service.origin}/d`));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as Error).message).toContain('redirects to something that is not a URL');
  });

  test('a store that fails at first is retried', async () => {
    let count = 0;
    const service = await recordingService(() =>
      ++count < 3 ? { status: 503 } : { status: 200, text: 'file' },
    );
    const { bytes } = await storeFor(base, { retries: 3, sleep: noWait().sleep }).get(
      `${service.origin}/d`,
    );
    expect((await collect(bytes)).toString()).toBe('file');
  });

  test('a body that ends early is an error, never a short file', async () => {
    const { origin } = await tcpService((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort')),
    );
    const { bytes } = await storeFor(base).get(`${origin}/d`);
    expect(await thrownBy(collect(bytes))).toBeInstanceOf(NetworkError);
  });
});

/** Forwards a connection to another server, byte by byte. */
function relay(socket: Socket, origin: string) {
  void import('node:net').then(({ connect }) => {
    const { port } = new URL(origin);
    const onward = connect(Number(port), '127.0.0.1');
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
}
