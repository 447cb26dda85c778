import { execute } from './cli/execute.js';
import { present } from './cli/output.js';
import { withConnectionFlags } from './cli/connection-flags.js';
import type { RawValues } from './cli/check.js';
import type { Command, Shown } from './cli/define.js';
import { commands } from './commands/index.js';
import { emptyConfig } from './config/config-file.js';
import { type Environment, resolvePaths } from './config/paths.js';
import { type GlobalFlags, type OutputFormat, resolveSettings } from './config/settings.js';
import { type ConfigData, type ConfigStore, openConfigStore } from './config/store.js';
import type { LocalContext } from './context.js';
import type { PlainCommand, PlainTable } from './data/plain-table.js';
import { upperFirst } from './data/text.js';
import { BugError, ConfigError, OutputError, PipeClosedError } from './errors.js';
import { RunError } from './data/outcome-errors.js';
import { exit, exitCodes, type ExitName } from './exit-codes.js';
import type { ThisProcess } from './files/lock.js';
import type { Service } from './service.js';
import type { LendKeyboard } from './terminal/pager.js';
import { createProgress } from './terminal/progress.js';
import { createPrompts } from './terminal/prompt.js';
import type { PromptWorld } from './terminal/prompt-screen.js';
import { singleLine } from './terminal/safe-text.js';
import { wrapWholeWords } from './terminal/whole-words.js';
import type { ProcessStreams } from './terminal/streams.js';

/** What `main.ts` hands over of the process. */
export interface ProcessEnvironment {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly nodeVersion: string;
  readonly uid: number | undefined;
  readonly self: ThisProcess;
  readonly table: PlainTable;
  readonly topics: () => { readonly [name: string]: string };
  readonly streams: ProcessStreams;
  readonly signal: AbortSignal;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  /** Hears where the key came from, for the sentence about a refused one. */
  readonly connected: (keySource: string) => void;
  /** Hears of the format, which errors are told in as well. */
  readonly decided: (format: OutputFormat) => void;
  /** From now on a signal is the ordinary end. */
  readonly expectSignal: () => void;
  readonly lendKeys: LendKeyboard;
  readonly onStop: PromptWorld['onStop'];
  readonly onContinue: PromptWorld['onContinue'];
  readonly withEditing: PromptWorld['withEditing'];
}

/** The exit code, and what is to be told last as JSON though the command gave a value. */
export interface CommandResult {
  readonly code: number;
  readonly failed: Shown['failed'];
}

/**
 * Puts one command line's world together, runs the command in it and shows its value; gives
 * how it ended. Nothing is connected before the command asks for it, nothing is left open behind.
 */
export async function runCommand(
  plain: PlainCommand,
  values: RawValues,
  flags: GlobalFlags,
  outside: ProcessEnvironment,
): Promise<CommandResult> {
  const { env, streams } = outside;
  const paths = resolvePaths(outside);
  const config = openConfigStore(paths, { self: outside.self });
  const { settings, notes } = resolveSettings({
    flags,
    env,
    file: readConfig(config, plain),
    tolerant: plain.words[0] === 'config' || plain.words[0] === 'doctor',
  });
  outside.decided(settings.output);
  if (settings.noColor) streams.withoutColor();
  const speech = createSpeech(streams, settings, { flags, table: outside.table });
  // Also with -q: whoever believes that it was written is misled.
  if (settings.dryRun && !flags.dryRun)
    speech.message('ROSTERCTL_DRY_RUN is set: this is a dry run.');
  for (const line of notes) speech.note(line);
  const progress = createProgress(streams, { ...settings, onStop: outside.onStop });
  streams.onOutput(progress.end);
  // What is said after a signal stands on lines of its own.
  whenAborted(outside.signal, progress.end);
  const instant = () => ({ wall: Date.now(), mono: outside.clock() });
  // Loaded when it is asked for: a command that sends nothing needs no client.
  let service: Promise<Service> | undefined;
  const loadService = async () => {
    const { createService } = await import('./service.js');
    return createService({
      ...outside,
      instant,
      flags,
      paths,
      config,
      settings,
      version: outside.table.version,
      notes: { note: speech.note, drift: speech.note },
      waiting: progress.waiting,
      watched: () => streams.stderr.isTerminal,
      trace: speech.whole,
      redact: (secret) => streams.redact(secret),
      redactUrl: (url) => streams.redactUrl(url),
    });
  };
  const openService = () => (service ??= loadService());
  const local: LocalContext = {
    table: outside.table,
    nodeVersion: outside.nodeVersion,
    self: outside.self,
    topic: (name) => outside.topics()[name],
    settings,
    flags,
    env,
    platform: outside.platform,
    paths,
    config,
    streams,
    isInteractive: streams.stdout.isTerminal && settings.output === 'table' && !settings.out,
    prompts: createPrompts(streams, {
      noInput: settings.noInput,
      signal: outside.signal,
      onAsk: progress.makeWay,
      onContinue: outside.onContinue,
      onStop: outside.onStop,
      withEditing: outside.withEditing,
    }),
    progress,
    now: () => new Date(),
    clock: outside.clock,
    instant,
    signal: outside.signal,
    ...speech,
    connect: async () => (await openService()).api(),
    connectTo: async (connection) => (await openService()).apiTo(connection),
    files: async () => (await openService()).files(),
  };
  let written: Shown['written'];
  let stop: Shown['stop'];
  let ending: CommandResult;
  try {
    const command = await loadCommand(plain.words);
    const context = command.local ? local : { ...local, api: await local.connect() };
    // What was done could not be told any more.
    if (isAct(command) && settings.out !== undefined && settings.out !== '-')
      await (await import('./files/atomic-write.js')).checkWritable(settings.out);
    const shown = await execute(command, plain, values, context);
    ({ stop } = shown);
    const isDone = isAct(command) && !settings.dryRun && !shown.onlyReads;
    // A report of what was done has the time that requests in flight have.
    if (!isDone) whenAborted(outside.signal, () => streams.stopWaiting());
    await present(shown.value as never, shown.view, {
      ...context,
      lendKeys(isInUse) {
        progress.end();
        return outside.lendKeys(isInUse);
      },
      head: shown.head,
      sorted: values['sort'] !== undefined,
      isDone,
    }).catch((error: unknown) => {
      shown.printAfter?.({ isShown: false });
      const lost = lostReport(error, shown);
      if (!lost) throw error;
      // What stopped the run concerns the user more than who no longer reads.
      if (shown.exitName !== 'unauthenticated' && shown.exitName !== 'forbidden') throw lost;
      speech.message(lost.message);
    });
    shown.printAfter?.({ isShown: true });
    for (const line of config.warnings()) speech.note(line);
    if (shown.goOn) {
      outside.expectSignal();
      await shown.goOn();
    }
    written = shown.written;
    ending = { code: exit[shown.exitName], failed: shown.failed ?? wholeFailure(shown.exitName) };
  } finally {
    progress.end();
    await stop?.();
    await (await service)?.close();
    await speech.finish();
  }
  // Last of all: a kill before it only makes the same line tell its report once more.
  await written?.();
  return ending;
}

