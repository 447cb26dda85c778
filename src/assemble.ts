/** Assembles the context of one command from settings, streams and service, runs it and prints its result. */
import type { ParsedCommand } from './cli/check.js';
import type { CommandOutput } from './cli/command-output.js';
import type { Command } from './cli/define.js';
import { loadWriters, lostOutput, printValue } from './cli/output.js';
import { withConnectionFlags } from './cli/typed-line.js';
import { commands } from './commands/index.js';
import { isJsonFormat } from './config/choices.js';
import { type ConfigData, emptyConfig } from './config/config-file.js';
import { resolvePaths } from './config/paths.js';
import { resolveSettings } from './config/settings.js';
import { type ConfigStore, openConfigStore } from './config/store.js';
import { type CommandWorld, type Context, connected, type LocalContext } from './context.js';
import type { ManifestCommand } from './data/command-manifest.js';
import { isUtf8Locale } from './data/environment.js';
import { RunError } from './data/outcome-errors.js';
import { upperFirst } from './data/text.js';
import { BugError, ConfigError, PipeClosedError } from './errors.js';
import { type ExitName, exit, exitCodes } from './exit-codes.js';
import { executeAsking } from './picking/execute-asking.js';
import type { Service } from './service.js';
import { createProgress } from './terminal/progress.js';
import { TerminalPrompts } from './terminal/prompt.js';
import { singleLine } from './terminal/safe-text.js';
import type { ProcessStreams } from './terminal/streams.js';
import { wrapWholeWords } from './terminal/whole-words.js';

/** The exit code, and the error to print last as JSON although the command returned a value. */
interface CommandResult {
  readonly code: number;
  readonly failed: CommandOutput['failed'];
}

/**
 * Assembles the context of one command line, runs the command, prints its value and returns the
 * exit code. Connects only when the command asks for it, and closes everything that was opened.
 */
export async function runCommand(line: ParsedCommand, world: CommandWorld): Promise<CommandResult> {
  const { local, messages, progress, closeService } = await assembleContext(line, world);
  const { settings, config } = local;
  let output: CommandOutput | undefined;
  try {
    let result: CommandResult;
    try {
      const command = await loadCommand(line.command.words);
      // Otherwise the changes would be made and their report lost.
      if (settings.output === 'xlsx' && settings.out === '-')
        (await import('./cli/lists/workbook.js')).refuseTerminal(local.streams.stdout);
      else if (hasSideEffects(command) && settings.out !== undefined && settings.out !== '-')
        await (await import('./files/atomic-write.js')).checkWritable(settings.out);
      if (!command.local && hasSideEffects(command)) await loadWriters(local);
      output = await executeAsking(command, line, local);
      const context = command.local ? local : await connected(local);
      await printOutput(output, command, line, context, progress.end);
      for (const warning of config.warnings()) messages.note(warning);
      if (output.keepRunning) {
        world.expectSignal();
        await output.keepRunning();
      }
      result = {
        code: exit[output.exitName],
        failed: output.failed ?? overallFailure(output.exitName),
      };
    } finally {
      progress.end();
      try {
        await closeService();
      } finally {
        await messages.finish();
      }
    }
    // Last of all: if killed before this, the same command line prints its report again.
    if (output.onWritten) {
      await local.streams.syncOutput();
      await output.onWritten();
    }
    return result;
  } finally {
    await output?.release?.();
    if (isJsonFormat(settings.output)) messages.end();
  }
}

/**
 * Resolves the settings of a command line and returns the context of its command. Throws UsageError for
 * a bad flag, ConfigError for a configuration that cannot be used.
 */
async function assembleContext(
  { command, values, globals: flags }: ParsedCommand,
  world: CommandWorld,
) {
  const { env, streams, signal, table } = world;
  const paths = resolvePaths(world);
  const config = openConfigStore(paths, world);
  const { settings, notes } = resolveSettings({
    flags,
    env,
    file: readConfig(config, command),
    tolerant: command.words[0] === 'config' || command.words[0] === 'doctor',
  });
  world.known.settings = settings;
  if (settings.template !== undefined)
    (await import('./cli/lists/template.js')).parseLineTemplate(settings.template);
  if (settings.noColor) streams.withoutColor();
  const withConnection = (text: string) => withConnectionFlags(text, flags, table);
  const messages = createMessages(streams, settings, withConnection);
  // Printed with -q too: the user would otherwise believe that the change was written.
  if (settings.dryRun && !flags.dryRun)
    messages.message('ROSTERCTL_DRY_RUN is set: this is a dry run.');
  for (const line of notes) messages.note(line);
  const progress = createProgress(streams, {
    ...settings,
    isUtf8: isUtf8Locale(env),
    onSuspend: world.onSuspend,
  });
  streams.onOutput(progress.end);
  // Messages after a signal start on a line of their own.
  whenAborted(signal, progress.end);
  const isTable = settings.output === 'table' && !settings.out && settings.template === undefined;
  const service = serviceOf(() => local, {
    readsOnly: settings.dryRun || !command.writes || values['plan'] !== undefined,
    waiting: progress.showWaiting,
    trace: messages.unwrapped,
  });
  const local: LocalContext = {
    ...world,
    loadCommand,
    settings,
    flags,
    paths,
    config,
    isInteractive: streams.stdout.isTerminal && isTable,
    isAligned: (streams.stdout.isTerminal || settings.forcedWidth !== undefined) && isTable,
    prompts: new TerminalPrompts(streams, {
      ...world,
      noInput: settings.noInput,
      plain: settings.plainPrompts,
      onAsk: progress.hideWaiting,
    }),
    progress,
    now: () => new Date(),
    instant: () => ({ wall: Date.now(), mono: world.clock() }),
    withConnection,
    ...messages,
    async showLong(lines) {
      if (await isPaged(lines, settings.pager, world)) return;
      for (const line of lines) messages.message(line);
    },
    fullScreen: async (use) =>
      (await import('./terminal/full-screen.js')).withFullScreen(streams, world, use),
    connect: async () => (await service.open()).api(),
    connectTo: async (connection) => (await service.open()).apiTo(connection),
    files: async () => (await service.open()).files(),
  };
  return { local, messages, progress, closeService: () => service.close() };
}

