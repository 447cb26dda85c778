import { setMaxListeners } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Permit, RateLimiter } from '../../src/api/rate-limiter.js';

/** A limiter on a clock that advances only while something waits. */
function limited(rate?: number) {
  let now = 0;
  const limiter = new RateLimiter({
    clock: () => now,
    sleep: async (ms) => {
      now += ms;
    },
    maxWaitMs: 60_000,
  });
  limiter.limit({ rate });
  const { signal } = new AbortController();
  const turn = async (first = false) => (await limiter.acquire(signal, { first })) as Permit;
  return { limiter, turn, now: () => now, pass: (ms: number) => (now += ms) };
}

/** A virtual clock: time advances to the next sleeper when nothing else is left to do. */
function virtualTime() {
  let now = 0;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        sleepers.delete(sleeper);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { at: now + ms, wake };
      sleepers.add(sleeper);
      signal.addEventListener('abort', wake);
    });
  const until = async (isOver: () => boolean) => {
    while (!isOver()) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = [...sleepers].toSorted((a, b) => a.at - b.at);
      if (!next || isOver()) continue;
      now = Math.max(now, next.at);
      next.wake();
    }
  };
  return { clock: () => now, sleep, until };
}

/** Answers at a time of its clock: 0 for a success, else the seconds to wait. */
type Service = (now: number) => number;
type Rounding = (seconds: number) => number;

const perSecond = 10;
const services: Record<string, (round: Rounding) => Service> = {
  'a token bucket'(round) {
    let tokens = perSecond;
    let last = 0;
    return (now) => {
      tokens = Math.min(perSecond, tokens + ((now - last) / 1000) * perSecond);
      last = now;
      if (tokens < 1) return round((1 - tokens) / perSecond);
      tokens -= 1;
      return 0;
    };
  },
  'a fixed window'(round) {
    let window = -1;
    let taken = 0;
    return (now) => {
      const current = Math.floor(now / 1000);
      if (current !== window) taken = 0;
      window = current;
      taken += 1;
      return taken <= perSecond ? 0 : round(current + 1 - now / 1000);
    };
  },
  'no burst at all'(round) {
    let next = 0;
    return (now) => {
      if (now < next) return round((next - now) / 1000);
      next = now + 1000 / perSecond;
      return 0;
    };
  },
};

/** Sends 300 requests of 120 ms, four at once; returns the milliseconds until the last success. */
async function timeOf(service: Service, { atOnce = 4, firstAlone = false } = {}) {
  const time = virtualTime();
  const limiter = new RateLimiter({ ...time, maxWaitMs: 60_000 });
  limiter.limit({ rate: undefined });
  const { signal } = new AbortController();
  const starts: number[] = [];
  const left = Array.from({ length: 300 });
  let refused = 0;
  const one = async () => {
    left.pop();
    for (;;) {
      await limiter.acquire(signal);
      starts.push(time.clock());
      const ended = limiter.onSend();
      await time.sleep(60, signal);
      const wait = service(time.clock());
      await time.sleep(60, signal);
      ended();
      limiter.onResponse(wait === 0 ? 200 : 429, wait === 0 ? undefined : wait);
      if (wait === 0) return;
      refused += 1;
    }
  };
  const worker = async () => {
    while (left.length > 0) await one();
  };
  let over = false;
  const all = (async () => {
    if (firstAlone) await one();
    await Promise.all(Array.from({ length: atOnce }, worker));
    over = true;
  })();
  await time.until(() => over);
  await all;
  return { ms: time.clock(), refused, learned: limiter.learnedRate ?? 0, starts };
}

const roundings: Record<string, Rounding> = {
  'to the moment': (seconds) => seconds,
  'in whole seconds': (seconds) => Math.ceil(seconds),
};

