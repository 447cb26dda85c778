import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, type TestContext, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import {
  freshEnvironment,
  launcher,
  type Ran,
  splitWords,
  temporaryFolder,
} from '../../support/run.js';
import { key, storeSecret } from '../../support/service.js';

/** The signed part of every URL that a hostile server sends; as secret as the key. */
export const signature = 'sig-canary-5d1b7720aa41c3e8';

/** The figures of a case, for the summary. */
export interface Figures {
  runs: number;
  stacks: number;
  hangs: number;
  canaries: number;
}

declare module 'vitest' {
  interface TaskMeta {
    faults?: Figures;
  }
}

export interface AttackOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  readonly home?: string;
  readonly cwd?: string;
  /** Words before the program: `setpriv`, `prlimit`, `unshare`. */
  readonly under?: readonly string[];
  /** A shell command that starts the program; `"$@"` is the program with its arguments. */
  readonly shell?: string;
  /** stdin stays open without input. */
  readonly silentStdin?: boolean;
  /** Called with the id of the started process, which leads its own process group. */
  readonly onStart?: (pid: number) => void;
  /** The output may contain the signed URL, because it was requested. */
  readonly showsUrl?: boolean;
  /** Runs it in the process of the test, or in a resident one: for many lines that differ in what they are told. */
  readonly inside?: boolean | typeof inProcess;
}

export interface Attacked extends Ran {
  readonly ms: number;
}

/** Runs the built program against something hostile. */
export type Attack = (
  line: string | readonly string[],
  options?: AttackOptions,
) => Promise<Attacked>;

/** After this long a run counts as a hang; less than the time of a case, whose end would not tell which. */
const hangMs = 100_000;

/** One case of the catalogue; several tests may share its id. */
export function fault(
  id: string,
  title: string,
  body: (attack: Attack, context: TestContext) => Promise<void>,
  { inside = false }: Pick<AttackOptions, 'inside'> = {},
): void {
  test.concurrent(`${id} ${title}`, { timeout: 120_000 }, async (context) => {
    const figures: Figures = { runs: 0, stacks: 0, hangs: 0, canaries: 0 };
    context.task.meta.faults = figures;
    await body((line, options) => run(figures, line, { inside, ...options }), context);
  });
}

async function run(
  figures: Figures,
  line: string | readonly string[],
  options: AttackOptions = {},
): Promise<Attacked> {
  const words = typeof line === 'string' ? splitWords(line) : line;
  const home = options.home ?? temporaryFolder('fault');
  figures.runs += 1;
  const started = performance.now();
  const ended = await (options.inside
    ? runInside(words, home, options)
    : runOutside(figures, words, home, options));
  const what = `rosterctl ${words.join(' ').slice(0, 200)}\n${ended.stderr.slice(0, 2000)}`;
  if (ended.hung) {
    figures.hangs += 1;
    throw new Error(`still running after ${hangMs} ms: ${what}`);
  }
  const { hung: _, ...output } = ended;
  const ran: Attacked = { ...output, ms: performance.now() - started };
  const stack = stackIn(ran.stderr) || stackIn(ran.stdout);
  if (stack) figures.stacks += 1;
  expect(stack, `a stack trace from ${what}`).toBe(false);
  const leaks = leaksIn(ran, home, options.showsUrl ?? false);
  figures.canaries += leaks.length;
  expect(leaks, `secrets in the traces of ${what}`).toEqual([]);
  return ran;
}

interface Ended extends Ran {
  readonly hung: boolean;
}

async function runOutside(
  figures: Figures,
  words: readonly string[],
  home: string,
  options: AttackOptions,
): Promise<Ended> {
  const program = [process.execPath, process.env['FAULTS_PROGRAM'] ?? launcher, ...words];
  const [command = '', ...args] =
    options.shell === undefined
      ? [...(options.under ?? []), ...program]
      : [...(options.under ?? []), 'sh', '-c', options.shell, 'sh', ...program];
  const child = spawn(command, args, {
    cwd: options.cwd ?? home,
    env: { ...freshEnvironment(home), ...options.env },
    stdio: 'pipe',
    detached: true,
  });
  child.stdin.on('error', () => {});
  if (!options.silentStdin) child.stdin.end(options.stdin ?? '');
  if (child.pid !== undefined) options.onStart?.(child.pid);
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const watch = watchProcessList(child.pid, () => (figures.canaries += 1));
  let hung = false;
  const bound = setTimeout(() => {
    hung = true;
    killGroup(child.pid);
  }, hangMs);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(bound);
  watch.stop();
  return {
    hung,
    code,
    signal,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  };
}