/** The service of a command, loaded on first use, because a command that sends nothing needs no client. */
function serviceOf(context: () => LocalContext, options: ConstructorParameters<typeof Service>[1]) {
  let service: Promise<Service> | undefined;
  const load = async () => new (await import('./service.js')).Service(context(), options);
  return {
    open: () => (service ??= load()),
    async close() {
      // A service that failed to load has nothing to close, and the command threw its error already.
      const opened = await service?.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** Shows lines through the pager; false if they fit on the screen, or there is none. */
async function isPaged(
  lines: readonly string[],
  pager: string | undefined,
  world: CommandWorld,
): Promise<boolean> {
  const { stdout, stderr } = world.streams;
  if (pager === undefined || !stdout.isTerminal) return false;
  const wrapped = lines.flatMap((line) => wrapWholeWords(line, stdout.columns));
  if (wrapped.length < stderr.rows) return false;
  const { showInPager } = await import('./terminal/other-programs.js');
  return showInPager(wrapped.map((line) => `${line}\n`).join(''), pager, world);
}

/** Prints the value of a command. Throws the error for a value that could not be printed, if that matters. */
async function printOutput(
  output: CommandOutput,
  command: Command,
  line: ParsedCommand,
  context: LocalContext | Context,
  endProgress: () => void,
): Promise<void> {
  const { settings, signal, streams } = context;
  const onlyReads = !hasSideEffects(command) || output.onlyReads === true;
  const hasMadeChanges = !onlyReads && !settings.dryRun;
  // A report of changes gets the same grace period as requests in flight.
  if (!hasMadeChanges) whenAborted(signal, () => streams.stopWaiting());
  await printValue(output.value as never, output.view, {
    ...context,
    line,
    lendKeys(isInUse) {
      endProgress();
      return context.lendKeys(isInUse);
    },
    head: output.head,
    isReport: hasSideEffects(command) && !output.isPage,
    hasMadeChanges,
    // The report of a dry run may go to a file; anything else would replace what is in it.
    isDryRead: onlyReads && settings.dryRun,
    teamNames:
      'api' in context
        ? async () => (await import('./resources/team-names.js')).teamNames(context)
        : undefined,
  }).catch((error: unknown) => {
    output.printAfter?.({ isShown: false });
    const isDone = output.exitName === 'done';
    const hasSent = hasMadeChanges && isDone && command.kind === 'write' && !command.local;
    const reportError = lostOutput(error, output, hasSent);
    // A failure or a finding keeps its exit code although the reader has gone away.
    if (!reportError && !isDone && error instanceof PipeClosedError) return;
    if (!reportError) throw error;
    // The reason that the run stopped matters more to the user than the lost report.
    if (output.exitName !== 'unauthenticated' && output.exitName !== 'forbidden') throw reportError;
    context.message(reportError.message);
  });
  output.printAfter?.({ isShown: true });
}

function whenAborted(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
}

function hasSideEffects(command: Command): boolean {
  return command.kind !== 'read' || command.hasSideEffects === true;
}

/** The error for a script where no other message explains an exit code other than 0. */
function overallFailure(exitName: ExitName): CommandResult['failed'] {
  if (exitName === 'done' || exitName === 'changesPending') return undefined;
  const { text } = exitCodes[exitName];
  return { error: new RunError(`${upperFirst(text)}.`, exitName) };
}

/**
 * Reads the config file. A broken one stops commands that need a connection; a local command, which
 * may be needed to repair or explain it, gets an empty config.
 */
function readConfig(config: ConfigStore, command: ManifestCommand): ConfigData {
  try {
    return config.config();
  } catch (error) {
    if (!command.local || !(error instanceof ConfigError)) throw error;
    return emptyConfig(undefined);
  }
}

/**
 * Writers of sanitized lines to stderr, wrapped to a terminal's width; `finish` waits until all are
 * written. `end` drops what an abandoned request says later: an error in JSON is the last line.
 */
function createMessages(
  streams: ProcessStreams,
  { quiet, verbose }: { quiet: boolean; verbose: boolean },
  withConnection: (text: string) => string,
) {
  let last: Promise<void> = Promise.resolve();
  let isOver = false;
  const { stderr } = streams;
  const unwrapped = (line: string) => {
    if (!isOver) last = stderr.write(`${line}\n`);
  };
  const message = (line: string) => {
    const safe = singleLine(withConnection(line));
    const lines = stderr.isTerminal ? wrapWholeWords(safe, stderr.columns) : [safe];
    unwrapped(lines.join('\n'));
  };
  return {
    message,
    /** Writes a trace line without wrapping it. */
    unwrapped: (line: string) => unwrapped(singleLine(line)),
    note: (line: string) => {
      if (!quiet) message(line);
    },
    detail: (line: string) => {
      if (verbose && !quiet) message(line);
    },
    finish: () => last,
    end: () => {
      isOver = true;
    },
  };
}

async function loadCommand([word = '', verb = '']: readonly string[]): Promise<Command> {
  const entry = commands[word];
  const load = typeof entry === 'function' ? entry : entry?.commands[verb];
  if (!load) throw new BugError(`No file holds the command ${word} ${verb}.`);
  return (await load()).default;
}
