/** What a question is drawn on, and what becomes of it when the person leaves or the process stops. */
import { Writable } from 'node:stream';
import { CancelledError } from '../errors.js';
import type { ProcessStreams, TerminalInput } from './streams.js';

/** What may happen to the process while somebody is asked. */
export interface PromptWorld {
  /** A signal came: nobody is asked any more. */
  readonly signal: AbortSignal;
  /** Hears that a question is about to be asked. */
  readonly onAsk?: () => void;
  /** Calls back each time that the process goes on after Ctrl-Z; the result ends that. */
  readonly onContinue: (heard: () => void) => () => void;
  /** Calls back before Ctrl-Z stops the process, and what that gives when it goes on; the result ends that. */
  readonly onStop: (makeWay: () => () => void) => () => void;
  /** Opens a question whose line can be edited, also where TERM says that the terminal is dumb. */
  readonly withEditing: <T>(open: () => T) => T;
}

/** Where a question is asked. */
export interface Asking {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

const untouched = 'Nothing was done.';

/** Runs one prompt; Escape, Ctrl-C, a signal and the end of stdin all mean that the person wants out. */
export async function withTerminal<T>(
  streams: ProcessStreams,
  { signal, onAsk, onContinue, onStop }: PromptWorld,
  prompt: (context: Asking) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new CancelledError(untouched);
  onAsk?.();
  const { input } = streams.terminal;
  const aborter = new AbortController();
  const onKey = (_: unknown, key: { name?: string; ctrl?: boolean } | undefined) => {
    // Ctrl-D closes the prompt's reader without a word, and nothing would keep the process alive.
    if (key?.name === 'escape' || (key?.ctrl && key.name === 'd')) aborter.abort();
  };
  // A closed stdin would leave the prompt waiting for ever.
  const onEnd = () => aborter.abort();
  const { output, redraw } = drawOn(streams);
  input.on('keypress', onKey);
  input.once('end', onEnd);
  signal.addEventListener('abort', onEnd, { once: true });
  const offContinue = onContinue(() => {
    takeTerminal(input);
    // The prompt itself draws only with the next key.
    redraw();
  });
  const offStop = onStop(() => {
    // A list of choices hides it.
    output.write(showCursor);
    return () => {};
  });
  try {
    return await prompt({ input, output, signal: aborter.signal });
  } catch (error) {
    const name = (error as Error).name;
    if (name === 'ExitPromptError' || name === 'AbortPromptError' || name === 'CancelPromptError')
      throw new CancelledError(untouched, { cause: error });
    throw error;
  } finally {
    input.off('keypress', onKey);
    input.off('end', onEnd);
    signal.removeEventListener('abort', onEnd);
    offContinue();
    offStop();
    // readline leaves stdin flowing on some systems, and that would keep the process alive.
    input.pause();
    // What the prompt drew last stands before whatever is said next.
    await new Promise<void>((resolve) => output.end(resolve));
  }
}

/**
 * After Ctrl-Z the shell has given the terminal its own mode, in which a key that is typed is shown,
 * and the prompt's reader has let go of it.
 */
function takeTerminal(input: TerminalInput): void {
  setImmediate(() => {
    const { setRawMode } = input as { setRawMode?: (on: boolean) => void };
    // The mode that it believes to be in is not set again.
    setRawMode?.call(input, false);
    setRawMode?.call(input, true);
    input.resume();
  });
}

const showCursor = '\u001b[?25h';

/** stderr for a prompt: without secrets, and without colour where none is wanted; it remembers the picture. */
function drawOn(streams: ProcessStreams): {
  readonly output: NodeJS.WritableStream;
  readonly redraw: () => void;
} {
  const { stderr } = streams;
  let picture = '';
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      if (text !== showCursor) picture = pictureAfter(picture, text);
      void stderr.write(stderr.color ? text : withoutSgr(text)).then(() => done(), done);
    },
  });
  Object.defineProperties(output, {
    isTTY: { value: true },
    columns: { get: () => stderr.columns },
    rows: { get: () => stderr.rows },
  });
  return {
    output,
    redraw: () => void output.write(`${eraseLine}${picture}`),
  };
}

const eraseLine = '\u001b[2K\u001b[G';

/** A prompt writes a whole picture at a time, behind what erases the last one, or moves the cursor in it. */
function pictureAfter(picture: string, written: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^\u001b\[\d+G$/.test(written)) return picture + written;
  // oxlint-disable-next-line no-control-regex
  return written.replace(/^(?:\u001b\[\d+B)?(?:\u001b\[2K(?:\u001b\[1A)?)*\u001b\[G/, '');
}

function withoutSgr(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[\d;]*m/g, '');
}
