/** Verifies the writes of a run whose outcome is unknown: they wait together, then each record is read again. */

import { mapConcurrently } from '../data/concurrency.js';
import type { JsonObject } from '../data/json.js';
import { NotAppliedError } from '../data/outcome-errors.js';
import { isSameValue } from '../data/sorting.js';
import type { Failure } from '../errors.js';
import type { RowChange } from '../runs/report.js';
import { settleTimeLeft } from '../runs/state.js';
import type { RecordState, Verification } from './operation.js';
import type { ActiveRow, ActiveRun, Unverified } from './run.js';
import { runRow } from './run-row.js';
import { changedByOther, stepDone } from './step-done.js';
import { unknownOutcome, verifyWrite } from './verify.js';

const firstReadMs = 2_000;

export class PendingVerifications {
  private rows: ActiveRow[] = [];
  private serviceUnresponsive = false;

  constructor(private readonly run: ActiveRun) {}

  get isEmpty(): boolean {
    return this.rows.length === 0;
  }

  /** Adds a row, unless all its writes have an outcome. */
  add(row: ActiveRow): void {
    if (row.unverified) this.rows.push(row);
  }

  /** Ends every write that was not verified as unknown. */
  async endAll(): Promise<void> {
    for (const row of this.rows.splice(0))
      if (row.unverified) await endUnknown(row, row.unverified);
  }

  /** Waits once for all of them: reads early, and again once no write can still take effect, which decides. */
  async verifyAll(): Promise<void> {
    const isLong = this.unverified().some(({ settleMs }) => settleMs > firstReadMs);
    if (isLong && !this.run.isStopped) {
      await this.pauseUntil(() => firstReadMs);
      await this.readPending({ last: false });
    }
    await this.pauseUntil(({ settleMs }) => settleMs);
    await this.readPending({ last: true });
  }

  private unverified(): readonly Unverified[] {
    return this.rows.flatMap(({ unverified }) => unverified ?? []);
  }

  private async pauseUntil(msOf: (pending: Unverified) => number): Promise<void> {
    const { now, sleep, signal, onVerify } = this.run.options;
    const present = now();
    const waits = this.unverified().map((each) => settleTimeLeft([each], msOf(each), present));
    const longest = waits.reduce((most, ms) => Math.max(most, ms), 0);
    if (longest <= 0 || signal.aborted) return;
    onVerify?.(longest);
    await sleep(longest, signal);
  }

  private async readPending({ last }: { readonly last: boolean }): Promise<void> {
    this.serviceUnresponsive = false;
    // A service that stopped answering gets one request at a time, not one for each row.
    const count = this.run.isStopped ? 1 : this.run.options.concurrency;
    const reads = mapConcurrently(this.rows.splice(0), count, async (row) => {
      const { unverified } = row;
      const isSkipped = this.run.isHalted || (this.serviceUnresponsive && !last);
      if (unverified && !isSkipped) {
        row.unverified = undefined;
        await row.guarded(() => this.readAgain(row, unverified, last));
      }
      this.add(row);
    });
    await Promise.all(reads);
  }

  private async readAgain(row: ActiveRow, unverified: Unverified, last: boolean): Promise<void> {
    if (this.serviceUnresponsive) return endUnknown(row, unverified);
    const verification = await verifyWrite(row.session, row.task, unverified);
    if (verification.outcome === 'applied') return foundApplied(row, unverified, verification);
    if (verification.outcome === 'unclear')
      this.serviceUnresponsive = verification.error?.exitName === 'temporary';
    if (!last) {
      row.unverified = unverified;
      return undefined;
    }
    if (verification.outcome === 'unclear') return endUnknown(row, unverified, verification.error);
    if (verification.outcome === 'other')
      return changedByOther(row, verification.step, verification.state);
    return foundNotApplied(row, unverified, verification.state);
  }
}

/** The write was applied: the row is done, or continues with its next step. */
async function foundApplied(
  row: ActiveRow,
  { intent, sent }: Unverified,
  { record, note }: Extract<Verification, { outcome: 'applied' }>,
): Promise<void> {
  if (note !== undefined) row.run.options.note(`${row.task.id}: ${note}.`);
  const step = sent?.step ?? { name: intent.step, changes: changesFrom(intent.before, row) };
  await runRow(
    row,
    await stepDone(row, { step, more: intent.more ?? false }, record, { isFound: true }),
  );
}

/** The changes of an intent that an earlier process recorded. */
function changesFrom(before: JsonObject, { previewed = [] }: ActiveRow): readonly RowChange[] {
  const known = previewed.filter(({ field }) => Object.hasOwn(before, field));
  if (known.length > 0) return known;
  return Object.entries(before).map(([field, from]) => ({ field, from, to: undefined }));
}

/**
 * The record reads as before the write, which can no longer take effect: sends again if allowed.
 * Throws NotAppliedError.
 */
async function foundNotApplied(
  row: ActiveRow,
  unverified: Unverified,
  state: RecordState,
): Promise<void> {
  const { run, session, task } = row;
  const { resource, retries } = run.options;
  if (unverified.kind === 'notShown')
    throw new NotAppliedError(task.id, {
      resource,
      deletes: session.provenByAbsence ?? false,
      ...fieldsShown(unverified, state),
    });
  const mayResend =
    unverified.kind === 'lost' && row.sends <= retries && row.resends < session.resends;
  // A service that does not answer gets no resend; the row was attempted, so its outcome is unknown.
  if (!mayResend || run.isStopped) return endUnknown(row, unverified);
  row.clearInFlight();
  row.resends += 1;
  row.lost = unverified;
  row.intent = undefined;
  await runRow(row, state);
}

/** Which of the sent fields read as before the write, and which as sent. */
function fieldsShown({ sent }: Unverified, { record = {} }: RecordState) {
  const changes = sent?.step.changes ?? [];
  const holds = (side: 'from' | 'to') =>
    changes
      .filter((change) => isSameValue(record[change.field] ?? null, change[side] ?? null))
      .map(({ field }) => field);
  return { unchanged: holds('from'), changed: holds('to') };
}

/** Ends a row as unknown; `unread`: why reading could not tell. */
async function endUnknown(
  row: ActiveRow,
  { kind, error: lost }: Unverified,
  unread?: Failure,
): Promise<void> {
  const { task, run } = row;
  const error = unknownOutcome(lost, unread);
  run.options.onEnd?.(task, { error });
  run.options.session.transfer?.failed(error, task);
  const described = run.options.describeError(error, task.id);
  await row.finish(
    { result: 'unknown', error: described },
    kind === 'lost' ? {} : { applied: true },
  );
}
