/** Verifies the writes of a run whose outcome is unknown: they wait together, then each record is read again. */

import { isReadByList } from '../api/resources.js';
import { NotAppliedError } from '../data/outcome-errors.js';
import { isSameValue } from '../data/sorting.js';
import { mapConcurrently } from '../data/workload.js';
import { ApiError, Failure } from '../errors.js';
import type { RowEnd } from '../runs/report.js';
import type { RecordState, Verification } from './operation.js';
import type { ActiveRow, ActiveRun } from './run.js';
import { runRow } from './run-row.js';
import { endInConflict, stepDone } from './step-done.js';
import { stepOfIntent, type Unverified, unknownOutcome, verifyWrite } from './verify.js';

/** When the first of two reads is made, in milliseconds after the write. */
const firstReadMs = 2_000;

/** Verifies the writes of these rows until each has an outcome; if nothing more may be read, it stays unknown. */
export async function verifyPending(run: ActiveRun, rows: readonly ActiveRow[]): Promise<void> {
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
  await row.finish(end, { error }, mayResend ? {} : { applied: true });
}
