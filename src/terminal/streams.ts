import { runsInCi } from '../data/ci.js';
import { systemReason } from '../data/system-errors.js';
import {
  CancelledError,
  InputError,
  OutputError,
  PipeClosedError,
  stoppedReading,
} from '../errors.js';
import { createRedactor } from './redactor.js';

/** One of our two output streams. Nothing else writes to the process's streams. */
interface OutputStream {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 where it is none and COLUMNS is not set. */
  readonly columns: number;
  readonly rows: number;
  /** Whether colour is wanted on this stream (NO_COLOR and friends, judged per stream). */
  readonly color: boolean;
  /**
   * Writes and waits until the text is handed over. Throws PipeClosedError when the reader is gone,
   * OutputError when it cannot be written (full disk), CancelledError after `stopWaiting`.
   */
  write(text: string | Uint8Array): Promise<void>;
}

/** The world's three streams. stderr ignores a closed reader and passes everything through the redactor. */
export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: {
    readonly isTerminal: boolean;
    /** It was read as input: nobody can be asked through it any more, also where it is a terminal. */
    readonly wasRead: boolean;
    /** Everything on stdin, at most `limit` bytes (InputError beyond); only when a command was told to read it. */
    readAll(limit: number): Promise<Buffer>;
    /** The raw stream, for spooling. */
    readonly stream: NodeJS.ReadableStream;
  };
  /** A text without secrets, as stderr would show it; for the service's sentences on stdout. */
  readonly redacted: (text: string) => string;
}

/** The process's own streams, wrapped, with what prompts, spinner and pager need besides. */
export interface ProcessStreams extends Streams {
  /** The raw stdin and stderr, for what draws on a terminal itself. */
  readonly terminal: { readonly input: TerminalInput; readonly output: TerminalOutput };
  /** Whether moving lines are welcome on stderr: a terminal, not TERM=dumb, not CI. */
  readonly animates: boolean;
  /** From now on this secret, and what it looks like inside JSON or a URL, never reaches stderr. */
  redact(secret: string): void;
  /** From now on the query of this signed URL, and each long value in it, never reaches stderr. */
  redactUrl(url: string): void;
  /** Calls back before anything more is written to stdout. */
  onOutput(heard: () => void): void;
  /** `--no-color`, known only after the command line was read. */
  withoutColor(): void;
  /** A signal came: whoever reads stdin, now or later, is told CancelledError instead. */
  stopReading(): void;
  /** A signal came, and what is shown is no report of anything done: no reader is waited for. */
  stopWaiting(): void;
  /** A text waits for a reader that was given up: the process would not end by itself. */
  readonly isHeld: boolean;
}

/** The part of `process.stdout` and `process.stderr` that is used; any Writable will do. */
type TerminalOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export type TerminalInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** The part of an environment that is read here; empty and unset differ where the user can tell. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface StreamsOptions {
  readonly stdin: TerminalInput;
  readonly stdout: TerminalOutput;
  readonly stderr: TerminalOutput;
  readonly env: Environment;
}

/** The descriptors themselves: for much of what is asked no stream is needed, and opening one costs 5 ms. */
interface Descriptors {
  isTerminal(descriptor: 0 | 1 | 2): boolean;
  /** Writes at once and returns how many bytes it took; throws what the system said. */
  readonly write?: ((descriptor: 1 | 2, bytes: Uint8Array) => number) | undefined;
}

/**
 * Wraps the process's streams; the only writer to them besides a prompt, spinner or pager. Each of
 * `source` is looked at when it is first used: opening all three costs a start-up milliseconds.
 */
export function createStreams(source: StreamsOptions, direct?: Descriptors): ProcessStreams {
  const { env } = source;
  const redactor = createRedactor();
  let plain = false;
  let wasRead = false;
  let wasStopped = false;
  let onOutput: (() => void) | undefined;
  const input = () => {
    if (wasStopped) throw stoppedReading('stdin');
    wasRead = true;
    return source.stdin;
  };
  const isTerminal = (number: 0 | 1 | 2, raw: () => TerminalInput | TerminalOutput) =>
    direct ? direct.isTerminal(number) : raw().isTTY === true;
  const stream = (
    number: 1 | 2,
    raw: () => TerminalOutput,
    write: OutputStream['write'],
  ): OutputStream => ({
    get isTerminal() {
      return isTerminal(number, raw);
    },
    get columns() {
      return sizeFrom(env['COLUMNS']) ?? ((isTerminal(number, raw) && raw().columns) || 80);
    },
    get rows() {
      return sizeFrom(env['LINES']) ?? ((isTerminal(number, raw) && raw().rows) || 24);
    },
    get color() {
      return !plain && wantsColor(isTerminal(number, raw), env);
    },
    write,
  });
  const stdout = () => source.stdout;
  const stderr = () => source.stderr;
  const out = createWriter(stdout, shortWrite(1, direct));
  const err = createWriter(stderr, shortWrite(2, direct));
  return {
    stdout: stream(1, stdout, (text) => {
      onOutput?.();
      return out.write(text);
    }),
    stderr: stream(2, stderr, async (text) => {
      const shown = typeof text === 'string' ? redactor.clean(text) : text;
      // There is nobody left to tell that stderr is gone.
      await err.write(shown).catch(() => {});
    }),
    stdin: {
      get isTerminal() {
        return isTerminal(0, () => source.stdin);
      },
      get wasRead() {
        return wasRead;
      },
      get stream() {
        return input();
      },
      readAll: (limit) => readAll(input(), limit, () => wasStopped),
    },
    terminal: {
      get input() {
        return source.stdin;
      },
      get output() {
        // What draws makes way for what is written to the streams, not to the descriptors.
        err.throughStream();
        if (isTerminal(1, stdout)) out.throughStream();
        return source.stderr;
      },
    },
    get animates() {
      if (!isTerminal(2, stderr) || env['TERM'] === 'dumb' || runsInCi(env)) return false;
      // A serial line says that it has no columns, and a spinner would never be done clearing it.
      return stderr().columns !== 0;
    },
    redact: redactor.add,
    redactUrl: redactor.addUrl,
    redacted: redactor.clean,
    onOutput: (heard) => {
      onOutput = heard;
    },
    withoutColor: () => {
      plain = true;
    },
    stopReading() {
      wasStopped = true;
      if (wasRead) (source.stdin as { destroy?: () => void }).destroy?.();
    },
    stopWaiting() {
      out.stopWaiting();
      err.stopWaiting();
    },
    get isHeld() {
      return out.isHeld() || err.isHeld();
    },
  };
}

