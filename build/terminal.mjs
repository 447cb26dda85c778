/** Runs the built program in a real terminal of a given width and returns what it printed. */
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';

export const launcher = fileURLToPath(new URL('../bin/rosterctl', import.meta.url));

/** Returns the environment of a new user in `home`, without this machine's own settings. */
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

/** Returns true if text for `stream` may contain control sequences such as colours. */
export function takesColor(stream, env) {
  return stream.isTTY === true && !env.NO_COLOR;
}

/** Runs the program and returns its exit code and the screen output: stdout and stderr in order, with colours. */
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
      // The last data may arrive after the exit event.
      setTimeout(
        () =>
          resolve({ code: signal ? 128 + signal : exitCode, text: text.replaceAll('\r\n', '\n') }),
        20,
      ),
    );
  });
}

/** Returns what stays on the screen of a printed text, without what was erased, such as a spinner, or shows the cursor. */
export function afterErasing(text) {
  // oxlint-disable-next-line no-control-regex
  const erased = /^.*(?:\u001b\[1?G\u001b\[[02]?K|\u001b\[2K\u001b\[1?G)/;
  return text
    .split('\n')
    .map((line) => line.replace(erased, ''))
    .join('\n')
    .replaceAll('\u001b[?25h', '');
}
