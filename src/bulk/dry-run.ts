/** What a write would do, found out by reads alone. */
import type { DryRun, Shown } from '../cli/define.js';
import { dryRunView } from '../cli/dry-run-view.js';
import type { Context } from '../context.js';
import { errorsBefore, tellCap, tellNotes, tellPreview } from './confirm.js';
import { decideRow } from './decide.js';
import { failedRun, reportOf, reportView, tellSummary } from './report-view.js';
import type { Invocation, KeptJob } from './invocation.js';
import type { Task } from './operation.js';
import { previewRows } from './preview.js';
import { exitOf } from './report.js';

/** The requests that one record would be changed by, and old and new values. Throws as the read does. */
export async function dryRunOne(
  context: Context,
  { operation }: Pick<Invocation, 'operation'>,
  kept: KeptJob,
  row: Task,
): Promise<Shown> {
  const session = operation.open(context, kept.job as never);
  const state = await session.read(row, 'preview');
  const plan = await session.plan(row, state);
  const decision = decideRow(row, state.record, plan, {
    guards: kept.guards,
    previewed: row.previewed,
    done: row.done,
  });
  // What may have been created is looked for, and not created once more.
  const isLookedFor = row.open !== undefined && operation.createsRow === true;
  if (isLookedFor)
    context.tell('Whether it was created is not known: this line looks for it, and sends nothing.');
  const steps = decision.write && !isLookedFor ? plan.steps : [];
  if (!decision.write && decision.row.error) {
    const { message } = decision.row.error as { readonly message?: string };
    context.tell(`${row.id}: ${decision.row.result}. ${message ?? ''}`.trimEnd());
  }
  for (const { call } of steps) context.api.tellGuess(call);
  const value: DryRun = {
    schema: 1,
    dryRun: true,
    requests:
      (decision.write ? plan.requests : undefined) ??
      steps.map(({ call }) => context.api.describe(call)),
    changes: steps.flatMap(({ changes }) =>
      changes.map(({ field, from, to }) => ({
        id: operation.createsRow || operation.recovery ? null : row.id,
        field,
        from: from ?? null,
        to,
      })),
    ),
  };
  return { value, view: dryRunView, exitName: 'done' };
}

/** Reads rows as a run would and sends nothing; `run`: the one that would go on with them. */
export async function dryRunMany(
  context: Context,
  invocation: Parameters<typeof previewRows>[2],
  kept: KeptJob,
  rows: readonly Task[],
  run: string | null = null,
): Promise<Shown> {
  const { operation, words, values } = invocation;
  const session = operation.open(context, kept.job as never);
  const preview = await previewRows(context, rows, invocation, session, kept.guards);
  const { tasks, decided } = preview;
  const action = words.join('.');
  const deed = { action, verb: operation.verb };
  const isShown = operation.confirm !== 'never';
  if (tasks.length > 0 && isShown) tellPreview(context, deed, rows.length, preview);
  tellNotes(context, operation, preview);
  if (isShown) tellCap(context, deed, tasks.length, values);
  const { wrong, isTooMany } = errorsBefore(values, decided);
  if (tasks.length > 0 && isTooMany)
    context.tell(`Without --dry-run nothing would be sent: ${wrong} failed or conflicted.`);
  const would = tasks.map(({ row, id, previewed = [] }) => ({
    row,
    id,
    result: 'would_change' as const,
    before: Object.fromEntries(previewed.map(({ field, from }) => [field, from ?? null])),
    after: Object.fromEntries(previewed.map(({ field, to }) => [field, to])),
  }));
  const report = reportOf(context, { action, run, of: operation.of }, [...would, ...decided]);
  const exitName = exitOf(report, undefined);
  tellSummary(context, report);
  const pending = values.exitCode && exitName === 'done' && tasks.length > 0;
  return {
    value: report,
    view: reportView,
    exitName: pending ? 'changesPending' : exitName,
    failed: failedRun(report, exitName),
  };
}
