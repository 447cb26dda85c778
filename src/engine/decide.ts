/** Decides from a freshly read record whether its row is written, and which result a failure gives a row. */

import { fieldLabel, fieldNamed } from '../cli/lists/labels.js';
import type { JsonObject } from '../data/json.js';
import { isExhausted } from '../data/outcome-errors.js';
import { plainText } from '../data/path.js';
import { compareDecimals, isUnchanged } from '../data/sorting.js';
import { momentOf } from '../data/time.js';
import { type Condition, matchesCondition } from '../data/where.js';
import {
  ApiError,
  type Failure,
  GuardError,
  NetworkError,
  StaleReadError,
  UnknownOutcomeError,
  wrongRoute,
} from '../errors.js';
import { hashOf, isNote } from '../runs/journal.js';
import type {
  DoneStep,
  ReportRow,
  RowChange,
  RowEnd,
  RowResult,
  SelectedRow,
} from '../runs/report.js';
import type { RowPlan } from './operation.js';

/** Conditions for changing a row at all (`--if-status`, `--if`). */
export interface Guards {
  readonly ifStatus?: readonly string[] | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** The facts about a row that its record does not hold. */
interface RowContext {
  readonly guards: Guards;
  /** The changes that the preview found; undefined: this is the first read. */
  readonly previewed: readonly RowChange[] | undefined;
  /** Digest of the entire record as first read, if the write affects all of it. */
  readonly digest?: string | undefined;
  /** The first step if it is done: guards are not checked again after it. */
  readonly done?: DoneStep | undefined;
}

/**
 * Returns how a row ends without a write; undefined: it is to be written. Checks, in this order: the
 * plan skips the row; nothing to change; the plan found a conflict; a guard does not hold; the record
 * changed since the preview, the first read or the export.
 */
export function decideRow(
  row: SelectedRow,
  record: JsonObject | undefined,
  plan: RowPlan,
  { guards, previewed, digest, done }: RowContext,
): RowEnd | undefined {
  const changes = changesOf(plan);
  if (plan.skipped) {
    const { id, ...reason } = plan.skipped;
    return {
      result: 'skipped',
      ...(id !== undefined && { after: { id } }),
      error: { kind: 'guard', ...reason },
    };
  }
  if (changes.length === 0)
    return done
      ? { result: 'changed', before: done.before, after: done.after }
      : { result: 'unchanged', ...(plan.made && { after: plan.made }) };
  if (plan.conflict) return fieldConflict({ ...plan.conflict, from: plan.conflict.from ?? null });
  const skipped = done ? undefined : skippedBy(row, record, guards);
  if (skipped) return { result: 'skipped', ...skipped };
  const conflicting = previewed && conflictingField(previewed, changes);
  if (conflicting) return fieldConflict(conflicting);
  // A plan file holds the digest of a record that has no time of its last change.
  const asRead = row.own?.['digest'] ?? digest;
  if (asRead !== undefined && digestIn(plan) !== asRead)
    return conflictEnd('Someone else changed it after it was read.', beforeAndAfter(changes));
  const moved = done ? undefined : unexpectedField(row, record);
  if (moved) return fieldConflict(moved);
  const exported = row.own?.['updatedAt'];
  if (!done && typeof exported === 'string' && !isSameTime(exported, record))
    return conflictEnd(
      isRewritten(exported, record) ? rewrittenTime : changedSinceExport(changes),
      beforeAndAfter(changes),
    );
  return undefined;
}

/** `message`: what to say in place of who changed the field. */
function fieldConflict({ field, from, message }: NonNullable<RowPlan['conflict']>): RowEnd {
  const changed =
    field === 'status'
      ? `The status is now ${plainText(from) || 'empty'}: someone else changed it.`
      : `Someone else changed the field ${fieldLabel(field)}.`;
  return conflictEnd(message ?? changed, { before: { [field]: from } });
}

/** All changes of a plan, over all its steps. */
export function changesOf({ steps }: RowPlan): readonly RowChange[] {
  return steps.flatMap(({ changes }) => changes);
}

/** Digest of the entire record, if the row's write affects all of it. */
export function digestIn({ steps }: RowPlan): string | undefined {
  return steps[0]?.digest;
}

/** The message for a rewritten time, which proves neither a change nor that there is none. */
const rewrittenTime =
  'Cannot tell whether it changed since your export: a program rewrote updatedAt in your file. Leave that column as it was exported, or remove it.';

/** The message for a record that is newer than the export. It shows no value but the status, which is never secret. */
function changedSinceExport(changes: readonly RowChange[]): string {
  const status = changes.find(({ field }) => field === 'status');
  const values = status && `: now ${plainText(status.from)}, yours says ${plainText(status.to)}`;
  return `Changed since your export${values ?? ''}.`;
}

/** The first field that holds neither its previewed value nor its target. */
function conflictingField(previewed: readonly RowChange[], now: readonly RowChange[]) {
  return now.find((change) => {
    if (change.adds !== undefined) return false;
    const before = previewed.find((other) => other.field === change.field);
    return !before || !standsFor(before.from, change.from);
  });
}

/** The first value that the row relied on in its preview, and that the record no longer has. */
function unexpectedField({ own }: SelectedRow, record: JsonObject = {}) {
  const expected = Object.entries((own?.['expects'] ?? {}) as JsonObject);
  const moved = expected.find(([field, value]) => !isUnchanged(record[field] ?? null, value));
  return moved && { field: moved[0], from: record[moved[0]] ?? null };
}

/** True if the record reads as before the write; `now`: the fields that differ from their target. */
export function isAsBefore(before: JsonObject, now: readonly RowChange[]): boolean {
  return now.every(
    ({ field, from }) => Object.hasOwn(before, field) && standsFor(before[field], from),
  );
}

/** True if a stored value stands for this one: notes, long values and those that hold a secret are stored as hashes. */
export function standsFor(stored: unknown, value: unknown): boolean {
  return isUnchanged(stored ?? null, value ?? null) || stored === hashOf(value ?? null);
}

/** `before` and `after` of a report row. */
export function beforeAndAfter(changes: readonly RowChange[]) {
  return {
    before: Object.fromEntries(changes.map(({ field, from }) => [field, from ?? null])),
    after: Object.fromEntries(changes.map(({ field, to }) => [field, to])),
  };
}

/** The end of a row whose write is confirmed; `made`: fields that the write produced, such as a new id. */
export function changedEnd(
  { ref }: SelectedRow,
  { before, after }: ReturnType<typeof beforeAndAfter>,
  done: DoneStep | undefined,
  made: JsonObject | undefined,
): RowEnd {
  const all = { ...done?.after, ...after, ...made };
  const was = { ...done?.before, ...before };
  // What was named by its key has an id of its own from now on.
  const newId = ref === undefined ? undefined : made?.['id'];
  return {
    ...(typeof newId === 'string' && { id: newId }),
    result: 'changed',
    ...(Object.keys(was).length > 0 && { before: was }),
    ...(Object.keys(all).length > 0 && { after: all }),
  };
}

/** Returns the row result for a failure. */
export function resultOf(error: Failure): RowResult {
  if (error instanceof UnknownOutcomeError) return 'unknown';
  if (error.exitName === 'conflict') return 'conflict';
  if (isExhausted(error) || error.exitName === 'interrupted' || stopsRun(error))
    return 'not_attempted';
  if (error instanceof GuardError && error.code === 'locked') return 'not_attempted';
  return 'failed';
}

/** True for failures that concern every row: 401, a plan without API access, a wrong route. */
export function stopsRun(error: Failure): boolean {
  if (error.exitName === 'unauthenticated' || error.code === wrongRoute) return true;
  return error instanceof ApiError && error.serviceCode === 'featureNotAvailable';
}

/** True if the request was not sent, or the service did nothing (429). */
export function hadNoEffect(error: Failure): boolean {
  if (error instanceof StaleReadError) return true;
  if (error instanceof NetworkError) return error.details.delivery === 'not-sent';
  return error instanceof ApiError && error.status === 429;
}

/** The end of a row that somebody else changed; `values`: those that the record holds now, if they are reported. */
export function conflictEnd(message: string, values: Pick<ReportRow, 'before' | 'after'>): RowEnd {
  const error = { code: 'changedMeanwhile', kind: 'conflict', message };
  return { result: 'conflict', ...values, error };
}

function skippedBy(row: SelectedRow, record: JsonObject | undefined, guards: Guards) {
  const own = row.own?.['ifStatus'] as readonly string[] | undefined;
  for (const expected of [guards.ifStatus, own]) {
    if (!expected || (record && expected.includes(plainText(record['status'])))) continue;
    const status = record?.['status'];
    return {
      before: { status },
      error: guardError(
        `The status is ${plainText(status) || 'empty'}, not ${expected.join(' or ')}.`,
      ),
    };
  }
  const unmet = guards.conditions
    ?.map((condition) => ({
      ...condition,
      field: fieldNamed(condition.field, record ? [record] : []),
    }))
    .find((condition) => !record || !matchesCondition(condition, record));
  if (!unmet) return undefined;
  return {
    // The journal keeps this message, so it must not contain notes.
    error: guardError(
      `The condition ${unmet.field}${unmet.operator}${isNote(unmet.field) ? '…' : unmet.value} is not met.`,
    ),
  };
}

function guardError(message: string) {
  return { code: 'guard', kind: 'guard', message };
}

function isSameTime(exported: string, record: JsonObject | undefined): boolean {
  const now = record?.['updatedAt'] ?? undefined;
  if (now === undefined) return true;
  const text = plainText(now);
  if (exported === text || compareDecimals(exported, text) === 0) return true;
  // Not every service sends times as text.
  return typeof now === 'string' && Date.parse(exported) === Date.parse(now);
}

/** True if a program rewrote the exported time, without its zone or its parts of a second. */
function isRewritten(exported: string, record: JsonObject | undefined): boolean {
  const now = momentOf(plainText(record?.['updatedAt']))?.getTime();
  if (now === undefined) return false;
  const then = momentOf(exported)?.getTime();
  return then === undefined || (then % 1000 === 0 && Math.abs(now - then) < 1000);
}
