import * as z from 'zod/mini';
import { type BulkReport, exitOf, summarize } from '../bulk/report.js';
import { applyRows, dryRows, type PlannedRow, planRows, type RowWork } from '../bulk/sequence.js';
import type { Context } from '../context.js';
import { plural } from '../data/words.js';
import { CancelledError, GuardError, UsageError } from '../errors.js';
import {
  type Command,
  type Confirmation,
  type DryRun,
  Outcome,
  type Plan,
  Running,
} from './define.js';
import { tellFailure } from './failure.js';
import { changeLines } from './lines.js';
import { asksForRun, runBulk } from './bulk.js';
import type { BulkValues } from './bulk-flags.js';
import type { EndedRun } from './bulk-run.js';
import type { BulkPart } from './bulk-part.js';
import { sourceOf } from './bulk-select.js';
import { reportView, type Shown } from './report-view.js';
import { type View, linesOf } from './views.js';

export { reportView, type Shown };

type Write = Extract<Command, { kind: 'write' }>;
type Values = Readonly<Record<string, unknown>>;

/** A write with its types forgotten, as the table holds it. */
interface AnyWrite {
  ids?(values: Values): readonly string[];
  readonly report?: 'several' | 'always';
  readonly neverAsks?: boolean;
  readonly bulk?: BulkPart;
  made?(value: unknown): Readonly<Record<string, unknown>>;
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
  if (write.several && ids?.length !== 1 && !context.settings.dryRun) {
    const { report, ...ended } = await write.several(context, values);
    return { value: report, view: reportView, ...ended };
  }
  if (ids && !write.several && (ids.length !== 1 || write.report === 'always'))
    return runRows(write, words, context, values, ids);
  const id = ids?.[0] ?? '';
  const plan = await write.plan(context, values, id);
  if (context.settings.dryRun && !plan.onlyReads) return shown(dryRunOf(context, plan), dryRunView);
  const question = write.confirm?.(plan, values, id);
  if (question && (plan.calls.length > 0 || plan.changes.length > 0))
    await confirmOne(context, question);
  const value = await write.apply(context, plan, values, id);
  if (value instanceof Running) return value.shown;
  if (!(value instanceof Outcome)) return shown(value, write.view);
  const { exitName, written } = value;
  return { value: value.value, view: write.view, exitName, written };
}

function dryRunOf(context: Context, plan: Plan): DryRun {
  const requests = plan.requests ?? plan.calls.map((call) => context.api.describe(call));
  return { schema: 1, dryRun: true, requests, changes: plan.changes };
}

async function runRows(
  write: AnyWrite,
  words: readonly string[],
  context: Context,
  values: Values,
  ids: readonly string[],
): Promise<Shown> {
  refuseDoubles(ids);
  const { settings, streams } = context;
  const work: RowWork<Plan> = {
    plan: (id) => write.plan(context, values, id),
    changes: (plan) => plan.changes,
    writes: (plan) => plan.calls.length > 0,
    apply: (plan, id) => write.apply(context, plan, values, id),
    made: (value) => write.made?.(value instanceof Outcome ? value.value : value),
    tell: (error, id) => {
      const story = tellFailure(error, { words, ids: [id], profile: settings.profile.name });
      const { code, message, ...rest } = story.envelope.error;
      return { code: streams.redacted(code), message: streams.redacted(message), ...rest };
    },
  };
  const planned = await planRows(ids, work);
  const report = (rows: BulkReport['results']): BulkReport => ({
    schema: 1,
    run: null,
    profile: settings.profile.name,
    organization: context.api.organizationId,
    action: words.join('.'),
    dryRun: settings.dryRun,
    summary: summarize(rows, { dryRun: settings.dryRun }),
    results: rows,
  });
  if (settings.dryRun) {
    const value = report(dryRows(planned, work));
    return shown(value, reportView, exitOf(value.summary, undefined));
  }
  const pending = planned.filter((row) => row.plan && work.writes(row.plan));
  if (pending.length > 0 && ids.length > 1 && !write.neverAsks)
    await confirmRows(context, words, planned, pending);
  const { rows, stopped } = await applyRows(planned, work, {
    aborted: () => context.signal.aborted,
  });
  const value = report(rows);
  return { ...shown(value, reportView, exitOf(value.summary, stopped)), isReport: true };
}

function shown(value: unknown, view: View<never>, exitName: Shown['exitName'] = 'done'): Shown {
  return { value, view, exitName };
}

function refuseDoubles(ids: readonly string[]): void {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new UsageError(`The id ${twice} is given twice.`);
}

// --- confirmation ---

async function confirmOne(context: Context, { question, typed }: Confirmation): Promise<void> {
  const { prompts, settings } = context;
  if (typed) {
    if (typed.given === undefined && !prompts.possible)
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
  if (!prompts.possible)
    throw new UsageError(`${question} This needs a confirmation and there is nobody to ask.`, {
      hint: 'Add --yes to answer it.',
    });
  if (!(await prompts.confirm(question))) throw new CancelledError('Nothing was done.');
}

/** The preview: where, how many, counts per move, the first five rows, and the question. */
async function confirmRows(
  context: Context,
  words: readonly string[],
  planned: readonly PlannedRow<Plan>[],
  pending: readonly PlannedRow<Plan>[],
): Promise<void> {
  const { settings, prompts } = context;
  for (const line of previewLines(context, words, planned, pending)) context.tell(line);
  if (settings.yes) return;
  if (!prompts.possible)
    throw new UsageError(
      `${plural(pending.length, 'record')} would be changed, and there is nobody to ask.`,
      {
        hint: 'Add --yes to do it, or --dry-run to look first.',
      },
    );
  if (!(await prompts.confirm(`Change ${plural(pending.length, 'record')}?`)))
    throw new CancelledError('Nothing was done.');
}

function previewLines(
  context: Context,
  words: readonly string[],
  planned: readonly PlannedRow<Plan>[],
  pending: readonly PlannedRow<Plan>[],
): string[] {
  const changes = pending.flatMap((row) => row.plan?.changes ?? []);
  const statuses = changes.filter((change) => change.field === 'status');
  const moves = new Map<string, number>();
  for (const change of statuses) {
    const move = `${text(change.from)} → ${text(change.to)}`;
    moves.set(move, (moves.get(move) ?? 0) + 1);
  }
  const { profile } = context.settings;
  return [
    `${words.join(' ')}: ${pending.length} of ${plural(planned.length, 'record')} would change`,
    `profile ${profile.name}, organization ${context.api.organizationId}, ${context.api.baseUrl}`,
    ...[...moves].map(([move, count]) => `  ${count} ${move}`),
    ...changes
      .slice(0, 5)
      .map((change) => `  ${change.id}: ${change.field} ${text(change.from)} → ${text(change.to)}`),
    ...(changes.length > 5 ? [`  and ${changes.length - 5} more`] : []),
    ...(statuses.length > 0
      ? [
          "Status changes emit events that the organization's Flows may act on; they cannot be called back.",
        ]
      : []),
  ];
}

function text(value: unknown): string {
  return value === undefined ? '?' : typeof value === 'string' ? value : JSON.stringify(value);
}
