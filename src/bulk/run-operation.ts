/** Runs every command that changes records: select, plan, confirm, execute, report. */
import type { CommandOutput } from '../cli/command-output.js';
import type { Command, OperationCommand, Params } from '../cli/define.js';
import type { TypedLine } from '../cli/typed-line.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { resourceWords } from '../data/resources.js';
import { withArticle } from '../data/text.js';
import { keepHeapClose } from '../data/workload.js';
import type { Operation, Selection, Source } from '../engine/operation.js';
import { UsageError } from '../errors.js';
import { shownTeams } from '../runs/find-run.js';
import { type NewRunHead, placeOf, runFormat } from '../runs/plan.js';
import type { SelectedRow } from '../runs/report.js';
import {
  markRetried,
  newestRun,
  newRunName,
  openRunStore,
  runStore,
  storeOf,
} from '../runs/store.js';
import { earlierRunsFor, withCarried } from './earlier-runs.js';
import { executeRun } from './execute.js';
import {
  type BulkValues,
  type CommandLine,
  checkExpected,
  type Invocation,
  limitRate,
} from './invocation.js';
import { planRun } from './plan-run.js';
import { checkResults } from './results.js';
import { previewResume } from './resume.js';
import { ifKept, lockFor } from './run-locks.js';
import {
  type FilteredRows,
  filterKey,
  selectLocally,
  selectRows,
  sourceOf,
} from './select-rows.js';
import { showOne } from './show-one.js';

/**
 * Runs a command that changes records. Throws UsageError and InputError before any request, GuardError
 * if a cap, a lock or a possibly incomplete list forbids the change, and the failure of a single write.
 */
async function selectAndRun(context: Context, commandLine: CommandLine): Promise<CommandOutput> {
  const { operation, values } = commandLine;
  // Check first what no prompt can fix, since the rows may be asked for.
  await operation.check?.(values);
  const source = operation.rows ? 'ids' : sourceOf(values, operation);
  if (values.exitCode && !context.settings.dryRun)
    throw new UsageError('--exit-code needs --dry-run.');
  await checkResults(values);
  if (values.plan !== undefined || values.expires !== undefined)
    await (await import('./write-plan.js')).checkPlanFlags(values);
  const job = await operation.job(context, values);
  const selection = await selectWithoutRequest(context, commandLine, source);
  const rows = selection?.rows ?? [];
  refuseOrganization(context, operation, rows);
  operation.checkRows?.(job, selection ?? {}, source);
  const isSingle =
    source === 'ids' &&
    rows.length === 1 &&
    values.plan === undefined &&
    !(await operation.isMany?.(values));
  const guards = { ifStatus: values.ifStatus, conditions: values.if };
  return runSelected(context, { ...commandLine, source, isSingle, job, guards, selection });
}

/** Changes the selected rows, shows them (`--dry-run`) or writes a plan. Throws as `selectAndRun` does. */
export async function runSelected(context: Context, given: Invocation): Promise<CommandOutput> {
  const { operation, values, isSingle, selection } = given;
  const place = { profile: context.settings.profile.name, ...placeOf(context) };
  const invocation = { ...given, teams: await shownTeams(context, place) };
  if (!isSingle || operation.reports) await (await import('./report-view.js')).checkFields(context);
  await keepHeapClose(selection?.rows.length ?? 0);
  if (selection) checkExpected(selection.rows.length, values);
  if (!isSingle) limitRate(context, values);
  if (values.plan !== undefined) {
    const { planChanges } = await import('./write-plan.js');
    return planChanges(context, invocation, await rowsToPreview(context, invocation));
  }
  if (context.settings.dryRun) return dryRun(context, invocation);
  return planAndExecute(context, invocation);
}

/** Shows what the command would do, including to resume an unfinished run. */
async function dryRun(context: Context, invocation: Invocation): Promise<CommandOutput> {
  const { dryRunRows } = await import('./dry-run.js');
  const head = newHead(context, invocation);
  const { continued, carried } = await earlierRunsFor(context, invocation, head);
  if (continued) {
    const left = previewResume(context, invocation, continued);
    return dryRunRows(context, left.invocation, left);
  }
  const { rows, matched } = await rowsToPreview(context, invocation);
  return dryRunRows(context, invocation, { rows: withCarried(carried, rows, invocation), matched });
}

/** The rows of an invocation that starts no run, with the ids of their references. */
async function rowsToPreview(context: Context, invocation: Invocation): Promise<FilteredRows> {
  const { operation } = invocation;
  const { selection } = await withResolvedRows(context, invocation);
  if (!selection) return selectRows(context, invocation);
  const rows = (await operation.resolve?.()) ?? selection.rows;
  return { rows, matched: rows.length };
}

/**
 * The head of a new run. Its input digest stands for what the invocation asks for and where, and for
 * its rows; the same command line has the same digest, of whichever profile.
 */
