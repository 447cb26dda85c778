/** The full screen: a terminal's alternate screen in raw mode, drawn line by line and always given back. */
import { Buffer } from 'node:buffer';
import type { PromptWorld } from './prompt-screen.js';
import type { ProcessStreams, TerminalInput } from './streams.js';

/** An event at the terminal; `end`: it went away. */
export type ScreenEvent =
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly at: number }
  | { readonly kind: 'resize' }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'end' };

/** A drawing: lines of at most the screen's columns, and the place of the cursor if it is shown. */
interface Drawing {
  readonly lines: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** A terminal as a full screen. */
export type FullScreen = Pick<TerminalScreen, 'columns' | 'rows' | 'draw' | 'next' | 'suspend'>;

/** The parts of the process that a full screen needs. */
export interface ScreenWorld extends Pick<PromptWorld, 'signal' | 'onContinue' | 'onSuspend'> {
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Stops the process with SIGTSTP, as a shell with jobs does. */
  readonly suspend: () => void;
}

/** After Ctrl-Z the screen is opened by the process that continues, and SIGCONT arrives as well. */
const justMs = 500;

/** Alternate screen, bracketed paste on, no cursor, no line that wraps by itself. */
const enterCodes = '\u001b[?1049h\u001b[?2004h\u001b[?25l\u001b[?7l\u001b[2J';
/** Erases the drawing first, because it stays visible in terminals without an alternate screen, such as GNU screen. */
const leaveCodes = '\u001b[H\u001b[J\u001b[?7h\u001b[?25h\u001b[?2004l\u001b[?1049l';

/**
 * Runs `use` on the full screen of stderr's terminal. The terminal is given back when it ends in any
 * way, at once on a signal or when the terminal hangs up, and while the process is stopped.
 */
export async function withFullScreen<T>(
  streams: ProcessStreams,
  world: ScreenWorld,
  use: (screen: FullScreen) => Promise<T>,
): Promise<T> {
  const screen = new TerminalScreen(streams, world);
  const stopListening = screen.listen();
  try {
    if (world.signal.aborted) screen.end();
    else screen.enter();
    return await use(screen);
  } finally {
    screen.leave();
    stopListening();
  }
}

class TerminalScreen {
  private readonly events = eventQueue();
  private isOpen = false;
  private openedAt = 0;
  private drawn: readonly string[] = [];

  constructor(
    private readonly streams: ProcessStreams,
    private readonly world: ScreenWorld,
  ) {}

  get columns(): number {
    return this.streams.terminal.output.columns || 80;
  }

  get rows(): number {
    return this.streams.terminal.output.rows || 24;
  }

  /** Draws the lines that differ from what is drawn already. */
  draw(drawing: Drawing): void {
    if (!this.isOpen) return;
    this.write(codesFor(drawing, this.drawn));
    this.drawn = drawing.lines;
  }

  /** Waits for the next event; after `quietMs` without one it is `quiet`. */
  next(quietMs?: number): Promise<ScreenEvent> {
    return this.events.next(quietMs);
  }

  /** Gives the terminal back and stops the process, as Ctrl-Z does; on resume the screen is drawn again. */
  suspend(): void {
    this.world.suspend();
  }

  enter(): void {
    if (this.isOpen) return;
    const { input } = this.streams.terminal;
    this.isOpen = true;
    this.openedAt = this.world.clock();
    this.drawn = [];
    setRaw(input, true);
    this.write(enterCodes);
    input.resume();
  }

  leave(): void {
    if (!this.isOpen) return;
    const { input } = this.streams.terminal;
    this.isOpen = false;
    input.pause();
    this.write(leaveCodes);
    setRaw(input, false);
  }

  readonly end = (): void => {
    this.leave();
    this.events.push({ kind: 'end' });
  };

  /** Listens to the terminal and the process; returns what ends that. */
  listen(): () => void {
    const { streams, world, events, end, redraw } = this;
    const { input, output } = streams.terminal;
    const onData = (bytes: Uint8Array | string) =>
      events.push({ kind: 'read', bytes: Buffer.from(bytes as string), at: world.clock() });
    input.on('data', onData);
    input.once('end', end);
    input.on('error', end);
    output.on('resize', redraw);
    world.signal.addEventListener('abort', end, { once: true });
    const offSuspend = world.onSuspend(() => this.yieldTerminal());
    const offContinue = world.onContinue(() => setImmediate(() => this.reclaimTerminal()));
    return () => {
      offSuspend();
      offContinue();
      input.off('data', onData);
      input.off('end', end);
      output.off('resize', redraw);
      world.signal.removeEventListener('abort', end);
      // A terminal that hung up may report it late.
      setImmediate(() => input.off('error', end));
    };
  }

  private readonly redraw = (): void => {
    this.drawn = [];
    this.events.push({ kind: 'resize' });
  };

  /** Gives the terminal back before the process stops; returns what takes it again. */
  private yieldTerminal(): () => void {
    this.leave();
    return () => {
      if (this.world.signal.aborted) return;
      this.enter();
      this.redraw();
    };
  }

  /** After SIGSTOP nothing could be given back, and the shell has set its own mode since. */
  private reclaimTerminal(): void {
    const isAnew = this.world.clock() - this.openedAt < justMs;
    if (!this.isOpen || isAnew) return;
    this.isOpen = false;
    setRaw(this.streams.terminal.input, false);
    this.enter();
    this.redraw();
  }

  private write(text: string): void {
    void this.streams.stderr.write(text);
  }
}

/** The codes that turn one drawing into another: each changed line is erased, then written. */
function codesFor({ lines, cursor }: Drawing, drawn: readonly string[]): string {
  const changed = lines.flatMap((line, row) =>
    line === drawn[row] ? [] : [`\u001b[${row + 1};1H\u001b[2K${line}`],
  );
  const below = drawn.length > lines.length ? `\u001b[${lines.length + 1};1H\u001b[J` : '';
  const at = cursor ? `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h` : '\u001b[?25l';
  return `\u001b[?25l${drawn.length === 0 ? '\u001b[2J' : ''}${changed.join('')}${below}${at}`;
}

function eventQueue() {
  const waiting: ScreenEvent[] = [];
  let wake: (() => void) | undefined;
  return {
    push(event: ScreenEvent) {
      waiting.push(event);
      wake?.();
    },
    async next(quietMs?: number): Promise<ScreenEvent> {
      if (waiting.length === 0)
        await new Promise<void>((resolve) => {
          // A busy process may be late for the timer and for a key: the key is read first.
          const late = () => void setImmediate(resolve);
          const timer = quietMs === undefined ? undefined : setTimeout(late, quietMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      wake = undefined;
      return waiting.shift() ?? { kind: 'quiet' };
    },
  };
}

function setRaw(input: TerminalInput, on: boolean): void {
  try {
    input.setRawMode?.(on);
  } catch {
    // The terminal is gone.
  }
}
