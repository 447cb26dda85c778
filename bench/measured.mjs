/** Runs a command under /usr/bin/time, and the store that it talks to in a process of its own. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const store = fileURLToPath(new URL('store.mjs', import.meta.url));

/** Starts the store; returns its addresses, and `stop`. */
export function startStore() {
  const child = spawn(process.execPath, [store], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve) =>
    child.stdout.once('data', (line) =>
      resolve({ ...JSON.parse(line.toString()), stop: () => child.kill('SIGKILL') }),
    ),
  );
}

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
