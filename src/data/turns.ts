/** Long loops without any waiting in them let signals and timers in from time to time. */

/** So many steps take some milliseconds at most. */
const stepsATurn = 20_000;

/**
 * A counter of steps: every 20,000 of them it gives a promise that resolves after the event loop had
 * its turn, and rejects with `stopped()` if the signal fired; else undefined, at no cost.
 */
export function turns(
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
