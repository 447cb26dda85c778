import { setMaxListeners } from 'node:events';
import { CircuitBreaker } from '../bulk/limits.js';
import type { FailedOne } from '../cli/failure.js';
import { wordsFor } from '../cli/row-error.js';
import type { Context } from '../context.js';
import { atOnce } from '../data/concurrency.js';
import { plural } from '../data/text.js';
import { CancelledError, Failure, GuardError } from '../errors.js';
import { type ExitName, gravest } from '../exit-codes.js';
import type { Target } from './target-names.js';

/** Several documents on their way. */
export interface DownloadRun<R> {
  /** What was done, in the order of the documents, each as soon as those before it are done. */
  rows(): AsyncGenerator<R>;
  /** Known when the rows are out. */
  exitName(): ExitName;
  /** The first that failed; undefined where all were done. */
  failed(): FailedOne | undefined;
}

/** What is done with each document. */
export interface DownloadWorker<R> {
  work(target: Target): Promise<R | undefined>;
  /** Says something on stderr while it works. */
  aside(say: () => void): void;
  /** After the last one. */
  close(): void;
}

/**
 * Works on documents, so many at once. One that fails is a line on stderr and stops no other, unless
 * the next would fare the same: a refused key, a full disk, a service that does not answer.
 */
export function runDownloads<R>(
  context: Context,
  targets: readonly Target[],
  concurrency: number,
  worker: DownloadWorker<R>,
): DownloadRun<R> {
  const stops = new CircuitBreaker(undefined, () => context.api.limiter.silent);
  // Each request on its way listens to it.
  setMaxListeners(0, context.signal);
  const failures: FailedOne[] = [];
  let done = 0;
  let begun = 0;
  const one = async (target: Target): Promise<R | undefined> => {
    if (stops.stop || context.signal.aborted) return undefined;
    begun += 1;
    try {
      const row = await worker.work(target);
      done += 1;
      stops.settled('changed', false);
      return row;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push({ id: target.id, error });
      worker.aside(() => tell(context, target.id, error));
      // A file in the way is no reason to stop, as it is where rows are written.
      if (error instanceof GuardError) stops.settled('failed', false);
      else stops.failed(error, 'failed', false);
      return undefined;
    }
  };
  return {
    async *rows() {
      const results = atOnce(targets, concurrency, one);
      try {
        for (const result of results) {
          const row = await result;
          if (row !== undefined) yield row;
        }
      } finally {
        // A reader that went away does not stop what was begun.
        await Promise.allSettled(results);
        worker.close();
        conclude();
      }
    },
    exitName: () => stops.stop?.exitName ?? gravest(failures.map(({ error }) => error.exitName)),
    failed: () => failures[0] ?? notBegun(),
  };

  /** A signal came before the first of them. */
  function notBegun(): FailedOne | undefined {
    const [first] = targets;
    if (!first || done === targets.length) return undefined;
    return { id: first.id, error: new CancelledError('Interrupted.') };
  }

  function conclude(): void {
    const missing = targets.length - done;
    if (missing === 0) return;
    if (stops.stop) context.tell(`Stopped: ${stops.stop.reason}`);
    const untouched = targets.length - begun;
    const rest = untouched > 0 ? `, ${untouched} of them not begun` : '';
    // Asking again brings nothing where all the others are gone.
    const isWorthIt = untouched > 0 || failures.some(({ error }) => error.exitName !== 'notFound');
    const hint = isWorthIt ? ' Go on with the same line and --skip-existing.' : '';
    context.tell(
      `${done} of ${plural(targets.length, 'document')} done, ${missing} not${rest}.${hint}`,
    );
  }
}

function tell(context: Context, id: string, error: Failure): void {
  if (error.exitName === 'interrupted') return;
  const message = wordsFor(context, id, error);
  context.tell(message.includes(id) ? message : `${id}: ${message}`);
}
