import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
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

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly home?: string;
  /** A script of `sh` that becomes the program with `exec "$@"`. */
  readonly through?: string;
}

export interface RunOptions extends StartOptions {
  /** What stands on stdin; by default it is empty and closed. */
  readonly stdin?: string;
  /** Another time without output that tells a hang from an answer. */
  readonly hangMs?: number;
}

/** How long nothing is printed; less than the time of a test, whose end would not tell what it waited for. */
const hangMs = 110_000;

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
  const words = wordsOf(line);
  const child = startRosterctl(words, options);
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
    const keepIn = (chunks: Buffer[]) => (chunk: Buffer) => {
      chunks.push(chunk);
      hang.refresh();
    };
    child.stdout.on('data', keepIn(stdout));
    child.stderr.on('data', keepIn(stderr));
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

/** Starts the built program in the same way and leaves its process to the caller. */
export function startRosterctl(
  line: string | readonly string[],
  { env, home = env?.['HOME'] ?? temporaryFolder(), cwd = home, through }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const words = [process.execPath, launcher, ...wordsOf(line)];
  const [program = '', ...rest] =
    through === undefined ? words : ['sh', '-c', through, 'sh', ...words];
  return spawn(program, rest, { cwd, env: { ...freshEnvironment(home), ...env }, stdio: 'pipe' });
}

/** A line on its way, to be killed; its stdin is empty. */
export function startLine(line: string | readonly string[], options: StartOptions) {
  const child = startRosterctl(line, options);
  child.stdin.on('error', () => {}).end();
  const { printed, ended } = heard(child);
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    isOver: () => child.exitCode !== null,
    stderr: () => printed.stderr,
    ended,
  };
}

/** Reads what a process prints, until its end. */
export function heard(child: ChildProcess) {
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => (printed[name] += chunk.toString()));
  return { printed, ended: closed(child).then((code) => ({ code, ...printed })) };
}

/** The words of a command line. */
export function wordsOf(line: string | readonly string[]): readonly string[] {
  return typeof line === 'string' ? splitWords(line) : line;
}

/** Resolves to the exit code of a process once it has ended and its output was read. */
export function closed(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on('close', resolve));
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
