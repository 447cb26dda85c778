import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundleChild } from '../../support/child.js';
import { atEnd } from '../../support/cleaning.js';
import type { inProcess } from '../../support/in-process.js';
import { freshEnvironment, launcher, type Ran, temporaryFolder } from '../../support/run.js';

/** Does what a line says, in which process ever. */
export type Run = typeof inProcess;

const script = fileURLToPath(new URL('./resident-child.ts', import.meta.url));

/**
 * Does what `inProcess` does in a process that was started in another way, one line at a time: for many lines
 * that need what only a start can give.
 */
export async function resident(
  under: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Run> {
  const [command, ...words] = [...under, process.execPath, await bundleChild(script)];
  const child = spawn(command, words, {
    env: { ...freshEnvironment(temporaryFolder()), FAULTS_PROGRAM: launcher, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  atEnd(() => child.kill('SIGKILL'));
  return async (...line) => {
    child.send(line);
    const [{ ran, failed }] = (await once(child, 'message')) as [{ ran: Ran; failed?: string }];
    if (failed !== undefined) throw new Error(failed);
    return ran;
  };
}
