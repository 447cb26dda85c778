/** Concurrency: bounded parallel work, and long loops that yield to the event loop. */

/**
 * Starts work in order, at most `limit` at once. Returns a promise per item; a failure stops no
 * other.
 */
export function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): readonly Promise<R>[] {
  const waiting: (() => void)[] = [];
  let running = 0;
  const runInTurn = async (item: T): Promise<R> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work(item);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return items.map(runInTurn);
}

/** This many steps take at most a few milliseconds. */
const stepsPerTurn = 20_000;

/**
 * Returns a step counter for a long loop without any waiting, so that signals and timers can run.
 * Every 20,000 steps it returns a promise that resolves after a turn of the event loop, or rejects
 * with `stopped()` if the signal fired; otherwise undefined, at no cost.
 */
export function eventLoopTurns(
  signal: AbortSignal | undefined,
  stopped: () => Error,
): (steps: number) => Promise<void> | undefined {
  let count = 0;
  return (steps) => {
    count += steps;
    if (count < stepsPerTurn) return undefined;
    count = 0;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        if (signal?.aborted) reject(stopped());
        else resolve();
      });
    });
  };
}
