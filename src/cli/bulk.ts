import * as z from 'zod/mini';
import { keepHeapClose } from '../api/heap.js';
import { exitOf, type ReportRow } from '../bulk/report.js';
import type { SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import { flowOf, type Item } from '../data/flow.js';
import type { JsonObject } from '../data/json.js';
import { UsageError } from '../errors.js';
import type { BulkValues } from './bulk-flags.js';
import { checkExpected, tellCap, tellPreview } from './bulk-confirm.js';
import { errorsBefore } from './bulk-limits.js';
import { previewRows } from './bulk-preview.js';
import {
  type ExecutedRun,
  executeRun,
  failedRun,
  type KeptJob,
  openJob,
  reportOf,
} from './bulk-run.js';
import { filterKey, selectByFilter, selectLocally } from './bulk-select.js';
import { reportFields, reportView, type Shown, tellSummary } from './report-view.js';
import { checkResults } from './results-file.js';
import { prepare } from './bulk-begin.js';
import {
  type Beginning,
  type BulkLine,
  inputOf,
  limitPace,
  type Prepared,
  withLock,
} from './bulk-line.js';

/** Flags that only a run can honour: with one of them a single id is a run too. */
export function asksForRun(values: BulkValues): boolean {
  const { expect, maxChanges, results, restart, exitCode, ifStatus } = values;
  return (
    [expect, maxChanges, results, ifStatus, values.if].some((value) => value !== undefined) ||
    (restart ?? false) ||
    (exitCode ?? false)
  );
}

/**
 * Selects, previews, asks and changes. Throws UsageError and InputError before any request,
 * GuardError where a cap, a lock or a doubtful list refuses.
 */
export async function runBulk(context: Context, line: BulkLine): Promise<Shown> {
  const { part, values, source } = line;
  if (values.exitCode && !context.settings.dryRun)
    throw new UsageError('--exit-code belongs to --dry-run.');
  await checkResults(context, values);
  await checkFields(context);
  const kept: KeptJob = {
    job: await part.job(context, values as never),
    guards: {
      ifStatus: values['ifStatus'] as readonly string[] | undefined,
      conditions: values.if,
    },
  };
  const local = await selectBefore(context, line);
  part.checkRows?.(kept.job, local?.rows ?? [], source);
  await keepHeapClose(local?.rows.length ?? 0);
  if (local) checkExpected(local.rows.length, values);
  limitPace(context, values);
  if (context.settings.dryRun) {
    const rows = local?.rows ?? (await selectByFilter(context, values, part));
    return dryRun(context, line, kept, rows);
  }
  const key = local?.digest ?? filterKey(values, part);
  const input = { header: local?.header ?? ['id'], rows: local?.rows };
  return withLock(context, line, async (store, head, lock) => {
    const full = { ...head, input: inputOf(head, kept, source, key) };
    return begin(context, line, { store, head: full, lock, kept, input });
  });
}

/** A misspelt field of the report is told before anything is done. */
export async function checkFields({ settings: { fields, output } }: Context): Promise<void> {
  if (!fields) return;
  const { checkRowFields } = await import('./chosen-fields.js');
  const isWhole =
    output === 'json' && fields.every((field) => reportFields.has(field.split('.')[0]));
  if (!isWhole) checkRowFields(fields, reportView);
}

/** The rows, where nothing has to be sent to know them. */
async function selectBefore(context: Context, { part, values, source }: BulkLine) {
  if (part.rows) return part.rows(context, values as never);
  return source === 'filter' ? undefined : selectLocally(context, values, part, source);
}

async function begin(context: Context, line: BulkLine, beginning: Beginning): Promise<Shown> {
  const found = await prepare(context, line, beginning);
  if (!('ready' in found)) beginning.lock.release();
  return showRun(context, found);
}

// --- dry run ---

/** Looks at rows as a run would and sends nothing; `run`: the one that would go on with them. */
export async function dryRun(
  context: Context,
  { part, words, values }: Omit<BulkLine, 'source'>,
  kept: KeptJob,
  rows: readonly SelectedRow[],
  run: string | null = null,
): Promise<Shown> {
  checkExpected(rows.length, values);
  const { job, work } = openJob(context, part, words, kept);
  const concurrency = values.concurrency ?? context.settings.concurrency;
  const preview = await previewRows(context, rows, job, work, part.resource, concurrency);
  const { tasks, decided } = preview;
  const action = words.join('.');
  if (tasks.length > 0 && !part.neverAsks) tellPreview(context, action, rows.length, preview);
  if (!part.neverAsks) tellCap(context, action, tasks.length, values);
  const { wrong, isTooMany } = errorsBefore(values, decided);
  if (tasks.length > 0 && isTooMany)
    context.tell(`Without --dry-run nothing would be sent: ${wrong} failed or conflicted.`);
  const would = tasks.map(({ row, id, previewed = [] }) => ({
    row,
    id,
    result: 'would_change' as const,
    before: Object.fromEntries(previewed.map(({ field, from }) => [field, from])),
    after: Object.fromEntries(previewed.map(({ field, to }) => [field, to])),
  }));
  const report = reportOf(context, { action, run }, [...would, ...decided]);
  const exitName = exitOf(report.summary, undefined);
  tellSummary(context, report);
  const pending = values.exitCode && exitName === 'done' && tasks.length > 0;
  return {
    value: report,
    view: reportView,
    exitName: pending ? 'changesPending' : exitName,
    failed: failedRun(report, exitName),
  };
}

// --- showing ---

/**
 * Executes what was prepared. ndjson: each row when its result is on disk, the summary last; other
 * formats, and where nothing was to be sent: the whole report.
 */
export async function showRun(context: Context, found: Prepared): Promise<Shown> {
  if (!('ready' in found)) {
    const { report: value, ...ended } = found;
    tellSummary(context, value);
    return { value, view: reportView, isReport: true, ...ended };
  }
  if (context.settings.output !== 'ndjson') {
    const {
      report: value,
      exitName,
      failed,
      written,
      tell,
    } = await executeRun(context, found.ready);
    const below = context.personReads && !context.settings.fields;
    if (!below) tell();
    return {
      value,
      view: reportView,
      isReport: true,
      exitName,
      failed,
      written,
      ...(below && { tellAfter: tell }),
    };
  }
  const { ready } = found;
  let ended: ExecutedRun | undefined;
  const stream = async function* (): AsyncGenerator<readonly Item<JsonObject>[]> {
    const line = newQueue<ReportRow>();
    const running = executeRun(context, ready, line.push).finally(line.end);
    running.catch(() => {});
    try {
      for await (const rows of line.batches()) yield rows.map((value) => ({ value }));
    } finally {
      // A reader that went away does not stop what was begun.
      ended = await running;
      ended.tell();
    }
    const { results: _, ...summary } = ended.report;
    if (!context.settings.fields) yield [{ value: { type: 'summary', ...summary } }];
  };
  return {
    value: flowOf(stream),
    view: {
      kind: 'records',
      schema: z.array(z.looseObject({})),
      rowFields: reportView.rowFields,
    },
    isReport: true,
    get exitName() {
      return ended?.exitName ?? 'failed';
    },
    get failed() {
      return ended?.failed;
    },
    written: async () => ended?.written?.(),
  };
}

/** What is pushed comes out in order, as it comes, until the end. */
function newQueue<T>() {
  let queue: T[] = [];
  let over = false;
  let wake: (() => void) | undefined;
  return {
    push: (item: T) => {
      queue.push(item);
      wake?.();
    },
    end: () => {
      over = true;
      wake?.();
    },
    async *batches(): AsyncGenerator<readonly T[]> {
      for (;;) {
        const found = queue;
        queue = [];
        if (found.length > 0) yield found;
        if (queue.length > 0) continue;
        if (over) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
