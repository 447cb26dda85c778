/** Runs a profile's `key.command`, for example a password manager. */
import { spawn } from 'node:child_process';
import type { Environment } from '../data/environment.js';
import { systemCode } from '../data/system-errors.js';
import { splitWords } from '../data/text.js';
import { ConfigError, Failure, stoppedReading } from '../errors.js';
import { cleanKey } from './api-key.js';

const maxBytes = 65_536;

interface KeyCommandOptions {
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a profile's `key.command` without a shell and reads the key from its stdout. Its output is
 * never shown. Throws ConfigError if it cannot be run, fails, prints no key or takes over 10 s, and
 * CancelledError after a signal.
 */
export async function runKeyCommand(
  command: string,
  profile: string,
  options: KeyCommandOptions,
): Promise<string> {
  const source = `key.command of profile ${profile}`;
  const [program, ...args] = splitWords(command);
  if (program === undefined)
    throw new ConfigError(`${source} is empty.`, {
      hint: 'Set it: rosterctl config set key.command COMMAND\nOr remove it: rosterctl config unset key.command',
    });
  const output = await runProgram(program, args, source, options);
  try {
    return cleanKey(output, `What ${source} printed`);
  } catch (error) {
    throw new ConfigError((error as Error).message, {
      hint: 'It must print the key and nothing else.',
    });
  }
}

function runProgram(
  program: string,
  args: readonly string[],
  source: string,
  { env, signal }: KeyCommandOptions,
): Promise<string> {
  const failed = (problem: string) =>
    new ConfigError(`${source} ${problem}.`, { hint: 'Run it by hand to see why.' });
  return new Promise<string>((resolve, reject) => {
    if (signal?.aborted) throw stoppedReading(source);
    const child = spawn(program, args, { env, shell: false, stdio: ['ignore', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (error?: Error) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (!error) return resolve(Buffer.concat(chunks).toString('utf8'));
      // A grandchild may keep the pipe open; do not wait for it.
      child.kill('SIGKILL');
      child.stdout.destroy();
      reject(error);
    };
    const onAbort = () => finish(stoppedReading(source));
    const timer = setTimeout(() => finish(failed('took longer than 10 s')), 10_000);
    signal?.addEventListener('abort', onAbort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) finish(failed('printed more than a key'));
      else chunks.push(chunk);
    });
    child.on('error', finish);
    child.on('close', (code, killSignal) =>
      finish(code === 0 ? undefined : failed(`failed (${killSignal ?? `exit code ${code}`})`)),
    );
  }).catch((error: unknown) => {
    if (error instanceof Failure) throw error;
    const code = systemCode(error);
    throw failed(`cannot be run (${code === 'ENOENT' ? 'there is no such program' : code})`);
  });
}
