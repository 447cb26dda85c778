import type { EndpointName } from '../../api/contract.js';
import { isHere } from '../../bulk/run-plan.js';
import { isSingleRun, storeOf } from '../../bulk/run-store.js';
import { findRun, type LastRun, type StoredRun } from '../../bulk/runs.js';
import { bulkFlags, type BulkValues } from '../../bulk/invocation.js';
import type { Resuming } from '../../bulk/resume.js';
import { reportView } from '../../bulk/report-view.js';
import type { Context } from '../../context.js';
import { shellQuote } from '../../data/text.js';
import { GuardError, UsageError } from '../../errors.js';
import { operationOf } from './operations.js';
import { runArg } from './show.js';

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
export const ofEarlierRun = {
  calls,
  args: { run: runArg },
  flags: { maxChanges, expect, failFast, maxErrors, concurrency, rate, waitLock },
  view: reportView,
};

/**
 * The run as kept; `last` is the newest here that `isMeant` (among those in `places`), else the newest
 * here. Throws UsageError where there is none, or for one of another organization or service.
 */
export async function runHere(
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
