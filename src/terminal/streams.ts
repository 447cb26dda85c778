/** The process's streams: terminal detection, colour, and writing that waits, redacts and reports errors. */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { type Environment, isUtf8Locale, runsInCi } from '../data/environment.js';
import { InputError, stoppedReading, UsageError } from '../errors.js';
import { createRedactor } from './redactor.js';
import { createWriter, syncDirect, type TerminalOutput } from './stream-writer.js';
import { forLocale } from './without-utf8.js';

/** One of the two output streams. Nothing else writes to the process's streams. */
export interface OutputStream {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 if it is not a terminal and COLUMNS is not set. */
  readonly columns: number;
  readonly rows: number;
  /** True if this stream gets colour, as decided by NO_COLOR and related variables for each stream. */
  readonly color: boolean;
  /**
   * Writes and waits until the text is handed over. Throws PipeClosedError if the reader closed the
   * pipe, OutputError if it cannot be written (full disk), CancelledError after `stopWaiting`.
   */
  write(text: string | Uint8Array): Promise<void>;
}

/** The three standard streams. stderr ignores a closed pipe and passes everything through the redactor. */
export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: {
    readonly isTerminal: boolean;
    /** True once it was read as input: it can no longer be used for prompts, even if it is a terminal. */
    readonly wasRead: boolean;
    /** Reads all of stdin, only where the user asked for it. Throws InputError beyond `limit` bytes. */
    readAll(limit: number): Promise<Buffer>;
    /** The raw stream, for spooling. */
    readonly stream: NodeJS.ReadableStream;
  };
  /** Returns a text without secrets, as stderr would print it; for text of the service on stdout. */
  readonly redacted: (text: string) => string;
}

/** The process's own streams, wrapped, with what prompts, spinner and pager need in addition. */
export interface ProcessStreams extends Streams {
  /** The raw stdin and stderr, for code that draws on a terminal itself. */
  readonly terminal: { readonly input: TerminalInput; readonly output: TerminalOutput };
  /** True if stderr can show a spinner: a terminal, not TERM=dumb, not CI. */
  readonly canAnimate: boolean;
  /** After this, the secret, also as encoded in JSON or a URL, is redacted on stderr. */
  redact(secret: string): void;
  /** After this, the query of this signed URL and each long value in it are redacted on stderr. */
  redactUrl(url: string): void;
  /** Registers a callback for each write to stdout, called before it. */
  onOutput(listener: () => void): void;
  /** Turns colour off for `--no-color`, which is known only after the command line was parsed. */
  withoutColor(): void;
  /** After a signal: current and later reads of stdin throw CancelledError. */
  stopReading(): void;
  /** After a signal, unless a report of changes is being printed: writes no longer wait for their reader. */
  stopWaiting(): void;
  /** Resolves when what stdout got is on disk, if it is a file. Throws OutputError if the disk fails. */
  syncOutput(): Promise<void>;
  /** True if an abandoned write is still pending, which would keep the process alive. */
  readonly hasAbandonedWrite: boolean;
}

export type TerminalInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean;
  /** Absent where the stream is not a terminal. */
  setRawMode?(on: boolean): unknown;
};

const readingNotice = 'Reading from the terminal; end with Ctrl-D.\n';

interface StreamsOptions {
  readonly stdin: TerminalInput;
  readonly stdout: TerminalOutput;
  readonly stderr: TerminalOutput;
  readonly env: Environment;
}

/** Direct access to the file descriptors, because opening a stream costs 5 ms and is often unnecessary. */
interface Descriptors {
  isTerminal(descriptor: 0 | 1 | 2): boolean;
  /** Writes synchronously and returns the number of bytes written; throws the system's error. */
  readonly write?: ((descriptor: 1 | 2, bytes: Uint8Array) => number) | undefined;
}

/**
 * Wraps the process's streams; the only writer to them besides a prompt, spinner or pager. Each stream
 * of `source` is opened when first used, because opening all three costs milliseconds at start-up.
 */
export function createStreams(source: StreamsOptions, direct?: Descriptors): ProcessStreams {
  const { env } = source;
  const redactor = createRedactor();
  let onOutput: (() => void) | undefined;
  let isColorOff = false;
  const stdout = () => source.stdout;
  const stderr = () => source.stderr;
  const isTerminal = (number: 0 | 1 | 2, raw: () => TerminalInput | TerminalOutput) =>
    direct ? direct.isTerminal(number) : raw().isTTY === true;
  const isOutputTerminal = () => isTerminal(1, stdout);
  const isErrorTerminal = () => isTerminal(2, stderr);
  const mayColor = () => !isColorOff;
  const out = createWriter(stdout, directWrite(1, direct));
  const err = createWriter(stderr, directWrite(2, direct));
  const input = inputStream(source, {
    isTerminal: () => isTerminal(0, () => source.stdin),
    isDirect: direct !== undefined,
    // Waiting for typed input looks like hanging.
    noteTyping: () => void err.write(readingNotice),
  });
  return {
    stdout: outputStream({ env, raw: stdout, isTerminal: isOutputTerminal, mayColor }, (text) => {
      onOutput?.();
      return out.write(text);
    }),
    stderr: outputStream({ env, raw: stderr, isTerminal: isErrorTerminal, mayColor }, (text) => {
      const redacted = typeof text === 'string' ? redactor.cleanAll(text, isErrorTerminal) : text;
      // A closed stderr cannot be reported anywhere.
      return err.write(redacted).catch(() => {});
    }),
    stdin: input.stdin,
    stopReading: input.stop,
    terminal: {
      get input() {
        return source.stdin;
      },
      get output() {
        // Drawing code yields to writes to the streams, not to the descriptors.
        err.throughStream();
        if (isOutputTerminal()) out.throughStream();
        return source.stderr;
      },
    },
    get canAnimate() {
      if (!isErrorTerminal() || env['TERM'] === 'dumb' || runsInCi(env)) return false;
      // A serial line reports 0 columns, and a spinner would never finish clearing it.
      return stderr().columns !== 0;
    },
    redact: redactor.add,
    redactUrl: redactor.addUrl,
    redacted: redactor.clean,
    onOutput: (listener) => {
      onOutput = listener;
    },
    withoutColor: () => {
      isColorOff = true;
    },
    stopWaiting() {
      out.stopWaiting();
      err.stopWaiting();
    },
    syncOutput: async () => {
      if (direct?.write && fstatSync(1).isFile()) await syncDirect(1);
    },
    get hasAbandonedWrite() {
      return out.isHeld() || err.isHeld();
    },
  };
}

