/** Runs a command under /usr/bin/time. */
import { spawn } from 'node:child_process';

/** Returns wall and CPU milliseconds, the peak memory of the largest process in KiB, and the exit code. */
export function measured(words, env) {
  return new Promise((resolve, reject) => {
    const format = '%e %U %S %M';
    const child = spawn('/usr/bin/time', ['-f', format, ...words], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    const start = performance.now();
    child.on('close', (code) => {
      const [, user, system, peak] = text.trim().split('\n').at(-1).split(' ').map(Number);
      resolve({ ms: performance.now() - start, cpu: (user + system) * 1000, peak, code });
    });
  });
}
