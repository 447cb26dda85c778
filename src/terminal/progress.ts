import { singleLine } from './safe-text.js';
import type { ProcessStreams } from './streams.js';

/** A counter or spinner on stderr, only where a person looks on; otherwise a plain line every 10 s. */
export interface Progress {
  /** Starts one; `text` is asked for what to show each time, and made safe. Only one at a time. */
  start(text: () => string): ProgressLine;
}

interface ProgressLine {
  /** Removes the line. */
  stop(): void;
}

/** The same for the process as a whole, with the line that tells of waiting where no other is drawn. */
interface ProcessProgress extends Progress {
  /** Something is waited for; the result says that it came. Costs nothing until somebody has waited long. */
  readonly showWaiting: (text: () => string) => () => void;
  /** Something else is to be seen now: takes away what tells of waiting. */
  readonly hideWaiting: () => void;
  /** From now on nobody is told of waiting. */
  readonly end: () => void;
}

/** What may happen to the process while a line is drawn. */
interface ProgressWorld {
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
): ProcessProgress {
  const waits = waitingLine((text) => spinner(streams, text, onStop));
  let own: ProgressLine | undefined;
  return {
    start(text) {
      if (quiet) return silent;
      waits.makeWay();
      const line = streams.canAnimate ? spinner(streams, text, onStop) : plainLines(streams, text);
      own = line;
      return {
        stop() {
          if (own === line) own = undefined;
          line.stop();
        },
      };
    },
    showWaiting: (text) => (quiet || own ? came : waits.begin(text)),
    hideWaiting: waits.makeWay,
    end: waits.end,
  };
}

const silent: ProgressLine = { stop: () => {} };
const came = () => {};

/** One line for all that is waited for: it stays where one wait follows upon another. */
function waitingLine(draw: (text: () => string) => ProgressLine) {
  let line: ProgressLine | undefined;
  let latest: (() => string) | undefined;
  let count = 0;
  let isOver = false;
  const makeWay = () => {
    line?.stop();
    line = undefined;
  };
  const end = () => {
    isOver = true;
    makeWay();
  };
  return {
    begin(text: () => string): () => void {
      if (isOver) return came;
      count += 1;
      latest = text;
      line ??= draw(() => latest?.() ?? '');
      return () => {
        count -= 1;
        if (count > 0) return;
        setImmediate(() => {
          if (count === 0) makeWay();
        });
      };
    },
    makeWay,
    end,
  };
}

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
  const timer = setTimeout(() => {
    // Asked this late, for it would cost a start that is done by now.
    if (streams.canAnimate) void begin().catch(() => {});
  }, patienceMs);
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
