import { expect, test } from 'vitest';
import { mapConcurrently } from '../../src/data/workload.js';

test('work runs in order, so many at once, and a failure stops no other', async () => {
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5 * (item % 3)));
    running -= 1;
    if (item === 4) throw new Error('no');
    return item * 2;
  };
  const items = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const results = await Promise.allSettled(mapConcurrently(items, 3, work));
  expect([most, begun]).toEqual([3, items]);
  expect(
    results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed')),
  ).toEqual([0, 2, 4, 6, 'failed', 10, 12, 14, 16, 18]);
});

test('a long list takes time in proportion to its length', async () => {
  const items = Array.from({ length: 800_000 }, (_, index) => index);
  const results = await Promise.all(mapConcurrently(items, 8, async (item) => item));
  expect(results.at(-1)).toBe(799_999);
});
