import { rawLines } from '../terminal/safe-text.js';
import type { Streams } from '../terminal/streams.js';

/** Where a result goes: stdout, or the file of `--out` that appears whole or not at all. */
export interface Sink {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  write(text: string | Uint8Array): Promise<void>;
}

/**
 * Runs `show` on the place of the result; a file is put under its name only when all went well.
 * Throws OutputError, PipeClosedError, CancelledError and whatever `show` throws.
 */
export async function withSink(
  out: string | undefined,
  { streams, signal }: { readonly streams: Streams; readonly signal?: AbortSignal | undefined },
  show: (sink: Sink) => Promise<void>,
): Promise<void> {
  if (out === undefined || out === '-') return show(streams.stdout);
  const { openAtomic } = await import('../files/atomic-write.js');
  const file = await openAtomic(out, { signal });
  try {
    await show({
      isTerminal: false,
      columns: 80,
      rows: 24,
      color: false,
      write: (text) => file.write(text),
    });
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** The same, on whose screen nothing of a stranger's drives it; elsewhere data stay as they are. */
export function forScreen(sink: Sink): Sink {
  if (!sink.isTerminal) return sink;
  const write: Sink['write'] = (text) =>
    sink.write(typeof text === 'string' ? rawLines(text) : text);
  return { ...sink, write };
}

/** A writer that gathers small pieces: one write per turn of the event loop, or when it is a lot. */
interface Batch {
  push(text: string): Promise<void> | undefined;
  /** Writes what is left. Throws what an earlier write in the background threw. */
  flush(): Promise<void>;
}

const enough = 64 * 1024;

/** Gathers lines so that records reach a reader as they come without a system call for each. */
export function batchWriter(sink: Sink): Batch {
  let waiting: string[] = [];
  let length = 0;
  let writing: Promise<void> = Promise.resolve();
  let scheduled = false;
  let failure: { readonly error: unknown } | undefined;
  const send = () => {
    scheduled = false;
    const text = waiting.join('');
    waiting = [];
    length = 0;
    if (text === '') return;
    writing = writing
      .then(() => (failure ? undefined : sink.write(text)))
      .catch((error: unknown) => {
        failure ??= { error };
      });
  };
  const flush = async () => {
    send();
    await writing;
    if (failure) throw failure.error;
  };
  return {
    push(text) {
      waiting.push(text);
      length += text.length;
      if (length >= enough || failure) return flush();
      if (scheduled) return undefined;
      scheduled = true;
      setImmediate(() => {
        if (scheduled) send();
      });
      return undefined;
    },
    flush,
  };
}
