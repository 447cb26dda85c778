/** A person at a program that draws a full screen, in a real terminal. */
import pty from '@lydell/node-pty';
import { keepOpen } from './converse.js';
import { freshEnvironment, launcher } from './run.js';

/** A terminal with a program in it: what it shows now, and what a person can do. */
export interface Desk {
  readonly pid: number;
  /** The lines of the full screen, without colour; empty while the usual screen is shown. */
  screen(): readonly string[];
  /** Everything that the program wrote while the usual screen was shown. */
  usual(): string;
  /** Everything that the program wrote, with its codes. */
  written(): string;
  /** True if the terminal is as the program found it. */
  isGivenBack(): boolean;
  /** Types this; one call is one read of the program, if it waits. */
  type(text: string): void;
  /** How many keys were pressed, an escape sequence counted by its bytes. */
  typed(): number;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when a line of the screen that is shown matches; rejects when the program ends before, or hangs. */
  sees(wanted: RegExp): Promise<void>;
  readonly ended: Promise<{ readonly code: number; readonly signal: number | undefined }>;
}

interface Sitting {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** The program, by default the built one. */
  readonly program?: readonly string[];
}

/** A screen that has not come by then never will. */
const hangMs = 120_000;

/** Starts a command line in a terminal. */
export function sitDown(
  words: readonly string[],
  { home, env = {}, columns = 100, rows = 30, program = [process.execPath, launcher] }: Sitting,
): Desk {
  const [file = '', ...first] = program;
  const terminal = pty.spawn(file, [...first, ...words], {
    env: { ...freshEnvironment(home), TERM: 'xterm', ...env },
    cwd: home,
    cols: columns,
    rows,
  });
  keepOpen(terminal);
  const shown = emulator();
  let isOver = false;
  let typed = 0;
  const watchers = new Set<() => void>();
  terminal.onData((text) => {
    shown.write(text);
    for (const watch of watchers) watch();
  });
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      isOver = true;
      for (const watch of watchers) watch();
      resolve({ code: exitCode, signal });
    });
  });
  return {
    pid: terminal.pid,
    ...shown,
    type(text) {
      typed += text.length;
      terminal.write(text);
    },
    typed: () => typed,
    resize: (cols, lines) => terminal.resize(cols, lines),
    kill: (signal) => terminal.kill(signal),
    ended,
    sees: (wanted) =>
      new Promise((resolve, reject) => {
        let isHanging = false;
        const hang = setTimeout(() => {
          isHanging = true;
          watch();
        }, hangMs);
        const watch = () => {
          const lines = shown.isFull() ? shown.screen() : shown.usual().split(/\r?\n/);
          const isThere = lines.some((line) => wanted.test(line));
          if (!isThere && !isOver && !isHanging) return;
          clearTimeout(hang);
          watchers.delete(watch);
          const all = () => `${lines.join('\n')}\n---\n${shown.usual()}`;
          if (isThere) resolve();
          else reject(new Error(`${isOver ? 'ended' : 'waits'} without ${wanted}:\n${all()}`));
        };
        watchers.add(watch);
        watch();
      }),
  };
}

const modes = { alternate: '?1049', paste: '?2004', cursor: '?25', wraps: '?7' } as const;

// oxlint-disable-next-line no-control-regex
const codes = /\u001b\[([?\d;]*)([@-~])|[^\u001b]+|\u001b/g;

/** Follows the codes that rosterctl writes: places, erasing, modes; anything else is text. */
function emulator() {
  let all = '';
  let rest = '';
  let usual = '';
  let lines: string[] = [];
  let row = 0;
  const on = new Set<string>([modes.cursor, modes.wraps]);
  const control = (parameters: string, final: string) => {
    if (final === 'h') on.add(parameters);
    if (final === 'l') on.delete(parameters);
    if (final === 'H') row = Number(parameters.split(';')[0] || 1) - 1;
    if (final === 'J') lines = parameters === '2' ? [] : lines.slice(0, row);
    if (final === 'K') lines[row] = '';
  };
  return {
    write(text: string) {
      all += text;
      rest += text;
      // A code may come in two pieces.
      const from = rest.lastIndexOf('\u001b');
      // oxlint-disable-next-line no-control-regex
      const isCut = from >= 0 && !/^\u001b(?:\[[?\d;]*[@-~]|[^[])/.test(rest.slice(from));
      const whole = isCut ? rest.slice(0, from) : rest;
      rest = isCut ? rest.slice(from) : '';
      // oxlint-disable-next-line no-control-regex
      for (const [piece, parameters, final] of whole.matchAll(codes))
        if (final !== undefined) control(parameters ?? '', final);
        else if (on.has(modes.alternate)) lines[row] = (lines[row] ?? '') + piece;
        else usual += piece;
    },
    isFull: () => on.has(modes.alternate),
    screen: () => (on.has(modes.alternate) ? Array.from(lines, (line) => line ?? '') : []),
    usual: () => usual,
    written: () => all,
    isGivenBack: () =>
      !on.has(modes.alternate) &&
      !on.has(modes.paste) &&
      on.has(modes.cursor) &&
      on.has(modes.wraps),
  };
}
