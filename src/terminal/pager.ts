import { spawn } from 'node:child_process';
import { splitWords } from '../data/text.js';
import type { Environment } from './streams.js';

/** What the pager must not know: it may have a shell of its own. */
const secretNames = ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'];

/** Until the result is called, Ctrl-C and Ctrl-Z are the pager's, which says whether it is in use. */
export type LendKeyboard = (isInUse: () => boolean) => () => void;

/**
 * Shows text through a pager that takes over the terminal; without a shell, without the key in its
 * environment, and `less` in its secure mode. False when it could not be started: print plainly then.
 */
export async function showInPager(
  text: string,
  command: string,
  env: Environment,
  lendKeys?: LendKeyboard,
): Promise<boolean> {
  const [program, ...args] = wordsOf(command);
  if (program === undefined) return false;
  const child = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: pagerEnvironment(env),
  });
  // `less` in its secure mode ignores Ctrl-Z: a shell would read the keyboard beside it if we stopped.
  const takeBack = lendKeys?.(() => child.exitCode === null && child.signalCode === null);
  return new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => child.stdin.end(text));
    // A reader that has seen enough closes its stdin; that is no error.
    child.stdin.on('error', () => {});
    child.once('close', () => resolve(true));
  }).finally(takeBack);
}

/** The environment that a pager gets. */
export function pagerEnvironment(env: Environment): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !secretNames.includes(name.toUpperCase()));
  return { LESS: 'FRX', ...Object.fromEntries(own), LESSSECURE: '1' };
}

/** A command line that cannot be read is a pager that cannot be started. */
function wordsOf(command: string): string[] {
  try {
    return splitWords(command);
  } catch {
    return [];
  }
}
