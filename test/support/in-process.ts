/**
 * Runs lines of the built program in the test's own process, over real sockets and files: without what the
 * start of a process costs, and with a clock that a test can put forward.
 */
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PassThrough, Writable } from 'node:stream';
import type { complete as answer } from '../../src/complete.js';
import type { main } from '../../src/main.js';
import { freshEnvironment, launcher, type Ran, temporaryFolder, wordsOf } from './run.js';

const built = createRequire(launcher);
const program = built('../dist/main.cjs') as { main: typeof main };
const { complete } = built('../dist/complete.cjs') as { complete: typeof answer };
export const distribution = {
  table: readFileSync(built.resolve('../dist/table.json'), 'latin1'),
  topics: () => built('../dist/topics.json'),
};

/** The monotonic clock of a command line, which a test may put forward: a wait that nobody waits. */
export interface Clock {
  readonly now: () => number;
  readonly forward: (ms: number) => void;
}

export function movableClock(): Clock {
  let ahead = 0;
  return {
    now: () => Number(process.hrtime.bigint()) / 1e6 + ahead,
    forward(ms) {
      ahead += ms;
    },
  };
}

interface InProcessOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly home?: string;
  /** The folder for files that the line names in relation to it; lines beside each other share it. */
  readonly cwd?: string;
  /** What stands on stdin; by default it is empty. */
  readonly stdin?: string;
  readonly clock?: Clock;
  /** Takes the command for one that only reads, whatever it does. */
  readonly asRead?: boolean;
  /** The three streams, by default an input and two pipes. */
  readonly streams?: StandardStreams;
}

export interface StandardStreams {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/**
 * Does what `rosterctl` does with this line. For lines that need no process of their own: no signals, no
 * terminal, no descriptors, and nothing that Node reads when it starts.
 */
export async function inProcess(
  line: string | readonly string[],
  {
    env,
    home = env?.['HOME'] ?? temporaryFolder(),
    cwd,
    stdin = '',
    clock = movableClock(),
    asRead = false,
    streams,
  }: InProcessOptions = {},
): Promise<Ran> {
  const out = collector();
  const err = collector();
  const started = clock.now();
  const pid = ++lastPid;
  running.add(pid);
  const standIn = Object.assign(new EventEmitter(), {
    argv: [process.execPath, launcher, ...wordsOf(line)],
    env: { ...freshEnvironment(home), ...env },
    platform: process.platform,
    versions: process.versions,
    pid,
    getuid: process.getuid,
    kill: (other: number, signal: number) => running.has(other) || process.kill(other, signal),
    hrtime: { bigint: () => BigInt(Math.round(clock.now() * 1e6)) },
    uptime: () => (clock.now() - started) / 1000,
    exitCode: undefined as number | undefined,
    exit() {
      throw new Error(`rosterctl ${wordsOf(line).join(' ')} would exit at once.`);
    },
    stdin: streams?.stdin ?? new PassThrough().end(stdin),
    stdout: streams?.stdout ?? out.stream,
    stderr: streams?.stderr ?? err.stream,
  });
  const leave = cwd === undefined ? undefined : enter(cwd);
  try {
    const { table } = distribution;
    await program.main(
      {
        ...distribution,
        table: asRead ? table.replaceAll('"writes":true', '"writes":false') : table,
      },
      standIn as unknown as Parameters<typeof main>[1],
    );
  } finally {
    standIn.emit('exit');
    running.delete(pid);
    leave?.();
  }
  return { code: standIn.exitCode ?? 0, signal: null, stdout: out.text(), stderr: err.text() };
}

/** What `rosterctl __complete` answers to a TAB behind these words. */
export function completeInProcess(
  words: readonly string[],
  { env, home }: { readonly env?: Readonly<Record<string, string>>; readonly home: string },
): string {
  let written = '';
  const leave = enter(home);
  try {
    complete(words, {
      env: { ...freshEnvironment(home), ...env },
      platform: process.platform,
      uid: process.getuid?.(),
      table: distribution.table,
      settings: () => built('../dist/settings.json'),
      write: (text) => (written += text),
    });
  } finally {
    leave();
  }
  return written;
}

/** Each line has a number of its own, above those of the system's processes, which is gone when it has ended. */
let lastPid = 2 ** 22;
const running = new Set<number>();

/** Where the lines under way stand: a process has one current folder. */
const here = { folder: process.cwd(), before: process.cwd(), lines: 0 };

/** Changes to a folder, and returns what changes back after the last line in it. */
function enter(folder: string): () => void {
  if (here.lines > 0 && here.folder !== folder)
    throw new Error(`A line in ${folder} cannot run beside one in ${here.folder}.`);
  if (here.lines === 0) {
    here.before = process.cwd();
    here.folder = folder;
    process.chdir(folder);
  }
  here.lines += 1;
  return () => {
    here.lines -= 1;
    if (here.lines === 0) process.chdir(here.before);
  };
}

function collector() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