/** The last line inside that names files of its folder: a process has one current folder. */
let lastInFolder: Promise<unknown> = Promise.resolve();

function runInside(words: readonly string[], home: string, options: AttackOptions): Promise<Ended> {
  if (options.cwd === undefined) return runNow(words, home, options);
  const ended = lastInFolder.then(() => runNow(words, home, options));
  lastInFolder = ended.catch(() => {});
  return ended;
}

async function runNow(
  words: readonly string[],
  home: string,
  { env, stdin, cwd, inside }: AttackOptions,
): Promise<Ended> {
  const start = typeof inside === 'function' ? inside : inProcess;
  const ran = await Promise.race([
    start(words, {
      home,
      env,
      ...(stdin !== undefined && { stdin: stdin.toString() }),
      ...(cwd !== undefined && { cwd }),
    }),
    sleep(hangMs, undefined, { ref: false }),
  ]);
  return ran
    ? { ...ran, hung: false }
    : { hung: true, code: null, signal: null, stdout: '', stderr: '' };
}

/** Requirements for a message on stderr: present, short, without HTML. */
export function expectFailure(ran: Ran, code: number, says: RegExp): void {
  expect({ code: ran.code, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
    code,
    stdout: '',
    stderr: expect.stringMatching(says),
  });
  expect(ran.stderr).not.toMatch(/<(html|!doctype|script)/i);
  expect(ran.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(8);
}

/** A case that this machine cannot run: always reported in the summary. */
export function unlessPossible(context: TestContext, missing: string | undefined): void {
  if (missing !== undefined) context.skip(missing);
}

function stackIn(text: string): boolean {
  return (
    /^\s+at .+:\d+:\d+\)?$/m.test(text) || /node:internal|UnhandledPromiseRejection/.test(text)
  );
}

function leaksIn({ stdout, stderr }: Ran, home: string, showsUrl: boolean): string[] {
  const leaks: string[] = [];
  for (const [where, text] of [
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const) {
    if (text.includes(key)) leaks.push(`the key in ${where}`);
    if (text.includes(storeSecret)) leaks.push(`the key of the store in ${where}`);
    if (isSigned(text) && !showsUrl) leaks.push(`a signature in ${where}`);
  }
  for (const file of filesIn(home)) {
    if (file.endsWith('credentials.json')) continue;
    const text = readFileSync(file, 'latin1');
    if (text.includes(key) || text.includes(storeSecret) || isSigned(text))
      leaks.push(`a secret in ${file}`);
  }
  return leaks;
}

/** True if a text contains what makes a URL work: our canary, or an AWS signature. */
const isSigned = (text: string) =>
  text.includes(signature) || /X-Amz-Signature=[0-9a-f]{64}/i.test(text);

/** The tool's own folders below a home. */
function filesIn(home: string): string[] {
  return ['.config', '.local', '.cache'].flatMap((name) => {
    try {
      return readdirSync(join(home, name), { recursive: true, encoding: 'utf8' })
        .map((file) => join(home, name, file))
        .filter((file) => statSync(file).isFile());
    } catch {
      return [];
    }
  });
}

/** What to do when a process of a session shows a canary, by session. */
const watched = new Map<number, () => void>();
/** Ids of processes that no case started; asking for their session takes most of a look. */
let strangers: ReadonlySet<string> = new Set();
let timer: NodeJS.Timeout | undefined;

/**
 * Searches for the canaries in the arguments of every process that a case started, in any group;
 * concurrent tests may legitimately pass a key. One look serves all cases that run at once.
 */
function watchProcessList(session: number | undefined, found: () => void): { stop(): void } {
  if (session === undefined) return { stop: () => {} };
  watched.set(session, found);
  timer ??= setInterval(lookAtProcesses, 100);
  return {
    stop() {
      watched.delete(session);
      if (watched.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

function lookAtProcesses(): void {
  try {
    const others = new Set<string>();
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const found = strangers.has(pid) ? undefined : watched.get(sessionOf(pid) ?? 0);
      if (!found) {
        others.add(pid);
        continue;
      }
      const text = argumentsOf(pid);
      if (text.includes(key) || text.includes(signature)) found();
    }
    strangers = others;
  } catch {
    // No /proc here: nothing to inspect.
  }
}

function sessionOf(pid: string): number | undefined {
  try {
    // After the command name, which may contain anything: state, parent, group, session.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return undefined;
  }
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process ended meanwhile.
  }
}
