import { PassThrough } from 'node:stream';
import { createStreams, type ProcessStreams } from '../../src/terminal/streams.js';

/** Streams of a made-up process, and what was written to them. */
export interface Screen {
  readonly streams: ProcessStreams;
  readonly stdin: PassThrough;
  stdout(): string;
  stderr(): string;
}

export interface ScreenOptions {
  /** stdout is a terminal of so many columns; absent: a pipe. */
  readonly columns?: number;
  readonly rows?: number;
  /** stdin and stderr are terminals as well. */
  readonly interactive?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** No colour unless the environment forces it, so that tests can read the text. */
export function screen({ columns, rows, interactive, env }: ScreenOptions = {}): Screen {
  const terminal = { isTTY: true, columns: columns ?? 80, rows: rows ?? 1000 };
  const stdin = Object.assign(new PassThrough(), interactive ? { isTTY: true } : {});
  const stdout = Object.assign(new PassThrough(), columns === undefined ? {} : terminal);
  const stderr = Object.assign(new PassThrough(), interactive ? terminal : {});
  const written = { stdout: '', stderr: '' };
  stdout.on('data', (chunk: Buffer) => (written.stdout += chunk));
  stderr.on('data', (chunk: Buffer) => (written.stderr += chunk));
  return {
    streams: createStreams({ stdin, stdout, stderr, env: { NO_COLOR: '1', ...env } }),
    stdin,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
  };
}
