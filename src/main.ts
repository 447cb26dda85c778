/** Entry point: the only file besides the launcher that uses `process` (argv, streams, signals, exit code). */
import { checkAgainstTable, checkEncoding, type Parsed, type ParsedCommand } from './cli/check.js';
import { plainFailure } from './cli/failures/plain.js';
import { asksForOutput } from './cli/global-flags.js';
import { commandHelp, groupHelp, rootHelp, startPage } from './cli/help.js';
import { parseCommandLine, typedFormat } from './cli/program.js';
import type { World } from './context.js';
import { readManifest } from './data/command-manifest.js';
import { isUtf8Locale } from './data/environment.js';
import { resourceNames } from './data/resources.js';
import { systemCode, systemLimit } from './data/system-errors.js';
import { CancelledError, Failure, PipeClosedError } from './errors.js';
import { exit } from './exit-codes.js';
import { createPaint } from './terminal/paint.js';
import { watchSignals, watchStops } from './terminal/signals.js';
import { createDirectWrite } from './terminal/stream-writer.js';
import { createStreams, leaveTerminals, mayBeTerminal } from './terminal/streams.js';
import { fullWidth } from './terminal/whole-words.js';

/** The launcher's part: the data files of dist/, and a check that the bundle would load too early. */
interface Distribution {
  /** The text of table.json. */
  readonly table: string;
  /** Called only when a topic is requested. */
  readonly topics: () => { readonly [name: string]: string };
  /** Called only where output depends on a terminal, because `node:tty` loads much of `node:net`. */
  readonly isTerminal: (descriptor: 0 | 1 | 2) => boolean;
}

/** Runs one command line and sets the exit code; everything below gets `process` passed in as a world. */
export async function main({ table, topics, isTerminal }: Distribution): Promise<void> {
  const terminals = new Set<0 | 1 | 2>();
  const streams = createStreams(process, {
    isTerminal(descriptor) {
      const isOne = mayBeTerminal(descriptor, process.platform) && isTerminal(descriptor);
      if (isOne) terminals.add(descriptor);
      return isOne;
    },
    // On Windows, direct writes differ from those of a stream.
    write: process.platform === 'win32' ? undefined : createDirectWrite(),
  });
  const world: World = {
    argv: process.argv.slice(2),
    env: process.env,
    platform: process.platform,
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    self: { pid: process.pid, isAlive, atExit: new Set() },
    table: readManifest(table),
    topics,
    streams,
    // Not `performance`, whose first use adds 2 ms to the start-up.
    clock: () => Number(process.hrtime.bigint()) / 1e6,
    known: {},
  };
  // For the pages and errors that are printed before the settings are known.
  if (world.argv.includes('--no-color')) streams.withoutColor();
  let parsed: Parsed | undefined;
  // Node's own crash report would bypass the redactor.
  process.on('uncaughtException', (error) => {
    void printFailure(error, world, { parsed }).finally(() => process.exit(exit.failed));
  });
  process.on('exit', () => {
    for (const end of world.self.atExit ?? []) end();
    if ([...terminals].some((each) => !isTerminal(each))) process.exitCode = exit.hungUp;
    leaveTerminals(process.platform);
  });
  try {
    parsed = parseCommandLine(world.argv, world.table);
    const page = await pageFor(parsed, world);
    if (page !== undefined) await showHelp(page, world);
    else if (parsed.kind === 'command') process.exitCode = await run(parsed, world);
  } catch (error) {
    process.exitCode = await printFailure(error, world, { parsed });
  }
  if (streams.hasAbandonedWrite) process.exit();
}

/** Returns the page that a command line asks for; undefined if it is a command to run. Throws UsageError. */
async function pageFor(parsed: Parsed, world: World): Promise<string | undefined> {
  const { table, streams } = world;
  const { stdout } = streams;
  if (parsed.kind === 'version') return `${table.version}\n`;
  if (parsed.kind === 'command' && !isHelpPage(parsed, world)) return undefined;
  const width = stdout.isTerminal ? Math.min(fullWidth, stdout.columns) : fullWidth;
  const { bold } = createPaint(stdout.color);
  if (parsed.kind === 'command') {
    const { helpTopic } = await import('./cli/help-topic.js');
    const words = parsed.values['topic'] as readonly string[];
    return helpTopic(words, world, { width, bold });
  }
  if (parsed.kind === 'start') {
    const { pageAfterLogin } = await import('./start.js');
    const page = await pageAfterLogin(world, { width, flags: parsed.globals });
    return page ?? startPage(table, width);
  }
  const { of, long } = parsed;
  const options = { long, width, bold };
  if (!of) return rootHelp(table, options);
  return 'words' in of ? commandHelp(of, options) : groupHelp(of, table, options);
}

