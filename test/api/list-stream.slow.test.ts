import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { endpoint } from '../../src/api/contract.js';
import { createDrift } from '../../src/api/drift.js';
import { listRecords } from '../../src/api/record-list.js';
import { routeOf } from '../../src/api/routes.js';
import type { JsonObject } from '../../src/data/json.js';
import { ageMs } from '../../src/data/time.js';
import { NetworkError, ProtocolError } from '../../src/errors.js';
import { organization, type Recorded, recordingService } from '../support/service.js';
import { apiTo, instant, later, noWait, thrownBy, transportTo } from './wiring.js';

const team = (index: number) => ({
  id: `team_${index}`,
  name: `Team ${index}`,
  note: 'x'.repeat(80),
});
const teams = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => team(from + index));
/** More than is buffered before the first record is passed on. */
const long = teams(1500);

async function collect(list: AsyncIterable<JsonObject>, into: JsonObject[] = []) {
  for await (const record of list) into.push(record);
  return into;
}

/** A service whose handler writes the raw response; requests count from 1. */
const writing = (write: (response: ServerResponse, count: number, request: Recorded) => void) => {
  let count = 0;
  return recordingService(() => (request, response) => {
    response.setHeader('content-type', 'application/json');
    write(response, ++count, request);
  });
};

/** A list with its own caps. */
function listTo(
  baseUrl: string,
  caps: { pages: number; records: number },
  route: Parameters<typeof listRecords>[1]['route'] = routeOf(endpoint('listTeams'), {}),
) {
  const heard: string[] = [];
  const hear = (text: string) => void heard.push(text);
  const notes = { note: hear, message: hear };
  const list = listRecords('teams', {
    route,
    baseUrl,
    organizationId: organization,
    transport: transportTo(baseUrl),
    overrides: {},
    drift: createDrift(notes, false),
    notes,
    strict: false,
    caps,
  });
  return { heard, list };
}

