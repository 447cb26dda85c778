import type { ResourceName } from '../api/contract.js';
import type { Context } from '../context.js';
import { type Batches, type Flow, flowOf } from '../data/flow.js';
import type { JsonObject } from '../data/json.js';

type World = Pick<Context, 'api' | 'paths' | 'settings'>;

/**
 * A resource's records as the service lists them; what passes is remembered for completion, unless
 * `completion.cache` is off.
 */
export function listed(
  world: World,
  resource: ResourceName,
  query: { readonly [name: string]: string } = {},
): Flow<JsonObject> {
  const { completionCache, dryRun } = world.settings;
  // A part of the list would make the memory forget the rest.
  const isPart = Object.keys(query).length > 0;
  if (!completionCache || dryRun || isPart) return world.api.list(resource, query);
  return flowOf(() => remembered(world, resource));
}

async function* remembered(
  { api, paths, settings }: World,
  resource: ResourceName,
): Batches<JsonObject> {
  const records = api.list(resource);
  const { rememberRecords } = await import('../config/completion-cache.js');
  const { baseUrl, organizationId } = api;
  const place = { profile: settings.profile.name, baseUrl, organizationId };
  const memory = rememberRecords(paths, place, resource);
  let whole = false;
  try {
    for await (const batch of records.batches()) {
      for (const { value } of batch) memory.see(value);
      yield batch;
    }
    whole = records.completeness().state === 'complete';
  } finally {
    await memory.keep({ whole });
  }
}
