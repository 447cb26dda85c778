/** The screen of a prompt: what it is drawn on, and how it ends on a cancelling key, a signal or Ctrl-Z. */
import { Writable } from 'node:stream';
import { CancelledError, nothingDone } from '../errors.js';
import { withoutColor } from './paint.js';
import type { ProcessStreams, TerminalInput } from './streams.js';

/** Events of the process during a prompt. */
export interface PromptWorld {
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP, which cancels a prompt. */
  readonly signal: AbortSignal;
  /** Called before a question is printed. */
  readonly onAsk?: () => void;
  /** Registers a callback for each time the process resumes after Ctrl-Z; returns the function that removes it. */
  readonly onContinue: (listener: () => void) => () => void;
  /**
   * Registers a callback for before Ctrl-Z stops the process, whose result is called on resume;
   * returns the function that removes it.
   */
  readonly onSuspend: (clear: () => () => void) => () => void;
}

/** The streams of one prompt, and the signal that cancels it. */
export interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Runs one prompt. Throws CancelledError on Escape, Ctrl-C, Ctrl-D, a signal or the end of stdin. */
export async function withTerminal<T>(
  streams: ProcessStreams,
  { signal, onAsk, onContinue, onSuspend }: PromptWorld,
  prompt: (context: PromptContext) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new CancelledError(nothingDone);
  onAsk?.();
  const { input } = streams.terminal;
  const aborter = new AbortController();
  const onKey = (_: unknown, key: { name?: string; ctrl?: boolean } | undefined) => {
    // Ctrl-D closes the prompt's reader silently, and nothing would keep the process alive.
    if (key?.name === 'escape' || (key?.ctrl && key.name === 'd')) aborter.abort();
  };
  // With a closed stdin the prompt would wait for ever.
  const onEnd = () => aborter.abort();
  const { output, leave, redraw } = promptOutput(streams);
  input.on('keypress', onKey);
  input.once('end', onEnd);
  signal.addEventListener('abort', onEnd, { once: true });
  const offContinue = onContinue(() => {
    restoreTerminal(input);
    // The prompt itself redraws only on the next key.
    redraw();
  });
  const offSuspend = onSuspend(() => {
    leave();
    return () => {};
  });
  try {
    return await prompt({ input, output, signal: aborter.signal });
  } catch (error) {
    const name = (error as Error).name;
    if (name === 'ExitPromptError' || name === 'AbortPromptError' || name === 'CancelPromptError')
      throw new CancelledError(nothingDone, { cause: error });
    throw error;
  } finally {
    input.off('keypress', onKey);
    input.off('end', onEnd);
    signal.removeEventListener('abort', onEnd);
    offContinue();
    offSuspend();
    // readline leaves stdin flowing on some systems, and that would keep the process alive.
    input.pause();
    // Flush what the prompt drew before the next message, and erase what a narrower window left below.
    await new Promise<void>((resolve) => output.end(resolve));
    await streams.stderr.write(eraseBelow);
  }
}

/** Restores raw mode after Ctrl-Z, for which the shell set its own, and resumes the prompt's reader. */
function restoreTerminal(input: TerminalInput): void {
  setImmediate(() => {
    // Node does not set a mode that it believes to be active, so switch it off first.
    input.setRawMode?.(false);
    input.setRawMode?.(true);
    input.resume();
  });
}

/** Wraps stderr for a prompt: redacts secrets, drops colour if off, keeps the last frame to redraw. */
function promptOutput(streams: ProcessStreams): {
  readonly output: NodeJS.WritableStream;
  /** Leaves the terminal to a shell: shows the cursor, which a list hides, and erases what is below it. */
  readonly leave: () => void;
  readonly redraw: () => void;
} {
  const { stderr } = streams;
  let frame = '';
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      const raw = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      frame = frameAfter(frame, raw);
      const text = raw.replace(erasing, eraseFromTop);
      void stderr.write(stderr.color ? text : withoutColor(text)).then(() => done(), done);
    },
  });
  Object.defineProperties(output, {
    isTTY: { value: true },
    columns: { get: () => stderr.columns },
    rows: { get: () => stderr.rows },
  });
  return {
    output,
    leave: () => void stderr.write(`\u001b[?25h${eraseBelow}`),
    redraw: () => void output.write(`${eraseLine}${frame}`),
  };
}

const eraseLine = '\u001b[2K\u001b[G';
const eraseBelow = '\u001b[J';

/** The codes that erase a frame: down to its last line, then line by line up to its first. */
// oxlint-disable-next-line no-control-regex
const erasing = /^(?:\u001b\[(\d+)B)?((?:\u001b\[2K(?:\u001b\[1A)?)*)\u001b\[G/;

/**
 * Erases the same frame from its first line to the end of the screen: where a narrower window broke
 * its lines into more, its last line is not where the prompt left it.
 */
function eraseFromTop(_: string, below: string | undefined, lines: string): string {
  const up = (lines.match(/A/g)?.length ?? 0) - Number(below ?? 0);
  return `${up > 0 ? `\u001b[${up}A` : ''}\u001b[G${eraseBelow}`;
}

/** The frame after a write: of a cursor movement, or of a frame behind codes that erase the last one. */
function frameAfter(frame: string, written: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^\u001b\[\d+G$/.test(written)) return frame + written;
  return written.replace(erasing, '');
}
