import type { Instant } from '../data/time.js';
import type { Loss } from './loss.js';

/** As much as waits for a reader before the connection is told to hold back. */
const enough = 256 * 1024;

/** Breaks the reading of a flow: the answer did not come whole. */
export class BrokenFlow extends Error {
  override readonly name = 'BrokenFlow';
  constructor(readonly loss: Loss) {
    super(loss.why);
  }
}

/** What a flow does to the connection that feeds it. */
export interface FlowSource {
  /** More may come. */
  resume(): void;
  /** Nobody reads on: the connection is of no use any more. */
  abandon(): void;
  /** Ends the attempt's own deadline; from here on only standing still is a failure. */
  lift(): void;
}

/**
 * The body of an answer on its way, to be read once. A reader that is slow holds the connection
 * back; one that leaves early ends it. Reading throws BrokenFlow when the answer breaks.
 */
export class BodyFlow {
  private waiting: Buffer[] = [];
  private bytes = 0;
  private end: { readonly at: Instant; readonly loss?: Loss | undefined } | undefined;
  private wake: (() => void) | undefined;
  private held = false;

  constructor(private readonly source: FlowSource) {}

  /** Takes a piece from the connection; false = hold back. */
  put(piece: Buffer): boolean {
    this.waiting.push(piece);
    this.bytes += piece.length;
    this.wake?.();
    this.held = this.bytes >= enough;
    return !this.held;
  }

  /** The last piece has come, or none will. */
  finish(at: Instant, loss?: Loss): void {
    this.end ??= { at, loss };
    this.wake?.();
  }

  /** When the last piece came, however late it is read; undefined before. */
  get endedAt(): Instant | undefined {
    return this.end?.at;
  }

  lift(): void {
    this.source.lift();
  }

  abandon(): void {
    if (!this.end) this.source.abandon();
  }

  /** The next piece, undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const piece = this.waiting.shift();
      if (piece) {
        this.bytes -= piece.length;
        if (this.held && this.bytes === 0) {
          this.held = false;
          this.source.resume();
        }
        return piece;
      }
      if (this.end?.loss) throw new BrokenFlow(this.end.loss);
      if (this.end) return undefined;
      // oxlint-disable-next-line no-await-in-loop
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
