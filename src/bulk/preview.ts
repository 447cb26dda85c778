/** The preview of a run: reads and decides every row without writing. */

import { isReadByList } from '../api/resources.js';
import type { Call } from '../api/types.js';
import { rowError } from '../cli/failure.js';
import { cacheFor } from '../cli/filters.js';
import { fieldOf, ObservedFields } from '../cli/record-fields.js';
import type { Context } from '../context.js';
import { intern } from '../data/digest.js';
import { InputErrors } from '../data/input-errors.js';
import type { JsonObject } from '../data/json.js';
import { isForbidden, isProvenNotFound } from '../data/outcome-errors.js';
import type { ResourceName } from '../data/resources.js';
import { type Sorting, usualSorting } from '../data/sorting.js';
import { SystemLimitError } from '../data/system-errors.js';
import { changesOf, decideRow, resultOf } from '../engine/decide.js';
import { CircuitBreaker } from '../engine/limits.js';
import type {
  Operation,
  PreviewedRows,
  RecordState,
  RowPlan,
  Session,
  Task,
} from '../engine/operation.js';
import { type LastState, sessionFor } from '../engine/run.js';
import { Failure, InputError } from '../errors.js';
import { type ReportRow, type RowChange, reportRow, type SelectedRow } from '../runs/report.js';
import type { Action } from '../runs/verb.js';
import type { Invocation } from './invocation.js';

/** The outcome of a preview: rows to write, rows already decided, and the last state of the only row. */
export interface Preview extends PreviewedRows, LastState {
  /** The times by which their list is ordered (submitted), by id; none if it is ordered by name. */
  readonly times?: ReadonlyMap<string, string> | undefined;
  /** The first call of the first row to be written; the others use the same route. */
  readonly firstCall?: Call | undefined;
  /** The plan of the only row. */
  readonly plan?: RowPlan | undefined;
}

/** A preview of up to this many rows lists all of them. */
const maxListed = 7;

/** True if a preview lists only the first of these rows. */
export function hasMore({ length }: readonly unknown[]): boolean {
  return length > maxListed;
}

/** The subject of a preview, in words. */
export interface Subject extends Action {
  /** How many records were selected, before `--limit` cut them. */
  readonly matched: number;
  /** The operation's own lines, in place of all others. */
  readonly describe?: Operation['describePreview'];
  /** The selection in words, around the noun. */
  readonly words?:
    | { readonly before: string; readonly after: string; readonly order: string }
    | undefined;
}

/** The subject of an invocation's preview; `isCut`: `--limit` left out some of the matching records. */
export function subjectOf(
  { operation, action: name, values, source, teams }: Invocation,
  matched: number,
  isCut: boolean,
): Subject {
  const { resource, verb, filters, describePreview: describe } = operation;
  const action = { action: name, resource, verb, teams, ...(describe && { describe }) };
  if (source !== 'filter') return { ...action, matched };
  const isAll = values.all === true;
  const filter = (isAll ? undefined : filters?.words?.(values)) ?? {
    before: isAll ? '' : 'matching',
    after: '',
  };
  const order = isCut ? orderWords(resource, values.sort) : '';
  return { ...action, matched, words: { ...filter, order } };
}

/** `, newest first`: by which order the first records were taken. */
function orderWords(resource: ResourceName, sort: Sorting | undefined): string {
  const usual = usualSorting(resource);
  const { field, descending } = sort ?? usual;
  if (field !== usual.field || !usual.descending) return `, by ${field}`;
  return descending ? ', newest first' : ', oldest first';
}

/** Up to this many rows, single reads are cheaper than a list that may be long. */
const singleReads = 25;

/** Names are kept for this many rows, which a preview or a report may list. */
const mostNamed = 1_000;

/**
 * Reads and decides every row; many rows share one list. Throws what would stop a run: a refused key,
 * a service that does not answer, repeated 403s; and UsageError for an unknown field of `--if`.
 */
