/** A timeout that passes only after everything that has already arrived was read. */

/**
 * A process that was stopped (Ctrl-Z, SIGSTOP, a suspended machine) runs its overdue timers before it
 * reads its sockets; the answer that came meanwhile must not count as missing.
 */
export class Deadline {
  private timer: NodeJS.Timeout | undefined;
  private reading: NodeJS.Immediate | undefined;

  /** Starts, or starts over. */
  start(ms: number, onPassed: () => void): void {
    this.clear();
    this.timer = setTimeout(() => {
      // Node runs this after it has read what the sockets hold.
      this.reading = setImmediate(onPassed);
    }, ms);
  }

  clear(): void {
    clearTimeout(this.timer);
    clearImmediate(this.reading);
  }
}
