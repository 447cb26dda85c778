import { type Failure, GuardError, OutputError } from '../errors.js';
import type { JsonObject } from '../data/json.js';
import { beforeAfter, changedMeanwhile } from './judge.js';
import type { ReportRow } from './report.js';
import type { Intent } from './run-state.js';
import type { RowChange, RowWork, SelectedRow } from './work.js';

/** A row that was written and confirmed. */
export function changedRow(
  { row, id }: SelectedRow,
  changes: readonly RowChange[],
  made: JsonObject | undefined,
): ReportRow {
  const { before, after } = beforeAfter(changes);
  return {
    row,
    id,
    result: 'changed',
    ...(before && { before }),
    ...((after || made) && { after: { ...after, ...made } }),
  };
}

/** The same, found out by reading: what it was before is known from the preview or the journal. */
export function verifiedRow(
  task: SelectedRow & {
    readonly previewed?: readonly RowChange[] | undefined;
    readonly open?: Intent | undefined;
  },
  made: JsonObject | undefined,
): ReportRow {
  const row = changedRow(task, task.previewed ?? [], made);
  if (row.before || !task.open) return row;
  return { ...row, before: task.open.before };
}

/** The same of the record that the reading gave. Throws what `madeOf` throws. */
export async function foundRow<P>(
  work: Pick<RowWork<P>, 'madeOf'>,
  task: Parameters<typeof verifiedRow>[0],
  record: JsonObject | undefined,
): Promise<ReportRow> {
  return verifiedRow(task, record && (await work.madeOf?.(record, task)));
}

/** A row that holds neither what stood there before our write nor what it wrote. */
export function overtakenRow({ row, id }: SelectedRow, changes: readonly RowChange[]): ReportRow {
  const { before } = beforeAfter(changes);
  const message = 'It was changed by someone else while the outcome of our write was open.';
  return {
    row,
    id,
    result: 'conflict',
    ...(before && { before }),
    error: changedMeanwhile(message),
  };
}

/** A run that is stopped leaves the row open; a journal that breaks behind a write leaves it unknown. */
export function withoutResult(error: Failure, sent: boolean): ReportRow['result'] {
  const broken = error instanceof OutputError || error instanceof GuardError;
  return broken && sent ? 'unknown' : 'not_attempted';
}
