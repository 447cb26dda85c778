import { singleLine } from './safe-text.js';
import type { ProcessStreams } from './streams.js';

/** A counter or spinner on stderr, only where a person looks on; otherwise a plain line every 10 s. */
export interface Progress {
  /** Starts one; `text` is made safe. Only one at a time. */
  start(text: string): ProgressLine;
}

export interface ProgressLine {
  update(text: string): void;
  /** Removes the line. */
  stop(): void;
}

/** Nothing moves for work that is done at once; this also spares it loading the spinner. */
const patienceMs = 300;
const plainEveryMs = 10_000;

/** Progress on stderr: a spinner for a person, a line every 10 s for a log, nothing with --quiet. */
export function createProgress(
  streams: ProcessStreams,
  { quiet }: { readonly quiet: boolean },
): Progress {
  return {
    start(text) {
      if (quiet) return silent;
      return streams.animates ? spinner(streams, text) : plainLines(streams, text);
    },
  };
}

const silent: ProgressLine = { update: () => {}, stop: () => {} };

function spinner(streams: ProcessStreams, text: string): ProgressLine {
  let shown = text;
  let running: { tell(text: string): void; stop(): unknown } | undefined;
  let stopped = false;
  const begin = async () => {
    const [{ default: ora }, { truncate }] = await Promise.all([
      import('ora'),
      import('./width.js'),
    ]);
    if (stopped) return;
    // One line of safe text that leaves room for the spinner; a wrapped line could not be cleared.
    const fitted = (line: string) =>
      truncate(singleLine(streams.redacted(line)), Math.max(1, streams.stderr.columns - 4));
    const line = ora({
      text: fitted(shown),
      stream: streams.terminal.output,
      isEnabled: true,
      // It would put stdin into raw mode and take Ctrl-C away from our signal handling.
      discardStdin: false,
      color: streams.stderr.color ? 'cyan' : false,
    }).start();
    running = {
      tell: (next) => {
        line.text = fitted(next);
      },
      stop: () => line.stop(),
    };
  };
  const timer = setTimeout(() => void begin().catch(() => {}), patienceMs);
  timer.unref();
  return {
    update(next) {
      shown = next;
      running?.tell(next);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      running?.stop();
      running = undefined;
    },
  };
}

function plainLines(streams: ProcessStreams, text: string): ProgressLine {
  let shown = text;
  const timer = setInterval(
    () => void streams.stderr.write(`${singleLine(shown)}\n`),
    plainEveryMs,
  );
  timer.unref();
  return {
    update(next) {
      shown = next;
    },
    stop: () => clearInterval(timer),
  };
}
