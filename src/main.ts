import { fstatSync, writeSync } from 'node:fs';
import { checkAgainstTable, checkEncoding, type Parsed } from './cli/check.js';
import { fullWidth } from './cli/fit-page.js';
import { commandHelp, groupHelp, rootHelp, startPage } from './cli/help.js';
import { parseCommandLine, wantsJson } from './cli/program.js';
import type { OutputFormat } from './config/settings.js';
import type { PlainCommand, PlainTable } from './data/plain-table.js';
import { systemLimit, SystemLimitError } from './data/system-errors.js';
import { readTable } from './data/table-file.js';
import { Failure, PipeClosedError } from './errors.js';
import { exit } from './exit-codes.js';
import { watchStops } from './terminal/job-control.js';
import { createStreams, type ProcessStreams } from './terminal/streams.js';

/** What the launcher hands over: the parts of dist/ that are data, and what a bundle would load too soon. */
interface Distribution {
  /** The text of table.json. */
  readonly table: string;
  /** Read only when a topic is asked for. */
  readonly topics: () => { readonly [name: string]: string };
  /** Asked only where something is shown in a terminal's way: the module that tells loads half of a socket. */
  readonly isTerminal: (descriptor: 0 | 1 | 2) => boolean;
}

/**
 * Runs one command line and sets the exit code. Besides the launcher the only code that knows
 * `process`; everything below is handed its part of it.
 */
export async function main({ table: text, topics, isTerminal }: Distribution): Promise<void> {
  const table = readTable(text);
  const argv = process.argv.slice(2);
  const streams = createStreams(process, {
    isTerminal: (descriptor) => mayBeTerminal(descriptor) && isTerminal(descriptor),
    // Elsewhere the system's own writing differs from that of a stream.
    write: process.platform === 'win32' ? undefined : writeSync,
  });
  let parsed: Parsed | undefined;
  // Node's own report of a crash would pass by the redactor.
  process.on('uncaughtException', (error) => {
    void printFailure(error, parsed, table, argv, streams).finally(() => process.exit(exit.failed));
  });
  try {
    parsed = parseCommandLine(argv, table);
    const page = pageOf(parsed, table, streams);
    if (page !== undefined) await streams.stdout.write(page);
    else if (parsed.kind === 'command')
      process.exitCode = await run(parsed, table, topics, streams);
  } catch (error) {
    process.exitCode = await printFailure(error, parsed, table, argv, streams);
  }
  if (streams.isHeld) process.exit();
}

/** Where the key of this process's connection came from. */
let keySource: string | undefined;
/** As the profile says, too; undefined until the settings are known. */
let format: OutputFormat | undefined;

/** Whether errors are told in JSON. */
function isForScript(argv: readonly string[]): boolean {
  if (format === undefined) return wantsJson(argv, process.env['ROSTERCTL_OUTPUT']);
  return format === 'json' || format === 'ndjson';
}

type CommandLine = Extract<Parsed, { kind: 'command' }>;

/** Runs a command; a signal's code beats the command's own. */
async function run(
  line: CommandLine,
  table: PlainTable,
  topics: Distribution['topics'],
  streams: ProcessStreams,
): Promise<number> {
  const argv = process.argv.slice(2);
  checkAgainstTable(line.command, line.values);
  if (argv.some((word) => word.includes('\ufffd'))) {
    const { argumentsNotUtf8 } = await import('./files/raw-arguments.js');
    checkEncoding(line, argumentsNotUtf8(argv));
  }
  const stops = watchStops(process);
  const signals = watchSignals(() => {
    // The terminal shows ^C where the cursor stands; what follows begins on a line of its own.
    if (streams.stderr.isTerminal && !stops.isDrawnOn) void streams.stderr.write('\n');
  });
  signals.signal.addEventListener('abort', () => streams.stopReading(), { once: true });
  let liftLimit: (() => void) | undefined;
  try {
    liftLimit = await limitTime(line.globals.maxTime, (text) => {
      void streams.stderr.write(`Stopped: --max-time ${text} is over.\n`);
      signals.end();
    });
    // Loaded for a command only: help, usage errors and completion never need it.
    const { runCommand } = await import('./assemble.js');
    const { code, failed } = await runCommand(line.command, line.values, line.globals, {
      env: process.env,
      platform: process.platform,
      nodeVersion: process.versions.node,
      uid: process.getuid?.(),
      self: { pid: process.pid, isAlive },
      table,
      topics,
      streams,
      signal: signals.signal,
      // Not `performance`, whose first use costs a start 2 ms.
      clock: () => Number(process.hrtime.bigint()) / 1e6,
      expectSignal: signals.expect,
      onStop: stops.onStop,
      lendKeys(isInUse) {
        const heedInterrupts = signals.ignoreInterrupts();
        const heedStops = stops.follow(isInUse);
        return () => {
          heedInterrupts();
          heedStops();
        };
      },
      onContinue(heard) {
        process.on('SIGCONT', heard);
        return () => process.off('SIGCONT', heard);
      },
      withEditing,
      connected: (found) => {
        keySource = found;
      },
      decided: (found) => {
        format = found;
      },
    });
    const exitCode = signals.code() ?? code;
    // The others were told line by line; a script reads one error, the last line.
    if (failed && (failed.isUnreported || isForScript(argv)))
      await printFailure(failed.error, line, table, argv, streams, { exitCode, ids: [failed.id] });
    return exitCode;
  } catch (error) {
    const code = await printFailure(error, line, table, argv, streams, {
      exitCode: signals.code(),
    });
    return signals.code() ?? code;
  } finally {
    liftLimit?.();
    signals.stop();
  }
}

