/** The preview of a run: every row is read and decided, and nothing is sent but reads. */
import { resource as rowOf } from '../api/resources.js';
import type { Call } from '../api/types.js';
import { fieldOf, ObservedFields } from '../cli/record-fields.js';
import { rowError } from '../cli/failure.js';
import type { Context } from '../context.js';
import { InputErrors } from '../data/csv-columns.js';
import type { JsonObject } from '../data/json.js';
import { intern } from '../data/digest.js';
import { SystemLimitError } from '../data/system-errors.js';
import { Failure, InputError } from '../errors.js';
import { changesOf, decideRow, type Guards, isForbidden, resultOf, stopsRun } from './decide.js';
import type { Invocation } from './invocation.js';
import { CircuitBreaker } from './limits.js';
import type { RecordState, Session, Task } from './operation.js';
import type { ReportRow, RowChange, SelectedRow } from './report.js';

/** What the preview found: rows that are to be written, and those that are decided already. */
export interface Preview {
  readonly tasks: readonly Task[];
  readonly decided: readonly ReportRow[];
  /** What a person calls the records of the first rows, by row. */
  readonly names?: ReadonlyMap<number, string>;
  /** The first call of the first row that is to be written: the others go the same way. */
  readonly firstCall?: Call | undefined;
  /** What the only row met that could not be read. */
  readonly failure?: Failure | undefined;
  /** The record of the only row. */
  readonly record?: JsonObject | undefined;
}

/** So many single reads are cheaper than a list that may be long. */
const singleReads = 25;

/** The command line whose rows are read. */
type Previewed = Pick<Invocation, 'operation' | 'words' | 'values'> &
  Partial<Pick<Invocation, 'source'>>;

type DescribeError = (error: Failure, id: string) => unknown;

/**
 * Reads every row and sends nothing but reads; many rows share one list. Throws what stops a run: a
 * refused key, a service that does not answer, a 403 that keeps coming.
 */
export async function previewRows(
  context: Context,
  rows: readonly Task[],
  { operation: { resource }, words, values, source }: Previewed,
  session: Session,
  guards: Guards,
): Promise<Preview> {
  const concurrency = values.concurrency ?? context.settings.concurrency;
  const describeError: DescribeError = (error, id) => rowError(context, words, error, id);
  const found: (Task | ReportRow | undefined)[] = rows.map(() => undefined);
  const { conditions = [] } = guards;
  const fields = new ObservedFields(
    conditions.map(({ field }) => fieldOf(field, resource)),
    resource,
  );
  const preview = previewer(session, guards, describeError, {
    fields,
    breaker: new CircuitBreaker(undefined, () => context.api.limiter.silent),
    instant: () => context.instant(),
    isOne: rows.length === 1,
    // A value of a CSV that does not fit is a mistake of the file, and nothing is sent.
    wrongLines: source === 'csv' ? new InputErrors() : undefined,
  });
  await previewListed(context, rows, resource, async (index, row, record) => {
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
        (record && (await preview.listed(bare, record))) ?? (await preview.alone(bare));
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, worker));
  preview.checkLines();
  fields.check();
  const all = found.filter((entry) => entry !== undefined);
  return {
    tasks: all.filter((entry) => !('result' in entry)),
    decided: all.filter((entry) => 'result' in entry),
    names: preview.names,
    firstCall: preview.firstCall(),
    ...preview.only(),
  };
}

type OnListed = (index: number, row: SelectedRow, record: JsonObject) => Promise<void>;

/**
 * Many rows share one list, and none of its records is kept. Not where single reads are cheaper or
 * the list cannot be had.
 */
