/** Executes the rows of a run concurrently, then verifies together those whose write has no known outcome; each ends with exactly one result. */

import { isReadByList } from '../api/resources.js';
import { NotAppliedError } from '../data/outcome-errors.js';
import { isSameValue } from '../data/sorting.js';
import { untilAborted } from '../data/time.js';
import { mapConcurrently } from '../data/workload.js';
import { ApiError, Failure } from '../errors.js';
import { sentAtLatest } from '../runs/journal.js';
import type { RowEnd } from '../runs/report.js';
import type { StopReason } from './limits.js';
import type { RecordState, Task, Verification } from './operation.js';
import { ActiveRow, ActiveRun, type RowRunOptions, sessionFor } from './run.js';
import { beginRow, runRow } from './run-row.js';
import { endInConflict, stepDone } from './step-done.js';
import { stepOfIntent, type Unverified, unknownOutcome, verifyWrite } from './verify.js';

/** How long rows in flight may take after the first signal; the process itself ends after 10 s. */
const graceMs = 9_000;
const highConcurrency = 8;
/** Enough extra rows to cover the time of a sync even on a busy disk or machine; more gain nothing. */
const extraRows = 112;
/** When the first of two reads of a write without an outcome is made, in milliseconds after the write. */
const firstReadMs = 2_000;

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
    const answered = intent.notShown ? 'notShown' : 'unreadable';
    const kind = intent.applied ? answered : 'lost';
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

/** Verifies the writes of these rows until each has an outcome; if nothing more may be read, it stays unknown. */
async function verifyPending(run: ActiveRun, rows: readonly ActiveRow[]): Promise<void> {
  const mayRead = () => run.phase !== 'ending' && !run.breaker.isWaitTooLong;
  while (unverifiedOf(rows).length > 0 && mayRead()) await verifyOnce(run, rows);
  await Promise.all(run.syncing);
  for (const { row, unverified } of unverifiedOf(rows)) await endUnknown(row, unverified);
}

function unverifiedOf(rows: readonly ActiveRow[]) {
  return rows.flatMap((row) => {
    const { lastWrite } = row;
    return lastWrite.phase === 'unverified' ? [{ row, unverified: lastWrite.unverified }] : [];
  });
}

/** Waits once for all of them: reads early, and again once no write can still take effect, which decides. */
async function verifyOnce(run: ActiveRun, rows: readonly ActiveRow[]): Promise<void> {
  const isLong = unverifiedOf(rows).some(
    ({ row: { session }, unverified }) =>
      session.verify !== 'never' && unverified.settleMs > firstReadMs,
  );
  if (isLong && run.phase === 'sending') {
    await pauseUntil(run, rows, () => firstReadMs);
    await readAll(run, rows, { last: false });
  }
  await pauseUntil(run, rows, ({ settleMs }) => settleMs);
  await readAll(run, rows, { last: true });
}

async function pauseUntil(
  run: ActiveRun,
  rows: readonly ActiveRow[],
  msOf: (pending: Unverified) => number,
): Promise<void> {
  const { instant, sleep, signal, onVerify } = run.options;
  const present = instant().mono;
  const longest = unverifiedOf(rows).reduce(
    (most, { unverified }) => Math.max(most, unverified.sentAt + msOf(unverified) - present),
    0,
  );
  if (longest === 0 || signal.aborted) return;
  onVerify?.(longest);
  await sleep(longest, signal);
}

