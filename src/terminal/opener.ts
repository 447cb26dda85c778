/** The opener: hands a file or a web address to the desktop's own program, without a shell and without the key. */
import { spawn } from 'node:child_process';
import type { Environment } from '../data/environment.js';
import { environmentWithoutKey } from './pager.js';

/** The program that opens things on each platform; on all others it is `xdg-open`. */
const openers: { readonly [platform: string]: string } = {
  darwin: 'open',
  win32: 'explorer.exe',
};

/** How long an opener may take to report that it failed. */
const patienceMs = 1_500;

/** Returns why nothing can be opened here, for people: `This is an SSH session`; undefined if it can. */
export function openObstacle(env: Environment, platform: NodeJS.Platform): string | undefined {
  if (['SSH_CONNECTION', 'SSH_CLIENT', 'SSH_TTY'].some((name) => env[name]))
    return 'This is an SSH session';
  const hasDisplay = Object.hasOwn(openers, platform) || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  return hasDisplay ? undefined : 'No display found';
}

/** Opens a file or an address with the program that the desktop has for it. Returns false if that failed. */
export function openWithDesktop(
  target: string,
  env: Environment,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const child = spawn(openers[platform] ?? 'xdg-open', [target], {
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
