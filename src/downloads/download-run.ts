import { setMaxListeners } from 'node:events';
import { basename } from 'node:path';
import { CircuitBreaker } from '../bulk/limits.js';
import { binarySize, bytesMoved } from '../cli/cells.js';
import { type FailedItem, errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import { mapConcurrently } from '../data/concurrency.js';
import { plural } from '../data/text.js';
import { CancelledError, Failure, GuardError } from '../errors.js';
import { type ExitName, mostSevere } from '../exit-codes.js';
import type { FileSink } from './resumable-download.js';
import type { Target } from './target-names.js';

/** Several documents on their way. */
interface DownloadRun<R> {
  /** What was done, in the order of the documents, each as soon as those before it are done. */
  rows(): AsyncGenerator<R>;
  /** Known when the rows are out. */
  exitName(): ExitName;
  /** The first that failed; undefined where all were done. */
  failed(): FailedItem | undefined;
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
  const failures: FailedItem[] = [];
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
      worker.aside(() => printFailure(context, target.id, error));
      // A file in the way is no reason to stop, as it is where rows are written.
      if (error instanceof GuardError) stops.settled('failed', false);
      else stops.failed(error, 'failed', false);
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
        // A reader that went away does not stop what was begun.
        await Promise.allSettled(results);
        worker.close();
        finish();
      }
    },
    exitName: () => stops.stop?.exitName ?? mostSevere(failures.map(({ error }) => error.exitName)),
    failed: () => failures[0] ?? notBegun(),
  };

  /** A signal came before the first of them. */
  function notBegun(): FailedItem | undefined {
    const [first] = targets;
    if (!first || done === targets.length) return undefined;
    return { id: first.id, error: new CancelledError('Interrupted.') };
  }

  function finish(): void {
    const missing = targets.length - done;
    if (missing === 0) return;
    if (stops.stop) context.message(`Stopped: ${stops.stop.reason}`);
    const untouched = targets.length - begun;
    const rest = untouched > 0 ? `, ${untouched} of them not begun` : '';
    // Asking again brings nothing where all the others are gone.
    const isWorthIt = untouched > 0 || failures.some(({ error }) => error.exitName !== 'notFound');
    const hint = isWorthIt ? ' Go on with the same line and --skip-existing.' : '';
    context.message(
      `${done} of ${plural(targets.length, 'document')} done, ${missing} not${rest}.${hint}`,
    );
  }
}

function printFailure(context: Context, id: string, error: Failure): void {
  if (error.exitName === 'interrupted') return;
  const message = errorMessage(context, id, error);
  context.message(message.includes(id) ? message : `${id}: ${message}`);
}

/** One progress line for all files of a run: how many, bytes, rate and time left. */
export interface Meter {
  begin(target: Target): {
    /** The sink, with every byte counted. */
    watch(sink: FileSink): FileSink;
    end(): void;
  };
  /** Says something on stderr beside the line. */
  aside(say: () => void): void;
  stop(): void;
}

/** Starts the line; the sizes of the records say how much is to come. */
export function createMeter(context: Context, targets: readonly Target[]): Meter {
  const started = performance.now();
  const sizes = targets.map(({ record }) => record?.['sizeBytes']);
  const isKnown = sizes.every((size) => typeof size === 'number');
  let left = sizes.reduce<number>((sum, size) => sum + (typeof size === 'number' ? size : 0), 0);
  let moved = 0;
  let files = 0;
  const [only] = targets;
  const name = only?.path === undefined || only.path === '-' ? only?.id : basename(only.path);
  const text = () => {
    const seconds = (performance.now() - started) / 1000;
    const bytes = isKnown
      ? bytesMoved(moved, moved + left, seconds)
      : `${binarySize(moved)}, ${binarySize(moved / Math.max(seconds, 0.001))}/s`;
    return targets.length === 1
      ? `${bytes}: ${name}`
      : `${files} of ${plural(targets.length, 'file')}, ${bytes}`;
  };
  let line = context.progress.start(text);
  let stopped = false;
  const stop = () => {
    stopped = true;
    line.stop();
  };
  // What is said after a signal stands on lines of its own.
  context.signal.addEventListener('abort', stop, { once: true });
  return {
    begin({ record }) {
      const said = record?.['sizeBytes'];
      const size = typeof said === 'number' ? said : 0;
      // What was moved for this file, and what of it is still counted as to come.
      let own = 0;
      let rest = size;
      const count = (bytes: number, to: number) => {
        own += bytes;
        moved += bytes;
        left += to - rest;
        rest = to;
      };
      return {
        watch: (sink) => ({
          get at() {
            return sink.at;
          },
          get version() {
            return sink.version;
          },
          rewinds: sink.rewinds,
          ...(sink.earlier && { earlier: sink.earlier.bind(sink) }),
          begin(version, at, headers) {
            if (at === 0) count(-own, size);
            else count(0, Math.max(0, size - at));
            return sink.begin(version, at, headers);
          },
          async write(chunk) {
            await sink.write(chunk);
            count(chunk.length, Math.max(0, rest - chunk.length));
          },
        }),
        end() {
          files += 1;
          count(0, 0);
        },
      };
    },
    aside(say) {
      line.stop();
      say();
      if (!stopped) line = context.progress.start(text);
    },
    stop() {
      context.signal.removeEventListener('abort', stop);
      stop();
    },
  };
}
