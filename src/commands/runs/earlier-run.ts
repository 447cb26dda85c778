import type { EndpointName } from '../../api/contract.js';
import { findRun, type StoredRun } from '../../bulk/runs.js';
import { bulkFlags } from '../../cli/bulk-flags.js';
import { reportView } from '../../cli/report-view.js';
import type { Context } from '../../context.js';
import { UsageError } from '../../errors.js';
import { storeOf } from './jobs.js';
import { runArg } from './show.js';

const { failFast, maxErrors, maxChanges, expect, concurrency, rate, waitLock } = bulkFlags;
const calls: readonly EndpointName[] = ['getTryout', 'updateTryout', 'convertTryout'];

/** What a command takes and shows that sends rows of an earlier run: they were selected before. */
export const ofEarlierRun = {
  calls,
  args: { run: runArg },
  flags: { maxChanges, expect, failFast, maxErrors, concurrency, rate, waitLock },
  view: reportView,
};

/** The run as kept. Throws UsageError where there is none, or for one of another organization or service. */
export async function runHere(context: Context, run: string): Promise<StoredRun> {
  const stored = await findRun(storeOf(context), run);
  const { head } = stored;
  if (head.organization === context.api.organizationId && head.service === context.api.baseUrl)
    return stored;
  throw new UsageError(
    `The run ${head.run} belongs to organization ${head.organization} at ${head.service}.`,
    { hint: `Choose its profile: -p ${head.profile}` },
  );
}
