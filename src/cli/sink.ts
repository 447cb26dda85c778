/** The destination of a result: stdout, or the file of `--out`; and batched writing to it. */
import type { LocalContext } from '../context.js';
import { drawsMarks } from '../data/environment.js';
import { systemCode } from '../data/system-errors.js';
import { OutputError, PipeClosedError, UsageError } from '../errors.js';
import { createPaint } from '../terminal/paint.js';
import { rawLines } from '../terminal/safe-text.js';
import type { OutputStream } from '../terminal/streams.js';
import type { Canvas } from './views.js';

/** The destination of a result: stdout, or the file of `--out`, which is written atomically. */
export interface Sink extends OutputStream {
  /** True for a pipe that gets the aligned table of a terminal. */
  readonly isForced?: boolean | undefined;
}

/**
 * Calls `show` with the destination; a file gets its name only if everything succeeded.
 * Throws OutputError, PipeClosedError, CancelledError and whatever `show` throws.
 */
export async function withSink(
  out: string | undefined,
  {
    streams,
    signal,
    settings,
    self,
    hasMadeChanges,
  }: Pick<LocalContext, 'streams' | 'signal' | 'settings' | 'self'> & {
    /** Something was changed, so that a signal does not cut its report off. */
    readonly hasMadeChanges?: boolean | undefined;
  },
  show: (sink: Sink) => Promise<void>,
): Promise<void> {
  const { stdout } = streams;
  const { forcedWidth } = settings;
  if (out === undefined && forcedWidth !== undefined && !stdout.isTerminal)
    return show({
      isTerminal: false,
      isForced: true,
      columns: forcedWidth,
      rows: Infinity,
      color: false,
      write: (text) => stdout.write(text),
    });
  if (out === undefined || out === '-') return show(stdout);
  const { openAtomic } = await import('../files/atomic-write.js');
  const file = await openAtomic(out, { signal, self, isReport: hasMadeChanges });
  try {
    const sink: Sink = { ...nowhere, write: (text) => file.write(text).catch(throwClosed) };
    await show(file.isTerminal ? withText(sink, rawLines) : sink);
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** Refuses flags for the result where stdout holds a file; `--json` is for errors. Throws UsageError. */
export function refuseResultFlags(
  { flags }: Pick<LocalContext, 'flags'>,
  what: string,
  more: { readonly hint: string },
): void {
  const given = (['fields', 'template', 'out'] as const)
    .filter((name) => flags[name] !== undefined)
    .map((name) => `--${name}`);
  if (given.length === 0) return;
  throw new UsageError(`${what} to stdout; ${given.join(' and ')} cannot be given with it.`, more);
}

/** Throws PipeClosedError for a pipe whose reader has ended; any other error as it is. */
function throwClosed(error: unknown): never {
  const cause = error instanceof OutputError ? error.cause : undefined;
  if (systemCode(cause) !== 'EPIPE') throw error;
  throw new PipeClosedError('the pipe was closed', { cause: error });
}

/** The destination of a result that is not written. */
export const nowhere: Sink = {
  isTerminal: false,
  columns: 80,
  rows: 24,
  color: false,
  write: async () => {},
};

/** True if a person reads the result: tables are aligned, values shortened. */
export function isAligned({ isTerminal, isForced }: Sink): boolean {
  return isTerminal || isForced === true;
}

/** Returns what lines for this sink are rendered for. */
export function canvasOf(sink: Sink, { now, env }: Pick<LocalContext, 'now' | 'env'>): Canvas {
  const { columns } = sink;
  const isUtf8 = drawsMarks(env);
  const paint = createPaint(sink.color);
  return { now: now(), columns, isTerminal: isAligned(sink), isUtf8, paint };
}

/** Wraps a sink so that text sent to a terminal is sanitized; data for a file or pipe pass unchanged. */
export function forScreen(sink: Sink): Sink {
  return sink.isTerminal ? withText(sink, rawLines) : sink;
}

/** Wraps a sink so that data keep marks such as `→`, which text for a terminal without UTF-8 loses. */
export function forData(sink: Sink): Sink {
  return sink.isTerminal ? withText(sink, (text) => Buffer.from(text)) : sink;
}

/** Wraps a sink so that it gets what `written` makes of a text. */
function withText(sink: Sink, written: (text: string) => string | Uint8Array): Sink {
  return { ...sink, write: (text) => sink.write(typeof text === 'string' ? written(text) : text) };
}

/** A buffered writer: one write per turn of the event loop, or as soon as the buffer is full. */
interface Batch {
  push(text: string): Promise<void> | undefined;
  /** Writes what is buffered. Throws the error of an earlier background write. */
  flush(): Promise<void>;
}

const flushLength = 64 * 1024;

/** Creates a buffered writer, so that records reach a reader as they arrive without a system call for each. */
export function batchWriter(sink: Sink): Batch {
  let buffer: string[] = [];
  let length = 0;
  let writing: Promise<void> = Promise.resolve();
  let scheduled = false;
  let failure: { readonly error: unknown } | undefined;
  const send = () => {
    scheduled = false;
    const text = buffer.join('');
    buffer = [];
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
      buffer.push(text);
      length += text.length;
      if (length >= flushLength || failure) return flush();
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
