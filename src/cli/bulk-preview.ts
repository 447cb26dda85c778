import { judge, resultOf, isForbidden, stopsRun } from '../bulk/judge.js';
import { countsAsError, type ReportRow } from '../bulk/report.js';
import type { Task } from '../bulk/runner.js';
import type { Look, RowChange, RowWork, SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { sharing } from '../data/sharing.js';
import { plural } from '../data/words.js';
import { CancelledError, Failure, GuardError, UsageError } from '../errors.js';
import type { BulkValues } from './bulk-flags.js';
import type { BulkJob } from './bulk-part.js';
import type { Plan } from './define.js';
import { fieldOf, FieldsSeen } from './fields-seen.js';

/** What the preview found: rows that are to be written, and those that are decided already. */
export interface Preview {
  readonly tasks: readonly Task[];
  readonly decided: readonly ReportRow[];
  /** What a person calls the records of the first rows, by row. */
  readonly names?: ReadonlyMap<number, string>;
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
  const preview = previewer(job, work, fields, new Meter(() => context.api.pace.silent));
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
  };
}

/** Where, how many, counts per move, the first five rows, and what cannot be called back. */
function previewLines(
  context: Context,
  action: string,
  total: number,
  { tasks, decided, names }: Preview,
): string[] {
  const moves = new Map<string, number>();
  for (const { previewed = [] } of tasks)
    for (const change of previewed) {
      if (change.field !== 'status') continue;
      const move = `${text(change.from)} → ${text(change.to)}`;
      moves.set(move, (moves.get(move) ?? 0) + 1);
    }
  const first = tasks.slice(0, mostShown).map(({ row, id, previewed = [] }) => {
    const name = names?.get(row);
    const changes = previewed.map(({ field, from, to }) => `${field} ${text(from)} → ${text(to)}`);
    return `  ${id}${name === undefined ? '' : ` (${text(name)})`}: ${changes.join(', ')}`;
  });
  const { profile } = context.settings;
  return [
    `${action.replace('.', ' ')}: ${tasks.length} of ${plural(total, 'record')} would ${verbOf(action).would}`,
    `profile ${profile.name}, organization ${context.api.organizationId}, ${context.api.baseUrl}`,
    ...[...moves].map(([move, count]) => `  ${count} ${move}`),
    ...first,
    ...andMore(tasks),
    ...failingLines(decided),
    ...(moves.size > 0
      ? [
          "Status changes emit events that the organization's Flows may act on; they cannot be called back.",
        ]
      : []),
  ];
}

const mostShown = 5;

function andMore({ length }: readonly unknown[]): string[] {
  return length > mostShown ? [`  and ${length - mostShown} more`] : [];
}

/** Who is asked is to know as well what will not be done: a word too many may stand among the ids. */
function failingLines(decided: readonly ReportRow[]): string[] {
  const failing = decided.filter(({ result }) => countsAsError(result));
  if (failing.length === 0) return [];
  const lines = failing.slice(0, mostShown).map(({ id, error }) => {
    const { message } = (error ?? {}) as { readonly message?: string };
    return `  ${id}: ${message ?? 'cannot be changed'}`;
  });
  return [`${plural(failing.length, 'row')} cannot be changed:`, ...lines, ...andMore(failing)];
}

interface Verb {
  /** Begins a question. */
  readonly ask: string;
  /** Of records: `would …`. */
  readonly would: string;
}

const changing: Verb = { ask: 'Change', would: 'change' };
const verbs: { readonly [verb: string]: Verb } = {
  delete: { ask: 'Delete', would: 'be deleted' },
  convert: { ask: 'Convert', would: 'be converted' },
};

/** How to speak of an action (`documents.delete`): who deletes is never asked about a change. */
function verbOf(action: string): Verb {
  return verbs[action.slice(action.indexOf('.') + 1)] ?? changing;
}

/** Shows the preview on stderr. */
export function tellPreview(
  context: Context,
  action: string,
  total: number,
  preview: Preview,
): void {
  for (const line of previewLines(context, action, total, preview)) context.tell(line);
}

const defaultMaxChanges = 100;

/** What a dry run says where the cap would stop the line. */
export function tellCap(context: Context, action: string, count: number, values: Cap): void {
  if (!isAboveCap(count, values)) return;
  context.tell(
    `${wouldBe(action, count)}, more than --max-changes ${capOf(values)}: without --dry-run say --expect N or --max-changes ${count} as well.`,
  );
}

type Cap = Pick<BulkValues, 'expect' | 'maxChanges'>;

function capOf({ maxChanges = defaultMaxChanges }: Cap): number {
  return maxChanges;
}

/** Who names the number of rows has agreed to it. */
function isAboveCap(count: number, values: Cap): boolean {
  return count > capOf(values) && values.expect === undefined;
}

function wouldBe(action: string, count: number): string {
  return `${plural(count, 'record')} would ${verbOf(action).would}`;
}

/** `--expect`: exactly so many rows. Throws GuardError. */
export function checkExpected(selected: number, { expect }: Pick<BulkValues, 'expect'>): void {
  if (expect === undefined || expect === selected) return;
  throw new GuardError(
    `${plural(selected, 'row is', 'rows are')} selected and --expect says ${expect}. Nothing was changed.`,
    { code: 'expect', hint: 'Look at the rows: the same line with --dry-run.' },
  );
}

/** Asks before the first write, or refuses. Throws GuardError, UsageError, CancelledError. */
export async function confirmChanges(
  context: Context,
  action: string,
  count: number,
  values: Cap,
  asks: boolean,
): Promise<void> {
  const { prompts, settings } = context;
  const { ask } = verbOf(action);
  const records = plural(count, 'record');
  const most = capOf(values);
  const many = isAboveCap(count, values);
  if (many && (settings.yes || prompts.nobody !== undefined))
    throw new GuardError(
      `${wouldBe(action, count)}, more than --max-changes ${most}. Nothing was changed.`,
      { code: 'maxChanges', hint: `If that is right, add: --expect N, or --max-changes ${count}` },
    );
  if (many) {
    const typed = await prompts.text(`${ask} ${records}? Type the number to confirm:`);
    if (typed.trim() === String(count)) return;
    throw new CancelledError('Nothing was done.');
  }
  if ((!asks && count <= most) || settings.yes) return;
  const { nobody } = prompts;
  if (nobody !== undefined)
    throw new UsageError(`${wouldBe(action, count)}, and ${nobody}.`, {
      hint: 'Add --yes to do it, or --dry-run to look first.',
    });
  if (!(await prompts.confirm(`${ask} ${records}?`))) throw new CancelledError('Nothing was done.');
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
  if (unread <= singleReads || resource === 'documents') return;
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
  const decide = async (
    row: SelectedRow,
    see: () => Promise<Look<Plan> | undefined>,
  ): Promise<Task | ReportRow | undefined> => {
    try {
      const look = await see();
      if (!look) return undefined;
      meter.good();
      if (look.record) fields.see(look.record);
      const verdict = judge(row, look, work.guards, undefined);
      if (!verdict.write) return verdict.row;
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
  return {
    names,
    /** Undefined where the list shows less of the record than its own GET would: then it is read alone. */
    listed: (row: SelectedRow, record: JsonObject) =>
      decide(row, async () => {
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

function text(value: unknown): string {
  if (value === undefined) return '?';
  if (value === null) return '-';
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  return words.length > 60 ? `${words.slice(0, 59)}…` : words;
}
