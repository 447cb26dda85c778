// Runs the built program in a real terminal of a given width and returns what it printed.
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';

export const launcher = fileURLToPath(new URL('../bin/rosterctl', import.meta.url));

/** The environment of a fresh user in `home`; nothing of this machine's own settings. */
export function freshUser(home, more = {}) {
  return {
    HOME: home,
    PATH: process.env.PATH,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    ...more,
  };
}

/** Whether a text for `stream` may hold colours and the like. */
export function takesColor(stream, env) {
  return stream.isTTY === true && !env.NO_COLOR;
}

/** stdout and stderr as they stand on the screen, in order, colours included. */
export function inTerminal(words, { home, cwd = home, columns = 80, rows = 40, env = {} }) {
  return new Promise((resolve) => {
    const terminal = pty.spawn(process.execPath, [launcher, ...words], {
      cols: columns,
      rows,
      cwd,
      env: freshUser(home, env),
    });
    let text = '';
    terminal.onData((data) => {
      text += data;
    });
    terminal.onExit(({ exitCode, signal }) =>
      // The last data may still be on its way when the exit is told.
      setTimeout(
        () =>
          resolve({ code: signal ? 128 + signal : exitCode, text: text.replaceAll('\r\n', '\n') }),
        20,
      ),
    );
  });
}

/** What is left on the screen of a text that was printed: a line that moved is gone when it is erased. */
export function afterErasing(text) {
  // oxlint-disable-next-line no-control-regex
  const erased = /^.*(?:\u001b\[1?G\u001b\[[02]?K|\u001b\[2K\u001b\[1?G)/;
  return text
    .split('\n')
    .map((line) => line.replace(erased, ''))
    .join('\n');
}
