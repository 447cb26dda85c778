import * as z from 'zod/mini';
import { beforeAfter, stopsRun } from '../bulk/judge.js';
import { exitOf, type ReportRow } from '../bulk/report.js';
import { endedBy, type Stop } from '../bulk/stops.js';
import type { Context } from '../context.js';
import { CancelledError, Failure, GuardError, UsageError } from '../errors.js';
import { asksForRun, checkFields, runBulk } from './bulk.js';
import type { BulkValues } from './bulk-flags.js';
import type { BulkPart } from './bulk-part.js';
import { settleOne } from './bulk-earlier.js';
import { type EndedRun, reportOf } from './bulk-run.js';
import { sourceOf } from './bulk-select.js';
import {
  type Command,
  type Confirmation,
  type DryRun,
  Outcome,
  type Plan,
  Running,
} from './define.js';
import { changeLines } from './lines.js';
import { reportView, type Shown, tellSummary } from './report-view.js';
import { rowError } from './row-error.js';
import { type View, linesOf } from './views.js';

export { reportView, type Shown };

type Write = Extract<Command, { kind: 'write' }>;
type Values = Readonly<Record<string, unknown>>;

/** A write with its types forgotten, as the table holds it. */
interface AnyWrite {
  ids?(values: Values): readonly string[];
  readonly reports?: boolean;
  readonly bulk?: BulkPart;
  check?(context: Context, values: Values): Promise<void> | void;
  plan(context: Context, values: Values, id: string): Promise<Plan>;
  apply(context: Context, plan: Plan, values: Values, id: string): Promise<unknown>;
  several?(context: Context, values: Values): Promise<EndedRun>;
  confirm?(plan: Plan, values: Values, id: string): Confirmation | undefined;
  readonly view: View<unknown>;
}

export const dryRunView: View<DryRun> = linesOf(
  z.looseObject({
    schema: z.literal(1),
    dryRun: z.literal(true),
    requests: z.array(z.looseObject({ method: z.string(), path: z.string() })),
    changes: z.array(z.looseObject({ field: z.string() })),
  }),
  (value, canvas) => changeLines(value as unknown as DryRun, canvas),
) as unknown as View<DryRun>;

/**
 * Runs a write: plans it by reads, shows the plan in a dry run, asks where that is due, applies it.
 * One id gives the record, several the bulk report. Throws UsageError, GuardError or CancelledError
 * when it is not confirmed.
 */
export async function runWrite(
  command: Write,
  words: readonly string[],
  context: Context,
  values: Values,
): Promise<Shown> {
  const write = command as unknown as AnyWrite;
  const bulk = write.bulk && { part: write.bulk, words, values: values as unknown as BulkValues };
  const source = bulk && !bulk.part.rows ? sourceOf(bulk.values, bulk.part) : undefined;
  await write.check?.(context, values);
  const ids = write.ids?.(values);
  if (bulk) {
    const many = ids?.length !== 1 || (await bulk.part.isMany?.(values as never));
    if (source !== undefined || many || asksForRun(bulk.values))
      return runBulk(context, { ...bulk, source: source ?? 'ids' });
  }
  if (write.several && ids?.length !== 1) {
    await checkFields(context);
    const { report, ...ended } = await write.several(context, values);
    return { value: report, view: reportView, isReport: !context.settings.dryRun, ...ended };
  }
  const id = ids?.[0] ?? '';
  if (bulk && !bulk.part.rows && !context.settings.dryRun)
    await settleOne(context, bulk.part.resource, id);
  if (write.reports) return runReported(write, words, context, values, id);
  const plan = await write.plan(context, values, id);
  // Before it is agreed to; a local write has no calls.
  for (const call of plan.calls) context.api.tellGuess(call);
  if (context.settings.dryRun && !plan.onlyReads) return shown(dryRunOf(context, plan), dryRunView);
  const question = write.confirm?.(plan, values, id);
  if (question && (plan.calls.length > 0 || plan.changes.length > 0))
    await confirmOne(context, question);
  const value = await write.apply(context, plan, values, id);
  if (value instanceof Running) return value.shown;
  const { onlyReads } = plan;
  if (!(value instanceof Outcome)) return { ...shown(value, write.view), onlyReads };
  const { exitName } = value;
  const { written, head } = value.more;
  return { value: value.value, view: write.view, exitName, written, head, onlyReads };
}

function dryRunOf(context: Context, plan: Plan): DryRun {
  const requests = plan.requests ?? plan.calls.map((call) => context.api.describe(call));
  return { schema: 1, dryRun: true, requests, changes: plan.changes };
}

/** One record whose outcome is told as a report of one row. */
async function runReported(
  write: AnyWrite,
  words: readonly string[],
  context: Context,
  values: Values,
  id: string,
): Promise<Shown> {
  const told = (row: Omit<ReportRow, 'row' | 'id'>, error?: Failure, stop?: Stop): Shown => {
    const head = { action: words.join('.'), run: null };
    const value = reportOf(context, head, [{ row: 1, id, ...row }]);
    const exitName = exitOf(value.summary, stop?.exitName);
    const failed = error && { id, error };
    tellSummary(context, value);
    return { value, view: reportView, exitName, failed, isReport: !context.settings.dryRun };
  };
  await checkFields(context);
  let sent = false;
  try {
    const plan = await write.plan(context, values, id);
    const moves = beforeAfter(plan.changes);
    if (plan.calls.length === 0) return told({ result: 'unchanged', ...moves });
    if (context.settings.dryRun) return told({ result: 'would_change', ...moves });
    sent = true;
    await write.apply(context, plan, values, id);
    return told({ result: 'changed', ...moves });
  } catch (error) {
    if (!(error instanceof Failure) || (!sent && stopsRun(error))) throw error;
    const { result, stop } = endedBy(error, sent);
    return told({ result, error: rowError(context, words, error, id) }, error, stop);
  }
}

function shown(value: unknown, view: View<never>, exitName: Shown['exitName'] = 'done'): Shown {
  return { value, view, exitName };
}

// --- confirmation ---

async function confirmOne(context: Context, { question, typed }: Confirmation): Promise<void> {
  const { prompts, settings } = context;
  if (typed) {
    if (typed.given === undefined && prompts.nobody !== undefined)
      throw new UsageError(`${question} This needs ${typed.flag} with its name.`, {
        hint: `Add: ${typed.flag} NAME   (--yes alone is not enough)`,
      });
    const name = typed.given ?? (await prompts.text(`${question} Type its name to confirm:`));
    if (name !== typed.name)
      throw new GuardError(`The name does not match: it is not "${name}". Nothing was done.`, {
        hint: 'Look at the record first; names are compared to the letter.',
      });
    return;
  }
  if (settings.yes) return;
  const { nobody } = prompts;
  if (nobody !== undefined)
    throw new UsageError(`${question} This needs a confirmation, and ${nobody}.`, {
      hint: 'Add --yes to answer it.',
    });
  if (!(await prompts.confirm(question))) throw new CancelledError('Nothing was done.');
}