describe('a long list', () => {
  test.each<[string, (rows: unknown) => unknown, Record<string, string>]>([
    ['bare', (rows) => rows, {}],
    ['named after the resource', (rows) => ({ teams: rows, total: 1500 }), {}],
    ['behind other members', (rows) => ({ total: 1500, meta: { page: 1 }, data: rows }), {}],
    ['one level down', (rows) => ({ total: 1500, data: { teams: rows } }), {}],
    [
      'at a configured path',
      (rows) => ({ a: { b: rows }, teams: [] }),
      { 'lists.teams.path': 'a.b' },
    ],
    ['where only the whole tells', (rows) => ({ squads: rows, total: 1500 }), {}],
    ['in a deeper path', (rows) => ({ a: [{ b: rows }] }), { 'lists.teams.path': 'a.0.b' }],
  ])('%s arrives complete and in order', async (_, envelope, overrides) => {
    const service = await recordingService(() => ({ status: 200, json: envelope(long) }));
    const { api } = apiTo(service.baseUrl, { overrides });
    const list = api.list('teams');
    expect(await collect(list)).toEqual(long);
    expect(list.completeness()).toEqual({ state: 'complete' });
    expect(service.requests).toHaveLength(1);
  });

  test('arrives with its last byte, however late that is read', async () => {
    const service = await recordingService(() => ({ status: 200, json: long }));
    const list = apiTo(service.baseUrl, { instant }).api.list('teams');
    const records = list[Symbol.asyncIterator]();
    await records.next();
    expect(() => list.arrivedAt()).toThrow('before the list ended');
    await wait(1_000);
    while (!(await records.next()).done);
    expect(ageMs(list.arrivedAt(), instant())).toBeGreaterThan(200);
  });

  test('is asked for by its own route', async () => {
    const service = await recordingService(() => ({ status: 200, json: long }));
    const caps = { pages: 10, records: 10_000 };
    const route = { method: 'GET', template: '/clubs/squads', org: 'query' } as const;
    expect(await collect(listTo(service.baseUrl, caps, route).list)).toEqual(long);
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /v1/clubs/squads?organizationId=${organization}`,
    ]);
  });

  test('is passed on while the service is still writing', async () => {
    const text = JSON.stringify(long);
    const { promise: seen, resolve: tell } = later();
    const service = await writing((response) => {
      response.write(text.slice(0, -200));
      void seen.then(() => response.end(text.slice(-200)));
    });
    const records: JsonObject[] = [];
    for await (const record of apiTo(service.baseUrl).api.list('teams')) {
      records.push(record);
      tell();
    }
    expect(records).toEqual(long);
  });

  test('finds the next page in its envelope, before or after the records', async () => {
    const pages = [
      (rows: unknown) => ({ next: 'b', teams: rows }),
      (rows: unknown) => ({ teams: rows, next: null }),
    ];
    const service = await recordingService(({ url }) => {
      const at = url.includes('cursor=b') ? 1 : 0;
      return { status: 200, json: pages[at]?.(teams(1500, at * 1500)) };
    });
    const list = apiTo(service.baseUrl).api.list('teams');
    expect(await collect(list)).toHaveLength(3000);
    expect(list.completeness()).toEqual({ state: 'complete' });
  });

  test('that reports more records than it sent is reported as incomplete', async () => {
    const service = await recordingService(() => ({
      status: 200,
      json: { teams: long, total: 2000 },
    }));
    const { api, heard } = apiTo(service.baseUrl);
    const list = api.list('teams');
    await collect(list);
    expect(list.completeness()).toMatchObject({ state: 'doubtful' });
    expect(heard.notes.join()).toContain('2,000 records but sent 1,500');
  });

  test('that is not read to its end closes the connection', async () => {
    const { promise: closed, resolve } = later();
    const service = await writing((response) => {
      response.write(JSON.stringify(long).slice(0, -1));
      response.on('close', () => resolve());
    });
    for await (const record of apiTo(service.baseUrl).api.list('teams')) {
      expect(record['id']).toBe('team_0');
      break;
    }
    await closed;
  });

  test('may be larger than the limit of one value, and the reader sets the pace', async () => {
    const part = JSON.stringify(teams(1000)).slice(1, -1);
    let written = 0;
    const service = await writing((response) => {
      const pump = async () => {
        response.write('[');
        for (let index = 0; index < 700 && !response.destroyed; index++) {
          if (!response.write(index === 0 ? part : `,${part}`)) await once(response, 'drain');
          written += part.length;
        }
        response.end(']');
      };
      pump().catch(() => undefined);
    });
    let count = 0;
    let writtenAtFirst = 0;
    for await (const record of apiTo(service.baseUrl).api.list('teams')) {
      if (count++ > 0) continue;
      expect(record['id']).toBe('team_0');
      await new Promise((resolve) => setTimeout(resolve, 200));
      writtenAtFirst = written;
    }
    expect(written).toBeGreaterThan(64 * 1024 * 1024);
    expect(writtenAtFirst).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('a list that breaks', () => {
  const text = JSON.stringify(long);

  test('before its first record was passed on is requested again', async () => {
    const service = await writing((response, count) => {
      if (count < 3) response.write(text.slice(0, 20_000), () => response.destroy());
      else response.end(text);
    });
    const { waits, sleep } = noWait();
    const { api } = apiTo(service.baseUrl, { retries: 3, sleep });
    expect(await collect(api.list('teams'))).toEqual(long);
    expect(service.requests).toHaveLength(3);
    expect(waits).toHaveLength(2);
  });

  test.each([
    ['cut', (response: ServerResponse) => response.destroy()],
    ['standing still', () => undefined],
  ])('%s after that is an error that says so, not a shorter list', async (_, spoil) => {
    const service = await writing((response) => {
      response.write(text.slice(0, -300), () => setImmediate(() => spoil(response)));
    });
    const records: JsonObject[] = [];
    const { sleep } = noWait();
    const { api } = apiTo(service.baseUrl, { retries: 3, sleep, bounds: { quietMs: 1_000 } });
    const list = api.list('teams');
    const error = await thrownBy(collect(list, records));
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as NetworkError).message).toContain('Only part of the list arrived.');
    expect((error as NetworkError).exitName).toBe('temporary');
    expect(records.length).toBeGreaterThan(100);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    expect(service.requests).toHaveLength(4);
    expect(() => list.completeness()).toThrow('before the list ended');
  });

  test('after that is requested again once, without repeated or missing records', async () => {
    const service = await writing((response, count) => {
      if (count === 1) response.write(text.slice(0, -300), () => response.destroy());
      else response.end(text);
    });
    const { waits, sleep } = noWait();
    const { api } = apiTo(service.baseUrl, { retries: 3, sleep });
    const list = api.list('teams');
    expect(await collect(list)).toEqual(long);
    expect(list.completeness()).toEqual({ state: 'complete' });
    expect(waits).toHaveLength(1);
  });

  test.each([
    ['ends early though its length fits', text.slice(0, -40), 'in the middle'],
    ['holds something else', `${text.slice(0, -1)},7]`, 'something other than records'],
    ['stops being JSON', `${text.slice(0, -1)},{"a":}]`, 'stops being JSON'],
    ['is followed by something', `${text} and so on`, 'not JSON'],
  ])('%s: a protocol error', async (_, body, words) => {
    const service = await recordingService(() => ({ status: 200, text: body }));
    const error = await thrownBy(collect(apiTo(service.baseUrl).api.list('teams')));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as ProtocolError).message).toContain(words);
  });

  test('two lists of the same resource are never silently mixed up', async () => {
    const service = await recordingService(() => ({
      status: 200,
      json: { data: long, teams: teams(3) },
    }));
    const error = await thrownBy(collect(apiTo(service.baseUrl).api.list('teams')));
    expect((error as ProtocolError).message).toContain('more than one list');
    expect((error as ProtocolError).hint).toContain('rosterctl doctor --shapes --apply');
    const small = await recordingService(() => ({
      status: 200,
      json: { data: teams(5), teams: teams(3) },
    }));
    expect(await collect(apiTo(small.baseUrl).api.list('teams'))).toEqual(teams(3));
  });

  test('an error after a list makes it possibly incomplete', async () => {
    const service = await recordingService(() => ({
      status: 200,
      json: { teams: long, success: false, error: 'half' },
    }));
    const list = apiTo(service.baseUrl).api.list('teams');
    expect(await collect(list)).toEqual(long);
    expect(list.completeness()).toMatchObject({
      state: 'doubtful',
      reason: expect.stringContaining('half'),
    });
  });

  test('a slow drip ends at the deadline while nothing was passed on', async () => {
    const service = await writing((response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    const { api } = apiTo(service.baseUrl, { bounds: { attemptMs: 300, quietMs: 5000 } });
    const error = await thrownBy(collect(api.list('teams')));
    expect((error as NetworkError).details.reason).toBe('timeout');
  });

  test('an endless record is cut off after the records before it', async () => {
    const block = 'x'.repeat(1024 * 1024);
    let written = 0;
    const service = await writing((response) => {
      response.write(`${JSON.stringify(long).slice(0, -1)},{"id":"endless","note":"`);
      const pump = async () => {
        while (!response.destroyed) {
          if (!response.write(block)) await once(response, 'drain');
          written++;
        }
      };
      pump().catch(() => undefined);
    });
    const got: JsonObject[] = [];
    const error = await thrownBy(collect(apiTo(service.baseUrl).api.list('teams'), got));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as ProtocolError).message).toContain('has a part that is larger than 64 MiB');
    expect(got).toEqual(long);
    expect(written).toBeLessThan(80);
  });

  test('a record nested too deep is reported as such, also in a list of one', async () => {
    const deep = `{"id":"deep","x":${'['.repeat(300)}${']'.repeat(300)}}`;
    const list = `${JSON.stringify(long).slice(0, -1)},${deep}]`;
    const service = await recordingService(() => ({ status: 200, text: list }));
    const error = await thrownBy(collect(apiTo(service.baseUrl).api.list('teams')));
    expect((error as ProtocolError).message).toMatch(
      /holds a record nested more than 200 levels deep/,
    );
    const short = await recordingService(() => ({ status: 200, text: `[${deep}]` }));
    const other = await thrownBy(collect(apiTo(short.baseUrl).api.list('teams')));
    expect((other as ProtocolError).message).toMatch(/is JSON nested more than 200 levels deep/);
    expect(short.requests).toHaveLength(1);
  });

  test('more than 16 KiB of headers are refused, on a later page too', async () => {
    const pad = { 'x-pad': 'x'.repeat(20_000) };
    const service = await recordingService((request) =>
      request.url.includes('cursor=')
        ? { status: 200, headers: pad, json: { teams: teams(1, 5000) } }
        : { status: 200, json: { teams: long, nextCursor: 'b' } },
    );
    const got: JsonObject[] = [];
    const error = await thrownBy(collect(apiTo(service.baseUrl).api.list('teams'), got));
    expect((error as Error).message).toContain('16 KiB of headers');
    expect(got).toEqual(long);
  });

  test.each([
    ['pages', { pages: 3, records: 1e6 }, 3 * 40, 3],
    ['records', { pages: 1e6, records: 100 }, 3 * 40, 3],
  ])(
    'an endless list is cut off after so many %s, and a note says so',
    async (_, caps, count, requests) => {
      let page = 0;
      const service = await recordingService(() => ({
        status: 200,
        json: { teams: teams(40, page++ * 40), nextCursor: String(page) },
      }));
      const { heard, list } = listTo(service.baseUrl, caps);
      expect(await collect(list)).toHaveLength(count);
      expect(service.requests).toHaveLength(requests);
      const reason = 'the list does not end';
      expect(list.completeness()).toEqual({ state: 'doubtful', reason, isLed: true });
      expect(heard).toEqual(['The list of teams may be incomplete: the list does not end.']);
    },
  );

  test('an endless response without a list is cut off', async () => {
    const block = `"${'x'.repeat(1024 * 1024)}",`;
    const service = await writing((response) => {
      response.write('{"a":[');
      const pump = async () => {
        while (!response.destroyed) {
          if (!response.write(block)) await once(response, 'drain');
        }
      };
      pump().catch(() => undefined);
    });
    const error = await thrownBy(collect(apiTo(service.baseUrl).api.list('teams')));
    expect((error as ProtocolError).message).toContain('64 MiB');
  });
});

