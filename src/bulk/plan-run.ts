/** Plans a run up to its first write: earlier runs, preview, confirmation, and its folder on disk. */

import { rowError } from '../cli/failure.js';
import type { Context } from '../context.js';
import { isForbidden } from '../data/outcome-errors.js';
import { groupedNumber } from '../data/text.js';
import { stopsRun } from '../engine/decide.js';
import type { Session, Task } from '../engine/operation.js';
import {
  type AwaitedRuns,
  awaitEarlierWrites,
  awaitShown,
  readingPast,
} from '../engine/other-runs.js';
import { unknownOutcome } from '../engine/verify.js';
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { HeldLock } from '../files/lock.js';
import { damagedBefore, markReported, tidyOpenRuns } from '../runs/end.js';
import { noJournal, redactRow, withoutValues } from '../runs/journal.js';
import type { RunPlan } from '../runs/plan.js';
import { endAfter, isFinalRow, type ReportRow, type RowEnd, reportRow } from '../runs/report.js';
import { createRun, type StoredRun, writeOptions } from '../runs/stored-run.js';
import {
  confirmChanges,
  countErrors,
  printPreview,
  printPreviewNotes,
  warnOfRefusals,
} from './confirm.js';
import {
  earlierRunsFor,
  recordCarried,
  reportAgain,
  unreportedRun,
  withCarried,
} from './earlier-runs.js';
import { endWith, type Planned, type PlannedRun } from './execute.js';
import { errorLimit, type Invocation, openSession } from './invocation.js';
import { closeReplaced, closeUndone, lockUndone, type Replaced } from './open-writes.js';
import { type Preview, previewRows, subjectOf } from './preview.js';
import { prepareResume } from './resume.js';
import { openImages, type RunSetup } from './run-locks.js';
import { redactedRows, requireNoKey } from './secrets.js';
import { selectRows } from './select-rows.js';
import { checkFieldsToShow } from './show-one.js';

/**
 * Plans a run, or resumes the unfinished one of the same command line; its lock is released unless it is
 * ready to send. Throws UsageError, GuardError or CancelledError if it may not start, and failures that
 * stop every row.
 */
export async function planRun(
  context: Context,
  invocation: Invocation,
  setup: RunSetup,
): Promise<Planned> {
  const { store, lock, head } = setup;
  let undone: HeldLock | undefined;
  try {
    undone = store && (await lockUndone(context, invocation, store, head));
    const planned = await planOrContinue(context, invocation, setup);
    if ('report' in planned) lock?.release();
    else if (store) await closeUndone(context, invocation, store, lock);
    return planned;
  } catch (error) {
    lock?.release();
    throw error;
  } finally {
    undone?.release();
  }
}

const noRuns = { open: [], damaged: [] };

async function planOrContinue(context: Context, invocation: Invocation, setup: RunSetup) {
  const { operation, values, selection } = invocation;
  const { store, lock, head } = setup;
  const { open, damaged } = store ? await tidyOpenRuns(context, store) : noRuns;
  const { restart } = values;
  const unreported = head.addsEachTime ? unreportedRun(context, open, head) : undefined;
  if (store && unreported && !restart) return reportAgain(context, invocation, store, unreported);
  const earlier = await earlierRunsFor(context, invocation, head, open);
  const { concerned, same, continued, carried } = earlier;
  const { rows: selected, matched } = await selectRows(context, invocation);
  const rows = withCarried(carried, selected, invocation);
  const toSetAside = damagedBefore(context, damaged, {
    head,
    subjectOf: operation.files?.subjectOf,
    rows,
    restart,
  });
  if (store) await awaitShown(context, store, head, rows);
  if (store && continued) return prepareResume(context, invocation, { store, lock }, continued);
  // What another create makes is a record of its own.
  const named = operation.verb === 'create' ? [] : rows;
  const awaited = await awaitEarlierWrites(context, concerned, named, same);
  const found = await operation.resolve?.();
  const resolved = found ?? rows;
  const isAwaited = new Set(named.map(({ id }) => id));
  const others = resolved.filter(({ id }) => !isAwaited.has(id));
  if (found) await awaitEarlierWrites(context, concerned, others);
  const begun = { ...invocation, selection: { ...selection, rows: resolved } };
  return beginRun(context, begun, {
    ...setup,
    carried: rows.slice(0, carried.length),
    selected: selected.length,
    matched: Math.max(matched, rows.length),
    replaced: same,
    unreported,
    damaged: toSetAside,
    awaited,
  });
}

interface NewRun extends Replaced {
  /** A run whose report was never printed; `--restart` sets it aside. */
  readonly unreported: StoredRun | undefined;
  /** Unfinished rows of replaced runs: the first rows, which are not previewed. */
  readonly carried: readonly Task[];
  /** How many rows the command line selects, which --expect counts. */
  readonly selected: number;
  /** How many records match, before `--limit` cut them. */
  readonly matched: number;
  readonly awaited: AwaitedRuns;
}

