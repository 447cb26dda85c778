/** The progress line of transfers: count, bytes, rate and time left. */
import { basename } from 'node:path';
import type { Context } from '../context.js';
import { recordedSize } from '../data/path.js';
import { binarySize, bytesMoved, groupedNumber, plural } from '../data/text.js';
import type { FileSink } from './resumable-download.js';
import type { Target } from './target-names.js';

/** One progress line for all files of a run: count, bytes, rate and time left. */
export interface Meter {
  begin(record: Target['record']): {
    /** Wraps a sink so that every byte is counted. */
    readonly watch: (sink: FileSink) => FileSink;
    end(): void;
  };
  /** Prints something to stderr beside the progress line. */
  printBeside(say: () => void): void;
  stop(): void;
}

/** Starts the progress line; the total comes from the records' sizes. */
export function createMeter(
  context: Context,
  targets: readonly (Pick<Target, 'id' | 'record'> & Partial<Pick<Target, 'path'>>)[],
): Meter {
  const started = performance.now();
  const sizes = targets.map(({ record }) => recordedSize(record));
  const isKnown = sizes.every((size) => size !== undefined);
  let files = 0;
  let moved = 0;
  /** The bytes of all files; of one that is done, as many as it has. */
  let all = sizes.reduce<number>((sum, size = 0) => sum + size, 0);
  const [only] = targets;
  const name = only?.path === undefined || only.path === '-' ? only?.id : basename(only.path);
  const text = () => {
    const seconds = (performance.now() - started) / 1000;
    const bytes = isKnown
      ? bytesMoved(moved, all, seconds)
      : `${binarySize(moved)}, ${binarySize(moved / Math.max(seconds, 0.001))}/s`;
    return targets.length === 1
      ? `${bytes}: ${name}`
      : `${groupedNumber(files)} of ${plural(targets.length, 'file')}, ${bytes}`;
  };
  let line = context.progress.start(text);
  let stopped = false;
  const stop = () => {
    stopped = true;
    line.stop();
  };
  // Messages after a signal get their own lines.
  context.signal.addEventListener('abort', stop, { once: true });
  return {
    begin(record) {
      let own = 0;
      const count = (bytes: number) => {
        own += bytes;
        moved += bytes;
      };
      return {
        watch: (sink) => ({
          get rewinds() {
            return sink.rewinds;
          },
          begin(at, headers) {
            // Started over: its bytes come again.
            if (at === 0) count(-own);
            return sink.begin(at, headers);
          },
          async write(chunk) {
            await sink.write(chunk);
            count(chunk.length);
          },
        }),
        end() {
          files += 1;
          all += own - (recordedSize(record) ?? 0);
        },
      };
    },
    printBeside(say) {
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
