import { Writable } from 'node:stream';
import { upperFirst } from '../data/text.js';
import { CancelledError, UsageError } from '../errors.js';
import { singleLine } from './safe-text.js';
import type { ProcessStreams, TerminalInput } from './streams.js';

/** What to do when nobody can be asked, such as `Add: --yes`. */
interface NotAsked {
  readonly hint?: string | undefined;
}

/** Questions to a person; all go to stderr. Each throws UsageError when nobody can be asked. */
export interface Prompts {
  /** Why nobody can be asked, as in "would change, and there is nobody to ask"; undefined: somebody can. */
  readonly nobody: string | undefined;
  /** `[y/N]`, default No. Throws CancelledError on Ctrl-C or Escape; false is a No. */
  confirm(question: string, options?: NotAsked): Promise<boolean>;
  text(
    question: string,
    options?: NotAsked & {
      default?: string;
      validate?: (value: string) => string | undefined;
    },
  ): Promise<string>;
  /** Masked input for a key. */
  secret(question: string, options?: NotAsked): Promise<string>;
  select<T extends string>(
    question: string,
    choices: readonly { value: T; label: string }[],
    options?: NotAsked,
  ): Promise<T>;
}

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

/** Prompts on the process's terminal; `noInput` also says that this is CI. */
export function createPrompts(
  streams: ProcessStreams,
  { noInput, ...world }: { readonly noInput: boolean } & PromptWorld,
): Prompts {
  // Looked at when somebody is to be asked: opening both streams costs a start a millisecond.
  const nobody = (): string | undefined => {
    const { stdin, stderr } = streams;
    if (!stdin.isTerminal || !stderr.isTerminal) return 'there is nobody to ask';
    if (noInput) return 'nobody is to be asked (--no-input, ROSTERCTL_NO_INPUT or CI)';
    return stdin.wasRead ? 'stdin was read, so nobody can be asked' : undefined;
  };
  const ask = async <T>(
    question: string,
    { hint = 'Give it as a flag; see --help.' }: NotAsked,
    prompt: (message: string, context: Asking) => Promise<T>,
  ): Promise<T> => {
    const message = singleLine(question);
    const why = nobody();
    if (why !== undefined) throw new UsageError(`${upperFirst(why)}: ${message}`, { hint });
    if (world.signal.aborted) throw new CancelledError(untouched);
    world.onAsk?.();
    return withTerminal(streams, world, (context) => prompt(message, context));
  };
  const { withEditing } = world;
  return {
    get nobody() {
      return nobody();
    },
    confirm: (question, options = {}) =>
      ask(question, options, async (message, context) => {
        const { confirm } = await import('@inquirer/prompts');
        return withEditing(() => confirm({ message, default: false }, context));
      }),
    text: (question, { validate, default: preset, ...options } = {}) =>
      ask(question, options, async (message, context) => {
        const { input } = await import('@inquirer/prompts');
        const asked = {
          message,
          ...(preset !== undefined && { default: singleLine(preset) }),
          ...(validate && { validate: (value: string) => complaint(validate(value)) }),
        };
        return withEditing(() => input(asked, context));
      }),
    secret: (question, options = {}) =>
      ask(question, options, async (message, context) => {
        const { password } = await import('@inquirer/prompts');
        return withEditing(() => password({ message, mask: '*', toggleMask: false }, context));
      }),
    select: (question, choices, options = {}) =>
      ask(question, options, async (message, context) => {
        const { select } = await import('@inquirer/prompts');
        const shown = choices.map(({ value, label }) => ({ value, name: singleLine(label) }));
        return withEditing(() => select({ message, choices: shown }, context));
      }),
  };
}

const untouched = 'Nothing was done.';

interface Asking {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

function complaint(problem: string | undefined): string | true {
  return problem === undefined ? true : singleLine(problem);
}

/** Runs one prompt; Escape, Ctrl-C, a signal and the end of stdin all mean that the person wants out. */
async function withTerminal<T>(
  streams: ProcessStreams,
  { signal, onContinue, onStop }: PromptWorld,
  prompt: (context: Asking) => Promise<T>,
): Promise<T> {
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
