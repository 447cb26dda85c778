/** Runs the command of a parsed line, with its signals and its limit of time. */
import { checkAgainstTable, checkEncoding, type ParsedCommand } from './cli/check.js';
import type { World } from './context.js';
import { CancelledError } from './errors.js';
import { printFailure, printsJson } from './print-failure.js';
import { type SignalSource, watchSignals, watchSuspension } from './terminal/signals.js';

/** The process that a command line runs in: its signals, and the seconds since it started. */
export interface Host extends SignalSource {
  readonly uptime: () => number;
}

/** Runs a command and returns its exit code; the code of a signal takes precedence. */
export async function runParsed(parsed: ParsedCommand, world: World, host: Host): Promise<number> {
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
          hint: 'You do not need to run the command again.',
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
