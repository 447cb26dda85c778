import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  contentRange,
  isSameFile,
  mayBeSame,
  md5Of,
  rangeValidator,
} from '../../src/api/store/file-version.js';
import { CancelledError, NetworkError } from '../../src/errors.js';
import { recordingService } from '../support/service.js';
import { storeFor, thrownBy } from './wiring.js';

const base = 'http://127.0.0.1:9/v1';

async function collect(bytes: AsyncIterable<Uint8Array>, pauseMs = 0): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) {
    chunks.push(chunk);
    if (pauseMs > 0) await wait(pauseMs);
  }
  return Buffer.concat(chunks);
}

test('a part is requested by its first byte and its version', async () => {
  const service = await recordingService(() => ({ status: 206, text: 'lo' }));
  const store = storeFor(base);
  const { status } = await store.get(`${service.origin}/d`, { from: 3, ifRange: '"v1"' });
  expect(status).toBe(206);
  expect(service.requests[0]?.headers).toMatchObject({ range: 'bytes=3-', 'if-range': '"v1"' });
});

test('headers are read as UTF-8 where they are, and a tag is sent back byte by byte', async () => {
  const inBytes = Buffer.from('"B\u00e9la"').toString('latin1');
  const names = { utf8: inBytes, latin1: '"B\u00e9la"', etag: inBytes };
  const service = await recordingService(() => ({ status: 206, text: 'lo', headers: names }));
  const store = storeFor(base);
  const { headers } = await store.get(`${service.origin}/d`);
  expect(headers).toMatchObject({ utf8: names.latin1, latin1: names.latin1 });
  await store.get(`${service.origin}/d`, { from: 3, ifRange: headers['etag'] });
  expect(service.requests[1]?.headers['if-range']).toBe(inBytes);
});

test.each([204, 205, 299])('a %i is not the file', async (status) => {
  const service = await recordingService(() => ({ status }));
  const error = await thrownBy(storeFor(base).get(`${service.origin}/d`));
  expect(error).toMatchObject({
    name: 'StoreError',
    message: `The file store answered ${status} instead of the file.`,
  });
  expect(service.requests).toHaveLength(1);
});

test('a 202 is asked again until the file is there', async () => {
  const service = await recordingService(() =>
    service.requests.length < 3
      ? { status: 202, text: 'processing', headers: { 'retry-after': '0' } }
      : { status: 200, text: 'hello' },
  );
  const { status, bytes } = await storeFor(base, { retries: 2 }).get(`${service.origin}/d`);
  expect([status, (await collect(bytes)).toString()]).toEqual([200, 'hello']);
  expect(service.requests).toHaveLength(3);
});

test('a stalled body is a timeout after the bytes that arrived', async () => {
  const service = await recordingService(() => (_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half');
  });
  const { bytes } = await storeFor(base, { stallMs: 1_000 }).get(`${service.origin}/d`);
  let seen = '';
  const reading = (async () => {
    for await (const chunk of bytes) seen += Buffer.from(chunk).toString();
  })();
  const error = await thrownBy(reading);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({ kind: 'timeout' });
  expect(seen).toBe('half');
});

test('missing headers are a timeout that names its limit', async () => {
  const service = await recordingService(() => () => {});
  const error = await thrownBy(storeFor(base, { stallMs: 200 }).get(`${service.origin}/d`));
  expect(error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('0.2 s') });
});

test.each([302, 403])('a %i with a stalled body is reported by its status', async (status) => {
  const service = await recordingService(() => (_, response) => {
    response.writeHead(status, { 'content-length': 100 }).write('half');
  });
  const error = await thrownBy(storeFor(base, { stallMs: 1_000 }).get(`${service.origin}/d`));
  expect(error).toMatchObject({ name: 'StoreError', status });
});

test('a slow reader is not a stall', async () => {
  const sent = Buffer.alloc(3_000_000, 7);
  const service = await recordingService(() => (_, response) => void response.end(sent));
  const { bytes } = await storeFor(base, { stallMs: 1_000 }).get(`${service.origin}/d`);
  let first = true;
  let length = 0;
  for await (const chunk of bytes) {
    if (first) await wait(2_500);
    first = false;
    length += chunk.length;
  }
  expect(length).toBe(sent.length);
});

