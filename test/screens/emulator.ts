/** What a person sees: the output of a program, read back from a terminal emulator. */
import { createRequire } from 'node:module';
import type * as Unicode from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';

// Node finds no name in its main file, which is CommonJS.
const require = createRequire(import.meta.url);
const { Unicode11Addon } = require('@xterm/addon-unicode11') as typeof Unicode;

/** A screen after the program ended. */
export interface Reading {
  /** The lines as shown, without blanks at their ends; wide letters stand once. */
  readonly lines: readonly string[];
  /** The letter in each cell of each line; the second cell of a wide letter is undefined. */
  readonly cells: readonly (readonly (string | undefined)[])[];
  /** The lines that the emulator had to break. */
  readonly broken: readonly string[];
  readonly cursor: { readonly column: number; readonly line: number; readonly isVisible: boolean };
}

/** Rows enough for every page, so that nothing scrolls away. */
const rows = 900;

/** Feeds the output of a program to a terminal of this width and returns its screen. */
export async function readBack(shown: string, columns: number): Promise<Reading> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  await new Promise<void>((resolve) => terminal.write(shown, resolve));
  const { active } = terminal.buffer;
  const all = Array.from({ length: rows }, (_, at) => active.getLine(at));
  const texts = all.map((line) => line?.translateToString(true) ?? '');
  const last = texts.findLastIndex((text) => text.trim() !== '');
  const cells = all
    .slice(0, last + 1)
    .map((line) =>
      Array.from({ length: columns }, (_, column) =>
        line?.getCell(column)?.getWidth() === 0
          ? undefined
          : line?.getCell(column)?.getChars() || ' ',
      ),
    );
  const reading = {
    lines: texts.slice(0, last + 1).map((text) => text.trimEnd()),
    cells,
    broken: texts.filter((_, at) => all[at + 1]?.isWrapped),
    cursor: {
      column: active.cursorX,
      line: active.baseY + active.cursorY,
      isVisible: shown.lastIndexOf('\u001b[?25h') >= shown.lastIndexOf('\u001b[?25l'),
    },
  };
  terminal.dispose();
  return reading;
}

/** One character for each cell of each line, so that its place in the text is its column. */
export function grid({ cells }: Reading): readonly string[] {
  return cells.map((line) =>
    line
      .map((cell) => (cell?.length === 1 ? cell : 'W'))
      .join('')
      .trimEnd(),
  );
}
