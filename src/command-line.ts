/** Runs one command line: parses it, shows a page of help or runs its command, and prints how it failed. */
import { checkAgainstTable, checkEncoding, type Parsed, type ParsedCommand } from './cli/check.js';
import { asksForOutput } from './cli/global-flags.js';
import { commandHelp, groupHelp, rootHelp, startPage } from './cli/help.js';
import { parseCommandLine, typedFormat } from './cli/program.js';
import { isJsonFormat } from './config/choices.js';
import type { World } from './context.js';
import { isUtf8Locale } from './data/environment.js';
import { printJson } from './data/json.js';
import { resourceNames } from './data/resources.js';
import { systemLimit } from './data/system-errors.js';
import { CancelledError, Failure, PipeClosedError } from './errors.js';
import { exit } from './exit-codes.js';
import { createPaint } from './terminal/paint.js';
import { singleLine } from './terminal/safe-text.js';
import { type SignalSource, watchSignals, watchSuspension } from './terminal/signals.js';
import { fullWidth } from './terminal/whole-words.js';

/** The process that a command line runs in: its signals, and the seconds since it started. */
export interface Host extends SignalSource {
  readonly uptime: () => number;
}

/** Returns what a command line does in its world; nothing below it reads `process` itself. */
export function commandLine(world: World, host: Host) {
  let parsed: Parsed | undefined;
  return {
    /** Does what the words ask for and returns the exit code; prints every failure instead of throwing it. */
    async execute(): Promise<number> {
      const { argv, table, streams } = world;
      // For the pages and errors that are printed before the settings are known.
      if (argv.includes('--no-color')) streams.withoutColor();
      try {
        parsed = parseCommandLine(argv, table);
        const page = await pageFor(parsed, world);
        if (page !== undefined) await showHelp(page, world, host);
        else if (parsed.kind === 'command') return await run(parsed, world, host);
        return exit.done;
      } catch (error) {
        return printFailure(error, world, { parsed });
      }
    },
    /** Prints an error that nothing caught, and returns its exit code. */
    printFailure: (error: unknown): Promise<number> => printFailure(error, world, { parsed }),
  };
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
async function showHelp(text: string, world: World, host: Host): Promise<void> {
  const { stdout } = world.streams;
  const page = stdout.isTerminal && !isUtf8Locale(world.env) ? text.replaceAll('…', '...') : text;
  const isPlain = ['--no-pager', '-q', '--quiet'].some((word) => world.argv.includes(word));
  if (isPlain || !stdout.isTerminal || page.split('\n').length <= stdout.rows)
    return stdout.write(page);
  const { showLongHelp } = await import('./cli/help-page.js');
  await showLongHelp(page, {
    ...world,
    lendKeys(isInUse) {
      host.on('SIGINT', doNothing);
      const stopFollowing = watchSuspension(host).follow(isInUse);
      return () => {
        host.off('SIGINT', doNothing);
        stopFollowing();
      };
    },
  });
}

/** Returns true if errors are printed as JSON; `configured`: the format in config.json, if it was read. */
function printsJson({ argv, env, known: { settings } }: World, configured?: string): boolean {
  const typed = settings?.output ?? typedFormat(argv, env['ROSTERCTL_OUTPUT']);
  return isJsonFormat(typed ?? configured);
}

/** Runs a command and returns its exit code; the code of a signal takes precedence. */
async function run(parsed: ParsedCommand, world: World, host: Host): Promise<number> {
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
  const { signals, forCommand } = listenForSignals(world, host);
  let clearLimit: (() => void) | undefined;
  try {
    clearLimit = await limitTime(parsed.globals.maxTime, host, (text) => {
      void streams.stderr.write(`Stopped: the limit of --max-time ${text} was reached.\n`);
      signals.end();
    });
    // Loaded only for a command: help, usage errors and completion never need it.
    const { runCommand } = await import('./assemble.js');
    const { code, failed } = await runCommand(parsed, { ...world, ...forCommand });
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
      await printFailure(
        new CancelledError('Interrupted, but everything was done.', {
          hint: 'There is no need to run the command again.',
        }),
        world,
        { parsed, exitCode },
      );
    return exitCode;
  } catch (error) {
    const code = await printFailure(error, world, { parsed, exitCode: signals.code() });
    return signals.code() ?? code;
  } finally {
    clearLimit?.();
    signals.stop();
  }
}

/** Listens for the signals of a command; `forCommand` is the part of its world that comes from them. */
function listenForSignals({ streams }: World, host: Host) {
  const { isDrawnOn, follow, ...suspension } = watchSuspension(host);
  const signals = watchSignals(host, () => {
    // The terminal echoes ^C at the cursor; start the next message on a new line.
    if (streams.stderr.isTerminal && !isDrawnOn()) void streams.stderr.write('\n');
  });
  signals.signal.addEventListener('abort', () => streams.stopReading(), { once: true });
  const forCommand = {
    ...suspension,
    signal: signals.signal,
    expectSignal: signals.expect,
    onQuit: signals.onQuit,
    lendKeys(isInUse: () => boolean) {
      const restoreInterrupts = signals.ignoreInterrupts();
      const stopFollowing = follow(isInUse);
      return () => {
        restoreInterrupts();
        stopFollowing();
      };
    },
    onContinue(listener: () => void) {
      host.on('SIGCONT', listener);
      return () => host.off('SIGCONT', listener);
    },
  };
  return { signals, forCommand };
}

/** Calls `onTimeout` once the process has run this long; returns what lifts the limit. Throws UsageError. */
async function limitTime(
  text: string | undefined,
  host: Host,
  onTimeout: (text: string) => void,
): Promise<(() => void) | undefined> {
  if (text === undefined) return undefined;
  const [{ readFlag }, { duration }] = await Promise.all([
    import('./config/decide.js'),
    import('./config/parse.js'),
  ]);
  const limitMs = readFlag('--max-time', text, duration(1));
  const timer = setTimeout(() => onTimeout(text), limitMs - host.uptime() * 1000);
  timer.unref();
  return () => clearTimeout(timer);
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
  const { argv, env, table, streams, known } = world;
  const typedFlags =
    parsed && 'globals' in parsed ? parsed.globals : connectionFlags(readLine(argv, table));
  const flags =
    known.profile === undefined ? typedFlags : { ...typedFlags, profile: known.profile };
  const description = describeFailure(error, {
    words: parsed?.kind === 'command' ? parsed.command.words : [],
    ids: ids ?? typedIds(parsed),
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

/** An error where the modules that word it cannot be loaded: its message and hint, or its envelope as JSON. */
function plainFailure(
  { code, kind, message, hint }: Failure,
  exitCode: number,
  isJson: boolean,
): string {
  if (!isJson)
    return [message, hint ?? []]
      .flat()
      .map((line) => `${singleLine(line)}\n`)
      .join('');
  const error = { code, kind, message, ...(hint !== undefined && { hint }), exitCode };
  return `${printJson({ error: { ...error, retryable: false } })}\n`;
}

/** The ids of the records that a command line names. */
function typedIds(parsed: Parsed | undefined): readonly string[] {
  if (parsed?.kind !== 'command') return [];
  const { command, values } = parsed;
  // The argument of another command, such as a person or a run, is not an id of the record that failed.
  if (!resourceNames.some((resource) => resource === command.words[0])) return [];
  return command.args
    .filter(({ name }) => name === 'id' || name === 'ids')
    .flatMap((arg) => [values[arg.name]].flat())
    .filter((id) => typeof id === 'string');
}

function doNothing(): void {}
