/** Runs every command that changes records: select, plan, confirm, execute, report. */
import { keepHeapClose } from '../api/wire.js';
import type { Command, CommandOutput, OperationCommand, Params, ValuesOf } from '../cli/define.js';
import type { TypedLine } from '../cli/typed-line.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import { resourceWords } from '../data/resources.js';
import type { Operation, Selection, Source } from '../engine/operation.js';
import { UsageError } from '../errors.js';
import type { RunHead } from '../runs/plan.js';
import type { SelectedRow } from '../runs/report.js';
import { storeOf } from '../runs/store.js';
import { checkExpected } from './confirm.js';
import { startedTasks, unfinishedRunsOf, withCarried } from './earlier-runs.js';
import {
  type BulkValues,
  headFor,
  type Invocation,
  inputDigest,
  jobOf,
  type KeptJob,
  limitRate,
} from './invocation.js';
import { planRun } from './plan-run.js';
import { dryRunMany, dryRunOne, type RunSetup } from './planned-run.js';
import { resolveRows } from './references.js';
import { checkFields } from './report-view.js';
import { checkResults } from './results.js';
import { runSince, unfinishedTasks } from './resume.js';
import { lockedId, lockFor, storeFor } from './run-locks.js';
import {
  type FilteredRows,
  filterKey,
  selectByFilter,
  selectLocally,
  sourceOf,
} from './select-rows.js';
import { showOne, showRun } from './show-run.js';

/** An invocation before its rows are known. */
export type CommandLine = Omit<Invocation, 'source' | 'isSingle'>;

/**
 * Runs a command that changes records. Throws UsageError and InputError before any request, GuardError
 * if a cap, a lock or a possibly incomplete list forbids the change, and the failure of a single write.
 */
async function runOperation(context: Context, commandLine: CommandLine): Promise<CommandOutput> {
  const { operation, values } = commandLine;
  if (!operation.bind) return selectAndRun(context, commandLine);
  return operation.bind(context, values as never, (parts) =>
    selectAndRun(context, { ...commandLine, operation: { ...operation, ...parts } }),
  );
}

async function selectAndRun(context: Context, commandLine: CommandLine): Promise<CommandOutput> {
  const { operation, values } = commandLine;
  // First what no answer mends: the rows may be asked for.
  await operation.check?.(context, values as never);
  const source = (operation.rows ? undefined : sourceOf(values, operation)) ?? 'ids';
  if (values.exitCode && !context.settings.dryRun)
    throw new UsageError('--exit-code needs --dry-run.');
  await checkResults(context, values);
  if (values.plan !== undefined || values.expires !== undefined)
    await (await import('./write-plan.js')).checkPlanFlags(context, values);
  const kept: KeptJob = {
    job: await operation.job(context, values as never),
    guards: {
      ifStatus: values['ifStatus'] as readonly string[] | undefined,
      conditions: values.if,
    },
  };
  const local = await selectWithoutRequest(context, commandLine, source);
  if (local) refuseOrganization(context, operation, local.rows);
  operation.checkRows?.(kept.job, local?.rows ?? [], source);
  const isSingle =
    source === 'ids' &&
    local?.rows.length === 1 &&
    values.plan === undefined &&
    !(await operation.isMany?.(values as never));
  return runSelected(context, { ...commandLine, source, isSingle }, kept, local);
}

/**
 * Changes the selected rows, or shows (`--dry-run`) or writes down (`--plan`) what would change. Throws
 * as `runOperation` does.
 */
export async function runSelected(
  context: Context,
  invocation: Invocation,
  kept: KeptJob,
  local: Selection | undefined,
): Promise<CommandOutput> {
  const { operation, values, isSingle } = invocation;
  if (!isSingle || operation.reports) await checkFields(context);
  await keepHeapClose(local?.rows.length ?? 0);
  if (local) checkExpected(local.rows.length, values);
  if (!isSingle) limitRate(context, values);
  if (values.plan !== undefined) {
    const { planChanges } = await import('./write-plan.js');
    return planChanges(context, invocation, kept, await selectedRows(context, invocation, local));
  }
  if (context.settings.dryRun) return dryRun(context, invocation, kept, local);
  return planAndExecute(context, invocation, kept, local);
}

/** Shows what the command would do, including to resume an unfinished run. */
async function dryRun(
  context: Context,
  invocation: Invocation,
  kept: KeptJob,
  local: Selection | undefined,
): Promise<CommandOutput> {
  const { operation, values, isSingle } = invocation;
  const head = headOf(context, invocation, kept, local);
  const same = values.restart ? [] : await unfinishedRunsOf(context, head);
  const last = same.at(-1);
  if (last && local && !operation.selectsAnew) {
    const tasks = unfinishedTasks(operation.recovery, last);
    const storedJob = last.plan ? jobOf(last.plan) : kept;
    const [only] = tasks;
    context.message(`This continues ${runSince(last.head, context.now())}.`);
    if (isSingle && only && !operation.reports)
      return dryRunOne(context, invocation, storedJob, only);
    return dryRunMany(context, invocation, storedJob, { rows: tasks, run: last.head.run });
  }
  const { rows, matched } = await selectedRows(context, invocation, local);
  const [only] = rows;
  if (isSingle && only && !operation.reports) return dryRunOne(context, invocation, kept, only);
  const started = !local && same.length > 0 ? await startedTasks(storeOf(context), same) : [];
  return dryRunMany(context, invocation, kept, { rows: withCarried(started, rows), matched });
}