async function previewListed(
  context: Context,
  rows: readonly SelectedRow[],
  resource: Parameters<Context['api']['list']>[0],
  onListed: OnListed,
): Promise<void> {
  const unread = rows.reduce((count, { record }) => (record ? count : count + 1), 0);
  if (unread <= singleReads || !rowOf(resource).calls.get) return;
  const wanted = new Map<string, number>();
  for (const [index, { id }] of rows.entries()) wanted.set(id, index);
  try {
    for await (const record of context.api.list(resource)) {
      const index = wanted.get(String(record['id']));
      const row = index === undefined ? undefined : rows[index];
      if (index !== undefined && row && !row.record) await onListed(index, row, record);
    }
  } catch (error) {
    // A key may read records and not the list.
    if (!(error instanceof Failure) || !isForbidden(error) || stopsRun(error)) throw error;
  }
}

/** The first rows are shown; where these are to be written, they are among so many. */
const mostNamed = 100;

interface PreviewWorld {
  readonly fields: ObservedFields;
  readonly breaker: CircuitBreaker;
  readonly instant: () => RecordState['at'];
  /** The only row keeps its record: if that is fresh at its turn, it is not read again. */
  readonly isOne: boolean;
  readonly wrongLines: InputErrors | undefined;
}

/** Decides rows by what a list shows of them, or by a read of their own. */
function previewer(
  session: Session,
  guards: Guards,
  describeError: DescribeError,
  { fields, breaker, instant, isOne, wrongLines }: PreviewWorld,
) {
  const same = intern<readonly RowChange[]>();
  const names = new Map<number, string>();
  let firstCall: Call | undefined;
  let only: Pick<Preview, 'failure' | 'record'> = {};
  const decide = async (
    row: Task,
    see: () => Promise<PreviewRead | undefined>,
    keeps = false,
  ): Promise<Task | ReportRow | undefined> => {
    try {
      const seen = await see();
      if (!seen) return undefined;
      const { state, plan } = seen;
      const { record } = state;
      breaker.settled('unchanged', false);
      if (isOne) only = { record };
      if (record) fields.observe(record);
      const name = record?.['name'];
      if (row.row <= mostNamed && typeof name === 'string') names.set(row.row, name);
      const decision = decideRow(row, record, plan, {
        guards,
        previewed: row.previewed,
        done: row.done,
      });
      if (!decision.write) return decision.row;
      firstCall ??= plan.steps[0]?.call;
      // Spelt out: a spread with one more field gives each object a hidden class of its own.
      const previewed = same(changesOf(plan));
      const task = { row: row.row, id: row.id, own: row.own, previewed };
      return keeps ? { ...task, seen: state } : task;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (wrongLines && error instanceof InputError) wrongLines.add(error);
      // Too many open files concern the file that met them; anything else that stops a run would
      // only be met again.
      const isLocal = error instanceof SystemLimitError;
      if (!isLocal && (breaker.failed(error, 'failed', false) || breaker.stop)) throw error;
      if (isOne) only = { failure: error };
      const { row: number, id } = row;
      return { row: number, id, result: resultOf(error), error: describeError(error, id) };
    }
  };
  const { ifStatus, conditions = [] } = guards;
  const guarded = [
    ...(ifStatus ? ['status'] : []),
    ...conditions.map(({ field }) => field.split('.', 1)[0] ?? field),
  ];
  const evidence = (row: SelectedRow) => [
    ...guarded,
    ...(row.own?.['ifStatus'] === undefined ? [] : ['status']),
    ...(session.compares?.(row) ?? []),
  ];
  return {
    names,
    firstCall: () => firstCall,
    only: () => only,
    checkLines: () => wrongLines?.throwIfAny(),
    /** Undefined where the list shows less of the record than its own GET would: then it is read alone. */
    listed: (row: Task, record: JsonObject) =>
      decide(row, async () => {
        if (!evidence(row).every((field) => Object.hasOwn(record, field))) return undefined;
        const state = { record, at: instant() };
        const plan = await session.plan(row, state);
        const isSeen = changesOf(plan).every(
          ({ field, from }) =>
            (from !== null && from !== undefined) || Object.hasOwn(record, field),
        );
        return isSeen ? { state, plan } : undefined;
      }),
    alone: (row: Task) =>
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
