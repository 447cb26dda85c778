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
  /** The lines with one character for each cell, so that its place in the text is its column. */
  readonly grid: readonly string[];
  /** The lines that the emulator had to break. */
  readonly broken: readonly string[];
  readonly cursor: { readonly column: number; readonly line: number; readonly isVisible: boolean };
}

/** Rows enough for every page, so that nothing scrolls away. */
const rows = 250;

/** Feeds the output of a program to a terminal of this width and returns its screen. */
export async function readBack(shown: string, columns: number): Promise<Reading> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  await new Promise<void>((resolve) => terminal.write(shown, resolve));
  const { active } = terminal.buffer;
  const all = Array.from({ length: rows }, (_, at) => active.getLine(at));
  const texts = all.map((line) => line?.translateToString(true).trimEnd() ?? '');
  const count = texts.findLastIndex((text) => text !== '') + 1;
  const cell = active.getNullCell();
  const letterAt = (row: number, column: number) => {
    const letter = all[row]?.getCell(column, cell)?.getChars() ?? '';
    if (cell.getWidth() === 0) return 'W';
    return letter.length > 1 ? 'W' : letter || ' ';
  };
  const grid = texts.slice(0, count).map((_, row) =>
    Array.from({ length: columns }, (__, column) => letterAt(row, column))
      .join('')
      .trimEnd(),
  );
  const reading = {
    lines: texts.slice(0, count),
    grid,
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
