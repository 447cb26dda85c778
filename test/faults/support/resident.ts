import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundleChild } from '../../support/child.js';
import { atEnd } from '../../support/cleaning.js';
import type { inProcess } from '../../support/in-process.js';
import { freshEnvironment, launcher, type Ran, temporaryFolder } from '../../support/run.js';

/** Runs one command line, in this process or in another. */
export type Run = typeof inProcess;

const script = fileURLToPath(new URL('./resident-child.ts', import.meta.url));

/**
 * Returns an `inProcess` whose lines run, one at a time, in a child process: for many lines that need an
 * environment or a namespace that only a new process can get.
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