async function readAll(
  run: ActiveRun,
  rows: readonly ActiveRow[],
  { last }: { readonly last: boolean },
): Promise<void> {
  let isSilent = false;
  const { concurrency, resource } = run.options;
  const open = unverifiedOf(rows);
  const atOnce = isReadByList(resource) ? open.length : concurrency;
  // A service that stopped answering gets one request at a time, not one for each row.
  const count = run.phase === 'sending' ? atOnce : 1;
  const reads = mapConcurrently(open, count, async ({ row, unverified }) => {
    if (run.phase === 'ending' || (isSilent && !last)) return;
    row.lastWrite = { phase: 'sent' };
    await row.guarded(async () => {
      if (isSilent) return endUnknown(row, unverified);
      const verification = await verifyLocked(row, unverified);
      if (verification.outcome === 'unclear')
        isSilent = verification.error?.exitName === 'temporary';
      if (last || verification.outcome === 'applied') return settle(row, unverified, verification);
      row.lastWrite = { phase: 'unverified', unverified };
      return undefined;
    });
  });
  await Promise.all(reads);
}

/** Verifies a write under the lock of its record, which the process that sent it may have left to others. */
async function verifyLocked(row: ActiveRow, unverified: Unverified): Promise<Verification> {
  try {
    await row.lockRecord();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { outcome: 'unclear', error };
  }
  return row.withinRead({ first: true }, () => verifyWrite(row.session, row.task, unverified));
}

async function settle(row: ActiveRow, unverified: Unverified, found: Verification): Promise<void> {
  if (found.outcome === 'applied') return foundApplied(row, unverified, found);
  if (found.outcome === 'unclear') return endUnknown(row, unverified, found.error);
  const isOther = found.outcome === 'other' || (await row.run.options.changedSince?.(row.task));
  if (isOther) return endInConflict(row, found.step, found.state);
  return foundNotApplied(row, unverified, found.state);
}

/** The write was applied: the row is done, or continues with its next step. */
async function foundApplied(
  row: ActiveRow,
  { intent, sent }: Unverified,
  { record, note }: Extract<Verification, { outcome: 'applied' }>,
): Promise<void> {
  if (note !== undefined) row.run.options.note(`${row.task.id}: ${note}.`);
  const step = sent?.step ?? stepOfIntent(intent, row.previewed);
  await runRow(
    row,
    await stepDone(row, { step, more: intent.more ?? false }, record, { isFound: true }),
  );
}

/** The record reads as before a write that is over: sends it again if allowed. Throws NotAppliedError. */
async function foundNotApplied(row: ActiveRow, unverified: Unverified, state: RecordState) {
  const { run, session, task } = row;
  const { resource, retries } = run.options;
  if (unverified.kind === 'notShown' && unverified.error) throw unverified.error;
  if (unverified.kind === 'notShown')
    throw new NotAppliedError(task.id, {
      resource,
      deletes: session.provenByAbsence ?? false,
      ...fieldsShown(unverified, state),
    });
  const mayResend =
    unverified.kind === 'lost' && row.sends <= retries && row.resends < session.resends;
  // A service that does not answer gets no resend; the row was attempted, so its outcome is unknown.
  if (!mayResend || run.breaker.stop) return endUnknown(row, unverified);
  row.resends += 1;
  row.lastWrite = { phase: 'settled', lost: unverified };
  await runRow(row, state);
}

function fieldsShown({ sent }: Unverified, { record = {} }: RecordState) {
  const changes = sent?.step.changes ?? [];
  const holds = (side: 'from' | 'to') =>
    changes
      .filter((change) => isSameValue(record[change.field] ?? null, change[side] ?? null))
      .map(({ field }) => field);
  return { unchanged: holds('from'), changed: holds('to') };
}

/** Ends a row as unknown; `unread`: why reading could not tell. */
async function endUnknown(row: ActiveRow, { kind, error: lost }: Unverified, unread?: Failure) {
  const { task, run } = row;
  const error = unknownOutcome(lost, unread);
  run.options.session.transfer?.failed(error, task);
  const described = run.options.describeError(error, task.id);
  // A service that said no may be believed once the record reads as before.
  const mayResend = kind === 'lost' || lost instanceof ApiError;
  const end: RowEnd = { result: 'unknown', error: described };
  const answered = { applied: true, ...(kind === 'notShown' && { notShown: true }) };
  await row.finish(end, { error }, mayResend ? {} : answered);
}
