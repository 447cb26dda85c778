/** Open writes of earlier runs: verified by reading, and recorded in runs that end. */
import type { Context } from '../context.js';
import { beforeAndAfter, changedEnd, conflictEnd } from '../engine/decide.js';
import type { Session, Task } from '../engine/operation.js';
import { waitForWrites } from '../engine/other-runs.js';
import { sessionFor } from '../engine/run.js';
import { stepOfIntent, verifyWrite } from '../engine/verify.js';
import type { HeldLock } from '../files/lock.js';
import { endRun, setAside } from '../runs/end.js';
import { type Intent, type Journal, redactRow } from '../runs/journal.js';
import { isHeldByOther } from '../runs/lock.js';
import type { NewRunHead } from '../runs/plan.js';
import { endAfter, type ReportRow, type RowEnd, reportRow, unsentResult } from '../runs/report.js';
import { isSingleRun, type RunStore } from '../runs/store.js';
import {
  type DamagedRun,
  readRun,
  resultsSoFar,
  type StoredRun,
  type WriteOptions,
  withJournal,
  writeOptions,
} from '../runs/stored-run.js';
import { hasLeftovers } from '../runs/unfinished.js';
import type { Invocation } from './invocation.js';
import { unfinishedTasks, withRun } from './resume.js';
import { lockFor, type RunSetup } from './run-locks.js';

/** Closes the runs that a new one replaces, and sets damaged ones aside. Throws OutputError, GuardError. */
export async function closeReplaced(
  context: Context,
  { store, lock, replaced, damaged }: Replaced,
  session: Session,
): Promise<void> {
  const options = writeOptions(context, lock);
  if (store) for (const run of replaced) await closeReplacedRun(store, run, session, options);
  for (const run of damaged) context.message(`The damaged run is kept in ${await setAside(run)}.`);
}

/** Earlier runs that a new one replaces, and its own place. */
export interface Replaced extends RunSetup {
  readonly replaced: readonly StoredRun[];
  readonly damaged: readonly DamagedRun[];
}

/**
 * Acquires the lock of the unfinished run of several records that the undo of a single one will end: that
 * has only the lock of its record, and another process may be about to resume the run. Throws GuardError
 * `locked`.
 */
export async function lockUndone(
  context: Context,
  invocation: Invocation,
  store: RunStore,
  { run }: NewRunHead,
): Promise<HeldLock | undefined> {
  if (!isSingleRun(run)) return undefined;
  const stored = await unfinishedUndone(context, invocation, store);
  return stored && !isSingleRun(stored.head.run)
    ? lockFor(context, invocation, store, stored.head)
    : undefined;
}

/**
 * Ends the unfinished run that this one undoes, so that the same command line starts over instead of
 * counting the undone rows as changed. A run that a process is working on is left alone. Throws
 * OutputError, GuardError.
 */
export async function closeUndone(
  context: Context,
  invocation: Invocation,
  store: RunStore,
  lock: HeldLock | undefined,
): Promise<void> {
  const stored = await unfinishedUndone(context, invocation, store);
  if (stored) await closeReplacedRun(store, stored, undefined, writeOptions(context, lock));
}

/** The run that an undo ends: unfinished, and no other process is working on it. */
async function unfinishedUndone(
  { self }: Context,
  { operation: { of } }: Invocation,
  store: RunStore,
): Promise<StoredRun | undefined> {
  const stored = of === undefined ? undefined : await readRun(store, of);
  return stored?.finished === false && !isHeldByOther(stored, self) ? stored : undefined;
}

/**
 * Ends an unfinished run that another one replaces: verifies its open writes by the session (none can
 * still take effect, because the caller waited), then closes its journal. Its plan is kept if something
 * is left over that only this run knows of. Throws OutputError, GuardError.
 */
async function closeReplacedRun(
  store: RunStore,
  stored: StoredRun,
  session: Session | undefined,
  options: WriteOptions,
): Promise<void> {
  const { plan } = stored;
  const keepsPlan = hasLeftovers(stored);
  if (!plan) return;
  await withJournal(store, plan, options, async (journal) => {
    if (session) await appendKnown(journal, await verifyOpen(session, stored));
    const begun = resultsSoFar(stored);
    await endRun(store, plan, journal, { begun, results: [], superseded: true, keepsPlan });
  });
}

async function appendKnown(journal: Journal, verified: readonly ReportRow[]): Promise<void> {
  for (const verifiedRow of verified) {
    const { row, id, result, step, before = {}, after = {}, retryable } = verifiedRow;
    if (result === 'unknown') continue;
    // A resumed run continues after this step.
    if (step !== undefined && retryable)
      await journal.append({ kind: 'done', row, id, step, before, after });
    await journal.append({ kind: 'result', ...redactRow(verifiedRow) });
  }
}

/** Verifies the writes of a run that have no outcome; `unknown` where reading cannot tell. */
async function verifyOpen(session: Session, stored: StoredRun): Promise<readonly ReportRow[]> {
  const results: ReportRow[] = [];
  for (const task of unfinishedTasks(stored))
    if (task.open) {
      const end = await endOfOpen(sessionFor(session, task), task, task.open);
      results.push(reportRow(task, endAfter(task.done, end)));
    }
  return results;
}

async function endOfOpen(session: Session, task: Task, open: Intent): Promise<RowEnd> {
  const verification = await verifyWrite(session, task, {
    kind: 'lost',
    since: open.t,
    intent: open,
  });
  if (verification.outcome === 'applied') {
    const { record } = verification;
    const values = beforeAndAfter(stepOfIntent(open, task.previewed).changes);
    if (open.more && open.step !== undefined) return unsentResult({ step: open.step, ...values });
    return changedEnd(task, values, task.done, session.made?.(record));
  }
  const isNotApplied = verification.outcome === 'notApplied';
  if (isNotApplied && !open.applied) return { result: 'not_attempted' };
  if (isNotApplied || verification.outcome === 'unclear') return { result: 'unknown' };
  const { before } = beforeAndAfter(verification.step.changes);
  const message = 'Someone else changed it after this change was sent.';
  return conflictEnd(message, { before });
}

/**
 * Returns the results of the rows of a run that were sent. Writes with an unknown outcome are verified
 * once they can no longer take effect, and the run's journal records what was found, except in a dry
 * run. Throws Failure, GuardError `locked` while another process works on the run.
 */
export async function verifiedResults(
  context: Context,
  invocation: Invocation,
  stored: StoredRun,
): Promise<readonly ReportRow[]> {
  const { operation, job } = invocation;
  const verifiedOf = async (run: StoredRun) => {
    await waitForWrites(context, [...run.state.open.values()], `run ${run.head.run}`);
    return verifyOpen(operation.open(context, job), run);
  };
  if (!stored.plan) return [...resultsSoFar(stored).values()];
  if (stored.state.open.size === 0) return closedResults(stored);
  if (context.settings.dryRun) return [...closedResults(stored), ...(await verifiedOf(stored))];
  return withRun(context, invocation, stored, async ({ store, lock }, now) => {
    try {
      const verified = await verifiedOf(now);
      if (now.plan)
        await withJournal(store, now.plan, writeOptions(context, lock), (journal) =>
          appendKnown(journal, verified),
        );
      return [...closedResults(now), ...verified];
    } finally {
      lock?.release();
    }
  });
}

function closedResults({ state }: StoredRun): readonly ReportRow[] {
  return [...state.results.values()].filter(({ row }) => !state.open.has(row));
}
