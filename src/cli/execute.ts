/** Runs one command: parses its values by its schemas, confirms a write, and returns its output. */
import { type Context, connected, type LocalContext } from '../context.js';
import type { ManifestParam } from '../data/command-manifest.js';
import { upperFirst } from '../data/text.js';
import { CancelledError, nothingDone, UsageError } from '../errors.js';
import type { RawValues } from './check.js';
import { type CommandOutput, outputOf } from './command-output.js';
import type { Command, DryRun, Params, WriteCommand } from './define.js';
import type { TypedLine } from './typed-line.js';

/**
 * Parses the values of a command line by the command's own schemas, connects if the command needs it, and
 * runs it. Throws UsageError for an invalid value, with or without a stored key, and whatever the command
 * throws.
 */
export async function execute(
  command: Command,
  line: TypedLine,
  local: LocalContext,
): Promise<CommandOutput> {
  const values = {
    ...parseValues(command.args ?? {}, line.command.args, line.values),
    ...parseValues(command.flags ?? {}, line.command.flags, line.values),
  };
  await checkOut(line, local);
  const context = command.local ? local : await connected(local);
  if (command.kind === 'write') return runWrite(command, context as Context, values);
  if (command.kind === 'operation' || command.kind === 'run')
    return command.run(context as Context, values, line.command.words, line);
  return outputOf(await command.run(context as never, values, line), command.view);
}

/** Throws UsageError if `--out` would replace a file that the same command line reads or writes. */
async function checkOut(
  { command: { args, flags }, values }: TypedLine,
  { settings: { out } }: LocalContext,
): Promise<void> {
  if (out === undefined) return;
  const others = [...args, ...flags]
    .filter(({ completes }) => completes === 'file')
    .map(({ word, name }) => ({ word: word.replace('|-', ''), given: values[name] }));
  const [{ refuseSameFile }, { filesOfFields }] = await Promise.all([
    import('../files/same-file.js'),
    import('../data/assign.js'),
  ]);
  const ofFields = { word: '-F', given: filesOfFields(values['set']) };
  await refuseSameFile('--out', out, [...others, ofFields]);
}

/**
 * Plans the write by reading, then prints the plan in a dry run, or asks for confirmation and applies
 * it. Throws UsageError or CancelledError if it is not confirmed.
 */
async function runWrite(
  write: WriteCommand,
  context: Context,
  values: Readonly<Record<string, unknown>>,
): Promise<CommandOutput> {
  const plan = await write.plan(context, values);
  const { requests = [], changes, onlyReads } = plan;
  if (context.settings.dryRun && !onlyReads) {
    const { dryRunView } = await import('./lines.js');
    const dryRun: DryRun = { schema: 1, dryRun: true, requests, changes };
    return { value: dryRun, view: dryRunView, exitName: 'done' };
  }
  const question = write.confirm?.(plan, values);
  if (question !== undefined && changes.length > 0) await confirmWrite(context, question);
  const value = await write.apply(context, plan, values);
  return { ...outputOf(value, write.view), onlyReads };
}

/** Throws UsageError or CancelledError if the answer is not yes. */
export async function confirmWrite(
  { prompts, settings }: Context,
  question: string,
): Promise<void> {
  if (settings.yes) return;
  const { unavailable } = prompts;
  if (unavailable !== undefined)
    throw new UsageError(`${question} This needs a confirmation, and ${unavailable}.`, {
      hint: 'Run it in a terminal, or add --yes.',
    });
  if (!(await prompts.confirm(question))) throw new CancelledError(nothingDone);
}

function parseValues(
  params: Params,
  described: readonly ManifestParam[],
  typed: RawValues,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) {
    const given = param.takes === 'nothing' ? typed[name] === true : typed[name];
    const parsed = param.schema.safeParse(given);
    if (!parsed.success) {
      const own = described.find((entry) => entry.name === name);
      throw invalidValue(own, given, parsed.error.issues[0]);
    }
    values[name] = parsed.data;
  }
  return values;
}

function invalidValue(
  param: ManifestParam | undefined,
  given: unknown,
  issue: { message: string; path: readonly PropertyKey[] } | undefined,
): UsageError {
  const word = param?.word ?? 'A value';
  const at = issue?.path[0];
  const value = Array.isArray(given) && typeof at === 'number' ? (given as unknown[])[at] : given;
  const [problem = '', ...hint] = (issue?.message ?? 'cannot be used').split('\n');
  return new UsageError(upperFirst(withSubject(word, value, problem)), {
    hint: hint.length > 0 ? hint.join('\n') : undefined,
  });
}

/** Puts the flag and its value before a problem, unless it names them itself. */
function withSubject(word: string, value: unknown, problem: string): string {
  const sentence = /[.?]$/.test(problem) ? problem : `${problem}.`;
  const isFlag = word.startsWith('--');
  if (problem.startsWith('must ') && (isFlag || value === ''))
    return `${word.split('|')[0]} ${sentence}`;
  if (typeof value !== 'string' || value === '' || problem.includes(`"${value}"`))
    return isFlag ? `${word}: ${sentence}` : sentence;
  return `${isFlag ? `${word} ` : ''}"${value}": ${sentence}`;
}
