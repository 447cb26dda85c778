/** Decides what becomes of a row by the record as read: to be written, or a result that it has already. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../data/json.js';
import { type Condition, matchesCondition } from '../data/where.js';
import {
  ApiError,
  type Failure,
  GuardError,
  isExhausted,
  OutputError,
  UnknownOutcomeError,
} from '../errors.js';
import { hashOf } from './journal.js';
import type { RowPlan } from './operation.js';
import type { DoneStep, ReportRow, RowChange, RowResult, SelectedRow } from './report.js';
import { isNote } from './run-state.js';

/** When a row is changed at all (`--if-status`, `--if`). */
export interface Guards {
  readonly ifStatus?: readonly string[] | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** What is known of a row besides the record as read. */
interface RowContext {
  readonly guards: Guards;
  /** What was seen when the row was previewed; undefined: this is the first read. */
  readonly previewed: readonly RowChange[] | undefined;
  /** Of the whole record as first read, where the write takes all of it. */
  readonly digest?: string | undefined;
  /** The first step, where it is done: the guards it met are not judged again. */
  readonly done?: DoneStep | undefined;
}

/** To be written, or the result that the row has already. */
type Decision = { readonly write: true } | { readonly write: false; readonly row: ReportRow };

/**
 * Already as wanted; a reason of its own to leave it; a guard that does not hold; changed by
 * somebody else since the preview or the export; else to be written.
 */
export function decideRow(
  row: SelectedRow,
  record: JsonObject | undefined,
  plan: RowPlan,
  { guards, previewed, digest, done }: RowContext,
): Decision {
  const at = { row: row.row, id: row.id };
  const final = (result: Omit<ReportRow, 'row' | 'id'>): Decision => ({
    write: false,
    row: { ...at, ...result },
  });
  const changes = changesOf(plan);
  if (plan.skipped) return final({ result: 'skipped', error: { kind: 'guard', ...plan.skipped } });
  if (changes.length === 0)
    return final(
      done
        ? { result: 'changed', before: done.before, after: done.after }
        : { result: 'unchanged' },
    );
  if (plan.conflict) {
    const { field, from } = plan.conflict;
    const error = changedMeanwhile(`${field} was changed by someone else since.`);
    return final({ result: 'conflict', before: { [field]: from ?? null }, error });
  }
  const skipped = done ? undefined : skippedBy(row, record, guards);
  if (skipped) return final({ result: 'skipped', ...skipped });
  const moved = previewed && movedField(previewed, changes);
  if (moved)
    return final({
      result: 'conflict',
      before: { [moved.field]: moved.from },
      error: changedMeanwhile(
        moved.field === 'status'
          ? `The status is now ${String(moved.from)}: it was changed by someone else.`
          : `${moved.field} was changed by someone else.`,
      ),
    });
  if (digest !== undefined && digestIn(plan) !== digest)
    return final({
      result: 'conflict',
      ...beforeAndAfter(changes),
      error: changedMeanwhile('It was changed by someone else since it was read.'),
    });
  const exported = row.own?.['updatedAt'];
  if (!done && typeof exported === 'string' && !isSameTime(exported, record))
    return final({
      result: 'conflict',
      ...beforeAndAfter(changes),
      error: changedMeanwhile('It was changed by someone else after the export.'),
    });
  return { write: true };
}

/** All that a plan changes. */
export function changesOf({ steps }: RowPlan): readonly RowChange[] {
  const [first, ...more] = steps;
  return more.length === 0 ? (first?.changes ?? []) : steps.flatMap(({ changes }) => changes);
}

/** Of the whole record, where the row's write takes all of it. */
export function digestIn({ steps }: RowPlan): string | undefined {
  return steps[0]?.digest;
}

/** The first field that holds neither what was seen before nor the target. */
function movedField(seen: readonly RowChange[], now: readonly RowChange[]): RowChange | undefined {
  return now.find((change) => {
    if (change.adds !== undefined) return false;
    const before = seen.find((other) => other.field === change.field);
    if (!before) return true;
    // A plan on disk holds the hash of a value that is secret.
    const isSame = isDeepStrictEqual(before.from ?? null, change.from ?? null);
    return !isSame && before.from !== hashOf(change.from ?? null);
  });
}

/** `before` and `after` of a report row. */
export function beforeAndAfter(
  changes: readonly RowChange[],
): Pick<ReportRow, 'before'> & { after?: JsonObject } {
  if (changes.length === 0) return {};
  return {
    before: Object.fromEntries(changes.map(({ field, from }) => [field, from ?? null])),
    after: Object.fromEntries(changes.map(({ field, to }) => [field, to])),
  };
}

/** A row whose step was written and confirmed; `made`: what came of it besides. */
export function changedRow(
  { row, id }: SelectedRow,
  { before, after }: ReturnType<typeof beforeAndAfter>,
  done: DoneStep | undefined,
  made: JsonObject | undefined,
): ReportRow {
  const all = { ...done?.after, ...after, ...made };
  const was = { ...done?.before, ...before };
  return {
    row,
    id,
    result: 'changed',
    ...(Object.keys(was).length > 0 && { before: was }),
    ...(Object.keys(all).length > 0 && { after: all }),
  };
}

/** The result that a failure of one row stands for. */
export function resultOf(error: Failure): RowResult {
  if (error instanceof UnknownOutcomeError) return 'unknown';
  if (error instanceof ApiError && error.status === 409) return 'conflict';
  if (error.exitName === 'conflict') return 'conflict';
  if (isExhausted(error) || error.exitName === 'interrupted' || stopsRun(error))
    return 'not_attempted';
  if (error instanceof GuardError && error.code === 'locked') return 'not_attempted';
  return 'failed';
}

/** A run that is stopped leaves the row open; a journal that breaks behind a write leaves it unknown. */
export function resultOfStop(error: Failure, sent: boolean): RowResult {
  const broken = error instanceof OutputError || error instanceof GuardError;
  return broken && sent ? 'unknown' : 'not_attempted';
}

/** 401 and a plan without API access concern every row. */
export function stopsRun(error: Failure): boolean {
  if (error.exitName === 'unauthenticated') return true;
  return error instanceof ApiError && error.serviceCode === 'featureNotAvailable';
}

/** A 403 that is about this row or, if it keeps coming, about the key. */
export function isForbidden(error: Failure): boolean {
  return error instanceof ApiError && error.status === 403;
}

export function changedMeanwhile(message: string) {
  return { code: 'changedMeanwhile', kind: 'conflict', message };
}

function skippedBy(
  row: SelectedRow,
  record: JsonObject | undefined,
  guards: Guards,
): Pick<ReportRow, 'before' | 'error'> | undefined {
  const own = row.own?.['ifStatus'] as readonly string[] | undefined;
  for (const wanted of [guards.ifStatus, own]) {
    if (!wanted || (record && wanted.includes(String(record['status'])))) continue;
    const status = record?.['status'];
    return {
      before: { status },
      error: guardError(`The status is ${String(status)}, not ${wanted.join(' or ')}.`),
    };
  }
  const unmet = guards.conditions?.find(
    (condition) => !record || !matchesCondition(condition, record),
  );
  if (!unmet) return undefined;
  return {
    // The journal keeps this, and no note.
    error: guardError(
      `${unmet.field}${unmet.operator}${isNote(unmet.field) ? '…' : unmet.value} does not hold.`,
    ),
  };
}

function guardError(message: string) {
  return { code: 'guard', kind: 'guard', message };
}

function isSameTime(exported: string, record: JsonObject | undefined): boolean {
  const now = record?.['updatedAt'];
  if (typeof now !== 'string') return true;
  const [a, b] = [Date.parse(exported), Date.parse(now)];
  return Number.isNaN(a) || Number.isNaN(b) ? exported === now : a === b;
}
