/** How many rows may be at the service at once, and who goes first. */

/**
 * A semaphore over the requests of a run, waits between attempts included; rows that are on their
 * way to disk hold none.
 */
export class Semaphore {
  private readonly first: (() => void)[] = [];
  private readonly others: (() => void)[] = [];

  constructor(private free: number) {}

  /** Does the work with a permit, now or when there is one; `first`: before those that wait already. */
  async within<T>({ first }: { readonly first: boolean }, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((go) => (first ? this.first : this.others).push(go));
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Lets everyone in who waits. */
  open(): void {
    this.free = Number.POSITIVE_INFINITY;
    for (const go of [...this.first.splice(0), ...this.others.splice(0)]) go();
  }

  /** The next one runs when it is known what the leaving row came to: that may stop the run. */
  private release(): void {
    const next = this.first.shift() ?? this.others.shift();
    if (next) process.nextTick(next);
    else this.free += 1;
  }
}

/** The first write goes alone: a refused key or a dead service is met once, not by every worker. */
export class FirstWriteGate {
  private over: Promise<void> | undefined;
  private pass: (() => void) | undefined;
  private isOpen = false;

  /** `isAnswered`: nobody has to wait any more. */
  constructor(private readonly isAnswered: () => boolean) {}

  /** Waits while another row goes first; gives what ends our own turn, if we are the first. */
  enter(): (() => void) | undefined | Promise<(() => void) | undefined> {
    return this.isPassable() ? undefined : this.wait();
  }

  /** A step before the write was answered: the others can begin. */
  open(): void {
    this.isOpen = true;
    this.pass?.();
  }

  private async wait(): Promise<(() => void) | undefined> {
    while (this.over && !this.isPassable()) await this.over;
    if (this.isPassable()) return undefined;
    let end: (() => void) | undefined;
    this.over = new Promise((resolve) => {
      end = resolve;
    });
    this.pass = () => {
      this.over = undefined;
      end?.();
    };
    return this.pass;
  }

  private isPassable(): boolean {
    return this.isOpen || this.isAnswered();
  }
}
