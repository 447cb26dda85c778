import { describe, expect, test } from 'vitest';
import type { FileStore, UploadSource } from '../../src/api/store/file-store.js';
import { download, type FileSink } from '../../src/downloads/resumable-download.js';
import { ProtocolError, StoreError, UnknownOutcomeError } from '../../src/errors.js';
import { type Reply, recordingService } from '../support/service.js';
import { tcpService } from '../support/tcp.js';
import { noWait, storeFor, thrownBy, transportTo } from './wiring.js';

const base = 'http://127.0.0.1:9/v1';
const hello: UploadSource = {
  contentType: 'text/plain',
  sizeBytes: 5,
  async *open() {
    yield Buffer.from('hello');
  },
};

/** Sends these responses in turn, then the last one forever. */
const inTurn = (...replies: Reply[]) => {
  let count = 0;
  return recordingService(() => replies[Math.min(count++, replies.length - 1)] as Reply);
};

const ways: [string, (store: FileStore, url: string) => Promise<unknown>][] = [
  ['PUT', (store, url) => store.put(url, hello)],
  ['GET', (store, url) => store.get(url)],
];

describe.each(ways)('a %s when the store asks to wait', (_, send) => {
  test.each([
    [503, { 'retry-after': '7' }],
    [429, { 'retry-after': '7' }],
    [503, { 'retry-after': new Date(Date.now() + 8000).toUTCString() }],
  ])('is not retried any earlier (%i, %j)', async (status, headers) => {
    const service = await inTurn({ status, headers }, { status: 200, text: 'ok' });
    const { waits, sleep } = noWait();
    await send(storeFor(base, { retries: 1, sleep }), `${service.origin}/d`);
    expect(service.requests).toHaveLength(2);
    expect(waits).toHaveLength(1);
    // HTTP dates have no fractions of a second.
    expect(waits[0]).toBeGreaterThan(5900);
  });

  test('is not retried after a wait longer than --max-wait, and says so', async () => {
    const service = await inTurn({ status: 503, headers: { 'retry-after': '61' } });
    const { waits, sleep } = noWait();
    const store = storeFor(base, { retries: 3, sleep, maxWaitMs: 60_000 });
    const error = await thrownBy(send(store, `${service.origin}/d`));
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).hint).toContain('61 s');
    expect(waits).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });
});

const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n';

/** Answers every request with 101. */
const switching = () =>
  tcpService((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(upgrade));
  });

describe('a 101 response', () => {
  test.each(ways)('to a %s of a file is a protocol error and is not retried', async (_, send) => {
    const server = await switching();
    const store = storeFor(base, { retries: 3, sleep: noWait().sleep });
    const error = await thrownBy(send(store, `${server.origin}/d`));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ exitName: 'failed', message: expect.stringContaining('101') });
    expect(server.connections()).toBe(1);
  });

  test('to a read of the service is a protocol error and is not retried', async () => {
    const server = await switching();
    const transport = transportTo(`${server.origin}/v1`, { retries: 3, sleep: noWait().sleep });
    const read = { method: 'GET', path: '/teams/o', template: '/teams/{organizationId}' };
    expect(await thrownBy(transport.request(read))).toBeInstanceOf(ProtocolError);
    expect(server.connections()).toBe(1);
  });

  test('to a write means an unknown outcome, because it was sent', async () => {
    const server = await switching();
    const transport = transportTo(`${server.origin}/v1`, { retries: 3, sleep: noWait().sleep });
    const write = { method: 'PATCH', path: '/teams/t', template: '/teams/{teamId}', body: '{}' };
    expect(await thrownBy(transport.request(write))).toBeInstanceOf(UnknownOutcomeError);
    expect(server.connections()).toBe(1);
  });
});

// --- parts ---

const first = 'first version';
const second = 'other version';
const half = 5;

/**
 * Sends half of the first version, then parts with these headers, then the complete second version.
 */
async function partly(version: Record<string, string>, part: Record<string, string>) {
  const begins: number[] = [];
  let text = '';
  let asked = 0;
  const service = await recordingService(({ headers }) => {
    asked += 1;
    if (asked === 1)
      return (_, response) => {
        response.writeHead(200, { ...version, 'content-length': first.length });
        response.write(first.slice(0, half), () => response.destroy());
      };
    if (headers['range'] === undefined) return { status: 200, text: second, headers: version };
    const range = `bytes ${half}-${first.length - 1}/${first.length}`;
    return {
      status: 206,
      text: second.slice(half),
      headers: { ...part, 'content-range': range },
    };
  });
  const store = storeFor(base);
  const sink: FileSink = {
    rewinds: true,
    async begin(at) {
      begins.push(at);
      text = text.slice(0, at);
    },
    async write(chunk) {
      text += Buffer.from(chunk).toString();
    },
  };
  await download(
    {
      link: async () => ({ kind: 'url', url: `${service.origin}/d`, expiresAt: undefined }),
      get: (url, of) => store.get(url, of),
      size: undefined,
      findSize: async () => undefined,
    },
    sink,
    {
      retries: 3,
      maxWaitMs: 60_000,
      random: () => 0,
      sleep: noWait().sleep,
      signal: new AbortController().signal,
    },
  );
  return { text, begins };
}

const etag = '"v1"';
const date = 'Sat, 21 Nov 2026 12:00:00 GMT';

describe('a part (206) of a file', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without the tag of the first answer', { etag }, {}],
    ['with another tag', { etag }, { etag: '"v2"' }],
    ['with a date where the first answer had a tag', { etag }, { 'last-modified': date }],
    ['without the date of the first answer', { 'last-modified': date }, {}],
    [
      'with another date',
      { 'last-modified': date },
      { 'last-modified': 'Sun, 22 Nov 2026 12:00:00 GMT' },
    ],
    ['of a store that never names a version', {}, {}],
    ['with a weak tag', { etag: 'W/"v1"' }, { etag: 'W/"v1"' }],
  ])('%s restarts the download', async (_, version, part) => {
    expect(await partly(version, part)).toEqual({ text: second, begins: [0, 0] });
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['with the same tag', { etag }, { etag }],
    ['with the same tag and no date any more', { etag, 'last-modified': date }, { etag }],
    ['with the same date', { 'last-modified': date }, { 'last-modified': date }],
  ])('%s continues the download', async (_, version, part) => {
    const glued = first.slice(0, half) + second.slice(half);
    expect(await partly(version, part)).toEqual({ text: glued, begins: [0, half] });
  });
});