describe('a read whose response is not JSON', () => {
  test.each([
    ['text', { text: 'ok' }],
    ['half of it', { text: '{"id":"team_1"' }],
    ['nothing', {}],
  ])('%s is retried once', async (_, reply) => {
    let count = 0;
    const service = await recordingService(() =>
      ++count === 1 ? { status: 200, ...reply } : { status: 200, json: { id: 'team_1' } },
    );
    const { waits, sleep } = noWait();
    const { api } = apiTo(service.baseUrl, { retries: 3, sleep });
    const call = { endpoint: 'getTeam', params: { teamId: 'team_1' } } as const;
    expect((await api.record(call)).record).toEqual({ id: 'team_1' });
    expect(waits).toEqual([1000]);
  });

  test('and then fails, also for a list', async () => {
    const service = await recordingService(() => ({ status: 200, text: 'ok' }));
    const { sleep } = noWait();
    const { api } = apiTo(service.baseUrl, { retries: 3, sleep });
    const call = { endpoint: 'getTeam', params: { teamId: 'team_1' } } as const;
    expect(await thrownBy(api.record(call))).toBeInstanceOf(ProtocolError);
    expect(service.requests).toHaveLength(2);
    expect(await thrownBy(collect(api.list('teams')))).toBeInstanceOf(ProtocolError);
    expect(service.requests).toHaveLength(4);
  });

  test('an HTML page means a wrong address and fails at once', async () => {
    const service = await recordingService(() => ({ status: 200, text: '<!doctype html><p>x' }));
    const { api } = apiTo(service.baseUrl, { retries: 3 });
    expect(await thrownBy(collect(api.list('teams')))).toBeInstanceOf(ProtocolError);
    expect(service.requests).toHaveLength(1);
  });

  test.each(['ok', '{"id":'])(
    'a write answered with %s is never sent again for it',
    async (text) => {
      const service = await recordingService(() => ({ status: 200, text }));
      const { api } = apiTo(service.baseUrl, { retries: 3 });
      const call = { endpoint: 'updateTryout', params: { applicationId: 'a' }, body: {} } as const;
      // Only JSON that was cut off leaves doubt.
      await Promise.allSettled([api.send(call)]);
      expect(service.requests).toHaveLength(1);
    },
  );
});

test('a 429 waits for the time in its body', async () => {
  let count = 0;
  const service = await recordingService(() =>
    ++count === 1
      ? { status: 429, json: { error: 'rateLimited', retry_after: 1.5 } }
      : { status: 200, json: teams(1) },
  );
  const { waits, sleep } = noWait();
  await collect(apiTo(service.baseUrl, { retries: 1, sleep }).api.list('teams'));
  expect(waits[0]).toBeGreaterThanOrEqual(1500);
  expect(waits[0]).toBeLessThan(2000);
});
