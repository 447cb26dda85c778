import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, requestedWait, retry } from '../../src/api/retry.js';
import {
  failureOfTransportError,
  mayRetryAfter,
  transportErrorOf,
} from '../../src/api/transport-error.js';
import { noWait } from './wiring.js';

const now = new Date('2026-11-21T12:00:00Z');

const waitOf = (body: unknown, headers: Record<string, string> = {}, status = 429) =>
  requestedWait({ status, headers, body: Buffer.from(JSON.stringify(body) ?? '<html>') }, now);

const counted = (left: string) => ({ 'x-ratelimit-remaining': left, 'x-ratelimit-reset': '30' });

describe('the wait that an answer asks for', () => {
  const inTenSeconds = 'Sat, 21 Nov 2026 12:00:10 GMT';
  test.each([
    ['seconds', { 'retry-after': '7' }, 7],
    ['seconds with decimals', { 'retry-after': '1.5' }, 1.5],
    ['a date', { 'retry-after': inTenSeconds }, 10],
    [
      'a date of a server whose clock is an hour ahead',
      { 'retry-after': 'Sat, 21 Nov 2026 13:00:10 GMT', date: 'Sat, 21 Nov 2026 13:00:00 GMT' },
      10,
    ],
    ['a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, undefined],
    ['no seconds, rounded down', { 'retry-after': '0' }, undefined],
    ['no seconds, and a reset', { 'retry-after': '0', 'ratelimit-reset': '3600' }, undefined],
    ['garbage', { 'retry-after': 'soon' }, undefined],
    ['garbage with a number', { 'retry-after': 'try 5' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['nothing', {}, undefined],
    ['a huge number', { 'retry-after': '86400' }, 86_400],
    ['a reset in seconds', { 'ratelimit-reset': '30' }, 30],
    ['a reset in Unix time', { 'x-ratelimit-reset': String(now.getTime() / 1000 + 25) }, 25],
    ['a reset in milliseconds', { 'x-ratelimit-reset': String(now.getTime() + 25_000) }, 25],
    [
      'a reset of a server whose clock is an hour ahead',
      {
        'x-ratelimit-reset': String(now.getTime() / 1000 + 3625),
        date: 'Sat, 21 Nov 2026 13:00:00 GMT',
      },
      25,
    ],
    ['two headers, of which the longer one counts', { 'retry-after': '5, 7' }, 7],
    ['two headers, one of them a date', { 'retry-after': `5, ${inTenSeconds}` }, 10],
    ['a date and garbage', { 'retry-after': `${inTenSeconds}, -5, soon` }, 10],
    ['a reset after', { 'x-ratelimit-reset-after': '2.25' }, 2.25],
  ])('%s', (_, headers, seconds) => {
    expect(waitOf(undefined, headers as Record<string, string>)).toBe(seconds);
  });

  test.each([
    ['a failure while requests are left', 502, counted('57'), undefined],
    ['a failure while none is left', 502, counted('0'), 30],
    ['a failure beside a reset alone', 503, { 'ratelimit-reset': '30' }, 30],
    ['a refusal, whatever is left', 429, counted('57'), 30],
    ['a file that is not there yet while requests are left', 202, counted('57'), undefined],
  ])('of a limit: %s', (_, status, headers, seconds) => {
    expect(waitOf(undefined, headers, status)).toBe(seconds);
  });
});

describe('the wait that a body asks for', () => {
  test('is at the top level or beside the code, in seconds', () => {
    expect(waitOf({ error: 'rateLimited', retry_after: 1.5 })).toBe(1.5);
    expect(waitOf({ error: { code: 'rateLimited', retryAfter: 4 } })).toBe(4);
  });

  test('counts less than Retry-After and more than a rate-limit reset', () => {
    expect(waitOf({ retry_after: 3 }, { 'retry-after': '9' })).toBe(9);
    expect(waitOf({ retry_after: 3 }, { 'ratelimit-reset': '30' })).toBe(3);
    expect(waitOf({ retry_after: 0.4 }, { 'retry-after': '0' })).toBe(0.4);
  });

  test('is ignored if it is not a number of seconds', () => {
    for (const value of ['soon', -1, null, {}, true])
      expect(waitOf({ retry_after: value })).toBeUndefined();
    expect(waitOf(undefined)).toBeUndefined();
  });
});

test('a backoff is between zero and a bound that doubles up to 20 s', () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.boolean(),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (k, throttled, roll) => {
        const bound = Math.min(20_000, (throttled ? 1000 : 500) * 2 ** k);
        const wait = backoffMs(k, throttled, () => roll);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(bound);
        expect(backoffMs(k, throttled, () => 1)).toBe(bound);
      },
    ),
  );
});

const failed = (code: string) => Object.assign(new Error('x'), { code });

describe('transport errors', () => {
  test('an unknown host name is retried once, after a second', async () => {
    const transportError = transportErrorOf(failed('ENOTFOUND'), 'not-sent', undefined);
    const { waits, sleep } = noWait();
    let tries = 0;
    const policy = {
      retries: 3,
      maxWaitMs: 60_000,
      random: () => 0.5,
      sleep,
      signal: new AbortController().signal,
    };
    const ending = await retry('write', policy, async () => {
      tries++;
      return {
        value: transportError,
        delivery: transportError.delivery,
        mayRetry: mayRetryAfter(transportError),
      };
    });
    expect(tries).toBe(2);
    expect(waits).toEqual([1000]);
    expect(ending.outcome).toBe('gaveUp');
    const place = { origin: 'https://api.example.com', attempts: 2 };
    expect(failureOfTransportError(transportError, place).message).toMatch(
      /api\.example\.com.* \(2 attempts\)\.$/,
    );
  });

  test.each(['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    '%s is a TLS failure that no retry can fix',
    (code) => {
      const transportError = transportErrorOf(failed(code), 'not-sent', undefined);
      expect(transportError.why).toBe('tls');
      expect(mayRetryAfter(transportError)).toBe('never');
    },
  );

  test('an error without a code is classified by its name', () => {
    const parser = Object.assign(new Error('bad chunk'), { name: 'HTTPParserError' });
    expect(transportErrorOf(parser, 'applied', 200).why).toBe('cut');
    expect(transportErrorOf(parser, 'ambiguous', undefined).why).toBe('notHttp');
  });
});

const stopped = (kind: 'read' | 'put' | 'write', delivery: 'refused' | 'ambiguous') => {
  const stop = new AbortController();
  const sleep = async () => stop.abort();
  const limits = { retries: 3, maxWaitMs: 60_000, random: () => 0 };
  const policy = { ...limits, sleep, signal: stop.signal };
  return retry(kind, policy, async () => ({ value: 429, delivery, mayRetry: 'always', wait: 5 }));
};

describe('an interrupted wait', () => {
  test('is reported as such and not as the error before it', async () => {
    await expect(stopped('read', 'refused')).rejects.toThrow('Interrupted.');
    await expect(stopped('read', 'ambiguous')).rejects.toThrow('Interrupted.');
    await expect(stopped('put', 'ambiguous')).rejects.toThrow('Interrupted.');
    await expect(stopped('write', 'refused')).rejects.toThrow('Interrupted.');
  });

  test('does not hide that a write may have happened, which is not retried', async () => {
    expect(await stopped('write', 'ambiguous')).toMatchObject({ outcome: 'verify', value: 429 });
  });
});