/** True for `rosterctl help WORDS`, unless a flag or ROSTERCTL_OUTPUT asks for a format or a file. */
function isHelpPage({ command, globals }: ParsedCommand, { env }: World): boolean {
  return command.words[0] === 'help' && !asksForOutput(globals) && !env['ROSTERCTL_OUTPUT'];
}

/** Prints a page of help; one that is longer than the screen goes through the pager. */
async function showHelp(text: string, world: World): Promise<void> {
  const { stdout } = world.streams;
  const page = stdout.isTerminal && !isUtf8Locale(world.env) ? text.replaceAll('…', '...') : text;
  const isPlain = ['--no-pager', '-q', '--quiet'].some((word) => world.argv.includes(word));
  if (isPlain || !stdout.isTerminal || page.split('\n').length <= stdout.rows)
    return stdout.write(page);
  const { showLongHelp } = await import('./cli/help-page.js');
  await showLongHelp(page, {
    ...world,
    lendKeys(isInUse) {
      process.on('SIGINT', doNothing);
      const stopFollowing = watchStops(process).follow(isInUse);
      return () => {
        process.off('SIGINT', doNothing);
        stopFollowing();
      };
    },
  });
}

/** Returns true if errors are printed as JSON; `configured`: the format in config.json, if it was read. */
function printsJson({ argv, env, known: { settings } }: World, configured?: string): boolean {
  const typed = settings?.output ?? typedFormat(argv, env['ROSTERCTL_OUTPUT']);
  return ['json', 'ndjson'].includes(typed ?? configured ?? '');
}

/** Runs a command and returns its exit code; the code of a signal takes precedence. */
async function run(parsed: ParsedCommand, world: World): Promise<number> {
  const { argv, streams } = world;
  checkAgainstTable(
    parsed.command,
    parsed.values,
    () => streams.stdin.isTerminal && streams.stderr.isTerminal,
  );
  if (argv.some((word) => word.includes('\ufffd'))) {
    const { argumentsNotUtf8 } = await import('./files/raw-arguments.js');
    checkEncoding(parsed, argumentsNotUtf8(argv));
  }
  const { isDrawnOn, follow, ...stops } = watchStops(process);
  const signals = watchSignals(process, () => {
    // The terminal echoes ^C at the cursor; start the next message on a new line.
    if (streams.stderr.isTerminal && !isDrawnOn()) void streams.stderr.write('\n');
  });
  signals.signal.addEventListener('abort', () => streams.stopReading(), { once: true });
  let clearLimit: (() => void) | undefined;
  try {
    clearLimit = await limitTime(parsed.globals.maxTime, (text) => {
      void streams.stderr.write(`Stopped: the limit of --max-time ${text} was reached.\n`);
      signals.end();
    });
    // Loaded only for a command: help, usage errors and completion never need it.
    const { runCommand } = await import('./assemble.js');
    const { code, failed } = await runCommand(parsed, {
      ...world,
      ...stops,
      signal: signals.signal,
      expectSignal: signals.expect,
      onQuit: signals.onQuit,
      lendKeys(isInUse) {
        const restoreInterrupts = signals.ignoreInterrupts();
        const stopFollowing = follow(isInUse);
        return () => {
          restoreInterrupts();
          stopFollowing();
        };
      },
      onContinue(listener) {
        process.on('SIGCONT', listener);
        return () => process.off('SIGCONT', listener);
      },
    });
    const exitCode = signals.code() ?? code;
    // Each failure was printed on its own line; a script reads one error, the last line.
    if (failed && (failed.isUnreported || printsJson(world)))
      await printFailure(failed.error, world, {
        parsed,
        exitCode,
        ids: failed.id === undefined ? undefined : [failed.id],
      });
    // The signal came too late to stop anything; a script still reads why the code is not 0.
    else if (exitCode !== code && printsJson(world))
      await printFailure(new CancelledError('Interrupted, but everything was done.'), world, {
        parsed,
        exitCode,
      });
    return exitCode;
  } catch (error) {
    const code = await printFailure(error, world, { parsed, exitCode: signals.code() });
    return signals.code() ?? code;
  } finally {
    clearLimit?.();
    signals.stop();
  }
}

