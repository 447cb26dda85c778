import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/api/types.js';
import { exceedsRetryBudget } from '../../src/data/outcome-errors.js';
import {
  ApiError,
  BugError,
  CancelledError,
  NetworkError,
  StaleReadError,
  UnknownOutcomeError,
} from '../../src/errors.js';
import { type Reply, recordingService } from '../support/service.js';
import { apiTo, noWait, realLimiter, thrownBy } from './wiring.js';

const patch: Call = {
  endpoint: 'updateTryout',
  params: { applicationId: 'app_1' },
  body: { status: 'reviewing' },
};
const remove: Call = { endpoint: 'deleteTeam', params: { teamId: 'team_1' } };
const create: Call = { endpoint: 'createTeam', body: { name: 'A' } };
const fresh = () => true;
const lost: Reply = (_, response) => void response.destroy();
const answered = { id: 'app_1', status: 'reviewing' };

/** A service, and a client with three retries. */
async function calling(answer: Reply) {
  const service = await recordingService(() => answer);
  const { waits, sleep } = noWait();
  const limiter = realLimiter();
  limiter.limit({ rate: undefined });
  const { api } = apiTo(service.baseUrl, { retries: 3, sleep, limiter });
  return { service, api, waits, limiter };
}

describe('a write is sent exactly once', () => {
  test('and returns its response with the time it arrived', async () => {
    const { api, service } = await calling({ status: 200, json: answered });
    expect(await api.sendOnce(patch, fresh)).toMatchObject({
      status: 200,
      body: answered,
      at: { mono: expect.any(Number), wall: expect.any(Number) },
    });
    expect(service.requests).toHaveLength(1);
  });

  test.each<[string, Reply, object]>([
    ['a refusal', { status: 409, json: { error: 'taken' } }, { status: 409, code: 'taken' }],
    ['a 429', { status: 429 }, { status: 429, details: { wait: undefined } }],
    ['a server error', { status: 503 }, { delivery: 'ambiguous', wait: 0 }],
    ['a 408', { status: 408 }, { delivery: 'ambiguous' }],
    ['a lost answer', lost, { delivery: 'ambiguous' }],
    ['an unreadable body', { status: 200, text: '{"id":' }, { delivery: 'applied' }],
  ])('also after %s', async (_, answer, error) => {
    for (const call of [patch, create]) {
      const { api, service, waits } = await calling(answer);
      const thrown = await thrownBy(api.sendOnce(call, fresh));
      expect(thrown).toBeInstanceOf('status' in error ? ApiError : UnknownOutcomeError);
      expect(thrown).toMatchObject(error);
      expect(service.requests).toHaveLength(1);
      expect(waits).toEqual([]);
    }
  });

  test('also a delete, whose 404 is a refusal', async () => {
    const { api, service } = await calling({ status: 404, json: { error: 'notFound' } });
    expect(await thrownBy(api.sendOnce(remove, fresh))).toMatchObject({ exitName: 'notFound' });
    expect(service.requests).toHaveLength(1);
  });

  test('without a connection, nothing was sent', async () => {
    const { api, service, waits } = await calling({ status: 200 });
    await service.close();
    const error = await thrownBy(api.sendOnce(patch, fresh));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ details: { delivery: 'not-sent' } });
    expect(waits).toEqual([]);
  });

  test('a POST uses its own connection', async () => {
    const { api, service } = await calling({ status: 200, json: answered });
    await api.sendOnce(patch, fresh);
    await api.sendOnce(create, fresh);
    await api.sendOnce(patch, fresh);
    const [first, second, third] = service.requests.map(({ port }) => port);
    expect(first).toBe(third);
    expect(second).not.toBe(first);
  });

  test('a write after a lost one uses its own connection, too', async () => {
    const connections = new Set<number | undefined>();
    const service = await recordingService(({ method, port }) => {
      const isReused = connections.size === connections.add(port).size;
      return method === 'PATCH' && isReused ? lost : { status: 200, json: answered };
    });
    const { api } = apiTo(service.baseUrl, { retries: 3 });
    const get: Call = { endpoint: 'getTryout', params: { applicationId: 'app_1' } };
    const readAtLeisure = async () => {
      await api.send(get);
      // undici takes a connection as free only after the answer was handed over.
      await nextTurn();
    };
    await readAtLeisure();
    expect(await thrownBy(api.sendOnce(patch, fresh))).toBeInstanceOf(UnknownOutcomeError);
    await readAtLeisure();
    expect(await api.sendOnce(patch, fresh)).toMatchObject({ status: 200 });
  });

  test('where only reads are allowed, it is refused', async () => {
    const service = await recordingService(() => ({ status: 200, json: answered }));
    const { api } = apiTo(service.baseUrl, { readsOnly: true });
    expect(await thrownBy(api.sendOnce(patch, fresh))).toBeInstanceOf(BugError);
    expect(service.requests).toHaveLength(0);
  });
});

