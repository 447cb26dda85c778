/** Downloads of several documents: runs them concurrently, and stops on failures that concern all. */

import { setMaxListeners } from 'node:events';
import type { FailedItem } from '../cli/command-output.js';
import { errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import { mapConcurrently } from '../data/concurrency.js';
import { groupedNumber, plural } from '../data/text.js';
import { CircuitBreaker, type StopReason } from '../engine/limits.js';
import { CancelledError, Failure, GuardError } from '../errors.js';
import { type ExitName, mostSevere } from '../exit-codes.js';
import type { Target } from './target-names.js';

/** A run over several documents. */
interface DownloadRun<R> {
  /** The result rows in the order of the documents, each as soon as those before it are done. */
  rows(): AsyncGenerator<R>;
  /** Final once all rows have been read. */
  exitName(): ExitName;
  /** The first failure; undefined if all are done. */
  failed(): FailedItem | undefined;
  /** Returns the reason that stopped the run for all documents, if one did. */
  stop(): StopReason | undefined;
}

/** The work on each document. */
export interface DownloadWorker<R> {
  work(target: Target): Promise<R | undefined>;
  /** Prints something to stderr beside the progress line. */
  printBeside(say: () => void): void;
  /** How to continue, if not all were done. */
  readonly continueHint?: string;
  /** Called after the last document. */
  close(): Promise<void>;
}

/**
 * Works on documents with the given concurrency. A failure is printed to stderr and does not stop the
 * others, unless they would fail too: a refused key, a full disk, a service that does not answer.
 */
export function runDownloads<R>(
  context: Context,
  targets: readonly Target[],
  concurrency: number,
  worker: DownloadWorker<R>,
): DownloadRun<R> {
  const breaker = new CircuitBreaker(undefined, () => context.api.limiter.silent);
  // Each request in flight adds a listener.
  setMaxListeners(0, context.signal);
  const failures: FailedItem[] = [];
  let done = 0;
  let startedCount = 0;
  const one = async (target: Target): Promise<R | undefined> => {
    if (breaker.stop || context.signal.aborted) return undefined;
    startedCount += 1;
    try {
      const row = await worker.work(target);
      done += 1;
      breaker.recordResult('changed', false);
      return row;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push({ id: target.id, error });
      worker.printBeside(() => printFailure(context, target.id, error));
      // Unlike in a bulk write, a GuardError (a file in the way) does not stop the run.
      if (error instanceof GuardError) breaker.recordResult('failed', false);
      else breaker.recordFailure(error, 'failed', false);
      return undefined;
    }
  };
  return {
    async *rows() {
      const results = mapConcurrently(targets, concurrency, one);
      try {
        for (const result of results) {
          const row = await result;
          if (row !== undefined) yield row;
        }
      } finally {
        // A closed stdout does not stop started downloads.
        await Promise.allSettled(results);
        await worker.close();
        finish();
      }
    },
    exitName: () =>
      breaker.stop?.exitName ?? mostSevere(failures.map(({ error }) => error.exitName)),
    failed: () => failures[0] ?? notBegun(),
    stop: () => breaker.stop,
  };

  /** The failure of an interrupted run: not all are done, although none failed. */
  function notBegun(): FailedItem | undefined {
    const [first] = targets;
    if (!first || done === targets.length) return undefined;
    return { id: first.id, error: new CancelledError('Interrupted.') };
  }

  function finish(): void {
    const missing = targets.length - done;
    if (missing === 0) return;
    if (breaker.stop) context.message(`Stopped: ${breaker.stop.reason}`);
    const untouched = targets.length - startedCount;
    const rest = untouched > 0 ? `, ${groupedNumber(untouched)} of them not begun` : '';
    // Running again is pointless if all the others were not found.
    const isRetryable =
      untouched > 0 || failures.some(({ error }) => error.exitName !== 'notFound');
    const { continueHint = 'To continue, run the same command again with --skip-existing.' } =
      worker;
    const hint = isRetryable ? ` ${continueHint}` : '';
    context.message(
      `${groupedNumber(done)} of ${plural(targets.length, 'document')} done, ${groupedNumber(missing)} not${rest}.${hint}`,
    );
  }
}

function printFailure(context: Context, id: string, error: Failure): void {
  if (error.exitName === 'interrupted') return;
  const message = errorMessage(context, id, error);
  context.message(message.includes(id) ? message : `${id}: ${message}`);
}
