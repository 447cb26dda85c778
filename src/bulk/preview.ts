/** The preview of a run: reads and decides every row without writing. */

import { resource as rowOf } from '../api/resources.js';
import type { Call } from '../api/types.js';
import { rowError } from '../cli/failure.js';
import { fieldOf, ObservedFields } from '../cli/record-fields.js';
import type { Context } from '../context.js';
import { intern } from '../data/digest.js';
import { InputErrors } from '../data/input-errors.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import { usualSorting } from '../data/sorting.js';
import { SystemLimitError } from '../data/system-errors.js';
import {
  changesOf,
  decideRow,
  type Guards,
  isForbidden,
  resultOf,
  stopsRun,
} from '../engine/decide.js';
import { CircuitBreaker } from '../engine/limits.js';
import type { PreviewedRows, RecordState, Session, Task } from '../engine/operation.js';
import { sessionFor } from '../engine/row-sessions.js';
import { Failure, InputError } from '../errors.js';
import { hasQuery, someText } from '../runs/before-images.js';
import { hashOf } from '../runs/journal.js';
import type { RunPlan } from '../runs/plan.js';
import { type ReportRow, type RowChange, type SelectedRow, withRef } from '../runs/report.js';
import type { Invocation } from './invocation.js';

/** The outcome of a preview: rows to write, and rows that are already decided. */
export interface Preview extends PreviewedRows {
  /** The times by which their list is ordered (submitted), by id; none if it is ordered by name. */
  readonly times?: ReadonlyMap<string, string> | undefined;
  /** The first call of the first row to be written; the others use the same route. */
  readonly firstCall?: Call | undefined;
  /** Why the only row could not be read. */
  readonly failure?: Failure | undefined;
  /** The record of the only row. */
  readonly record?: JsonObject | undefined;
}

/** Up to this many rows, single reads are cheaper than a list that may be long. */
const singleReads = 25;

type DescribeError = (error: Failure, id: string) => unknown;

/**
 * Reads and decides every row; many rows share one list. Throws what would stop a run: a refused key,
 * a service that does not answer, repeated 403s.
 */
export async function previewRows(
  context: Context,
  { operation: { resource }, words, values, source, guards }: Invocation,
  rows: readonly Task[],
  session: Session,
): Promise<Preview> {
  const concurrency = values.concurrency ?? context.settings.concurrency;
  const describeError: DescribeError = (error, id) => rowError(context, words, error, id);
  const found: (Task | ReportRow | undefined)[] = rows.map(() => undefined);
  const { conditions = [] } = guards;
  const fields = new ObservedFields(
    conditions.map(({ field }) => fieldOf(field, resource)),
    resource,
  );
  const { field, descending } = usualSorting(resource);
  const preview = previewer(session, guards, describeError, {
    fields,
    timeField: descending ? field : undefined,
    lastNamed: rows[Math.min(rows.length, mostNamed) - 1]?.row ?? 0,
    breaker: new CircuitBreaker(undefined, () => context.api.limiter.silent),
    instant: () => context.instant(),
    isOne: rows.length === 1,
    // An invalid value in a CSV is an error in the file, so nothing is sent.
    inputErrors: source === 'csv' ? new InputErrors() : undefined,
  });
  const isUnread = (row: Task) => !row.record && !sessionFor(session, row).isBlind;
  await previewListed(context, rows, { resource, isUnread }, async (index, row, record) => {
    found[index] = await preview.listed(row, record);
  });
  let next = 0;
  const worker = async () => {
    while (next < rows.length) {
      const index = next++;
      const row = rows[index];
      if (!row || found[index]) continue;
      const { record, ...bare } = row;
      found[index] =
        (record && (await preview.listed(bare, record))) ?? (await preview.single(bare));
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, worker));
  preview.checkLines();
  fields.check(fields.labels());
  const all = found.filter((entry) => entry !== undefined);
  return {
    tasks: all.filter((entry) => !('result' in entry)),
    decided: all.filter((entry) => 'result' in entry),
    names: preview.names,
    times: preview.times,
    firstCall: preview.firstCall(),
    ...preview.readOfOnlyRow(),
  };
}

interface Listing {
  readonly resource: ResourceName;
  /** True if the row's record has to be read to decide it. */
  readonly isUnread: (row: SelectedRow) => boolean;
}

type OnListed = (index: number, row: SelectedRow, record: JsonObject) => Promise<void>;

/**
 * Decides many rows from one list, without keeping its records. Leaves them to single reads if these
 * are cheaper or the list is forbidden.
 */
async function previewListed(
  context: Context,
  rows: readonly SelectedRow[],
  { resource, isUnread }: Listing,
  onListed: OnListed,
): Promise<void> {
  const unreadCount = rows.reduce((count, row) => (isUnread(row) ? count + 1 : count), 0);
  if (unreadCount <= singleReads || !rowOf(resource).calls.get) return;
  const indexById = new Map<string, number>();
  for (const [index, { id }] of rows.entries()) indexById.set(id, index);
  try {
    for await (const record of context.api.list(resource)) {
      const index = indexById.get(String(record['id']));
      const row = index === undefined ? undefined : rows[index];
      if (index !== undefined && row && isUnread(row)) await onListed(index, row, record);
    }
  } catch (error) {
    // A key may be allowed to read records but not to list them.
    if (!(error instanceof Failure) || !isForbidden(error) || stopsRun(error)) throw error;
  }
}

