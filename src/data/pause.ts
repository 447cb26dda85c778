import { setMaxListeners } from 'node:events';

/** Waits `ms` milliseconds, or ends early when the signal fires; never throws. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    // Hundreds of requests wait at once, and Node would warn of the eleventh.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', done);
  });
}
