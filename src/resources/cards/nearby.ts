/** Records near the one that a card shows, from one list that the card can do without. */
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import type { ResourceName } from '../../data/resources.js';
import { Failure } from '../../errors.js';

/** The records found, or why the list says nothing. */
export type Nearby = { readonly records: readonly JsonObject[] } | { readonly reason: string };

/** How long a person waits for a list that was not asked for. */
const patienceMs = 2_000;

/**
 * Reads a list once, without retries and for two seconds at most, and returns the records that `keep`
 * accepts. A list that fails, takes longer or may be incomplete is a reason instead. Throws
 * CancelledError after a signal.
 */
export async function recordsNearby(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  resource: ResourceName,
  keep: (record: JsonObject) => boolean,
): Promise<Nearby> {
  const records: JsonObject[] = [];
  const until = AbortSignal.timeout(patienceMs);
  const list = api.list(resource, {}, { isQuiet: true, until });
  try {
    for await (const record of list) if (keep(record)) records.push(record);
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    if (until.aborted) return { reason: 'the list takes too long' };
    return {
      reason: error.exitName === 'forbidden' ? 'no permission' : 'the list could not be read',
    };
  }
  if (list.completeness().state === 'complete') return { records };
  return { reason: 'the list may be incomplete' };
}
