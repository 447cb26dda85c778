/** Programs of others: the pager for long output, and the opener of files and web addresses; none gets the key. */
import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { type Environment, environmentWithoutKey } from '../data/environment.js';
import { splitWords } from '../data/text.js';
import { withoutColor } from './paint.js';
import { forLocale } from './without-utf8.js';

/** Leaves Ctrl-C and Ctrl-Z to the pager while `isInUse` returns true, until the returned function is called. */
export type LendKeyboard = (isInUse: () => boolean) => () => void;

interface PagerWorld {
  readonly env: Environment;
  /** Aborted by a signal, which ends the pager too. */
  readonly signal?: AbortSignal;
  readonly lendKeys?: LendKeyboard | undefined;
}

/** Exit codes of a pager that showed the page: left by the user, by Ctrl-C, by a signal. */
const leftByUser: readonly (number | null)[] = [0, 130, null];

/**
 * Shows text through a pager, started without a shell and without the key in its environment; `less`
 * runs in its secure mode, and without colours where `LESS` is set and does not let them pass. Returns
 * false if it could not be started or failed, so that the caller prints instead.
 */
export async function showInPager(
  text: string,
  command: string,
  { env, signal, lendKeys }: PagerWorld,
): Promise<boolean> {
  let running: ReturnType<typeof startPager>;
  // `less` ignores Ctrl-Z in secure mode: if we stopped, a shell would read the keyboard alongside it.
  // Lent before it starts, because it may stop at once.
  const reclaimKeys = lendKeys?.(() => running?.exitCode === null && running.signalCode === null);
  const child = startPager(command, env);
  if (!child) {
    reclaimKeys?.();
    return false;
  }
  running = child;
  const end = () => child.kill();
  signal?.addEventListener('abort', end, { once: true });
  return new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => child.stdin.end(pagerText(text, env)));
    // A pager that quits early closes its stdin, which is not an error.
    child.stdin.on('error', () => {});
    child.once('close', (code) => {
      // `less -K` after Ctrl-C; a shell and others have not understood their words.
      const isLeft = code === 2 && child.spawnfile.endsWith('less');
      resolve(isLeft || signal?.aborted || leftByUser.includes(code));
    });
  }).finally(() => {
    signal?.removeEventListener('abort', end);
    reclaimKeys?.();
  });
}

/** Returns the environment of the pager. */
export function pagerEnvironment(env: Environment): NodeJS.ProcessEnv {
  return { LESS: 'FRX', ...environmentWithoutKey(env), LESSSECURE: '1' };
}

/** Returns the text as `less` shows it: raw colour codes are readable only with `R`. */
function pagerText(text: string, env: Environment): string {
  const { LESS: options } = env;
  const shown = forLocale(text, env);
  return options === undefined || options.includes('R') ? shown : withoutColor(shown);
}

/** Starts a pager; undefined for an invalid command line, and for a path that Node refuses at once (ENOTDIR). */
function startPager(command: string, env: Environment) {
  try {
    const [program, ...args] = splitWords(command);
    if (program === undefined) return undefined;
    const stdio = ['pipe', 'inherit', 'inherit'] as const;
    return spawn(program, args, { stdio: [...stdio], env: pagerEnvironment(env) });
  } catch {
    return undefined;
  }
}

/** The program that opens things on a platform. */
export function openerOf(platform: NodeJS.Platform, env: Environment): string {
  if (platform === 'darwin') return 'open';
  if (platform !== 'win32') return 'xdg-open';
  // By its path: Windows looks for a bare name in the current folder first.
  return win32.join(env['SystemRoot'] ?? env['SYSTEMROOT'] ?? 'C:\\Windows', 'explorer.exe');
}

/** How long an opener may take to report that it failed. */
const patienceMs = 1_500;

/** Returns why nothing can be opened here, for people: `This is an SSH session`; undefined if it can. */
export function openObstacle(env: Environment, platform: NodeJS.Platform): string | undefined {
  if (['SSH_CONNECTION', 'SSH_CLIENT', 'SSH_TTY'].some((name) => env[name]))
    return 'This is an SSH session';
  const hasDisplay =
    ['darwin', 'win32'].includes(platform) || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  return hasDisplay ? undefined : 'No display found';
}

/** Opens a file or an address with the program that the desktop has for it. Returns false if that failed. */
export function openWithDesktop(
  target: string,
  env: Environment,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const child = spawn(openerOf(platform, env), [target], {
    stdio: 'ignore',
    // Ctrl-C in the terminal later does not close what was opened.
    detached: true,
    env: environmentWithoutKey(env),
  });
  return new Promise<boolean>((resolve) => {
    // Some openers run as long as what they opened.
    const patience = setTimeout(() => resolve(true), patienceMs);
    const end = (isOpen: boolean) => {
      clearTimeout(patience);
      resolve(isOpen);
    };
    child.once('error', () => end(false));
    // explorer.exe exits with 1 whatever happened.
    child.once('exit', (code) => end(code === 0 || platform === 'win32'));
    child.unref();
  });
}
