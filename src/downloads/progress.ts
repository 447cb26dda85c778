import { basename } from 'node:path';
import type { FileSink } from './resumable-download.js';
import { bytesMoved } from '../cli/byte-progress.js';
import { binarySize } from '../cli/cells.js';
import type { Context } from '../context.js';
import { plural } from '../data/text.js';
import type { Target } from './target-names.js';

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
