interface Waiting {
  readonly run: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Lets callers in one after another: `hold` runs a batch of them inside whatever makes it exclusive.
 * When `hold` itself fails, everyone who waited for it gets its error.
 */
export function newTurns(
  hold: (batch: () => void) => Promise<void>,
): <T>(action: () => T) => Promise<T> {
  let waiting: Waiting[] = [];
  let isRunning = false;

  const serveAll = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      try {
        await hold(() => {
          const batch = waiting;
          waiting = [];
          for (const { run } of batch) run();
        });
      } catch (error) {
        const failed = waiting;
        waiting = [];
        for (const { fail } of failed) fail(error);
      }
    }
    isRunning = false;
  };

  return <T>(action: () => T) =>
    new Promise<T>((resolve, reject) => {
      const run = () => {
        try {
          resolve(action());
        } catch (error) {
          reject(error);
        }
      };
      waiting.push({ run, fail: reject });
      if (!isRunning) void serveAll();
    });
}
