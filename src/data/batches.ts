/** Record streams: lists read one by one or in batches. */

export type Batches<T> = AsyncIterable<readonly T[]>;

/** A list being read: one by one, or in batches, which save a promise per value in a long list. */
export interface RecordStream<T> extends AsyncIterable<T> {
  batches(): Batches<T>;
}

/** Creates a stream of batches. Each reader calls `begin`. */
export function recordStream<T>(begin: () => Batches<T>): RecordStream<T> {
  return {
    batches: begin,
    async *[Symbol.asyncIterator]() {
      for await (const batch of begin()) yield* batch;
    },
  };
}

/** A list that is still being made: its reader gets what was pushed meanwhile as one batch. */
export function batchQueue<T>() {
  let values: T[] = [];
  let hasEnded = false;
  let wake: (() => void) | undefined;
  return {
    push: (value: T) => {
      values.push(value);
      wake?.();
    },
    end: () => {
      hasEnded = true;
      wake?.();
    },
    async *batches(): Batches<T> {
      for (;;) {
        const batch = values;
        values = [];
        if (batch.length > 0) yield batch;
        else if (hasEnded) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** Yields any list in batches: those of a stream, an array as one, otherwise each value as it arrives. */
export async function* batchesOf<T>(list: AsyncIterable<T> | Iterable<T>): Batches<T> {
  if (isStream(list)) yield* list.batches();
  else if (!Array.isArray(list)) for await (const value of list) yield [value];
  else if (list.length > 0) yield list as readonly T[];
}

/**
 * Maps each value with `map` and drops it if the result is undefined. Yields the values before the
 * one at which `map` throws first.
 */
export async function* filterMap<T, U>(
  batches: Batches<T>,
  map: (value: T) => U | undefined,
): AsyncGenerator<readonly U[]> {
  for await (const batch of batches) {
    const results: U[] = [];
    let failure: { readonly error: unknown } | undefined;
    try {
      for (const value of batch) {
        const result = map(value);
        if (result !== undefined) results.push(result);
      }
    } catch (error) {
      failure = { error };
    }
    if (results.length > 0) yield results;
    if (failure) throw failure.error;
  }
}

/** Returns all values of a list. */
export async function collect<T>(list: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batchesOf(list)) for (const value of batch) all.push(value);
  return all;
}

/** Yields what was read of a list, then the rest of it. */
export async function* continuedBatches<T>(
  read: readonly T[],
  rest: AsyncIterator<readonly T[]>,
): Batches<T> {
  try {
    if (read.length > 0) yield read;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function isStream<T>(list: AsyncIterable<T> | Iterable<T>): list is RecordStream<T> {
  return 'batches' in list && typeof list.batches === 'function';
}
