/** Ends what a row sent: a confirmed step, the form in which the service stored it, or a conflict. */

import type { JsonObject } from '../data/json.js';
import { isSameValue } from '../data/sorting.js';
import { OutputError } from '../errors.js';
import { beforeAndAfter, changedEnd, conflictEnd } from './decide.js';
import type { BeforeValues, KnownStep, RecordState } from './operation.js';
import type { ActiveRow, ActiveRun } from './run.js';
import type { Write } from './verify.js';

/** The done step of a row whose record was created and then refused. */
const createdStep = 'created';

/** Records a confirmed step: the row ends, or continues with its next step. */
export async function stepDone(
  row: ActiveRow,
  { step, more }: { readonly step: KnownStep; readonly more: boolean },
  record: JsonObject | undefined,
  { isFound = false } = {},
): Promise<RecordState | undefined> {
  const { run, task, session } = row;
  const { images, note } = run.options;
  const values = beforeAndAfter(step.changes);
  if (more && step.name !== undefined) {
    await row.recordDone({ step: step.name, ...values });
    run.breaker.recordResult('changed', true);
    return row.read();
  }
  if (record && session.transfer) await session.transfer.checkCreated(task, record);
  const sentBody = step.call?.body ?? {};
  const image = record && images && session.imageAfter?.(record, { sent: sentBody, isFound });
  if (image) await keepCreated(row, image);
  const made = session.made?.(record);
  const refusal = record && session.refusal?.(record, task);
  if (refusal) {
    await row.recordDone({ step: createdStep, before: {}, after: made ?? {} });
    throw refusal;
  }
  // A session that makes another record checks that record itself.
  if (record && !session.made) noteUnshown(run, step, record);
  const end = changedEnd(task, values, row.done, made);
  const vanished = record
    ? Object.keys(step.replaces ?? {}).filter((field) => !Object.hasOwn(record, field))
    : [];
  if (vanished.length > 0)
    note(
      `${task.id}: the service no longer shows ${vanished.join(', ')}; a PUT may replace the whole record.`,
    );
  row.finishInBackground(vanished.length > 0 ? { ...end, vanished } : end, { record });
  return undefined;
}

/** Stores what an undo of a create needs; on a full disk the row stays done, and no other is sent. */
async function keepCreated({ run, task }: ActiveRow, image: BeforeValues): Promise<void> {
  const { images, message } = run.options;
  try {
    await images?.append({ row: task.row, id: task.id, ...image });
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    run.breaker.recordFailure(error, true);
    const id = String(image.after?.['id']);
    message(`${id} was created, but runs undo cannot delete it. ${error.message}`);
  }
}

function noteUnshown({ options, unshown }: ActiveRun, { changes }: KnownStep, record: JsonObject) {
  for (const { field, to } of changes) {
    if (to === null || to === undefined || Object.hasOwn(record, field) || unshown.has(field))
      continue;
    unshown.add(field);
    options.note(unshownNote(field));
  }
}

/** The note about a field that was sent and that the record does not have afterwards. */
export function unshownNote(field: string): string {
  return `The service does not show ${field}, so it is not known whether it was stored.`;
}

/** Ends a row as a conflict: its record holds neither the values before our write nor those written. */
export async function endInConflict(
  row: ActiveRow,
  step: KnownStep,
  state: RecordState,
): Promise<undefined> {
  const { before } = beforeAndAfter(step.changes);
  const message = 'It was changed again before the outcome of this change was known.';
  const end = conflictEnd(message, { before });
  await row.finish(end, { record: state.record });
}

/** Records in the before-image how the service stored the values, so that an undo recognizes them. */
export async function keepOwnForm(
  { run, task }: ActiveRow,
  { step, image }: Write,
  record: JsonObject,
): Promise<void> {
  const isOwn = step.changes.some(({ field, to }) => !isSameValue(record[field] ?? null, to));
  if (image?.kind !== 'fields' || !isOwn) return;
  const { row, id } = task;
  const after = Object.fromEntries(step.changes.map(({ field }) => [field, record[field]]));
  await run.options.images?.append({ row, id, step: step.name, ...image, after });
}
