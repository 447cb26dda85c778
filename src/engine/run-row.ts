/** Executes one row of a run: decide from the read, record the intent, send, verify. */

import type { JsonObject } from '../data/json.js';
import { exceedsRetryBudget, isProvenNotFound } from '../data/outcome-errors.js';
import { inTime, lagMs, lagPauses } from '../data/time.js';
import {
  ApiError,
  CancelledError,
  Failure,
  NetworkError,
  StaleReadError,
  UnknownOutcomeError,
} from '../errors.js';
import { redactedBefore } from '../runs/journal.js';
import type { DoneStep } from '../runs/report.js';
import { changesOf, decideRow, digestIn, hadNoEffect, isAsBefore } from './decide.js';
import type { RecordState, Sent, Session, Step, Verification } from './operation.js';
import type { ActiveRow } from './run.js';
import { endInConflict, keepOwnForm, stepDone } from './step-done.js';
import { compareFields, imageOf, type Unverified, verifyWrite, type Write } from './verify.js';

/** After this many consecutive reads that aged before the write could leave, the row is left for a later run. */
const mostRereads = 3;

/** A read of a change that a signal stopped. */
const interruptedRead: Verification = {
  outcome: 'unclear',
  error: new CancelledError('Interrupted.'),
};

/** Processes a row at its turn, up to its result or to a write that has to be verified. */
export async function beginRow(row: ActiveRow): Promise<void> {
  const { run, task, session } = row;
  const isProven = () => run.phase !== 'sending' || (session.isProven?.() ?? true);
  const endTurn = await run.gate.enter(isProven);
  await row.guarded(async () => {
    if (run.phase !== 'sending') return;
    const others = await row.lockRecord();
    const { previewState: preview } = task;
    const isUsable = preview !== undefined && run.isFresh(preview);
    if (preview?.record && !isUsable) row.digest = digestIn(await session.plan(task, preview));
    await runRow(row, isUsable ? preview : await row.read(others ? 'resend' : 'turn'));
  });
  // Not earlier, because the answer may stop the run.
  endTurn?.();
}

/** Processes a row from a read, over as many reads and steps as needed. Throws Failure. */
export async function runRow(row: ActiveRow, from: RecordState | undefined): Promise<void> {
  let state = from;
  while (state) state = await advance(row, state);
}

/** Decides from a read and sends the next step; returns the read to continue with, if the row continues. */
async function advance(row: ActiveRow, state: RecordState): Promise<RecordState | undefined> {
  const { run, task, session } = row;
  const { guards, journal } = run.options;
  const plan = await session.plan(task, state);
  row.previewed ??= changesOf(plan);
  row.digest ??= digestIn(plan);
  const { previewed, digest, done } = row;
  const decided = decideRow(task, state.record, plan, { guards, previewed, digest, done });
  const [step] = plan.steps;
  if (decided?.result === 'changed')
    run.options.note(`${task.id}: the rest was already done, but not by this run.`);
  if (decided) await row.finish(decided, { record: state.record });
  if (decided || !step) return undefined;
  if (done && step.name === done.step)
    return (await readAfterLag(row, done, step)) ?? endInConflict(row, step, state);
  const note = async (entry: JsonObject) => {
    await journal.append({ kind: 'step', row: task.row, ...entry });
    // A step before the write was answered: other rows may start.
    run.gate.open();
  };
  const prepared = session.transfer ? await session.transfer.prepare(task, step, note) : step;
  const image = imageOf(session, prepared, state);
  const write: Write = { step: prepared, state, image, more: plan.steps.length > 1 };
  await recordIntent(row, write);
  return send(row, write);
}

/** Reads again if a read that lags behind a finished step may explain what it shows. */
async function readAfterLag(row: ActiveRow, { before }: DoneStep, { changes }: Step) {
  const { sleep, signal } = row.run.options;
  const pauseMs = lagPauses[row.lagReads];
  if (pauseMs === undefined || !isAsBefore(before, changes)) return undefined;
  row.lagReads += 1;
  await sleep(pauseMs, signal);
  return row.read('resend');
}

function intentOf({ step, more }: Write): Unverified['intent'] {
  const { name, digest, changes } = step;
  return { step: name, before: redactedBefore(changes), digest, more: more || undefined };
}

async function recordIntent({ run, task, sends }: ActiveRow, write: Write): Promise<void> {
  const { journal, images } = run.options;
  const { step, image } = write;
  const { row: number, id } = task;
  const attempt = (task.open?.attempt ?? 0) + sends + 1;
  // Both, before the row can end: a result ahead of its intent would leave that open.
  const written = await Promise.allSettled([
    journal.append({ kind: 'intent', row: number, id, attempt, ...intentOf(write) }),
    image && images?.append({ row: number, id, step: step.name, ...image }),
  ]);
  for (const each of written) if (each.status === 'rejected') throw each.reason;
}

async function send(row: ActiveRow, write: Write): Promise<RecordState | undefined> {
  const { run, task, session } = row;
  const { now, settleMs } = run.options;
  const { step, state } = write;
  const since = now().getTime();
  const isFresh = () => run.isFresh(state);
  let isAnswered = false;
  try {
    // Ahead of rows waiting to be read.
    const sent = await run.semaphore.within({ first: true }, async () => {
      row.throwIfOver();
      row.lastWrite = { phase: 'sent', lost: row.lastWrite.lost };
      return session.send(step, task, isFresh);
    });
    row.sends += 1;
    isAnswered = true;
    row.lastWrite = { phase: 'sent' };
    return await handleSuccess(row, write, sent, since);
  } catch (error) {
    if (error instanceof Failure && hadNoEffect(error)) return sendLater(row, error);
    // A lost delete was applied after all, or someone else deleted the record: it is gone.
    if (session.provenByAbsence && row.resends > 0 && isProvenNotFound(error))
      return stepDone(row, write, undefined);
    if (!(error instanceof UnknownOutcomeError)) throw error;
    // The service answered; only the reads do not show the new record yet.
    if (isAnswered) run.breaker.recordResult('unknown', true);
    else {
      row.sends += 1;
      run.breaker.recordFailure(error, true);
    }
    const settles = Math.max(settleMs, error.wait * 1000);
    const kind = error.delivery === 'applied' ? 'unreadable' : 'lost';
    return verifyLater(row, write, { kind, since, settleMs: settles, error });
  }
}

