/** Much work at once: bounded parallel work, long loops that yield to the event loop, and the size of V8's heap. */

/** Starts work in order, at most `limit` at once; a failure stops no other. */
export function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): readonly Promise<R>[] {
  const waiting: (() => void)[] = [];
  // To shift a long array moves all of it.
  let resumed = 0;
  let running = 0;
  const runInTurn = async (item: T): Promise<R> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work(item);
    } finally {
      const next = waiting[resumed];
      if (next) {
        resumed += 1;
        next();
      } else running -= 1;
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

/**
 * Keeps V8's space for new objects at its current size: the records of a long list soon become
 * garbage, and a larger space costs 20 MiB and saves no time. Does nothing on versions whose V8
 * ignores the flag.
 */
export async function keepHeapSmall(nodeVersion: string): Promise<void> {
  if (!/^v?2[02]\./.test(nodeVersion)) return;
  isHeapSmall = true;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
}

let isHeapSmall = false;

/**
 * Undoes `keepHeapSmall`: in so small a space, garbage collection takes a tenth of the time of
 * thousands of requests, which 20 MiB more avoid. Grows in few large steps, so that runs of all
 * sizes use as much.
 */
export async function letHeapGrow(): Promise<void> {
  if (!isHeapSmall) return;
  isHeapSmall = false;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=4');
}

const longRunRows = 20_000;

/** Keeps the heap of a long run close to its live data, not twice that, for a little more work. */
export async function keepHeapClose(rows: number): Promise<void> {
  if (rows <= longRunRows) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--heap-growing-percent=5');
}
