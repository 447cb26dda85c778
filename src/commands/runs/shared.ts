/** Shared by the `runs` commands: finding a run, and the operation and flags to continue it. */
import type { EndpointName } from '../../api/contract.js';
import { type BulkValues, bulkFlags, type Invocation, jobOf } from '../../bulk/invocation.js';
import { reportView } from '../../bulk/report-view.js';
import type { Command } from '../../cli/define.js';
import type { Context } from '../../context.js';
import { resourceWords } from '../../data/resources.js';
import { shellQuote } from '../../data/text.js';
import type { Operation } from '../../engine/operation.js';
import { GuardError, UsageError } from '../../errors.js';
import type { PlanFile } from '../../plans/plan-file.js';
import { type UndoJob, undoOperation } from '../../resources/undo.js';
import { isHere } from '../../runs/plan.js';
import { isSingleRun, storeOf } from '../../runs/store.js';
import { findRun, type LastRun, type StoredRun } from '../../runs/stored-run.js';
import { runArg } from './show.js';

/** The commands that start runs, by the action that a run records. */
const commands: Readonly<Record<string, () => Promise<{ readonly default: Command }>>> = {
  'tryouts.set-status': () => import('../tryouts/set-status.js'),
  'tryouts.update': () => import('../tryouts/update.js'),
  'tryouts.review': () => import('../tryouts/review.js'),
  'tryouts.convert': () => import('../tryouts/convert.js'),
  'teams.create': () => import('../teams/create.js'),
  'teams.import': () => import('../teams/import.js'),
  'teams.update': () => import('../teams/update.js'),
  'teams.delete': () => import('../teams/delete.js'),
  'players.create': () => import('../players/create.js'),
  'players.import': () => import('../players/import.js'),
  'players.update': () => import('../players/update.js'),
  'players.delete': () => import('../players/delete.js'),
  'documents.create': () => import('../documents/create.js'),
  'documents.upload': () => import('../documents/upload.js'),
  'documents.replace': () => import('../documents/replace.js'),
  'documents.update': () => import('../documents/update.js'),
  'documents.delete': () => import('../documents/delete.js'),
};

/** The action of an undo, whose operation is on the resource of the run that it undoes. */
export const undoAction = 'runs.undo';

/** The actions whose runs can be resumed. */
export const runActions: readonly string[] = [...Object.keys(commands), undoAction];

/** Returns the operation that started a run. Throws UsageError for a run of a newer version. */
async function operationOf({
  head: { action, resource, of },
  plan,
}: Pick<StoredRun, 'head' | 'plan'>): Promise<Operation> {
  if (action === undoAction)
    return undoAgain(resource, { ...(of !== undefined && { of }), ...jobOf(plan).job });
  const command = await commandOf(action);
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
export async function operationOfPlan({
  action,
  resource,
  job,
}: Pick<PlanFile, 'action' | 'resource' | 'job'>): Promise<Operation> {
  const command = await commandOf(action);
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

/** The command that starts runs of an action; undefined for one of a newer version. */
async function commandOf(
  action: string,
): Promise<Extract<Command, { kind: 'operation' }> | undefined> {
  const load = Object.hasOwn(commands, action) ? commands[action] : undefined;
  const command = (await load?.())?.default;
  return command?.kind === 'operation' ? command : undefined;
}

const { failFast, maxErrors, maxChanges, expect, concurrency, rate, waitLock } = bulkFlags;
/** The endpoints of every command that starts runs. */
const calls: readonly EndpointName[] = [
  'getTryout',
  'listTryouts',
  'updateTryout',
  'convertTryout',
  'getTeam',
  'listTeams',
  'createTeam',
  'updateTeam',
  'deleteTeam',
  'getPlayer',
  'createPlayer',
  'listPlayers',
  'updatePlayer',
  'deletePlayer',
  'listDocuments',
  'updateDocument',
  'deleteDocument',
  'requestUpload',
  'createDocument',
  'downloadDocument',
];

/**
 * The calls, arguments, flags and view of a command that sends rows of an earlier run, whose rows
 * are selected already.
 */
export const earlierRunCommand = {
  calls,
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
  const isOurs = (each: StoredRun) => isHere(context, each) && isOfProfile(context, each);
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
  if (isHere(context, stored))
    throw new GuardError(`The run ${head.run} belongs to profile ${head.profile}.`, {
      code: 'otherProfile',
      hint: `Choose it: -p ${shellQuote(head.profile)}`,
    });
  throw new UsageError(
    `The run ${head.run} belongs to organization ${head.organization} at ${head.service}.`,
    { hint: `Choose its profile: -p ${shellQuote(head.profile)}` },
  );
}

/**
 * True if a run belongs to this profile. Runs of a removed profile belong to every profile of their
 * organization.
 */
function isOfProfile({ settings, config }: Context, { head }: StoredRun): boolean {
  if (head.profile === settings.profile.name) return true;
  return !config.config().profiles.has(head.profile);
}

/** Returns the invocation that continues a run; it has only the flags of a run. */
export async function invocationOf(
  run: StoredRun,
  values: Partial<BulkValues>,
): Promise<Invocation> {
  return {
    operation: await operationOf(run),
    words: run.head.action.split('.'),
    values: values as BulkValues,
    ...jobOf(run.plan),
    source: 'ids',
    isSingle: isSingleRun(run.head.run),
  };
}
