import { resource as rowOf } from '../api/resources.js';
import type { Call } from '../api/types.js';
import { judge, resultOf, isForbidden, stopsRun } from '../bulk/judge.js';
import type { ReportRow } from '../bulk/report.js';
import type { Task } from '../bulk/runner.js';
import type { Look, RowChange, RowWork, SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { sharing } from '../data/sharing.js';
import { Failure, GuardError } from '../errors.js';
import type { BulkJob } from './bulk-part.js';
import type { Plan } from './define.js';
import { fieldOf, FieldsSeen } from './fields-seen.js';

/** What the preview found: rows that are to be written, and those that are decided already. */
export interface Preview {
  readonly tasks: readonly Task[];
  readonly decided: readonly ReportRow[];
  /** What a person calls the records of the first rows, by row. */
  readonly names?: ReadonlyMap<number, string>;
  /** The first call of the first row that is to be written: the others go the same way. */
  readonly firstCall?: Call | undefined;
}

/** So many single reads are cheaper than a list that may be long. */
const singleReads = 25;
const exhaustedReads = 5;
const forbiddenReads = 3;

/**
 * Looks at every row and sends nothing but reads; many rows share one list. Throws what stops a
 * run: a refused key, a service that does not answer, a 403 that keeps coming.
 */
export async function previewRows(
  context: Context,
  rows: readonly SelectedRow[],
  job: BulkJob,
  work: RowWork<Plan>,
  resource: Parameters<Context['api']['list']>[0],
  concurrency: number,
): Promise<Preview> {
  const found: (Task | ReportRow | undefined)[] = rows.map(() => undefined);
  const { conditions = [] } = work.guards;
  const fields = new FieldsSeen(
    conditions.map(({ field }) => fieldOf(field, resource)),
    resource,
  );
  const preview = previewer(job, work, fields, new Meter(() => context.api.limiter.silent));
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
  fields.check();
  const all = found.filter((entry) => entry !== undefined);
  return {
    tasks: all.filter((entry) => !('result' in entry)),
    decided: all.filter((entry) => 'result' in entry),
    names: preview.names,
    firstCall: preview.firstCall(),
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
  if (unread <= singleReads || rowOf(resource).calls.get === undefined) return;
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

/** Decides rows by what a list shows of them, or by a read of their own. */
function previewer(job: BulkJob, work: RowWork<Plan>, fields: FieldsSeen, meter: Meter) {
  const same = sharing<readonly RowChange[]>();
  const names = new Map<number, string>();
  let firstCall: Call | undefined;
  const decide = async (
    row: SelectedRow,
    see: () => Promise<Look<Plan> | undefined>,
  ): Promise<Task | ReportRow | undefined> => {
    try {
      const look = await see();
      if (!look) return undefined;
      meter.good();
      if (look.record) fields.see(look.record);
      const verdict = judge(row, look, work.guards, row.previewed);
      if (!verdict.write) return verdict.row;
      firstCall ??= look.plan.calls[0];
      const name = look.record?.['name'];
      if (row.row <= mostNamed && typeof name === 'string') names.set(row.row, name);
      const seen = look.changes.map(({ field, from, to }) => ({ field, from, to }));
      // Spelt out: a spread with one more field gives each object a hidden class of its own.
      return { row: row.row, id: row.id, own: row.own, previewed: same(seen) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      meter.bad(error);
      return { row: row.row, id: row.id, result: resultOf(error), error: work.tell(error, row.id) };
    }
  };
  const { ifStatus, conditions = [] } = work.guards;
  const guarded = [
    ...(ifStatus ? ['status'] : []),
    ...conditions.map(({ field }) => field.split('.', 1)[0] ?? field),
  ];
  const evidence = (row: SelectedRow) => [
    ...guarded,
    ...(row.own?.['ifStatus'] === undefined ? [] : ['status']),
    ...(job.compares?.(row) ?? []),
  ];
  return {
    names,
    firstCall: () => firstCall,
    /** Undefined where the list shows less of the record than its own GET would: then it is read alone. */
    listed: (row: SelectedRow, record: JsonObject) =>
      decide(row, async () => {
        if (!evidence(row).every((field) => Object.hasOwn(record, field))) return undefined;
        const plan = await job.plan(row, record);
        const seen = plan.changes.every(
          ({ field, from }) => from !== null || Object.hasOwn(record, field),
        );
        return seen ? { record, changes: plan.changes, plan } : undefined;
      }),
    alone: (row: SelectedRow) => decide(row, () => work.look(row, 'preview')),
  };
}

/** When reading on would only meet the same refusal. */
class Meter {
  private seen = false;
  private exhausted = 0;
  private forbidden = 0;

  constructor(private readonly isSilent: () => boolean) {}

  good(): void {
    this.seen = true;
    this.exhausted = 0;
    this.forbidden = 0;
  }

  bad(error: Failure): void {
    // A guard of the whole command line (a name that is taken) concerns every row.
    const guarded = error instanceof GuardError;
    if (guarded || stopsRun(error) || error.exitName === 'interrupted') throw error;
    this.exhausted = error.exitName === 'temporary' ? this.exhausted + 1 : 0;
    this.forbidden = isForbidden(error) ? this.forbidden + 1 : 0;
    const isFirst = !this.seen;
    if (error.exitName !== 'temporary') this.seen = true;
    if (this.exhausted > 0 && this.isSilent()) throw error;
    if (this.exhausted >= exhaustedReads || this.forbidden >= forbiddenReads) throw error;
    if (isForbidden(error) && isFirst) throw error;
  }
}
