/** Executes one row of a run: decide from the read, record the intent, send, confirm, verify. */

import type { JsonObject } from '../data/json.js';
import { exceedsRetryBudget, isProvenNotFound } from '../data/outcome-errors.js';
import { ApiError, Failure, NetworkError, StaleReadError, UnknownOutcomeError } from '../errors.js';
import { isRecent, redactedBefore } from '../runs/state.js';
import {
  beforeAndAfter,
  changedMeanwhile,
  changedRow,
  changesOf,
  decideRow,
  digestIn,
  isNotSent,
} from './decide.js';
import type { RecordState, Sent, Session, Step } from './operation.js';
import {
  type PendingVerification,
  partialResult,
  type RowHost,
  type RowRun,
} from './row-in-progress.js';
import { createdStep, sessionFor } from './row-sessions.js';
import { compareFields, imageOf, vanishedFields, verifySent } from './verify.js';

/** After this many consecutive reads that aged before the write could leave, the row is left for a later run. */
const mostRereads = 3;
/** How far a read may lag behind a write that was answered with the record. */
const lagMs = 1_000;

/** Processes a row from a read to its result, over as many reads and steps as needed. Throws Failure. */
export async function runRow(
  host: RowHost,
  run: RowRun,
  from: RecordState | undefined,
): Promise<void> {
  let state = from;
  while (state) state = await advance(host, run, state);
}

/** Decides from a read and sends the next step; returns the read to continue with, if the row continues. */
async function advance(
  host: RowHost,
  run: RowRun,
  state: RecordState,
): Promise<RecordState | undefined> {
  const { task } = run;
  const { guards, journal, onEnd } = host.options;
  const session = sessionFor(host.options.session, task);
  const plan = await session.plan(task, state);
  run.previewed ??= changesOf(plan);
  run.digest ??= digestIn(plan);
  const decision = decideRow(task, state.record, plan, { guards, ...run });
  const [step] = plan.steps;
  if (!decision.write || !step) {
    onEnd?.(task, { record: state.record });
    if (!decision.write) await host.finish(run, decision.row);
    return undefined;
  }
  if (run.done && step.name === run.done.step) return changedByOther(host, run, step, state);
  const note = async (entry: JsonObject) => {
    await journal.append({ kind: 'step', row: task.row, ...entry });
    host.openGate();
  };
  const prepared = session.transfer ? await session.transfer.prepare(task, step, note) : step;
  const write: Write = { step: prepared, state, more: plan.steps.length > 1 };
  await recordIntent(host, run, write);
  return send(host, run, write);
}

/** A step about to be sent, with the read that it is based on. */
interface Write {
  readonly step: Step;
  readonly state: RecordState;
  /** Another step follows. */
  readonly more: boolean;
}

function intentOf({ step, more }: Write): PendingVerification['intent'] {
  const { name, digest, changes } = step;
  return {
    ...(name !== undefined && { step: name }),
    before: redactedBefore(changes),
    ...(digest !== undefined && { digest }),
    ...(more && { more }),
  };
}

/** Writes the intent and the before-image concurrently, unless the same intent was recorded recently. */
async function recordIntent(host: RowHost, run: RowRun, write: Write): Promise<void> {
  const { row, id, open } = run.task;
  const { journal, images, now } = host.options;
  const session = sessionFor(host.options.session, run.task);
  const intent = intentOf(write);
  const key = JSON.stringify(intent);
  const present = now();
  if (run.intent?.key === key && isRecent(run.intent, present)) return;
  const { step, state } = write;
  const image = images && (session.image ?? imageOf)(step, state);
  const attempt = (open?.attempt ?? 0) + run.sends + 1;
  await Promise.all([
    journal.append({ kind: 'intent', row, id, attempt, ...intent }),
    image && images.append({ row, id, ...(step.name && { step: step.name }), ...image }),
  ]);
  run.intent = { key, t: present.getTime() };
}

async function send(host: RowHost, run: RowRun, write: Write): Promise<RecordState | undefined> {
  const { task } = run;
  const { now, settleMs } = host.options;
  const session = sessionFor(host.options.session, task);
  const { step, state } = write;
  const since = now().getTime();
  // A create does not depend on a read.
  const isFresh = () => state.record === undefined || host.isFresh(state);
  try {
    const sent = await host.sendNext(run, () => session.send(step, task, isFresh));
    if (!sent) {
      await host.finish(run, { row: task.row, id: task.id, result: 'not_attempted' });
      return undefined;
    }
    run.sends += 1;
    return await confirm(host, run, write, sent, since);
  } catch (error) {
    if (error instanceof Failure && isNotSent(error)) return sendLater(host, run, error);
    // A lost delete was applied after all, or someone else deleted the record: it is gone.
    if (session.provenByAbsence && run.resends > 0 && isProvenNotFound(error))
      return stepDone(host, run, write, undefined);
    if (!(error instanceof UnknownOutcomeError)) throw error;
    run.sends += 1;
    host.recordOutcome(error);
    host.verifyLater({
      run,
      kind: error.delivery === 'applied' ? 'unreadable' : 'lost',
      intent: intentOf(write),
      sent: write,
      t: now().getTime(),
      since,
      settleMs: Math.max(settleMs, error.wait * 1000),
      error,
    });
    return undefined;
  }
}

