/** Runs a write command that is not an operation on records: plan, confirm, apply. */
import type { Context } from '../context.js';
import { CancelledError, GuardError, UsageError } from '../errors.js';
import { type CommandOutput, outputOf } from './command-output.js';
import { type Command, type Confirmation, type DryRun } from './define.js';
import { dryRunView } from './lines.js';
import type { Plan, View } from './views.js';

type Write = Extract<Command, { kind: 'write' }>;
type Values = Readonly<Record<string, unknown>>;

/** A write command with its types erased, as the table holds it. */
interface AnyWrite {
  check?(context: Context, values: Values): Promise<void> | void;
  plan(context: Context, values: Values): Promise<Plan>;
  apply(context: Context, plan: Plan, values: Values): Promise<unknown>;
  confirm?(plan: Plan, values: Values): Confirmation | undefined;
  readonly view: View<unknown>;
}

/**
 * Plans the write by reading, then prints the plan in a dry run, or asks for confirmation and applies
 * it. Throws UsageError, GuardError or CancelledError if it is not confirmed.
 */
export async function runWrite(
  command: Write,
  context: Context,
  values: Values,
): Promise<CommandOutput> {
  const write = command as AnyWrite;
  await write.check?.(context, values);
  const plan = await write.plan(context, values);
  // Noted before the confirmation; a local write has no calls.
  for (const call of plan.calls) context.api.noteAssumedRoute(call);
  if (context.settings.dryRun && !plan.onlyReads)
    return { value: dryRunOf(context, plan), view: dryRunView, exitName: 'done' };
  const question = write.confirm?.(plan, values);
  if (question && (plan.calls.length > 0 || plan.changes.length > 0))
    await confirmOne(context, question);
  const value = await write.apply(context, plan, values);
  return { ...outputOf(value, write.view), onlyReads: plan.onlyReads };
}

function dryRunOf(context: Context, plan: Plan): DryRun {
  const requests = plan.requests ?? plan.calls.map((call) => context.api.describe(call));
  return { schema: 1, dryRun: true, requests, changes: plan.changes };
}

// --- confirmation ---

/** Asks for the name of what must not be changed by habit. Throws UsageError, GuardError. */
export async function confirmName(
  { prompts }: Context,
  question: string,
  { noun, name, flag, given }: NonNullable<Confirmation['typed']>,
): Promise<void> {
  if (given === undefined && prompts.unavailable !== undefined)
    throw new UsageError(`${question} Confirm it with ${flag} and its name.`, {
      hint: `Add ${flag} NAME. --yes alone is not enough.`,
    });
  const typed = given ?? (await prompts.text(`${question} Type its name to confirm:`));
  if (typed !== name)
    throw new GuardError(`"${typed}" is not the name of the ${noun}. Nothing was done.`, {
      hint: 'Type it exactly as shown.',
    });
}

async function confirmOne(context: Context, { question, typed }: Confirmation): Promise<void> {
  const { prompts, settings } = context;
  if (typed) return confirmName(context, question, typed);
  if (settings.yes) return;
  const { unavailable } = prompts;
  if (unavailable !== undefined)
    throw new UsageError(`${question} This needs a confirmation, and ${unavailable}.`, {
      hint: 'Run it in a terminal, or add --yes.',
    });
  if (!(await prompts.confirm(question))) throw new CancelledError('Nothing was done.');
}