export async function previewRows(
  context: Context,
  invocation: Invocation,
  rows: readonly Task[],
  session: Session,
  observe?: ObserveRow,
): Promise<Preview> {
  const { source, guards, operation } = invocation;
  const columns =
    source === 'csv' ? new (await import('../data/cell-values.js')).SeenColumns(rows) : undefined;
  const conditions = guards.conditions ?? [];
  const fields = new ObservedFields(
    conditions.map(({ field }) => fieldOf(field, operation.resource)),
    operation.resource,
  );
  // Runs keep ids only, and name their records to a person from what was shown on this machine.
  const cache = context.isInteractive ? await cacheFor(context, operation.resource) : undefined;
  const previewer = new Previewer(context, invocation, rows, session, (row, record, plan) => {
    fields.observe(record);
    columns?.observe(record);
    cache?.observe(record);
    observe?.(row, record, plan);
  });
  await previewer.decideFromList();
  await previewer.decideOneByOne();
  await cache?.write({ whole: false });
  const preview = previewer.preview();
  columns?.check();
  fields.check(fields.labels());
  const skipped = preview.decided.filter(({ result }) => result === 'skipped');
  session.planned?.(invocation.isSingle, new Set(skipped.map(({ row }) => row)));
  return preview;
}

/** Receives each record that is read, with its row and the plan for it. */
export type ObserveRow = (row: Task, record: JsonObject, plan: RowPlan) => void;

interface ReadRow {
  readonly record: JsonObject | undefined;
  readonly plan: RowPlan;
  /** Absent if the record comes from a list. */
  readonly read?: RecordState;
}

class Previewer {
  private readonly found: (Task | ReportRow | undefined)[];
  private readonly names = new Map<string, string>();
  private readonly times = new Map<string, string>();
  private readonly shared = intern<readonly RowChange[]>();
  private readonly breaker: CircuitBreaker;
  /** An invalid value in a CSV is an error in the file, so nothing is sent. */
  private readonly inputErrors: InputErrors | undefined;
  /** The fields that the guards look at. */
  private readonly guarded: readonly string[];
  private firstCall: Call | undefined;
  /** The state read for a single row; absent for several rows. */
  private onlyRead: Pick<Preview, 'error' | 'record' | 'plan'> = {};

  constructor(
    private readonly context: Context,
    private readonly invocation: Invocation,
    private readonly rows: readonly Task[],
    private readonly session: Session,
    private readonly observe: ObserveRow,
  ) {
    const { source, guards } = invocation;
    const { ifStatus, conditions = [] } = guards;
    this.found = rows.map(() => undefined);
    this.breaker = new CircuitBreaker(() => context.api.limiter.silent);
    this.inputErrors = source === 'csv' ? new InputErrors() : undefined;
    this.guarded = [
      ...(ifStatus ? ['status'] : []),
      ...conditions.map(({ field }) => field.split('.', 1)[0] ?? field),
    ];
  }

  /**
   * Decides many rows from one list, without keeping its records. Leaves them to single reads if these
   * are cheaper or the list is forbidden.
   */
  async decideFromList(): Promise<void> {
    const { resource } = this.invocation.operation;
    const { rows, found } = this;
    const isUnread = (row: Task) => !row.record && !sessionFor(this.session, row).isBlind;
    const unreadCount = rows.reduce((count, row) => (isUnread(row) ? count + 1 : count), 0);
    if (unreadCount <= singleReads || isReadByList(resource)) return;
    const indexById = new Map<string, number>();
    for (const [index, { id }] of rows.entries()) indexById.set(id, index);
    try {
      for await (const batch of this.context.api.list(resource).batches())
        for (const record of batch) {
          this.session.sees?.(record);
          const index = indexById.get(String(record['id'])) ?? -1;
          const row = rows[index];
          if (row && isUnread(row))
            found[index] = await this.decide(row, this.planListed(row, record));
        }
    } catch (error) {
      // A key may be allowed to read records but not to list them.
      if (!isForbidden(error)) throw error;
    }
  }

  /** Decides the other rows, several at a time, each from the record that a filter listed or a read of its own. */
  async decideOneByOne(): Promise<void> {
    const { rows, found, context, invocation } = this;
    const concurrency = invocation.values.concurrency ?? context.settings.concurrency;
    const unread = rows.entries();
    const worker = async () => {
      for (const [index, row] of unread) {
        if (found[index]) continue;
        const { record, ...bare } = row;
        found[index] =
          (record && (await this.decide(bare, this.planListed(bare, record)))) ??
          (await this.decide(bare, this.planRead(bare)));
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, worker));
  }

