/** The built program at a stand-in for a terminal, in the test's own process. */
import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { type Answer, afterErasing, type Conversation, hangMs } from './converse.js';
import { inProcess, type StandardStreams } from './in-process.js';

let last: Promise<unknown> = Promise.resolve();

/**
 * Does what `converse` does, without a pager. For pages, and for questions whose keys the program reads one by
 * one: signals, echo and whatever else the system's terminal does itself need a real one.
 */
export function converseInside(...line: Parameters<typeof talk>): Promise<Conversation> {
  // One after the other, because a process has one current folder.
  const ended = last.then(() => talk(...line));
  last = ended.catch(() => {});
  return ended;
}

async function talk(
  home: string,
  line: readonly string[],
  answers: readonly Answer[] = [],
  own: Readonly<Record<string, string>> = {},
  cols = 100,
): Promise<Conversation> {
  const { streams, shown, waitsFor } = terminal(answers, cols);
  const env = { TERM: 'xterm', ROSTERCTL_PAGER: 'none', ...own };
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`Waited for ${waitsFor()} after:\n${shown()}`));
    timer = setTimeout(giveUp, hangMs);
  });
  try {
    const ran = inProcess(line, { home, cwd: home, env, streams });
    const { code } = await Promise.race([ran, hang]);
    return { shown: shown(), printed: afterErasing(shown()), code: code ?? 0 };
  } finally {
    clearTimeout(timer);
  }
}

/** A screen for both outputs, and a person who types each answer when its question has appeared. */
function terminal(answers: readonly Answer[], columns: number) {
  const waiting = [...answers];
  let shown = '';
  let seen = 0;
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  // A question is shown before its keys are read.
  const type = (text: string) => setImmediate(() => stdin.write(text));
  const answer = () => {
    const next = waiting[0];
    const at = next ? shown.slice(seen).search(next[0]) : -1;
    if (!next || at < 0) return;
    seen = shown.length;
    waiting.shift();
    const [, typed] = next;
    if (typeof typed === 'string') type(typed);
    else void typed().then(type);
  };
  const output = () => {
    const screen: Writable = new Writable({
      write(chunk: Buffer, _, done) {
        // As the system's terminal does, also for a program that reads single keys.
        shown += chunk.toString().replaceAll('\n', '\r\n');
        answer();
        done();
      },
    });
    return Object.assign(screen, {
      isTTY: true,
      columns,
      rows: 24,
      cursorTo: (x: number, y?: number) => cursorTo(screen, x, y),
      moveCursor: (dx: number, dy: number) => moveCursor(screen, dx, dy),
      clearLine: (direction: -1 | 0 | 1) => clearLine(screen, direction),
    });
  };
  answer();
  const streams: StandardStreams = { stdin, stdout: output(), stderr: output() };
  return { streams, shown: () => shown, waitsFor: () => waiting[0]?.[0] ?? 'the end' };
}
