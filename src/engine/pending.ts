/** Verifies the writes of a run whose outcome is unknown: they wait together, then each record is read again. */

import { mapConcurrently } from '../data/concurrency.js';
import type { JsonObject } from '../data/json.js';
import { NotAppliedError } from '../data/outcome-errors.js';
import { isSameValue } from '../data/sorting.js';
import type { Failure } from '../errors.js';
import type { RowChange } from '../runs/report.js';
import { settleTimeLeft } from '../runs/state.js';
import type { RecordState, Step, Verification } from './operation.js';
import {
  type PendingVerification,
  partialResult,
  type RowHost,
  type RowRun,
} from './row-in-progress.js';
import { sessionFor } from './row-sessions.js';
import { changedByOther, runRow, stepDone } from './run-row.js';
import { unknownOutcome, verifyLost, verifySent } from './verify.js';

const firstReadMs = 2_000;

/** The parts of a run that verifications need. */
interface Host extends RowHost {
  /** A signal arrived, or the report is complete. */
  readonly isHalted: boolean;
  /** Runs part of a row's work; a failure becomes the row's result. */
  guarded(run: RowRun, part: () => Promise<void>): Promise<void>;
}

export class PendingVerifications {
  private pending: PendingVerification[] = [];
  private serviceUnresponsive = false;

  constructor(private readonly host: Host) {}

  get isEmpty(): boolean {
    return this.pending.length === 0;
  }

  add(pending: PendingVerification): void {
    this.pending.push(pending);
  }

  /** Ends every write that was not verified as unknown. */
  async endAll(): Promise<void> {
    for (const pending of this.pending.splice(0)) await endUnknown(this.host, pending);
  }

  /** Waits once for all of them: reads early, and again once no write can still take effect, which decides. */
  async verifyAll(): Promise<void> {
    const longest = this.pending.reduce((most, { settleMs }) => Math.max(most, settleMs), 0);
    if (firstReadMs < longest && !this.host.isStopped) {
      await this.pauseUntil(() => firstReadMs);
      await this.readPending({ last: false });
    }
    await this.pauseUntil(({ settleMs }) => settleMs);
    await this.readPending({ last: true });
  }

  private async pauseUntil(msOf: (pending: PendingVerification) => number): Promise<void> {
    const { now, sleep, signal, onVerify } = this.host.options;
    const present = now();
    const waits = this.pending.map((each) => settleTimeLeft([each], msOf(each), present));
    const longest = waits.reduce((most, ms) => Math.max(most, ms), 0);
    if (longest <= 0 || signal.aborted) return;
    onVerify?.(longest);
    await sleep(longest, signal);
  }

  private async readPending({ last }: { readonly last: boolean }): Promise<void> {
    this.serviceUnresponsive = false;
    // A service that stopped answering gets one request at a time, not one for each row.
    const count = this.host.isStopped ? 1 : this.host.options.concurrency;
    const reads = mapConcurrently(this.pending.splice(0), count, async (pending) => {
      if (this.host.isHalted || (this.serviceUnresponsive && !last)) this.add(pending);
      else await this.host.guarded(pending.run, () => this.readAgain(pending, last));
    });
    await Promise.all(reads);
  }

  private async readAgain(pending: PendingVerification, last: boolean): Promise<void> {
    if (this.serviceUnresponsive) return endUnknown(this.host, pending);
    const verification = await verifyPending(this.host, pending);
    if (verification.outcome === 'applied') return foundApplied(this.host, pending, verification);
    if (verification.outcome === 'unclear')
      this.serviceUnresponsive = verification.error?.exitName === 'temporary';
    if (!last) return this.add(pending);
    if (verification.outcome === 'unclear')
      return endUnknown(this.host, pending, verification.error);
    if (verification.outcome === 'other')
      return changedByOther(this.host, pending.run, verification.step, verification.state);
    return foundNotApplied(this.host, pending, verification.state);
  }
}

/** Reads whether a write was applied. */
function verifyPending(
  { options }: Pick<RowHost, 'options'>,
  { run: { task }, kind, sent, since, intent }: PendingVerification,
): Promise<Verification> {
  const session = sessionFor(options.session, task);
  if (session.verify) return session.verify(task, sent?.step, since);
  const isAnswered = kind === 'notShown' || kind === 'accepted';
  if (isAnswered && sent) return verifySent(session, task, sent.step, sent.state.record);
  return verifyLost(session, task, intent, sent?.step);
}

/** The write was applied: the row is done, or continues with its next step. */
async function foundApplied(
  host: RowHost,
  { run, intent, sent }: PendingVerification,
  { record, note }: Extract<Verification, { outcome: 'applied' }>,
): Promise<void> {
  if (note !== undefined) host.options.note(`${run.task.id}: ${note}.`);
  const step = sent?.step ?? { name: intent.step, changes: changesFrom(intent.before, run) };
  const next = await stepDone(
    host,
    run,
    { step: step as Step, more: intent.more ?? false },
    record,
  );
  await runRow(host, run, next);
}

/** The changes of an intent that an earlier process recorded. */
function changesFrom(before: JsonObject, { previewed = [] }: RowRun): readonly RowChange[] {
  const known = previewed.filter(({ field }) => Object.hasOwn(before, field));
  if (known.length > 0) return known;
  return Object.entries(before).map(([field, from]) => ({ field, from, to: undefined }));
}

/**
 * The record reads as before the write, which can no longer take effect: sends again if allowed.
 * Throws NotAppliedError.
 */
async function foundNotApplied(
  host: RowHost,
  pending: PendingVerification,
  state: RecordState,
): Promise<void> {
  const { run, kind } = pending;
  const { resource, retries } = host.options;
  const session = sessionFor(host.options.session, run.task);
  const { id } = run.task;
  if (kind === 'notShown')
    throw new NotAppliedError(id, {
      resource,
      deletes: session.provenByAbsence ?? false,
      ...fieldsShown(pending, state),
    });
  const mayResend = kind === 'lost' && run.sends <= retries && run.resends < session.resends;
  // A service that does not answer gets no resend; the row was attempted, so its outcome is unknown.
  if (!mayResend || host.isStopped) return endUnknown(host, pending);
  host.clearInFlight(run);
  run.resends += 1;
  run.intent = undefined;
  await runRow(host, run, state);
}

/** Which of the sent fields read as before the write, and which as sent. */
function fieldsShown({ sent }: PendingVerification, { record = {} }: RecordState) {
  const changes = sent?.step.changes ?? [];
  const holds = (side: 'from' | 'to') =>
    changes
      .filter((change) => isSameValue(record[change.field] ?? null, change[side] ?? null))
      .map(({ field }) => field);
  return { unchanged: holds('from'), changed: holds('to') };
}

/** Ends a row as unknown; `unread`: why reading could not tell. */
async function endUnknown(
  host: RowHost,
  { run, kind, error: lost }: PendingVerification,
  unread?: Failure,
): Promise<void> {
  const { row, id } = run.task;
  const error = unknownOutcome(lost, unread);
  host.options.onEnd?.(run.task, { error });
  host.options.session.transfer?.failed(error, run.task);
  const details = { ...partialResult(run), error: host.options.describeError(error, id) };
  await host.finish(
    run,
    { row, id, result: 'unknown', ...details },
    kind === 'lost' ? {} : { applied: true },
  );
}
