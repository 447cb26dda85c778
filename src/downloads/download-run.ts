/** Downloads of several documents: runs them concurrently, and stops on failures that concern all. */

import type { FailedItem } from '../cli/command-output.js';
import { errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import { isMissingFile } from '../data/outcome-errors.js';
import { fileSystemError, systemCode } from '../data/system-errors.js';
import { groupedNumber, plural } from '../data/text.js';
import { mapConcurrently } from '../data/workload.js';
import { CircuitBreaker, type StopReason } from '../engine/limits.js';
import { CancelledError, Failure, GuardError } from '../errors.js';
import { type ExitName, mostSevere } from '../exit-codes.js';
import type { Target } from './target-names.js';

/** The work on each document. */
export interface DownloadWorker<R, T = Target> {
  work(target: T): Promise<R | undefined>;
  /** Prints something to stderr beside the progress line. */
  printBeside(say: () => void): void;
  /** How to continue, if not all were done. */
  readonly continueHint?: string;
  /** Called after the last document. */
  close(): Promise<void>;
}

/**
 * A run over several documents, with the given concurrency. A failure is printed to stderr and does not
 * stop the others, unless they would fail too: a refused key, a full disk, a service that does not answer.
 */
export class DownloadRun<R, T extends { readonly id: string }> {
  private readonly breaker: CircuitBreaker;
  private readonly failures: FailedItem[] = [];
  private begun = 0;
  private done = 0;

  constructor(
    private readonly context: Context,
    private readonly targets: readonly T[],
    private readonly concurrency: number,
    private readonly worker: DownloadWorker<R, T>,
  ) {
    this.breaker = new CircuitBreaker(() => context.api.limiter.silent);
  }

  /** Yields the result rows in the order of the documents, each as soon as those before it are done. */
  async *rows(): AsyncGenerator<R> {
    const results = mapConcurrently(this.targets, this.concurrency, (target) => this.work(target));
    try {
      for (const result of results) {
        const row = await result;
        if (row !== undefined) yield row;
      }
    } finally {
      // A closed stdout does not stop started downloads.
      await Promise.allSettled(results);
      await this.worker.close();
      this.printEnd();
    }
  }

  /** Returns the exit code's name; final once all rows have been read. */
  exitName(): ExitName {
    const { breaker, failures } = this;
    return breaker.stop?.exitName ?? mostSevere(failures.map(({ error }) => error.exitName));
  }

  /** Returns the first failure, or that of an interrupted run; undefined if all are done. */
  failed(): FailedItem | undefined {
    const [failure] = this.failures;
    const [first] = this.targets;
    if (failure || !first || this.done === this.targets.length) return failure;
    return { id: first.id, error: new CancelledError('Interrupted.') };
  }

  /** Returns the reason that stopped the run for all documents, if one did. */
  stop(): StopReason | undefined {
    return this.breaker.stop;
  }

  private async work(target: T): Promise<R | undefined> {
    const { breaker, context, failures, worker } = this;
    if (breaker.stop || context.signal.aborted) return undefined;
    this.begun += 1;
    try {
      const row = await worker.work(target);
      this.done += 1;
      breaker.recordResult('changed', false);
      return row;
    } catch (caught) {
      const error = caught instanceof Failure ? caught : fileSystemError(caught);
      if (!error) throw caught;
      failures.push({ id: target.id, error });
      worker.printBeside(() => printFailure(context, target.id, error));
      // Unlike in a bulk write, a GuardError (a file in the way) does not stop the run; nor does a long name.
      if (error instanceof GuardError || systemCode(error.cause) === 'ENAMETOOLONG')
        breaker.recordResult('failed', false);
      else breaker.recordFailure(error, false);
      return undefined;
    }
  }

  private printEnd(): void {
    const { breaker, context, failures, targets } = this;
    const missing = targets.length - this.done;
    if (missing === 0) return;
    if (breaker.stop) context.message(`Stopped: ${breaker.stop.reason}`);
    const untouched = targets.length - this.begun;
    const rest = untouched > 0 ? `, ${groupedNumber(untouched)} of them not started` : '';
    // Running again is pointless if all the others were not found.
    const isRetryable =
      untouched > 0 ||
      failures.some((each) => each.error.exitName !== 'notFound' && !isMissingFile(each.error));
    const { continueHint = 'To continue, run the same command again with --skip-existing.' } =
      this.worker;
    const hint = isRetryable ? ` ${continueHint}` : '';
    context.message(
      `${groupedNumber(this.done)} of ${plural(targets.length, 'document')} done, ${groupedNumber(missing)} not${rest}.${hint}`,
    );
    if (failures.some(({ error }) => isMissingFile(error)))
      context.message(
        'If you have a file that the store does not have: rosterctl docs replace ID FILE',
      );
  }
}

function printFailure(context: Context, id: string, error: Failure): void {
  if (error.exitName === 'interrupted') return;
  const message = errorMessage(context, id, error);
  context.message(message.includes(id) ? message : `${id}: ${message}`);
}
