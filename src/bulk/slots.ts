/**
 * Lets so many rows be at the service at once, waits between attempts included; the others are on
 * their way to disk or stand in line here.
 */
export class Slots {
  private readonly first: (() => void)[] = [];
  private readonly others: (() => void)[] = [];

  constructor(private free: number) {}

  /** Does the work in a slot, now or when there is one; `first`: before those that wait already. */
  async within<T>({ first }: { readonly first: boolean }, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((go) => (first ? this.first : this.others).push(go));
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Nobody has to wait any more. */
  open(): void {
    this.free = Number.POSITIVE_INFINITY;
    for (const go of [...this.first.splice(0), ...this.others.splice(0)]) go();
  }

  /** The next one goes on when it is known what the leaving row came to: that may stop the run. */
  private leave(): void {
    const next = this.first.shift() ?? this.others.shift();
    if (next) process.nextTick(next);
    else this.free += 1;
  }
}
