/** The progress line of transfers: count, bytes, rate and time left. */
import { basename } from 'node:path';
import type { Context } from '../context.js';
import { recordedSize } from '../data/path.js';
import { binarySize, bytesMoved, groupedNumber, plural } from '../data/text.js';
import type { FileSink } from './resumable-download.js';
import type { Target } from './target-names.js';

/** One progress line for all files of a run: count, bytes, rate and time left. */
export interface Meter {
  begin(target: Target): {
    /** Wraps a sink so that every byte is counted. */
    watch(sink: FileSink): FileSink;
    end(): void;
  };
  /** Prints something to stderr beside the progress line. */
  printBeside(say: () => void): void;
  stop(): void;
}

/** Starts the progress line; the total comes from the records' sizes. */
export function createMeter(context: Context, targets: readonly Target[]): Meter {
  const started = performance.now();
  const sizes = targets.map(({ record }) => recordedSize(record));
  const isKnown = sizes.every((size) => size !== undefined);
  const totals: Totals = {
    files: 0,
    moved: 0,
    remaining: sizes.reduce<number>((sum, size = 0) => sum + size, 0),
  };
  const [only] = targets;
  const name = only?.path === undefined || only.path === '-' ? only?.id : basename(only.path);
  const text = () => {
    const { files, moved, remaining } = totals;
    const seconds = (performance.now() - started) / 1000;
    const bytes = isKnown
      ? bytesMoved(moved, moved + remaining, seconds)
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
    begin({ record }) {
      const file = new FileCount(recordedSize(record) ?? 0, totals);
      return { watch: (sink) => countingSink(sink, file), end: () => file.end() };
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

/** The counts of all files; `moved` and `remaining` in bytes. */
interface Totals {
  files: number;
  moved: number;
  remaining: number;
}

/** Counts the bytes of one file into the totals: those moved, and those still to come. */
class FileCount {
  private moved = 0;
  private remaining: number;

  constructor(
    private readonly size: number,
    private readonly totals: Totals,
  ) {
    this.remaining = size;
  }

  /** The next bytes are those at this offset; from the start, nothing counts as moved. */
  begin(at: number): void {
    if (at === 0) this.count(-this.moved, this.size);
    else this.count(0, Math.max(0, this.size - at));
  }

  add(bytes: number): void {
    this.count(bytes, Math.max(0, this.remaining - bytes));
  }

  end(): void {
    this.totals.files += 1;
    this.count(0, 0);
  }

  private count(bytes: number, remaining: number): void {
    this.moved += bytes;
    this.totals.moved += bytes;
    this.totals.remaining += remaining - this.remaining;
    this.remaining = remaining;
  }
}

/** Wraps a sink so that every byte is counted. */
function countingSink(sink: FileSink, file: FileCount): FileSink {
  return {
    get rewinds() {
      return sink.rewinds;
    },
    begin(at, headers) {
      file.begin(at);
      return sink.begin(at, headers);
    },
    async write(chunk) {
      await sink.write(chunk);
      file.add(chunk.length);
    },
  };
}
