import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  BugError,
  CancelledError,
  ConfigError,
  NetworkError,
  ProtocolError,
  UnknownOutcomeError,
  UsageError,
} from '../../src/errors.js';
import { key, recordingService } from '../support/service.js';
import { tcpService } from '../support/tcp.js';
import { noWait, realLimiter, thrownBy, transportTo } from './wiring.js';

const get = { method: 'GET', path: '/teams/org_7', template: '/teams/{organizationId}' };
const patch = {
  method: 'PATCH',
  path: '/tryout-applications/app_1',
  template: '/tryout-applications/{applicationId}',
  body: '{"organizationId":"org_7"}',
};
const post = { method: 'POST', path: '/teams', template: '/teams', body: '{}' };
const remove = { method: 'DELETE', path: '/teams/t', template: '/teams/{teamId}' };
const grant = {
  method: 'POST',
  path: '/uploads/document-file',
  template: '/uploads/document-file',
  body: '{}',
};

/** A service that writes raw bytes, including invalid HTTP. */
async function rawService(onConnection: (socket: Socket, count: number) => void) {
  const service = await tcpService(onConnection, { allowHalfOpen: true });
  return { ...service, baseUrl: `${service.origin}/v1` };
}

/** Runs when the complete headers of a request have arrived. */
function onRequest(socket: Socket, then: () => void) {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    if (text.includes('\r\n\r\n')) then();
  });
}

