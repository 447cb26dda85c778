import { singleLine } from './safe-text.js';
import type { ProcessStreams } from './streams.js';

/** A counter or spinner on stderr, only where a person looks on; otherwise a plain line every 10 s. */
export interface Progress {
  /** Starts one; `text` is asked for what to show each time, and made safe. Only one at a time. */
  start(text: () => string): ProgressLine;
}

export interface ProgressLine {
  /** Removes the line. */
  stop(): void;
}

/** What may happen to the process while a line is drawn. */
export interface ProgressWorld {
  /** Calls back before Ctrl-Z stops the process, and what that gives when it goes on; the result ends that. */
  readonly onStop: (makeWay: () => () => void) => () => void;
}

/** Nothing moves for work that is done at once; this also spares it loading the spinner. */
const patienceMs = 300;
const movesEveryMs = 100;
const plainEveryMs = 10_000;

/** Progress on stderr: a spinner for a person, a line every 10 s for a log, nothing with --quiet. */
export function createProgress(
  streams: ProcessStreams,
  { quiet, onStop }: { readonly quiet: boolean } & ProgressWorld,
): Progress {
  return {
    start(text) {
      if (quiet) return silent;
      return streams.animates ? spinner(streams, text, onStop) : plainLines(streams, text);
    },
  };
}

const silent: ProgressLine = { stop: () => {} };

function spinner(
  streams: ProcessStreams,
  text: () => string,
  onStop: ProgressWorld['onStop'],
): ProgressLine {
  let end: (() => void) | undefined;
  let stopped = false;
  const begin = async () => {
    const [{ default: ora }, { truncate }] = await Promise.all([
      import('ora'),
      import('./width.js'),
    ]);
    if (stopped) return;
    // One line of safe text that leaves room for the spinner; a wrapped line could not be cleared.
    const fitted = () =>
      truncate(singleLine(streams.redacted(text())), Math.max(1, streams.stderr.columns - 4));
    const line = ora({
      text: fitted(),
      stream: streams.terminal.output,
      isEnabled: true,
      // It would put stdin into raw mode and take Ctrl-C away from our signal handling.
      discardStdin: false,
      color: streams.stderr.color ? 'cyan' : false,
    });
    // The shell gets a line of its own and a cursor.
    const offStop = onStop(() => {
      line.stop();
      return () => {
        if (!stopped) line.start();
      };
    });
    line.start();
    const moving = setInterval(() => {
      line.text = fitted();
    }, movesEveryMs);
    moving.unref();
    end = () => {
      clearInterval(moving);
      line.stop();
      offStop();
    };
  };
  const timer = setTimeout(() => void begin().catch(() => {}), patienceMs);
  timer.unref();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      end?.();
      end = undefined;
    },
  };
}

function plainLines(streams: ProcessStreams, text: () => string): ProgressLine {
  const timer = setInterval(
    () => void streams.stderr.write(`${singleLine(text())}\n`),
    plainEveryMs,
  );
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