  preview(): Preview {
    const { found, names, times, firstCall } = this;
    this.inputErrors?.throwIfAny();
    const all = found.filter((entry) => entry !== undefined);
    return {
      tasks: all.filter((entry) => !('result' in entry)),
      decided: all.filter((entry) => 'result' in entry),
      names,
      times,
      firstCall,
      ...this.onlyRead,
    };
  }

  /** Plans a row from a listed record; undefined if the list omits fields that the row needs, or may be out of date. */
  private async planListed(row: Task, record: JsonObject): Promise<ReadRow | undefined> {
    const needed = [
      ...this.guarded,
      ...(row.own?.['ifStatus'] === undefined ? [] : ['status']),
      ...(sessionFor(this.session, row).compares?.(row) ?? []),
    ];
    if (!needed.every((field) => Object.hasOwn(record, field))) return undefined;
    const plan = await this.session.plan(row, { record, at: this.context.instant() });
    const isDetermined = changesOf(plan).every(
      ({ field, from }) => (from !== null && from !== undefined) || Object.hasOwn(record, field),
    );
    return isDetermined && !plan.isDoubtful ? { record, plan } : undefined;
  }

  private async planRead(row: Task): Promise<ReadRow> {
    const read = await this.session.read(row, 'preview');
    return { record: read.record, plan: await this.session.plan(row, read), read };
  }

  /** Decides a row from its plan; undefined if it could not be planned. */
  private async decide(row: Task, planning: Promise<ReadRow | undefined>) {
    try {
      const planned = await planning;
      return planned && this.decidePlanned(row, planned);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return this.fail(row, error);
    }
  }

  private decidePlanned(row: Task, { record, plan, read }: ReadRow): Task | ReportRow {
    const isOnly = this.rows.length === 1;
    this.breaker.recordResult('unchanged', false);
    if (isOnly) this.onlyRead = { record, plan };
    if (record) {
      this.keepLabels(row, record);
      this.observe(row, record, plan);
    }
    const { guards } = this.invocation;
    const { row: place, id, ref, previewed: before } = row;
    const own = plan.expects ? { ...row.own, expects: plan.expects } : row.own;
    // In a retry, a first step that someone else has undone is a new one, with every guard.
    const startsAnew = !before && row.done?.step === plan.steps[0]?.name;
    const done = startsAnew ? undefined : row.done;
    const decided = decideRow(row, record, plan, { guards, previewed: before, done });
    if (decided) return reportRow(row, decided);
    this.firstCall ??= plan.steps[0]?.call;
    // Spelled out, because a spread plus one field would give each object its own hidden class.
    const task = { row: place, id, ref, own, done, previewed: this.shared(changesOf(plan)) };
    // The only row keeps its record, so that it is not read again if still fresh at its turn.
    return isOnly && read ? { ...task, previewState: read } : task;
  }

  /** The row of a failure; throws one that would recur for every row, and so stop a run. */
  private fail(row: Task, error: Failure): ReportRow {
    // The deletion of a process that was killed took effect, as the run will find when it is resumed.
    if (row.open && sessionFor(this.session, row).provenByAbsence && isProvenNotFound(error))
      return reportRow(row, { result: 'unchanged' });
    if (error instanceof InputError) this.inputErrors?.add(error);
    // Too many open files concern this row only.
    if (!(error instanceof SystemLimitError)) this.breaker.recordFailure(error, false);
    if (this.breaker.stop || error.exitName === 'interrupted') throw error;
    if (this.rows.length === 1) this.onlyRead = { error };
    const described = rowError(this.context, this.invocation.action.split('.'), error, row.id);
    return reportRow(row, { result: resultOf(error), error: described });
  }

  private keepLabels({ row, id }: SelectedRow, record: JsonObject): void {
    const { rows, names, times } = this;
    if (row > (rows[Math.min(rows.length, mostNamed) - 1]?.row ?? 0)) return;
    const { field, descending } = usualSorting(this.invocation.operation.resource);
    const { name, [field]: time } = record;
    if (typeof name === 'string') names.set(id, name);
    if (descending && typeof time === 'string') times.set(id, time);
  }
}
