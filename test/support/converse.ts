import pty from '@lydell/node-pty';
import { freshEnvironment, launcher } from './run.js';

/** Types each answer when its question has appeared, `^` at once; everything the terminal showed, and the code. */
export function converse(
  home: string,
  line: readonly string[],
  answers: readonly (readonly [question: RegExp, typed: string])[] = [],
  own: Readonly<Record<string, string>> = {},
  cols = 100,
): Promise<{ shown: string; code: number }> {
  const env = { ...freshEnvironment(home), TERM: 'xterm', ...own };
  const terminal = pty.spawn(process.execPath, [launcher, ...line], { env, cwd: home, cols });
  const waiting = [...answers];
  let shown = '';
  let seen = 0;
  const answer = () => {
    const next = waiting[0];
    const at = next ? shown.slice(seen).search(next[0]) : -1;
    if (!next || at < 0) return;
    seen = shown.length;
    waiting.shift();
    terminal.write(next[1]);
  };
  terminal.onData((text) => {
    shown += text;
    answer();
  });
  answer();
  return new Promise((resolve) => {
    terminal.onExit(({ exitCode }) => resolve({ shown, code: exitCode }));
  });
}