/** Calls `over` when the process has run so long; gives what lifts the limit. Throws UsageError. */
async function limitTime(
  text: string | undefined,
  over: (text: string) => void,
): Promise<(() => void) | undefined> {
  if (text === undefined) return undefined;
  const [{ readFlag }, { duration }] = await Promise.all([
    import('./config/decide.js'),
    import('./config/parse.js'),
  ]);
  const limitMs = readFlag('--max-time', text, duration(1));
  const timer = setTimeout(() => over(text), limitMs - process.uptime() * 1000);
  timer.unref();
  return () => clearTimeout(timer);
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

function pageOf(parsed: Parsed, table: PlainTable, { stdout }: ProcessStreams): string | undefined {
  if (parsed.kind === 'version') return `${table.version}\n`;
  if (parsed.kind === 'command') return undefined;
  const width = stdout.isTerminal ? Math.min(fullWidth, stdout.columns) : fullWidth;
  if (parsed.kind === 'start') return startPage(table, width);
  const { of, long } = parsed;
  const options = { long, width };
  if (!of) return rootHelp(table, options);
  return 'words' in of ? commandHelp(of, options) : groupHelp(of, table, width);
}

/** Asking whether this is a terminal loads half of a socket, which a file or a pipe is spared. */
function mayBeTerminal(descriptor: number): boolean {
  try {
    // What Windows says of a console is not relied on.
    return process.platform === 'win32' || fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}

/** What is known of a failure besides the error itself. */
interface Known {
  /** How the process ends, where not as the error says. */
  readonly exitCode?: number | undefined;
  /** What it is about, where not all that the line names. */
  readonly ids?: readonly string[];
}

/** The error as words or as JSON on stderr; a closed pipe is a quiet end. */
async function printFailure(
  error: unknown,
  parsed: Parsed | undefined,
  table: PlainTable,
  argv: readonly string[],
  streams: ProcessStreams,
  known: Known = {},
): Promise<number> {
  if (error instanceof PipeClosedError) return exit.done;
  const loaded = await Promise.all([
    import('./cli/failure.js'),
    import('./terminal/safe-text.js'),
    import('./terminal/whole-words.js'),
  ]).catch((cause: unknown) => systemLimit(error) ?? systemLimit(cause));
  // Where no file can be opened, the words for it cannot be loaded either.
  if (loaded instanceof SystemLimitError) return printLimit(loaded, argv, streams);
  if (!loaded) throw error;
  const [{ envelopeJson, describeFailure }, { multiLine, singleLine }, { wrapWholeWords }] = loaded;
  const command: PlainCommand | undefined = parsed?.kind === 'command' ? parsed.command : undefined;
  const values = parsed?.kind === 'command' ? parsed.values : {};
  const ids = command?.args
    .flatMap((arg) => [values[arg.name]].flat())
    .filter((id) => typeof id === 'string');
  const story = describeFailure(error, {
    words: command?.words ?? [],
    ids: known.ids ?? ids ?? [],
    exitCode: known.exitCode,
    keySource,
    flags: parsed?.kind === 'command' ? parsed.globals : {},
    table,
  });
  const json = isForScript(argv);
  const { stderr } = streams;
  const safe = story.lines.map(singleLine);
  const isLong = !json && safe.some((line) => line.length > fullWidth);
  const told =
    isLong && stderr.isTerminal
      ? safe.flatMap((line) => wrapWholeWords(line, stderr.columns))
      : safe;
  const lines = json ? [envelopeJson(story)] : told;
  const isBug = error instanceof Error && !(error instanceof Failure);
  if (isBug && argv.includes('--debug') && error.stack) lines.unshift(multiLine(error.stack));
  await stderr.write(`${lines.join('\n')}\n`);
  return story.exitCode;
}

/** What no file is loaded for: the plain words of a limit of this machine. */
async function printLimit(
  { code, kind, message, hint }: SystemLimitError,
  argv: readonly string[],
  streams: ProcessStreams,
): Promise<number> {
  const error = { code, kind, message, hint, exitCode: exit.failed, retryable: false };
  const text = isForScript(argv) ? JSON.stringify({ error }) : `${message}\n${hint}`;
  await streams.stderr.write(`${text}\n`);
  return exit.failed;
}

/** Node's reader of lines would make Backspace a letter of the answer where TERM is dumb when it opens. */
function withEditing<T>(open: () => T): T {
  const term = process.env['TERM'];
  if (term !== 'dumb') return open();
  process.env['TERM'] = 'ansi';
  try {
    return open();
  } finally {
    process.env['TERM'] = term;
  }
}

const signalExits = {
  SIGINT: exit.interrupted,
  SIGTERM: exit.terminated,
  SIGHUP: exit.hungUp,
} as const;
const graceMs = 10_000;

/** The first signal lets what is in flight finish for a while; the second one stops at once. */
function watchSignals(onInterrupt: () => void) {
  const controller = new AbortController();
  let code: number | undefined;
  let expected = false;
  let ignored = false;
  const names = Object.keys(signalExits) as (keyof typeof signalExits)[];
  const onSignal = (name: keyof typeof signalExits) => {
    if (ignored && name === 'SIGINT') return;
    if (name === 'SIGINT') onInterrupt();
    if (code !== undefined) process.exit(code);
    code = signalExits[name];
    controller.abort();
    setTimeout(() => process.exit(code), graceMs).unref();
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    /** As the first SIGTERM does. */
    end: () => onSignal('SIGTERM'),
    code: () => (expected ? undefined : code),
    expect: () => {
      expected = true;
    },
    ignoreInterrupts: () => {
      ignored = true;
      return () => {
        ignored = false;
      };
    },
    stop: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