/** Whether a stream gets colour: a force beats a ban, as in Node and gh; a ban beats the terminal. */
export function wantsColor(isTerminal: boolean, env: Environment): boolean {
  const force = env['FORCE_COLOR'];
  if (force) return force !== '0' && force !== 'false';
  if (env['CLICOLOR_FORCE'] && env['CLICOLOR_FORCE'] !== '0') return true;
  if (env['NO_COLOR'] || env['CLICOLOR'] === '0' || env['TERM'] === 'dumb') return false;
  return isTerminal;
}

// --- writing ---

/** Each write is waited for by its callback, so that a full disk is told by the write that met it. */
function createWriter(source: () => TerminalOutput, now?: (bytes: Uint8Array) => number) {
  let failure: Error | undefined;
  let opened: TerminalOutput | undefined;
  let waitsForReader = true;
  /** Ends the wait of each write that is not handed over yet. */
  const waiting = new Set<() => void>();
  const open = (): TerminalOutput => {
    const raw = source();
    // Without a listener a closed pipe would end the process with a stack trace.
    raw.on('error', (error: NodeJS.ErrnoException) => {
      failure ??= asFailure(error);
    });
    return raw;
  };
  return {
    /** From now on nothing is written past the stream. */
    throughStream: (): void => {
      opened ??= open();
    },
    write: async (text: string | Uint8Array): Promise<void> => {
      if (text.length === 0) return;
      let rest = text;
      if (now && !opened && !failure && text.length <= short) {
        try {
          rest = writeShort(now, text);
        } catch (error) {
          failure = asFailure(error as NodeJS.ErrnoException);
        }
      }
      if (!failure && rest.length > 0)
        await new Promise<void>((resolve, reject) => {
          const giveUp = () => reject(new CancelledError('Interrupted.'));
          waiting.add(giveUp);
          opened ??= open();
          opened.write(rest, (error?: NodeJS.ErrnoException | null) => {
            waiting.delete(giveUp);
            if (error) failure ??= asFailure(error);
            resolve();
          });
          if (!waitsForReader) giveUp();
        });
      if (failure) throw failure;
    },
    stopWaiting: (): void => {
      waitsForReader = false;
      for (const giveUp of waiting) giveUp();
    },
    isHeld: (): boolean => !waitsForReader && waiting.size > 0,
  };
}

function shortWrite(number: 1 | 2, direct: Descriptors | undefined) {
  const write = direct?.write;
  return write && ((bytes: Uint8Array) => write(number, bytes));
}

/** What a pipe takes at once; a longer text may have to wait for its reader. */
const short = 64 * 1024;

/** Writes what the system takes at once; what it does not take is left for the stream. */
function writeShort(now: (bytes: Uint8Array) => number, text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  let done = 0;
  try {
    while (done < bytes.length) done += now(bytes.subarray(done));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
  return bytes.subarray(done);
}

function asFailure(error: NodeJS.ErrnoException): Error {
  const { code } = error;
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ECONNRESET')
    return new PipeClosedError('the reader of the output went away', { cause: error });
  return new OutputError(`The output cannot be written: ${systemReason(error)}.`, { cause: error });
}

function sizeFrom(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined;
}

/**
 * Everything on stdin, at most `limit` bytes; `isStopped`: a signal came and the stream was closed.
 * Throws InputError, CancelledError.
 */
export async function readAll(
  stdin: AsyncIterable<string | Uint8Array>,
  limit: number,
  isStopped: () => boolean = () => false,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk as Uint8Array);
      size += bytes.length;
      if (size > limit) break;
      chunks.push(bytes);
    }
  } catch (error) {
    if (isStopped()) throw stoppedReading('stdin');
    throw new InputError(`stdin cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  if (size > limit) throw new InputError(`stdin holds more than ${limit} bytes.`);
  return Buffer.concat(chunks);
}
