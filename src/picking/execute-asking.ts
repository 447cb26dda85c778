/** Executes a command; at a terminal, a missing or unknown argument is picked from a list. */
import { canBePicked, isGiven, missingArgument, type RawValues } from '../cli/check.js';
import type { CommandOutput } from '../cli/command-output.js';
import type { Command } from '../cli/define.js';
import { execute } from '../cli/execute.js';
import type { TypedLine } from '../cli/typed-line.js';
import type { LocalContext } from '../context.js';
import { isNotFound, ReferencesError, UnknownNameError } from '../data/outcome-errors.js';
import { CancelledError, Failure, MissingArgumentError } from '../errors.js';

/**
 * Executes a command. Where its argument is missing or ambiguous, or the service knows no such record,
 * a person picks one from a list; without a terminal, with --yes or --no-input the failure is thrown.
 */
export async function executeAsking(
  command: Command,
  line: TypedLine,
  context: LocalContext,
): Promise<CommandOutput> {
  const pick = async (failure?: unknown) => {
    const { pickArgument } = await import('./pick-argument.js');
    return pickArgument(context, line, failure);
  };
  const executeWith = (values: RawValues) => execute(command, { ...line, values }, context);
  const mayPick = () =>
    canBePicked(line.command, line.values) &&
    !context.settings.yes &&
    context.prompts.unavailable === undefined;
  const first = line.command.args[0];
  try {
    // In a script, it takes the newest unfinished run.
    if (
      line.command.words.join(' ') === 'runs resume' &&
      !isGiven(line.values[first?.name ?? '']) &&
      mayPick()
    )
      return await executeWith((await pick()) ?? line.values);
    const missing = missingArgument(line.command, line.values);
    if (missing) throw missing;
    return await executeWith(line.values);
  } catch (error) {
    const isAmbiguous = error instanceof ReferencesError && error.candidates.length > 0;
    const mayHelp =
      error instanceof MissingArgumentError ||
      error instanceof UnknownNameError ||
      isNotFound(error) ||
      isAmbiguous;
    const picked = mayHelp && mayPick() ? await pick(error).catch(orNothing(error)) : undefined;
    if (!picked) throw error;
    return executeWith(picked);
  }
}

/**
 * Ignores a list that cannot be read, so that the original error is shown. A missing argument has no better
 * error than that of the list.
 */
function orNothing(error: unknown): (other: unknown) => undefined {
  return (other) => {
    const isHelp = other instanceof Failure && !(other instanceof CancelledError);
    if (!isHelp || error instanceof MissingArgumentError) throw other;
  };
}
