/** Plans a run up to its first write: earlier runs, preview, confirmation, and its folder on disk. */
import type { Context } from '../context.js';
import { labelOf } from '../data/path.js';
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { BeforeImages } from './before-images.js';
import {
  checkExpected,
  confirmChanges,
  errorsBefore,
  printPreviewNotes,
  printPreview,
} from './confirm.js';
import {
  begunTasks,
  closeReplacedRun,
  keepCarried,
  reportAgain,
  awaitEarlierWrites,
  unreportedRun,
  withCarried,
} from './earlier-runs.js';
import { takeOpenRuns } from './end-run.js';
import type { Invocation } from './invocation.js';
import { damagedBefore, type DamagedRun, type Journal, setAsideAll } from './journal.js';
import type { Session, Task } from './operation.js';
import {
  endUnsent,
  notAttempted,
  type Planned,
  planOf,
  type RunSetup,
  scrubbed,
  stopsEveryRow,
  unread,
} from './planned-run.js';
import { type Preview, previewRows } from './preview.js';
import { isFinalRow, type ReportRow, type SelectedRow } from './report.js';
import { continueRun, imagesOf } from './resume.js';
import { isSamePlace, requireContinuable, type RunPlan } from './run-plan.js';
import type { RunStore } from './run-store.js';
import { createRun, type RunOptions, writingBy } from './runs.js';
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
    ? await takeOpenRuns(store, {
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
      (!run.finished || (run.head.input === head.input && recovery?.isLeft(run))) &&
      isSamePlace(run.head, head) &&
      run.head.resource === head.resource,
  );
  const same = earlier.filter((run) => run.head.input === head.input && run.plan);
  const last = same.at(-1);
  const isRestart = values.restart ?? false;
  const damagedOf = (rows: readonly SelectedRow[]) =>
    damagedBefore(context, damaged, {
      head,
      subjectOf: recovery?.subjectOf,
      rows,
      restart: isRestart,
    });
  if (store && last && !isRestart && input.rows) {
    checkExpected(input.rows.length, values);
    damagedOf(input.rows);
    const begun = { ...setup, store, input: { ...input, rows: input.rows } };
    return { ready: await continueRun(context, invocation, begun, last) };
  }
  const selected = input.rows ?? (await selectByFilter(context, values, operation));
  checkExpected(selected.length, values);
  if (!isRestart) same.forEach(requireContinuable);
  const carried = store && !isRestart && !input.rows ? await begunTasks(store, same) : [];
  const rows = withCarried(carried, selected);
  const aside = damagedOf(rows);
  const waitedFrom = context.now().getTime();
  await awaitEarlierWrites(context, earlier, rows, same);
  return beginRun(context, invocation, setup, {
    // These writes have been awaited already; verification must not wait for them again.
    rows: rows.map((row) =>
      row.open ? { ...row, open: { ...row.open, goneBy: waitedFrom } } : row,
    ),
    carried: rows.slice(0, carried.length),
    async replaceOthers(session, options) {
      if (store)
        for (const run of same)
          await closeReplacedRun(store, run, session, recovery?.isLeft(run) ?? false, options);
      await setAsideAll(context, aside);
    },
  });
}

/** The rows of a new run, and how to close the runs that it replaces. */
interface NewRows {
  readonly rows: readonly Task[];
  /** Unfinished rows of replaced runs; they come first and are not previewed. */
  readonly carried: readonly Task[];
  readonly replaceOthers: (session: Session, options: RunOptions) => Promise<void>;
}

async function beginRun(
  context: Context,
  invocation: Invocation,
  setup: RunSetup,
  { rows, carried, replaceOthers }: NewRows,
): Promise<Planned> {
  const { operation, values, isSingle } = invocation;
  const { store, head, lock, input } = setup;
  const deed = { action: head.action, verb: operation.verb };
  let { kept } = setup;
  let session = operation.open(context, kept.job as never);
  const options = writingBy(context, lock);
  const fresh = rows.slice(carried.length);
  const look = () => previewRows(context, fresh, invocation, session, kept.guards);
  const ended = (found: readonly ReportRow[], stop?: ExitName) =>
    endUnsent(context, head, values, { header: input.header, rows }, found, stop);
  let preview: Preview;
  try {
    preview = await look();
  } catch (error) {
    if (!(error instanceof Failure) || !stopsEveryRow(error)) throw error;
    if (isSingle && !operation.reports) throw error;
    const report = await ended(rows.map(notAttempted), error.exitName);
    const only = { session, record: undefined, failure: error };
    return { ...report, only, failed: { id: '', error, isUnreported: true } };
  }
  const [only] = preview.tasks;
  if (isSingle && only?.seen?.record && operation.ask) {
    const job = await operation.ask(context, kept.job, only, only.seen.record);
    if (job !== kept.job) {
      kept = { ...kept, job };
      session = operation.open(context, job as never);
      preview = await look();
    }
  }
  const { decided } = preview;
  const tasks = [...carried, ...preview.tasks];
  if (tasks.length === 0) {
    await replaceOthers(session, options);
    const { record, failure } = preview;
    return { ...(await ended(decided)), only: { session, record, failure } };
  }
  const { wrong, isTooMany, left } = errorsBefore(values, decided);
  if (isTooMany) {
    context.message(`Stopped before the first write: ${wrong} failed or conflicted.`);
    return ended([...decided, ...tasks.map(notAttempted)], 'rowsFailed');
  }
  const shown = { ...preview, tasks };
  if (operation.confirm !== 'never' && !isSingle) printPreview(context, deed, rows.length, shown);
  printPreviewNotes(context, operation, shown);
  if (preview.firstCall) context.api.noteAssumedRoute(preview.firstCall);
  const record = only?.seen?.record;
  await confirmChanges(
    context,
    {
      ...deed,
      count: tasks.length,
      rule: operation.confirm,
      isSingle,
      preview: shown,
      ...(isSingle && only && { question: session.question?.(only, record) }),
      ...(operation.confirm === 'name' && { name: labelOf(record, only?.id ?? '') }),
    },
    values,
  );
  const plan = planOf({ ...head, rows: rows.length }, kept, rows, tasks, (text) =>
    context.api.isKey(text),
  );
  const { journal, images } = store
    ? await keepRun(context, store, plan, options)
    : { journal: nowhere, images: undefined };
  await keepCarried(journal, images, carried);
  await replaceOthers(session, options);
  const finished = decided.filter(isFinalRow);
  await Promise.all(finished.map((row) => journal.append({ kind: 'result', ...scrubbed(row) })));
  return {
    ready: {
      invocation,
      store,
      plan,
      journal,
      images,
      session,
      tasks: [...tasks, ...unread(plan, decided)].toSorted((a, b) => a.row - b.row),
      finished,
      limits: { ...values, ...(left !== undefined && { maxErrors: left }) },
      input: { header: input.header, rows: values.results === undefined ? [] : rows },
      release: () => lock?.release(),
    },
  };
}

/** The journal of a run that cannot be kept: it writes nothing. */
const nowhere: Journal = { records: [], last: 0, append: async () => {}, close: async () => {} };

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
