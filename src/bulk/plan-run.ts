/** Plans a run up to its first write: earlier runs, preview, confirmation, and its folder on disk. */
import type { Context } from '../context.js';
import { labelOf } from '../data/path.js';
import type { Session, Task } from '../engine/operation.js';
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { BeforeImages } from '../runs/before-images.js';
import { tidyOpenRuns } from '../runs/end.js';
import { type DamagedRun, damagedBefore, type Journal, setAsideAll } from '../runs/journal.js';
import { isSamePlace, type RunPlan, requireContinuable } from '../runs/plan.js';
import { isFinalRow, type ReportRow, type SelectedRow } from '../runs/report.js';
import type { RunStore } from '../runs/store.js';
import { createRun, type RunOptions, writeOptions } from '../runs/stored-run.js';
import { checkExpected, confirmChanges, printPreview, printPreviewNotes } from './confirm.js';
import {
  awaitEarlierWrites,
  closeReplacedRun,
  recordCarried,
  reportAgain,
  startedTasks,
  unreportedRun,
  withCarried,
} from './earlier-runs.js';
import { errorsBefore } from './error-limits.js';
import type { Invocation } from './invocation.js';
import {
  endUnsent,
  notAttempted,
  type Planned,
  planOf,
  type RunSetup,
  stopsEveryRow,
  unreadRows,
  warnOfRefusals,
  withoutValues,
} from './planned-run.js';
import { type Preview, previewRows } from './preview.js';
import { subjectOf } from './preview-lines.js';
import { openSession } from './references.js';
import { continueRun, imagesOf } from './resume.js';
import { selectByFilter } from './select-rows.js';

/**
 * Plans a run, or resumes the unfinished one of the same command line. Throws UsageError, GuardError or
 * CancelledError if it may not start, and failures that stop every row.
 */
export async function planRun(
  context: Context,
  invocation: Invocation,
  setup: RunSetup,
): Promise<Planned> {
  const { operation, values } = invocation;
  const { store, head, input } = setup;
  const { recovery } = operation;
  const damaged: DamagedRun[] = [];
  const open = store
    ? await tidyOpenRuns(store, {
        self: context.self,
        now: context.now(),
        undoKeepMs: context.settings.undoKeepMs,
        onDamaged: (run) => damaged.push(run),
      })
    : [];
  const unreported = head.addsEachTime && !values.restart && unreportedRun(open, head.input);
  if (store && unreported) return reportAgain(context, invocation, store, unreported);
  const earlier = open.filter(
    (run) =>
      (!run.finished || (run.head.input === head.input && recovery?.hasLeftovers(run))) &&
      isSamePlace(run.head, head) &&
      run.head.resource === head.resource,
  );
  const same = earlier.filter((run) => run.head.input === head.input && run.plan);
  const last = same.at(-1);
  const isRestart = values.restart ?? false;
  const selectsAnew = operation.selectsAnew ?? !input.rows;
  const checkDamaged = (rows: readonly SelectedRow[]) =>
    damagedBefore(context, damaged, {
      head,
      subjectOf: recovery?.subjectOf,
      rows,
      restart: isRestart,
    });
  if (store && last && !isRestart && input.rows && !selectsAnew) {
    checkExpected(input.rows.length, values);
    checkDamaged(input.rows);
    const begun = { ...setup, store, input: { ...input, rows: input.rows } };
    return { ready: await continueRun(context, invocation, begun, last) };
  }
  const { rows: selected, matched } = input.rows
    ? { rows: input.rows, matched: input.rows.length }
    : await selectByFilter(context, values, operation);
  checkExpected(selected.length, values);
  if (!isRestart) same.forEach(requireContinuable);
  const carried = store && !isRestart && selectsAnew ? await startedTasks(store, same) : [];
  const rows = withCarried(carried, selected);
  const toSetAside = checkDamaged(rows);
  const waitedFrom = context.now().getTime();
  // What another create makes is a record of its own.
  await awaitEarlierWrites(context, earlier, operation.createsRow ? [] : rows, same);
  const resolved: readonly Task[] = (await operation.resolve?.()) ?? rows;
  if (operation.resolve) await awaitEarlierWrites(context, earlier, resolved, []);
  return beginRun(context, invocation, setup, {
    // These writes have been awaited already; verification must not wait for them again.
    rows: resolved.map((row) =>
      row.open ? { ...row, open: { ...row.open, goneBy: waitedFrom } } : row,
    ),
    carried: rows.slice(0, carried.length),
    matched: matched + rows.length - selected.length,
    carriedNames: same.flatMap(({ plan }) => [...(plan?.names ?? [])]),
    async replaceOthers(session, options) {
      if (store)
        for (const run of same)
          await closeReplacedRun(
            store,
            run,
            session,
            recovery?.hasLeftovers(run) ?? false,
            options,
          );
      await setAsideAll(context, toSetAside);
    },
  });
}