/** The rows of an invocation that starts no run, with the ids of their references. */
async function selectedRows(
  context: Context,
  { operation, values }: Invocation,
  local: Selection | undefined,
): Promise<FilteredRows> {
  if (local) {
    const named = await resolveRows(context, operation.resource, local.rows);
    refuseOrganization(context, operation, named);
    const rows = (await operation.resolve?.()) ?? named;
    return { rows, matched: rows.length };
  }
  const selected = await selectByFilter(context, values, operation);
  checkExpected(selected.rows.length, values);
  return selected;
}

/** The head of an invocation's run, with its input digest. */
function headOf(
  context: Context,
  invocation: Invocation,
  kept: KeptJob,
  local: Selection | undefined,
): Omit<RunHead, 'rows'> {
  const { operation, values, source } = invocation;
  const bare = headFor(context, invocation, kept);
  const key = local?.digest ?? filterKey(values, operation);
  return { ...bare, input: inputDigest(bare, operation, kept, source, key) };
}

/** Acquires the lock, plans the run and executes it. */
async function planAndExecute(
  context: Context,
  invocation: Invocation,
  kept: KeptJob,
  local: Selection | undefined,
): Promise<CommandOutput> {
  const { operation, isSingle } = invocation;
  const store = storeFor(context, invocation);
  const head = headOf(context, invocation, kept, local);
  const rows = local && (await resolvedRows(context, invocation, head, local.rows));
  const id = lockedId(operation, head, rows?.[0]?.id ?? '');
  const lock = store && (await lockFor(context, invocation, store, head, id));
  const input = { header: local?.header ?? ['id'], rows };
  const setup: RunSetup = { store: lock && store, head, lock, kept, input };
  const planned = await planLocked(context, invocation, setup);
  return isSingle ? showOne(context, invocation, planned) : showRun(context, planned);
}

/**
 * Fills in the ids of rows named by references: those of the unfinished run of the same command line,
 * which may have changed what the reference names, or else of the list as it is now. Throws what
 * `resolveRows` throws.
 */
async function resolvedRows(
  context: Context,
  { operation, values }: Invocation,
  head: Omit<RunHead, 'rows'>,
  rows: readonly SelectedRow[],
): Promise<readonly SelectedRow[]> {
  if (rows.every(({ ref }) => ref === undefined)) return rows;
  const begun = values.restart ? undefined : (await unfinishedRunsOf(context, head)).at(-1)?.plan;
  const idByRow = new Map(begun?.rows.map(({ row, id }) => [row, id]));
  const known = rows.map((row) =>
    row.ref === undefined ? row : { ...row, id: idByRow.get(row.row) ?? row.id },
  );
  const resolved = await resolveRows(context, operation.resource, known);
  refuseOrganization(context, operation, resolved);
  return resolved;
}

/** Plans a run whose lock is held, and releases the lock unless the run is ready to send. */
export async function planLocked(context: Context, invocation: Invocation, setup: RunSetup) {
  try {
    const planned = await planRun(context, invocation, setup);
    if (!('ready' in planned)) setup.lock?.release();
    return planned;
  } catch (error) {
    setup.lock?.release();
    throw error;
  }
}

/** The selected rows, if they can be determined without a request; shows that files are being read. */
async function selectWithoutRequest(
  context: Context,
  { operation, values }: CommandLine,
  source: Source,
): Promise<Selection | undefined> {
  if (source === 'filter' && !operation.rows) return undefined;
  // Whoever types the rows at a terminal must see them.
  const isTyped = context.streams.stdin.isTerminal && Object.values(values).flat().includes('-');
  const line = isTyped ? undefined : context.progress.start(() => 'Reading files');
  try {
    if (operation.rows) return await operation.rows(context, values as never);
    return await selectLocally(context, values, operation, source as 'ids');
  } finally {
    line?.stop();
  }
}

/**
 * Refuses the organization's own id as the id of a record: GET /teams/{organizationId} and an assumed
 * DELETE /teams/{id} have the same shape, so such a call could mean all records at once. Throws UsageError.
 */
export function refuseOrganization(
  { api: { organizationId } }: Context,
  { resource }: Operation,
  rows: readonly SelectedRow[],
): void {
  if (!rows.some(({ id }) => id === organizationId)) return;
  const { noun } = resourceWords[resource];
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a';
  throw new UsageError(
    `${organizationId} is the organization's id, not the id of ${article} ${noun}.`,
    { hint: `See: rosterctl ${resource} list` },
  );
}

/** The declarative part of such a command. */
type Described<A extends Params, F extends Params> = Omit<
  OperationCommand<A, F>,
  'run' | 'view' | 'operation' | 'asks'
>;

/** Defines a command that changes records through an operation. `view`: how the outcome of one id is shown. */
export function defineOperation<A extends Params, F extends Params, T>(
  command: Described<A, F> & {
    readonly operation: Operation;
    readonly view: View<T>;
    /** Replaces values that have to be looked up before anything else (a reference by its id). */
    readonly prepare?: (
      context: Context,
      values: ValuesOf<A> & ValuesOf<F>,
    ) => Promise<ValuesOf<A> & ValuesOf<F>>;
    /** Continues the command once its run has ended without a failure. */
    readonly followUp?: (
      context: Context,
      values: ValuesOf<A> & ValuesOf<F>,
      output: CommandOutput,
    ) => Promise<CommandOutput>;
  },
): Command {
  const { prepare, followUp, ...described } = command;
  const { operation } = described;
  return {
    kind: 'operation',
    local: false,
    asks: !operation.createsRow,
    ...described,
    async run(
      context: Context,
      given: ValuesOf<A> & ValuesOf<F>,
      words: readonly string[],
      typed?: TypedLine,
    ) {
      const { view } = command;
      const values = prepare ? await prepare(context, given) : given;
      const line = { operation, words, view, typed, values: values as BulkValues };
      const output = await runOperation(context, line);
      return followUp ? followUp(context, values, output) : output;
    },
  } as Command;
}