function verifyLater(
  row: ActiveRow,
  write: Write,
  how: Pick<Unverified, 'kind' | 'since' | 'settleMs' | 'error'>,
): undefined {
  const sentAt = row.run.options.instant().mono;
  const unverified = { ...how, intent: intentOf(write), sent: write, sentAt };
  row.lastWrite = { phase: 'unverified', unverified };
}

/**
 * Waits and reads the record again, to decide from what it holds now. A lost write is verified again
 * first, because it may have taken effect meanwhile. Throws the failure if nothing more may be sent.
 */
async function sendLater(row: ActiveRow, error: Failure): Promise<RecordState | undefined> {
  const { retries, sleep, signal, backoff } = row.run.options;
  const { lost } = row.lastWrite;
  row.lastWrite = { phase: 'settled', lost };
  if (error instanceof StaleReadError) {
    row.rereads += 1;
    if (row.rereads > mostRereads) throw error;
  } else {
    row.rereads = 0;
    row.sends += 1;
    const lasts = error instanceof NetworkError && error.details.isPermanent === true;
    if (row.sends > retries || lasts || exceedsRetryBudget(error)) throw error;
    const throttled = error instanceof ApiError;
    const wait = throttled ? error.details.wait : undefined;
    await sleep(wait === undefined ? backoff(row.sends - 1, throttled) : wait * 1000, signal);
  }
  if (row.run.phase !== 'sending') throw error;
  if (lost) {
    row.lastWrite = { phase: 'unverified', unverified: lost };
    row.resends -= 1;
    return undefined;
  }
  return row.read(error instanceof StaleReadError ? 'turn' : 'resend');
}

/** Handles a 2xx answer: the step is done if the answer or a read shows it, else it is verified later. */
async function handleSuccess(row: ActiveRow, write: Write, sent: Sent, since: number) {
  const { task, session } = row;
  const { note, instant, settleMs, signal } = row.run.options;
  const { step } = write;
  const { answer, record, sign } = sent;
  if (session.checkSuccess)
    return stepDone(row, write, await session.checkSuccess(step, task, sent));
  if (record && !sign && !session.provenByAbsence && showsChanges(session, step, record)) {
    await keepOwnForm(row, write, record);
    return stepDone(row, write, record);
  }
  const open = { kind: 'notShown', intent: intentOf(write), sent: write, since } as const;
  const read = row.withinRead({ first: true }, () => verifyWrite(session, task, open));
  const found = (await inTime(read, signal)) ?? interruptedRead;
  if (found.outcome === 'applied') {
    if (sign && hidesChanges(session, step, found.record)) throw sign;
    // Refused because the record already had the target values: our write did not change it.
    if (sign && sign.status >= 400 && row.resends === 0)
      return { record: found.record, at: instant() };
    const remark = sign ? `done, although the service answered: ${sign.said}` : found.note;
    if (remark !== undefined) note(`${task.id}: ${remark}.`);
    return stepDone(row, write, found.record);
  }
  // A success that says no is believed only if a read does not contradict it.
  if (sign && (sign.status >= 400 || found.outcome !== 'unclear')) throw sign;
  if (found.outcome === 'other') return endInConflict(row, step, found.state);
  const isAccepted = answer.status === 202;
  const isDoubtful = sign || isAccepted || (record && showsOldValues(session, step, record));
  if (found.outcome === 'unclear' && !isDoubtful) {
    note(`${task.id}: done, but reading it again failed: ${found.error?.message ?? 'no record'}`);
    return stepDone(row, write, record);
  }
  return verifyLater(row, write, {
    kind: isAccepted ? 'accepted' : 'notShown',
    since,
    // A record in the answer proves that the service processed the write; read lag is short.
    settleMs: record ? Math.min(lagMs, settleMs) : settleMs,
    error: sign,
  });
}

/** True if a record shows none of the changes, so that it does not contradict a refusal. */
function hidesChanges(session: Session, { changes }: Step, record: JsonObject | undefined) {
  // A conversion shows its player, none of the fields sent; a deleted record shows nothing.
  if (!record || session.made || session.provenByAbsence) return false;
  return changes.every(({ field, from = null, to }) => {
    const isRemoved = to === null && from !== null;
    return !Object.hasOwn(record, field) && !isRemoved;
  });
}

/** True if an answer shows what the record held before; a deleted record says nothing of its end. */
function showsOldValues({ compare, provenByAbsence }: Session, step: Step, record: JsonObject) {
  return !provenByAbsence && (compare ?? compareFields)(step, record) === 'notApplied';
}

/** True if a record shows what the step changed; one without the fields (`{id}`) shows nothing. */
function showsChanges({ compare }: Session, step: Step, record: JsonObject): boolean {
  if (compare) return compare(step, record) === 'applied';
  const isThere = step.changes.every(({ field }) => Object.hasOwn(record, field));
  return isThere && compareFields(step, record) === 'applied';
}
