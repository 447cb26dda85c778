/** Runs command lines inside the test's own process, over real sockets and files, with a clock that a test can put forward. */
import { PassThrough, Writable } from 'node:stream';
import { runCommand } from '../../src/assemble.js';
import { checkAgainstTable } from '../../src/cli/check.js';
import { describeFailure, envelopeJson } from '../../src/cli/failure.js';
import { describeCommands } from '../../src/cli/manifest.js';
import { parseCommandLine } from '../../src/cli/program.js';
import { commands } from '../../src/commands/index.js';
import { createStreams } from '../../src/terminal/streams.js';
import { freshEnvironment, type Ran, splitWords } from './run.js';

const table = { ...(await describeCommands(commands)), version: '0.0.0', topics: [] };

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

/** What `rosterctl` does with this line, told as JSON; stdin is empty. */
export async function inProcess(
  line: string,
  {
    env,
    home,
    clock = movableClock(),
    asRead = false,
  }: {
    env: Record<string, string>;
    home: string;
    clock?: Clock;
    /** Takes the command for one that only reads, whatever it does. */
    asRead?: boolean;
  },
): Promise<Ran> {
  const parsed = parseCommandLine(splitWords(line), table);
  if (parsed.kind !== 'command') throw new Error(`no command: ${line}`);
  const { command, values, globals } = parsed;
  checkAgainstTable(command, values);
  const world = { ...freshEnvironment(home), ...env };
  const out = collector();
  const err = collector();
  const streams = createStreams({
    stdin: new PassThrough().end(),
    stdout: out.stream,
    stderr: err.stream,
    env: world,
  });
  const ended = (code: number): Ran => ({
    code,
    signal: null,
    stdout: out.text(),
    stderr: err.text(),
  });
  const tell = (error: unknown, ids?: readonly string[]): number => {
    const known = { words: command.words, ids: ids ?? [], keySource: undefined };
    const { redacted } = streams;
    const story = describeFailure(error, {
      ...known,
      exitCode: undefined,
      flags: globals,
      redacted,
      isVerbose: false,
      table,
    });
    err.stream.write(`${envelopeJson(story)}\n`);
    return story.exitCode;
  };
  try {
    const taken = asRead ? { ...command, writes: false } : command;
    const { code, failed } = await runCommand(
      { ...parsed, command: taken },
      {
        argv: splitWords(line),
        env: world,
        platform: process.platform,
        nodeVersion: process.versions.node,
        uid: process.getuid?.(),
        self: { pid: process.pid, isAlive: (pid) => pid === process.pid },
        table,
        topics: () => ({}),
        streams,
        signal: new AbortController().signal,
        clock: clock.now,
        known: {},
        expectSignal: () => {},
        onQuit: () => () => {},
        lendKeys: () => () => {},
        onStop: () => () => {},
        onContinue: () => () => {},
        suspend: () => {},
      },
    );
    if (failed) tell(failed.error, failed.id === undefined ? undefined : [failed.id]);
    return ended(code);
  } catch (error) {
    return ended(tell(error));
  }
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
