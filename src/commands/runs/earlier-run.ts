import type { EndpointName } from '../../api/contract.js';
import { isHere } from '../../bulk/run-plan.js';
import { findRun, storeOf, type StoredRun } from '../../bulk/runs.js';
import { bulkFlags } from '../../cli/bulk-flags.js';
import { reportView } from '../../cli/report-view.js';
import type { Context } from '../../context.js';
import { shellQuote } from '../../data/words.js';
import { UsageError } from '../../errors.js';
import { runArg } from './show.js';

const { failFast, maxErrors, maxChanges, expect, concurrency, rate, waitLock } = bulkFlags;
/** Those of every command that makes a run. */
const calls: readonly EndpointName[] = [
  'getTryout',
  'listTryouts',
  'updateTryout',
  'convertTryout',
  'listTeams',
  'updateTeam',
  'getPlayer',
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
 * The run as kept; `last` is the newest here that `isMeant`, else the newest here. Throws UsageError
 * where there is none, or for one of another organization or service.
 */
export async function runHere(
  context: Context,
  run: string,
  isMeant: (run: StoredRun) => boolean,
): Promise<StoredRun> {
  const isOurs = (each: StoredRun) => isHere(context, each);
  const stored = await findRun(
    storeOf(context),
    run,
    (each) => isOurs(each) && isMeant(each),
    isOurs,
    () => true,
  );
  const { head } = stored;
  if (isOurs(stored)) return stored;
  throw new UsageError(
    `The run ${head.run} belongs to organization ${head.organization} at ${head.service}.`,
    { hint: `Choose its profile: -p ${shellQuote(head.profile)}` },
  );
}
