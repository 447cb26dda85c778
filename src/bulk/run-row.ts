/** One row of a run: decide by what was read, record the intent, send, confirm, verify. */
import { exceedsRetryBudget, isProvenNotFound } from '../data/outcome-errors.js';
import type { JsonObject } from '../data/json.js';
import { ApiError, Failure, NetworkError, StaleReadError, UnknownOutcomeError } from '../errors.js';
import {
  beforeAndAfter,
  changedMeanwhile,
  changedRow,
  changesOf,
  decideRow,
  digestIn,
} from './decide.js';
import type { RecordState, Sent, Step } from './operation.js';
import { redactedBefore, isRecent } from './run-state.js';
import {
  compareFields,
  partialResult,
  imageOf,
  type PendingVerification,
  type RowHost,
  type RowRun,
  vanishedFields,
  verifySent,
} from './verify.js';

/** A service may change a record so often that no read stays fresh; then the row is left for later. */
const mostRereads = 3;
/** A read may lag behind a write that was answered with the record. */
const lagMs = 1_000;

/** From a read to the row's result, over as many reads and steps as it takes. Throws Failure. */
export async function runRow(
  host: RowHost,
  run: RowRun,
  from: RecordState | undefined,
): Promise<void> {
  let state = from;
  while (state) state = await advance(host, run, state);
}

/** Decides by what was read and sends what is due; gives the read to go on with, if the row goes on. */
async function advance(
  host: RowHost,
  run: RowRun,
  state: RecordState,
): Promise<RecordState | undefined> {
  const { task } = run;
  const { session, guards, journal, onEnd } = host.options;
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
  const ready = session.transfer ? await session.transfer.prepare(task, step, note) : step;
  const write: Write = { step: ready, state, more: plan.steps.length > 1 };
  await recordIntent(host, run, write);
  return send(host, run, write);
}

/** A step about to be sent, by what was read. */
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

/** The intent and the before-image, in one wait. What stands on disk since not long ago is not written again. */
async function recordIntent(host: RowHost, run: RowRun, write: Write): Promise<void> {
  const { row, id, open } = run.task;
  const { journal, images, session, now } = host.options;
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
  const { session, now, settleMs } = host.options;
  const { step, state } = write;
  const since = now().getTime();
  // What is created depends on no read.
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
    // A delete that was lost got there after all, or somebody was faster: the record is gone.
    if (session.provenByAbsence && run.resends > 0 && isProvenNotFound(error))
      return stepDone(host, run, write, undefined);
    if (!(error instanceof UnknownOutcomeError)) throw error;
    run.sends += 1;
    host.heard(error);
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

/** Nothing left, or the service did nothing (429). */
function isNotSent(error: Failure): boolean {
  if (error instanceof StaleReadError) return true;
  if (error instanceof NetworkError) return error.details.delivery === 'not-sent';
  return error instanceof ApiError && error.status === 429;
}

/** After a wait the record is read and judged again. Throws the failure where nothing more may be sent. */
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
    const lasts = error instanceof NetworkError && error.details.lasts === true;
    if (run.sends > retries || lasts || exceedsRetryBudget(error)) throw error;
    const throttled = error instanceof ApiError;
    const asked = throttled ? error.details.wait : undefined;
    await sleep(asked === undefined ? backoff(run.sends - 1, throttled) : asked * 1000, signal);
  }
  if (host.isOver) throw error;
  return host.read(run, error instanceof StaleReadError ? 'turn' : 'resend');
}

/** What a success comes to: done where the answer or a read shows it. */
async function confirm(
  host: RowHost,
  run: RowRun,
  write: Write,
  { answer, record, sign }: Sent,
  since: number,
): Promise<RecordState | undefined> {
  const { session, note, now, instant, settleMs } = host.options;
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
    (session.compare ?? compareFields)(step, record) === 'reached';
  if (isShown) return stepDone(host, run, write, record);
  const seen = await verifySent(session, run.task, step, state.record);
  if (seen.outcome === 'applied') {
    // Refused because it was so already: no write of ours did it.
    if (sign && sign.status >= 400 && run.sends === 1)
      return { record: seen.record, at: instant() };
    if (sign)
      note(`${id}: done, although the service answered: ${sign.details.message ?? sign.code}.`);
    else if (seen.note !== undefined) note(`${id}: ${seen.note}.`);
    return stepDone(host, run, write, seen.record);
  }
  if (sign) throw sign;
  if (seen.outcome === 'unclear') {
    note(`${id}: done, but reading it again failed: ${seen.error?.message ?? 'no record'}`);
    return stepDone(host, run, write, record);
  }
  if (seen.outcome === 'other') return changedByOther(host, run, seen.step, seen.state);
  host.verifyLater({
    run,
    kind: answer.status === 202 ? 'accepted' : 'notShown',
    intent: intentOf(write),
    sent: write,
    t: now().getTime(),
    since,
    // A record in the answer says that the service dealt with it; a read that lags is soon over.
    settleMs: record ? Math.min(lagMs, settleMs) : settleMs,
  });
  return undefined;
}

/** A step was written and confirmed: the row ends, or goes on with its next step. */
export async function stepDone(
  host: RowHost,
  run: RowRun,
  { step, more }: Pick<Write, 'step' | 'more'>,
  record: JsonObject | undefined,
): Promise<RecordState | undefined> {
  const { task } = run;
  const { session, journal, images, onEnd, note } = host.options;
  const moves = beforeAndAfter(step.changes);
  if (more && step.name !== undefined) {
    run.done = { step: step.name, before: moves.before ?? {}, after: moves.after ?? {} };
    run.intent = undefined;
    await journal.append({ kind: 'done', row: task.row, ...run.done });
    host.heard('changed');
    host.clearInFlight(run);
    return host.read(run);
  }
  if (record) await session.transfer?.confirm(task, record);
  const image = record && images && session.imageAfter?.(record);
  if (image) await images?.append({ row: task.row, id: task.id, ...image });
  onEnd?.(task, { record });
  const row = changedRow(task, moves, run.done, record && session.made?.(record));
  const vanished = record ? vanishedFields(step, record) : [];
  if (vanished.length > 0)
    note(
      `${task.id}: the service no longer shows ${vanished.join(', ')}; the route replaces the whole record.`,
    );
  host.finishBehind(run, vanished.length > 0 ? { ...row, vanished } : row);
  return undefined;
}

/** It holds neither what stood there before our write nor what was written. */
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
