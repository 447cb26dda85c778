/** Shared by the `runs` commands: finding a run, and the operation and flags to continue it. */
import { type BulkValues, bulkFlags, type Invocation, jobOf } from '../../bulk/invocation.js';
import { reportView } from '../../bulk/report-view.js';
import type { CommandOutput } from '../../cli/command-output.js';
import type { Command } from '../../cli/define.js';
import type { Context, LocalContext } from '../../context.js';
import { resourceWords } from '../../data/resources.js';
import { shellQuote } from '../../data/text.js';
import type { Operation } from '../../engine/operation.js';
import { GuardError, UsageError } from '../../errors.js';
import { type UndoJob, undoOperation } from '../../resources/undo.js';
import { findRun, type LastRun, shownTeams } from '../../runs/find-run.js';
import { isHere, isOfProfile, profileElsewhere } from '../../runs/plan.js';
import type { PlanFile } from '../../runs/plan-file.js';
import { type BulkReport, isAtTarget } from '../../runs/report.js';
import { isSingleRun, storeOf } from '../../runs/store.js';
import type { StoredRun } from '../../runs/stored-run.js';
import { runArg } from './show.js';

/** The action of an undo, whose operation is on the resource of the run that it undoes. */
export const undoAction = 'runs.undo';

/** Returns the operation that started a run. Throws UsageError for a run of a newer version. */
async function operationOf(
  context: LocalContext,
  { head: { action, resource, of }, plan }: Pick<StoredRun, 'head' | 'plan'>,
): Promise<Operation> {
  if (action === undoAction)
    return undoAgain(resource, { ...(of !== undefined && { of }), ...jobOf(plan).job });
  const command = await commandOf(context, action);
  if (!command)
    throw new UsageError(`This version cannot continue a run of ${action}.`, {
      hint: 'Use the version that started it.',
    });
  return command.operation as Operation;
}

/**
 * Returns the operation of a plan file. Throws UsageError if the command that the file names makes no
 * plans, or changes another resource than it says.
 */
export async function operationOfPlan(
  context: LocalContext,
  { action, resource, job }: Pick<PlanFile, 'action' | 'resource' | 'job'>,
): Promise<Operation> {
  const command = await commandOf(context, action);
  const operation =
    action === undoAction
      ? undoAgain(resource, job)
      : command?.flags && 'plan' in command.flags && (command.operation as Operation);
  if (operation && operation.resource === resource && Object.hasOwn(resourceWords, resource))
    return operation;
  throw new UsageError(`No command of this version makes a plan of ${action} for ${resource}.`, {
    hint: 'Use the version that made it, or make a new plan.',
  });
}

function undoAgain(resource: string, { of = '', kind = 'fields' }: Partial<UndoJob>): Operation {
  return undoOperation(resource, { of, kind });
}

/** Tells the operation of an earlier run which of its rows are done now. */
export async function reportResumed(
  context: Context,
  operation: Operation,
  { plan }: StoredRun,
  { value }: CommandOutput,
): Promise<void> {
  const { results, dryRun } = value as Partial<BulkReport>;
  if (!plan || !operation.onResumed || !results || dryRun) return;
  const done = new Set(results.filter(isAtTarget).map(({ row }) => row));
  await operation.onResumed(
    context,
    plan.rows.filter(({ row }) => done.has(row)),
  );
}

/** The command that starts runs of an action; undefined for one of a newer version. */
export async function commandOf(
  { table, loadCommand }: Pick<LocalContext, 'table' | 'loadCommand'>,
  action: string,
): Promise<Extract<Command, { kind: 'operation' }> | undefined> {
  const known = table.commands.find(({ words }) => words.join('.') === action);
  const command = known && ((await loadCommand(known.words)) as Command);
  return command?.kind === 'operation' ? command : undefined;
}

const { failFast, maxErrors, maxChanges, expect, concurrency, rate, waitLock } = bulkFlags;

/** The parts of a command that sends rows of an earlier run. */
export const earlierRunCommand = {
  asks: true,
  calls: 'ofOperations' as const,
  args: { run: runArg },
  flags: { maxChanges, expect, failFast, maxErrors, concurrency, rate, waitLock },
  view: reportView,
};

/**
 * Finds a stored run; `last` is the newest run here that `isCandidate` accepts (in `places`),
 * else the newest here. Throws UsageError if there is none, or if it belongs to another organization
 * or service, and GuardError if it belongs to another profile.
 */
export async function findRunHere(
  context: Context,
  run: string,
  isCandidate: (run: StoredRun) => boolean,
  places?: LastRun['places'],
): Promise<StoredRun> {
  const { name } = context.settings.profile;
  const { profiles } = context.config.config();
  const isOurs = (each: StoredRun) =>
    isHere(context, each) && isOfProfile(each.head, name, profiles);
  const stored = await findRun(
    storeOf(context),
    run,
    { ...(places && { places }), matches: (each) => isOurs(each) && isCandidate(each) },
    { matches: isOurs },
    { matches: (each) => isHere(context, each) && isCandidate(each) },
    { matches: () => true },
  );
  const { head } = stored;
  if (isOurs(stored)) return stored;
  const what = run === 'last' ? `last run, ${head.run},` : `run ${head.run}`;
  if (isHere(context, stored))
    throw new GuardError(`The ${what} belongs to profile ${head.profile}.`, {
      code: 'otherProfile',
      hint: `Choose it: -p ${shellQuote(head.profile)}`,
    });
  throw otherConnection(context, what, head);
}

/**
 * The error for a run, or an upload, of another organization or service, and how to choose that; its
 * profile has that name for another one, too.
 */
export function otherConnection(
  { settings, config }: Pick<Context, 'settings' | 'config'>,
  what: string,
  head: StoredRun['head'],
): UsageError {
  const { organization, service } = head;
  const profile = profileElsewhere(head, settings.profile.name, config.config().profiles);
  const hint =
    profile === undefined
      ? `Choose it: --org ${shellQuote(organization)} --base-url ${shellQuote(service)}`
      : `Choose its profile: -p ${shellQuote(profile)}`;
  return new UsageError(`The ${what} belongs to organization ${organization} at ${service}.`, {
    hint,
  });
}

/** Throws UsageError for a run that a later one replaced, which has its rows. */
export function requireNotReplaced({ head, state }: StoredRun): void {
  if (state.replaced)
    throw new UsageError(`The run ${head.run} was replaced by a later one.`, {
      hint: 'See: rosterctl runs list',
    });
}

/** Returns the invocation that continues a run; it has only the flags of a run. */
export async function invocationOf(
  context: LocalContext,
  run: StoredRun,
  values: Partial<BulkValues>,
): Promise<Invocation> {
  return {
    operation: await operationOf(context, run),
    action: run.head.action,
    values: values as BulkValues,
    ...jobOf(run.plan),
    source: 'ids',
    isSingle: isSingleRun(run.head.run),
    teams: await shownTeams(context, run.head),
  };
}