/** Calls `onTimeout` once the process has run this long; returns what lifts the limit. Throws UsageError. */
async function limitTime(
  text: string | undefined,
  onTimeout: (text: string) => void,
): Promise<(() => void) | undefined> {
  if (text === undefined) return undefined;
  const [{ readFlag }, { duration }] = await Promise.all([
    import('./config/decide.js'),
    import('./config/parse.js'),
  ]);
  const limitMs = readFlag('--max-time', text, duration(1));
  const timer = setTimeout(() => onTimeout(text), limitMs - process.uptime() * 1000);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Returns true if a process with this id exists; EPERM means that it does, under another user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** Facts about a failure that the error itself does not hold. */
interface FailureFacts {
  /** The command line, unless it is itself the failure. */
  readonly parsed: Parsed | undefined;
  /** The exit code, if not that of the error. */
  readonly exitCode?: number | undefined;
  /** The ids it concerns, if not all that the command line names. */
  readonly ids?: readonly string[] | undefined;
}

/** Prints an error on stderr as text or JSON and returns the exit code; 0, silently, for a closed pipe. */
async function printFailure(
  error: unknown,
  world: World,
  { parsed, exitCode, ids }: FailureFacts,
): Promise<number> {
  if (error instanceof PipeClosedError) return exit.done;
  const loaded = await Promise.all([
    import('./cli/failure.js'),
    import('./terminal/safe-text.js'),
    import('./cli/completion/line.js'),
    import('./cli/configured-format.js'),
  ]).catch(
    (cause: unknown) =>
      systemLimit(error) ?? (error instanceof Failure ? error : systemLimit(cause)),
  );
  // If no file can be opened or found, the modules that word the error cannot be loaded either.
  if (loaded instanceof Failure) {
    const code = exitCode ?? exit[loaded.exitName];
    await world.streams.stderr.write(plainFailure(loaded, code, printsJson(world)));
    return code;
  }
  if (!loaded) throw error;
  const [{ envelopeJson, describeFailure, renderFailure }, { multiLine }, typed, onDisk] = loaded;
  const { configuredFormat } = onDisk;
  const { connectionFlags, readLine } = typed;
  const command = parsed?.kind === 'command' ? parsed.command : undefined;
  const values = parsed?.kind === 'command' ? parsed.values : {};
  // The argument of another command, such as a person or a run, is not an id of the record that failed.
  const isOnRecords = resourceNames.some((resource) => resource === command?.words[0]);
  const typedIds = (isOnRecords ? (command?.args ?? []) : [])
    .filter(({ name }) => name === 'id' || name === 'ids')
    .flatMap((arg) => [values[arg.name]].flat())
    .filter((id) => typeof id === 'string');
  const { argv, env, table, streams, known } = world;
  const typedFlags =
    parsed && 'globals' in parsed ? parsed.globals : connectionFlags(readLine(argv, table));
  const flags =
    known.profile === undefined ? typedFlags : { ...typedFlags, profile: known.profile };
  const description = describeFailure(error, {
    words: command?.words ?? [],
    ids: ids ?? typedIds,
    exitCode,
    keySource: known.keySource,
    flags,
    redacted: streams.redacted,
    isVerbose: known.settings?.verbose === true,
    table,
  });
  const { stderr } = streams;
  const lines = printsJson(world, known.settings ? undefined : await configuredFormat(world, flags))
    ? [envelopeJson(description)]
    : [...renderFailure(description.lines, stderr, env, error instanceof CancelledError)];
  const isBug = error instanceof Error && !(error instanceof Failure);
  if (isBug && argv.includes('--debug') && error.stack) lines.unshift(multiLine(error.stack));
  await stderr.write(`${lines.join('\n')}\n`);
  return description.exitCode;
}

function doNothing(): void {}
