/** The operation of each command that makes runs, by the action that a run names. */
import type { EndpointName } from '../../api/contract.js';
import { bulkFlags, type BulkValues, jobOf } from '../../bulk/invocation.js';
import type { Operation } from '../../bulk/operation.js';
import { reportView } from '../../bulk/report-view.js';
import type { Resuming } from '../../bulk/resume.js';
import { isHere } from '../../bulk/run-plan.js';
import { isSingleRun, storeOf } from '../../bulk/run-store.js';
import { findRun, type LastRun, type StoredRun } from '../../bulk/runs.js';
import type { Command } from '../../cli/define.js';
import type { Context } from '../../context.js';
import { shellQuote } from '../../data/text.js';
import { GuardError, UsageError } from '../../errors.js';
import { undoOperation } from '../../resources/undo.js';
import { runArg } from './show.js';

const commands: Readonly<Record<string, () => Promise<{ readonly default: Command }>>> = {
  'tryouts.set-status': () => import('../tryouts/set-status.js'),
  'tryouts.update': () => import('../tryouts/update.js'),
  'tryouts.convert': () => import('../tryouts/convert.js'),
  'teams.create': () => import('../teams/create.js'),
  'teams.update': () => import('../teams/update.js'),
  'teams.delete': () => import('../teams/delete.js'),
  'players.create': () => import('../players/create.js'),
  'players.update': () => import('../players/update.js'),
  'players.delete': () => import('../players/delete.js'),
  'documents.create': () => import('../documents/create.js'),
  'documents.upload': () => import('../documents/upload.js'),
  'documents.update': () => import('../documents/update.js'),
  'documents.delete': () => import('../documents/delete.js'),
};

/** An undo is an operation of the resource of the run that it takes back. */
export const undoAction = 'runs.undo';

/** The actions whose runs can be resumed. */
export const runActions: readonly string[] = [...Object.keys(commands), undoAction];

/** The operation that made a run. Throws UsageError for a run of a newer version. */
async function operationOf({
  head: { action, resource, of = '' },
  plan,
}: Pick<StoredRun, 'head' | 'plan'>): Promise<Operation> {
  if (action === undoAction) {
    const kind = plan && jobOf(plan).job['kind'];
    return undoOperation(resource, { of, kind: kind === 'created' ? kind : 'fields' });
  }
  const command = (await commands[action]?.())?.default;
  if (command?.kind !== 'operation')
    throw new UsageError(`This version cannot continue a run of ${action}.`, {
      hint: 'Use the version that started it.',
    });
  return command.operation as Operation;
}

const { failFast, maxErrors, maxChanges, expect, concurrency, rate, waitLock } = bulkFlags;
/** Those of every command that makes a run. */
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

/** What a command takes and shows that sends rows of an earlier run: they were selected before. */
export const earlierRunCommand = {
  calls,
  args: { run: runArg },
  flags: { maxChanges, expect, failFast, maxErrors, concurrency, rate, waitLock },
  view: reportView,
};

/**
 * The run as kept; `last` is the newest here that `isMeant` (among those in `places`), else the newest
 * here. Throws UsageError where there is none, or for one of another organization or service.
 */
export async function findRunHere(
  context: Context,
  run: string,
  isMeant: (run: StoredRun) => boolean,
  places?: LastRun['places'],
): Promise<StoredRun> {
  const isOurs = (each: StoredRun) => isHere(context, each) && isOfProfile(context, each);
  const stored = await findRun(
    storeOf(context),
    run,
    { ...(places && { places }), holds: (each) => isOurs(each) && isMeant(each) },
    { holds: isOurs },
    { holds: (each) => isHere(context, each) && isMeant(each) },
    { holds: () => true },
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

/** Another profile has a key of its own; one that is gone leaves its runs to whoever has the organization. */
function isOfProfile({ settings, config }: Context, { head }: StoredRun): boolean {
  if (head.profile === settings.profile.name) return true;
  return !config.config().profiles.has(head.profile);
}

/** The command line that continues a run: it has no flags of its own besides those of a run. */
export async function invocationOf(run: StoredRun, values: Partial<BulkValues>): Promise<Resuming> {
  return {
    operation: await operationOf(run),
    words: run.head.action.split('.'),
    values: values as BulkValues,
    isSingle: isSingleRun(run.head.run),
  };
}
