import { tellFailure } from './cli/failure.js';
import { commandHelp, groupHelp, rootHelp, startPage } from './cli/help.js';
import { checkAgainstTable } from './cli/check.js';
import type { Parsed } from './cli/parsed.js';
import { parseCommandLine, wantsJson } from './cli/program.js';
import type { PlainCommand, PlainTable } from './data/plain-table.js';
import { PipeClosedError } from './errors.js';
import { exit } from './exit-codes.js';
import { singleLine } from './terminal/safe-text.js';
import { createStreams, type ProcessStreams } from './terminal/streams.js';

/** What the launcher hands over: the parts of dist/ that are data. */
export interface Distribution {
  readonly table: PlainTable;
  /** Read only when a topic is asked for. */
  readonly topics: () => { readonly [name: string]: string };
}

/**
 * Runs one command line and sets the exit code. Besides the launcher the only code that knows
 * `process`; everything below is handed its part of it.
 */
export async function main({ table, topics }: Distribution): Promise<void> {
  const argv = process.argv.slice(2);
  const streams = createStreams({
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
  });
  const signals = watchSignals();
  let code: number;
  let parsed: Parsed | undefined;
  try {
    parsed = parseCommandLine(argv, table);
    code = await run(parsed, {
      argv,
      table,
      topics,
      streams,
      signal: signals.signal,
      expectSignal: signals.expect,
    });
  } catch (error) {
    code = await tell(error, parsed, argv, streams);
  }
  signals.stop();
  process.exitCode = signals.code() ?? code;
}

interface Scene {
  readonly argv: readonly string[];
  readonly table: PlainTable;
  readonly topics: Distribution['topics'];
  readonly streams: ProcessStreams;
  readonly signal: AbortSignal;
  readonly expectSignal: () => void;
}

async function run(parsed: Parsed, scene: Scene): Promise<number> {
  const page = pageOf(parsed, scene.table);
  if (page !== undefined) {
    await scene.streams.stdout.write(page);
    return exit.done;
  }
  if (parsed.kind !== 'command') return exit.done;
  checkAgainstTable(parsed.command, parsed.values);
  // Loaded for a command only: help, usage errors and completion never need it.
  const { runCommand } = await import('./assemble.js');
  return runCommand(parsed.command, parsed.values, parsed.globals, {
    env: process.env,
    platform: process.platform,
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    self: { pid: process.pid, isAlive },
    ...scene,
  });
}

/** Signal 0 reaches a process or says why not; no permission means that there is one. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pageOf(parsed: Parsed, table: PlainTable): string | undefined {
  if (parsed.kind === 'version') return `${table.version}\n`;
  if (parsed.kind === 'start') return startPage(table);
  if (parsed.kind !== 'help') return undefined;
  const { of, long } = parsed;
  if (!of) return rootHelp(table, { long });
  return 'words' in of ? commandHelp(of, { long }) : groupHelp(of, table);
}

/** The error as words or as JSON on stderr; a closed pipe is a quiet end. */
async function tell(
  error: unknown,
  parsed: Parsed | undefined,
  argv: readonly string[],
  streams: ProcessStreams,
): Promise<number> {
  if (error instanceof PipeClosedError) return exit.done;
  const command: PlainCommand | undefined = parsed?.kind === 'command' ? parsed.command : undefined;
  const values = parsed?.kind === 'command' ? parsed.values : {};
  const ids = command?.args
    .flatMap((arg) => [values[arg.name]].flat())
    .filter((id) => typeof id === 'string');
  const story = tellFailure(error, {
    words: command?.words ?? [],
    ids: ids ?? [],
    profile:
      (parsed?.kind === 'command' && parsed.globals.profile) ||
      (process.env['ROSTERCTL_PROFILE'] ?? 'default'),
  });
  const json = wantsJson(argv, process.env['ROSTERCTL_OUTPUT']);
  const lines = json ? [JSON.stringify(story.envelope)] : story.lines.map(singleLine);
  if (argv.includes('--debug') && error instanceof Error && error.stack) lines.unshift(error.stack);
  await streams.stderr.write(`${lines.join('\n')}\n`);
  return story.exitCode;
}

const signalExits = {
  SIGINT: exit.interrupted,
  SIGTERM: exit.terminated,
  SIGHUP: exit.hungUp,
} as const;
const graceMs = 10_000;

/** The first signal lets what is in flight finish for a while; the second one stops at once. */
function watchSignals() {
  const controller = new AbortController();
  let code: number | undefined;
  let expected = false;
  const names = Object.keys(signalExits) as (keyof typeof signalExits)[];
  const onSignal = (name: keyof typeof signalExits) => {
    if (code !== undefined) process.exit(code);
    code = signalExits[name];
    controller.abort();
    setTimeout(() => process.exit(code), graceMs).unref();
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    code: () => (expected ? undefined : code),
    expect: () => {
      expected = true;
    },
    stop: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