function whenAborted(signal: AbortSignal, heard: () => void): void {
  if (signal.aborted) heard();
  else signal.addEventListener('abort', heard, { once: true });
}

function isAct(command: Command): boolean {
  return command.kind !== 'read' || command.acts === true;
}

/** What a script reads where nothing else says why the exit code is no success. */
function wholeFailure(exitName: ExitName): CommandResult['failed'] {
  if (exitName === 'done' || exitName === 'changesPending') return undefined;
  const { text } = exitCodes[exitName];
  return { id: '', error: new RunError(`${upperFirst(text)}.`, exitName) };
}

/** A broken file stops what needs a connection; what mends or explains it still runs. */
function readConfig(config: ConfigStore, plain: PlainCommand): ConfigData {
  try {
    return config.config();
  } catch (error) {
    if (!plain.local || !(error instanceof ConfigError)) throw error;
    return emptyConfig(undefined);
  }
}

/** A list whose reader went away ended well; a report of what was done did not. */
function lostReport(error: unknown, { isReport }: Shown): OutputError | undefined {
  if (!isReport) return undefined;
  if (error instanceof OutputError) return error;
  if (!(error instanceof PipeClosedError)) return undefined;
  return new OutputError('The report could not be written: its reader went away.', {
    cause: error,
    hint: 'What was done is done. See it: rosterctl runs show last',
  });
}

/** Lines for stderr, made safe and fitted to a terminal; `finish` waits until all are out. */
function createSpeech(
  streams: ProcessStreams,
  { quiet, verbose }: { quiet: boolean; verbose: boolean },
  { flags, table }: { flags: GlobalFlags; table: PlainTable },
) {
  let last: Promise<void> = Promise.resolve();
  const { stderr } = streams;
  const whole = (line: string) => {
    last = stderr.write(`${line}\n`);
  };
  const message = (line: string) => {
    const safe = singleLine(withConnectionFlags(line, flags, table));
    const lines = stderr.isTerminal ? wrapWholeWords(safe, stderr.columns) : [safe];
    whole(lines.join('\n'));
  };
  return {
    message,
    /** As it is, however wide: a line of a trace. */
    whole: (line: string) => whole(singleLine(line)),
    note: (line: string) => {
      if (!quiet) message(line);
    },
    detail: (line: string) => {
      if (verbose && !quiet) message(line);
    },
    finish: () => last,
  };
}

async function loadCommand([word = '', verb = '']: readonly string[]): Promise<Command> {
  const entry = commands[word];
  const load = typeof entry === 'function' ? entry : entry?.commands[verb];
  if (!load) throw new BugError(`No file holds the command ${word} ${verb}.`);
  return (await load()).default;
}
