/** Executes the rows of a run concurrently, and ends each with exactly one result. */

import { isReadByList } from '../api/resources.js';
import { untilAborted } from '../data/time.js';
import type { RowEnd } from '../runs/report.js';
import { sentAtLatest } from '../runs/state.js';
import type { StopReason } from './limits.js';
import type { Task } from './operation.js';
import { verifyPending } from './pending.js';
import { ActiveRow, ActiveRun, type RowRunOptions, sessionFor } from './run.js';
import { beginRow } from './run-row.js';
import { unknownOutcome } from './verify.js';

/** How long rows in flight may take after the first signal; the process itself ends after 10 s. */
const graceMs = 9_000;
const highConcurrency = 8;
/** Enough extra rows to cover the time of a sync even on a busy disk or machine; more gain nothing. */
const extraRows = 112;

/**
 * Executes these rows and returns why the run stopped, if it did. Before each send, the record has been
 * read at most 2 s ago by both clocks and checked against every guard.
 */
export async function runRows(
  tasks: readonly Task[],
  options: RowRunOptions,
): Promise<StopReason | undefined> {
  const { signal, describeError } = options;
  const run = new ActiveRun(options);
  const finished = new AbortController();
  const all = work(run, tasks).finally(() => finished.abort());
  all.catch(() => {});
  // Nothing more is sent afterwards, even if a worker fails unexpectedly.
  await Promise.race([all, gracePeriod(run, finished.signal)]).finally(() => {
    run.isClosed = true;
    for (const { lock } of run.rows.values()) lock?.release();
  });
  for (const task of tasks) {
    if (run.reported.has(task.row)) continue;
    const row = run.rows.get(task.row) ?? new ActiveRow(run, task);
    const isOpen = row.isSent || task.open !== undefined;
    const end: RowEnd = isOpen
      ? { result: 'unknown', error: describeError(unknownOutcome(undefined), task.id) }
      : { result: 'not_attempted' };
    row.report(end);
  }
  // An unexpected error must surface; after a signal, a slow request may be abandoned.
  if (!signal.aborted) await all;
  return run.breaker.stop;
}

async function work(run: ActiveRun, tasks: readonly Task[]): Promise<void> {
  const { now, instant, self, settleMs } = run.options;
  const sent: ActiveRow[] = [];
  for (const task of tasks) {
    if (!task.open) continue;
    const present = now();
    const intent = sentAtLatest(task.open, present, self);
    const { t, since } = intent;
    const sentAt = instant().mono - (present.getTime() - t);
    const row = new ActiveRow(run, task);
    const kind = intent.applied ? 'unreadable' : 'lost';
    row.lastWrite = { phase: 'unverified', unverified: { kind, intent, sentAt, since, settleMs } };
    sent.push(row);
  }
  // The workers share it.
  const fresh = tasks.filter((task) => !task.open).values();
  const worker = async () => {
    for (const task of fresh) {
      if (run.phase !== 'sending') return;
      const row = new ActiveRow(run, task);
      await beginRow(row);
      if (row.lastWrite.phase === 'unverified') sent.push(row);
    }
  };
  await Promise.all(Array.from({ length: rowsAtOnce(run, tasks) }, worker));
  await verifyPending(run, sent);
}

/**
 * A row sends nothing while its record is written to disk. At high concurrency, extra rows keep the
 * connections busy and share the syncs, and rows that are read by a list share it at any. Not for uploads,
 * where each file counts as one, and not for creates: what a kill leaves with an intent is never sent again.
 */
function rowsAtOnce({ options }: ActiveRun, tasks: readonly Task[]): number {
  const { concurrency, resource, session } = options;
  if (session.transfer || (concurrency < highConcurrency && !isReadByList(resource)))
    return concurrency;
  const isSafe = tasks.every((task) => sessionFor(session, task).resends > 0);
  return isSafe ? concurrency + extraRows : concurrency;
}

/** Resolves some time after a signal; from then on rows in flight need not wait for each other. */
async function gracePeriod(run: ActiveRun, finished: AbortSignal): Promise<void> {
  const { signal, sleep } = run.options;
  await untilAborted(signal);
  run.semaphore.open();
  await sleep(graceMs, finished);
}
