/** Starts work in order, `most` at once; a promise for each. One that fails stops no other. */
export function mapConcurrently<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): readonly Promise<R>[] {
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = async (item: T): Promise<R> => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work(item);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return items.map(turn);
}

/** Long loops without any waiting in them let signals and timers in from time to time. */

/** So many steps take some milliseconds at most. */
const stepsATurn = 20_000;

/**
 * A counter of steps: every 20,000 of them it gives a promise that resolves after the event loop had
 * its turn, and rejects with `stopped()` if the signal fired; else undefined, at no cost.
 */
export function eventLoopTurns(
  signal: AbortSignal | undefined,
  stopped: () => Error,
): (steps: number) => Promise<void> | undefined {
  let taken = 0;
  return (steps) => {
    taken += steps;
    if (taken < stepsATurn) return undefined;
    taken = 0;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        if (signal?.aborted) reject(stopped());
        else resolve();
      });
    });
  };
}