describe('300 requests of 120 ms to a service of 10 a second', () => {
  // The allowed burst, then ten per second.
  const ideal = { 'a token bucket': 29_120, 'a fixed window': 29_120, 'no burst at all': 30_020 };
  const bars = { 'a token bucket': 1.08, 'a fixed window': 1.25, 'no burst at all': 1.3 };
  const names = Object.keys(bars) as (keyof typeof bars)[];
  const cells = names.flatMap((name) =>
    Object.keys(roundings).flatMap((asked) =>
      [false, true].map((firstAlone) => ({ name, asked, firstAlone })),
    ),
  );
  test.each(cells)(
    '$name with $asked in Retry-After, the first alone: $firstAlone',
    async ({ name, asked, firstAlone }) => {
      const service = services[name]?.(roundings[asked] as Rounding) as Service;
      const { ms, refused, learned } = await timeOf(service, { firstAlone });
      expect(ms / ideal[name]).toBeLessThanOrEqual(bars[name]);
      // It cannot have been faster than the service.
      expect(ms).toBeGreaterThan(ideal[name] - 1000);
      expect(refused).toBeGreaterThan(0);
      expect(learned).toBeGreaterThan(perSecond / 2);
      expect(learned).toBeLessThan(perSecond * 1.5);
    },
  );

  test('requests are evenly spaced once the rate is learned', async () => {
    const { starts } = await timeOf(services['a token bucket']?.((seconds) => seconds) as Service);
    const late = starts.slice(150).map((at, index, all) => at - (all[index - 1] ?? at));
    // No request follows at once; a longer gap is a requested pause.
    expect(Math.min(...late.slice(1))).toBeGreaterThan(60);
  });
});

const good = (limiter: ReturnType<typeof limited>['limiter'], count: number) => {
  for (let index = 0; index < count; index++) limiter.onResponse(200, undefined);
};

describe('the rate learned from a 429', () => {
  test('is nine tenths of the successes in the second before it', () => {
    const { limiter, pass } = limited();
    good(limiter, 100);
    pass(1001);
    good(limiter, 30);
    pass(500);
    good(limiter, 20);
    expect(limiter.learnedRate).toBe(undefined);
    limiter.onResponse(429, 1);
    expect(limiter.learnedRate).toBe(45);
  });

  test('is never below one per second, and never above --rate', () => {
    const slow = limited();
    slow.limiter.onSend();
    slow.pass(900);
    good(slow.limiter, 1);
    slow.pass(100);
    slow.limiter.onResponse(429, 1);
    expect(slow.limiter.learnedRate).toBe(1);
    const bounded = limited(5);
    good(bounded.limiter, 30);
    bounded.limiter.onResponse(429, 1);
    expect(bounded.limiter.learnedRate).toBe(5);
    good(bounded.limiter, 100);
    expect(bounded.limiter.learnedRate).toBe(5);
  });

  test('rises by 4 % after each 20 successes', () => {
    const { limiter } = limited();
    good(limiter, 100);
    limiter.onResponse(429, 1);
    good(limiter, 19);
    expect(limiter.learnedRate).toBe(90);
    good(limiter, 1);
    expect(limiter.learnedRate).toBeCloseTo(93.6);
    good(limiter, 20);
    expect(limiter.learnedRate).toBeCloseTo(97.344);
  });

  test('falls by a tenth with another 429, once per pause', () => {
    const { limiter, pass } = limited();
    good(limiter, 100);
    limiter.onResponse(429, 2);
    // The rest of the same burst.
    limiter.onResponse(429, 2);
    pass(1999);
    limiter.onResponse(429, 2);
    expect(limiter.learnedRate).toBe(90);
    pass(2001);
    limiter.onResponse(429, 2);
    limiter.onResponse(429, 2);
    expect(limiter.learnedRate).toBeCloseTo(81);
  });

  test('is not learned if the 429 asks for a longer wait than --max-wait', () => {
    const { limiter } = limited();
    good(limiter, 100);
    limiter.onResponse(429, 61);
    expect(limiter.learnedRate).toBe(undefined);
    expect(limiter.heldMs).toBe(60_000);
  });

  test('measures few successes by the duration of their burst', () => {
    const { limiter, pass } = limited();
    limiter.onSend()();
    good(limiter, 1);
    pass(700);
    for (let index = 0; index < 4; index++) limiter.onSend();
    pass(100);
    good(limiter, 1);
    limiter.onResponse(429, 1);
    expect(limiter.learnedRate).toBe(10);
    // That may be too low: each success raises it until the next 429.
    good(limiter, 1);
    expect(limiter.learnedRate).toBeCloseTo(10.4);
    pass(1001);
    limiter.onResponse(429, 1);
    expect(limiter.learnedRate).toBeCloseTo(9.36);
    good(limiter, 19);
    expect(limiter.learnedRate).toBeCloseTo(9.36);
  });

  test('is not learned without any success, but from the next 429', () => {
    const { limiter, pass } = limited();
    limiter.onSend();
    pass(100);
    limiter.onResponse(429, 1);
    expect(limiter.learnedRate).toBe(undefined);
    expect(limiter.heldMs).toBe(1000);
    pass(1000);
    good(limiter, 10);
    limiter.onResponse(429, 1);
    expect(limiter.learnedRate).toBe(9);
  });
});

