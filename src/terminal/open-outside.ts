/** Opens a web address or a file with the person's own program for it: browser, viewer. */
import { spawn } from 'node:child_process';
import type { Environment } from '../data/environment.js';
import { withoutSecrets } from './pager.js';

/** The machine that something is opened on. */
export interface OutsideWorld {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}

/** An opener that runs this long was started well: a browser may stay in the foreground. */
const startMs = 1_000;

/**
 * Opens an address or a path, passed as one argument and without a shell. Returns false if there is no
 * opener here (none installed, no display, an SSH session) or if it fails at once.
 */
export async function openOutside(target: string, world: OutsideWorld): Promise<boolean> {
  const command = openerFor(world);
  if (!command) return false;
  const [program, ...words] = command;
  const child = spawn(program, [...words, target], {
    stdio: 'ignore',
    detached: true,
    env: withoutSecrets(world.env),
  });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), startMs);
    timer.unref();
    const end = (isOpen: boolean) => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
  });
}

/** Returns the opener of this platform; undefined where a window would open nowhere, or on another screen. */
function openerFor({ env, platform }: OutsideWorld): readonly [string, ...string[]] | undefined {
  if (['SSH_CONNECTION', 'SSH_TTY', 'SSH_CLIENT'].some((name) => env[name])) return undefined;
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  if (platform === 'darwin') return ['open'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined;
}
