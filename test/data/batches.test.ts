import { expect, test } from 'vitest';
import { batchesOf, collect, filterMap, recordStream } from '../../src/data/batches.js';

async function valuesOf<T>(batches: AsyncIterable<readonly T[]>): Promise<T[][]> {
  const all: T[][] = [];
  for await (const batch of batches) all.push([...batch]);
  return all;
}

async function* three() {
  yield [1, 2];
  yield [3];
}

async function* inOneBatch() {
  yield [1, 2];
}

test('a stream is read one by one or in its batches', async () => {
  const flow = recordStream(three);
  expect(await collect(flow)).toEqual([1, 2, 3]);
  expect(await valuesOf(batchesOf(flow))).toEqual([[1, 2], [3]]);
  const single: number[] = [];
  for await (const value of flow) single.push(value);
  expect(single).toEqual([1, 2, 3]);
});

test('values of another iterable pass as they arrive, those of an array at once', async () => {
  expect(await valuesOf(batchesOf(new Set(['a', 'b'])))).toEqual([['a'], ['b']]);
  expect(await valuesOf(batchesOf(['a', 'b']))).toEqual([['a', 'b']]);
  expect(await valuesOf(batchesOf([]))).toEqual([]);
});

test('stopping to read one by one ends the batches', async () => {
  let ended = false;
  const flow = recordStream(async function* () {
    try {
      yield* three();
    } finally {
      ended = true;
    }
  });
  for await (const value of flow) if (value === 1) break;
  expect(ended).toBe(true);
});

test('the values before a failing one are passed on before the error', async () => {
  const passed: number[] = [];
  const reading = async () => {
    const odd = filterMap(three(), (value) => {
      if (value === 3) throw new Error('three');
      return value === 1 ? value : undefined;
    });
    for await (const batch of odd) passed.push(...batch);
  };
  await expect(reading()).rejects.toThrow('three');
  expect(passed).toEqual([1]);
  const seen: number[] = [];
  await expect(
    (async () => {
      for await (const batch of filterMap(inOneBatch(), (value) => {
        if (value === 2) throw new Error('two');
        return value;
      }))
        seen.push(...batch);
    })(),
  ).rejects.toThrow('two');
  expect(seen).toEqual([1]);
});