/** False for a file, a pipe or /dev/null, which spares the terminal check: that loads much of `node:net`. */
export function mayBeTerminal(descriptor: number, platform: NodeJS.Platform): boolean {
  try {
    // On Windows, the device type of a console is not reliable.
    if (platform === 'win32') return true;
    const opened = fstatSync(descriptor);
    return (
      opened.isCharacterDevice() &&
      opened.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev
    );
  } catch {
    return false;
  }
}

/**
 * Closes the terminals at the end. Node would set each as it was when the command started, although a pager
 * or a program in front has changed it since, and abort where one is gone, with the key in the core dump.
 */
export function leaveTerminals(platform: NodeJS.Platform): void {
  const terminals = [0, 1, 2].filter((each) => mayBeTerminal(each, platform));
  // Windows has no such modes.
  if (platform === 'win32' || terminals.length === 0) return;
  try {
    // Without an open descriptor, the terminal would hang up and send SIGHUP before the process ends.
    openSync('/dev/tty', 'r');
  } catch {
    // No SIGHUP comes from a terminal of another session.
  }
  for (const each of terminals) closeSync(each);
}

interface OutputOptions {
  readonly env: Environment;
  readonly raw: () => TerminalOutput;
  readonly isTerminal: () => boolean;
  /** False after `--no-color`. */
  readonly mayColor: () => boolean;
}

function outputStream(
  { env, raw, isTerminal, mayColor }: OutputOptions,
  write: OutputStream['write'],
): OutputStream {
  return {
    get isTerminal() {
      return isTerminal();
    },
    get columns() {
      return sizeFrom(env['COLUMNS']) ?? ((isTerminal() && raw().columns) || 80);
    },
    get rows() {
      return sizeFrom(env['LINES']) ?? ((isTerminal() && raw().rows) || 24);
    },
    get color() {
      return mayColor() && wantsColor(isTerminal(), env);
    },
    write: (text) => write(!isUtf8Locale(env) && isTerminal() ? forLocale(text, env) : text),
  };
}

interface InputOptions {
  readonly isTerminal: () => boolean;
  /** True if the stream is that of descriptor 0. */
  readonly isDirect: boolean;
  /** Called before the first read from a terminal. */
  readonly noteTyping: () => void;
}

function inputStream(
  source: Pick<StreamsOptions, 'stdin'>,
  { isTerminal, isDirect, noteTyping }: InputOptions,
): { readonly stdin: Streams['stdin']; readonly stop: () => void } {
  let wasRead = false;
  let wasStopped = false;
  const open = () => {
    if (wasStopped) throw stoppedReading('stdin');
    if (wasRead)
      throw new UsageError('stdin can be read only once, and this command reads it twice.', {
        hint: 'Save one of the inputs to a file, and name that.',
      });
    // Node reads a folder as an empty file.
    if (isDirect && fstatSync(0).isDirectory())
      throw new InputError('stdin is a folder, not a file.', { hint: 'Redirect a file: < FILE' });
    if (isTerminal()) noteTyping();
    wasRead = true;
    return source.stdin;
  };
  return {
    stdin: {
      get isTerminal() {
        return isTerminal();
      },
      get wasRead() {
        return wasRead;
      },
      get stream() {
        return open();
      },
      readAll: (limit) => readAll(open(), limit, () => wasStopped),
    },
    stop() {
      wasStopped = true;
      if (wasRead) (source.stdin as { destroy?: () => void }).destroy?.();
    },
  };
}

/** Returns true if a stream gets colour: force beats disable, as in Node and gh; disable beats terminal. */
export function wantsColor(isTerminal: boolean, env: Environment): boolean {
  const force = env['FORCE_COLOR'];
  if (force) return force !== '0' && force !== 'false';
  if (env['CLICOLOR_FORCE'] && env['CLICOLOR_FORCE'] !== '0') return true;
  if (env['NO_COLOR'] || env['CLICOLOR'] === '0' || env['TERM'] === 'dumb') return false;
  return isTerminal;
}

function directWrite(number: 1 | 2, direct: Descriptors | undefined) {
  const write = direct?.write;
  return write && ((bytes: Uint8Array) => write(number, bytes));
}

function sizeFrom(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined;
}

/** Reads all of stdin. Throws InputError beyond `limit` bytes, CancelledError if `isStopped` by a signal. */
async function readAll(
  stdin: AsyncIterable<string | Uint8Array>,
  limit: number,
  isStopped: () => boolean,
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
