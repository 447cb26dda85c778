/** Progress: a spinner on stderr for a person, or a plain line every 10 seconds for a log. */
import type { PromptWorld } from './prompt-screen.js';
import { singleLine } from './safe-text.js';
import type { ProcessStreams } from './streams.js';

/** A counter or spinner on stderr for a person; otherwise a plain line every 10 s. */
export interface Progress {
  /**
   * Starts a line; `text` is called for each update and sanitized. Only one line at a time. `share`:
   * how much is done, from 0 to 1, where the total is known; the line is then a bar.
   */
  start(text: () => string, share?: () => number | undefined): ProgressLine;
}

interface ProgressLine {
  /** Removes the line. */
  stop(): void;
}

/** Progress of the process, with a line for waiting if no other is drawn. */
interface ProcessProgress extends Progress {
  /** Starts a wait; the returned function ends it. Costs nothing until the wait has become long. */
  readonly showWaiting: (text: () => string) => () => void;
  readonly hideWaiting: () => void;
  /** After this, no waiting line is drawn. */
  readonly end: () => void;
}

interface ProgressOptions extends Pick<PromptWorld, 'onSuspend'> {
  /** False if the terminal shows only ASCII. */
  readonly isUtf8?: boolean;
  readonly quiet: boolean;
  /** True for nothing that moves on the screen. */
  readonly plainPrompts?: boolean;
}

/** The delay before the first frame, so that short work neither flickers nor loads the spinner. */
const delayMs = 300;
const frameMs = 100;
const plainLineMs = 10_000;

/** Creates progress on stderr: a spinner for a person, a line every 10 s for a log, nothing with --quiet. */
export function createProgress(
  streams: ProcessStreams,
  { quiet, plainPrompts: isPlain = false, onSuspend, isUtf8 = true }: ProgressOptions,
): ProcessProgress {
  const waits = waitingLine((text) => spinner(streams, text, { onSuspend, isUtf8 }));
  let current: ProgressLine | undefined;
  return {
    start(text, share) {
      if (quiet) return silent;
      waits.hide();
      const line =
        streams.canAnimate && !isPlain
          ? spinner(streams, text, {
              onSuspend,
              isUtf8,
              drawn: share && (() => drawBar(streams, share(), isUtf8)),
            })
          : plainLines(streams, text);
      current = line;
      return {
        stop() {
          if (current === line) current = undefined;
          line.stop();
        },
      };
    },
    showWaiting: (text) => (quiet || isPlain || current ? noop : waits.begin(text)),
    hideWaiting: waits.hide,
    end: waits.end,
  };
}

const silent: ProgressLine = { stop: () => {} };
const noop = () => {};

/** One line for all waits, which stays while one wait follows another. */
function waitingLine(draw: (text: () => string) => ProgressLine) {
  let line: ProgressLine | undefined;
  let latest: (() => string) | undefined;
  let count = 0;
  let hasEnded = false;
  const hide = () => {
    line?.stop();
    line = undefined;
  };
  const end = () => {
    hasEnded = true;
    hide();
  };
  return {
    begin(text: () => string): () => void {
      if (hasEnded) return noop;
      count += 1;
      latest = text;
      line ??= draw(() => latest?.() ?? '');
      return () => {
        count -= 1;
        if (count > 0) return;
        setImmediate(() => {
          if (count === 0) hide();
        });
      };
    },
    hide,
    end,
  };
}

interface SpinnerOptions extends Pick<PromptWorld, 'onSuspend'> {
  readonly isUtf8: boolean;
  /** Draws a bar before the text instead of a spinner. */
  readonly drawn?: (() => string) | undefined;
}

function spinner(
  streams: ProcessStreams,
  text: () => string,
  { onSuspend, isUtf8, drawn }: SpinnerOptions,
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
      truncate(
        singleLine(streams.redacted(text())),
        Math.max(1, streams.stderr.columns - (drawn ? barWidth(streams) + 3 : 4)),
      );
    const bar = () => ({ interval: frameMs, frames: [drawn?.() ?? ''] });
    const line = ora({
      text: fitted(),
      ...(!isUtf8 && { spinner: { interval: frameMs, frames: ['-', '\\', '|', '/'] } }),
      ...(drawn && { spinner: bar() }),
      stream: streams.terminal.output,
      isEnabled: true,
      // It would put stdin into raw mode and take Ctrl-C away from our signal handling.
      discardStdin: false,
      color: streams.stderr.color ? 'cyan' : false,
    });
    // Leave the shell an empty line and a cursor.
    const offSuspend = onSuspend(() => {
      line.stop();
      return () => {
        if (!stopped) line.start();
      };
    });
    line.start();
    const frameTimer = setInterval(() => {
      line.text = fitted();
      if (drawn) line.spinner = bar();
    }, frameMs);
    frameTimer.unref();
    end = () => {
      clearInterval(frameTimer);
      line.stop();
      offSuspend();
    };
  };
  const timer = setTimeout(() => {
    // Checked this late, because the check would cost time at start-up.
    if (streams.canAnimate) void begin().catch(() => {});
  }, delayMs);
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

/** The columns of `123 of 400, 1.5/s, 3 min left`, and of what is around it. */
const countsWidth = 33;

/** The columns of a bar: a third of the line, or less, to leave room for the counts. */
function barWidth({ stderr: { columns } }: ProcessStreams): number {
  return Math.max(4, Math.min(28, Math.floor(columns / 3), columns - countsWidth));
}

/** `████████░░░░`, or `####....` where the locale is not UTF-8; empty without a share. */
function drawBar(streams: ProcessStreams, share: number | undefined, isUtf8: boolean): string {
  if (share === undefined) return '';
  const width = barWidth(streams);
  const done = Math.floor(width * Math.min(1, Math.max(0, share)));
  const [full, empty] = isUtf8 ? ['█', '░'] : ['#', '.'];
  return full.repeat(done) + empty.repeat(width - done);
}

function plainLines(streams: ProcessStreams, text: () => string): ProgressLine {
  const timer = setInterval(
    () => void streams.stderr.write(`${singleLine(text())}\n`),
    plainLineMs,
  );
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