const asking = (status: number, seconds: string) =>
  calling({ status, headers: { 'retry-after': seconds }, json: {} });

describe('the wait that an answer asks for', () => {
  test('is reported with the error', async () => {
    const { api } = await asking(429, '7');
    const error = await thrownBy(api.sendOnce(patch, fresh));
    expect(error).toMatchObject({ details: { wait: 7, retryAfter: undefined } });
    expect(exceedsRetryBudget(error)).toBe(false);
  });

  test('is reported with an unknown outcome', async () => {
    const { api } = await asking(503, '7');
    expect(await thrownBy(api.sendOnce(patch, fresh))).toMatchObject({ wait: 7 });
  });

  test.each([429, 503])('is marked if it is longer than --max-wait (%i)', async (status) => {
    const { api } = await asking(status, '61');
    const error = await thrownBy(api.sendOnce(patch, fresh));
    expect(exceedsRetryBudget(error)).toBe(true);
    const refusal = error instanceof UnknownOutcomeError ? error.cause : error;
    expect(refusal).toMatchObject({ details: { wait: 61, retryAfter: 61 } });
  });
});

describe('a record that was read too long ago', () => {
  test('is not written to: nothing is sent', async () => {
    const { api, service } = await calling({ status: 200, json: answered });
    const error = await thrownBy(api.sendOnce(patch, () => false));
    expect(error).toBeInstanceOf(StaleReadError);
    expect(error).toMatchObject({ code: 'stale', exitName: 'temporary' });
    expect(service.requests).toHaveLength(0);
  });

  test('is checked after the wait for a permit, not before', async () => {
    const { api, service, limiter } = await calling({ status: 200, json: answered });
    limiter.onResponse(200, 0.3);
    let heldMs: number | undefined;
    await api.sendOnce(patch, () => {
      heldMs = limiter.heldMs;
      return true;
    });
    expect(heldMs).toBe(0);
    expect(service.requests).toHaveLength(1);
  });

  test('is any record of a write that a pause delayed by more than a second', async () => {
    const { api, service, limiter } = await calling({ status: 200, json: answered });
    limiter.onResponse(429, 1.2);
    expect(await thrownBy(api.sendOnce(patch, fresh))).toBeInstanceOf(StaleReadError);
    expect(service.requests).toHaveLength(0);
    await api.sendOnce(patch, fresh);
    expect(service.requests).toHaveLength(1);
  });

  test('does not stop a write that waits only for the rate', async () => {
    const { api, service, limiter } = await calling({ status: 200, json: answered });
    limiter.limit({ rate: 1 });
    await Promise.all([1, 2, 3].map(() => api.sendOnce(patch, fresh)));
    expect(service.requests).toHaveLength(3);
  });
});

test('a write goes ahead of waiting reads', async () => {
  const { api, service, limiter } = await calling({ status: 200, json: answered });
  limiter.onResponse(200, 0.2);
  const reads = [1, 2, 3].map(() =>
    api.send({ endpoint: 'getTryout', params: { applicationId: 'app_1' } }),
  );
  await Promise.all([...reads, api.sendOnce(patch, fresh)]);
  expect(service.requests).toHaveLength(4);
  expect(service.requests[0]?.method).toBe('PATCH');
});

test('a signal before the permit prevents sending', async () => {
  const stop = new AbortController();
  const service = await recordingService(() => ({ status: 200, json: answered }));
  const limiter = realLimiter();
  limiter.limit({ rate: undefined });
  limiter.onResponse(429, 30);
  const { api } = apiTo(service.baseUrl, { signal: stop.signal, limiter });
  const sending = thrownBy(api.sendOnce(patch, fresh));
  setImmediate(() => stop.abort());
  expect(await sending).toBeInstanceOf(CancelledError);
  expect(service.requests).toHaveLength(0);
});

test('a list waits for a permit like any other read', async () => {
  const { api, service, limiter } = await calling({ status: 200, json: [] });
  limiter.onResponse(429, 0.3);
  let heldMs: number | undefined;
  const list = api.list('teams', {}, { onHeaders: () => (heldMs = limiter.heldMs) });
  for await (const record of list) expect(record).toBe(undefined);
  expect(heldMs).toBe(0);
  expect(service.requests).toHaveLength(1);
});