const answer = (body: string, head = '') =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${head}\r\n${body}`;

describe('what is sent', () => {
  test('a read carries exactly these headers', async () => {
    const service = await recordingService(() => ({ status: 200, json: [] }));
    await transportTo(service.baseUrl).request(get);
    const [request] = service.requests;
    expect(request?.url).toBe('/v1/teams/org_7');
    expect(request?.headers).toEqual({
      host: service.origin.slice('http://'.length),
      connection: 'keep-alive',
      accept: 'application/json',
      'cache-control': 'no-cache',
      'user-agent': 'rosterctl/test',
      'x-api-key': key,
    });
  });

  test('a write also carries a content type and its length', async () => {
    const service = await recordingService(() => ({ status: 200, json: {} }));
    await transportTo(service.baseUrl).request(patch);
    expect(service.requests[0]?.headers).toEqual({
      host: service.origin.slice('http://'.length),
      connection: 'keep-alive',
      accept: 'application/json',
      'cache-control': 'no-cache',
      'user-agent': 'rosterctl/test',
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': '26',
    });
  });

  test('a POST that must not happen twice gets its own connection', async () => {
    const ports: (number | undefined)[] = [];
    const service = await recordingService(() => (_, response) => {
      ports.push(response.socket?.remotePort);
      response.writeHead(200).end('{}');
    });
    const transport = transportTo(service.baseUrl);
    for (const request of [get, post, get, post]) await transport.request(request);
    expect(ports[0]).toBe(ports[2]);
    expect(new Set(ports).size).toBe(3);
  });

  test.each(['teams', '/a b', '/../teams', '/x/%2E%2e/teams', '/a#b', '/é', '/a\\b', '/a\r\nx: y'])(
    'the path %j is refused before anything is sent',
    async (path) => {
      const service = await recordingService(() => ({ status: 200, json: {} }));
      const error = await thrownBy(transportTo(service.baseUrl).request({ ...get, path }));
      expect(error).toBeInstanceOf(UsageError);
      expect(service.requests).toHaveLength(0);
    },
  );

  test('a key that no header can carry is refused without being shown', () => {
    const bad = { baseUrl: 'https://example.com/v1', key: 'secret\nvalue' };
    expect(() => transportTo(bad.baseUrl, { connection: bad })).toThrow(ConfigError);
    expect(() => transportTo(bad.baseUrl, { connection: bad })).toThrow(/^(?!.*secret)/);
  });

  test('where only reads are allowed, every request that is not a GET is refused', async () => {
    const service = await recordingService(() => ({ status: 200, json: {} }));
    const transport = transportTo(service.baseUrl, { readsOnly: true });
    await transport.request(get);
    for (const request of [patch, post, remove])
      expect(await thrownBy(transport.request(request))).toBeInstanceOf(BugError);
    expect(service.requests).toHaveLength(1);
  });

  test('the trace names no query, no body and no key', async () => {
    const lines: string[] = [];
    const service = await recordingService(() => ({
      status: 200,
      json: { secret: 'body-canary' },
    }));
    const transport = transportTo(service.baseUrl, { trace: (line) => lines.push(line) });
    await transport.request({ ...get, path: '/teams/org_7?token=query-canary' });
    await transport.request({ ...patch, body: '{"n":"sent-canary"}' });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^GET \/v1\/teams\/org_7 \(.*x-api-key\) -> 200 \(.*, 24 B\) \d+ ms$/);
    expect(lines.join()).not.toMatch(new RegExp(`canary|${key}`));
  });
});

describe('redirects', () => {
  const statuses = [301, 302, 303, 307, 308];
  const requests = [get, patch, post, remove];
  const cells = statuses.flatMap((status) => requests.map((request) => ({ status, request })));
  test.each(cells)(
    'a $status response to $request.method is an error and no other server gets the key',
    async ({ status, request }) => {
      const foreign = await recordingService(() => ({ status: 200, json: {} }));
      const location = `${foreign.origin}/v1/steal?secret=1`;
      const service = await recordingService(() => ({ status, headers: { location } }));
      const error = await thrownBy(transportTo(service.baseUrl, { retries: 3 }).request(request));
      // A 301 to 303 may follow a write that was processed.
      const isOpen = status < 304 && request.method !== 'GET';
      expect(error).toBeInstanceOf(isOpen ? UnknownOutcomeError : ProtocolError);
      if (isOpen) expect(error).toMatchObject({ delivery: 'ambiguous' });
      expect((error as Error).message).toContain(foreign.origin);
      expect((error as Error).message).not.toContain('steal');
      expect(service.requests).toHaveLength(1);
      expect(foreign.requests).toHaveLength(0);
    },
  );

  test('a redirect to the same origin is not followed either', async () => {
    const service = await recordingService(() => ({
      status: 308,
      headers: { location: '/v1/elsewhere' },
    }));
    expect(await thrownBy(transportTo(service.baseUrl).request(get))).toBeInstanceOf(ProtocolError);
    expect(service.requests).toHaveLength(1);
  });

  test('a redirect that is valid data is returned', async () => {
    const service = await recordingService(() => ({ status: 302, headers: { location: '/x' } }));
    const response = await transportTo(service.baseUrl).request({ ...get, redirectIsData: true });
    expect(response.status).toBe(302);
    expect(response.headers['location']).toBe('/x');
    expect(service.requests).toHaveLength(1);
  });
});

describe('how far a failed write got', () => {
  test('refused: nothing was sent', async () => {
    const service = await recordingService(() => ({ status: 200 }));
    await service.close();
    const error = await thrownBy(transportTo(service.baseUrl).request(post));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ details: { delivery: 'not-sent', reason: 'refused' } });
  });

  test('closed after the request: unknown', async () => {
    const service = await rawService((socket) => onRequest(socket, () => socket.end()));
    const error = await thrownBy(transportTo(service.baseUrl, { retries: 3 }).request(post));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({ delivery: 'ambiguous' });
    expect(service.connections()).toBe(1);
  });

  test('reset after the request: unknown', async () => {
    const service = await rawService((socket) => onRequest(socket, () => socket.resetAndDestroy()));
    const error = await thrownBy(transportTo(service.baseUrl, { retries: 3 }).request(patch));
    expect(error).toMatchObject({ name: 'UnknownOutcomeError', delivery: 'ambiguous' });
    expect(service.connections()).toBe(1);
  });

  test('headers that never come: unknown, at the deadline', async () => {
    const service = await rawService(() => undefined);
    const transport = transportTo(service.baseUrl, { timeoutMs: 150, retries: 3 });
    const error = await thrownBy(transport.request(patch));
    expect(error).toMatchObject({ name: 'UnknownOutcomeError', delivery: 'ambiguous' });
    expect((error as Error).message).toContain('0.15 s');
  });

  test('a body cut off after 200: applied, never sent again', async () => {
    const service = await rawService((socket) =>
      onRequest(socket, () => socket.end(answer('{"id"', 'content-length: 50\r\n'))),
    );
    const error = await thrownBy(transportTo(service.baseUrl, { retries: 3 }).request(patch));
    expect(error).toMatchObject({ name: 'UnknownOutcomeError', delivery: 'applied' });
    expect(service.connections()).toBe(1);
  });

  test('a server error marks the outcome as unknown', async () => {
    const service = await recordingService(() => ({ status: 500, json: { error: 'busy' } }));
    const transport = transportTo(service.baseUrl, { retries: 3 });
    expect(await transport.request(patch)).toMatchObject({ status: 500, outcomeUnknown: true });
    expect(service.requests).toHaveLength(1);
  });

  test('a refusal whose body is cut off stays a refusal', async () => {
    const service = await rawService((socket) =>
      onRequest(socket, () =>
        socket.end('HTTP/1.1 409 Conflict\r\ncontent-length: 100\r\n\r\n{"error"'),
      ),
    );
    const response = await transportTo(service.baseUrl).request(patch);
    expect(response.status).toBe(409);
    expect(response.outcomeUnknown).toBeUndefined();
  });

  test('an idle connection that the server closed is not mistaken for a lost request', async () => {
    const service = await recordingService(() => (_, response) => {
      response.writeHead(200).end('{}');
      response.socket?.destroySoon();
    });
    const transport = transportTo(service.baseUrl);
    await transport.request(patch);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await transport.request(patch);
    expect(service.requests).toHaveLength(2);
  });
});

describe('invalid responses', () => {
  test.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a header block above 16 KiB', answer('{}', `x: ${'a'.repeat(20_000)}\r\n`)],
    ['a content encoding nobody asked for', answer('xx', 'content-encoding: gzip\r\n')],
    ['two lengths', answer('{}', 'content-length: 2\r\ncontent-length: 3\r\n')],
    ['a body where none is due', 'HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\nhello'],
  ])('%s is a protocol error at once', async (_, bytes) => {
    const service = await rawService((socket) => onRequest(socket, () => socket.write(bytes)));
    const transport = transportTo(service.baseUrl, { retries: 3, sleep: noWait().sleep });
    expect(await thrownBy(transport.request(get))).toBeInstanceOf(ProtocolError);
    expect(service.connections()).toBe(1);
  });

  test('after a response that is not HTTP the hint is to check the base URL', async () => {
    const service = await rawService((socket) =>
      onRequest(socket, () => socket.write('SSH-2.0\r\n')),
    );
    expect(await thrownBy(transportTo(service.baseUrl).request(get))).toMatchObject({
      hint: 'Check the base URL: rosterctl auth status',
    });
  });

  test('an interim response is not the response', async () => {
    const service = await rawService((socket) =>
      onRequest(socket, () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
        setTimeout(() => socket.end(answer('[]', 'content-length: 2\r\n')), 20);
      }),
    );
    expect(await transportTo(service.baseUrl).request(get)).toMatchObject({ status: 200 });
    const begun = transportTo(service.baseUrl).stream(get, async ({ status }) => ({
      value: status,
    }));
    expect(await begun).toEqual({ begun: 200 });
  });

  test('a body above the cap is refused, not held in memory', async () => {
    const service = await recordingService(() => ({ status: 200, text: 'x'.repeat(5000) }));
    const transport = transportTo(service.baseUrl, { bounds: { bodyBytes: 4096 } });
    expect(await thrownBy(transport.request(get))).toBeInstanceOf(ProtocolError);
  });

  test('an endlessly dripping body ends at the deadline of the attempt', async () => {
    const service = await rawService((socket) =>
      onRequest(socket, () => {
        socket.write(answer('', 'content-length: 100000\r\n'));
        const drip = setInterval(() => socket.write(' '), 20);
        socket.on('close', () => clearInterval(drip));
      }),
    );
    const transport = transportTo(service.baseUrl, { bounds: { attemptMs: 200 } });
    expect(await thrownBy(transport.request(get))).toMatchObject({
      name: 'NetworkError',
      kind: 'timeout',
    });
  });
});

const always = (status: number) => recordingService(() => ({ status, json: { error: 'busy' } }));

describe('retries', () => {
  test.each([
    { what: 'a read after 503', request: get, status: 503, sent: 4 },
    { what: 'a read after 408', request: get, status: 408, sent: 4 },
    { what: 'a delete after 500', request: remove, status: 500, sent: 1 },
    { what: 'a delete after 429', request: remove, status: 429, sent: 4 },
    { what: 'an upload grant after 502', request: grant, status: 502, sent: 4 },
    { what: 'a PATCH after 429', request: patch, status: 429, sent: 4 },
    { what: 'a POST after 429', request: post, status: 429, sent: 4 },
    { what: 'a PATCH after 500', request: patch, status: 500, sent: 1 },
    { what: 'a POST after 504', request: post, status: 504, sent: 1 },
    { what: 'a read after 404', request: get, status: 404, sent: 1 },
    { what: 'a PATCH after 409', request: patch, status: 409, sent: 1 },
    { what: 'a read after 501', request: get, status: 501, sent: 1 },
    { what: 'a read after 401', request: get, status: 401, sent: 1 },
  ])('$what: $sent requests', async ({ request, status, sent }) => {
    const service = await always(status);
    const transport = transportTo(service.baseUrl, { retries: 3, sleep: noWait().sleep });
    expect((await transport.request(request)).status).toBe(status);
    expect(service.requests).toHaveLength(sent);
  });

  test.each([
    ['a read', get],
    ['an upload grant', grant],
  ])('a body that ends early with its connection is asked for again: %s', async (_, request) => {
    const service = await rawService((socket, count) =>
      onRequest(socket, () => {
        const length = count === 1 ? 50 : 2;
        socket.end(answer('{}', `connection: close\r\ncontent-length: ${length}\r\n`));
      }),
    );
    const transport = transportTo(service.baseUrl, { retries: 3, sleep: noWait().sleep });
    expect(await transport.request(request)).toMatchObject({ status: 200 });
    expect(service.connections()).toBe(2);
  });

  test('with no retries every call is sent once', async () => {
    const service = await always(503);
    await transportTo(service.baseUrl, { retries: 0 }).request(get);
    expect(service.requests).toHaveLength(1);
  });

  test('a refused connection is retried for a POST too', async () => {
    const service = await recordingService(() => ({ status: 200 }));
    await service.close();
    const { waits, sleep } = noWait();
    const transport = transportTo(service.baseUrl, { retries: 3, sleep });
    const error = await thrownBy(transport.request(post));
    expect((error as Error).message).toContain('4 attempts');
    expect(waits).toEqual([250, 500, 1000]);
  });

  test('a delete with a lost response is not sent again', async () => {
    const service = await rawService((socket) => onRequest(socket, () => socket.destroy()));
    const transport = transportTo(service.baseUrl, { retries: 3, sleep: noWait().sleep });
    expect(await thrownBy(transport.request(remove))).toBeInstanceOf(UnknownOutcomeError);
    expect(service.connections()).toBe(1);
  });

  test('a requested wait is observed in full', async () => {
    let count = 0;
    const service = await recordingService(() =>
      ++count === 1 ? { status: 429, headers: { 'retry-after': '7' } } : { status: 200, json: [] },
    );
    const { waits, sleep } = noWait();
    await transportTo(service.baseUrl, { retries: 3, sleep }).request(get);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(7000);
  });

  test('a requested wait above the budget ends the call at once and is reported', async () => {
    const service = await recordingService(() => ({
      status: 429,
      headers: { 'retry-after': '86400' },
      json: { error: 'rateLimited' },
    }));
    const { waits, sleep } = noWait();
    const transport = transportTo(service.baseUrl, { retries: 3, sleep });
    expect(await transport.request(patch)).toMatchObject({ status: 429, retryAfter: 86_400 });
    expect(waits).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ['a read', get, 2],
    ['an upload grant', grant, 2],
    ['a write, which may have taken effect', patch, 1],
  ])('a success that is cut off JSON is asked for once more: %s', async (_, request, sent) => {
    const service = await recordingService(() => ({ status: 200, text: '{"key":"documents/or' }));
    const { waits, sleep } = noWait();
    const transport = transportTo(service.baseUrl, { retries: 3, sleep });
    expect(await transport.request({ ...request, needsJson: true })).toMatchObject({ status: 200 });
    expect([service.requests.length, waits.length]).toEqual([sent, sent - 1]);
  });

  test.each([
    [200, 2],
    [204, 1],
  ])('an empty %i to a read that needs JSON: %i requests', async (status, sent) => {
    const service = await recordingService(() => ({ status }));
    const transport = transportTo(service.baseUrl, { retries: 3, sleep: noWait().sleep });
    expect(await transport.request({ ...get, needsJson: true })).toMatchObject({ status });
    expect(service.requests).toHaveLength(sent);
  });

  test.each([
    ['left', '5', false],
    ['left no longer', '0', true],
  ])(
    'a run pauses after a success for as long as the limit lasts only if requests are %s',
    async (_, left, isHeld) => {
      const headers = { 'x-ratelimit-remaining': left, 'x-ratelimit-reset-after': '30' };
      const service = await recordingService(() => ({ status: 200, json: [], headers }));
      const limiters = [realLimiter(), realLimiter()] as const;
      for (const limiter of limiters) limiter.limit({ rate: undefined });
      const [one, other] = limiters.map((limiter) => transportTo(service.baseUrl, { limiter }));
      await one?.request(get);
      await other?.stream(get, async ({ stream }) => ({ value: await stream.next() }));
      expect(limiters.map((limiter) => limiter.heldMs > 0)).toEqual([isHeld, isHeld]);
    },
  );

  test('an interrupt ends a wait and a request', async () => {
    const stop = new AbortController();
    const service = await rawService((socket) => onRequest(socket, () => stop.abort()));
    const transport = transportTo(service.baseUrl, { retries: 3, signal: stop.signal });
    expect(await thrownBy(transport.request(get))).toBeInstanceOf(CancelledError);
    expect(service.connections()).toBe(1);
  });

  test('an interrupted write that was sent has an unknown outcome', async () => {
    const stop = new AbortController();
    const service = await rawService((socket) => onRequest(socket, () => stop.abort()));
    const transport = transportTo(service.baseUrl, { retries: 3, signal: stop.signal });
    expect(await thrownBy(transport.request(patch))).toBeInstanceOf(UnknownOutcomeError);
  });
});

test('only a server that has not answered in HTTP yet may be meant to be https', async () => {
  const service = await rawService((socket, count) =>
    onRequest(socket, () => (count === 2 ? socket.end(answer('[]')) : socket.destroy())),
  );
  const transport = transportTo(service.baseUrl, { retries: 0 });
  const hintOf = async () => {
    const error = await thrownBy(transport.request(get));
    return error instanceof NetworkError ? error.hint : error;
  };
  expect(await hintOf()).toBe('Is the base URL meant to be https?');
  await transport.request(get);
  expect(await hintOf()).toBeUndefined();
});
