/** Prints how a command line failed, as text or JSON. */
import type { Parsed } from './cli/check.js';
import { typedFormat } from './cli/global-flags.js';
import { isJsonFormat } from './config/choices.js';
import type { World } from './context.js';
import { printJson } from './data/json.js';
import { resourceNames } from './data/resources.js';
import { systemLimit } from './data/system-errors.js';
import { CancelledError, Failure, PipeClosedError } from './errors.js';
import { exit } from './exit-codes.js';
import { singleLine } from './terminal/safe-text.js';

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
export async function printFailure(
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

/** Returns true if errors are printed as JSON; `configured`: the format in config.json, if it was read. */
export function printsJson(
  { argv, env, known: { settings } }: World,
  configured?: string,
): boolean {
  const typed = settings?.output ?? typedFormat(argv, env['ROSTERCTL_OUTPUT']);
  return isJsonFormat(typed ?? configured);
}
