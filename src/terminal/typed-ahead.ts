/** Drops keys that were pressed before a list was shown, so that they do not choose from it. */
import { CancelledError, nothingDone } from '../errors.js';
import type { TerminalInput } from './streams.js';

/** How long the terminal must be silent. Longer than the pause between the repeats of a key that is held. */
const silenceMs = 50;

/**
 * Resolves once the terminal holds no more of what was typed, not even a line without its Enter. Throws
 * CancelledError on a key that cancels, the end of stdin, or `signal`.
 */
export async function dropTypedAhead(input: TerminalInput, signal: AbortSignal): Promise<void> {
  input.setRawMode?.(true);
  try {
    await silence(input, signal);
  } finally {
    input.pause();
    input.setRawMode?.(false);
  }
}

/** Ctrl-C, Escape, and Ctrl-D, which a terminal that edits lines holds as NUL, cancel a question before it is shown. */
// oxlint-disable-next-line no-control-regex
const cancelling = /[\u0000\u0003\u0004]|\u001b$/;

function silence(input: TerminalInput, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      input.off('data', onData);
      input.off('end', cancel);
      signal.removeEventListener('abort', cancel);
      settle();
    };
    const cancel = () => end(() => reject(new CancelledError(nothingDone)));
    const onData = (chunk: Uint8Array | string) => {
      if (cancelling.test(Buffer.from(chunk as string).toString('latin1'))) cancel();
      else wait();
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(onSilence, silenceMs);
    };
    const onSilence = () => {
      const waited = timer;
      // A busy process may be late for this and for what was typed: that is read first.
      setImmediate(() => {
        if (timer === waited) end(resolve);
      });
    };
    input.on('data', onData);
    input.once('end', cancel);
    signal.addEventListener('abort', cancel, { once: true });
    input.resume();
    wait();
  });
}
