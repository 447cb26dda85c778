/** A value of a list and, where it is known, the one line of JSON that printing it would give. */
export interface Item<T> {
  readonly value: T;
  readonly text?: string | undefined;
}

export type Batches<T> = AsyncIterable<readonly Item<T>[]>;

/** A list on its way: one by one, or in batches, which spare a long list a promise for each value. */
export interface RecordStream<T> extends AsyncIterable<T> {
  batches(): Batches<T>;
}

/** A flow of these batches; `begin` is called by whoever starts to read. */
export function recordStream<T>(begin: () => Batches<T>): RecordStream<T> {
  return {
    batches: begin,
    async *[Symbol.asyncIterator]() {
      for await (const batch of begin()) for (const { value } of batch) yield value;
    },
  };
}

/** Any list in batches: those of a flow as they are, of another each value as soon as it comes. */
export function batchesOf<T>(list: AsyncIterable<T> | Iterable<T>): Batches<T> {
  if (isFlow(list)) return list.batches();
  return Array.isArray(list) ? inOne(list as readonly T[]) : oneByOne(list);
}

/**
 * Passes each item through `take`, undefined drops it. What came before the item at which `take`
 * throws is handed on first.
 */
export async function* filterMap<T, U>(
  batches: Batches<T>,
  take: (item: Item<T>) => Item<U> | undefined,
): AsyncGenerator<readonly Item<U>[]> {
  for await (const batch of batches) {
    const taken: Item<U>[] = [];
    let failure: { readonly error: unknown } | undefined;
    try {
      for (const item of batch) {
        const next = take(item);
        if (next) taken.push(next);
      }
    } catch (error) {
      failure = { error };
    }
    if (taken.length > 0) yield taken;
    if (failure) throw failure.error;
  }
}

/** All values of a list. */
export async function collect<T>(list: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batchesOf(list)) for (const { value } of batch) all.push(value);
  return all;
}

function isFlow<T>(list: AsyncIterable<T> | Iterable<T>): list is RecordStream<T> {
  return 'batches' in list && typeof list.batches === 'function';
}

async function* inOne<T>(list: readonly T[]): Batches<T> {
  if (list.length > 0) yield list.map((value) => ({ value }));
}

async function* oneByOne<T>(list: AsyncIterable<T> | Iterable<T>): Batches<T> {
  for await (const value of list) yield [{ value }];
}
