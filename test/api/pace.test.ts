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
  return { pace, turn: () => pace.turn(signal), now: () => now };
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

test('a run that hears nothing for a minute knows it, however long it was idle before', async () => {
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
  expect(at(459_999)).toBe(false);
  expect(at(460_000)).toBe(true);
  // Another one is still on its way when an answer comes.
  await pace.turn(signal);
  pace.answered(503, undefined);
  expect(at(519_999)).toBe(false);
  expect(at(520_000)).toBe(true);
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
  await Promise.all(Array.from({ length: 100 }, () => pace.turn(signal)));
  expect(waited).toBe(0);
  pace.answered(429, 3600);
  await pace.turn(signal);
  expect(waited).toBe(0);
});
