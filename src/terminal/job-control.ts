/** A child hears of Ctrl-Z at the same time, and which of us tells first is not said. */
const sameKeyMs = 20;

/** Ctrl-Z: whoever draws makes way before the process stops; beside a pager it stops when that does. */
export function watchStops(process: NodeJS.Process) {
  const drawing = new Set<() => () => void>();
  const stop = () => {
    const goOn = [...drawing].map((makeWay) => makeWay());
    stopNow(process, stop, () => {
      if (drawing.size > 0) process.on('SIGTSTP', stop);
      for (const draw of goOn) draw();
    });
  };
  return {
    /** Somebody keeps a line of the terminal, and clears it of what a key left there. */
    get isDrawnOn(): boolean {
      return drawing.size > 0;
    },
    onStop: (makeWay: () => () => void): (() => void) => {
      if (drawing.size === 0) process.on('SIGTSTP', stop);
      drawing.add(makeWay);
      return () => {
        drawing.delete(makeWay);
        if (drawing.size === 0) process.off('SIGTSTP', stop);
      };
    },
    follow: (isInUse: () => boolean): (() => void) => {
      let isAsked = false;
      const onAsked = () => {
        isAsked = true;
      };
      const onChild = () => {
        setTimeout(() => {
          if (!isAsked || !isInUse()) return;
          isAsked = false;
          stopNow(process, onAsked, () => {
            if (isInUse()) process.on('SIGTSTP', onAsked);
          });
        }, sameKeyMs).unref();
      };
      process.on('SIGTSTP', onAsked);
      // The system tells a parent of a child that stops as it does of one that ends.
      process.on('SIGCHLD', onChild);
      return () => {
        process.off('SIGTSTP', onAsked);
        process.off('SIGCHLD', onChild);
      };
    },
  };
}

/** Stops as the system does where nobody listens; where no shell could make us go on, it does not. */
function stopNow(process: NodeJS.Process, listener: () => void, goOn: () => void): void {
  process.off('SIGTSTP', listener);
  process.kill(process.pid, 'SIGTSTP');
  setImmediate(goOn);
}
