/** Signals: which end a command and how, and what Ctrl-Z does to prompts, spinners and a pager. */
import { setMaxListeners } from 'node:events';
import { exit } from '../exit-codes.js';

/** The part of `process` that sends and receives signals. */
export type SignalSource = Pick<
  NodeJS.Process,
  'on' | 'off' | 'kill' | 'exit' | 'pid' | 'platform'
>;

/** The parent of a child that exits learns of the signal first, and of the exit right after it. */
const childExitMs = 20;

/**
 * Handles Ctrl-Z: drawing code clears its line before the process stops; next to a pager, the
 * process stops when the pager does.
 */
export function watchSuspension(process: SignalSource) {
  const drawing = new Set<() => () => void>();
  const onKey = () => {
    const resume = [...drawing].map((clear) => clear());
    suspendNow(process, onKey, () => {
      if (drawing.size > 0) process.on('SIGTSTP', onKey);
      for (const draw of resume) draw();
    });
  };
  return {
    /** True while a prompt or spinner owns a line of the terminal and clears what a key echoed there. */
    isDrawnOn: (): boolean => drawing.size > 0,
    /** Suspends the process as Ctrl-Z does, for a screen that reads its keys itself. */
    suspend: (): void => {
      // Windows has no such signal.
      if (process.platform === 'win32') return;
      process.kill(process.pid, 'SIGTSTP');
    },
    onSuspend: (clear: () => () => void): (() => void) => {
      if (drawing.size === 0) process.on('SIGTSTP', onKey);
      drawing.add(clear);
      return () => {
        drawing.delete(clear);
        if (drawing.size === 0) process.off('SIGTSTP', onKey);
      };
    },
    follow: (isInUse: () => boolean): (() => void) => {
      let isRequested = false;
      let isChildStopped = false;
      // Either of the two signals may arrive first, however much later the other does.
      const stopWithChild = () => {
        if (!isRequested || !isChildStopped) return;
        setTimeout(() => {
          if (!isRequested || !isInUse()) return;
          isRequested = false;
          suspendNow(process, onRequest, () => {
            if (isInUse()) process.on('SIGTSTP', onRequest);
          });
        }, childExitMs).unref();
      };
      const onRequest = () => {
        isRequested = true;
        stopWithChild();
      };
      const onChild = () => {
        // Once it has stopped, it is taken to stop at each Ctrl-Z.
        isChildStopped = true;
        stopWithChild();
      };
      process.on('SIGTSTP', onRequest);
      // A parent gets SIGCHLD for a child that stops as for one that ends.
      process.on('SIGCHLD', onChild);
      return () => {
        process.off('SIGTSTP', onRequest);
        process.off('SIGCHLD', onChild);
      };
    },
  };
}

/** Stops the process with the default action of SIGTSTP, which does nothing if no shell could resume it. */
function suspendNow(process: SignalSource, listener: () => void, resume: () => void): void {
  process.off('SIGTSTP', listener);
  process.kill(process.pid, 'SIGTSTP');
  setImmediate(resume);
}

const signalExits = {
  SIGINT: exit.interrupted,
  SIGTERM: exit.terminated,
  SIGHUP: exit.hungUp,
} as const;
const graceMs = 10_000;

/** Aborts on the first signal and leaves requests in flight a grace period; the second signal exits at once. */
export function watchSignals(owner: SignalSource, onInterrupt: () => void) {
  const controller = new AbortController();
  // Hundreds of requests may be in flight or wait at once, and Node would warn at the eleventh listener.
  setMaxListeners(0, controller.signal);
  let code: number | undefined;
  let expected = false;
  let ignored = false;
  let beforeQuitting: ((code: number) => void) | undefined;
  const names = Object.keys(signalExits) as (keyof typeof signalExits)[];
  const onSignal = (name: keyof typeof signalExits) => {
    if (ignored && name === 'SIGINT') return;
    if (name === 'SIGINT') onInterrupt();
    if (code !== undefined) {
      beforeQuitting?.(code);
      owner.exit(code);
    }
    code = signalExits[name];
    controller.abort();
    setTimeout(() => owner.exit(code), graceMs).unref();
  };
  for (const name of names) owner.on(name, onSignal);
  return {
    signal: controller.signal,
    /** Ends the command as the first SIGTERM would. */
    end: () => onSignal('SIGTERM'),
    code: () => (expected ? undefined : code),
    expect: () => {
      expected = true;
    },
    /** Sets what is done right before the second signal ends the process, until the result is called. */
    onQuit: (listener: (code: number) => void): (() => void) => {
      beforeQuitting = listener;
      return () => {
        beforeQuitting = undefined;
      };
    },
    ignoreInterrupts: () => {
      ignored = true;
      return () => {
        ignored = false;
      };
    },
    stop: () => {
      for (const name of names) owner.off(name, onSignal);
    },
  };
}