test('no more requests start per second than the rate', async () => {
  const { turn, now } = limited(5);
  for (let count = 0; count < 11; count++) await turn();
  expect(now()).toBe(2000);
});

test('below one request per second a write follows its read at once, and both pauses come after', async () => {
  const { turn, now } = limited(0.5);
  await turn();
  expect([await turn(true), now()]).toEqual([{ pausedMs: 0 }, 0]);
  await turn();
  expect(now()).toBe(4000);
  await turn(true);
  await turn(true);
  await turn();
  expect(now()).toBe(10_000);
});

test('a 429 holds all requests as long as it asks, and permits report the pause', async () => {
  const { limiter, turn, now } = limited();
  limiter.onResponse(429, 3);
  expect(await turn()).toEqual({ pausedMs: 3000 });
  expect(await turn()).toEqual({ pausedMs: 0 });
  expect(now()).toBe(3000);
});

test('waiting for the rate is not a pause', async () => {
  const { turn, now } = limited(1);
  await turn();
  expect(await turn()).toEqual({ pausedMs: 0 });
  expect(now()).toBe(1000);
});

test('a success that asks for a pause holds all requests, but not longer than --max-wait', async () => {
  const { limiter, turn, now } = limited();
  limiter.onResponse(200, 4);
  expect(limiter.learnedRate).toBe(undefined);
  await turn();
  expect(now()).toBe(4000);
  limiter.onResponse(200, 3600);
  await turn();
  expect(now()).toBe(64_000);
});

test('a run without a response for 59 seconds is silent, however long it was idle before', () => {
  const { limiter, pass, now } = limited();
  const single = new RateLimiter({ clock: now, sleep: async () => {}, maxWaitMs: 60_000 });
  const at = (ms: number) => {
    pass(ms - now());
    return limiter.silent;
  };
  single.onSend();
  expect(at(90_000)).toBe(false);
  expect(single.silent).toBe(false);
  const first = limiter.onSend();
  first();
  limiter.onResponse(200, undefined);
  expect(at(400_000)).toBe(false);
  limiter.onSend();
  expect(at(458_999)).toBe(false);
  expect(at(459_000)).toBe(true);
  // Another request is still in flight when a response arrives.
  limiter.onResponse(503, undefined);
  expect(at(517_999)).toBe(false);
  expect(at(518_000)).toBe(true);
});

test('without limits a request never waits, whatever the other responses were', async () => {
  let waited = 0;
  const limiter = new RateLimiter({
    clock: () => 0 + waited,
    sleep: async (ms) => {
      waited += ms;
    },
    maxWaitMs: 1000,
  });
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 100 }, async () => limiter.acquire(signal)));
  limiter.onResponse(429, 3600);
  limiter.onResponse(429, 0.5);
  await limiter.acquire(signal);
  expect(waited).toBe(0);
  expect(limiter.learnedRate).toBe(undefined);
});

test('a request with priority goes ahead of the waiting ones', async () => {
  const { limiter, turn } = limited(10);
  const { signal } = new AbortController();
  await turn();
  const order: string[] = [];
  const enter = async (name: string, first: boolean) => {
    await limiter.acquire(signal, { first });
    order.push(name);
  };
  await Promise.all([enter('read 1', false), enter('read 2', false), enter('write', true)]);
  expect(order).toEqual(['write', 'read 1', 'read 2']);
});