test('a signal ends a body at once', async () => {
  const stop = new AbortController();
  const service = await recordingService(() => (_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half');
  });
  const { bytes } = await storeFor(base, { signal: stop.signal }).get(`${service.origin}/d`);
  setTimeout(() => stop.abort(), 50);
  expect(await thrownBy(collect(bytes))).toBeInstanceOf(CancelledError);
});

test('a file is passed on as stored, whatever its encoding is called', async () => {
  const headers = { 'content-encoding': 'aws-chunked' };
  const service = await recordingService(() => ({ status: 200, text: 'file', headers }));
  const { bytes } = await storeFor(base).get(`${service.origin}/d`);
  expect((await collect(bytes)).toString()).toBe('file');
});

// --- versions ---

test.each([
  ['bytes 5-9/10', { first: 5, last: 9, total: 10 }],
  ['bytes 5-9/*', { first: 5, last: 9, total: undefined }],
  ['bytes 9-5/10', undefined],
  ['bytes 5-10/10', undefined],
  ['bytes */10', undefined],
  ['items 5-9/10', undefined],
  ['bytes 5-9', undefined],
  [undefined, undefined],
])('Content-Range %j', (header, range) => {
  expect(contentRange(header)).toEqual(range);
});

test('only a strong ETag or a date is used for If-Range, and only these prove the same file', () => {
  expect(rangeValidator({ etag: '"a"', lastModified: 'Mon' })).toBe('"a"');
  expect(rangeValidator({ etag: 'W/"a"', lastModified: 'Mon' })).toBe('Mon');
  expect(rangeValidator({ etag: 'W/"a"' })).toBeUndefined();
  expect(mayBeSame({ etag: '"a"' }, { etag: 'W/"a"', size: 5 })).toBe(true);
  expect(mayBeSame({ etag: '"a"' }, { etag: '"b"' })).toBe(false);
  expect(mayBeSame({ size: 5 }, { size: 6 })).toBe(false);
  expect(isSameFile({ etag: '"a"' }, { etag: '"a"' })).toBe(true);
  expect(isSameFile({ etag: 'W/"a"' }, { etag: 'W/"a"' })).toBe(false);
  expect(isSameFile({ lastModified: 'Mon', size: 5 }, { lastModified: 'Mon', size: 5 })).toBe(true);
  expect(isSameFile({ size: 5 }, { size: 5 })).toBe(false);
});

test('an MD5 is the strong ETag of 32 hex digits of an unencrypted object, or the hash header of Google', () => {
  const md5 = '5d41402abc4b2a76b9719d911017c592';
  const s3 = { etag: `"${md5}"`, 'x-amz-request-id': '1' };
  expect(md5Of(s3)).toBe(md5);
  expect(md5Of({ etag: `"${md5}"` })).toBe(md5);
  expect(md5Of({ etag: `"${md5.toUpperCase()}"` })).toBe(md5);
  expect(md5Of({ etag: `W/"${md5}"` })).toBeUndefined();
  const customer = { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' };
  expect(md5Of({ ...s3, ...customer })).toBeUndefined();
  expect(md5Of({ ...s3, etag: `"${md5}-2"` })).toBeUndefined();
  expect(md5Of({ ...s3, 'x-amz-server-side-encryption': 'aws:kms' })).toBeUndefined();
  expect(md5Of({ ...s3, 'x-amz-server-side-encryption': 'AES256' })).toBe(md5);
  expect(md5Of({ etag: `"${md5}"`, 'x-static-large-object': 'True' })).toBeUndefined();
  expect(md5Of({ etag: `"${md5}"`, 'x-object-manifest': 'club/segments' })).toBeUndefined();
  expect(md5Of({ 'x-goog-hash': 'crc32c=AAAAAA==, md5=XUFAKrxLKna5cZ2REBfFkg==' })).toBe(md5);
});
