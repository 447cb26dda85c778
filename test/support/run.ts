import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built program's launcher. */
export const launcher =
  process.env['FAULTS_PROGRAM'] ?? fileURLToPath(new URL('../../bin/rosterctl', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What stands on stdin; by default it is empty and closed. */
  readonly stdin?: string;
  readonly cwd?: string;
  readonly home?: string;
  /** Another bound that tells a hang from an answer. */
  readonly hangMs?: number;
}

/** A bound that tells a hang from an answer. */
const hangMs = 60_000;

/** A folder that is gone when the test run is done. */
export function temporaryFolder(name = 'rosterctl'): string {
  return mkdtempSync(join(process.env['TEST_ROOT'] ?? tmpdir(), `${name}-`));
}

/** The environment of a fresh user: a home folder and a path, nothing of the machine's own settings. */
export function freshEnvironment(home: string): Record<string, string> {
  return { HOME: home, PATH: process.env['PATH'] ?? '', TZ: 'UTC', LANG: 'C.UTF-8' };
}

/** Runs the built program with a command line as one would type it (quotes understood). */
export function rosterctl(
  line: string | readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const words = typeof line === 'string' ? splitWords(line) : line;
  const home = options.home ?? options.env?.['HOME'] ?? temporaryFolder();
  const child = spawn(process.execPath, [launcher, ...words], {
    cwd: options.cwd ?? home,
    env: { ...freshEnvironment(home), ...options.env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {});
  child.stdin.end(options.stdin ?? '');
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const hang = setTimeout(() => {
      child.kill('SIGKILL');
      reject(
        new Error(
          `rosterctl ${words.join(' ')} hangs; stderr: ${Buffer.concat(stderr).toString()}`,
        ),
      );
    }, options.hangMs ?? hangMs);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(hang);
      resolve({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      });
    });
  });
}

/** Splits a line as a shell does: single and double quotes, no expansion. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (const [, word = ''] of line.matchAll(/((?:'[^']*'|"[^"]*"|[^\s'"])+)/g))
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double ?? ''));
  return words;
}

/** The last line of stderr, parsed: the error envelope of a `--json` run. */
export function errorOf(ran: Pick<Ran, 'stderr'>): Record<string, unknown> {
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as { error: Record<string, unknown> }).error;
}