/** The rows of a new run, and how to close the runs that it replaces. */
interface NewRows {
  readonly rows: readonly Task[];
  /** Unfinished rows of replaced runs; they come first and are not previewed. */
  readonly carried: readonly Task[];
  /** How many records match, before `--limit` cut them. */
  readonly matched: number;
  /** The names of their records, by id. */
  readonly carriedNames: Iterable<readonly [id: string, name: string]>;
  readonly replaceOthers: (session: Session, options: RunOptions) => Promise<void>;
}

async function beginRun(
  context: Context,
  invocation: Invocation,
  setup: RunSetup,
  { rows, carried, matched, carriedNames, replaceOthers }: NewRows,
): Promise<Planned> {
  const { operation, values, isSingle } = invocation;
  const { store, head, lock, input } = setup;
  const subject = subjectOf(invocation, { matched, isCut: matched > rows.length });
  let { kept } = setup;
  let session = openSession(context, operation, kept.job);
  const options = writeOptions(context, lock);
  const newRows = rows.slice(carried.length);
  const runPreview = () => previewRows(context, newRows, invocation, session, kept.guards);
  let preview: Preview | undefined;
  const endWith = (results: readonly ReportRow[], stop?: ExitName) =>
    endUnsent(context, head, values, { header: input.header, rows }, results, {
      ...(stop && { stop }),
      names: preview?.names,
    });
  try {
    preview = await runPreview();
  } catch (error) {
    if (!(error instanceof Failure) || !stopsEveryRow(error)) throw error;
    if (isSingle && !operation.reports) throw error;
    const report = await endWith(rows.map(notAttempted), error.exitName);
    const only = { session, record: undefined, failure: error };
    return { ...report, only, failed: { id: '', error, isUnreported: true } };
  }
  const refusal = operation.refuses?.(preview);
  if (refusal) {
    const untouched = [...carried, ...preview.tasks].map(notAttempted);
    const report = await endWith([...preview.decided, ...untouched], refusal.exitName);
    return { ...report, failed: { id: '', error: refusal, isUnreported: true } };
  }
  const [only] = preview.tasks;
  if (isSingle && only?.previewState?.record && operation.ask) {
    const job = await operation.ask(context, kept.job, only, only.previewState.record);
    if (job !== kept.job) {
      kept = { ...kept, job };
      session = openSession(context, operation, job);
      preview = await runPreview();
    }
  }
  const { decided } = preview;
  const tasks = [...carried, ...preview.tasks];
  if (tasks.length === 0) {
    await replaceOthers(session, options);
    const { record, failure } = preview;
    return { ...(await endWith(decided)), only: { session, record, failure } };
  }
  const { errorCount, isTooMany, remaining } = errorsBefore(values, decided);
  if (isTooMany) {
    context.message(`Stopped before the first write: ${errorCount} failed or conflicted.`);
    return endWith([...decided, ...tasks.map(notAttempted)], 'rowsFailed');
  }
  const fullPreview = {
    ...preview,
    tasks,
    names: new Map([...carriedNames, ...(preview.names ?? [])]),
  };
  if (operation.confirm !== 'never' && !isSingle) printPreview(context, subject, fullPreview);
  printPreviewNotes(context, operation, fullPreview);
  await warnOfRefusals(context, invocation, session, tasks.length);
  if (preview.firstCall) context.api.noteAssumedRoute(preview.firstCall);
  const record = only?.previewState?.record;
  await confirmChanges(
    context,
    {
      ...subject,
      count: tasks.length,
      rule: operation.confirm,
      isSingle,
      preview: fullPreview,
      ...(isSingle && only && { question: session.question?.(only, record) }),
      ...(operation.confirm === 'name' && { name: labelOf(record, only?.id ?? '') }),
    },
    values,
  );
  const plan = planOf({ ...head, rows: rows.length }, kept, rows, fullPreview, (text) =>
    context.api.isKey(text),
  );
  const { journal, images } = store
    ? await keepRun(context, store, plan, options)
    : { journal: noJournal, images: undefined };
  await recordCarried(journal, images, carried);
  await replaceOthers(session, options);
  const finished = decided.filter(isFinalRow);
  await Promise.all(
    finished.map((row) => journal.append({ kind: 'result', ...withoutValues(row) })),
  );
  return {
    ready: {
      invocation,
      store,
      plan,
      journal,
      images,
      session,
      tasks: [...tasks, ...unreadRows(plan, decided)].toSorted((a, b) => a.row - b.row),
      finished,
      limits: { ...values, ...(remaining !== undefined && { maxErrors: remaining }) },
      input: { header: input.header, rows: values.results === undefined ? [] : rows },
      release: () => lock?.release(),
    },
  };
}

/** The journal of a run that cannot be kept: it writes nothing. */
const noJournal: Journal = { records: [], last: 0, append: async () => {}, close: async () => {} };

/** Creates a run's folder: its plan, its journal, and the before-images unless `undo.keep` is off. */
async function keepRun(
  context: Context,
  store: RunStore,
  plan: RunPlan,
  options: RunOptions,
): Promise<{ readonly journal: Journal; readonly images: BeforeImages | undefined }> {
  const journal = await createRun(store, plan, options);
  return { journal, images: imagesOf(context, store, plan.head.run, options) };
}
