import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { pause } from '../../src/data/time.js';

const longMs = 600_000;

test('a pause ends by itself and leaves nothing on the signal', async () => {
  const { signal } = new AbortController();
  await pause(1, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a signal ends it early, without an error', async () => {
  const stop = new AbortController();
  const paused = pause(longMs, stop.signal);
  stop.abort();
  await expect(paused).resolves.toBeUndefined();
});

test('after the signal there is no pause at all', async () => {
  await expect(pause(longMs, AbortSignal.abort())).resolves.toBeUndefined();
});
