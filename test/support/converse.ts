import { closeSync, constants, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pty from '@lydell/node-pty';
import { freshEnvironment, launcher } from './run.js';

const script = new URL('../../build/terminal.mjs', import.meta.url).href;
export const { afterErasing } = (await import(script)) as {
  readonly afterErasing: (text: string) => string;
};

/** What a terminal got and kept: a busy machine also shows, and erases, what it is waiting for. */
export interface Conversation {
  readonly shown: string;
  readonly printed: string;
  readonly code: number;
}

/** What to type once this has appeared; a function may first wait for something else. */
export type Answer = readonly [shown: RegExp, typed: string | (() => Promise<string>)];

/** Types each answer when its question has appeared, `^` at once; everything the terminal showed, and the code. */
export function converse(
  home: string,
  line: readonly string[],
  answers: readonly Answer[] = [],
  own: Readonly<Record<string, string>> = {},
  cols = 100,
): Promise<Conversation> {
  return talk([process.execPath, launcher, ...line], { home, answers, own, cols });
}

const end = '\u001b]9;end\u0007';
const untilSeen = `"$@"; code=$?; stty -echo; printf '\\033]9;end\\007'; read -r _; exit $code`;

/**
 * The same for pages of any length: the terminal stays open until all was read. Otherwise what
 * follows the first 4,095 bytes is lost now and then, because libuv takes the hang-up for the end.
 */
export async function wholeConversation(
  ...[home, line, answers = [], own = {}, cols = 100]: Parameters<typeof converse>
): Promise<Conversation> {
  const words = ['sh', '-c', untilSeen, 'sh', process.execPath, launcher, ...line];
  const typed = [...answers, [/\]9;end/, '\n'] as const];
  const { shown, code } = await talk(words, { home, answers: typed, own, cols });
  return conversation(shown.slice(0, shown.indexOf(end)), code);
}

/** The same with a shell that knows jobs, whose prompt is `shell> `; `rosterctl` is what was built. */
export function inShell(
  home: string,
  answers: readonly Answer[],
  own: Readonly<Record<string, string>> = {},
): Promise<Conversation> {
  const shell = ['bash', '--norc', '--noprofile', '--noediting', '-i'];
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(launcher, join(bin, 'rosterctl'));
  const path = `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`;
  return talk(shell, { home, answers, own: { PS1: 'shell> ', PATH: path, ...own }, cols: 100 });
}

function conversation(shown: string, code: number): Conversation {
  return { shown, printed: afterErasing(shown), code };
}

interface Talk {
  readonly home: string;
  readonly answers: readonly Answer[];
  readonly own: Readonly<Record<string, string>>;
  readonly cols: number;
}

/** How long nothing is shown; less than the time of a test, whose end would not tell what it waited for. */
export const hangMs = 110_000;

/**
 * Keeps a terminal open until its program has ended and a moment passed: a hang-up ends the reading, and on a
 * busy machine the last lines may still be on their way.
 */
export function keepOpen(terminal: pty.IPty): void {
  const { ptsName } = terminal as pty.IPty & { readonly ptsName: string };
  const ours = openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY);
  terminal.onExit(() => closeSync(ours));
}

function talk(
  [program = '', ...words]: readonly string[],
  { home, answers, own, cols }: Talk,
): Promise<Conversation> {
  const env = { ...freshEnvironment(home), TERM: 'xterm', ...own };
  const terminal = pty.spawn(program, words, { env, cwd: home, cols });
  keepOpen(terminal);
  const waiting = [...answers];
  let shown = '';
  let seen = 0;
  const answer = () => {
    const next = waiting[0];
    const at = next ? shown.slice(seen).search(next[0]) : -1;
    if (!next || at < 0) return;
    seen = shown.length;
    waiting.shift();
    const [, typed] = next;
    if (typeof typed === 'string') terminal.write(typed);
    else void typed().then((text) => terminal.write(text));
  };
  terminal.onData((text) => {
    shown += text;
    answer();
  });
  answer();
  return new Promise((resolve, reject) => {
    const hang = setTimeout(() => {
      terminal.kill('SIGKILL');
      reject(new Error(`Waited for ${waiting[0]?.[0] ?? 'the end'} after:\n${shown}`));
    }, hangMs);
    terminal.onData(() => hang.refresh());
    terminal.onExit(({ exitCode }) => {
      clearTimeout(hang);
      resolve(conversation(shown, exitCode));
    });
  });
}