/** Waits and reads the record again, to decide anew. Throws the failure if nothing more may be sent. */
async function sendLater(
  host: RowHost,
  run: RowRun,
  error: Failure,
): Promise<RecordState | undefined> {
  const { retries, sleep, signal, backoff } = host.options;
  host.clearInFlight(run);
  if (error instanceof StaleReadError) {
    run.rereads += 1;
    if (run.rereads > mostRereads) throw error;
  } else {
    run.rereads = 0;
    run.sends += 1;
    const lasts = error instanceof NetworkError && error.details.isPermanent === true;
    if (run.sends > retries || lasts || exceedsRetryBudget(error)) throw error;
    const throttled = error instanceof ApiError;
    const askedWait = throttled ? error.details.wait : undefined;
    await sleep(
      askedWait === undefined ? backoff(run.sends - 1, throttled) : askedWait * 1000,
      signal,
    );
  }
  if (host.isOver) throw error;
  return host.read(run, error instanceof StaleReadError ? 'turn' : 'resend');
}

/** Handles a 2xx answer: the step is done if the answer or a read shows it, else it is verified later. */
async function confirm(
  host: RowHost,
  run: RowRun,
  write: Write,
  { answer, record, sign }: Sent,
  since: number,
): Promise<RecordState | undefined> {
  const { note, now, instant, settleMs } = host.options;
  const session = sessionFor(host.options.session, run.task);
  const { step, state } = write;
  const { id } = run.task;
  if (session.confirm)
    return stepDone(
      host,
      run,
      write,
      await session.confirm(step, run.task, { answer, record, sign }),
    );
  const isShown =
    record !== undefined &&
    sign === undefined &&
    !session.provenByAbsence &&
    showsChanges(session, step, record);
  if (isShown) return stepDone(host, run, write, record);
  const verification = await verifySent(session, run.task, step, state.record);
  if (verification.outcome === 'applied') {
    // Refused because the record already had the target values: our write did not change it.
    if (sign && sign.status >= 400 && run.sends === 1)
      return { record: verification.record, at: instant() };
    if (sign)
      note(`${id}: done, although the service answered: ${sign.details.message ?? sign.code}.`);
    else if (verification.note !== undefined) note(`${id}: ${verification.note}.`);
    return stepDone(host, run, write, verification.record);
  }
  if (sign) throw sign;
  if (verification.outcome === 'unclear') {
    note(`${id}: done, but reading it again failed: ${verification.error?.message ?? 'no record'}`);
    return stepDone(host, run, write, record);
  }
  if (verification.outcome === 'other')
    return changedByOther(host, run, verification.step, verification.state);
  host.verifyLater({
    run,
    kind: answer.status === 202 ? 'accepted' : 'notShown',
    intent: intentOf(write),
    sent: write,
    t: now().getTime(),
    since,
    // A record in the answer proves that the service processed the write; read lag is short.
    settleMs: record ? Math.min(lagMs, settleMs) : settleMs,
  });
  return undefined;
}

/** True if a record shows what the step changed; one without the fields (`{id}`) shows nothing. */
function showsChanges({ compare }: Session, step: Step, record: JsonObject): boolean {
  if (compare) return compare(step, record) === 'reached';
  const isThere = step.changes.every(({ field }) => Object.hasOwn(record, field));
  return isThere && compareFields(step, record) === 'reached';
}

/** Records a confirmed step: the row ends, or continues with its next step. */
export async function stepDone(
  host: RowHost,
  run: RowRun,
  { step, more }: Pick<Write, 'step' | 'more'>,
  record: JsonObject | undefined,
): Promise<RecordState | undefined> {
  const { task } = run;
  const { journal, images, onEnd, note } = host.options;
  const session = sessionFor(host.options.session, task);
  const values = beforeAndAfter(step.changes);
  if (more && step.name !== undefined) {
    run.done = { step: step.name, before: values.before ?? {}, after: values.after ?? {} };
    run.intent = undefined;
    await journal.append({ kind: 'done', row: task.row, ...run.done });
    host.recordOutcome('changed');
    host.clearInFlight(run);
    return host.read(run);
  }
  if (record) await session.transfer?.confirm(task, record);
  const image = record && images && session.imageAfter?.(record);
  if (image) await images?.append({ row: task.row, id: task.id, ...image });
  const refusal = record && session.refusal?.(record, task);
  if (refusal) {
    run.done = { step: createdStep, before: {}, after: session.made?.(record) ?? {} };
    await journal.append({ kind: 'done', row: task.row, ...run.done });
    host.clearInFlight(run);
    throw refusal;
  }
  onEnd?.(task, { record });
  const row = changedRow(task, values, run.done, record && session.made?.(record));
  const vanished = record ? vanishedFields(step, record) : [];
  if (vanished.length > 0)
    note(
      `${task.id}: the service no longer shows ${vanished.join(', ')}; the route replaces the whole record.`,
    );
  host.finishInBackground(run, vanished.length > 0 ? { ...row, vanished } : row);
  return undefined;
}

/** Ends a row as a conflict: its record holds neither the values before our write nor those written. */
export async function changedByOther(
  host: RowHost,
  run: RowRun,
  step: Step,
  state: RecordState,
): Promise<undefined> {
  const { row, id } = run.task;
  const { before } = beforeAndAfter(step.changes);
  host.options.onEnd?.(run.task, { record: state.record });
  await host.finish(run, {
    row,
    id,
    result: 'conflict',
    ...(before && { before }),
    ...partialResult(run),
    error: changedMeanwhile(
      'It was changed by someone else while the outcome of our write was open.',
    ),
  });
  return undefined;
}
