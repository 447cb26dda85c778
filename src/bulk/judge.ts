import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../data/json.js';
import { meets } from '../data/where.js';
import { ApiError, type Failure, isExhausted, UnknownOutcomeError } from '../errors.js';
import type { ReportRow } from './report.js';
import { isNote } from './run-state.js';
import type { Guards, Look, RowChange, SelectedRow } from './work.js';

/** What is to become of a row after a look: `write`, or the result that it has already. */
export type Verdict = { readonly write: true } | { readonly write: false; readonly row: ReportRow };

/**
 * The order of the state machine: already so, a guard does not hold, changed by someone else since
 * the export or the preview, else to be written.
 */
export function judge<P>(
  row: SelectedRow,
  look: Look<P>,
  guards: Guards,
  previewed: readonly RowChange[] | undefined,
): Verdict {
  const at = { row: row.row, id: row.id };
  const final = (result: Omit<ReportRow, 'row' | 'id'>): Verdict => ({
    write: false,
    row: { ...at, ...result },
  });
  if (look.changes.length === 0) return final({ result: 'unchanged' });
  if (look.skipped) return final({ result: 'skipped', error: { kind: 'guard', ...look.skipped } });
  const skipped = skippedBy(row, look.record, guards);
  if (skipped) return final({ result: 'skipped', ...skipped });
  const moved = previewed && movedField(previewed, look.changes);
  if (moved)
    return final({
      result: 'conflict',
      before: { [moved.field]: moved.from },
      error: changedMeanwhile(`${moved.field} was changed by someone else after the preview.`),
    });
  const exported = row.own?.['updatedAt'];
  if (typeof exported === 'string' && !isSameTime(exported, look.record))
    return final({
      result: 'conflict',
      ...beforeAfter(look.changes),
      error: changedMeanwhile('It was changed by someone else after the export.'),
    });
  return { write: true };
}

/** The first field that holds neither what was seen before nor the target. */
function movedField(seen: readonly RowChange[], now: readonly RowChange[]): RowChange | undefined {
  return now.find((change) => {
    const before = seen.find((other) => other.field === change.field);
    return !before || !isDeepStrictEqual(before.from ?? null, change.from ?? null);
  });
}

/** `before` and `after` of a report row. */
export function beforeAfter(
  changes: readonly RowChange[],
): Pick<ReportRow, 'before'> & { after?: JsonObject } {
  if (changes.length === 0) return {};
  return {
    before: Object.fromEntries(changes.map((change) => [change.field, change.from])),
    after: Object.fromEntries(changes.map((change) => [change.field, change.to])),
  };
}

/** The result that a failure of one row stands for. */
export function resultOf(error: Failure): ReportRow['result'] {
  if (error instanceof UnknownOutcomeError) return 'unknown';
  if (error instanceof ApiError && error.status === 409) return 'conflict';
  if (error.code === 'notApplied') return 'conflict';
  if (isExhausted(error) || error.exitName === 'interrupted' || stopsRun(error))
    return 'not_attempted';
  return 'failed';
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
  const unmet = guards.conditions?.find((condition) => !record || !meets(condition, record));
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
