import { spawn } from 'node:child_process';
import { splitWords } from '../data/command-words.js';
import type { Environment } from './streams.js';

/** What the pager must not know: it may have a shell of its own. */
const secretNames = ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'];

/**
 * Shows text through a pager that takes over the terminal; without a shell, without the key in its
 * environment, and `less` in its secure mode. False when it could not be started: print plainly then.
 */
export async function showInPager(
  text: string,
  command: string,
  env: Environment,
): Promise<boolean> {
  const [program, ...args] = wordsOf(command);
  if (program === undefined) return false;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: pagerEnvironment(env),
    });
    child.once('error', () => resolve(false));
    child.once('spawn', () => child.stdin.end(text));
    // A reader that has seen enough closes its stdin; that is no error.
    child.stdin.on('error', () => {});
    child.once('close', () => resolve(true));
  });
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