/** Names are kept for this many rows, which a preview or a report may list. */
const mostNamed = 1_000;

interface PreviewerOptions {
  readonly fields: ObservedFields;
  /** The field with the time by which the resource is ordered. */
  readonly timeField: string | undefined;
  /** The number of the last row whose name is kept. */
  readonly lastNamed: number;
  readonly breaker: CircuitBreaker;
  readonly instant: () => RecordState['at'];
  /** The only row keeps its record, so that it is not read again if still fresh at its turn. */
  readonly isOne: boolean;
  readonly inputErrors: InputErrors | undefined;
}

/** Returns functions that decide a row from a listed record, or from a read of its own. */
function previewer(
  session: Session,
  guards: Guards,
  describeError: DescribeError,
  { fields, timeField, lastNamed, breaker, instant, isOne, inputErrors }: PreviewerOptions,
) {
  const shared = intern<readonly RowChange[]>();
  const names = new Map<string, string>();
  const times = new Map<string, string>();
  const keepLabels = ({ row, id }: SelectedRow, record: JsonObject) => {
    if (row > lastNamed) return;
    const name = record['name'];
    const time = timeField === undefined ? undefined : record[timeField];
    if (typeof name === 'string') names.set(id, name);
    if (typeof time === 'string') times.set(id, time);
  };
  let firstCall: Call | undefined;
  let onlyRead: Pick<Preview, 'failure' | 'record'> = {};
  const decide = async (
    row: Task,
    readRow: () => Promise<PreviewRead | undefined>,
    keepsState = false,
  ): Promise<Task | ReportRow | undefined> => {
    try {
      const read = await readRow();
      if (!read) return undefined;
      const { state, plan } = read;
      const { record } = state;
      breaker.recordResult('unchanged', false);
      if (isOne) onlyRead = { record };
      if (record) {
        fields.observe(record);
        keepLabels(row, record);
      }
      const decision = decideRow(row, record, plan, {
        guards,
        previewed: row.previewed,
        done: row.done,
      });
      if (!decision.write) return withRef(decision.row, row);
      firstCall ??= plan.steps[0]?.call;
      // Spelled out, because a spread plus one field would give each object its own hidden class.
      const previewed = shared(changesOf(plan));
      const task = { row: row.row, id: row.id, ref: row.ref, own: row.own, previewed };
      return keepsState ? { ...task, previewState: state } : task;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (inputErrors && error instanceof InputError) inputErrors.add(error);
      // Too many open files concern this row only; any other failure that stops a run would recur for
      // every row.
      const isLocal = error instanceof SystemLimitError;
      if (!isLocal && (breaker.recordFailure(error, 'failed', false) || breaker.stop)) throw error;
      if (isOne) onlyRead = { failure: error };
      const { row: number, id } = row;
      const failed = { row: number, id, result: resultOf(error), error: describeError(error, id) };
      return withRef(failed, row);
    }
  };
  const { ifStatus, conditions = [] } = guards;
  const guarded = [
    ...(ifStatus ? ['status'] : []),
    ...conditions.map(({ field }) => field.split('.', 1)[0] ?? field),
  ];
  const requiredFields = (row: SelectedRow) => [
    ...guarded,
    ...(row.own?.['ifStatus'] === undefined ? [] : ['status']),
    ...(sessionFor(session, row).compares?.(row) ?? []),
  ];
  return {
    names,
    times,
    firstCall: () => firstCall,
    /** What reading the only row gave; nothing for several rows. */
    readOfOnlyRow: () => onlyRead,
    checkLines: () => inputErrors?.throwIfAny(),
    /** Decides a row from a listed record; undefined if the list omits fields that the row needs. */
    listed: (row: Task, record: JsonObject) =>
      decide(row, async () => {
        if (!requiredFields(row).every((field) => Object.hasOwn(record, field))) return undefined;
        const state = { record, at: instant() };
        const plan = await session.plan(row, state);
        const isDetermined = changesOf(plan).every(
          ({ field, from }) =>
            (from !== null && from !== undefined) || Object.hasOwn(record, field),
        );
        return isDetermined ? { state, plan } : undefined;
      }),
    single: (row: Task) =>
      decide(
        row,
        async () => {
          const state = await session.read(row, 'preview');
          return { state, plan: await session.plan(row, state) };
        },
        isOne,
      ),
  };
}

interface PreviewRead {
  readonly state: RecordState;
  readonly plan: Awaited<ReturnType<Session['plan']>>;
}

/** The names and rows of a plan, without texts that hold the API key or the query of a URL. */
export function redactedRows(
  { api }: Context,
  rows: readonly Task[],
  { tasks, names = new Map() }: Pick<Preview, 'tasks' | 'names'>,
): Pick<RunPlan, 'names' | 'rows'> {
  const isSecret = (text: string) => api.isKey(text) || hasQuery(text);
  let next = 0;
  return {
    names: new Map([...names].filter(([, name]) => !isSecret(name))),
    // Reuses the task objects, which are in the same order, to avoid a second copy of 200,000 rows.
    rows: rows.map(({ row, id, ref, own }) => {
      const task = tasks[next];
      if (task?.row !== row) return { row, id, ref, own };
      next += 1;
      const { previewed } = task;
      if (!previewed?.some(({ from }) => someText(from, isSecret))) return task;
      const hashed = previewed.map((change) =>
        someText(change.from, isSecret) ? { ...change, from: hashOf(change.from) } : change,
      );
      return { ...task, previewed: hashed };
    }),
  };
}
