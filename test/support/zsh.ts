import { spawnSync } from 'node:child_process';

/** Runs a line in a zsh with KSH_ARRAYS and without start files. */
export function zsh(home: string, line: string) {
  return spawnSync('zsh', ['-fc', `setopt ksharrays nounset; ${line}`], {
    env: { HOME: home, PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
}
