/** The first write goes alone: a refused key or a dead service is met once, not by every worker. */
export class Probe {
  private over: Promise<void> | undefined;
  private leave: (() => void) | undefined;
  private wasReached = false;

  /** `isAnswered`: nobody has to wait any more. */
  constructor(private readonly isAnswered: () => boolean) {}

  /** Waits while another row goes first; gives what ends our own turn, if we are the first. */
  turn(): (() => void) | undefined | Promise<(() => void) | undefined> {
    return this.goesOn() ? undefined : this.nextTurn();
  }

  private async nextTurn(): Promise<(() => void) | undefined> {
    while (this.over && !this.goesOn()) await this.over;
    if (this.goesOn()) return undefined;
    let end: (() => void) | undefined;
    this.over = new Promise((resolve) => {
      end = resolve;
    });
    this.leave = () => {
      this.over = undefined;
      end?.();
    };
    return this.leave;
  }

  /** A step before the write was answered: the others can begin. */
  reached(): void {
    this.wasReached = true;
    this.leave?.();
  }

  private goesOn(): boolean {
    return this.wasReached || this.isAnswered();
  }
}