function newHead(context: Context, invocation: Invocation): NewRunHead {
  const { operation, action, values, source, isSingle, job, guards, selection, retries } =
    invocation;
  const { addsEachTime, resource, of, plan, verb } = operation;
  const { route } = job;
  const profile = context.settings.profile.name;
  const place = placeOf(context);
  const { service, organization } = place;
  const change = { job: operation.identity?.(job) ?? job, guards };
  const rows = selection?.digest ?? filterKey(values, operation);
  const { state } = context.paths;
  const after = state && newestRun(runStore(state.path));
  // Named records that are deleted would be missing the second time.
  const deletesNamed = verb === 'delete' && selection !== undefined;
  return {
    format: runFormat,
    version: context.table.version,
    run: newRunName(context.now(), { single: isSingle, after }),
    action,
    verb,
    profile,
    ...place,
    resource,
    input: digestOf([action, service, organization, change, source, rows]),
    startedAt: context.now().toISOString(),
    ...((addsEachTime || verb === 'create' || deletesNamed) && { addsEachTime: true }),
    ...(of !== undefined && { of }),
    ...(retries !== undefined && { retries }),
    ...(plan !== undefined && { plan }),
    ...(typeof route === 'string' && { route }),
  };
}

async function planAndExecute(context: Context, given: Invocation): Promise<CommandOutput> {
  const head = newHead(context, given);
  // Before the first request: most changes are refused where no run can be kept.
  const store = await ifKept(context, given, () => openRunStore(context.paths));
  const invocation = await withResolvedRows(context, given, head);
  const { isSingle, selection } = invocation;
  const kept =
    store &&
    (await ifKept(context, invocation, async () => ({
      store,
      lock: await lockFor(context, invocation, store, head, selection?.rows[0]),
    })));
  const planned = await planRun(context, invocation, { head, ...kept });
  const willSend = !('report' in planned);
  if (willSend && invocation.retries !== undefined)
    await markRetried(storeOf(context), invocation.retries, planned.plan.head.run);
  if (isSingle) {
    // Loaded before the write, because the program's files may be replaced meanwhile.
    if (willSend && context.isAligned) await import('./show-run.js');
    return showOne(context, await executeRun(context, planned));
  }
  return (await import('./show-run.js')).showRun(context, planned);
}

/**
 * Fills in the ids of rows named by references: those of the unfinished run with this `head`, which may
 * have changed what the reference names, or else of the list as it is now. Throws what `resolveRows` throws.
 */
async function withResolvedRows(context: Context, invocation: Invocation, head?: NewRunHead) {
  const { operation, selection } = invocation;
  if (!selection?.rows.some(({ ref }) => ref !== undefined)) return invocation;
  const { resolveRows } = await import('./references.js');
  const { continued } = head ? await earlierRunsFor(context, invocation, head) : {};
  const idByRow = new Map(continued?.plan?.rows.map(({ row, id }) => [row, id]));
  const known = selection.rows.map((row) =>
    row.ref === undefined ? row : { ...row, id: idByRow.get(row.row) ?? row.id },
  );
  const rows = await resolveRows(context, operation.resource, known, selection);
  refuseOrganization(context, operation, rows);
  return { ...invocation, selection: { ...selection, rows } };
}

/** The selected rows, if they can be determined without a request; shows that files are being read. */
async function selectWithoutRequest(
  context: Context,
  { operation, values }: CommandLine,
  source: Source,
): Promise<Selection | undefined> {
  if (source === 'filter') return undefined;
  // Whoever types the rows at a terminal must see them.
  const isTyped = context.streams.stdin.isTerminal && Object.values(values).flat().includes('-');
  const line = isTyped ? undefined : context.progress.start(() => 'Reading files');
  try {
    if (operation.rows) return await operation.rows(context, values);
    return await selectLocally(context, values, operation, source);
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
  throw new UsageError(
    `${organizationId} is the organization's id, not the id of ${withArticle(noun)}.`,
    { hint: `See: rosterctl ${resource} list` },
  );
}

/** Defines a command that changes records through an operation. `view`: how the outcome of one id is shown. */
export function defineOperation<A extends Params, F extends Params, T>(
  command: Omit<OperationCommand<A, F>, 'run' | 'view' | 'operation' | 'asks'> & {
    readonly operation: Operation;
    readonly view: View<T>;
  },
): Command {
  const { operation, view } = command;
  return {
    kind: 'operation',
    local: false,
    asks: operation.verb !== 'create',
    ...command,
    async run(context: Context, values: BulkValues, words: readonly string[], typed?: TypedLine) {
      const line = { action: words.join('.'), view, typed, values };
      const use = (parts: Partial<Operation>) =>
        selectAndRun(context, { ...line, operation: { ...operation, ...parts } });
      return operation.bind ? operation.bind(context, values, use) : use({});
    },
  } as Command;
}
