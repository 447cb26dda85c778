/** Job control: what happens to prompts, spinners and a pager when Ctrl-Z stops the process. */

/** A child gets Ctrl-Z at the same time, and either of the two signals may arrive first. */
const childStopMs = 20;

/**
 * Handles Ctrl-Z: drawing code clears its line before the process stops; next to a pager, the
 * process stops when the pager does.
 */
export function watchStops(process: NodeJS.Process) {
  const drawing = new Set<() => () => void>();
  const stop = () => {
    const resume = [...drawing].map((clear) => clear());
    stopNow(process, stop, () => {
      if (drawing.size > 0) process.on('SIGTSTP', stop);
      for (const draw of resume) draw();
    });
  };
  return {
    /** True while a prompt or spinner owns a line of the terminal and clears what a key echoed there. */
    get isDrawnOn(): boolean {
      return drawing.size > 0;
    },
    onStop: (clear: () => () => void): (() => void) => {
      if (drawing.size === 0) process.on('SIGTSTP', stop);
      drawing.add(clear);
      return () => {
        drawing.delete(clear);
        if (drawing.size === 0) process.off('SIGTSTP', stop);
      };
    },
    follow: (isInUse: () => boolean): (() => void) => {
      let isRequested = false;
      const onRequest = () => {
        isRequested = true;
      };
      const onChild = () => {
        setTimeout(() => {
          if (!isRequested || !isInUse()) return;
          isRequested = false;
          stopNow(process, onRequest, () => {
            if (isInUse()) process.on('SIGTSTP', onRequest);
          });
        }, childStopMs).unref();
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
function stopNow(process: NodeJS.Process, listener: () => void, resume: () => void): void {
  process.off('SIGTSTP', listener);
  process.kill(process.pid, 'SIGTSTP');
  setImmediate(resume);
}
