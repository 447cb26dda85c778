/** Runs a write command that is not an operation on records: plan, confirm, apply. */
import type { Context } from '../context.js';
import { CancelledError, nothingDone, UsageError } from '../errors.js';
import { type CommandOutput, outputOf } from './command-output.js';
import type { DryRun, WriteCommand } from './define.js';
import { dryRunView } from './lines.js';

/**
 * Plans the write by reading, then prints the plan in a dry run, or asks for confirmation and applies
 * it. Throws UsageError or CancelledError if it is not confirmed.
 */
export async function runWrite(
  write: WriteCommand,
  context: Context,
  values: Readonly<Record<string, unknown>>,
): Promise<CommandOutput> {
  const plan = await write.plan(context, values);
  const { requests = [], changes, onlyReads } = plan;
  if (context.settings.dryRun && !onlyReads) {
    const dryRun: DryRun = { schema: 1, dryRun: true, requests, changes };
    return { value: dryRun, view: dryRunView, exitName: 'done' };
  }
  const question = write.confirm?.(plan, values);
  if (question !== undefined && changes.length > 0) await confirmWrite(context, question);
  const value = await write.apply(context, plan, values);
  return { ...outputOf(value, write.view), onlyReads };
}

/** Throws UsageError or CancelledError if the answer is not yes. */
async function confirmWrite({ prompts, settings }: Context, question: string): Promise<void> {
  if (settings.yes) return;
  const { unavailable } = prompts;
  if (unavailable !== undefined)
    throw new UsageError(`${question} This needs a confirmation, and ${unavailable}.`, {
      hint: 'Run it in a terminal, or add --yes.',
    });
  if (!(await prompts.confirm(question))) throw new CancelledError(nothingDone);
}