/** Previews a new run, asks for confirmation, and writes it down. */
async function beginRun(
  context: Context,
  invocation: Invocation,
  newRun: NewRun,
): Promise<Planned> {
  const { store, head, carried, replaced } = newRun;
  const { operation, values, isSingle } = invocation;
  const rows = invocation.selection?.rows ?? [];
  const fresh = rows.slice(carried.length);
  requireNoKey(context, invocation, rows);
  const opened = openSession(context, invocation);
  const session = store ? await readingPast(context, store, head, opened) : opened;
  const endUnsent = async ({ decided, tasks, names, record, error }: Preview, stop?: Stop) => {
    const unsent = [...carried, ...tasks].map((task) => unsentRow(context, invocation, task));
    const results = [...decided, ...unsent];
    const ended = await endWith(context, invocation, { ...head, run: null }, results, stop);
    const failed = stop instanceof Failure && { failed: { error: stop, isUnreported: true } };
    return { ...ended, ...failed, names, session, record, error };
  };
  let preview: Preview;
  try {
    preview = await previewRows(context, invocation, fresh, session);
    await checkFieldsToShow(context, invocation, preview);
  } catch (error) {
    const endsAll = error instanceof Failure && stopsEveryRow(error);
    if (!endsAll || (isSingle && !operation.reports)) throw error;
    return endUnsent({ tasks: fresh, decided: [], error }, error);
  }
  const { decided, record, names } = preview;
  const tasks = [...carried, ...preview.tasks];
  const refusal = operation.refuses?.(preview);
  if (refusal) return endUnsent(preview, refusal);
  const [only] = preview.tasks;
  if (isSingle && only && record && operation.ask) {
    const job = await operation.ask(context, invocation.job, only, record);
    if (job !== invocation.job) return beginRun(context, { ...invocation, job }, newRun);
  }
  if (tasks.length === 0) {
    printPreviewNotes(context, operation, preview);
    await closeReplaced(context, newRun, session);
    return endUnsent(preview);
  }
  const errorCount = countErrors(decided);
  if (errorCount >= errorLimit(values)) {
    context.message(
      `Stopped before the first write: ${groupedNumber(errorCount)} failed or conflicted.`,
    );
    return endUnsent(preview, { exitName: 'rowsFailed' });
  }
  const carriedNames = replaced.flatMap(({ plan }) => [...(plan?.names ?? [])]);
  const whole = {
    ...preview,
    tasks: [...tasks, ...unreadRows(rows, decided)].toSorted((a, b) => a.row - b.row),
    decided: decided.filter(isFinalRow),
    names: new Map([...carriedNames, ...(names ?? [])]),
  };
  await confirmRun(context, invocation, newRun, session, whole);
  return writeRun(context, invocation, newRun, session, whole);
}

/** The rows that the preview could not read for now; the run tries them again, and may change them. */
function unreadRows(rows: readonly Task[], decided: readonly ReportRow[]): readonly Task[] {
  const unread = new Set(decided.filter((row) => !isFinalRow(row)).map(({ row }) => row));
  return rows
    .filter(({ row }) => unread.has(row))
    .map(({ row, id, ref, own, done, previewed }) => ({ row, id, ref, own, done, previewed }));
}

/** Shows what a new run would change, and asks. Throws as `confirmChanges` does. */
async function confirmRun(
  context: Context,
  invocation: Invocation,
  { selected, matched }: NewRun,
  session: Session,
  preview: Preview,
): Promise<void> {
  const { operation, isSingle, selection } = invocation;
  const subject = subjectOf(invocation, matched, matched > (selection?.rows.length ?? 0));
  if (operation.confirm !== 'never' && !isSingle) await printPreview(context, subject, preview);
  printPreviewNotes(context, operation, preview);
  await warnOfRefusals(context, invocation, session, preview.tasks);
  if (preview.firstCall) context.api.noteAssumedRoute(preview.firstCall);
  await confirmChanges(context, invocation, { subject, preview, selected, session });
}

/** Writes a confirmed run down: its plan, its journal, and what is decided already. */
async function writeRun(
  context: Context,
  invocation: Invocation,
  newRun: NewRun,
  session: Session,
  preview: Preview,
): Promise<PlannedRun> {
  const { store, head, lock, awaited, unreported } = newRun;
  const { values, selection, job, guards } = invocation;
  const rows = selection?.rows ?? [];
  const plan: RunPlan = {
    head: { ...head, rows: rows.length },
    job: { job, guards },
    ...redactedRows(context, rows, preview, { isRun: true }),
  };
  const options = writeOptions(context, lock);
  const journal = store ? await createRun(store, plan, options) : noJournal;
  const images = store && openImages(context, store, head.run, options);
  await recordCarried(journal, images, preview.tasks);
  await closeReplaced(context, newRun, session);
  // Otherwise, the same command would print that report the next time, and change nothing.
  if (store && unreported) await markReported(store, unreported.head.run, unreported.state.last);
  const { tasks, decided: finished } = preview;
  await Promise.all(
    finished.map((row) => journal.append({ kind: 'result', ...redactRow(withoutValues(row)) })),
  );
  return {
    // Only --results needs the rows as they were read.
    invocation: { ...invocation, selection: values.results === undefined ? undefined : selection },
    store,
    lock,
    plan,
    journal,
    images,
    session,
    finished,
    awaited,
    errorsLeft: errorLimit(values) - countErrors(finished),
    tasks,
  };
}

/** True for failures of the service that concern every row; others come from the command line or the user. */
function stopsEveryRow(error: Failure): boolean {
  return stopsRun(error) || isForbidden(error) || error.exitName === 'temporary';
}

/** A row that this process sends nothing for; an earlier one may have. */
function unsentRow(context: Context, { action }: Invocation, task: Task): ReportRow {
  const { id, open, done } = task;
  const error = open && rowError(context, action.split('.'), unknownOutcome(undefined), id);
  const end: RowEnd = error ? { result: 'unknown', error } : { result: 'not_attempted' };
  return reportRow(task, endAfter(done, end));
}

type Stop = Failure | { readonly exitName: ExitName };