test('a write that may start does not sleep until the read before it may', async () => {
  const time = virtualTime();
  const limiter = new RateLimiter({ ...time, maxWaitMs: 60_000 });
  limiter.limit({ rate: 0.5 });
  const { signal } = new AbortController();
  await limiter.acquire(signal);
  await limiter.acquire(signal, { first: true });
  const order: (readonly [string, number])[] = [];
  const enter = async (name: string, first: boolean) => {
    await limiter.acquire(signal, { first });
    order.push([name, time.clock()]);
  };
  const all = [enter('read', false), enter('write', true)];
  await time.until(() => order.length === 2);
  await Promise.all(all);
  expect(order).toEqual([
    ['write', 2000],
    ['read', 6000],
  ]);
});

test('all requests get a permit, never more per second than the rate, whatever the responses', async () => {
  await fc.assert(
    fc.asyncProperty(
      // At a lower rate, a write may follow its read at once.
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.tuple(fc.boolean(), fc.constantFrom(200, 200, 200, 429, 503)), { maxLength: 60 }),
      async (rate, requests) => {
        const time = virtualTime();
        const limiter = new RateLimiter({ ...time, maxWaitMs: 60_000 });
        limiter.limit({ rate });
        const { signal } = new AbortController();
        setMaxListeners(0, signal);
        const starts: number[] = [];
        let done = 0;
        const send = async ([first, status]: readonly [boolean, number]) => {
          expect(await limiter.acquire(signal, { first })).toBeDefined();
          starts.push(time.clock());
          const ended = limiter.onSend();
          await time.sleep(5, signal);
          ended();
          limiter.onResponse(status, 0.01);
          done += 1;
        };
        const all = requests.map(send);
        await time.until(() => done === requests.length);
        await Promise.all(all);
        const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
        expect(Math.min(...gaps, 1000 / rate)).toBeGreaterThanOrEqual(1000 / rate - 1e-6);
      },
    ),
    { numRuns: 100 },
  );
});

test.each(['a signal', 'a stop of the run'])(
  '%s rejects the waiting requests, and no others',
  async (why) => {
    const control = new AbortController();
    const limiter = new RateLimiter({
      clock: () => 0,
      sleep: (_, over) => new Promise((done) => over.addEventListener('abort', () => done())),
      maxWaitMs: 60_000,
    });
    limiter.limit({ rate: undefined });
    expect(await limiter.acquire(control.signal)).toEqual({ pausedMs: 0 });
    limiter.onResponse(429, 30);
    const queued = Array.from({ length: 20 }, (_, index) =>
      limiter.acquire(control.signal, { first: index % 2 === 0 }),
    );
    if (why === 'a signal') control.abort();
    else limiter.cancelWaiting();
    expect(new Set(await Promise.all(queued.map(async (turn) => turn)))).toEqual(
      new Set([undefined]),
    );
    // A later request waits again, and is rejected again.
    const later = limiter.acquire(new AbortController().signal);
    let isHome = false;
    const home = Promise.resolve(later).then(() => {
      isHome = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isHome).toBe(false);
    limiter.cancelWaiting();
    expect(await later).toBe(undefined);
    await home;
  },
);

test('a list that is given up rejects its own waiting request, and no others', async () => {
  const { clock, sleep, until } = virtualTime();
  const limiter = new RateLimiter({ clock, sleep, maxWaitMs: 60_000 });
  limiter.limit({ rate: 2 });
  const command = new AbortController();
  const list = new AbortController();
  const granted: string[] = [];
  const ask = async (name: string, signal: AbortSignal) => {
    const permit = await limiter.acquire(signal);
    granted.push(permit ? name : `not ${name}`);
  };
  const all = Promise.all([
    ask('first', command.signal),
    ask('list', AbortSignal.any([command.signal, list.signal])),
    ask('second', command.signal),
  ]);
  list.abort();
  await until(() => granted.length === 3);
  await all;
  expect(granted).toEqual(['first', 'not list', 'second']);
});

test('in-flight requests may finish once draining is requested', () => {
  const { limiter } = limited();
  expect(limiter.isDraining).toBe(false);
  limiter.drain();
  expect(limiter.isDraining).toBe(true);
});
