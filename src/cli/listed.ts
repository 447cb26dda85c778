import type { ResourceName } from '../api/contract.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';

/**
 * A resource's records as the service lists them; what passes is remembered for completion, unless
 * `completion.cache` is off.
 */
export async function* listed(
  { api, paths, settings }: Pick<Context, 'api' | 'paths' | 'settings'>,
  resource: ResourceName,
): AsyncIterable<JsonObject> {
  const records = api.list(resource);
  if (!settings.completionCache || settings.dryRun) {
    yield* records;
    return;
  }
  const { rememberRecords } = await import('../config/completion-cache.js');
  const { baseUrl, organizationId } = api;
  const place = { profile: settings.profile.name, baseUrl, organizationId };
  const memory = rememberRecords(paths, place, resource);
  let whole = false;
  try {
    for await (const record of records) {
      memory.see(record);
      yield record;
    }
    whole = records.completeness().state === 'complete';
  } finally {
    await memory.keep({ whole });
  }
}
