import type { DamagedRun } from '../bulk/damaged.js';
import type { Journal } from '../bulk/journal.js';
import {
  createRun,
  listOpenRuns,
  openRunStore,
  type RunPlan,
  type RunStore,
  type StoredRun,
} from '../bulk/runs.js';
import { unsettled } from '../bulk/unsettled.js';
import type { RowChange, RowWork, SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import { CancelledError, ConfigError, Failure } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { damagedBefore, setAsideAll } from './bulk-damaged.js';
import { continueRun, finishedMeanwhile, lockAgain, runSince } from './bulk-continue.js';
import { type BulkLine, headFor, inputOf, takeLock } from './bulk-line.js';
import { executeRun, type KeptJob, openJob, type ReadyRun, tellUnfinished } from './bulk-run.js';
import { wasTold, wrapUp } from './bulk-wrap-up.js';
import type { BulkJob } from './bulk-part.js';
import type { Plan } from './plan.js';

/** One thing to do through the engine. */
export interface OneThing {
  readonly kept: KeptJob;
  readonly row: SelectedRow;
  readonly changes: readonly RowChange[];
  /** Stands for the input; the same line has the same. */
  readonly digest: string;
}

/** What was made, and what is to be done once it was written out. */
export interface Done {
  readonly value: unknown;
  readonly written: () => Promise<void>;
}

type Line = Omit<BulkLine, 'source'>;

/**
 * Does one thing that takes several steps: journalled like a run, so that after a kill the same line
 * goes on where it was, and told like a single call. Gives what the write made; throws its Failure.
 * Where no state can be written it goes on without a journal and says so.
 */
export async function runOne(context: Context, line: Line, one: OneThing): Promise<Done> {
  const store = storeOrNone(context);
  const head = headFor(context, line);
  const input = inputOf(head, one.kept, 'one', one.digest);
  const plan: RunPlan = {
    head: { ...head, input, rows: 1, alone: true },
    job: { ...one.kept },
    rows: [{ ...one.row, previewed: one.changes }],
  };
  if (!store) return perform(context, unkept(context, line, plan, one.kept), async () => false);
  const lock = await takeLock(context, line.values, store, plan.head);
  try {
    const ready = await readyFor(context, line, { store, plan, kept: one.kept, lock });
    if ('value' in ready) return ready;
    return await perform(context, ready, () =>
      wrapUp(context, line, store, ready.plan.head, { last: ready.journal.last, all: true }),
    );
  } finally {
    lock.release();
  }
}

/** Does one row of a run, whatever became of it before; told as `runOne` does. */
export async function finishOne(
  context: Context,
  line: Line,
  stored: StoredRun,
  wanted: number,
): Promise<Done> {
  return lockAgain(context, line, stored, async (store, now, lock) => {
    if (!line.part.unfinishedRows?.(now).includes(wanted)) throw finishedMeanwhile(now.head);
    const input = { header: ['id'], rows: now.plan?.rows ?? [] };
    const begun = { store, lock, input };
    const ready = await continueRun(context, line, begun, now, (row) => row === wanted);
    return perform(context, { ...ready, isOne: true }, () =>
      wrapUp(context, line, store, now.head, { last: ready.journal.last, all: wasTold(now) }),
    );
  });
}

/** Runs it and turns the row back into a value or a failure; `close` says whether something is left. */
async function perform(
  context: Context,
  ready: ReadyRun,
  close: () => Promise<boolean>,
): Promise<Done> {
  const heard: Heard = {};
  const { report } = await executeRun(context, { ...ready, work: heardBy(heard, ready) });
  const [row] = report.results.filter((each) => ready.tasks.some((task) => task.row === each.row));
  if (row?.result === 'changed')
    return { value: heard.value, written: async () => void (await close()) };
  if (await close()) tellUnfinished(context, ready);
  throw heard.failure ?? stopped(row?.result === 'unknown');
}

/** A signal ended it before its row had a word to say. */
function stopped(wasSent: boolean): Failure {
  if (wasSent) return unsettled(undefined);
  return new CancelledError('Stopped before it was done; nothing was recorded at the service.');
}

/** What the row's own write said, before it became a line of a report. */
interface Heard {
  value?: unknown;
  failure?: Failure;
}

function heardBy(heard: Heard, { work }: ReadyRun): RowWork<Plan> {
  return {
    ...work,
    async send(look, row) {
      heard.value = await work.send(look, row);
      return heard.value;
    },
    async madeOf(record, row) {
      heard.value = record;
      return work.madeOf?.(record, row);
    },
    tell(error, id) {
      heard.failure = error;
      return work.tell(error, id);
    },
  };
}

interface Kept {
  readonly store: RunStore;
  readonly plan: RunPlan;
  readonly kept: KeptJob;
  readonly lock: HeldLock;
}

async function readyFor(
  context: Context,
  line: Line,
  { store, plan, kept, lock }: Kept,
): Promise<ReadyRun | Done> {
  const damaged: DamagedRun[] = [];
  const runs = await listOpenRuns(store, (run) => damaged.push(run), { untold: true });
  const { restart } = line.values;
  const { head, rows } = plan;
  const aside = damagedBefore(context, damaged, { head, part: line.part, rows, restart });
  const same = runs.findLast((run) => run.head.input === head.input);
  if (same && !restart) {
    const made = same.state.results.get(firstRow);
    if (made?.result === 'changed') return madeBefore(context, line, { store, plan, kept }, same);
    const input = { header: ['id'], rows };
    if (same.plan && (!same.finished || line.part.isLeft?.(same))) {
      const begun = { store, lock, input };
      return { ...(await continueRun(context, line, begun, same, () => true)), isOne: true };
    }
  }
  const journal = await createRun(store, plan, { now: context.now, isOurs: () => lock.isOurs() });
  await setAsideAll(context, aside);
  return { ...unkept(context, line, plan, kept), store, journal, release: () => lock.release() };
}

/** The process that did it was killed before it could say so. */
async function madeBefore(
  context: Context,
  line: Line,
  { store, plan, kept }: Omit<Kept, 'lock'>,
  { head, state }: StoredRun,
): Promise<Done> {
  context.tell(
    `It was done by ${runSince(head, context.now())}, which could not say so; nothing was sent.`,
  );
  const { job } = openJob(context, line.part, line.words, kept);
  const [row] = plan.rows;
  const steps = state.steps.get(firstRow);
  const seen = row && (await shown(job, { ...row, steps }, Date.parse(head.startedAt)));
  return {
    value: seen ?? state.results.get(firstRow)?.after,
    async written() {
      await wrapUp(context, line, store, head, { last: state.last, all: true });
    },
  };
}

/** What the write of a row made; undefined where it does not show or cannot be read. */
async function shown(job: BulkJob, row: SelectedRow, since: number) {
  try {
    return await job.witness?.(row, since);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

const firstRow = 1;

/** Without a journal on disk. */
function unkept(context: Context, line: Line, plan: RunPlan, kept: KeptJob): ReadyRun {
  return {
    store: undefined,
    plan,
    journal: nowhere,
    work: openJob(context, line.part, line.words, kept).work,
    tasks: plan.rows,
    settled: [],
    limits: line.values,
    input: { header: ['id'], rows: plan.rows },
    part: line.part,
    isOne: true,
    release: () => {},
  };
}

const nowhere: Journal = { records: [], last: 0, append: async () => {}, close: async () => {} };

function storeOrNone(context: Context): RunStore | undefined {
  try {
    return openRunStore(context.paths);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.note(`${error.message} If this is interrupted, it cannot be finished later.`);
    return undefined;
  }
}
