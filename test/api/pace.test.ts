import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPace } from '../../src/api/pace.js';

/** A pace on a clock that only moves when someone waits. */
function paced(concurrency: number, rate?: number) {
  let now = 0;
  const pace = createPace({
    clock: () => now,
    sleep: async (ms) => {
      now += ms;
    },
    maxWaitMs: 60_000,
  });
  pace.limit({ concurrency, rate });
  const { signal } = new AbortController();
  return { pace, turn: async () => (await pace.turn(signal)) as () => void, now: () => now };
}

test('no more at once than allowed', async () => {
  const { turn } = paced(2);
  const first = await turn();
  await turn();
  let third = false;
  const waiting = turn().then(() => {
    third = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(third).toBe(false);
  first();
  await waiting;
  expect(third).toBe(true);
});

test('no more a second than the rate', async () => {
  const { turn, now } = paced(10, 5);
  for (let count = 0; count < 11; count++) (await turn())();
  expect(now()).toBe(2000);
});

test('a 429 holds everyone as long as it asks and halves the pace, which comes back slowly', async () => {
  const { pace, turn, now } = paced(8);
  pace.answered(429, 3);
  // The rest of the same burst does not halve it again.
  pace.answered(429, 3);
  expect(pace.allowed).toBe(4);
  (await turn())();
  expect(now()).toBe(3000);
  for (let count = 0; count < 20; count++) pace.answered(200, undefined);
  expect(pace.allowed).toBe(5);
  for (let count = 0; count < 200; count++) pace.answered(200, undefined);
  expect(pace.allowed).toBe(8);
});

test('a good answer that asks for a pause holds everyone, no longer than --max-wait', async () => {
  const { pace, turn, now } = paced(8);
  pace.answered(200, 4);
  expect(pace.allowed).toBe(8);
  (await turn())();
  expect(now()).toBe(4000);
  pace.answered(200, 3600);
  (await turn())();
  expect(now()).toBe(64_000);
});

test('a run that hears nothing for 59 seconds knows it, however long it was idle before', async () => {
  let now = 0;
  const pace = createPace({ clock: () => now, sleep: async () => {}, maxWaitMs: 60_000 });
  const { signal } = new AbortController();
  const at = (ms: number) => {
    now = ms;
    return pace.silent;
  };
  pace.asked();
  expect(at(90_000)).toBe(false);
  pace.limit({ concurrency: 4, rate: undefined });
  pace.answered(200, undefined);
  expect(at(400_000)).toBe(false);
  pace.asked();
  expect(at(458_999)).toBe(false);
  expect(at(459_000)).toBe(true);
  // Another one is still on its way when an answer comes.
  await pace.turn(signal);
  pace.answered(503, undefined);
  expect(at(517_999)).toBe(false);
  expect(at(518_000)).toBe(true);
});

test('without bounds a request waits for nobody, whatever the others were answered', async () => {
  let waited = 0;
  const pace = createPace({
    clock: () => 0 + waited,
    sleep: async (ms) => {
      waited += ms;
    },
    maxWaitMs: 1000,
  });
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 100 }, async () => pace.turn(signal)));
  expect(waited).toBe(0);
  pace.answered(429, 3600);
  await pace.turn(signal);
  expect(waited).toBe(0);
});

test('who is to go first goes before those that wait', async () => {
  const { pace, turn } = paced(1);
  const { signal } = new AbortController();
  const leave = await turn();
  const order: string[] = [];
  const enter = async (name: string, first: boolean) => {
    const end = await pace.turn(signal, { first });
    order.push(name);
    end?.();
  };
  const all = [enter('read 1', false), enter('read 2', false), enter('write', true)];
  leave();
  await Promise.all(all);
  expect(order).toEqual(['write', 'read 1', 'read 2']);
});

test('all get their turn, never more at once than allowed, whatever is answered meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.tuple(fc.boolean(), fc.constantFrom(200, 200, 200, 429, 503)), { maxLength: 60 }),
      async (concurrency, requests) => {
        const { pace } = paced(concurrency);
        const { signal } = new AbortController();
        let active = 0;
        let most = 0;
        const send = async ([first, status]: readonly [boolean, number]) => {
          const leave = await pace.turn(signal, { first });
          most = Math.max(most, (active += 1));
          await new Promise((resolve) => setImmediate(resolve));
          pace.answered(status, 0.01);
          active -= 1;
          leave?.();
        };
        await Promise.all(requests.map(send));
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(active).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test('a signal lets all that wait go at once', async () => {
  const { pace, turn } = paced(1);
  await turn();
  const controller = new AbortController();
  const waiting = Array.from({ length: 20 }, async (_, index) =>
    pace.turn(controller.signal, { first: index % 2 === 0 }),
  );
  controller.abort();
  expect(await Promise.all(waiting)).toHaveLength(20);
});

test.each(['a signal', 'a stop of the run'])(
  '%s sends home who waits, and nobody else',
  async (why) => {
    const control = new AbortController();
    const pace = createPace({
      clock: () => 0,
      sleep: (_, over) => new Promise((done) => over.addEventListener('abort', () => done())),
      maxWaitMs: 60_000,
    });
    pace.limit({ concurrency: 2, rate: undefined });
    const inside = await pace.turn(control.signal);
    await pace.turn(control.signal);
    const inLine = [pace.turn(control.signal), pace.turn(control.signal, { first: true })];
    if (why === 'a signal') control.abort();
    else pace.dismiss();
    expect(await Promise.all(inLine.map(async (turn) => turn))).toEqual([undefined, undefined]);
    inside?.();
    expect(await pace.turn(control.signal)).toBeTypeOf('function');
    // Also those that a 429 holds.
    pace.answered(429, 30);
    const held = pace.turn(new AbortController().signal);
    pace.dismiss();
    expect(await held).toBe(undefined);
  },
);
